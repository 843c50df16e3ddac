// SPDX-License-Identifier: BSL-1.0
// The steps of a formula in integers. Sums and others are loops over named axes; norms and tables
// use the kernels. Maps and contractions: formula_products.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/norm.hpp>
#include <umbel/quantized/formula_numbers.hpp>
#include <umbel/quantized/formula_products.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// The score of a hidden key; no other score is as small.
inline constexpr std::int16_t hidden_score = -32768;

// Before a call: nothing.
struct no_past {
  static constexpr std::size_t position = 0;
};
// A call. Numbers: those of the model, or of one with more nodes. Work: an integer_workspace of the
// model, or of more rows. Past: no_past, or the kept values of a cache.
template <class Model, class Pointers, class Results, class Numbers, class Work, class Past>
struct integer_run {
  using model = Model;
  static constexpr const auto& plan = Model::plan;
  template <int N>
  using integer = typename Model::template integer<N>;

  Pointers arguments;
  Results results;  // the first element of each
  const Numbers& numbers;
  Work& work;
  Past past;

  // How far node N's loops go, if ToLast: to the key of the last position.
  template <int N, bool ToLast = Model::template reads_past<N>>
  UMBEL_INLINE constexpr auto counts() const noexcept {
    if constexpr (ToLast)
      return past.keys_so_far();
    else
      return whole_axes{};
  }
  template <int N>
  UMBEL_INLINE constexpr const auto& of_node() const noexcept {
    return numbers_at<Model::template numbered_as<N>>(numbers);
  }

  template <int N>
  UMBEL_INLINE constexpr const integer<N>* memory() const noexcept {
    constexpr int root = plan.root[N];
    if constexpr (plan.step[root] == integer_step::given)
      return formulas::pointer_at<plan.at(root).slot>(arguments);
    else if constexpr (plan.step[root] == integer_step::constant)
      return of_node<root>().values;
    else if constexpr (plan.step[root] == integer_step::append)
      return written<root>() + Model::template first_read<root>(past.position);
    else
      return written<root>();
  }
  template <int N>
  UMBEL_INLINE constexpr integer<N>* written() const noexcept {
    if constexpr (plan.is_result(N))
      return &formulas::reference_at<plan.number_of_result(N)>(results);
    else if constexpr (plan.step[N] == integer_step::append)
      return past.template values<integer<N>>() + Model::template place_of<N>;
    else if constexpr (plan.wide[N])
      return work.wide + plan.place[N];
    else
      return work.narrow + plan.place[N];
  }
  template <int N, std::size_t J>
  UMBEL_INLINE constexpr auto begin() const noexcept {
    constexpr operand from = plan.at(N).from[J];
    return memory<from.node>() + from.offset;
  }
  // Does operand J have the node's axes in order?
  template <int N, std::size_t J>
  static constexpr bool in_place = Model::template axes_of_operand<N, J> == Model::template axes<N>;

  // y = f(a) or f(a, b) for each element of node N.
  template <int N, std::size_t... J, class F>
  UMBEL_INLINE constexpr void each(const F& f) const noexcept {
    integer<N>* const y = written<N>();
    constexpr auto& over = Model::template axes<N>;
    if constexpr ((in_place<N, J> && ...) && !Model::template reads_past<N>) {
      constexpr std::size_t count = over.count();
      for (std::size_t i = 0; i < count; ++i) y[i] = f(begin<N, J>()[i]...);
    } else {
      walk<Model::template axes<N>, Model::template axes_of_operand<N, J>...>::each(
          [&](std::size_t i, auto... at) { y[i] = f(begin<N, J>()[at]...); }, counts<N>());
    }
  }

