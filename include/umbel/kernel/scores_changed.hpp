// SPDX-License-Identifier: BSL-1.0
// Scores policies that change a score: added, generated, alibi, softcap. Scores are in units of
// log2, the caller's numbers in natural units. See scores_seen.hpp for hiding only, and scores.hpp
// for the concept of a policy.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/scores_common.hpp>
#include <umbel/simd/fma.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/pack.hpp>
#include <umbel/simd/transpose.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel::scores {

namespace detail {
// score + log2(e) bias, one fma. The lowest finite bias, with which frameworks hide keys
// (finfo.min), is reduced by a third: its product would overflow, and a row of nothing else would
// be empty. NaN stays NaN.
template <class V>
UMBEL_INLINE constexpr V add_bias(V score, V bias) noexcept {
  using constants = simd::math_constants<simd::element_of<V>>;
  const V lowest = simd::broadcast<V>(constants::lowest_bias);
  return simd::fma(simd::larger(lowest, bias), simd::broadcast<V>(constants::log2_e), score);
}
}  // namespace detail

// score + log2(e) bias[i * query_stride + j * key_stride], one fma; a bias of -infinity hides the
// pair. The bias is in natural units, as in the frameworks.
template <class T>
struct added {
  static constexpr bool changes = true, selects = true;
  const T* bias;
  std::size_t query_stride, key_stride;

  constexpr added(const T* from, std::size_t to_next_query, std::size_t to_next_key) noexcept
      : bias(from), query_stride(to_next_query), key_stride(to_next_key) {}
  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, 0};
  }
  template <class V>
  struct lanes {
    static constexpr bool by_four = false, in_squares = simd::lanes_of<V> > 1, adds_bias = true;
    const T* from;
    std::size_t query_stride, key_stride, count;
    // A square of queries and keys that are adjacent in memory, transposed: loading lane by lane
    // would take ten times as long.
    std::size_t first_ready = 0, ready = 0;
    V transposed[simd::lanes_of<V>];

    UMBEL_INLINE constexpr lanes(const T* biases, std::size_t to_next_query,
                                 std::size_t to_next_key, std::size_t of_lanes) noexcept
        : from(biases), query_stride(to_next_query), key_stride(to_next_key), count(of_lanes) {}
    UMBEL_INLINE bool has_rows() const noexcept {
      constexpr std::size_t lanes = simd::lanes_of<V>;
      return key_stride == 1 && query_stride >= lanes && count == lanes;
    }
    UMBEL_INLINE void load_rows(std::size_t key, V (&rows)[simd::lanes_of<V>]) const noexcept {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < simd::lanes_of<V>; ++i)
        rows[i] = simd::load<V>(from + key + i * query_stride);
    }
    UMBEL_INLINE void prepare_square(std::size_t key) noexcept {
      ready = 0;
      if (!has_rows()) return;
      load_rows(key, transposed);
      simd::transpose(transposed);
      first_ready = key;
      ready = simd::lanes_of<V>;
    }
    UMBEL_INLINE bool change_square(V (&square)[simd::lanes_of<V>],
                                    std::size_t key) const noexcept {
      constexpr std::size_t lanes = simd::lanes_of<V>;
      if (!has_rows()) return false;
      V biases[lanes], least = simd::broadcast<V>(simd::math_constants<T>::infinity);
      load_rows(key, biases);
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < lanes; ++i) least = simd::smaller(biases[i], least);
      // For hidden pairs, and values that add_bias would raise.
      if (!simd::all_lanes(
              simd::less_equal(simd::broadcast<V>(simd::math_constants<T>::lowest_bias), least)))
        return false;
      simd::transpose(biases);
      UMBEL_UNROLL(16)
      for (std::size_t j = 0; j < lanes; ++j)
        square[j] =
            simd::fma(biases[j], simd::broadcast<V>(simd::math_constants<T>::log2_e), square[j]);
      return true;
    }
    UMBEL_INLINE constexpr V at(std::size_t key) const noexcept {
      if (simd::lanes_of<V> > 1 && key - first_ready < ready) return transposed[key - first_ready];
      return detail::load_strided<V>(from + key * key_stride, query_stride, count);
    }
    UMBEL_INLINE constexpr V change(V score, std::size_t key) const noexcept {
      return detail::add_bias(score, at(key));
    }
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      return simd::not_equal(at(key), simd::broadcast<V>(-simd::math_constants<T>::infinity));
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t count) const noexcept {
    return lanes<V>(bias + first_query * query_stride, query_stride, key_stride, count);
  }
};

