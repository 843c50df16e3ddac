// SPDX-License-Identifier: BSL-1.0
// Keys and values of past positions for float attention: stored as float, 16 bits, or 8 bits with
// scales. Keys are (head_dim, key) and values (key, value_dim), so that one query reads both in
// adjacent memory. See cache.hpp and cache_of_blocks.hpp for the calls.
#pragma once

#include <umbel/config.hpp>
#include <umbel/decode/forward.hpp>
#include <umbel/decode/positions_so_far.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
// The place to which a step projects keys and values.
template <class Scratch>
UMBEL_INLINE constexpr auto* projected_in(Scratch& scratch) noexcept {
  return scratch.projected;
}
// The scales of an 8-bit cache; Count is 0 for the other types.
template <class T, std::size_t Count>
struct scales_of_cache {
  alignas(64) T numbers[Count]{};
  constexpr T* data() noexcept { return numbers; }
  constexpr const T* data() const noexcept { return numbers; }
};
template <class T>
struct scales_of_cache<T, 0> {
  constexpr T* data() const noexcept { return nullptr; }
};

// Sizes: cache_sizes. Stored: the type of keys and values. Turns: the number of rotary positions.
template <class Attention, class Sizes, class Stored, std::size_t Turns>
class past_of_attention {
  using T = typename Attention::value_type;
  template <std::size_t N>
  using forward = cached_forward<Attention, Stored, N, Sizes::rows, Turns>;
  using storage = forward<1>;

 public:
  template <std::size_t N>
  using scratch_for = typename forward<N>::workspace;
  template <std::size_t N>
  using scores = typename Sizes::template scores<T, Attention::sizes.heads, N>;
  template <class Mask, std::size_t N>
  using mask_rule = first_error<rules::mask_of_cache<mask_of<Mask>, Sizes::slides>,
                                rules::mask_fits<say::key_value_cache, mask_of<Mask>, scores<N>>>;

  // N positions of sequence b from `position` on, into the rows from `row` on.
  template <std::size_t N, sequence_strides Y, sequence_strides Z, class Weights, class Scratch>
  constexpr void append(const Weights& w, std::size_t b, const T* y, const T* z,
                        std::size_t position, std::size_t row, Scratch& work) noexcept {
    forward<N>::template store<Y, Z>(w, y, z, position, row, keys_of(*this, b), values_of(*this, b),
                                     scales_of(*this, b), projected_in(work));
  }
  // N queries, the first at `position`, to all stored keys. mask(h): a head_mask.
  template <std::size_t N, sequence_strides X, sequence_strides Out, class Weights, class Mask,
            class Scratch>
  constexpr void attend(const Weights& w, std::size_t b, const T* x, std::size_t position,
                        const Mask& mask, T* out, Scratch& work) const noexcept {
    const T* const scales = scales_of(*this, b);
    forward<N>::template attend<X, Out>(w, x, position, storage::keys_in(keys_of(*this, b), scales),
                                        storage::values_in(values_of(*this, b), scales), mask, out,
                                        work);
  }
  constexpr void drop(std::size_t gone, std::size_t left) noexcept {
    constexpr std::size_t step = storage::key_step;
    for (std::size_t d = 0; d < Sizes::batches * key_width; ++d)
      move_rows(keys_ + d * step, gone, left);
    for (std::size_t b = 0; b < Sizes::batches; ++b)
      move_rows(values_of(*this, b), gone, left, storage::value_row);
    for (std::size_t h = 0; h < Sizes::batches * storage::scales / step; ++h)
      move_rows(scales_.data() + h * step, gone, left);
  }

 private:
  static constexpr std::size_t key_width = storage::S.key_width();
  template <class Self>
  static constexpr auto* keys_of(Self& self, std::size_t b) noexcept {
    return self.keys_ + b * key_width * storage::key_step;
  }
  template <class Self>
  static constexpr auto* values_of(Self& self, std::size_t b) noexcept {
    return self.values_ + b * Sizes::rows * storage::value_row;
  }
  template <class Self>
  static constexpr auto* scales_of(Self& self, std::size_t b) noexcept {
    return self.scales_.data() + b * storage::scales;
  }

  alignas(64) Stored keys_[Sizes::batches * key_width * storage::key_step]{};
  alignas(64) Stored values_[Sizes::batches * Sizes::rows * storage::value_row]{};
  UMBEL_NO_UNIQUE_ADDRESS scales_of_cache<T, Sizes::batches * storage::scales> scales_;
};

// How a cache stores attention; specialized for int8 attention.
template <class Layer>
struct cached_attention {
  using attention = Layer;
  using number = typename Layer::value_type;  // of arguments
  using result = number;
  template <class... Options>
  using stored = typename option_or<option::stored_as, umbel::stored_as<number>, Options...>::type;
  template <class Keys, class... Options>
  using verdict = rules::cache_of_attention<Layer, Keys, Options...>;
  template <std::size_t Capacity, class... Options>
  using sizes = cache_sizes<drops_blocks, Capacity, Options...>;
  template <class Sizes, std::size_t Turns, class... Options>
  using past = past_of_attention<Layer, Sizes, stored<Options...>, Turns>;
  // Rules for an argument and for out, in addition to those of int8.
  template <class X, class Axis>
  using argument_fits = accepted;
  template <class Out, class Result>
  using out_fits = rules::out_fits<say::key_value_cache, Out, number, Result>;
};

// The contents of a cache of attention. Options: an option_list. Turns: rotary positions, if more.
template <class Layer, class Keys, class Options, std::size_t Turns = 0>
struct stored_of_attention;
template <class Layer, class Keys, class... Options, std::size_t Turns>
struct stored_of_attention<Layer, Keys, option_list<Options...>, Turns> {
  using of = cached_attention<Layer>;
  using verdict = typename of::template verdict<Keys, Options...>;
  using sizes = typename of::template sizes<verdict::ok ? axis_or_none<Keys>::size : 1, Options...>;
  // Refused: the least that compiles.
  template <bool Ok, class Sizes>
  struct made {
    using stored = typename of::template stored<Options...>;
    using type =
        typename of::template past<Sizes, (Turns > Sizes::positions ? Turns : Sizes::positions),
                                   Options...>;
  };
  template <class Sizes>
  struct made<false, Sizes> {
    using stored = typename of::template stored<>;
    using type = typename of::template past<typename of::template sizes<1>, 1>;
  };
  using stored = typename made<verdict::ok, sizes>::stored;
  using type = typename made<verdict::ok, sizes>::type;
  template <std::size_t N>
  using scratch = typename type::template scratch_for<N>;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
