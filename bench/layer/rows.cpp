// SPDX-License-Identifier: BSL-1.0
// Attention by formulas with functions along the keys or programs of scores, "rows/...", for
// heads,tokens,head_dim. Plain attention is "rows/attention/..." and "rows/causal/...", that
// without a softmax "rows/half/...". The functions alone, of a block, beside a copy of it,
// "along/...": keys x queries, where an operation is an element.
#include <cstring>
#include <umbel/umbel.hpp>

#include "../../examples/variants/13_retention.hpp"
#include "../../examples/variants/15_stick_breaking.hpp"
#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
namespace kernel = umbel::detail::kernel;

constexpr auto scaled = [](auto q, auto k) {
  return contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
};
constexpr formula attention = [](auto q, auto k, auto v) {
  return contract<key>(softmax<key>(scaled(q, k)), v);
};
constexpr formula causal = [](auto q, auto k, auto v) {
  return contract<key>(softmax<key>(hide(scaled(q, k), position<key> > position<query>)), v);
};
constexpr formula half = [](auto q, auto k, auto v) {
  return contract<key>(scaled(q, k) * 0.5f, v);
};
constexpr formula sums = [](auto q, auto k, auto v) {
  return contract<key>(cumulative_sum<key>(scaled(q, k)) * 0.5f, v);
};
// Zuhri et al., "Softpick: No Attention Sink, No Massive Activations with Rectified Softmax"
// (2025).
constexpr formula causal_softpick = [](auto q, auto k, auto v) {
  auto later = position<key> > position<query>;
  auto scores = hide(scaled(q, k), later);
  auto most = max<key>(scores);
  auto above = where(later, 0, exp(scores - most) - exp(-most));
  return contract<key>(relu(above) / (sum<key>(abs(above)) + 1e-6f), v);
};
constexpr formula causal_sigmoids = [](auto q, auto k, auto v) {
  auto weights = where(position<key> > position<query>, 0, sigmoid(scaled(q, k)));
  return contract<key>(weights / sum<key>(weights), v);
};
template <std::size_t K, bool Causal = false>
constexpr formula largest = [](auto q, auto k, auto v) {
  auto scores = scaled(q, k);
  if constexpr (Causal) {
    auto seen = hide(scores, position<key> > position<query>);
    return contract<key>(softmax<key>(hide(seen, seen < kth_largest<K, key>(seen))), v);
  } else
    return contract<key>(softmax<key>(hide(scores, scores < kth_largest<K, key>(scores))), v);
};
// Golovneva et al., "Contextual Position Encoding" (2024), section 4: positions are sums of gates.
constexpr formula contextual = [](auto q, auto k, auto v, auto positions) {
  auto scores = scaled(q, k);
  auto gates = where(position<key> > position<query>, 0, sigmoid(scores));
  auto most = float(positions.template extent<hidden>) - 1;
  auto at = minimum(cumulative_sum<key, from_last>(gates), most);
  auto of_positions = contract<head_dim>(q, positions);
  auto before = gather<hidden>(of_positions, floor(at));
  auto after = gather<hidden>(of_positions, minimum(floor(at) + 1, most));
  auto biased = scores + before + (at - floor(at)) * (after - before);
  return contract<key>(softmax<key>(hide(biased, position<key> > position<query>)), v);
};