// score + log2(e) f(i, j), one fma: a computed bias. -infinity hides the pair. f may be called more
// than once for a pair, and only for existing queries and keys.
template <class T, class F>
struct generated {
  static constexpr bool changes = true, selects = true;
  F f;

  constexpr explicit generated(const F& of_query_and_key) noexcept : f(of_query_and_key) {}
  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, 0};
  }
  template <class V>
  struct lanes {
    static constexpr bool by_four = false, adds_bias = true;
    const F& f;
    std::size_t first_query, count;

    UMBEL_INLINE constexpr V at(std::size_t key) const noexcept {
      if constexpr (simd::lanes_of<V> == 1) {
        return count != 0 ? f(first_query, key) : V{};
      } else {
        V value{};
        for (std::size_t i = 0; i < count; ++i) value[i] = f(first_query + i, key);
        return value;
      }
    }
    UMBEL_INLINE constexpr V change(V score, std::size_t key) const noexcept {
      return detail::add_bias(score, at(key));
    }
    UMBEL_INLINE constexpr mask_of<V> sees(std::size_t key) const noexcept {
      return simd::not_equal(at(key), simd::broadcast<V>(-simd::math_constants<T>::infinity));
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t count) const noexcept {
    return {f, first_query, count};
  }
};

// score + (slope log2(e)) (j - (i + offset)): one rounded product, one conversion, one fma. The
// bias of Press, Smith and Lewis 2022 (ALiBi), in natural units, used with causal; its slope is
// 2^(-8 h / heads) for head h = 1, 2 ... if heads is a power of two. |j - i - offset| < 2^30.
template <class T>
struct alibi {
  static constexpr bool changes = true, selects = false;
  T slope;
  std::ptrdiff_t offset = 0;

  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, keys};
  }
  template <class V>
  struct lanes : detail::sees_all<V> {
    using numbers = simd::signed_of<V>;
    T factor;
    std::ptrdiff_t position;  // of lane 0

    UMBEL_INLINE constexpr V change(V score, std::size_t key) const noexcept {
      constexpr std::ptrdiff_t most = 1 << 30;
      const auto distance = static_cast<simd::element_of<numbers>>(
          detail::within(detail::as_signed(key) - position, -most, most));
      if constexpr (simd::lanes_of<V> == 1) {
        return simd::fma(static_cast<V>(distance), factor, score);
      } else {
        const V distances = __builtin_convertvector(distance - detail::lane_numbers<V>(), V);
        return simd::fma(distances, simd::broadcast<V>(factor), score);
      }
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first_query, std::size_t) const noexcept {
    return {{}, slope * simd::math_constants<T>::log2_e, detail::position(first_query, offset)};
  }
};
template <class T>
alibi(T, std::ptrdiff_t) -> alibi<T>;
template <class T>
alibi(T) -> alibi<T>;

// cap tanh(score / cap) in natural units (Gemma 2, 2024; ONNX Attention), cap > 0. In units of
// log2: (cap log2(e)) tanh((ln(2) / cap) score), each constant rounded once. Its place in all_of
// decides whether a bias comes before or after.
template <class T>
struct softcap {
  static constexpr bool changes = true, selects = false;
  T cap;

  constexpr key_range range(std::size_t, std::size_t, std::size_t keys) const noexcept {
    return {0, keys, 0, keys};
  }
  template <class V>
  struct lanes : detail::sees_all<V> {
    static constexpr bool bends = true;
    T inner, outer;
    // 1 - tanh^2: inner and outer are inverses.
    UMBEL_INLINE constexpr V derivative(V score, std::size_t) const noexcept {
      const V t = simd::tanh(score * simd::broadcast<V>(inner));
      return simd::fma(-t, t, simd::broadcast<V>(T{1}));
    }
    UMBEL_INLINE constexpr V change(V score, std::size_t) const noexcept {
      // An fma with 0: a bare product could be contracted into the subtraction of the maximum.
      return simd::fma(simd::broadcast<V>(outer), simd::tanh(score * simd::broadcast<V>(inner)),
                       V{});
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t, std::size_t) const noexcept {
    return {
        {}, static_cast<T>(0.693147180559945309417) / cap, cap * simd::math_constants<T>::log2_e};
  }
};
template <class T>
softcap(T) -> softcap<T>;

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel::scores
UMBEL_WARNINGS_POP
