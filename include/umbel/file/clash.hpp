// SPDX-License-Identifier: BSL-1.0
// Do two of many items clash: do two tensors of a file share a name or a byte? There is no memory
// for all of them, so blocks are compared, each with itself and all that follows. The work is
// bounded by the file's length: at most two and a half walks over it for names and as many for
// bytes, four and a half for files of 4 GB or more, whatever the order.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A file with more tensors is refused, which bounds the size and time of the checks.
inline constexpr std::size_t most_tensors = 16384;

// ---- items that may clash: operator< orders them. a.begins_within(x) is true up to some place in
// that order and false after it, so the last for which it is true may clash with x

// Bytes from begin to before end. An empty range clashes with those that it is inside of. U: an
// integer wide enough for the file.
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

// Heapsort: its time doesn't depend on the order of the items.
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

// The number of sorted items for which holds(item) is true: all up to some place, none after it.
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
  Item first{}, second{};  // in order
};

// In blocks of `capacity` items.
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
// A separate function: only many items need its stack.
template <class Item, class Next>
UMBEL_NOINLINE clash_found<Item> find_clash_of_many(std::size_t begin, const Next& next) noexcept {
  Item block[32768 / sizeof(Item)];
  return find_clash_by(block, sizeof(block) / sizeof(Item), begin, next);
}

// next(cursor, item): reads the item at the cursor and advances it; false at the end. count: items,
// which determines the stack use: 2 kB, or 32 kB for more than 256 names or ranges. With
// UMBEL_SMALL_CODE it is always 2 kB, with sixteen times as many walks.
template <class Item, class Next>
clash_found<Item> find_clash(std::size_t count, std::size_t begin, const Next& next) noexcept {
  constexpr std::size_t few = 2048 / sizeof(Item);
  if (!UMBEL_SMALL_CODE && count > few) return find_clash_of_many<Item>(begin, next);
  Item block[few];
  return find_clash_by(block, few, begin, next);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
