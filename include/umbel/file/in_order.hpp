// SPDX-License-Identifier: BSL-1.0
// Visits a list in another order than it is in, without memory for all of it: the checks that no
// two tensors of a file share a name or a byte. A list that is in order already, as the files of
// the usual writers are, takes two walks; another takes one walk more for every 128 items.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The items by one walk for every 128 of them. A function of its own: only lists in another order
// need its 3 kB of stack.
template <class Item, class Each, class Less, class Visit>
UMBEL_NOINLINE constexpr bool visit_sorted(const Each& each, const Less& less, const Visit& visit) {
  constexpr std::size_t capacity = 128;
  Item next[capacity]{};  // the smallest items behind `last`, in order
  Item last{};
  for (bool first_walk = true;; first_walk = false) {
    std::size_t count = 0;
    each([&](const Item& item) {
      if (!first_walk && !less(last, item)) return;
      if (count == capacity && !less(item, next[capacity - 1])) return;
      std::size_t from = 0, to = count;
      while (from != to) {
        const std::size_t middle = (from + to) / 2;
        if (less(item, next[middle]))
          to = middle;
        else
          from = middle + 1;
      }
      if (count < capacity) ++count;
      for (std::size_t i = count - 1; i > from; --i) next[i] = next[i - 1];
      next[from] = item;
    });
    for (std::size_t i = 0; i < count; ++i)
      if (!visit(next[i])) return false;
    if (count < capacity) return true;
    last = next[count - 1];
  }
}

// each(f): f(item) for every item. less: a strict order in which no two items are equal.
// visit(item): false ends it. Was every item visited?
template <class Item, class Each, class Less, class Visit>
constexpr bool visit_in_order(const Each& each, const Less& less, const Visit& visit) {
  bool sorted = true, begun = false;
  Item last{};
  each([&](const Item& item) {
    sorted = sorted && (!begun || less(last, item));
    begun = true;
    last = item;
  });
  if (!sorted) return visit_sorted<Item>(each, less, visit);
  bool goes_on = true;
  each([&](const Item& item) { goes_on = goes_on && visit(item); });
  return goes_on;
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