  template <int N, std::size_t J, int Over>
  constexpr double outside_argument(const std::size_t* index, std::size_t at) const noexcept {
    constexpr auto& over = Model::template axes<Over>;
    at += plan.at(N).from[J].offset;
    for (std::size_t a = 0; a < over.rank; ++a)
      at += index[a] * Model::template axes_of_operand<N, J>.stride_of(over.family[a]);
    return static_cast<double>(
        formulas::pointer_at<plan.at(plan.at(N).from[J].node).slot>(arguments)[at]);
  }
  // Does a table have the position?
  template <int N>
  static constexpr bool is_inside(double place) noexcept {
    return place >= 0 && static_cast<double>(plan.at(N).gathered) > place;
  }
  // The value of a condition, or of a number that it compares, at a position.
  template <int N, std::size_t J, int Over>
  constexpr double outside(const std::size_t* index) const noexcept {
    constexpr operand from = plan.at(N).from[J];
    constexpr const auto& node = plan.at(from.node);
    constexpr auto& over = Model::template axes<Over>;
    if constexpr (node.what == word::number) {
      return static_cast<double>(node.number);
    } else if constexpr (node.what == word::position) {
      const std::size_t first = Model::template is_new<Over, node.family> ? past.position : 0;
      return static_cast<double>(index[over.position(node.family)] + first);
    } else if constexpr (node.what == word::argument) {
      return outside_argument<N, J, Over>(index, 0);
    } else if constexpr (node.what == word::gather) {
      const double place = outside<from.node, 1, Over>(index);
      return is_inside<from.node>(place)
                 ? outside_argument<from.node, 0, Over>(
                       index, static_cast<std::size_t>(place) * node.gathered_stride)
                 : 0;
    } else {
      return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return Model::template outside_of<node.what>(outside<from.node, K, Over>(index)...);
      }(std::make_index_sequence<node.operands>{});
    }
  }

  template <int N>
  constexpr void take() const noexcept {
    constexpr integer_step step = plan.step[N];
    using Y = integer<N>;
    if constexpr (!plan.needed[N] || plan.root[N] != N) {
      return;
    } else {
      [[maybe_unused]] Y* const y = written_or_null<N>();
      [[maybe_unused]] const auto& node_numbers = of_node<N>();
      constexpr auto& over = Model::template axes<N>;
      constexpr std::size_t count = over.count();
      if constexpr (step == integer_step::copy) {
        constexpr std::size_t j = plan.at(plan.at(N).from[0].node).what == word::number;
        copy<N, j>(y);
      } else if constexpr (step == integer_step::parts || step == integer_step::joined) {
        if constexpr (step == integer_step::parts)
          for (std::size_t i = 0; i < count; ++i) y[i] = 0;
        put_parts<N>(y, std::make_index_sequence<plan.at(N).operands>{});
      } else if constexpr (step == integer_step::table) {
        look_up<N>(y);
      } else if constexpr (step == integer_step::sum) {
        const kernel::plain::rounding to_unit(node_numbers.shift);
        constexpr word what = plan.at(N).what;
        each<N, 0, 1>([&](std::int32_t a, std::int32_t b) {
          a *= node_numbers.multiplier[0];
          b *= node_numbers.multiplier[1];
          if constexpr (what == word::maximum || what == word::minimum)
            return saturated<Y>(to_unit((a > b) == (what == word::maximum) ? a : b));
          else
            return saturated<Y>(to_unit(a + b));
        });
      } else if constexpr (step == integer_step::product) {
        if constexpr (in_place<N, 0> && in_place<N, 1> && sizeof(Y) == 1 &&
                      !Model::template reads_past<N>)
          kernel::integer_product<count>(begin<N, 0>(), begin<N, 1>(), node_numbers.unit, y);
        else
          each<N, 0, 1>([&](std::int32_t a, std::int32_t b) {
            return saturated<Y>(kernel::plain::in_unit(a * b, node_numbers.unit));
          });
      } else if constexpr (step == integer_step::hide) {
        std::size_t index[formulas::most_axes]{};
        walk<Model::template axes<N>, Model::template axes_of_operand<N, 0>>::with_index(
            index,
            [&](std::size_t i, std::size_t at) {
              y[i] = outside<N, 1, N>(index) != 0 ? hidden_score : begin<N, 0>()[at];
            },
            counts<N>());
      } else if constexpr (step == integer_step::lookup) {
        find<N>(y);
      } else if constexpr (step == integer_step::choice) {
        choose<N>(y);
      } else if constexpr (step == integer_step::contraction || step == integer_step::context) {
        product_of<integer_run, N>::contract(*this, y);
      } else if constexpr (step == integer_step::projection) {
        product_of<integer_run, N>::project(*this, y);
      } else if constexpr (step == integer_step::softmax) {
        soften<N>(y);
      } else if constexpr (step == integer_step::norm) {
        constexpr bool centred = plan.at(N).norm != norm_form::rms_norm;
        constexpr std::size_t width = over.size_of(plan.at(N).family);
        const auto* const x = begin<N, 0>();
        if constexpr (sizeof(*x) == 2) {
          kernel::integer_norm_rows<centred, count / width>(node_numbers, x, y);
        } else {
          std::int16_t* const row = work.rows_out;
          for (std::size_t r = 0; r < count; r += width) {
            for (std::size_t i = 0; i < width; ++i) row[i] = x[r + i];
            kernel::integer_norm_rows<centred, 1>(node_numbers, row, y + r);
          }
        }
      } else if constexpr (step == integer_step::append) {
        append<N>(y);
      } else if constexpr (step == integer_step::mean || step == integer_step::extreme) {
        reduce<N>(y);
      }
    }
  }
  template <int N>
  constexpr integer<N>* written_or_null() const noexcept {
    if constexpr (plan.step[N] == integer_step::given || plan.step[N] == integer_step::constant)
      return nullptr;
    else
      return written<N>();
  }
  template <int N, std::size_t J>
  constexpr void copy(integer<N>* y) const noexcept {
    walk<Model::template axes<N>, Model::template axes_of_operand<N, J>>::each(
        [&](std::size_t i, std::size_t at) { y[i] = begin<N, J>()[at]; }, counts<N>());
  }
  // Over the axes of the new positions, with the strides of the kept ones.
  template <int N>
  constexpr void append(integer<N>* y) const noexcept {
    y += Model::template first_written<N>(past.position);
    walk<Model::template axes_of_operand<N, 0>, Model::template axes_of_operand<N, 0>,
         Model::template axes_of_append<N>>::each([&](std::size_t, std::size_t from,
                                                      std::size_t to) {
      y[to] = begin<N, 0>()[from];
    });
  }
  template <int N>
  constexpr void find(integer<N>* y) const noexcept {
    constexpr std::size_t step = plan.at(N).gathered_stride;
    std::size_t index[formulas::most_axes]{};
    walk<Model::template axes<N>, Model::template axes_of_operand<N, 0>>::with_index(
        index,
        [&](std::size_t i, std::size_t at) {
          const double place = outside<N, 1, N>(index);
          y[i] = is_inside<N>(place) ? begin<N, 0>()[at + static_cast<std::size_t>(place) * step]
                                     : integer<N>{};
        },
        counts<N>());
  }
  // Operand J in the unit of N, or its number.
  template <int N, std::size_t J, class Rounding>
  constexpr integer<N> value_of(const Rounding& to_unit, std::size_t at) const noexcept {
    const auto& node_numbers = of_node<N>();
    constexpr std::size_t value = J - Model::template first_value<N>;
    if constexpr (plan.is_number(plan.at(N).from[J].node))
      return static_cast<integer<N>>(node_numbers.number[value]);
    else
      return saturated<integer<N>>(
          to_unit(std::int32_t{begin<N, J>()[at]} * node_numbers.multiplier[value]));
  }
  template <int N>
  constexpr void choose(integer<N>* y) const noexcept {
    const kernel::plain::rounding to_unit(of_node<N>().shift);
    std::size_t index[formulas::most_axes]{};
    walk<Model::template axes<N>, Model::template axes_of_operand<N, 1>,
         Model::template axes_of_operand<N, 2>>::
        with_index(
            index,
            [&](std::size_t i, std::size_t a, std::size_t b) {
              y[i] = outside<N, 0, N>(index) != 0 ? value_of<N, 1>(to_unit, a)
                                                  : value_of<N, 2>(to_unit, b);
            },
            counts<N>());
  }
  template <int N, std::size_t J>
  constexpr void put_part(integer<N>*& y) const noexcept {
    constexpr auto& part = Model::template axes_of_operand<N, J>;
    constexpr unsigned long long along = plan.at(N).family;
    if constexpr (plan.step[N] == integer_step::joined) {
      const kernel::plain::rounding to_unit(of_node<N>().shift);
      walk<Model::template axes_of_operand<N, J>, Model::template axes_of_operand<N, J>,
           Model::template axes<N>>::each([&](std::size_t, std::size_t at, std::size_t to) {
        y[to] = value_of<N, J>(to_unit, at);
      });
    } else if constexpr (plan.at(plan.at(N).from[J].node).what != word::number) {
      walk<Model::template axes_of_operand<N, J>, Model::template axes_of_operand<N, J>,
           Model::template axes<N>>::each([&](std::size_t, std::size_t at, std::size_t to) {
        y[to] = begin<N, J>()[at];
      });
    }
    y += part.size_of(along) * Model::template axes<N>.stride_of(along);
  }
  template <int N, std::size_t... J>
  constexpr void put_parts(integer<N>* y, std::index_sequence<J...>) const noexcept {
    (put_part<N, J>(y), ...);
  }
  template <int N>
  constexpr void look_up(integer<N>* y) const noexcept {
    constexpr operand leaf = plan.leaf[N];
    const auto* const x = memory<leaf.node>() + leaf.offset;
    const auto* const table = of_node<N>().values;
    constexpr auto& over = Model::template axes<N>;
    if constexpr (leaf.axes == over && sizeof(integer<N>) == 1 && !Model::template reads_past<N>) {
#if UMBEL_DOT_VECTORS
      if (!__builtin_is_constant_evaluated()) return simd::look_up<over.count()>(table, x, y);
#endif
      for (std::size_t i = 0; i < over.count(); ++i) y[i] = table[x[i] + 128];
    } else {
      walk<Model::template axes<N>, Model::template axes_of_leaf<N>>::each(
          [&](std::size_t i, std::size_t at) { y[i] = table[x[at] + 128]; }, counts<N>());
    }
  }
  // Weights 0 to 127, the largest of each row 127; rows along one axis of a row-major node.
  template <int N>
  static constexpr axis_list rows_of_softmax =
      formulas::without(plan.at(N).from[0].axes, plan.at(N).family);
  template <int N>
  constexpr void soften(std::int8_t* y) const noexcept {
    constexpr operand from = plan.at(N).from[0];
    constexpr unsigned long long along = plan.at(N).family;
    const std::size_t size = counts<N>().template count<along, from.axes.size_of(along)>();
    constexpr std::size_t step = from.axes.stride_of(along);
    constexpr std::size_t y_step = Model::template axes<N>.stride_of(along);
    const kernel::integer_softmax& numbers_of_softmax = of_node<N>();
    walk<rows_of_softmax<N>, rows_of_softmax<N>, Model::template axes<N>>::each(
        [&](std::size_t, std::size_t row, std::size_t to) {
          const auto* const x = begin<N, 0>() + row;
          std::int32_t largest = hidden_score;
          for (std::size_t k = 0; k < size; ++k)
            if (x[k * step] > largest) largest = x[k * step];
          for (std::size_t k = 0; k < size; ++k) {
            const std::int32_t score = x[k * step];
            y[to + k * y_step] = static_cast<std::int8_t>(
                score == hidden_score
                    ? 0
                    : kernel::plain::weight_at(largest - score, numbers_of_softmax));
          }
        },
        counts<N>());
  }
  template <int N>
  constexpr void reduce(integer<N>* y) const noexcept {
    constexpr auto& summed = Model::template summed<N, 0>;
    walk<Model::template axes<N>, Model::template axes_of_operand<N, 0>>::each(
        [&](std::size_t i, std::size_t from) {
          const std::int8_t* const x = begin<N, 0>() + from;
          std::int32_t sum = 0, most = -128, least = 127;
          walk<Model::template summed<N, 0>, Model::template summed<N, 0>>::each(
              [&](std::size_t, std::size_t at) {
                const std::int32_t v = x[at];
                sum += v;
                most = v > most ? v : most;
                least = v < least ? v : least;
              },
              counts<N>());
          if constexpr (plan.step[N] == integer_step::mean)
            y[i] = saturated<integer<N>>(
                kernel::plain::integer_mean_of<summed.count()>(sum, of_node<N>().unit));
          else
            y[i] = static_cast<std::int8_t>(plan.at(N).reduces_by == reduction::max ? most : least);
        },
        counts<N>());
  }
  template <int... N>
  constexpr void take_all(std::integer_sequence<int, N...>) const noexcept {
    (take<N>(), ...);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
