// SPDX-License-Identifier: BSL-1.0
// Do two of many items clash: have two tensors of a file one name, or a byte in common? There is no
// memory for all of them, so they are compared by blocks, each with itself and with what follows.
// The work is bounded by the length of the file: at most two and a half walks over it for names and
// as many for bytes, of files of 4 GB or more four and a half, whatever their order.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A file with more tensors is refused: sizes and time of the checks stay bounded.
inline constexpr std::size_t most_tensors = 16384;

// ---- what may clash: operator< is their order; a.begins_within(x), false for all from some on
// in that order, is it true of those before: then the last of them is the one that may clash with x

// Bytes from begin to before end. One without bytes clashes with those that it is in the middle of.
// U: of enough bits for the whole file.
template <class U>
struct byte_range {
  U begin = 0, end = 0;
  friend constexpr bool operator<(const byte_range& a, const byte_range& b) noexcept {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  }
  constexpr bool begins_within(const byte_range& x) const noexcept { return begin < x.end; }
  constexpr bool clashes_with(const byte_range& x) const noexcept {
    return begin < x.end && x.begin < end;
  }
};

// Heapsort: its time does not depend on who ordered the items.
template <class Item>
constexpr void sort_items(Item* items, std::size_t count) noexcept {
  const auto sink = [items](std::size_t at, std::size_t end) {
    const Item item = items[at];
    for (std::size_t child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && items[child] < items[child + 1]) ++child;
      if (!(item < items[child])) break;
      items[at] = items[child];
    }
    items[at] = item;
  };
  for (std::size_t i = count / 2; i-- > 0;) sink(i, count);
  for (std::size_t end = count; end-- > 1;) {
    const Item largest = items[0];
    items[0] = items[end];
    items[end] = largest;
    sink(0, end);
  }
}

// How many of the sorted items holds(item) is true of: of all before some place, of none behind it.
template <class Item, class Holds>
constexpr std::size_t count_first(const Item* items, std::size_t count,
                                  const Holds& holds) noexcept {
  std::size_t from = 0;
  while (from != count) {
    const std::size_t middle = (from + count) / 2;
    if (holds(items[middle]))
      from = middle + 1;
    else
      count = middle;
  }
  return from;
}

template <class Item>
struct clash_found {
  bool found = false;
  Item first{}, second{};  // in their order
};

// By blocks of `capacity`, which has that many.
template <class Item, class Next>
UMBEL_NOINLINE clash_found<Item> find_clash_by(Item* block, std::size_t capacity, std::size_t begin,
                                               const Next& next) noexcept {
  for (std::size_t from = begin;;) {
    std::size_t count = 0, cursor = from;
    while (count < capacity && next(cursor, block[count])) ++count;
    sort_items(block, count);
    for (std::size_t i = 1; i < count; ++i)
      if (block[i - 1].clashes_with(block[i])) return {true, block[i - 1], block[i]};
    if (count < capacity) return {};
    from = cursor;
    for (Item x; next(cursor, x);) {
      const std::size_t within =
          count_first(block, count, [&](const Item& item) { return item.begins_within(x); });
      if (within == 0 || !block[within - 1].clashes_with(x)) continue;
      const Item& other = block[within - 1];
      return x < other ? clash_found<Item>{true, x, other} : clash_found<Item>{true, other, x};
    }
  }
}
// A function of its own: only many items need its stack.
template <class Item, class Next>
UMBEL_NOINLINE clash_found<Item> find_clash_of_many(std::size_t begin, const Next& next) noexcept {
  Item block[32768 / sizeof(Item)];
  return find_clash_by(block, sizeof(block) / sizeof(Item), begin, next);
}

// next(cursor, item): the item at the cursor, which moves on behind it; false at the end. count: of
// items, which says how much stack the search takes: 2 kB, of more than 256 names or ranges 32 kB.
// With UMBEL_SMALL_CODE it is always 2 kB, and the walks are sixteen times as many.
template <class Item, class Next>
clash_found<Item> find_clash(std::size_t count, std::size_t begin, const Next& next) noexcept {
  constexpr std::size_t few = 2048 / sizeof(Item);
  if (!UMBEL_SMALL_CODE && count > few) return find_clash_of_many<Item>(begin, next);
  Item block[few];
  return find_clash_by(block, few, begin, next);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
