// SPDX-License-Identifier: BSL-1.0
// Keys and values of the positions so far, int8, of layers in integers: what caches of attention,
// of blocks and of stacks share. Not here: their calls (cache.hpp, cache_of_blocks.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/cache.hpp>
#include <umbel/quantized/attention_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace rules {
// Layer: of floats, a multi_head_attention.
// Weight: of attention.
template <class Layer, class Weight, class Keys, class... Options>
using integer_cache = first_error<
    in_place<say::key_value_cache, Keys, axes::key>, well_formed<Keys>,
    options<say::key_value_cache, option_kinds<batch_family, option::longest_sequence>, Options...>,
    well_formed<option_or<batch_family, axes::batch<1>, Options...>>,
    what_is_stored_fits<Layer, Keys, option_or<batch_family, axes::batch<1>, Options...>>,
    longest_sequence_fits<Keys, option_or<option::longest_sequence, not_sliding, Options...>,
                          Options...>,
    sums_fit<detail::axis_or_none<Keys>, detail::integers::most_keys<Weight>>>;
}  // namespace rules

namespace integers {

// What the options of a cache amount to. Capacity: how many positions a query sees at most.
template <std::size_t Capacity, class... Options>
struct cache_sizes {
  using batch_option = option_or<rules::batch_family, void, Options...>;
  using sliding = option_or<option::longest_sequence, not_sliding, Options...>;
  static constexpr bool slides = sliding::positions != 0;
  static constexpr std::size_t batches = rules::size_or_1<batch_option>;
  static constexpr std::size_t capacity = Capacity;
  // The most positions that a sequence may have.
  static constexpr std::size_t positions = slides ? sliding::positions : capacity;
  // Positions that there is memory for. Where it slides, a quarter more than queries see, so that
  // what stays is moved once in so many steps.
  static constexpr std::size_t rows =
      slides ? capacity + (capacity + 3) / 4 + sliding::chunk - 1 : capacity;
  // The most positions that one step adds.
  static constexpr std::size_t at_once = slides ? sliding::chunk : capacity;
};

// How many positions there were, and how many of them are no longer in memory. Sizes: cache_sizes.
template <class Sizes>
class positions_so_far {
 public:
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // Of the next position in memory.
  [[nodiscard]] constexpr std::size_t row() const noexcept { return size_ - dropped_; }
  constexpr void reset() noexcept { size_ = dropped_ = 0; }
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept {
    if (count > size_ || (dropped_ != 0 && count + 1 < dropped_ + Sizes::capacity)) return false;
    size_ = count;
    return true;
  }
  // Room for that many more: drop(gone, left) moves `left` rows to the front, by `gone`. false:
  // there is none, and nothing has changed.
  template <class Drop>
  constexpr bool make_room(std::size_t count, const Drop& drop) noexcept {
    if (count > Sizes::positions - size_) return false;
    if constexpr (Sizes::slides) {
      if (row() + count > Sizes::rows) {
        // The first new position sees this one.
        const std::size_t oldest = size_ + 1 - Sizes::capacity;
        drop(oldest - dropped_, size_ - oldest);
        dropped_ = oldest;
      }
    }
    return true;
  }
  constexpr void add(std::size_t count) noexcept { size_ += count; }

 private:
  std::size_t size_ = 0, dropped_ = 0;
};

// What a query sees whatever the mask says. row: of the first query of a step.
template <class Sizes, std::size_t Count>
constexpr auto seen_in_a_step(std::size_t row) noexcept {
  namespace scores = kernel::scores;
  const auto first = static_cast<std::ptrdiff_t>(row);
  if constexpr (Sizes::slides)
    return scores::window{Sizes::capacity - 1, 0, first};
  else if constexpr (Count == 1)
    return scores::first_keys(row + 1);
  else
    return scores::causal{first};
}

// The keys and values of one attention. Attention: of floats; Weight: of attention.
template <class Attention, class Sizes, class Weight = std::int8_t>
class past_of_attention {
 public:
  using numbers = attention_numbers<Attention, Weight>;
  static constexpr std::size_t rows = Sizes::rows;

