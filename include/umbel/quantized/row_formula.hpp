// SPDX-License-Identifier: BSL-1.0
// A row_formula as a part of a block in integers. Its input has the block's 8 bits, its result the
// 16 bits and the unit of the block's sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/formula/row_formula.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/quantized/block_parts.hpp>
#include <umbel/quantized/formula_form.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// Layer: a formula_of_rows of the function F.
template <class Layer, class F>
struct row_formula_numbers {
  using hidden = typename Layer::hidden_axis;
  using weights_to_pack = in_any_order<typename Layer::weights_view>;
  template <std::size_t N>
  using form = formula_form<true, F, typename Layer::template rows<N>, weights_to_pack>;
  // The numbers and ranges are those of two rows, whatever is computed.
  using model = typename form<2>::model;
  template <std::size_t N>
  static constexpr bool is_same_for = [] {
    constexpr const auto &a = model::plan, &b = form<N>::plan;
    // Two rows may need a copy at the end that one row does not.
    bool same = b.g.count <= a.g.count;
    for (int n = b.g.count; n < a.g.count; ++n) same = same && a.step[n] == integer_step::copy;
    for (int n = 0; same && n < b.g.count; ++n) same = are_equal(a, b, n);
    return same;
  }();
  template <std::size_t N>
  static constexpr void check_rows() noexcept {
    using rule = detail::verdict<
        is_same_for<N>, say::residual_block,
        say::a_formula_depends_on_the_number_of_rows_so_write_the_same_operations_for_any>;
    static_assert(report<rule>::ok, "umbel: shapes do not fit");
  }
  using value = typename form<2>::results::template value<0>;
  // May the result have any unit?
  static constexpr bool has_own_unit =
      sizeof(value) == 2 &&
      model::plan.step[model::plan.group[model::template result<>]] != integer_step::given;
  static constexpr bool is_in_order =
      std::is_same_v<typename form<2>::results::first_axes, shape<axes::token<2>, hidden>>;

  typename model::numbers of_values;
  // The result in units of the sums: multiplier / 2^shift of each feature, unless it has them.
  std::int16_t multiplier[hidden::size]{};
  std::uint8_t shift = 0;
  bool rescales = false;

  template <class View, class Seen, class Units>
  constexpr void pack_formula(const View& w, const Seen& seen, const Units& u) noexcept {
    const weights_to_pack weights(w);
    const formulas::references<std::index_sequence<0>, const weights_to_pack> given{{weights}};
    rescales = !has_own_unit || !is_in_order || u.factors.factors != nullptr;
    const double unit = form<2>::pack_in_units(of_values, std::make_index_sequence<2>{}, given,
                                               seen, u.input, rescales ? 0.0 : u.output);
    if (!rescales) return;
    double largest = 0;
    for (std::size_t f = 0; f < hidden::size; ++f) {
      const double size = magnitude(u.factors(f, 1));
      largest = size > largest ? size : largest;
    }
    shift = integers::unit(unit * largest, u.output).shift;
    for (std::size_t f = 0; f < hidden::size; ++f)
      multiplier[f] = static_cast<std::int16_t>(
          rounded(u.factors(f, 1) * unit / u.output * power_of_two(shift), 32767));
  }

  template <std::size_t N>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<N>;
    integer_workspace<typename form<N>::model> values;
    alignas(64) value result[N * hidden::size];
  };
  // Work: the scratch of Rows rows or more.
  template <std::size_t Rows, class Finish, class Work>
  constexpr void feed(const std::int8_t* x, std::int16_t* y, const Finish& finish,
                      Work& work) const noexcept {
    check_rows<Rows>();
    if constexpr (is_same_for<Rows>) {
      constexpr bool adds = !std::is_same_v<Finish, kernel::finish::as_int16>;
      constexpr std::size_t count = Rows * hidden::size;
      static_assert(sizeof(integer_workspace<typename form<Rows>::model>) <= sizeof(work.values));
      if constexpr (has_own_unit && is_in_order) {
        if (!rescales) {
          std::int16_t* const to = adds ? work.result : y;
          compute<Rows>(x, to, work.values);
          if constexpr (adds) kernel::integer_sum<count>(to, y);
          return;
        }
      }
      compute<Rows>(x, work.result, work.values);
      for (std::size_t r = 0; r < Rows; ++r)
        for (std::size_t f = 0; f < hidden::size; ++f) {
          const std::int32_t v = work.result[is_in_order ? r * hidden::size + f : f * Rows + r];
          finish(y[r * hidden::size + f], kernel::plain::round_shift(v * multiplier[f], shift));
        }
    }
  }

 private:
  template <std::size_t Rows, class Y, class Work>
  constexpr void compute(const std::int8_t* x, Y* y, Work& work) const noexcept {
    view<Y, axes::token<Rows>, hidden> to(y);
    form<Rows>::compute(std::make_index_sequence<2>{}, of_values, to, work,
                        view<const std::int8_t, axes::token<Rows>, hidden>(x));
  }
};

template <class T, class Hidden, class F, class... Weights, class Weight>
struct part_in_integers<residual::formula_of_rows<T, Hidden, F, Weights...>, Weight> {
  using layer = residual::formula_of_rows<T, Hidden, F, Weights...>;
  using numbers = row_formula_numbers<layer, F>;
  using verdict = typename numbers::template form<2>::verdict;
  using names =
      std::conditional_t<names_of_values<typename numbers::model>::count == 0, residual::list<>,
                         residual::list<values_of_formula<typename numbers::model>>>;
  template <std::size_t N, std::size_t M>
  using scratch = typename numbers::template scratch_for<N>;

  template <class View, class Seen>
  static constexpr void pack(numbers& to, const View& w, const Seen& seen,
                             const units_of_part<T>& u) noexcept {
    to.pack_formula(w, values_in(seen), u);
  }
  template <class Seen, class View, class X>
  static constexpr auto calibrate(Seen& seen, const View& w, const X& x) noexcept {
    using form = typename numbers::template form<1>;
    numbers::template check_rows<1>();
    X y = x;
    const typename numbers::weights_to_pack weights(w);
    for (std::size_t i = 0; i < x.size(); i += Hidden::size) {
      typename form::float_result row;
      typename form::calibration_workspace work;
      form::calibrate(values_in(seen), row, work, typename layer::template rows<1>(x.data() + i),
                      weights);
      for (std::size_t f = 0; f < Hidden::size; ++f) y.data()[i + f] = row.data()[f];
    }
    return y;
  }

 private:
  template <class Seen>
  static constexpr auto& values_in(Seen& seen) noexcept {
    if constexpr (requires { seen.formula; })
      return seen.formula;
    else
      return seen;  // no range is read
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
