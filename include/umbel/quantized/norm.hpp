// SPDX-License-Identifier: BSL-1.0
// Norms in integers: int16 residual sums to int8 activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/layer_norm.hpp>
#include <umbel/block/rms_norm.hpp>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/norm.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

template <class Norm>
inline constexpr bool is_centred = !std::is_same_v<typename Norm::word, say::rms_norm>;

// With the epsilon of calibrate, or 0 if that is not known.
template <class Range>
struct norm_ranges {
  static constexpr const char* part_names[] = {"input", "output", "epsilon"};
  static constexpr bool ends_with_epsilon = true;
  Range input{}, output{};
  range epsilon{};
};

// The numbers of Norm for results of type T. View: its weights_view.
template <class Norm>
struct norm_numbers : kernel::integer_norm_numbers<Norm::axis::size> {
  static constexpr bool centred = is_centred<Norm>;
  using base = kernel::integer_norm_numbers<Norm::axis::size>;
  using ranges = norm_ranges<range>;
  using histograms = norm_ranges<magnitude_histogram>;

  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen,
                           typename Norm::value_type epsilon) noexcept {
    pack_norm(w, static_cast<double>(epsilon), unit_of_residual(static_cast<double>(seen.input())),
              int8_unit(seen.output));
  }
  template <class View>
  constexpr void pack_norm(const View& w, double epsilon, double in, double out,
                           factors_of_features<typename Norm::value_type> factors = {}) noexcept {
    integers::pack<centred>(
        static_cast<base&>(*this), [&](std::size_t i) { return factors(i, w.gamma.data()[i]); },
        [&](std::size_t i) {
          if constexpr (requires { w.beta; })
            return factors(i, w.beta.data()[i]);
          else
            return 0;
        },
        epsilon, in, out);
  }
  template <std::size_t Rows, class Y>
  constexpr void rows(const std::int16_t* x, Y* y) const noexcept {
    kernel::integer_norm_rows<centred, Rows>(static_cast<const base&>(*this), x, y);
  }
};

// quantized<layer_norm<...>> and quantized<rms_norm<...>>.
template <class Derived, class Norm>
class quantized_norm : public computing<Derived, say::quantized>,
                       public made_of_weights<Norm, norm_numbers<Norm>, typename Norm::value_type> {
  static_assert(report<rules::norm_fits<typename Norm::axis>>::ok, "umbel: shapes do not fit");
  using base = made_of_weights<Norm, norm_numbers<Norm>, typename Norm::value_type>;

 public:
  using input_type = std::int16_t;
  using base::base;
  using base::calibrate;
  // Norm{w, epsilon}(x), whose input and result widen the ranges.
  template <seen_by<quantized_norm> Seen, class X>
  static constexpr auto calibrate(Seen& seen, const typename Norm::weights_view& w, const X& x,
                                  typename Norm::value_type epsilon) noexcept {
    auto y = Norm{w, epsilon}(x);
    widen(seen.input, x.data(), x.size());
    widen(seen.output, y.data(), y.size());
    seen.epsilon() = static_cast<float>(epsilon);
    return y;
  }
  template <class X>
  using rule = rules::rows_of_integers<X, std::int16_t, typename Norm::axis>;
  template <class X>
  using value = std::int8_t;
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    this->get_weights().template rows<layout_of<X>::count / Norm::axis::size>(x.data(), y.data());
  }
};

}  // namespace detail::integers

// x: int16 with the axis last. Returns int8. epsilon: as for the float layer. pack refuses one
// that isn't that of calibrate, as it does a missing range: missing_range() is "epsilon".
template <class T, class Axis, class... OfNorm>
class quantized<layer_norm<T, Axis, OfNorm...>>
    : public detail::integers::quantized_norm<quantized<layer_norm<T, Axis, OfNorm...>>,
                                              layer_norm<T, Axis, OfNorm...>> {
  using base = detail::integers::quantized_norm<quantized, layer_norm<T, Axis, OfNorm...>>;

 public:
  using base::base;
  constexpr quantized(const typename base::weights_to_pack& w,
                      const typename base::ranges& seen) noexcept
      : base(w, seen, T(1e-5)) {}
};
template <class T, class Axis>
class quantized<rms_norm<T, Axis>>
    : public detail::integers::quantized_norm<quantized<rms_norm<T, Axis>>, rms_norm<T, Axis>> {
  using base = detail::integers::quantized_norm<quantized, rms_norm<T, Axis>>;

 public:
  using base::base;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
