// SPDX-License-Identifier: BSL-1.0
// A program of attention scores as a policy for its kernels (kernel/scores.hpp).
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/score_form.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A score form for the kernels: a factor and a policy.
template <class Run, int Root>
struct attention_of {
  using T = typename Run::value_type;
  static constexpr attention_parts parts = [] {
    for (std::size_t s = 0; s < Run::value.count; ++s)
      if (Run::value.steps[s].root == Root) return Run::value.steps[s].attention;
    return attention_parts{};
  }();
  static constexpr score_form<T> form = read_scores(Run::value, parts);
  static constexpr operand length =
      form.has_length() ? Run::value.at(form.length.node).from[form.length.j] : operand{};
  static constexpr auto changed = [] {
    return form.general ? program_for(Run::value, &form.value, 1, Root, form.known)
                        : program_for(Run::value, form.added, form.additions, Root, form.known);
  }();
  static constexpr auto hidden = program_for(Run::value, form.hidden, form.hides, Root, -1);

  // Operands with adjacent keys but not queries: loaded as squares of both and transposed; lane by
  // lane would take ten times as long.
  struct square_list {
    place_of_operand operands[2];
    std::size_t count = 0;

    constexpr std::size_t index(int n, std::size_t j) const {
      for (std::size_t i = 0; i < count; ++i)
        if (operands[i].node == n && operands[i].j == j) return i;
      return npos;
    }
  };
  static constexpr square_list squares = [] {
    square_list list;
    const auto add = [&](int n, std::size_t j) {
      const operand& from = Run::value.at(n).from[j];
      if ((list.count) < 2 && list.index(n, j) == npos && Run::holds_numbers(from.node) &&
          changed.index(from.node) == npos && hidden.index(from.node) == npos &&
          from.node != form.known && from.axes.stride_of(parts.key) == 1 &&
          from.axes.stride_of(parts.query) > 1)
        list.operands[list.count++] = {n, j};
    };
    for (const auto* nodes : {&changed, &hidden})
      for (std::size_t i = 0; i < nodes->count; ++i)
        for (std::size_t j = 0; j < Run::value.at(nodes->nodes[i]).operands; ++j)
          add(nodes->nodes[i], j);
    for (std::size_t i = 0; i < form.additions; ++i) add(form.added[i].node, form.added[i].j);
    return list;
  }();

  // Axes of the loops around the kernels; the last may be the kernels' heads.
  static constexpr const axis_list& scores = Run::value.at(parts.scores).axes;
  static constexpr axis_list loops = [] {
    axis_list outer;
    for (std::size_t i = 0; i < scores.rank; ++i)
      if (scores.family[i] != parts.key && scores.family[i] != parts.query)
        outer.push(scores.family[i], scores.size[i], scores.stride[i]);
    return outer;
  }();
  static constexpr std::size_t queries = scores.size_of(parts.query);
  static constexpr std::size_t keys = scores.size_of(parts.key);
};

// f as a policy for the head at index.
template <class Run, int Root>
struct changed_scores {
  using of = attention_of<Run, Root>;
  using T = typename Run::value_type;
  static constexpr bool changes = of::form.general || of::form.additions != 0;
  static constexpr bool selects = of::form.hides != 0;
  const Run& run;
  const std::size_t* index;

  constexpr kernel::scores::key_range range(std::size_t, std::size_t,
                                            std::size_t keys) const noexcept {
    if constexpr (selects)
      return {0, keys, 0, 0};
    else
      return {0, keys, 0, keys};
  }

  template <int N, std::size_t J>
  UMBEL_INLINE constexpr auto memory_of(std::size_t query, std::size_t key) const noexcept {
    constexpr operand from = Run::value.at(N).from[J];
    std::size_t at = from.offset + query * from.axes.stride_of(of::parts.query) +
                     key * from.axes.stride_of(of::parts.key);
    for (std::size_t i = 0; i < of::loops.rank; ++i)
      at += index[i] * from.axes.stride_of(of::loops.family[i]);
    return run.template memory<from.node>() + at;
  }

  // Loads squares from a key on; each row is a key.
  template <class V>
  struct square {
    static constexpr std::size_t lanes = simd::lanes_of<V>;
    std::size_t first_key, keys = 0;
    V rows[of::squares.count != 0 ? of::squares.count : 1][lanes];

    UMBEL_INLINE constexpr square() noexcept : first_key(0) {}
    template <std::size_t I = 0>
    UMBEL_INLINE void load(const changed_scores& policy, std::size_t query,
                           std::size_t key) noexcept {
      if constexpr (I < of::squares.count) {
        constexpr place_of_operand from = of::squares.operands[I];
        constexpr std::size_t stride =
            Run::value.at(from.node).from[from.j].axes.stride_of(of::parts.query);
        const T* const row = policy.template memory_of<from.node, from.j>(query, key);
        UMBEL_UNROLL(16)
        for (std::size_t i = 0; i < lanes; ++i) rows[I][i] = simd::load<V>(row + i * stride);
        simd::transpose(rows[I]);
        load<I + 1>(policy, query, key);
      } else {
        first_key = key;
        keys = lanes;
      }
    }
  };

  template <class V>
  struct place {
    const changed_scores& policy;
    std::size_t first, count, key;
    const square<V>& loaded;

