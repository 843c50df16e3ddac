// SPDX-License-Identifier: BSL-1.0
// The step contract<key>(softmax<key>(f(contract<head_dim>(q, k))), v) by the attention kernels: f
// is a policy of theirs (kernel/scores.hpp), and no scores are stored. Scores are in units of log2
// there, so f is rewritten, on the graph:
//
//   scores * number              the factor that the kernel multiplies queries by
//   ... + b                      b log2(e) is added, one fma each
//   hide(..., condition)         keys that a query does not see; where comparisons of positions say
//                                which, those are never read
//   any other f                  f itself, times log2(e)
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/each.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// What f comes to.
template <class T>
struct score_form {
  static constexpr std::size_t most = 8;
  T factor{1};     // of scores
  int given = -1;  // general: the node that arrives, the scores or their product with `factor`
  bool general = false, too_many = false;
  place_of_operand value;  // general: where f(score) without what hides is
  place_of_operand added[most];
  std::size_t additions = 0;
  place_of_operand hidden[most];
  std::size_t hides = 0;
  // Key j is seen by query i if i + low <= j <= i + high.
  double low = -1e9, high = 1e9;
  // Key j is seen if j is less than the value of this operand, or not above it.
  place_of_operand length;
  bool length_is_last = false;

  constexpr bool has_length() const noexcept { return length.node >= 0; }

  constexpr bool is_window() const noexcept { return low > -1e9 || high < 1e9; }
};

// a key + b query + c, where a node is of that form.
struct linear_form {
  double key = 0, query = 0, constant = 0;
  bool ok = false;
};

template <class T, std::size_t Nodes>
struct score_reader {
  const schedule<T, Nodes>& p;
  const attention_parts& parts;
  score_form<T> form;

  constexpr bool is_number(int n) const { return p.at(n).what == word::number; }
  constexpr bool depends(int n) const {  // on the scores
    if (n == parts.scores) return true;
    if (!is_elementwise(p.at(n).what)) return false;
    for (std::size_t j = 0; j < p.at(n).operands; ++j)
      if (depends(p.at(n).from[j].node)) return true;
    return false;
  }

  constexpr linear_form linear(int n) const {
    const node_of_graph<T>& one = p.at(n);
    const auto operand = [&](std::size_t j) { return linear(one.from[j].node); };
    if (one.what == word::number) return {0, 0, static_cast<double>(one.number), true};
    if (one.what == word::position) {
      if (one.family == parts.key) return {1, 0, 0, true};
      if (one.family == parts.query) return {0, 1, 0, true};
      return {};
    }
    if (one.what == word::add || one.what == word::subtract) {
      const linear_form a = operand(0), b = operand(1);
      const double sign = one.what == word::add ? 1 : -1;
      return {a.key + sign * b.key, a.query + sign * b.query, a.constant + sign * b.constant,
              a.ok && b.ok};
    }
    return {};
  }
  // Hides what has key - query + c < 0, or <= 0, times sign. Whole numbers only.
  constexpr bool add_bound(const linear_form& f, bool or_equal) {
    const auto whole = static_cast<long long>(f.constant);
    if (!f.ok || static_cast<double>(whole) != f.constant || f.constant > 1e8 || f.constant < -1e8)
      return false;
    if (f.key == 1 && f.query == -1) {  // j - i + c < 0: seen from i - c on
      const double least = -f.constant + (or_equal ? 1 : 0);
      form.low = least > form.low ? least : form.low;
      return true;
    }
    if (f.key == -1 && f.query == 1) {  // i - j + c < 0: seen up to i + c
      const double most = f.constant - (or_equal ? 1 : 0);
      form.high = most < form.high ? most : form.high;
      return true;
    }
    return false;
  }
  // Is the condition one on the distance of key and query, so that the window says it?
  constexpr bool add_window(int n) {
    const node_of_graph<T>& one = p.at(n);
    if (one.what != word::less && one.what != word::less_or_equal) return false;
    const linear_form a = linear(one.from[0].node), b = linear(one.from[1].node);
    return add_bound({a.key - b.key, a.query - b.query, a.constant - b.constant, a.ok && b.ok},
                     one.what == word::less_or_equal);
  }
  // Is the condition one on the key and a number that all keys and queries share?
  constexpr bool add_length(int n) {
    const node_of_graph<T>& one = p.at(n);
    if (form.has_length() || (one.what != word::less && one.what != word::less_or_equal))
      return false;
    const node_of_graph<T>& key = p.at(one.from[1].node);
    const node_of_graph<T>& of = p.at(one.from[0].node);
    if (key.what != word::position || key.family != parts.key || of.what != word::argument ||
        one.from[0].axes.size_of(parts.key) != 1 || one.from[0].axes.size_of(parts.query) != 1)
      return false;
    form.length = {n, 0};
    form.length_is_last = one.what == word::less;
    return true;
  }
  constexpr void hide(place_of_operand at) {
    const int n = p.at(at.node).from[at.j].node;
    if (p.at(n).what == word::logical_or) {
      hide({n, 0});
      hide({n, 1});
    } else if (!add_window(n) && !add_length(n)) {
      if (form.hides == form.most)
        form.too_many = true;
      else
        form.hidden[form.hides++] = at;
    }
  }

