// SPDX-License-Identifier: BSL-1.0
// What attention by a formula adds to its scores, beside attention without it: "scores/causal/..."
// and "scores/all/...", heads,queries,keys,head_dim. Tables by distance, products of queries and
// keys by distance (DeBERTa), integers of pairs, and sums of rows.
#include <umbel/umbel.hpp>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct distance : umbel::axis<distance, N> {};

template <class Out, class Formula, class... X>
void add(const std::string& name, double flops, const Formula& f, const X&... x) {
  static Out out;
  static workspace_for<Formula, X...> work;
  bench::add_row("scores/" + name, flops, [&] { f.into(out, x..., work); });
}

// Change: what becomes of the scores, a function of them and of the arguments after the values.
template <bool Causal, class Change>
constexpr auto attention_of(Change) {
  return [](auto q, auto k, auto v, auto... more) {
    auto scores = Change{}(q, k, contract<head_dim>(q, k), more...);
    if constexpr (Causal)
      return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
    else
      return contract<key>(softmax<key>(scores), v);
  };
}

template <std::size_t Heads, std::size_t Tokens, std::size_t HeadDim>
struct inputs {
  tensor<float, heads<Heads>, query<Tokens>, head_dim<HeadDim>> q;
  tensor<float, heads<Heads>, key<Tokens>, head_dim<HeadDim>> k, v;
  static inline const std::string sizes =
      '/' + bench::row_name("", {Heads, Tokens, Tokens, HeadDim}, ',');
  static constexpr double flops = 4.0 * Heads * Tokens * Tokens * HeadDim;
  inputs() {
    bench::fill(q, 1);
    bench::fill(k, 0.2f);
    bench::fill(v, 1);
  }

  template <bool Causal, class Change, class... More>
  void add_row(const char* name, Change change, const More&... more) const {
    static constexpr formula f = attention_of<Causal>(change);
    add<decltype(q)>((Causal ? "causal/" : "all/") + (name + sizes), Causal ? flops / 2 : flops, f,
                     q, k, v, more...);
  }
  template <class Change, class... More>
  void add_both(const char* name, Change change, const More&... more) const {
    add_row<true>(name, change, more...);
    add_row<false>(name, change, more...);
  }
};

void add_tables() {
  static const inputs<4, 256, 32> in;
  static tensor<float, heads<4>, distance<512>> table;
  bench::fill(table, 1);
  in.add_both("none", [](auto, auto, auto s) { return s; });
  in.add_row<true>(
      "difference",
      [](auto, auto, auto s, auto t) {
        return s + gather<distance>(t, position<query> - position<key>);
      },
      table);
  in.add_row<false>(
      "difference",
      [](auto, auto, auto s, auto t) {
        return s + gather<distance>(t, position<query> - position<key> + 256);
      },
      table);
  in.add_both(
      "abs",
      [](auto, auto, auto s, auto t) {
        return s + gather<distance>(t, abs(position<query> - position<key>));
      },
      table);
  in.add_both(
      "maximum",
      [](auto, auto, auto s, auto t) {
        return s + gather<distance>(t, maximum(position<query> - position<key>, 0));
      },
      table);
  in.add_both(
      "clamp",
      [](auto, auto, auto s, auto t) {
        return s + gather<distance>(t, clamp(position<query> - position<key> + 128, 0, 255));
      },
      table);
}

// Integers of all pairs: the heads of a row of the table are neighbors, or the keys.
void add_pairs() {
  static const inputs<4, 256, 32> in;
  static tensor<float, distance<512>, heads<4>> by_heads;
  static tensor<float, heads<4>, distance<512>> by_distance;
  static tensor<std::int32_t, query<256>, key<256>> ids;
  bench::fill(by_heads, 1);
  bench::fill(by_distance, 1);
  for (std::size_t q = 0; q < 256; ++q)
    for (std::size_t k = 0; k < 256; ++k) ids(q, k) = static_cast<std::int32_t>((q * k) % 512);
  in.add_row<false>(
      "lookup_of_pairs", [](auto, auto, auto s, auto t, auto pair) { return s + lookup(t, pair); },
      by_heads, ids);
  in.add_row<false>(
      "gather_of_pairs",
      [](auto, auto, auto s, auto t, auto pair) { return s + gather<distance>(t, pair); },
      by_distance, ids);
}

void add_products() {
  static const inputs<4, 512, 64> in;
  static tensor<float, heads<4>, distance<512>, head_dim<64>> of_queries, of_keys;
  bench::fill(of_queries, 0.2f);
  bench::fill(of_keys, 0.2f);
  in.add_row<false>("none", [](auto, auto, auto s) { return s; });
  in.add_row<false>(
      "products_of_queries",
      [](auto q, auto, auto s, auto r) {
        return s + gather<distance>(contract<head_dim>(q, r),
                                    clamp(position<query> - position<key> + 256, 0, 511));
      },
      of_queries);
  in.add_row<false>(
      "products_of_keys",
      [](auto, auto k, auto s, auto r) {
        return s + gather<distance>(contract<head_dim>(k, r),
                                    clamp(position<key> - position<query> + 256, 0, 511));
      },
      of_keys);
  in.add_row<false>(
      "products_of_both",
      [](auto q, auto k, auto s, auto r, auto t) {
        return s +
               gather<distance>(contract<head_dim>(q, r),
                                clamp(position<query> - position<key> + 256, 0, 511)) +
               gather<distance>(contract<head_dim>(k, t),
                                clamp(position<key> - position<query> + 256, 0, 511));
      },
      of_queries, of_keys);
}

// Softpick: Zuhri et al. (2025), equation 5.
void add_sums_of_rows() {
  static const inputs<4, 256, 64> in;
  static constexpr formula softpick = [](auto q, auto k, auto v) {
    auto scores = contract<head_dim>(q, k) * 0.125f;
    auto most = max<key>(scores);
    auto above = exp(scores - most) - exp(-most);
    return contract<key>(relu(above) / (sum<key>(abs(above)) + 1e-6f), v);
  };
  in.add_row<false>("none", [](auto, auto, auto s) { return s; });
  add<decltype(in.q)>("all/softpick" + in.sizes, in.flops, softpick, in.q, in.k, in.v);
}

const bool added = [] {
  add_tables();
  add_pairs();
  add_products();
  add_sums_of_rows();
  return true;
}();

}  // namespace
