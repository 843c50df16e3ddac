// SPDX-License-Identifier: BSL-1.0
// Every operation on tensors in a real-time thread (layers.cpp says what that asks for). Their
// results are on the stack.
#include <umbel/umbel.hpp>

#include <array>

#include "../support/random.hpp"
#include "pass.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;
using namespace realtime;

using rows = tensor<float, batch<2>, token<9>, hidden<33>>;
lcg next{1};
const rows x = drawn<rows>(next), y = drawn<rows>(next);
rows z;
// The results of the steps of a line may all be alive at once.
constexpr std::size_t results = 4 * sizeof(rows);

void check_functions() {
  group("functions of elements");
  check("exp", results, [] { z = umbel::exp(x); });
  check("log", results, [] { z = umbel::log(x); });
  check("sqrt", results, [] { z = umbel::sqrt(x); });
  check("rsqrt", results, [] { z = rsqrt(x); });
  check("tanh", results, [] { z = umbel::tanh(x); });
  check("sigmoid", results, [] { z = sigmoid(x); });
  check("abs", results, [] { z = umbel::abs(x); });
  check("sin", results, [] { z = umbel::sin(x); });
  check("cos", results, [] { z = umbel::cos(x); });
  check("erf", results, [] { z = umbel::erf(x); });
  check("floor", results, [] { z = umbel::floor(x); });
  check("pow", results, [] { z = umbel::pow(x, y); });
  check("remainder", results, [] { z = x % 0.75f; });
  check("clamp", results, [] { z = clamp(x, -0.5f, y); });
  check("elu, into", 0, [] { elu.into(z, x); });
  check("softplus, into", 0, [] { softplus.into(z, x); });
  check("log_sigmoid, into", 0, [] { log_sigmoid.into(z, x); });
  check("gelu_exact, into", 0, [] { gelu_exact.into(z, x); });
  check("gelu_tanh, into", 0, [] { gelu_tanh.into(z, x); });
  check("silu, into", 0, [] { silu.into(z, x); });
  check("relu, into", 0, [] { relu.into(z, x); });
  check("arithmetic", results + 2 * sizeof(rows), [] { z = 2.0f * x * y - x / y + 0.5f; });
  check("arithmetic in place", results, [] { z = x, z *= y, z += x, z -= 0.5f; });
  check("maximum, minimum", results, [] { z = maximum(minimum(x, y), 0.5f); });
  check("where, hide", results, [] { z = hide(where(x < y, x, y), x > 0.9f); });
}

void check_reductions() {
  static tensor<float, batch<2>, token<9>> of_rows;
  static tensor<float, hidden<33>> of_columns;
  static layer_norm<float, hidden<33>>::weights w{};
  draw(next, w.gamma), draw(next, w.beta);
  group("reductions");
  check("sum", results, [] { of_rows = sum<hidden>(x); });
  check("sum of columns", results, [] { of_columns = sum<batch, token>(x); });
  check("mean", results, [] { of_rows = mean<hidden>(x); });
  check("variance", results, [] { of_rows = variance<hidden>(x); });
  check("max, min", results, [] { of_rows = max<hidden>(x) - min<hidden>(x); });
  check("product", results, [] { of_rows = product<hidden>(x); });
  check("softmax, into", 0, [] { softmax<hidden>.into(z, x); });
  check("softmax along tokens, into", 0, [] { softmax<token>.into(z, x); });
  check("log_softmax, into", vectors_of_clang, [] { log_softmax<hidden>.into(z, x); });
  check("cumulative_sum, into", 0, [] { cumulative_sum<hidden>.into(z, x); });
  check("flip, into", 0, [] { flip<token>.into(z, x); });
  check("kth_largest", results, [] { of_rows = kth_largest<4, hidden>(x); });
  check("layer_norm, into", 0, [] { layer_norm<float, hidden<33>>{w}.into(z, x); });
  check("rms_norm, into", 0, [] { rms_norm<float, hidden<33>>{w.gamma, 1e-6f}.into(z, x); });
}