    template <int N, std::size_t J>
    UMBEL_INLINE constexpr V load() const noexcept {
      if constexpr (simd::lanes_of<V> > 1 && of::squares.index(N, J) != npos) {
        if (loaded.keys > key - loaded.first_key)
          return loaded.rows[of::squares.index(N, J)][key - loaded.first_key];
      }
      constexpr operand from = Run::value.at(N).from[J];
      constexpr std::size_t stride = from.axes.stride_of(of::parts.query);
      return load_apart<V, stride>(policy.template memory_of<N, J>(first, key), count);
    }
    template <unsigned long long Family>
    UMBEL_INLINE constexpr V position() const noexcept {
      const std::size_t begin = policy.run.template first_position<Family, of::parts.scores>();
      if constexpr (Family == of::parts.key) {
        return simd::broadcast<V>(static_cast<T>(begin + key));
      } else if constexpr (Family == of::parts.query) {
        if constexpr (simd::lanes_of<V> == 1)
          return static_cast<T>(begin + first);
        else
          return simd::broadcast<V>(static_cast<T>(begin + first)) +
                 __builtin_convertvector(kernel::scores::detail::lane_numbers<V>(), V);
      } else {
        return simd::broadcast<V>(static_cast<T>(begin + policy.index[of::loops.position(Family)]));
      }
    }
  };

  template <class V>
  struct lanes {
    static constexpr bool by_four = false;
    static constexpr bool in_squares = simd::lanes_of<V> > 1 && of::squares.count != 0;
    const changed_scores& policy;
    std::size_t first, count;
    square<V> prepared{};

    UMBEL_INLINE void prepare_square(std::size_t key) noexcept {
      prepared.keys = 0;
      if (count == simd::lanes_of<V>) prepared.load(policy, first, key);
    }
    UMBEL_INLINE bool change_square(V (&scores)[simd::lanes_of<V>],
                                    std::size_t key) const noexcept {
      if (count != simd::lanes_of<V>) return false;
      square<V> loaded;
      loaded.load(policy, first, key);
      kernel::scores::mask_of<V> seen = simd::every_lane<V>();
      UMBEL_UNROLL(16)
      for (std::size_t j = 0; j < simd::lanes_of<V>; ++j) {
        const place<V> at{policy, first, count, key + j, loaded};
        if constexpr (selects) seen = kernel::scores::detail::and_masks(seen, sees_at(at));
        scores[j] = changed(at, scores[j]);
      }
      return !selects || simd::all_lanes(seen);
    }
    UMBEL_INLINE constexpr V change(V score, std::size_t key) const noexcept {
      return changed({policy, first, count, key, prepared}, score);
    }
    UMBEL_INLINE constexpr kernel::scores::mask_of<V> sees(std::size_t key) const noexcept {
      return sees_at({policy, first, count, key, prepared});
    }

   private:
    // The lowest finite number, with which frameworks hide keys, is reduced by a third: times
    // log2(e) it would be -infinity, and a row of nothing else would be empty.
    UMBEL_INLINE static constexpr V finite(V value) noexcept {
      using constants = simd::math_constants<T>;
      const V infinity = simd::broadcast<V>(-constants::infinity);
      return simd::select(simd::equal(value, infinity), infinity,
                          simd::larger(simd::broadcast<V>(constants::lowest_bias), value));
    }
    UMBEL_INLINE static constexpr V changed(const place<V>& at, V score) noexcept {
      const V log2_e = simd::broadcast<V>(simd::math_constants<T>::log2_e);
      const program<Run, of::changed, of::form.known, V> computed(at, score);
      if constexpr (of::form.general) {
        return product(
            finite(computed.template number<of::form.value.node, of::form.value.j>(at, score)),
            log2_e);
      } else {
        return add<0>(computed, at, score);
      }
    }
    UMBEL_INLINE static constexpr kernel::scores::mask_of<V> sees_at(const place<V>& at) noexcept {
      if constexpr (!selects) {
        return simd::every_lane<V>();
      } else {
        const program<Run, of::hidden, -1, V> computed(at, V{});
        return see<0>(computed, at);
      }
    }

    template <std::size_t I, class Program>
    UMBEL_INLINE static constexpr V add(const Program& computed, const place<V>& at,
                                        V score) noexcept {
      if constexpr (I == of::form.additions) {
        return score;
      } else {
        constexpr place_of_operand added = of::form.added[I];
        const V bias = finite(computed.template number<added.node, added.j>(at, score));
        return add<I + 1>(
            computed, at,
            simd::fma(bias, simd::broadcast<V>(simd::math_constants<T>::log2_e), score));
      }
    }
    template <std::size_t I, class Program>
    UMBEL_INLINE static constexpr kernel::scores::mask_of<V> see(const Program& computed,
                                                                 const place<V>& at) noexcept {
      constexpr place_of_operand hide = of::form.hidden[I];
      const auto seen = !computed.template condition<hide.node, hide.j>(at);
      if constexpr (I + 1 == of::form.hides)
        return seen;
      else
        return kernel::scores::detail::and_masks(seen, see<I + 1>(computed, at));
    }
  };
  template <class V>
  UMBEL_INLINE constexpr lanes<V> over(std::size_t first, std::size_t count) const noexcept {
    return {*this, first, count};
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
