// SPDX-License-Identifier: BSL-1.0
// Steps between the projection of queries and keys and their scores: each head's row is normalized
// if the layer has query_key_norm, then rotated by its position (rope).
#pragma once

#include <umbel/attention/rope.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/norm_options.hpp>
#include <umbel/layer/parts.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// queries(w, x, position), keys(w, x, position): prepares rows of Heads heads of Width features in
// place, as rotary::turn. w: the weights of a call. Norm: a norm_of_rows; Rope: the option.
template <class Norm, class Rope>
struct prepared_heads {
  static constexpr bool normed = !std::is_void_v<typename Norm::layer>;
  using rotary = detail::rotary<Rope>;
  template <class T, std::size_t Positions, std::size_t Width>
  static constexpr std::size_t table_bytes = rotary::template table_bytes<T, Positions, Width>;

  template <std::size_t Rows, std::size_t Heads, std::size_t Width, std::size_t Row,
            std::size_t Positions = Rows, class Weights, class T>
  static constexpr void queries([[maybe_unused]] const Weights& w, T* x,
                                std::size_t position = 0) noexcept {
    if constexpr (normed) norm<Rows, Heads, Width, Row>(w.q_norm, x);
    rotary::template turn<Rows, Heads, Width, Row, Positions>(x, position);
  }
  template <std::size_t Rows, std::size_t Heads, std::size_t Width, std::size_t Row,
            std::size_t Positions = Rows, class Weights, class T>
  static constexpr void keys(const Weights& w, T* x, std::size_t position = 0) noexcept {
    norm_keys<Rows, Heads, Width, Row>(w, x);
    rotary::template turn<Rows, Heads, Width, Row, Positions>(x, position);
  }
  template <std::size_t Rows, std::size_t Heads, std::size_t Width, std::size_t Row, class Weights,
            class T>
  static constexpr void norm_keys([[maybe_unused]] const Weights& w,
                                  [[maybe_unused]] T* x) noexcept {
    if constexpr (normed) norm<Rows, Heads, Width, Row>(w.k_norm, x);
  }

 private:
  template <std::size_t Rows, std::size_t Heads, std::size_t Width, std::size_t Row, class Weights,
            class T>
  static constexpr void norm(const Weights& w, T* x) noexcept {
    using layer = typename Norm::layer;
    if constexpr (Row == Heads * Width)
      layer::template normalise_rows<Rows * Heads>(w, Norm::epsilon, x, x);
    else
      for (std::size_t i = 0; i < Rows; ++i)
        layer::template normalise_rows<Heads>(w, Norm::epsilon, x + i * Row, x + i * Row);
  }
};

// The parts of an attention. Map: the four projections; Norm: weights or a form of them, or void.
template <class Norm, class... Map>
struct attention_parts {
  using type = portable::normed_multi_head_parts<Map..., Norm, Norm>;
};
template <class... Map>
struct attention_parts<void, Map...> {
  using type = portable::multi_head_parts<Map...>;
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