void check_shapes() {
  static tensor<float, heads<3>, token<9>, head_dim<11>> turned;
  static tensor<float, hidden<33>, token<9>> columns;
  static tensor<float, token<3>, hidden<33>> few;
  static tensor<float, batch<2>, token<18>, hidden<33>> longer;
  static tensor<float, key<2>, batch<2>, token<9>, hidden<33>> both;
  static float memory[9 * 33];
  static const std::array<std::size_t, 2> sizes{9, 33};
  group("shapes");
  check("split, permute, contiguous", results, [] {
    turned = x | select_at<batch, 1> | split<hidden, heads<3>, head_dim> |
             permute<heads, token, head_dim> | contiguous;
  });
  check("split_into, merge, reshape", results, [] {
    z = x | split_into<hidden, heads<3>, head_dim<11>> | merge<heads, head_dim, hidden> |
        reshape<batch<2>, token<9>, hidden<33>> | contiguous;
  });
  check("transposed", results,
        [] { columns = x | select_at<batch, 0> | transposed<token, hidden>; });
  check("slice, rename_axis", results, [] {
    few = x | select_at<batch, 0> | rename_axis<token, key> | slice<key, from<2>, extent<3>> |
          rename_axis<key, token> | contiguous;
  });
  check("broadcast", results, [] {
    z = x * (x | select_at<token, 3> | broadcast<batch<2>, token<9>, hidden<33>> | contiguous);
  });
  static tensor<float, batch<2>, token<9>, kernel_size<3>, hidden<33>> in_windows;
  check("windows, padded", sizeof longer + sizeof in_windows, [] {
    in_windows =
        x | padded<token, before<1>, after<1>> | windows<token, kernel_size<3>> | contiguous;
  });
  check("concat", sizeof longer + results, [] { longer = concat<token>(x, y); });
  check("stack", sizeof both + results, [] { both = umbel::stack<key>(x, y); });
  check("view_as, as_view, copy", results,
        [] { copy(as_view(x) | select_at<batch, 0>, view_as<token<9>, hidden<33>>(memory)); });
  check("a view of a size known at run time", results, [] {
    using wanted = view<float, token<9>, hidden<33>>;
    const expected_view<wanted> given = view_as<wanted>(memory, sizes);
    if (given) z(0, 0, 0) = (*given)(at<hidden>(2), at<token>(3));
  });
  check("for_each", results, [] { for_each([](float& to, float from) { to += from; }, z, x); });
}

void check_rows_by_number() {
  static const auto table = drawn<tensor<float, vocabulary<7>, hidden<33>>>(next);
  static const tensor<int, batch<2>, token<9>> ids{};
  static tensor<float, batch<2>, token<9>, classes<5>> flags;
  group("rows by number");
  check("lookup", results, [] { z = lookup(table, ids); });
  static tensor<float, batch<2>, token<9>, hidden<33>> elements;
  check("gather", results, [] { elements = gather<vocabulary>(table, ids); });
  check("one_hot", results, [] { flags = one_hot<classes<5>>(ids); });
}

void check_positions() {
  using heads_of = tensor<float, token<9>, heads<3>, head_dim<12>>;
  static const auto q = drawn<heads_of>(next);
  static heads_of turned;
  static const tensor<int, token<9>> at_positions{};
  static const auto table = drawn<tensor<float, token<9>, hidden<33>>>(next);
  static const learned_positions<float, token<9>, hidden<33>> learned{table};
  static const auto even = drawn<tensor<float, token<9>, hidden<32>>>(next);
  static tensor<float, token<9>, hidden<32>> moved;
  static const sinusoidal_positions<float, token<20>, hidden<32>, split_halves_to_base> sinusoids;
  group("positions");
  check("learned_positions", results, [] { z = x | learned; });
  check("sinusoidal_positions", results, [] { moved = sinusoids(even, 3); });
  check("rotate", results, [] { turned = q | rotate<split_halves, token, head_dim>; });
  check("rotate by positions", results,
        [] { turned = rotate<split_halves, token<99>, head_dim>(q, at_positions); });
  check("rotate by given angles", results, [] {
    turned =
        rotate<adjacent_pairs, head_dim>(q, rope_cosines<adjacent_pairs, token<9>, head_dim<12>>(),
                                         rope_sines<adjacent_pairs, token<9>, head_dim<12>>());
  });
}

