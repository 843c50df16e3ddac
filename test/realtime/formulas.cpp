// SPDX-License-Identifier: BSL-1.0
// Formulas in a real-time thread (layers.cpp says what that asks for): attention of all kinds that
// the lowering knows, rows, products, whole blocks, with the workspace passed, on the stack, and by
// an executor.
#include <umbel/umbel.hpp>

#include <tuple>

#include "../support/executors.hpp"
#include "../support/random.hpp"
#include "pass.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;
using namespace realtime;

using queries = tensor<float, heads<2>, query<9>, head_dim<8>>;
using keys = tensor<float, heads<2>, key<11>, head_dim<8>>;
lcg next{1};
const queries q = drawn<queries>(next);
const keys k = drawn<keys>(next), v = drawn<keys>(next);
queries context;

constexpr formula attention = [](auto q, auto k, auto v) {
  auto scores = named<"scores">(contract<head_dim>(q, k) * 0.35f);
  return contract<key>(softmax<key>(scores), v);
};
constexpr formula changed_scores = [](auto q, auto k, auto v, auto biases, auto lens) {
  auto scores = tanh(contract<head_dim>(q, k) * 0.35f) * 5 + biases;
  auto seen = hide(hide(scores, position<key> > position<query>), position<key> >= lens);
  return contract<key>(softmax<key>(seen), v);
};
constexpr formula without_softmax = [](auto q, auto k, auto v) {
  return contract<key>(sigmoid(contract<head_dim>(q, k) * 0.35f - 2.0f), v);
};
constexpr formula weights_mixed = [](auto q, auto k, auto v, auto mixing) {
  auto weights = softmax<key>(contract<head_dim>(q, k) * 0.35f);
  auto mixed = contract<heads>(mixing, weights);
  return contract<key>(mixed, v | rename_axis<heads, kv_heads>);
};
constexpr formula rows = [](auto q) {
  auto centred = (q - mean<head_dim>(q)) * exp(-0.1f * positions_along<head_dim<8>>);
  return centred * rsqrt(variance<head_dim>(q) + 1e-5f);
};
constexpr formula two_results = [](auto q, auto k) {
  auto scores = contract<head_dim>(q, k);
  return std::tuple{scores, max<key>(scores)};
};

void check_attention() {
  static const auto biases = drawn<tensor<float, heads<2>, query<9>, key<11>>>(next);
  static const tensor<int, query<9>> lens{1, 2, 3, 11, 5, 6, 7, 8, 9};
  static const auto mixing = drawn<tensor<float, kv_heads<2>, heads<2>>>(next);
  static tensor<float, kv_heads<2>, query<9>, head_dim<8>> mixed;
  static tensor<float, heads<2>, query<9>, key<11>> scores;
  static tensor<float, heads<2>, query<9>> most;
  static workspace_for<decltype(attention), queries, keys, keys> work;
  static workspace_for<decltype(changed_scores), queries, keys, keys, decltype(biases),
                       decltype(lens)>
      work_changed;
  static workspace_for<decltype(without_softmax), queries, keys, keys> work_without;
  static workspace_for<decltype(weights_mixed), queries, keys, keys, decltype(mixing)> work_mixed;
  static workspace_for<decltype(rows), queries> work_rows;
  static workspace_for<decltype(two_results), queries, keys> work_two;
  group("formula");
  check("attention", vectors_of_a_mask, [] { attention.into(context, q, k, v, work); });
  check("attention, workspace on the stack", sizeof work + 2 * sizeof context + vectors_of_a_mask,
        [] { context = attention(q, k, v); });
  check("attention of changed scores", vectors_of_six_masks + vectors_of_scores,
        [] { changed_scores.into(context, q, k, v, biases, lens, work_changed); });
  check("attention without a softmax", vectors_of_a_mask,
        [] { without_softmax.into(context, q, k, v, work_without); });
  check("weights, mixed by head", vectors_of_a_mask,
        [] { weights_mixed.into(mixed, q, k, v, mixing, work_mixed); });
  check("rows", 0, [] { rows.into(context, q, work_rows); });
  check("two results", 2 * (sizeof scores + sizeof most) + sizeof work_two, [] {
    const auto results = two_results(q, k);
    scores = std::get<0>(results), most = std::get<1>(results);
  });
}

// A whole block, by itself and in parts.
void check_block() {
  using layer = multi_head_attention<float, hidden<24>, heads<3>, bias<true>>;
  using tokens = tensor<float, batch<3>, token<17>, hidden<24>>;
  static constexpr formula block = [](auto x, const auto& w, auto lengths) {
    constexpr auto heads_of = [](auto y) {
      return y | split<hidden, heads<3>, head_dim> | permute<batch, heads, token, head_dim>;
    };
    auto q = heads_of(x * w.q) | rename_axis<token, query>;
    auto k = heads_of(x * w.k) | rename_axis<token, key>;
    auto v = heads_of(x * w.v) | rename_axis<token, key>;
    auto scores = hide(contract<head_dim>(q, k) * 0.25f, position<key> >= lengths);
    auto context = contract<key>(softmax<key>(scores), v) | rename_axis<query, token>;
    return x + silu((context | permute<batch, token, heads, head_dim> | contiguous |
                     merge<heads, head_dim, hidden>)*w.o);
  };
  static const auto w = drawn_weights<layer>(next);
  static const layer::weights_view parts = w;
  static const auto x = drawn<tokens>(next);
  static const tensor<int, batch<3>> lens{17, 5, 11};
  static tokens out;
  static workspace_for<decltype(block), tokens, layer::weights_view, tensor<int, batch<3>>> work[2];
  static shuffled<2> executor;
  check("block", vectors_of_a_mask, [] { block.into(out, x, parts, lens, work[0]); });
  check("block, by serial", vectors_of_a_mask,
        [] { block.into(out, x, parts, lens, parallel(serial, work)); });
  check("block, by an executor", vectors_of_a_mask,
        [] { block.into(out, x, parts, lens, parallel(executor, work)); });
}

}  // namespace

void realtime::check_formulas() {
  check_attention();
  check_block();
}
