// SPDX-License-Identifier: BSL-1.0
// Tables of 16-bit integers in the unit of a residual sum: embeddings, positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/embedding.hpp>
#include <umbel/block/positions.hpp>
#include <umbel/block/sinusoidal_positions.hpp>
#include <umbel/config.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// The range of the sum. Elements beyond it are kept up to twice as large.
template <class Range>
struct residual_ranges {
  static constexpr const char* part_names[] = {"residual"};
  Range residual;
};

// at(row, feature): its floats.
template <class Row, class Feature>
struct integer_table {
  using ranges = residual_ranges<range>;
  using histograms = residual_ranges<magnitude_histogram>;
  std::int16_t values[Row::size * Feature::size]{};

  template <class At>
  constexpr void pack(const At& at, const ranges& seen) noexcept {
    const double unit = unit_of_residual(static_cast<double>(seen.residual()));
    for (std::size_t i = 0; i < Row::size; ++i)
      for (std::size_t j = 0; j < Feature::size; ++j)
        values[i * Feature::size + j] =
            static_cast<std::int16_t>(rounded(static_cast<double>(at(i, j)) / unit, 32767));
  }
  // From weights in any order.
  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen) noexcept {
    pack([&](std::size_t i,
             std::size_t j) { return w.data()[i * w.row_stride() + j * w.feature_stride()]; },
         seen);
  }
};
template <class Layer>
struct integer_sines : integer_table<typename Layer::position_axis, typename Layer::hidden_axis> {
  constexpr void pack_seen(const residual_ranges<range>& seen) noexcept {
    this->pack([](std::size_t i,
                  std::size_t j) { return Layer::table.data()[i * Layer::hidden_axis::size + j]; },
               seen);
  }
};

template <class X, class Rows, class Y, class... Axes>
constexpr void add_rows(const X& x, const Rows& rows, Y& y, shape<Axes...>) noexcept {
  for_each([](std::int16_t& sum, const std::int16_t& a,
              const std::int16_t& b) { sum = kernel::plain::to_int16(std::int32_t{a} + b); },
           y, x, broadcast<Axes...>(rows));
}

}  // namespace detail::integers

// x: int16, any axes with Position and Hidden. Returns int16 with the same axes; accepts an offset
// like the float layer. into(out, x), into(out, x, offset): out may be x.
template <class T, class Position, class Hidden>
class quantized<learned_positions<T, Position, Hidden>>
    : public detail::placing<quantized<learned_positions<T, Position, Hidden>>,
                             detail::say::quantized,
                             typename learned_positions<T, Position, Hidden>::position_axis>,
      public detail::integers::made_of_weights<
          learned_positions<T, Position, Hidden>,
          detail::integers::integer_table<
              typename learned_positions<T, Position, Hidden>::position_axis,
              typename learned_positions<T, Position, Hidden>::hidden_axis>> {
  using position_axis = typename learned_positions<T, Position, Hidden>::position_axis;
  using hidden_axis = typename learned_positions<T, Position, Hidden>::hidden_axis;
  using base = detail::integers::made_of_weights<
      learned_positions<T, Position, Hidden>,
      detail::integers::integer_table<position_axis, hidden_axis>>;

 public:
  using typename base::layer;
  using input_type = std::int16_t;
  using base::base;
  using base::calibrate;
  // layer{w}(x) or layer{w}(x, offset), whose input and result widen the range.
  template <detail::integers::seen_by<quantized> Seen, class X, detail::integer_index... Offset>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w, const X& x,
                                  Offset... offset) noexcept {
    const auto in = contiguous(x);
    auto y = layer{w}(x, offset...);
    detail::integers::widen(seen.residual, in.data(), in.size());
    detail::integers::widen(seen.residual, y.data(), y.size());
    return y;
  }

  template <class X>
  using rule = detail::rules::positions_of_the_table<detail::say::quantized, X, std::int16_t,
                                                     position_axis, hidden_axis, false>;
  template <class X>
  using part_rule = detail::rules::positions_of_the_table<detail::say::quantized, X, std::int16_t,
                                                          position_axis, hidden_axis, true>;
  template <class X, class Part, class Y>
  constexpr void add_rows(const X& x, const Part& part, Y& y) const noexcept {
    detail::integers::add_rows(x, part.template rows_of<hidden_axis>(+this->get_weights().values),
                               y, typename detail::layout_of<X>::axes{});
  }
};