// Chi et al., "KERPLE" (2022): scores minus a logarithm of the distance.
constexpr formula log_distance = [](auto q, auto k, auto v, auto r1, auto r2) {
  auto far = r1 * log(1 + r2 * abs(position<query> - position<key>));
  return contract<key>(softmax<key>(hide(scaled(q, k) - far, position<key> > position<query>)), v);
};
constexpr formula cos_distance = [](auto q, auto k, auto v, auto r1) {
  auto turned = cos(r1 * (position<query> - position<key>));
  auto weights = softmax<key>(hide(scaled(q, k), position<key> > position<query>));
  return contract<key>(weights * turned, v);
};
// A softmax by hand with a weight for no key; of all earlier keys, or of the last `Window`.
template <std::size_t Window = 0>
constexpr formula softmax_by_hand = [](auto q, auto k, auto v) {
  auto hidden_keys = position<key> > position<query>;
  auto scores = [&](auto all) {
    if constexpr (Window == 0)
      return hide(all, hidden_keys);
    else
      return hide(all, hidden_keys || position<query> - position<key> >= float(Window));
  }(scaled(q, k));
  auto most = maximum(max<key>(scores), 0);
  auto weights = exp(scores - most);
  return contract<key>(weights / (sum<key>(weights) + exp(-most)), v);
};
constexpr formula masked = [](auto q, auto k, auto v, auto keep) {
  return contract<key>(softmax<key>(hide(scaled(q, k), !keep)), v);
};
// Velickovic et al., "Graph Attention Networks" (2018): a number of the query and one of the key.
constexpr formula of_graphs = [](auto v, auto to, auto from, auto adjacent) {
  constexpr std::size_t heads_ = to.template extent<heads>, queries = to.template extent<query>,
                        keys = from.template extent<key>;
  auto both = (to | broadcast<heads<heads_>, query<queries>, key<keys>>)+from;
  auto scores = where(both > 0, both, 0.2f * both);
  return contract<key>(softmax<key>(hide(scores, !adjacent)), v);
};
// Yang et al., "Modeling Localness for Self-Attention Networks" (2018): a Gaussian around a
// computed key.
constexpr formula localness = [](auto q, auto k, auto v, auto center, auto width) {
  auto apart = position<key> - center;
  return contract<key>(softmax<key>(scaled(q, k) - apart * apart / (2 * width * width)), v);
};
// Kim et al., "The Lipschitz Constant of Self-Attention" (2021): scores are distances.
constexpr formula l2 = [](auto q, auto k, auto v) {
  auto squares = sum<head_dim>(q * q) - 2 * contract<head_dim>(q, k) + sum<head_dim>(k * k);
  return contract<key>(softmax<key>(squares * -rsqrt(float(q.template extent<head_dim>))), v);
};
// Zhai et al., "An Attention Free Transformer" (2021), AFT-local: a weight of each pair by its
// distance and of each feature of a key.
constexpr formula attention_free = [](auto q, auto k, auto v, auto bias) {
  auto near = abs(position<query> - position<key>) < 32;
  auto weights = exp(where(near, bias, 0));
  auto of_key = exp(k | rename_axis<head_dim, value_dim>);
  auto gates = sigmoid(q | rename_axis<head_dim, value_dim>);
  return gates * (contract<key>(weights, of_key * v) / contract<key>(weights, of_key));
};
// Leviathan et al., "Selective Attention Improves Transformer" (2024).
constexpr formula selective = [](auto q, auto k, auto v) {
  auto scores = scaled(q, k);
  auto later = position<key> >= position<query>;
  auto masked_by = where(later || position<key> < 1, 0, relu(scores));
  auto sums = cumulative_sum<query, exclusive>(masked_by);
  return contract<key>(softmax<key>(hide(scores - sums, position<key> > position<query>)), v);
};

template <std::size_t Heads, std::size_t Tokens, std::size_t Width>
struct rows {
  using queries = tensor<float, heads<Heads>, query<Tokens>, head_dim<Width>>;
  using keys = tensor<float, heads<Heads>, key<Tokens>, head_dim<Width>>;
  using values = tensor<float, heads<Heads>, key<Tokens>, value_dim<Width>>;
  using results = tensor<float, heads<Heads>, query<Tokens>, value_dim<Width>>;
  template <class T>
  static const T& filled() {
    static T x;
    bench::fill(x, 1);
    return x;
  }
  static inline results out;

