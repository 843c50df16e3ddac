// SPDX-License-Identifier: BSL-1.0
// The positions of a cache of floats or int8: how many its options allow, how many there are, which
// of them are still in memory, and which ones the queries of a step see. See past.hpp for keys and
// values of floats, and quantized/past.hpp for those of int8.
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/cached_layers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A sliding cache drops positions in blocks, so that a step sums in the order of the whole pass
// with its window. It may hold nearly a block more than its queries see.
struct drops_blocks {
  static constexpr std::size_t block = plan::key_block;
  static constexpr std::size_t spare(std::size_t) noexcept { return block - 1; }
};
// One by one, if the order of sums doesn't matter. There is memory for a quarter more than queries
// see, so that rows are moved once in that many steps.
struct drops_positions {
  static constexpr std::size_t block = 1;
  static constexpr std::size_t spare(std::size_t capacity) noexcept { return (capacity + 3) / 4; }
};

// The sizes from a cache's options. Capacity: the most positions that a query sees.
template <class Drops, std::size_t Capacity, class... Options>
struct cache_sizes : Drops {
  using batch_option = option_or<rules::batch_family, void, Options...>;
  using sliding = option_or<option::longest_sequence, not_sliding, Options...>;
  static constexpr bool slides = sliding::positions != 0;
  static constexpr std::size_t batches = rules::size_or_1<batch_option>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr std::size_t positions = slides ? sliding::positions : capacity;
  // The number of positions that fit in memory.
  static constexpr std::size_t rows =
      slides ? capacity + Drops::spare(capacity) + sliding::chunk - 1 : capacity;
  static constexpr std::size_t at_once = slides ? sliding::chunk : capacity;
  template <class T, std::size_t Heads, std::size_t New>
  using scores = scores_of<T, rules::size_or_0<batch_option>, Heads, New, rows, true>;
};

// How many positions there are, and how many of them were dropped. Sizes: cache_sizes.
template <class Sizes>
class positions_so_far {
 public:
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // The row of the next position in memory.
  [[nodiscard]] constexpr std::size_t row() const noexcept { return size_ - dropped_; }
  constexpr void reset() noexcept { size_ = dropped_ = 0; }
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    if (count > size_ || (dropped_ != 0 && count + 1 < dropped_ + Sizes::capacity)) return false;
    size_ = count;
    return true;
  }
  // Makes room for `count` more; drop(gone, left) moves `left` rows by `gone`. false: no room.
  template <class Drop>
  constexpr bool make_room(std::size_t count, const Drop& drop) noexcept {
    if (count > Sizes::positions - size_) return false;
    if constexpr (Sizes::slides) {
      if (row() + count > Sizes::rows) {
        // The first new position sees the oldest one, whose block must stay.
        const std::size_t oldest = (size_ + 1 - Sizes::capacity) / Sizes::block * Sizes::block;
        drop(oldest - dropped_, size_ - oldest);
        dropped_ = oldest;
      }
    }
    return true;
  }
  constexpr void add(std::size_t count) noexcept { size_ += count; }

  // The keys that a query of the next Count positions sees under any mask.
  template <std::size_t Count>
  constexpr auto seen() const noexcept {
    namespace scores = kernel::scores;
    const auto first = static_cast<std::ptrdiff_t>(row());
    if constexpr (Sizes::slides)
      return scores::window{Sizes::capacity - 1, 0, first};
    else if constexpr (Count == 1)
      return scores::first_keys(row() + 1);
    else
      return scores::causal{first};
  }

 private:
  std::size_t size_ = 0, dropped_ = 0;
};

// Moves `left` rows of `row` numbers to the front, by `gone` rows.
template <class T>
constexpr void move_rows(T* to, std::size_t gone, std::size_t left, std::size_t row = 1) noexcept {
  for (std::size_t i = 0; i < left * row; ++i) to[i] = to[gone * row + i];
}

// The keys that the heads of a call see: those in `seen` that the mask keeps. Masks: as_mask.
template <class Scores, class Seen, class Masks>
struct seen_by_heads {
  Seen seen;
  const Masks& masks;
  std::size_t sequence;
  std::ptrdiff_t first, bottom_right;  // mask_place
  constexpr auto operator()(std::size_t head) const noexcept {
    return among(seen, at_head<Scores>(masks, {sequence, head, first, bottom_right}));
  }
};

// N queries of sequence b, the first at `position`, to all `size` positions of past. A mask that
// places queries at the last key means the last ones. how: the finish of int8.
template <std::size_t N, sequence_strides X, sequence_strides Out, class Past, class Weights,
          class T, class Masks, class To, class Scratch, class... How>
constexpr void attend_to_sequence(const Past& past, const Weights& w, std::size_t b, const T* x,
                                  std::size_t position, std::size_t size, const Masks& masks,
                                  To* out, Scratch& scratch, const How&... how) noexcept {
  using seen = seen_by_heads<typename Past::template scores<N>, kernel::scores::first_keys, Masks>;
  const auto first = static_cast<std::ptrdiff_t>(position);
  const auto last = static_cast<std::ptrdiff_t>(size) - static_cast<std::ptrdiff_t>(N);
  past.template attend<N, X, Out>(w, b, x, position,
                                  seen{kernel::scores::first_keys(size), masks, b, first, last},
                                  out, scratch, how...);
}
// Stores the N next positions of sequence b, whose queries attend to all up to themselves.
template <std::size_t N, sequence_strides X, sequence_strides Out, class Past, class Weights,
          class T, class Sizes, class Masks, class To, class Scratch, class... How>
constexpr void step_of_sequence(Past& past, const Weights& w, std::size_t b, const T* x,
                                const positions_so_far<Sizes>& so_far, const Masks& masks, To* out,
                                Scratch& scratch, const How&... how) noexcept {
  using seen =
      seen_by_heads<typename Past::template scores<N>, decltype(so_far.template seen<N>()), Masks>;
  past.template append<N, X, X>(w, b, x, x, so_far.size(), so_far.row(), scratch);
  const auto first = static_cast<std::ptrdiff_t>(so_far.row());
  past.template attend<N, X, Out>(w, b, x, so_far.size(),
                                  seen{so_far.template seen<N>(), masks, b, first, first}, out,
                                  scratch, how...);
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
