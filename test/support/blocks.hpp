// SPDX-License-Identifier: BSL-1.0
// Options of a block for tests that are not about them. Not here: numbers (random.hpp).
#pragma once

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

}  // namespace umbel_test
