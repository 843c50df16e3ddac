// SPDX-License-Identifier: BSL-1.0
// A linear map in int8: quantized<linear<...>>, and the maps of the other layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/linear.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/quantized/quantized.hpp>
#include <umbel/quantized/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// Heads padded to whole words: feature f of the kernels is from(f) of the layer, or npos, a zero.
struct whole_features {
  static constexpr bool all = true;
  static constexpr std::size_t from(std::size_t f) noexcept { return f; }
};
template <std::size_t Width>
struct features_of_heads {
  static constexpr std::size_t padded = kernel::in_words(Width);
  static constexpr bool all = padded == Width;  // the same as the layer's?
  static constexpr std::size_t from(std::size_t f) noexcept {
    return f % padded < Width ? f / padded * Width + f % padded : npos;
  }
};

// Packs borrowed floats, in any order, to panels with the inputs and outputs of InOf and OutOf.
template <class InOf = whole_features, class OutOf = whole_features, std::size_t PanelIn,
          std::size_t PanelOut, class T, class In, class Out, bool Bias>
constexpr void pack_map(kernel::integer_panels<PanelIn, PanelOut>& to,
                        const portable::linear_in_any_order<T, In, Out, Bias>& w, double in,
                        double out, factors_of_features<T> factors = {}) noexcept {
  pack(
      to,
      [&](std::size_t i, std::size_t o) {
        // Each statement costs a step of constant evaluation, of which clang allows a million.
        if constexpr (InOf::all && OutOf::all) {
          return factors(o, w.weight[i * w.strides.in + o * w.strides.out]);
        } else {
          const std::size_t from = InOf::from(i), to_feature = OutOf::from(o);
          return from == npos || to_feature == npos
                     ? 0
                     : factors(to_feature,
                               w.weight[from * w.strides.in + to_feature * w.strides.out]);
        }
      },
      [&](std::size_t o) {
        const std::size_t to_feature = OutOf::from(o);
        if constexpr (Bias)
          return to_feature == npos ? 0 : factors(to_feature, w.bias[to_feature]);
        else
          return 0;
      },
      in, out);
}

// The kernel's conversion of a result, by its type.
template <class T>
using finish_as =
    std::conditional_t<sizeof(T) == 1, kernel::finish::as_int8, kernel::finish::as_int16>;
template <class T>
constexpr double unit_of(double largest) noexcept {
  return sizeof(T) == 1 ? unit_of_int8(largest) : unit_of_residual(largest);
}

template <class T>
inline constexpr std::int32_t most_of = sizeof(T) == 1 ? 127 : 32767;

template <class Range>
struct linear_ranges {
  static constexpr const char* part_names[] = {"input", "output"};
  Range input, output;
};

// Layer: a linear; Result: the type of its result.
template <class Layer, class Result = std::int8_t>
struct linear_numbers : kernel::integer_panels<Layer::map::in::size, Layer::map::out::size> {
  using ranges = linear_ranges<range>;
  using histograms = linear_ranges<magnitude_histogram>;
  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen) noexcept {
    pack_map(*this, w, int8_unit(seen.input), unit_of<Result>(static_cast<double>(seen.output())));
  }
  // As a part of a block: it needs no scratch.
  template <std::size_t Rows, class Y, class Finish, class... Scratch>
  constexpr void feed(const std::int8_t* x, Y* y, const Finish& finish,
                      const Scratch&...) const noexcept {
    constexpr std::size_t in = Layer::map::in::size, out = Layer::map::out::size;
    kernel::integer_linear<kernel::integer_linear_shape{Rows, in, out, in, out}>(*this, x, y,
                                                                                 finish);
  }
};
template <class... Options>
using result_of = typename option_or<option::output_as, output_as<std::int8_t>, Options...>::type;

}  // namespace detail::integers

// x: int8, any axes with In. Returns int8 or int16 (output_as<>) with Out instead of In. The input
// and the output each have a range.
template <class T, class In, class Out, class... OfLinear, class... Options>
class quantized<linear<T, In, Out, OfLinear...>, Options...>
    : public detail::computing<quantized<linear<T, In, Out, OfLinear...>, Options...>,
                               detail::say::quantized>,
      public detail::integers::made_of_weights<
          linear<T, In, Out, OfLinear...>,
          detail::integers::linear_numbers<linear<T, In, Out, OfLinear...>,
                                           detail::integers::result_of<Options...>>> {
  using base = detail::integers::made_of_weights<
      linear<T, In, Out, OfLinear...>,
      detail::integers::linear_numbers<linear<T, In, Out, OfLinear...>,
                                       detail::integers::result_of<Options...>>>;

 public:
  using typename base::layer;
  using result_type = detail::integers::result_of<Options...>;
  using input_type = std::int8_t;

 private:
  using map = typename layer::map;
  static_assert(
      detail::reported<detail::first_error<
          detail::rules::inputs_fit<typename map::in>,
          detail::rules::options<detail::say::quantized,
                                 detail::option_kinds<detail::option::output_as>, Options...>,
          detail::rules::integer_result<result_type>>>::ok,
      "umbel: shapes do not fit");

 public:
  using base::base;
  using base::calibrate;
  // layer{w}(x), whose input and result widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, class X>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w,
                                  const X& x) noexcept {
    auto y = layer{w}(x);
    const auto in = contiguous(x);
    detail::integers::widen(seen.input, in.data(), in.size());
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }

  template <class X>
  using rule = detail::rules::rows_of_integers<X, std::int8_t, typename map::in>;
  template <class X>
  using result = detail::projected<detail::layout_of<X>, map>;
  template <class X>
  using value = result_type;
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    this->get_weights().template feed<detail::layout_of<X>::count / map::in::size>(
        x.data(), y.data(), detail::integers::finish_as<result_type>{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
