// SPDX-License-Identifier: BSL-1.0
// Layers and blocks in a real-time thread: nothing is allocated or released, no lock is taken, no
// system call is made, and the stack stays within what the types say: the workspace, where it is
// not passed, the result where it is returned, and `frames` bytes for the functions themselves.
// Operations are in operations.cpp, caches in decoding.cpp, formulas in formulas.cpp; that no name
// of the library is in none of them: every_name.py.
#include <umbel/umbel.hpp>

#include "../../examples/thread_pool.hpp"
#include "../support/executors.hpp"
#include "../support/parameters.hpp"
#include "../support/random.hpp"
#include "pass.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;
using namespace realtime;

template <std::size_t Queries, std::size_t Keys, std::size_t Hidden, std::size_t Heads>
void check_attention(const char* name) {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  using queries = tensor<float, batch<2>, query<Queries>, hidden<Hidden>>;
  using context = tensor<float, batch<2>, key<Keys>, hidden<Hidden>>;
  using workspace = typename attention::template workspace<query<Queries>, key<Keys>>;
  static_assert(sizeof(workspace) <= UMBEL_STACK_BUDGET);
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  static const auto x = drawn<queries>(next);
  static const auto y = drawn<context>(next);
  static const tensor<int, batch<2>> lens{3, 2};
  static workspace work;
  static queries out;
  constexpr std::size_t both = sizeof(workspace) + sizeof(queries);

  group(name);
  check("layer", both, [] { out = attention{w}(x, y, y); });
  check("layer, lengths", both, [] { out = attention{w}(x, y, y, lens); });
  check("layer, workspace passed", sizeof(queries),
        [] { out = attention{w}(x, y, y, lens, work); });
  check("layer, into", 0, [] { attention{w}.into(out, x, y, y, all_keys, work); });
  check("packed", both, [] { out = packed(x, y, y); });
  check("packed, into", 0, [] { packed.into(out, x, y, y, lens, work); });
  static tensor<float, batch<2>, heads<Heads>, query<Queries>, key<Keys>> weights;
  static const tensor<bool, query<Queries>, key<Keys>> kept{};
  check("packed, every kind of mask", vectors_of_six_masks, [] {
    packed.into(out, x, y, y,
                causal_bottom_right(lens) & keep_mask(kept) & lens & alibi_bottom_right &
                    dropout(0.1, 7) & observe(weights),
                work);
  });
}

// More masks than anybody combines; tensors of biases take most. 40 queries are several blocks, and
// eight queries that are left over.
void check_many_masks() {
  using attention =
      multi_head_attention<float, hidden<64>, heads<4>, query_key_norm<layer_norm>, softcap<50>>;
  using queries = tensor<float, batch<2>, query<40>, hidden<64>>;
  using context = tensor<float, batch<2>, key<70>, hidden<64>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const auto x = drawn<queries>(next);
  static const auto y = drawn<context>(next);
  static const auto biases = drawn<tensor<float, heads<4>, query<40>, key<70>>>(next);
  static const tensor<int, batch<2>> lens{3, 2};
  static const tensor<bool, query<40>, key<70>> kept{};
  static attention::workspace<query<40>, key<70>> work;
  static queries out;
  static tensor<float, batch<2>, heads<4>, query<40>, key<70>> weights;
  const auto masks = [] {
    return causal_bottom_right(lens) & keep_mask(kept) & lens & sliding_window_at<5, 3>(2) &
           alibi_bottom_right & score_bias(biases) & dropout(0.1, 7);
  };
  const auto near = [](auto, auto, auto i, auto j) { return i < j ? 0.0f : 1.0f; };
  group("attention with norms of queries and keys, softcap");
  check("into", vectors_of_few_queries, [] { attention{w}.into(out, x, y, y, all_keys, work); });
  check("seven masks", vectors_of_many_masks,
        [masks] { attention{w}.into(out, x, y, y, masks(), work); });
  check("nine masks, one observes", vectors_of_many_masks, [masks, near] {
    attention{w}.into(out, x, y, y, masks() & score_bias(near) & observe(weights), work);
  });
}

// A depth of 300 is packed in several blocks.
void check_contractions() {
  static lcg next{1};
  static const auto q = drawn<tensor<float, query<17>, heads<2>, head_dim<300>>>(next);
  static const auto k = drawn<tensor<float, key<33>, heads<2>, head_dim<300>>>(next);
  static tensor<float, query<17>, heads<2>, key<33>> scores;
  static tensor<float, query<17>, key<33>> sums;
  group("contractions");
  check("one axis", packed_operand + sizeof scores, [] { scores = contract<head_dim>(q, k); });
  check("two axes", packed_operand + sizeof sums, [] { sums = contract<heads, head_dim>(q, k); });
}

