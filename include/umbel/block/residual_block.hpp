// SPDX-License-Identifier: BSL-1.0
// residual_block: a sequence of parts, each joined to a residual sum (parts.hpp).
//
//   using namespace umbel::block_parts;
//   using gpt_j =                                   // one norm, two parts, one sum
//       residual_block<float, hidden<64>, norm_by<layer_norm>,
//                      pre_norm<name::norm, self_attention<name::attention, heads<4>>,
//                               feed_forward_network<name::feed_forward, intermediate<256>,
//                                                    activation<gelu_tanh>, bias<true>>>>;
//   static gpt_j::weights w;                        // w.norm.gamma, w.attention.q.weight, ...
//   auto y = gpt_j{w}(x, causal);
//
// encoder_layer and decoder_layer are blocks with ready-made lists (encoder.hpp, decoder.hpp).
#pragma once

#include <umbel/block/block_pass.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
template <class T, class Hidden, class Sorted>
using block_types_of = std::conditional_t<
    rules::residual_block<T, Hidden, Sorted>::ok,
    block_types<T, Hidden, typename Sorted::steps, typename Sorted::options>,
    block_types<float, no_axis<1>,
                residual::list<block_parts::without_norm<block_parts::self_attention<
                    block_parts::name::attention, axes::heads<1>, bias<false>>>>,
                option_list<>>>;
template <class T, class Hidden, class... Items>
using block_types_for =
    block_types_of<T, Hidden, residual::sorted<residual::list<>, option_list<>, Items...>>;

}  // namespace detail

// A block of parts. T: float or double. hidden<64>. Items: joins of namespace block_parts in their
// order, pre_norm<...>; and norm_by<>, norm_bias<>, norm_epsilon<> for all norms. Call it like
// encoder_layer or, if a part attends to a memory, like decoder_layer.
template <class T, class Hidden, class... Items>
UMBEL_EXPECTS(
    "residual_block: expects an element type, an axis, then parts; write residual_block<float, "
    "hidden<64>, pre_norm<...>>")
class residual_block
    : public detail::block_types_for<T, Hidden, Items...>,
      public detail::block_calls<residual_block<T, Hidden, Items...>,
                                 residual_block<T, Hidden, Items...>, detail::say::residual_block,
                                 detail::block_types_for<T, Hidden, Items...>::has_memory>,
      public detail::borrowing<
          detail::say::residual_block, residual_block<T, Hidden, Items...>,
          typename detail::block_types_for<T, Hidden, Items...>::weights_view> {
  using types = detail::block_types_for<T, Hidden, Items...>;
  static_assert(
      detail::reported<detail::rules::residual_block<
          T, Hidden,
          detail::residual::sorted<detail::residual::list<>, detail::option_list<>, Items...>>>::ok,
      "umbel: shapes do not fit");

 public:
  using typename types::word;
  template <class Derived>
  using calls =
      detail::block_calls<Derived, residual_block, detail::say::residual_block, types::has_memory>;
  using detail::borrowing<detail::say::residual_block, residual_block,
                          typename types::weights_view>::borrowing;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
