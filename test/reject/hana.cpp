// SPDX-License-Identifier: BSL-1.0
// Tensor types from Hana's containers: what stands for no shape is refused in a sentence.
#include <umbel/umbel.hpp>

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;

constexpr tensor<float, batch<2>, query<4>, hidden<100>> x{};

#if defined CASE_from_a_tuple_of_numbers
// expect: tensor_from.*int.*is.not.an.axis
auto t = tensor_from<float>(hana::make_tuple(batch<2>{}, 3));
#elif defined CASE_from_a_tuple_that_names_an_axis_twice
// expect: shape.*batch[=<]3.*twice.in|names.*batch.*twice.in
auto t = tensor_from<float>(hana::make_tuple(batch<2>{}, batch<3>{}));
#elif defined CASE_from_a_size_of_zero
// expect: query[=<]0.*has.no.positions.in
auto t = tensor_from<float>(hana::tuple_t<batch<2>, query<0>>);
#elif defined CASE_from_a_map_without_an_order
// expect: tensor_from.*a.map.has.no.order.so.name.the.axes
auto t = tensor_from<float>(extents(x));
#elif defined CASE_from_a_map_without_the_axis
// expect: tensor_from.*there.is.no.axis.*key.*hidden[=<]100
auto t = tensor_from<float, batch, query, key>(extents(x));
#elif defined CASE_from_a_map_with_more_axes
// expect-gcc: tensor_from: lists 2 of the 3 axes of \[
// expect-clang: tensor_from, .*lists, .*number<2>
auto t = tensor_from<float, batch, query>(extents(x));
#elif defined CASE_from_a_map_an_axis_twice
// expect: tensor_from.*names.*batch.*twice.in
auto t = tensor_from<float, batch, batch, query, hidden>(extents(x));
#elif defined CASE_used_after_its_error
// One mistake is one error: the type is `invalid`, and tensors of it do not complain.
// expect: tensor_from.*there.is.no.axis
typename decltype(tensor_from<float, key>(extents(x)))::type t;
auto y = t | permute<key, batch>;
#elif defined CASE_a_literal_that_does_not_divide
// expect-gcc: split: hidden=100 into heads=7 leaves a remainder of 2
// expect-clang: hidden<100>.*into.*heads<7>.*leaves_a_remainder_of
auto t = x | split<hidden, heads<7_c>, head_dim>;
#else
auto t = tensor_from<float, query, batch, hidden>(extents(x));
auto u = tensor_from<float>(dims(x));
auto v = x | split<hidden, heads<5_c>, head_dim>;
#endif
