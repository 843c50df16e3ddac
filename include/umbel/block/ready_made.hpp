// SPDX-License-Identifier: BSL-1.0
// Ready-made blocks with a layer's name and options.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

template <class Name, residual::reads Sees, class Layer>
struct made_part {
  using name = Name;
  static constexpr auto sees = Sees;
  template <class, class>
  using layer = Layer;
  template <class, class>
  using verdict = accepted;
};
template <bool First, class Join>
struct transformer_step;
template <class Norm, class Part>
struct transformer_step<true, residual::list<Norm, Part>> {
  using type = block_parts::pre_norm<Norm, Part>;
};
template <class Norm, class Part>
struct transformer_step<false, residual::list<Norm, Part>> {
  using type = block_parts::post_norm<Norm, Part>;
};
template <class Parts, class T, class Hidden, class Style, class Options, class... Join>
struct transformer_block;
template <class Parts, class T, class Hidden, class Style, class... Options, class... Join>
struct transformer_block<Parts, T, Hidden, Style, option_list<Options...>, Join...>
    : block_types<
          T, Hidden,
          residual::list<typename transformer_step<
              option_or<option::norm_first, norm_first<true>, Options...>::value, Join>::type...>,
          typename pick_options<
              option_list<option::norm_by, option::norm_bias, option::norm_epsilon>, option_list<>,
              Options...>::type,
          Style> {
  static constexpr bool norms_first =
      option_or<option::norm_first, norm_first<true>, Options...>::value;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
