// SPDX-License-Identifier: BSL-1.0
// Tensor types from Hana's containers: a container that is not a shape is refused with a sentence.
#include <umbel/umbel.hpp>

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;

constexpr tensor<float, batch<2>, query<4>, hidden<100>> x{};

#if defined CASE_from_a_tuple_of_numbers
// expect-gcc: "umbel: tensor_from: int is not an axis"
// expect: tensor_from.*int.*is.not.an.axis
// cause: An element of the tuple is a value, not an axis.
// cure: Put axes into the tuple only: `hana::make_tuple(batch<2>{}, query<3>{})`.
auto t = tensor_from<float>(hana::make_tuple(batch<2>{}, 3));
#elif defined CASE_from_a_tuple_that_names_an_axis_twice
// expect-gcc: "umbel: shape: the axis batch is named twice in \[batch=2, batch=3\]"
// expect: shape.*batch.*twice.in
// cause: Two axes of one shape have the same name, which would be ambiguous.
// cure: Rename one of them, if necessary to a custom axis: `template <std::size_t N> struct channel : axis<channel, N> {};`
auto t = tensor_from<float>(hana::make_tuple(batch<2>{}, batch<3>{}));
#elif defined CASE_from_a_size_of_zero
// expect-gcc: "umbel: shape: query=0 has size 0 in \[batch=2, query=0\]"
// expect: query[=<]0.*has.size.0.in
// cause: An axis has size 0.
// cure: Set every axis to a size of at least 1, or leave the axis out.
auto t = tensor_from<float>(hana::tuple_t<batch<2>, query<0>>);
#elif defined CASE_from_a_map_without_an_order
// expect-gcc: "umbel: tensor_from: a map has no order; name the axes"
// expect: tensor_from.*a.map.has.no.order(; |_so_)name.the.axes
// cause: A Hana map has no order, but a tensor needs one.
// cure: Name the axes in order: `tensor_from<float, batch, query, hidden>(map)`.
auto t = tensor_from<float>(extents(x));
#elif defined CASE_from_a_map_without_the_axis
// expect-gcc: "umbel: tensor_from: there is no axis key in \[batch=2, query=4, hidden=100\]"
// expect: tensor_from.*there.is.no.axis.*key.*hidden[=<]100
// cause: A name is not a key of the map.
// cure: Use the axes in the brackets.
auto t = tensor_from<float, batch, query, key>(extents(x));
#elif defined CASE_from_a_map_with_more_axes
// expect-gcc: "umbel: tensor_from: lists 2 of the 3 axes of \[batch=2, query=4, hidden=100\]"
// expect-clang: tensor_from, .*lists, .*number<2>
// cause: The order leaves out axes of the map.
// cure: List all of them, each once.
auto t = tensor_from<float, batch, query>(extents(x));
#elif defined CASE_from_a_map_an_axis_twice
// expect-gcc: "umbel: tensor_from: the axis batch is named twice in \[batch=2, query=4, hidden=100\]"
// expect: tensor_from.*batch.*is.named.twice.in
// cause: The order names an axis of the map twice.
// cure: Name each axis once; one was probably meant to be different.
auto t = tensor_from<float, batch, batch, query, hidden>(extents(x));
#elif defined CASE_used_after_its_error
// One mistake is one error: the type is `invalid`, and tensors of it do not complain.
// expect-gcc: "umbel: tensor_from: there is no axis key in \[batch=2, query=4, hidden=100\]"
// expect: tensor_from.*there.is.no.axis
// cause: A name is not a key of the map.
// cure: Use the axes in the brackets.
typename decltype(tensor_from<float, key>(extents(x)))::type t;
auto y = t | permute<key, batch>;
#elif defined CASE_a_literal_that_does_not_divide
// expect-gcc: "umbel: split: hidden=100 into heads=7 leaves a remainder of 2"
// expect-clang: hidden<100>.*into.*heads<7>.*leaves_a_remainder_of
// cause: The axis cannot be cut into that many equal parts.
// cure: Choose a number of parts that divides the size, or change the size.
auto t = x | split<hidden, heads<7_c>, head_dim>;
#elif defined CASE_dims_of_a_type
// expect-gcc: "umbel: dims: expects a tensor or view as an argument; write dims\(x\)"
// expect-clang: umbel: dims: expects a tensor or view as an argument; write dims\(x\)
// cause: `dims` is called with a tensor or view, not with its type.
// cure: Write `dims(x)`, or `dims(tensor<...>{})` for a type alone.
auto t = dims<tensor<float, batch<2>>>();
#else
auto t = tensor_from<float, query, batch, hidden>(extents(x));
auto u = tensor_from<float>(dims(x));
auto v = x | split<hidden, heads<5_c>, head_dim>;
#endif
