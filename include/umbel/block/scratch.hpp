// SPDX-License-Identifier: BSL-1.0
// The workspace of a block, a step or int8: rows between the parts, then their shared scratch.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/workspace.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::residual {

template <class T, std::size_t Count>
struct rows_memory {
  alignas(64) T rows[Count];
};
template <class T>
struct rows_memory<T, 0> {
  static constexpr T* rows = nullptr;
};

// Row memory from element i on; null stays null.
template <class T>
constexpr T* from_element(T* rows, std::size_t i) noexcept {
  return rows == nullptr ? nullptr : rows + i;
}

// One of them is active.
template <class... Scratch>
union one_of {
  char none;
};
template <class First, class... Rest>
union one_of<First, Rest...> {
  First first;
  one_of<Rest...> rest;
};
// Activates that of part I.
template <std::size_t I, class First, class... Rest>
constexpr auto& start(one_of<First, Rest...>& all) noexcept {
  if constexpr (I == 0) {
    if (__builtin_is_constant_evaluated()) all.first = {};
    return all.first;
  } else {
    if (__builtin_is_constant_evaluated()) all.rest = {};
    return start<I - 1>(all.rest);
  }
}

// Count: of the elements of rows.
template <class T, std::size_t Normed, std::size_t Branch, class Positions, class... Scratch>
struct scratch_for : workspace_base {
  using positions = Positions;
  [[no_unique_address]] rows_memory<T, Normed> normed;
  [[no_unique_address]] rows_memory<T, Branch> branch;
  one_of<Scratch...> parts;
};

// The workers of Given with the scratch of part I, for forward_in_parts.
template <std::size_t I, class Given>
struct workers_at {
  struct scratch_of_part {
    const Given& given;
    auto& operator[](std::size_t worker) const noexcept {
      return start<I>(given.work[worker].parts);
    }
  };
  static constexpr std::size_t workers = Given::workers;
  const Given& given;
  scratch_of_part work{given};
  template <class Piece>
  void hand_out(std::size_t count, const Piece& piece) const noexcept {
    given.hand_out(count, piece);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::residual
UMBEL_WARNINGS_POP