// Two sequences for two workers and a third in parts; then parts of it by threads that sleep
// between calls.
void check_executors() {
  using attention = multi_head_attention<float, hidden<24>, heads<3>, rope<split_halves>>;
  using tokens = tensor<float, batch<3>, token<37>, hidden<24>>;
  static lcg next{1};
  static const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  static const auto x = drawn<tokens>(next);
  static attention::workspace<token<37>> work[2];
  static tokens out;
  static shuffled<2> one_thread;
  static thread_pool<2> pool;
  group("attention by an executor");
  check("layer", 0, [] { attention{w}.into(out, x, all_keys, parallel(one_thread, work)); });
  check("packed", 0, [] { packed.into(out, x, all_keys, parallel(one_thread, work)); });
  check<threads::several>("packed, threads", 0,
                          [] { packed.into(out, x, all_keys, parallel(pool, work)); });
  static const tensor<int, batch<3>> lens{37, 8, 20};
  check("packed, rows left out", 0,
        [] { packed.into(out, x, valid_rows(lens), parallel(one_thread, work)); });
  check<threads::several>("packed, rows left out, threads", 0,
                          [] { packed.into(out, x, valid_rows(lens), parallel(pool, work)); });
}

template <bool NormFirst>
using encoder_of = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                                 norm_first<NormFirst>, activation<gelu_exact>>;
// One norm, two parts, one sum; and a norm behind a part.
using parallel_and_sandwich = residual_block<
    float, hidden<32>,
    block_parts::pre_norm<block_parts::name::norm1,
                          block_parts::self_attention<block_parts::name::attention, heads<4>>,
                          block_parts::linear_map<block_parts::name::linear, bias<true>>>,
    block_parts::sandwich_norm<
        block_parts::name::norm2,
        block_parts::feed_forward_network<block_parts::name::feed_forward, intermediate<64>,
                                          activation<gelu_exact>, bias<true>>,
        block_parts::name::norm3>>;

template <class Encoder>
void check_encoder(const char* name) {
  using encoder = Encoder;
  using tokens = tensor<float, batch<2>, token<40>, hidden<32>>;
  using workspace = typename encoder::template workspace<token<40>>;
  static_assert(sizeof(workspace) <= UMBEL_STACK_BUDGET);
  static lcg next{1};
  static typename encoder::weights w{};
  draw_parameters(next, w);
  static const prepacked<encoder> packed{w};
  static const auto x = drawn<tokens>(next);
  static const tensor<int, batch<2>> lens{40, 20};
  static workspace work;
  static tokens out;
  constexpr std::size_t both = sizeof(workspace) + sizeof(tokens);

  group(name);
  check("layer", both, [] { out = encoder{w}(x); });
  check("layer, lengths, workspace passed", sizeof(tokens),
        [] { out = encoder{w}(x, lens, work); });
  check("layer, into", 0, [] { encoder{w}.into(out, x, all_keys, work); });
  check("packed", both, [] { out = packed(x); });
  check("packed, into", 0, [] { packed.into(out, x, lens, work); });
  check("packed, rows left out", 0, [] { packed.into(out, x, valid_rows(lens), work); });
}

