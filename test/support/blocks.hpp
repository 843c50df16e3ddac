// SPDX-License-Identifier: BSL-1.0
// Blocks for tests that are not about their options. Not here: numbers (random.hpp).
#pragma once

#include <umbel/attention/rope.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/block/transformer.hpp>

namespace umbel_test {

namespace options_detail {
template <class Kinds, class Rest, class... Options>
struct add_unsaid;
template <class... Kinds, class... Rest, class... Options>
struct add_unsaid<umbel::detail::option_list<Kinds...>, umbel::detail::option_list<Rest...>,
                  Options...> {
  using type =
      typename umbel::detail::pick_options<umbel::detail::option_list<Kinds...>,
                                           umbel::detail::option_list<Options...>, Rest...>::type;
};
template <template <class...> class Layer, class List>
struct with_list;
template <template <class...> class Layer, class... Options>
struct with_list<Layer, umbel::detail::option_list<Options...>> {
  using type = Layer<Options...>;
};
}  // namespace options_detail

// Layer<Options..., and of norm_first<true>, activation<gelu_exact>, bias<false> those that Options
// leave out>: Layer is an alias with its axes in it.
template <template <class...> class Layer, class... Options>
using block_with = typename options_detail::with_list<
    Layer,
    typename options_detail::add_unsaid<
        umbel::detail::option_list<umbel::detail::option::norm_first,
                                   umbel::detail::option::activation, umbel::detail::option::bias>,
        umbel::detail::option_list<umbel::norm_first<true>, umbel::activation<umbel::gelu_exact>,
                                   umbel::bias<false>>,
        Options...>::type>::type;
// The same for a feed_forward, which has no norms.
template <template <class...> class Layer, class... Options>
using network_with = typename options_detail::with_list<
    Layer,
    typename options_detail::add_unsaid<
        umbel::detail::option_list<umbel::detail::option::activation, umbel::detail::option::bias>,
        umbel::detail::option_list<umbel::activation<umbel::gelu_exact>, umbel::bias<false>>,
        Options...>::type>::type;

// A small block as LLaMA's, and one as that of Vaswani et al. Layer: encoder_layer or
// decoder_layer.
template <template <class...> class Layer>
using llama_block =
    Layer<float, umbel::axes::hidden<16>, umbel::axes::heads<4>, umbel::axes::intermediate<24>,
          umbel::norm_first<true>, umbel::norm_by<umbel::rms_norm>, umbel::norm_epsilon<1, 100'000>,
          umbel::activation<umbel::silu>, umbel::gated<true>, umbel::bias<false>,
          umbel::axes::kv_heads<2>, umbel::rope<umbel::split_halves>>;
template <template <class...> class Layer>
using vaswani_block =
    Layer<double, umbel::axes::hidden<12>, umbel::axes::heads<3>, umbel::axes::intermediate<20>,
          umbel::norm_first<false>, umbel::activation<umbel::relu>, umbel::bias<true>>;

}  // namespace umbel_test