  // at: the operand whose value is f(scores).
  constexpr void read(place_of_operand at) {
    const int n = p.at(at.node).from[at.j].node;
    const node_of_graph<T>& one = p.at(n);
    const auto from = [&](std::size_t j) { return one.from[j].node; };
    const auto scaled = [&](int scores, int by, bool inverse) {
      if (scores != parts.scores || !is_number(by)) return false;
      form.factor = inverse ? T{1} / p.at(by).number : p.at(by).number;
      return true;
    };
    if (n == parts.scores) return;
    if (one.what == word::hide) {
      const score_form<T> before = form;
      if (!depends(from(1))) hide({n, 1});
      if (!depends(from(1)) && !form.too_many) return read({n, 0});
      form = before;
      return all_of_it(at);
    }
    if (one.what == word::multiply &&
        (scaled(from(0), from(1), false) || scaled(from(1), from(0), false)))
      return;
    if (one.what == word::divide && scaled(from(0), from(1), true)) return;
    if (one.what == word::multiply_add && !depends(from(2)) &&
        (scaled(from(0), from(1), false) || scaled(from(1), from(0), false))) {
      if (form.additions == form.most) return all_of_it(at);
      form.added[form.additions++] = {n, 2};
      return;
    }
    if (one.what == word::add && depends(from(0)) != depends(from(1))) {
      const std::size_t b = depends(from(0)) ? 1 : 0;
      read({n, 1 - b});
      if (form.general || form.additions == form.most) return all_of_it(at);
      form.added[form.additions++] = {n, b};
      return;
    }
    all_of_it(at);
  }
  constexpr void all_of_it(place_of_operand at) {
    form.general = true;
    form.additions = 0;
    form.value = at;
    form.given = parts.scores;
    int reader = -1;
    std::size_t readers = 0;
    for (int n = 0; n < p.g.count; ++n)
      for (std::size_t j = 0; p.root[n] != nowhere && j < p.at(n).operands; ++j)
        if (p.at(n).from[j].node == parts.scores) ++readers, reader = n;
    T factor{1};
    if (readers == 1 && p.at(reader).what == word::multiply && is_elementwise(p.at(reader).what))
      for (std::size_t j = 0; j < 2; ++j)
        if (is_number(p.at(reader).from[j].node)) {
          factor = p.at(p.at(reader).from[j].node).number;
          form.given = reader;
        }
    // The kernels multiply it by log2(e).
    form.factor = factor * static_cast<T>(0.693147180559945309417);
  }
};

template <class T, std::size_t Nodes>
constexpr score_form<T> read_scores(const schedule<T, Nodes>& p, const attention_parts& parts) {
  score_reader<T, Nodes> reader{p, parts, {}};
  reader.read({parts.weights, 0});
  return reader.form;
}

