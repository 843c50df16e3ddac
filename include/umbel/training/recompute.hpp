// SPDX-License-Identifier: BSL-1.0
// recompute: a layer of a formula whose values the gradient recomputes instead of keeping, with the
// same bits ("Training Deep Nets with Sublinear Memory Cost", Chen et al. 2016). A softmax in a
// formula, such as a row_formula, is an exception: only if its weights are kept is it a step by
// itself, so the last bits can differ.
//
//   const auto y = recompute<encoder>{w.encode}(x, length);   // instead of encoder{w.encode}
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/node.hpp>
#include <umbel/parameters/members.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::formulas {

template <class X>
concept records_what_to_recompute =
    traced<X> && X::recorder_type::makes_graph && X::recorder_type::differentiates;

// The records of x's formula until now and those made afterwards are recomputed separately.
template <class X>
constexpr void next_recomputed(const X& x) noexcept {
  if constexpr (records_what_to_recompute<X>)
    if (x.recorder->recomputed != 0) x.recorder->recomputed = ++x.recorder->numbers;
}

}  // namespace detail::formulas

namespace detail {
UMBEL_SAYS(recompute, "recompute");
UMBEL_SAYS(expects_a_layer_not_its_weights_so_write_recompute_of_encoder,
           "expects a layer, not its weights; write recompute<encoder>{w}");
}  // namespace detail

// A layer in a formula whose gradient recomputes its values and keeps only its arguments:
// recompute<encoder>{w.encode}(x, length). Layer: any that formulas can call, such as
// encoder_layer, layer_stack (each layer is recomputed separately), multi_head_attention,
// feed_forward. With tensors, and in a formula without a gradient, it is the layer.
template <class Layer>
class recompute {
  using verdict =
      detail::verdict<!detail::listed_by_name<Layer>, detail::say::recompute,
                      detail::say::expects_a_layer_not_its_weights_so_write_recompute_of_encoder>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");

 public:
  // Construct it like the layer: from weights, which are borrowed.
  template <class... W>
    requires(!std::is_same_v<std::remove_cvref_t<W>, recompute> && ...)
  constexpr explicit recompute(W&&... w) noexcept : layer_{static_cast<W&&>(w)...} {}

  template <class X, class... More>
  constexpr auto operator()(const X& x, const More&... more) const noexcept {
    if constexpr (detail::formulas::records_what_to_recompute<X>) {
      auto& recorder = *x.recorder;
      const int before = recorder.recomputed;
      recorder.recomputed = ++recorder.numbers;
      const auto y = layer_(x, more...);
      recorder.recomputed = before;
      return y;
    } else {
      return layer_(x, more...);
    }
  }

 private:
  Layer layer_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