  template <class F, class... X>
  static void row(const char* name, const F& f, const X&... x) {
    static workspace_for<F, X...> work;
    bench::add_row("rows/" + (name + bench::row_name("/", {Heads, Tokens, Width}, ',')),
                   4.0 * Heads * Tokens * Tokens * Width, [&] { f.into(out, x..., work); });
  }
  template <class F, class... X>
  static void of_scores(const char* name, const F& f, const X&... more) {
    row(name, f, filled<queries>(), filled<keys>(), filled<values>(), more...);
  }

  static void add_attention() {
    of_scores("attention", attention);
    of_scores("causal", causal);
  }
  // Functions along the keys.
  static void add_functions() {
    add_attention();
    of_scores("half", half);
    of_scores("cumulative_sum", sums);
    of_scores("stick_breaking", variants::stick_breaking);
    of_scores("contextual", contextual, filled<tensor<float, head_dim<Width>, hidden<64>>>());
    of_scores("largest_4", largest<4>);
    of_scores("largest_32", largest<32>);
    of_scores("causal_softpick", causal_softpick);
    of_scores("causal_sigmoids", causal_sigmoids);
    of_scores("causal_largest_32", largest<32, true>);
  }
  // Programs of scores, and of other pairs.
  static void add_programs() {
    if constexpr (Heads != 4) add_attention();
    static const auto adjacent = [] {
      tensor<bool, query<Tokens>, key<Tokens>> flags;
      for (std::size_t i = 0; i < flags.size(); ++i) flags.data()[i] = i * 7 % 11 < 5;
      return flags;
    }();
    using of_queries = tensor<float, heads<Heads>, query<Tokens>>;
    static tensor<float, heads<Heads>> r;
    for (float& x : r) x = 0.25f;
    of_scores("log_distance", log_distance, r, r);
    of_scores("retention", variants::retention, r);
    of_scores("cos_distance", cos_distance, r);
    of_scores("softmax_by_hand", softmax_by_hand<>);
    of_scores("softmax_by_hand_64", softmax_by_hand<64>);
    of_scores("masked", masked, adjacent);
    row("graph", of_graphs, filled<values>(), filled<of_queries>(),
        filled<tensor<float, heads<Heads>, key<Tokens>>>(), adjacent);
    of_scores("localness", localness, filled<of_queries>(), filled<of_queries>());
    of_scores("l2", l2);
    of_scores("attention_free", attention_free,
              filled<tensor<float, heads<Heads>, query<Tokens>, key<Tokens>>>());
    of_scores("selective", selective);
  }
};

template <std::size_t Keys, std::size_t Queries>
void add_alone() {
  static constexpr kernel::softmax_shape shape{1, Keys, Queries};
  alignas(64) static float x[Keys * Queries], y[Keys * Queries];
  bench::fill(x, 1);
  const std::string sizes = bench::row_name("/", {Keys, Queries}, 'x');
  const auto row = [&](const char* name, auto f) {
    bench::add_row("along/" + (name + sizes), 1.0 * Keys * Queries, f);
  };
  row("copy", [] { std::memcpy(y, x, sizeof x); });
  row("cumulative_sum", [] { kernel::cumulative_sum<shape, false, false>(x, y); });
  row("cumulative_sum_from_last", [] { kernel::cumulative_sum<shape, true, true>(x, y); });
  row("softmax", [] { kernel::softmax<shape>(x, y); });
  row("largest_4", [] { kernel::kth_largest<shape, 4>(x, y); });
  row("largest_32", [] { kernel::kth_largest<shape, 32>(x, y); });
  row("largest_64", [] { kernel::kth_largest<shape, 64>(x, y); });
}

const bool added = [] {
  rows<4, 256, 64>::add_functions();
  rows<4, 1024, 64>::add_functions();
  rows<8, 128, 32>::add_programs();
  rows<4, 1024, 64>::add_programs();
  add_alone<256, 32>();
  add_alone<1024, 32>();
  return true;
}();

}  // namespace