// embed(ids): the axes of ids, then Hidden, int16; zeros for an integer outside of the vocabulary.
// Logits of a tied output: quantized<linear<T, Hidden, Vocabulary>> of the same table.
template <class T, class Vocabulary, class Hidden>
class quantized<embedding<T, Vocabulary, Hidden>>
    : public detail::computing<quantized<embedding<T, Vocabulary, Hidden>>, detail::say::quantized>,
      public detail::integers::made_of_weights<
          embedding<T, Vocabulary, Hidden>,
          detail::integers::integer_table<
              typename embedding<T, Vocabulary, Hidden>::vocabulary_axis,
              typename embedding<T, Vocabulary, Hidden>::hidden_axis>> {
  using words = typename embedding<T, Vocabulary, Hidden>::vocabulary_axis;
  using hidden_axis = typename embedding<T, Vocabulary, Hidden>::hidden_axis;
  using table = tensor<std::int16_t, words, hidden_axis>;
  using base =
      detail::integers::made_of_weights<embedding<T, Vocabulary, Hidden>,
                                        detail::integers::integer_table<words, hidden_axis>>;

 public:
  using base::base;
  using base::calibrate;
  using typename base::layer;
  // layer{w}(ids). The whole table widens the range, whatever tokens the samples have.
  template <detail::integers::seen_by<quantized> Seen, class Ids>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w,
                                  const Ids& ids) noexcept {
    detail::integers::widen(seen.residual, w.data(), words::size * hidden_axis::size);
    return layer{w}(ids);
  }

  template <class Ids>
  using rule = detail::rules::rows_by_integers<detail::say::quantized, table, Ids>;
  template <class Ids>
  using result =
      typename detail::looked_up<detail::layout_of<table>, detail::layout_of<Ids>>::joined::type;
  template <class>
  using value = std::int16_t;
  template <class Ids, class Y>
  constexpr void write(const Ids& ids, Y& y) const noexcept {
    write_checked<(UMBEL_CHECK != 0)>(ids, y.data());
  }

 private:
  // Checked: does this file check positions? (A parameter because the function depends on it.)
  template <bool Checked, class Ids>
  constexpr void write_checked(const Ids& ids, std::int16_t* to) const noexcept {
    detail::write_rows<detail::layout_of<table>>(this->get_weights().values, ids, to,
                                                 [](const auto& id) {
                                                   const auto row = static_cast<std::size_t>(id);
                                                   detail::offset_along<words, 1>("embedding", row);
                                                   return row;
                                                 });
  }
};

// x + the sines and cosines from position `offset` on, int16; called like the float layer.
template <class T, class Position, class Hidden, class Pairs, std::size_t Base>
class quantized<sinusoidal_positions<T, Position, Hidden, Pairs, Base>>
    : public detail::placing<
          quantized<sinusoidal_positions<T, Position, Hidden, Pairs, Base>>, detail::say::quantized,
          typename sinusoidal_positions<T, Position, Hidden, Pairs, Base>::position_axis>,
      public detail::integers::made_of_ranges<
          detail::say::quantized,
          detail::integers::integer_sines<sinusoidal_positions<T, Position, Hidden, Pairs, Base>>> {
  using base = detail::integers::made_of_ranges<
      detail::say::quantized,
      detail::integers::integer_sines<sinusoidal_positions<T, Position, Hidden, Pairs, Base>>>;

 public:
  using layer = sinusoidal_positions<T, Position, Hidden, Pairs, Base>;
  using input_type = std::int16_t;

 private:
  using position_axis = typename layer::position_axis;
  using hidden_axis = typename layer::hidden_axis;

 public:
  using base::base;
  using base::calibrate;
  // layer{}(x, offset), whose input and result widen the range.
  template <detail::integers::seen_by<quantized> Seen, class X>
  static constexpr auto calibrate(Seen& seen, const X& x, std::size_t offset = 0) noexcept {
    const auto in = contiguous(x);
    auto y = layer{}(x, offset);
    detail::integers::widen(seen.residual, in.data(), in.size());
    detail::integers::widen(seen.residual, y.data(), y.size());
    return y;
  }

  template <class X>
  using rule = detail::rules::positions_of_the_table<detail::say::quantized, X, std::int16_t,
                                                     position_axis, hidden_axis, true>;
  template <class X>
  using part_rule = rule<X>;
  template <class X, class Part, class Y>
  constexpr void add_rows(const X& x, const Part& part, Y& y) const noexcept {
    detail::integers::add_rows(x, part.template rows_of<hidden_axis>(+this->numbers_.values), y,
                               typename detail::layout_of<X>::axes{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
