// SPDX-License-Identifier: BSL-1.0
// Attention by blocks of queries with functions along the keys, "rows/...": heads,tokens,head_dim,
// beside "rows/attention/..." and "rows/causal/...", plain attention, and "rows/half/...", weights
// without a softmax.
// The functions alone, of a block, beside a copy of it, "along/...": keys x queries, where an
// operation is an element.
#include <cstring>
#include <umbel/umbel.hpp>

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

template <std::size_t Tokens>
void add() {
  static tensor<float, heads<4>, query<Tokens>, head_dim<64>> q;
  static tensor<float, heads<4>, key<Tokens>, head_dim<64>> k;
  static tensor<float, heads<4>, key<Tokens>, value_dim<64>> v;
  static tensor<float, heads<4>, query<Tokens>, value_dim<64>> out;
  static tensor<float, head_dim<64>, hidden<64>> positions;
  bench::fill(q, 1);
  bench::fill(k, 1);
  bench::fill(v, 1);
  bench::fill(positions, 1);
  const std::string sizes = bench::row_name("/", {4, Tokens, 64}, ',');
  const double flops = 4.0 * 4 * Tokens * Tokens * 64;
  const auto row = [&](const char* name, const auto& f, const auto&... x) {
    using F = std::remove_cvref_t<decltype(f)>;
    static workspace_for<F, std::remove_cvref_t<decltype(x)>...> work;
    bench::add_row("rows/" + (name + sizes), flops, [&] { f.into(out, x..., work); });
  };
  row("attention", attention, q, k, v);
  row("causal", causal, q, k, v);
  row("half", half, q, k, v);
  row("cumulative_sum", sums, q, k, v);
  row("stick_breaking", variants::stick_breaking, q, k, v);
  row("contextual", contextual, q, k, v, positions);
  row("largest_4", largest<4>, q, k, v);
  row("largest_32", largest<32>, q, k, v);
  row("causal_softpick", causal_softpick, q, k, v);
  row("causal_sigmoids", causal_sigmoids, q, k, v);
  row("causal_largest_32", largest<32, true>, q, k, v);
}

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
  add<256>();
  add<1024>();
  add_alone<256, 32>();
  add_alone<1024, 32>();
  return true;
}();

}  // namespace
