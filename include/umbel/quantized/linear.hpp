// SPDX-License-Identifier: BSL-1.0
// A linear map in integers: quantized<linear<...>>, and the maps of the other layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/linear.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer_linear.hpp>
#include <umbel/quantized/quantized.hpp>
#include <umbel/quantized/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// Heads of a width, of which rows are as wide as whole words: feature f of the kernels is feature
// from(f) of the layer, or npos, a zero.
struct whole_features {
  static constexpr bool all = true;
  static constexpr std::size_t from(std::size_t f) noexcept { return f; }
};
template <std::size_t Width>
struct features_of_heads {
  static constexpr std::size_t padded = kernel::in_words(Width);
  static constexpr bool all = padded == Width;  // are they the layer's, one by one?
  static constexpr std::size_t from(std::size_t f) noexcept {
    return f % padded < Width ? f / padded * Width + f % padded : npos;
  }
};

// Borrowed floats, of any order, to panels whose inputs and outputs are as InOf and OutOf say.
template <class InOf = whole_features, class OutOf = whole_features, std::size_t PanelIn,
          std::size_t PanelOut, class T, class In, class Out, bool Bias>
constexpr void pack_map(kernel::integer_panels<PanelIn, PanelOut>& to,
                        const portable::linear_in_any_order<T, In, Out, Bias>& w, double in,
                        double out) noexcept {
  pack(
      to,
      [&](std::size_t i, std::size_t o) {
        // Each statement is a step of the compiler's, of which clang allows a million.
        if constexpr (InOf::all && OutOf::all) {
          return w.weight[i * w.strides.in + o * w.strides.out];
        } else {
          const std::size_t from = InOf::from(i), to_feature = OutOf::from(o);
          return from == npos || to_feature == npos
                     ? T{}
                     : w.weight[from * w.strides.in + to_feature * w.strides.out];
        }
      },
      [&](std::size_t o) {
        const std::size_t to_feature = OutOf::from(o);
        if constexpr (Bias)
          return to_feature == npos ? T{} : w.bias[to_feature];
        else
          return T{};
      },
      in, out);
}

// What a result becomes, by its type.
template <class T>
using finish_as =
    std::conditional_t<sizeof(T) == 1, kernel::finish::as_int8, kernel::finish::as_int16>;
// The unit of a result.
template <class T>
constexpr double unit_of(double largest) noexcept {
  return sizeof(T) == 1 ? unit_of_int8(largest) : unit_of_residual(largest);
}

// The largest magnitude that a result has.
template <class T>
inline constexpr std::int32_t most_of = sizeof(T) == 1 ? 127 : 32767;

template <class Range>
struct linear_ranges {
  static constexpr const char* part_names[] = {"input", "output"};
  Range input, output;
};

}  // namespace detail::integers

// x, int8 of any axes with In last, gives int8 or int16 (gives<>) with Out in its place. The input
// and the output have a range each.
template <class T, class In, class Out, class... OfLinear, class... Options>
class quantized<linear<T, In, Out, OfLinear...>, Options...>
    : public detail::computing<quantized<linear<T, In, Out, OfLinear...>, Options...>,
                               detail::say::quantized>,
      public detail::integers::refused_numbers<
          linear<T, In, Out, OfLinear...>,
          detail::integers::linear_ranges<detail::integers::range>> {
 public:
  using layer = linear<T, In, Out, OfLinear...>;
  using result_type =
      typename detail::option_or<detail::option::gives, gives<std::int8_t>, Options...>::type;
  using input_type = std::int8_t;

 private:
  using map = typename layer::map;
  using in_axis = typename map::in;
  using out_axis = typename map::out;
  static_assert(detail::reported<detail::first_error<
                    detail::rules::inputs_fit<in_axis>,
                    detail::rules::options<detail::say::quantized,
                                           detail::option_kinds<detail::option::gives>, Options...>,
                    detail::rules::integer_result<result_type>>>::ok,
                "umbel: shapes do not fit");

 public:
  using ranges = detail::integers::linear_ranges<detail::integers::range>;
  using histograms = detail::integers::linear_ranges<magnitude_histogram>;
  using weights_to_pack = detail::in_any_order<typename layer::weights_view>;

  using refused = detail::integers::refused_numbers<layer, ranges>;
  using refused::observe;
  using refused::pack;
  using refused::refused;
  constexpr quantized() noexcept = default;
  constexpr quantized(const weights_to_pack& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Of weights that may end with the statement: they are copied.
  template <class Weights>
    requires std::is_same_v<Weights, typename layer::weights>
  constexpr quantized(const Weights& w, const ranges& seen) noexcept {
    static_cast<void>(pack(w, seen));
  }
  // Zeros where a range is missing; the result names it.
  constexpr pack_result pack(const weights_to_pack& w, const ranges& seen) noexcept {
    if (const auto found = detail::integers::all_seen(seen); !found) return found;
    detail::integers::pack_map(
        panels_, w, detail::integers::unit_of_int8(static_cast<double>(seen.input())),
        detail::integers::unit_of<result_type>(static_cast<double>(seen.output())));
    return {};
  }
  // layer{w}(x), whose input and result widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, class X>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w,
                                const X& x) noexcept {
    auto y = layer{w}(x);
    const auto in = contiguous(x);
    detail::integers::widen(seen.input, in.data(), in.size());
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }

  template <class X>
  using rule = detail::rules::rows_of_integers<X, std::int8_t, in_axis>;
  template <class X>
  using result = detail::projected<detail::layout_of<X>, map>;
  template <class X>
  using value = result_type;
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    constexpr std::size_t rows = detail::layout_of<X>::count / in_axis::size;
    constexpr detail::kernel::integer_linear_shape shape = {rows, in_axis::size, out_axis::size,
                                                            in_axis::size, out_axis::size};
    detail::kernel::integer_linear<shape>(panels_, x.data(), y.data(),
                                          detail::integers::finish_as<result_type>{});
  }
  // How its floats became integers; the kernels' layout.
  [[nodiscard]] constexpr const auto& get_weights() const noexcept { return panels_; }

 private:
  detail::kernel::integer_panels<in_axis::size, out_axis::size> panels_;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
