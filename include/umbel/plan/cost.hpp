// SPDX-License-Identifier: BSL-1.0
// The cost of a plan in cycles of a core that starts two multiply-adds and two loads per cycle,
// with four cycles for a multiply-add and 3.2 for a vector of exponentials (measured on a 2024
// server core; bench/plan shows how well this predicts time). An estimate, to show what a layer
// consists of and to compare plans. See plan.hpp for choices.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/plan/plan.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::plan {

namespace detail {

// A register tile of `rows` by `vectors`: the slowest of multiply-adds, loads and dependent chains,
// plus the stores at the end.
constexpr double tile_cycles(double rows, double vectors, double steps) noexcept {
  const double busy = rows * vectors > rows + vectors ? rows * vectors : rows + vectors;
  return (busy / 2 > 4 ? busy / 2 : 4) * steps + rows * vectors + 12;
}

// Bytes per cycle from the cache that holds `bytes`: the first, the second, a further one.
constexpr double bytes_a_cycle(double bytes) noexcept {
  return bytes <= 32 * 1024 ? 128 : bytes <= 1024 * 1024 ? 48 : 28;
}

template <class F>
constexpr double for_each_size(split s, F cycles_of) {
  double sum = 0;
  if (s.large_count != 0) sum += static_cast<double>(s.large_count) * cycles_of(s.large);
  if (s.small_count != 0) sum += static_cast<double>(s.small_count) * cycles_of(s.smaller());
  return sum;
}

}  // namespace detail

// y = x w + bias with `in` inputs. Each tile of rows rereads the weights of its panels.
template <class T>
constexpr double cycles(const linear_plan& p, std::size_t in) noexcept {
  const auto steps = static_cast<double>(in);
  const double panel = steps * static_cast<double>(p.panels.large * p.lanes * sizeof(T));
  const double all = panel * static_cast<double>(p.panels.count());
  return detail::for_each_size(p.rows, [&](std::size_t rows) {
    return detail::for_each_size(p.panels, [&](std::size_t vectors) {
      // Panels per tile, or a tile's part of a panel.
      const double group = p.tile == p.panels.large
                               ? static_cast<double>(p.group)
                               : static_cast<double>(p.tile) / static_cast<double>(vectors);
      const double wide = static_cast<double>(vectors) * group;
      const double busy = detail::tile_cycles(static_cast<double>(rows), wide, steps);
      const double bytes = wide * static_cast<double>(p.lanes * sizeof(T)) * steps;
      const double waiting =
          bytes / detail::bytes_a_cycle(p.rows.count() > 1 ? panel * group : all);
      return (busy > waiting ? busy : waiting) / group;
    });
  });
}

// One or a few queries of one head, keys or values in the lanes. Keys and values come from the
// cache that holds those of all kv_heads heads.
template <class T>
constexpr double cycles_of_few(std::size_t queries, std::size_t lanes, std::size_t keys,
                               std::size_t head_dim, std::size_t value_dim,
                               std::size_t kv_heads) noexcept {
  const auto count = static_cast<double>(keys);
  const auto vectors = static_cast<double>(divide_up(keys, lanes));
  const auto of_value = static_cast<double>(divide_up(value_dim, lanes));
  const auto rows = static_cast<double>(queries);
  const double scores =
      vectors * static_cast<double>(head_dim) * (queries == 1 ? 1 : rows / 2 + 0.5);
  const double sums = rows * of_value / 2;
  const double context = count * (sums > 4 ? sums : 4);
  const double bytes = count * static_cast<double>((head_dim + value_dim) * sizeof(T));
  const double waiting = bytes / detail::bytes_a_cycle(bytes * static_cast<double>(kv_heads));
  const double busy = scores + rows * vectors * 3.7 + context;
  return busy > waiting ? busy : waiting;
}

// One head of several queries: scores, softmax, context, in blocks.
template <class T>
constexpr double cycles(const attend_plan& p, target machine, std::size_t keys,
                        std::size_t head_dim, std::size_t value_dim) noexcept {
  const auto products = [&](std::size_t rows, std::size_t vectors, std::size_t steps) {
    return detail::for_each_size(
        split_evenly(rows, attend_rows(machine, vectors)), [&](std::size_t tile) {
          return detail::tile_cycles(static_cast<double>(tile), static_cast<double>(vectors),
                                     static_cast<double>(steps));
        });
  };
  const double alone =
      p.alone == 0 ? 0 : cycles_of_few<T>(p.alone, p.lanes, keys, head_dim, value_dim, 1);
  return alone + detail::for_each_size(p.queries, [&](std::size_t vectors) {
           const auto wide = static_cast<double>(vectors);
           const double softmax = wide * static_cast<double>(keys) * (3.2 + 0.5);
           const double transposed =
               wide * static_cast<double>((head_dim + value_dim) * p.lanes) * 0.09;
           return products(keys, vectors, head_dim) + softmax + products(value_dim, vectors, keys) +
                  transposed;
         });
}

}  // namespace umbel::inline UMBEL_TARGET::detail::plan
UMBEL_WARNINGS_POP
