// SPDX-License-Identifier: BSL-1.0
// The mean over an axis in int8: quantized_mean, with which a model pools its positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/mean.hpp>
#include <umbel/operation/mean.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct quantized_mean;
}  // namespace say
UMBEL_SAYS(needs_8_bit_integers_not, "needs 8-bit integers, not");
namespace rules {
template <class X, class Axis>
using mean_of_integers = first_error<
    has_axis<say::quantized_mean, layout_of<X>, typename Axis::family>,
    verdict<layout_of<X>::template size_of<typename Axis::family> == Axis::size,
            say::quantized_mean, say::the_input_has, axis_of<layout_of<X>, typename Axis::family>,
            struct but_the_mean_is_over, Axis>,
    verdict<layout_of<X>::contiguous, say::quantized_mean, typename layout_of<X>::axes,
            say::is_not_row_major_in_memory_so_pass_contiguous_of_x>,
    verdict<std::is_same_v<typename X::value_type, std::int8_t>, say::quantized_mean,
            say::needs_8_bit_integers_not, element<typename X::value_type>>>;
template <class X, class Axis, class Lengths>
struct mean_of_integers_rule {
  using type = mean_of_integers<X, Axis>;
};
template <class X, class Axis, class Lengths>
  requires mean_of_integers<X, Axis>::ok
struct mean_of_integers_rule<X, Axis, Lengths> {
  using kept = reduced_layout<layout_of<X>, typename Axis::family>;
  using type = typename lengths_of_means<say::quantized_mean, kept, Lengths>::type;
};
}  // namespace rules
namespace integers {
template <std::size_t Count, class Result>
struct mean_numbers {
  using ranges = linear_ranges<range>;
  using histograms = linear_ranges<magnitude_histogram>;
  static constexpr bool has_lengths = true;
  kernel::plain::integer_unit factor;
  constexpr void pack_seen(const ranges& seen) noexcept {
    constexpr double kept = power_of_two(kernel::plain::digits_of_mean<Count>);
    factor = unit(int8_unit(seen.input) * kept / static_cast<double>(Count),
                  unit_of<Result>(static_cast<double>(seen.output())));
  }
};
}  // namespace integers
}  // namespace detail

// quantized_mean<patch<49>>{seen}: mean<patch> of int8 with any axes, and with a separate range.
// Returns int8 or int16 (output_as<>) with the other axes. pool(x, lengths) is mean<patch>(x,
// lengths).
template <class Axis, class... Options>
class quantized_mean
    : public detail::computing<quantized_mean<Axis, Options...>, detail::say::quantized_mean,
                               detail::say::expects_a_tensor_then_its_lengths>,
      public detail::integers::made_of_ranges<
          detail::say::quantized_mean,
          detail::integers::mean_numbers<detail::axis_or_none<Axis>::plain::size,
                                         detail::integers::result_of<Options...>>> {
  using axis = typename detail::axis_or_none<Axis>::plain;
  using base = detail::integers::made_of_ranges<
      detail::say::quantized_mean,
      detail::integers::mean_numbers<axis::size, detail::integers::result_of<Options...>>>;

 public:
  using result_type = detail::integers::result_of<Options...>;

 private:
  static_assert(
      detail::reported<detail::first_error<
          detail::rules::well_formed<Axis>,
          detail::rules::options<detail::say::quantized_mean,
                                 detail::option_kinds<detail::option::output_as>, Options...>,
          detail::rules::integer_result<result_type, detail::say::quantized_mean>>>::ok,
      "umbel: shapes do not fit");

 public:
  using base::base;
  using base::calibrate;
  // The mean of floats, whose input and result widen the ranges.
  template <detail::integers::seen_by<quantized_mean> Seen, class X>
  static constexpr auto calibrate(Seen& seen, const X& x) noexcept {
    const auto y = detail::mean_over<typename axis::family>{}(x);
    const auto in = contiguous(x);
    detail::integers::widen(seen.input, in.data(), in.size());
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }
  // Positions from the length on widen nothing.
  template <detail::integers::seen_by<quantized_mean> Seen, class X,
            detail::lengths_of_positions Lengths>
  static constexpr auto calibrate(Seen& seen, const X& x, const Lengths& lengths) noexcept {
    const auto y = detail::mean_over<typename axis::family>{}(x, lengths);
    auto in = contiguous(x);
    detail::each_mean_of<typename axis::family>(
        in, lengths, in.data(), [&](const auto* from, auto length, auto*, auto count) {
          using along = detail::axis_in<detail::layout_of<decltype(in)>, typename axis::family>;
          auto* const first = in.data() + (from - in.data());
          for (std::size_t s = detail::positions_within<axis::size>(length); s < axis::size; ++s)
            for (std::size_t i = 0; i < count; ++i) first[s * along::step + i] = 0;
        });
    detail::integers::widen(seen.input, in.data(), in.size());
    detail::integers::widen(seen.output, y.data(), y.size());
    return y;
  }

  template <class X>
  using rule = detail::rules::mean_of_integers<X, axis>;
  template <class X>
  using result = detail::reduced_layout<detail::layout_of<X>, typename axis::family>;
  template <class X>
  using value = result_type;
  template <class X, class Y>
  constexpr void write(const X& x, Y& y) const noexcept {
    using layout = detail::layout_of<X>;
    constexpr std::size_t inner = layout::template stride_of<typename axis::family>;
    detail::kernel::integer_mean<layout::count / axis::size / inner, axis::size, inner>(
        x.data(), this->numbers_.factor, y.data());
  }

  using detail::computing<quantized_mean, detail::say::quantized_mean,
                          detail::say::expects_a_tensor_then_its_lengths>::operator();
  // Of the first positions of each sequence, as mean<token>(x, lengths).
  template <tensor_like X, detail::lengths_of_positions Lengths>
  constexpr auto operator()(const X& x, const Lengths& lengths) const noexcept {
    using verdict = typename detail::rules::mean_of_integers_rule<X, axis, Lengths>::type;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using along = detail::axis_in<detail::layout_of<X>, typename axis::family>;
      return detail::filled<detail::tensor_of<result_type, result<X>>>([&](auto& y) {
        detail::each_mean_of<typename axis::family>(
            x, lengths, y.data(), [&](const auto* from, auto length, auto* to, auto count) {
              const std::size_t positions = detail::positions_within<axis::size>(length);
              detail::kernel::integer_means<decltype(count)::value, along::step>(
                  from, positions, to, [&](std::int32_t sum) {
                    return detail::kernel::plain::integer_mean_of_first<axis::size>(
                        sum, positions, this->numbers_.factor);
                  });
            });
      });
    } else {
      return detail::invalid{};
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