  // Of a call of Count positions.
  template <std::size_t Count>
  struct scratch_for : workspace_base {
    alignas(64) std::int8_t q[Count * numbers::query_width];
    alignas(64) std::int8_t context[Count * numbers::context_width];
    kernel::integer_attend_scratch<numbers::template head<Count, rows>> of_head;
    [[no_unique_address]] typename numbers::template rotary_scratch<Count> to_rotate;
  };
  template <std::size_t Count>
  using scores = scores_of<float, rules::size_or_0<typename Sizes::batch_option>,
                           Attention::sizes.heads, Count, rows, true>;
  template <class Mask, std::size_t Count>
  using mask_rule = typename rules::integer_mask<
      mask_of<Mask>, scores<Count>,
      first_error<rules::mask_of_cache<mask_of<Mask>, Sizes::slides>,
                  rules::mask_fits<say::key_value_cache, mask_of<Mask>, scores<Count>>>>::type;

  // Count positions of sequence b, the first at this position, into this row.
  template <std::size_t Count, class Work>
  constexpr void append(const numbers& n, std::size_t b, const std::int8_t* y, const std::int8_t* z,
                        std::size_t position, std::size_t row, Work& to_rotate) noexcept {
    n.template project_keys<Count, turns<Count>>(y, keys_ + (b * rows + row) * numbers::key_width,
                                                 position, to_rotate);
    n.template project_values<Count>(z, values_ + (b * rows + row) * numbers::value_width);
  }
  // Queries, the first at this position, to what is stored. seen: a policy; masks: as_mask of the
  // argument; first, bottom_right: see mask_place.
  template <std::size_t Count, class Seen, class Masks, class T, class Finish>
  constexpr void attend(const numbers& n, std::size_t b, const std::int8_t* x, std::size_t position,
                        const Seen& seen, const Masks& masks, std::ptrdiff_t first,
                        std::ptrdiff_t bottom_right, T* out, const Finish& finish,
                        scratch_for<Count>& work) const noexcept {
    n.template project_queries<Count, turns<Count>>(x, work.q, position, work.to_rotate);
    n.template attend_heads<Count, rows>(
        work.q, keys_ + b * rows * numbers::key_width, values_ + b * rows * numbers::value_width,
        [&](std::size_t h) {
          return among(seen, at_head<scores<Count>>(masks, {b, h, first, bottom_right}));
        },
        work.context, work.of_head);
    n.template project_context<Count>(work.context, out, finish);
  }
  // Both, of new positions.
  template <std::size_t Count, class Masks, class T, class Finish>
  constexpr void step(const numbers& n, std::size_t b, const std::int8_t* x,
                      const positions_so_far<Sizes>& so_far, const Masks& masks, T* out,
                      const Finish& finish, scratch_for<Count>& work) noexcept {
    append<Count>(n, b, x, x, so_far.size(), so_far.row(), work.to_rotate);
    const auto first = static_cast<std::ptrdiff_t>(so_far.row());
    attend<Count>(n, b, x, so_far.size(), seen_in_a_step<Sizes, Count>(so_far.row()), masks, first,
                  first, out, finish, work);
  }
  constexpr void drop(std::size_t gone, std::size_t left) noexcept {
    for (std::size_t b = 0; b < Sizes::batches; ++b) {
      move(keys_ + b * rows * numbers::key_width, gone, left, numbers::key_width);
      move(values_ + b * rows * numbers::value_width, gone, left, numbers::value_width);
    }
  }

 private:
  // Positions in the table of rotary positions. Queries of a recall may be more than keys.
  template <std::size_t Count>
  static constexpr std::size_t turns = Count > Sizes::positions ? Count : Sizes::positions;
  static constexpr void move(std::int8_t* to, std::size_t gone, std::size_t left,
                             std::size_t width) noexcept {
    for (std::size_t i = 0; i < left * width; ++i) to[i] = to[gone * width + i];
  }

  alignas(64) std::int8_t keys_[Sizes::batches * rows * numbers::key_width]{};
  alignas(64) std::int8_t values_[Sizes::batches * rows * numbers::value_width]{};
};

}  // namespace integers
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
