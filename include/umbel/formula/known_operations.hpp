// SPDX-License-Identifier: BSL-1.0
// Operations that a formula's plan knows; the others are calls.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/functions.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/operation/argmax.hpp>
#include <umbel/operation/cumulative_sum.hpp>
#include <umbel/operation/kth_largest.hpp>
#include <umbel/operation/mean.hpp>
#include <umbel/operation/reduce.hpp>
#include <umbel/operation/softmax.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <class Operation>
struct known_operation {
  static constexpr word what = word_of<Operation>;
  static constexpr unsigned long long family = 0;
};
template <template <std::size_t> class Axis>
struct known_operation<softmax_operation<Axis>> {
  static constexpr word what = word::softmax;
  static constexpr unsigned long long family = family_id<family_of<Axis>>;
};
template <template <std::size_t> class Axis>
struct known_operation<log_softmax_operation<Axis>> {
  static constexpr word what = word::log_softmax;
  static constexpr unsigned long long family = family_id<family_of<Axis>>;
};
template <class... Families>
struct known_operation<mean_over<Families...>> {
  static constexpr word what = word::reduce;
  static constexpr unsigned long long family = 0;
  template <class T>
  static constexpr void describe(node_of_graph<T>& entry) noexcept {
    entry.reduces_by = reduction::mean;
    ((entry.summed[entry.sums++] = family_id<Families>), ...);
  }
};
// Rows are independent, except along its axes.
template <class... Families>
struct known_along {
  static constexpr word what = word::none;
  static constexpr unsigned long long family = 0;
  template <class T>
  static constexpr void describe(node_of_graph<T>& entry) noexcept {
    entry.by_rows = true;
    ((entry.summed[entry.sums++] = family_id<Families>), ...);
  }
};
template <template <std::size_t> class... Axes>
struct known_operation<variance_operation<Axes...>> : known_along<family_of<Axes>...> {};
template <class Family, class... Options>
struct known_operation<cumulative_sum_operation<Family, Options...>> : known_along<Family> {
  template <class T>
  static constexpr void describe(node_of_graph<T>& entry) noexcept {
    using sums = cumulative_sum_operation<Family, Options...>;
    known_along<Family>::describe(entry);
    entry.scan = sums::is_exclusive ? scan_form::exclusive : scan_form::inclusive;
    entry.from_last = sums::is_reversed;
  }
};
template <class... Families>
struct known_operation<flip_operation<Families...>> : known_along<Families...> {};
template <class Family>
struct known_operation<argmax_operation<Family>> : known_along<Family> {
  template <class T>
  static constexpr void describe(node_of_graph<T>& entry) noexcept {
    known_along<Family>::describe(entry);
    entry.is_position = true;
  }
};
template <std::size_t K, class Family>
struct known_operation<kth_largest_operation<K, Family>> : known_along<Family> {
  static constexpr bool selects = true;
  template <class T>
  static constexpr void describe(node_of_graph<T>& entry) noexcept {
    known_along<Family>::describe(entry);
    entry.reduces_by = reduction::max;
    entry.kth = K;
  }
};

template <class Operation>
inline constexpr reduction reduction_of = reduction::sum;
template <>
inline constexpr reduction reduction_of<kernel::plain::max_of> = reduction::max;
template <>
inline constexpr reduction reduction_of<kernel::plain::min_of> = reduction::min;
template <>
inline constexpr reduction reduction_of<kernel::plain::product_of> = reduction::product;

// Is the result x plus a constant? Then its derivative is 1.
template <class Operation>
inline constexpr bool adds_a_constant = false;

// Is it linear, such as a rotation of pairs of features? Then write<true> computes its gradient.
template <class Operation>
concept is_linear = Operation::is_linear;
// Is the result the position of an element? Then it has no gradient, and depends on none.
template <class Operation>
concept is_position = Operation::is_position;
// Is the result one of the elements? Then its gradient is that of max.
template <class Operation>
concept selects = known_operation<Operation>::selects;

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