// Each by itself; a policy of its own is a kernel of its own.
void check_masks() {
  static const auto q = drawn<tensor<float, heads<2>, query<9>, head_dim<8>>>(next);
  static const auto k = drawn<tensor<float, heads<2>, key<9>, head_dim<8>>>(next);
  static tensor<float, heads<2>, query<9>, head_dim<8>> out;
  static tensor<bool, query<9>, key<9>> flags{};
  for (bool& flag : flags) flag = next() > 0;
  static const auto biases = drawn<tensor<float, heads<2>, query<9>, key<9>>>(next);
  static const auto scores = contract<head_dim>(q, k);
  static tensor<float, heads<2>, query<9>, key<9>> weights;
  static const tensor<int, heads<2>> lens{5, 0};
  static workspace_for<decltype(scaled_dot_product_attention), decltype(q), decltype(k),
                       decltype(k)>
      work;
  group("masks");
  const auto run = [](const char* name, auto mask) {
    check(name, vectors_of_a_mask,
          [mask] { scaled_dot_product_attention.into(out, q, k, k, mask, work); });
  };
  run("keep_mask", keep_mask(flags));
  run("drop_mask", drop_mask(flags));
  run("score_bias", score_bias(biases));
  run("causal, sliding_window", causal & sliding_window<3>);
  run("causal_top_left, alibi_top_left", causal_top_left & alibi_top_left);
  run("causal_at, alibi_at", causal_at(1) & alibi_at(2));
  run("sliding_window_top_left, _bottom_right",
      sliding_window_top_left<3, 1> & sliding_window_bottom_right<4>);
  run("sliding_window_at, alibi", sliding_window_at<3, 1>(2) & alibi);
  run("observed scores", observe<observed::scores>(weights));
  check("mask_after", 4 * sizeof scores,
        [] { weights = softmax<key>(mask_after<key>(scores, lens)); });
}

void check_attentions() {
  static const auto q = drawn<tensor<float, heads<2>, query<9>, head_dim<8>>>(next);
  static const auto k = drawn<tensor<float, heads<2>, key<11>, head_dim<8>>>(next);
  static const tensor<int, query<9>> lens{1, 0, 3, 11, 5, 0, 7, 8, 9};
  static tensor<float, heads<2>, query<9>, head_dim<8>> out;
  group("attention");
  constexpr std::size_t bytes = sizeof out + vectors_of_a_mask;
  check("options",
        bytes + sizeof(workspace_for<decltype(scaled_dot_product_attention), decltype(q),
                                     decltype(k), decltype(k)>),
        [] {
          out = scaled_dot_product_attention_with<score_scale<1, 4>, softcap<5>,
                                                  empty_rows<uniform_weights>>(q, k, k, lens);
        });
  check("by score", bytes, [] {
    out = attention_by_score<empty_rows<zero_weights>>([](const auto& a, const auto& b) {
      float most = 0;
      for (std::size_t d = 0; d < 8; ++d) most = a(d) * b(d) > most ? a(d) * b(d) : most;
      return most;
    })(q, k, k, lens);
  });

  using layer = multi_head_attention<float, hidden<24>, heads<6>, keys_from<hidden<16>>,
                                     values_from<hidden<20>>, output_to<hidden<12>>>;
  using rest = pruned<layer, prune_heads<1, 3>>;
  using alone = pruned<layer, keep_heads<2>>;
  static const auto w = drawn_weights<layer>(next);
  static const auto few = pruned_weights<layer, prune_heads<1, 3>>(w);
  static const auto one = pruned_weights<layer, keep_heads<2>>(w);
  static const auto from = drawn<tensor<float, query<9>, hidden<24>>>(next);
  static const auto keys = drawn<tensor<float, key<11>, hidden<16>>>(next);
  static const auto values = drawn<tensor<float, key<11>, hidden<20>>>(next);
  static tensor<float, query<9>, hidden<12>> to;
  static workspace_for<rest, decltype(from), decltype(keys), decltype(values)> work;
  static workspace_for<alone, decltype(from), decltype(keys), decltype(values)> work_of_one;
  check("layer, pruned", 0, [] { rest{few}.into(to, from, keys, values, all_keys, work); });
  check("layer, pruned, by an executor of one", 0, [] {
    static workspace_for<rest, decltype(from), decltype(keys), decltype(values)> own[1];
    static serial_executor executor;
    rest{few}.into(to, from, keys, values, all_keys, parallel(executor, own));
  });
  check("layer, one head", 0,
        [] { alone{one}.into(to, from, keys, values, all_keys, work_of_one); });

  using norm_with_bias =
      encoder_layer<float, hidden<24>, heads<3>, intermediate<20>, norm_first<true>,
                    norm_by<layer_norm>, norm_bias<false>, activation<relu>, bias<false>>;
  using tokens = tensor<float, token<9>, hidden<24>>;
  using model = layer_stack<norm_with_bias, 2>;
  static model::weights ws{};
  for (auto& part : ws.layers) draw_encoder(next, part, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const auto in = drawn<tokens>(next);
  static tokens result;
  static model::workspace<token<9>> room;
  check("stack of encoder layers", 0, [] { model{ws}.into(result, in, causal, room); });
}

}  // namespace

void realtime::check_operations() {
  check_functions();
  check_reductions();
  check_shapes();
  check_rows_by_number();
  check_positions();
  check_masks();
  check_attentions();
}