// What the kernels are given of a form: a factor, and a policy.
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
    return form.general ? program_for(Run::value, &form.value, 1, Root, form.given)
                        : program_for(Run::value, form.added, form.additions, Root, form.given);
  }();
  static constexpr auto hidden = program_for(Run::value, form.hidden, form.hides, Root, -1);

  // Operands whose keys are adjacent in memory and whose queries are not: loaded as squares of
  // both, transposed, where each lane by itself would take ten times as long.
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
      if (list.count < 2 && list.index(n, j) == npos && Run::holds_numbers(from.node) &&
          changed.index(from.node) == npos && hidden.index(from.node) == npos &&
          from.node != form.given && from.axes.stride_of(parts.key) == 1 &&
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

  // Axes that are walked over outside of the kernels; the last may be theirs: heads.
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

// f as a policy, for the head at index.
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

  // Operand J of node N, for a query and a key.
  template <int N, std::size_t J>
  UMBEL_INLINE constexpr auto memory_of(std::size_t query, std::size_t key) const noexcept {
    constexpr operand from = Run::value.at(N).from[J];
    std::size_t at = from.offset + query * from.axes.stride_of(of::parts.query) +
                     key * from.axes.stride_of(of::parts.key);
    for (std::size_t i = 0; i < of::loops.rank; ++i)
      at += index[i] * from.axes.stride_of(of::loops.family[i]);
    return run.template memory<from.node>() + at;
  }

  // The squares from a key on, each row a key.
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
        if (key - loaded.first_key < loaded.keys)
          return loaded.rows[of::squares.index(N, J)][key - loaded.first_key];
      }
      constexpr operand from = Run::value.at(N).from[J];
      constexpr std::size_t stride = from.axes.stride_of(of::parts.query);
      return load_apart<V, stride>(policy.template memory_of<N, J>(first, key), count);
    }
    template <unsigned long long Family>
    UMBEL_INLINE constexpr V position() const noexcept {
      if constexpr (Family == of::parts.key) {
        return simd::broadcast<V>(static_cast<T>(key));
      } else if constexpr (Family == of::parts.query) {
        if constexpr (simd::lanes_of<V> == 1)
          return static_cast<T>(first);
        else
          return simd::broadcast<V>(static_cast<T>(first)) +
                 __builtin_convertvector(kernel::scores::detail::lane_numbers<V>(), V);
      } else {
        return simd::broadcast<V>(static_cast<T>(policy.index[of::loops.position(Family)]));
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
      kernel::scores::mask_of<V> seen = V{} == V{};
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
    // The lowest of finite numbers, which frameworks hide keys with, is taken a third smaller: its
    // product with log2(e) would be -infinity, and a row of nothing else would be empty.
    UMBEL_INLINE static constexpr V finite(V value) noexcept {
      using constants = simd::math_constants<T>;
      const V infinity = simd::broadcast<V>(-constants::infinity);
      return simd::select(value == infinity, infinity,
                          simd::larger(simd::broadcast<V>(constants::lowest_bias), value));
    }
    UMBEL_INLINE static constexpr V changed(const place<V>& at, V score) noexcept {
      const V log2_e = simd::broadcast<V>(simd::math_constants<T>::log2_e);
      const program<Run, of::changed, of::form.given, V> computed(at, score);
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
        return V{} == V{};
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

// The options of the kernels' heads_of_sequence: a factor alone.
template <class Run, int Root>
struct formula_scoring {
  using empty = zero_weights;
  static constexpr bool only_scales = true;
  template <class T>
  static constexpr T scale(std::size_t) noexcept {
    // What exp2_factor makes of it is the factor.
    return attention_of<Run, Root>::form.factor;
  }
  template <class T, class Policy>
  static constexpr const Policy& with(const Policy& policy) noexcept {
    return policy;
  }
};

// The policies of the heads of a sequence.
template <class Run, int Root>
struct formula_mask {
  using of = attention_of<Run, Root>;
  static constexpr bool same_length_for_heads =
      of::loops.rank == 0 || of::length.axes.stride_of(of::loops.family[of::loops.rank - 1]) == 0;
  const Run& run;
  std::size_t* index;

  constexpr auto operator()(std::size_t head) const noexcept {
    if constexpr (of::loops.rank != 0) index[of::loops.rank - 1] = head;
    using changed = changed_scores<Run, Root>;
    if constexpr (changed::changes || changed::selects)
      return in_range(changed{run, index});
    else
      return in_range();
  }

 private:
  // Policies, and those that say which keys are read at all.
  template <class... Policy>
  constexpr auto in_range(const Policy&... policy) const noexcept {
    using kernel::scores::first_keys, kernel::scores::window;
    if constexpr (of::form.is_window() && of::form.has_length())
      return all_of(policy..., seen_by_distance(), first_keys(keys()));
    else if constexpr (of::form.is_window())
      return all_of(policy..., seen_by_distance());
    else if constexpr (of::form.has_length())
      return all_of(policy..., first_keys(keys()));
    else if constexpr (sizeof...(Policy) != 0)
      return all_of(policy...);
    else
      return all_of(kernel::scores::every_key{});
  }
  template <class Policy>
  static constexpr auto all_of(const Policy& policy) noexcept {
    return head_mask<Policy, no_observer>{policy, {}};
  }
  template <class First, class... Policy>
    requires(sizeof...(Policy) != 0)
  static constexpr auto all_of(const First& first, const Policy&... policy) noexcept {
    using all = kernel::scores::all_of<First, Policy...>;
    return head_mask<all, no_observer>{all(first, policy...), {}};
  }
  // How many keys are seen: of NaN all, since no key is hidden by it.
  constexpr std::size_t keys() const noexcept {
    constexpr operand from = of::length;
    std::size_t at = from.offset;
    for (std::size_t i = 0; i < of::loops.rank; ++i)
      at += index[i] * from.axes.stride_of(of::loops.family[i]);
    const auto length = static_cast<double>(run.template memory<from.node>()[at]);
    if (!(length < static_cast<double>(of::keys))) return of::keys;
    if (length < 0) return 0;
    const auto whole = static_cast<std::size_t>(length);
    return whole + (of::form.length_is_last || static_cast<double>(whole) < length);
  }
  static constexpr kernel::scores::window seen_by_distance() noexcept {
    constexpr auto unlimited = npos / 2;
    constexpr double low = of::form.low, high = of::form.high;
    if constexpr (low <= -1e9)
      return {unlimited, 0, static_cast<std::ptrdiff_t>(high)};
    else if constexpr (high >= 1e9)
      return {0, unlimited, static_cast<std::ptrdiff_t>(low)};
    else if constexpr (high >= low)
      return {static_cast<std::size_t>(high - low), 0, static_cast<std::ptrdiff_t>(high)};
    else  // nobody sees a key
      return {0, 0, -static_cast<std::ptrdiff_t>(of::queries + of::keys) - 1};
  }
};

template <class Run, int Root, int To>
struct attend_step {
  using T = typename Run::value_type;
  using of = attention_of<Run, Root>;
  static constexpr const attention_parts& parts = of::parts;
  static constexpr axis_list out = [] {
    if constexpr (To == Root)
      return Run::template axes_of<To>();
    else
      return Run::value.written_for(Run::value.at(To).from[0], Run::template axes_of<To>());
  }();
  static constexpr kernel::attend_shape shape = {.queries = of::queries,
                                                 .keys = of::keys,
                                                 .head_dim = parts.q.axes.size_of(parts.head_dim),
                                                 .value_dim = parts.v.axes.size_of(parts.value_dim),
                                                 .q_row = parts.q.axes.stride_of(parts.query),
                                                 .q_dim = parts.q.axes.stride_of(parts.head_dim),
                                                 .k_row = parts.k.axes.stride_of(parts.key),
                                                 .k_dim = parts.k.axes.stride_of(parts.head_dim),
                                                 .v_row = parts.v.axes.stride_of(parts.key),
                                                 .v_dim = parts.v.axes.stride_of(parts.value_dim),
                                                 .o_row = out.stride_of(parts.query),
                                                 .o_dim = out.stride_of(parts.value_dim),
                                                 .o_room = of::queries};
  static constexpr bool has_heads = of::loops.rank != 0;
  static constexpr std::size_t last = has_heads ? of::loops.rank - 1 : 0;
  static constexpr std::size_t outer = last;  // loops outside of heads_of_sequence
  static constexpr auto of_head(const axis_list& axes) {
    return has_heads ? axes.stride_of(of::loops.family[last]) : 0;
  }
  static constexpr kernel::heads_shape heads = {.heads = has_heads ? of::loops.size[last] : 1,
                                                .share = 1,
                                                .q_head = of_head(parts.q.axes),
                                                .k_head = of_head(parts.k.axes),
                                                .v_head = of_head(parts.v.axes),
                                                .o_head = of_head(out)};
  // For a result of any strides: most is needed where queries are not adjacent.
  static constexpr std::size_t scratch = [] {
    constexpr kernel::attend_shape apart = [] {
      kernel::attend_shape made = shape;
      made.o_row = 2;
      return made;
    }();
    return kernel::attend_scratch<apart, T>;
  }();

  template <bool Plain, std::size_t Axis>
  UMBEL_INLINE static constexpr void over(const Run& run, std::size_t* index, const T* q,
                                          const T* k, const T* v, T* o, T* room) noexcept {
    if constexpr (Axis == outer && Plain) {
      const formula_mask<Run, Root> mask{run, index};
      for (std::size_t h = 0; h < heads.heads; ++h)
        kernel::plain::attend<shape>(q + h * heads.q_head, k + h * heads.k_head,
                                     v + h * heads.v_head, of::form.factor, mask(h).policy,
                                     o + h * heads.o_head);
    } else if constexpr (Axis == outer) {
      heads_of_sequence<shape, heads, T, formula_scoring<Run, Root>>::attend(
          q, k, v, o, room, formula_mask<Run, Root>{run, index});
    } else {
      constexpr unsigned long long family = of::loops.family[Axis];
      for (std::size_t i = 0; i < of::loops.size[Axis]; ++i) {
        index[Axis] = i;
        over<Plain, Axis + 1>(run, index, q + i * parts.q.axes.stride_of(family),
                              k + i * parts.k.axes.stride_of(family),
                              v + i * parts.v.axes.stride_of(family), o + i * out.stride_of(family),
                              room);
      }
    }
  }
  template <bool Plain>
  static constexpr void write(const Run& run, T* to, T* room) noexcept {
    std::size_t index[most_axes]{};
    over<Plain, 0>(run, index, run.template memory<parts.q.node>() + parts.q.offset,
                   run.template memory<parts.k.node>() + parts.k.offset,
                   run.template memory<parts.v.node>() + parts.v.offset, to, room);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