template <bool NormFirst>
void check_decoder(const char* name) {
  using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                                norm_first<NormFirst>, activation<gelu_exact>>;
  using tokens = tensor<float, batch<2>, token<20>, hidden<32>>;
  using encoded = tensor<float, batch<2>, key<30>, hidden<32>>;
  using workspace = typename decoder::template workspace<token<20>, key<30>>;
  static_assert(sizeof(workspace) <= UMBEL_STACK_BUDGET);
  static lcg next{1};
  static typename decoder::weights w{};
  draw_decoder(next, w, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  static const prepacked<decoder> packed{w};
  static const auto x = drawn<tokens>(next);
  static const auto memory = drawn<encoded>(next);
  static const tensor<int, batch<2>> lens{30, 20};
  static workspace work;
  static tokens out;
  constexpr std::size_t mask = vectors_of_a_mask;  // the sequence is causal
  constexpr std::size_t both = sizeof(workspace) + sizeof(tokens) + mask;

  group(name);
  check("layer", both, [] { out = decoder{w}(x, memory, self_mask(causal)); });
  check("layer, masks, workspace passed", sizeof(tokens) + mask,
        [] { out = decoder{w}(x, memory, lens, self_mask(causal & lens), work); });
  check("layer, into", mask, [] { decoder{w}.into(out, x, memory, self_mask(causal), work); });
  check("packed", both, [] { out = packed(x, memory, self_mask(causal)); });
  check("packed, into", mask, [] { packed.into(out, x, memory, lens, self_mask(causal), work); });
}

void check_blocks() {
  using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
  using map = linear<float, hidden<32>, classes<10>, bias<true>>;
  static lcg next{1};
  static map::weights w{};
  draw(next, w.weight);
  static const prepacked<map> packed{w};
  static const auto x = drawn<tokens>(next);
  static const layer_norm<float, hidden<32>>::weights norm_weights{};
  static const auto table = drawn<tensor<float, token<9>, hidden<32>>>(next);
  static tensor<float, batch<2>, classes<10>> out;
  group("blocks");
  // The results of the steps may all be alive at once.
  check("x | positions | norm | gelu | mean | linear", 4 * sizeof(tokens), [] {
    out = x | learned_positions<float, token<9>, hidden<32>>{table} |
          layer_norm<float, hidden<32>>{norm_weights} | gelu_exact | mean<token> | packed;
  });
  static const sinusoidal_positions<float, token<20>, hidden<32>, adjacent_pairs> sinusoids;
  static const rms_norm<float, hidden<32>> rms{norm_weights.gamma, 1e-6f};
  using network =
      feed_forward<float, hidden<32>, intermediate<64>, gated<true>, activation<silu>, bias<false>>;
  static network::weights network_weights{};
  draw_feed_forward(next, network_weights, 0.25, 0.125, 0);
  check("x | sinusoids | rms | gated network",
        4 * sizeof(tokens) + sizeof(network::workspace<token<9>>),
        [] { out = sinusoids(x, 3) | rms | network{network_weights} | mean<token> | packed; });
  check("x | gelu_tanh | relu | silu", 4 * sizeof(tokens),
        [] { out = x | gelu_tanh | relu | silu | mean<token> | packed; });
  using additive = additive_attention<float, hidden<32>, score_hidden<9>>;
  static additive::weights scores{};
  draw(next, scores.q.weight), draw(next, scores.k.weight), draw(next, scores.score);
  static const auto keys = drawn<tensor<float, batch<2>, key<11>, hidden<32>>>(next);
  static const auto values = drawn<tensor<float, batch<2>, key<11>, value_dim<7>>>(next);
  static const auto asking = drawn<tensor<float, batch<2>, query<9>, hidden<32>>>(next);
  static tensor<float, batch<2>, query<9>, value_dim<7>> attended;
  static workspace_for<additive, decltype(asking), decltype(keys), decltype(values)> additive_work;
  check("additive attention, into", vectors_of_clang,
        [] { additive{scores}.into(attended, asking, keys, values, all_keys, additive_work); });
  static const auto q = drawn<tensor<float, query<9>, head_dim<16>>>(next);
  static const auto k = drawn<tensor<float, key<21>, head_dim<16>>>(next);
  static tensor<float, query<9>, head_dim<16>> context;
  static workspace_for<decltype(scaled_dot_product_attention), decltype(q), decltype(k),
                       decltype(k)>
      dot_work;
  check("scaled dot product, into", vectors_of_a_mask,
        [] { scaled_dot_product_attention.into(context, q, k, k, causal_bottom_right, dot_work); });
  static const auto wide = drawn<tensor<float, query<37>, key<131>>>(next);
  static tensor<float, query<37>, key<131>> normalized;
  check("softmax, into", 0, [] { softmax<key>.into(normalized, wide); });
  check("softmax of a product", 4 * sizeof(out),
        [] { out = softmax<classes>((x | mean<token> | map{w}) * 0.5f); });
}

}  // namespace

void realtime::check_layers() {
  check_attention<4, 6, 100, 5>("attention, the d2l book's toy case");
  check_attention<17, 33, 24, 3>("attention, odd sizes");
  check_attention<1, 300, 8, 2>("attention, one query, 300 keys");
  check_encoder<encoder_of<true>>("encoder layer, norm first");
  check_encoder<encoder_of<false>>("encoder layer, norm last");
  check_encoder<parallel_and_sandwich>("block of parallel parts and of norms behind them");
  check_decoder<true>("decoder layer, norm first");
  check_decoder<false>("decoder layer, norm last");
  check_many_masks();
  check_contractions();
  check_executors();
  check_blocks();
}
