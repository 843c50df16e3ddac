// SPDX-License-Identifier: BSL-1.0
// A program of attention scores as a policy for its kernels (kernel/scores.hpp).
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/gathered_positions.hpp>
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

  static constexpr const axis_list& scores = Run::value.at(parts.scores).axes;
  // Of gather n.
  static constexpr linear_position linear_position_of(int n) {
    const node_of_graph<T>& node = Run::value.at(n);
    const score_reader<T, sizeof(Run::value.g.nodes) / sizeof(Run::value.g.nodes[0])> reader{
        Run::value, parts, {}};
    const auto linear = [&](int of) { return reader.linear(of); };
    linear_position by = formulas::linear_position_of(
        Run::value, node, linear, scores.size_of(parts.query), scores.size_of(parts.key));
    // A step of a cache does not know its first position.
    if (has_position<Run>) by.is_inside = false;
    return by;
  }
  // How far apart are the elements that gather n reads for neighboring queries, or keys?
  static constexpr std::ptrdiff_t step_of(int n, const linear_position& by,
                                          unsigned long long family) {
    const node_of_graph<T>& node = Run::value.at(n);
    return (family == parts.key ? by.key : by.query) *
               static_cast<std::ptrdiff_t>(node.gathered_stride) +
           static_cast<std::ptrdiff_t>(node.from[0].axes.stride_of(family));
  }
  static constexpr bool is_in_squares(int n, std::size_t j) {
    const operand& from = Run::value.at(n).from[j];
    if (Run::value.at(n).what != word::gather || j != 0)
      return from.axes.stride_of(parts.key) == 1 && from.axes.stride_of(parts.query) > 1;
    const linear_position by = linear_position_of(n);
    const std::ptrdiff_t of_key = step_of(n, by, parts.key), of_query = step_of(n, by, parts.query);
    return by.ok && !by.is_absolute && (of_key == 1 || of_key == -1) &&
           (of_query > 1 || of_query < -1);
  }
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
      if ((list.count) < 2 && list.index(n, j) == npos && Run::loads_vectors(from.node) &&
          changed.index(from.node) == npos && hidden.index(from.node) == npos &&
          from.node != form.known && is_in_squares(n, j))
        list.operands[list.count++] = {n, j};
    };
    for (const auto* nodes : {&changed, &hidden})
      for (std::size_t i = 0; i < nodes->count; ++i)
        for (std::size_t j = 0; j < Run::value.at(nodes->nodes[i]).operands; ++j)
          add(nodes->nodes[i], j);
    for (std::size_t i = 0; i < form.additions; ++i) add(form.added[i].node, form.added[i].j);
    for (std::size_t i = 0; i < form.hides; ++i) add(form.hidden[i].node, form.hidden[i].j);
    return list;
  }();

  // Axes of the loops around the kernels; the last may be the kernels' heads.
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
  // Copies, so that stores of scores can't alias them.
  Run run;
  std::size_t index[of::loops.rank + 1]{};

  constexpr changed_scores(const Run& of_call, const std::size_t* at) noexcept : run(of_call) {
    for (std::size_t i = 0; i < of::loops.rank; ++i) index[i] = at[i];
  }
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

  // The inner position of gather N for a query and a key.
  template <int N>
  UMBEL_INLINE constexpr std::ptrdiff_t inner_position(std::size_t query,
                                                       std::size_t key) const noexcept {
    constexpr linear_position by = of::linear_position_of(N);
    return by.inner(query + run.template first_position<of::parts.query, of::parts.scores>(),
                    key + run.template first_position<of::parts.key, of::parts.scores>());
  }
  // Of positions from a to b: are all in the table as they are, all clamped to `one` of its ends,
  // or all outside?
  struct positions {
    bool are_inside, are_one, are_outside;
    std::ptrdiff_t one;
  };
  template <int N>
  UMBEL_INLINE static constexpr positions between(std::ptrdiff_t a, std::ptrdiff_t b) noexcept {
    constexpr linear_position by = of::linear_position_of(N);
    const std::ptrdiff_t least = a < b ? a : b, most = a < b ? b : a;
    const bool below = most < by.least;
    const bool above = by.most < least;
    return {by.is_inside || (least >= by.least && most <= by.most),
            (by.clamps_least && below) || (by.clamps_most && above), below || above,
            below ? by.least : by.most};
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
        const auto* const row = policy.template memory_of<from.node, from.j>(query, key);
        constexpr node_of_graph<T> node = Run::value.at(from.node);
        if constexpr (node.what == word::gather && from.j == 0) {
          load_gathered<I, from.node>(policy, row, query, key);
        } else {
          transpose<I>(row, node.from[from.j].axes.stride_of(of::parts.query));
        }
        load<I + 1>(policy, query, key);
      } else {
        first_key = key;
        keys = lanes;
      }
    }
    template <std::size_t I, class E>
    UMBEL_INLINE void transpose(const E* row, std::ptrdiff_t stride) noexcept {
      UMBEL_UNROLL(16)
      for (std::size_t i = 0; i < lanes; ++i)
        rows[I][i] = load_apart<V, 1>(row + static_cast<std::ptrdiff_t>(i) * stride, lanes);
      simd::transpose(rows[I]);
    }
    template <std::size_t I, int N>
    UMBEL_INLINE void load_gathered(const changed_scores& policy, const T* row, std::size_t query,
                                    std::size_t key) noexcept {
      constexpr linear_position by = of::linear_position_of(N);
      constexpr std::ptrdiff_t of_key = of::step_of(N, by, of::parts.key);
      constexpr std::ptrdiff_t of_query = of::step_of(N, by, of::parts.query);
      constexpr auto step = static_cast<std::ptrdiff_t>(Run::value.at(N).gathered_stride);
      constexpr auto last = static_cast<std::ptrdiff_t>(lanes - 1);
      const std::ptrdiff_t at = policy.template inner_position<N>(query, key);
      const std::ptrdiff_t by_keys = by.key * last, by_queries = by.query * last;
      const std::ptrdiff_t least =
          at + (by_keys < 0 ? by_keys : 0) + (by_queries < 0 ? by_queries : 0);
      const std::ptrdiff_t most =
          at + (by_keys > 0 ? by_keys : 0) + (by_queries > 0 ? by_queries : 0);
      if (between<N>(least, most).are_inside) {
        transpose<I>(row + at * step + (of_key < 0 ? of_key * last : 0), of_query);
        if constexpr (of_key < 0)
          for (std::size_t i = 0; i < lanes / 2; ++i) {
            const V other = rows[I][i];
            rows[I][i] = rows[I][lanes - 1 - i];
            rows[I][lanes - 1 - i] = other;
          }
      } else {
        const square none;
        for (std::size_t i = 0; i < lanes; ++i)
          rows[I][i] = place<V>{policy, query, lanes, key + i, none}.template gathered<N>();
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
    // A table by the distance of key and query: neighbors in memory, forwards or backwards.
    template <int N>
    UMBEL_INLINE constexpr V gather(V at) const noexcept {
      constexpr node_of_graph<T> node = Run::value.at(N);
      constexpr bool differs = Run::value.g.differs_along(node.from[1], of::parts.query);
      if constexpr (simd::lanes_of<V> > 1 && of::squares.index(N, 0) != npos) {
        if (loaded.keys > key - loaded.first_key)
          return loaded.rows[of::squares.index(N, 0)][key - loaded.first_key];
      }
      constexpr std::size_t stride = node.from[0].axes.stride_of(of::parts.query);
      if constexpr (of::linear_position_of(N).ok) {
        return gathered<N>();
      } else if constexpr (simd::lanes_of<V> > 1 && differs && stride == 0 &&
                           node.gathered_stride == 1 &&
                           is_of_positions(Run::value, node.from[1].node)) {
        return load_neighbors<node.gathered>(policy.template memory_of<N, 0>(first, key), at,
                                             count);
      } else {
        return load_at<node.gathered, node.gathered_stride, stride, !differs>(
            policy.template memory_of<N, 0>(first, key), at, count);
      }
    }
    // At a linear position.
    template <int N>
    UMBEL_INLINE constexpr V gathered() const noexcept {
      constexpr node_of_graph<T> node = Run::value.at(N);
      constexpr linear_position by = of::linear_position_of(N);
      constexpr auto step = static_cast<std::ptrdiff_t>(node.gathered_stride);
      constexpr std::size_t stride = node.from[0].axes.stride_of(of::parts.query);
      const auto* const row = policy.template memory_of<N, 0>(first, key);
      const std::ptrdiff_t begin = policy.template inner_position<N>(first, key);
      const std::ptrdiff_t end = begin + by.query * static_cast<std::ptrdiff_t>(count - 1);
      V value{};
      // Sign: of the inner position.
      const auto found = [&]<int Sign>(std::integral_constant<int, Sign>) UMBEL_LAMBDA_INLINE {
        constexpr std::ptrdiff_t of_query =
            Sign * by.query * step + static_cast<std::ptrdiff_t>(stride);
        const positions here = between<N>(Sign * begin, Sign * end);
        if (here.are_inside)
          value = load_by<V, of_query>(row + Sign * begin * step, count);
        else if (here.are_one)
          value = load_apart<V, stride>(row + here.one * step, count);
        return here.are_inside || here.are_outside;
      };
      if (!by.is_absolute || (begin >= 0 && end >= 0)) {
        if (found(std::integral_constant<int, 1>{})) return value;
      } else if (begin <= 0 && end <= 0) {
        if (found(std::integral_constant<int, -1>{})) return value;
      }
      return load_at<node.gathered, node.gathered_stride, stride, false>(
          row, by.template of_lanes<V>(begin), count);
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
    changed_scores policy;
    std::size_t first, count;
    square<V> prepared{};

    UMBEL_INLINE void prepare_square(std::size_t key) noexcept {
      prepared.keys = 0;
      if (count == simd::lanes_of<V>) prepared.load(policy, first, key);
    }
    // If pairs are hidden, most squares have some, which need prepare_square.
    UMBEL_INLINE bool change_square(V (&scores)[simd::lanes_of<V>],
                                    std::size_t key) const noexcept {
      if (selects || count != simd::lanes_of<V>) return false;
      square<V> loaded;
      loaded.load(policy, first, key);
      UMBEL_UNROLL(16)
      for (std::size_t j = 0; j < simd::lanes_of<V>; ++j)
        scores[j] = changed({policy, first, count, key + j, loaded}, scores[j]);
      return true;
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
