// SPDX-License-Identifier: BSL-1.0
// Every layer of floats, every use of it (counts.hpp): natural and packed, in 16 and 8 bits, from a
// cache, by an executor, observed. The same kernels in double: doubles.cpp.
#include <umbel/bare.hpp>

#include <limits>

#include "../support/executors.hpp"
#include "blocks.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace counts;
using umbel_test::shuffled;

// Many queries, and one; fewer keys than a block of the softmax, and more.
template <class T, std::size_t Queries, std::size_t Keys, std::size_t Heads = 2>
struct dot_product {
  using q_type = tensor<T, heads<Heads>, query<Queries>, head_dim<5>>;
  using k_type = tensor<T, heads<Heads>, key<Keys>, head_dim<5>>;
  static inline q_type q, out;
  static inline k_type k, v;
  static inline tensor<T, heads<Heads>, query<Queries>, key<Keys>> seen, biases;
  static inline tensor<bool, query<Queries>, key<Keys>> flags;
  static inline tensor<int, query<Queries>> lens;

  template <class... Options, class Mask>
  static void run(const char* name, const Mask& mask) {
    using layer = std::remove_cvref_t<decltype(scaled_dot_product_attention_with<Options...>)>;
    static workspace_for<layer, q_type, k_type, k_type> work;
    count(
        name,
        [&](values& of) {
          of.inputs(q, k, v, biases);
          for (T& bias : biases)  // -infinity hides: it is a mask
            if (bias < std::numeric_limits<T>::lowest()) bias = 0;
        },
        [&] { scaled_dot_product_attention_with<Options...>.into(out, q, k, v, mask, work); });
  }
  static void draw_masks() {
    umbel_test::lcg next{3};
    for (bool& flag : flags) flag = next() > -0.5f;
    for (int& length : lens) length = static_cast<int>((next() + 1) * Keys / 2);
  }
};
void dot_products() {
  group = "scaled dot product";
  using some = dot_product<float, 11, 19>;
  some::draw_masks();
  some::run("every key", all_keys);
  some::run("lengths", some::lens);
  some::run("causal, window", causal_bottom_right & sliding_window_bottom_right<7>);
  some::run("flags, biases", keep_mask(some::flags) & score_bias(some::biases));
  some::run("biases", score_bias(some::biases));
  some::run<softcap<3>, empty_rows<uniform_weights>>(
      "soft cap, alibi, dropout, observed",
      some::lens & alibi_bottom_right & dropout(0.2, 5) & observe(some::seen));
  using one = dot_product<float, 1, 300>;
  one::draw_masks();
  one::run("one query", all_keys);
  one::run("one query, flags", keep_mask(one::flags));
  using two = dot_product<float, 2, 19>;
  two::draw_masks();
  two::run("two queries, causal", causal_bottom_right);
}

template <class Stored>
void stored_attention(const char* name) {
  using layer = projected<float>;
  static layer::weights w;
  static prepacked<layer, stored_as<Stored>> packed{w};
  self_attention<layer>(name, packed, [](values& of) {
    of.weights(w);
    packed = prepacked<layer, stored_as<Stored>>{w};
  });
}
template <class Stored>
void cached(const char* name) {
  using layer = projected<float>;
  using past = key_value_cache<layer, key<8>, stored_as<Stored>, longest_sequence<99>>;
  static layer::weights w;
  static tensor<float, token<1>, hidden<24>> x, out;
  static past memory;
  static typename past::template workspace<token<1>> work;
  count(
      name, [&](values& of) { of.weights(w), of.inputs(x); },
      [&] {
        memory.reset();
        for (int i = 0; i < 10; ++i) (void)memory.step(out, layer{w}, x, all_keys, work);
      });
}
void attention() {
  group = "multi_head_attention";
  using layer = projected<float>;
  static layer::weights w;
  const layer natural{w};
  const auto fill = [&](values& of) { of.weights(w); };
  self_attention<layer>("natural", natural, fill);
  stored_attention<float>("packed");
  stored_attention<bfloat16>("packed in bfloat16");
  stored_attention<float16>("packed in float16");
  stored_attention<std::int8_t>("packed in 8 bits");
  cached<float>("cache");
  cached<bfloat16>("cache in bfloat16");
  cached<float16>("cache in float16");
  cached<std::int8_t>("cache in 8 bits");

  using cross = multi_head_attention<float, hidden<24>, heads<4>, bias<false>>;
  static cross::weights of_cross;
  static tensor<float, batch<2>, query<3>, hidden<24>> x, out;
  static tensor<float, batch<2>, key<6>, hidden<24>> y;
  static cross::workspace<query<3>, key<6>> work[2];
  static shuffled<2> executor;
  const tensor<int, batch<2>> lens{5, 2};
  const auto fill_cross = [&](values& of) { of.weights(of_cross), of.inputs(x, y); };
  count("cross, lengths", fill_cross, [&] { cross{of_cross}.into(out, x, y, y, lens, work[0]); });
  count("cross, lengths, by an executor", fill_cross, [&] {
    executor = {};
    cross{of_cross}.into(out, x, y, y, lens, parallel(executor, work));
  });

  using few = pruned<cross, keep_heads<1, 3>>;
  static few::weights of_few;
  static workspace_for<few, decltype(x), decltype(y), decltype(y)> work_of_few;
  count(
      "pruned", [&](values& of) { of.weights(of_few), of.inputs(x, y); },
      [&] { few{of_few}.into(out, x, y, y, all_keys, work_of_few); });

  using additive = additive_attention<float, hidden<24>, score_hidden<9>>;
  static additive::weights of_additive;
  static tensor<float, batch<2>, key<6>, value_dim<7>> v;
  static tensor<float, batch<2>, query<3>, value_dim<7>> context;
  static workspace_for<additive, decltype(x), decltype(y), decltype(v)> additive_work;
  count(
      "additive, lengths", [&](values& of) { of.weights(of_additive), of.inputs(x, y, v); },
      [&] { additive{of_additive}.into(context, x, y, v, lens, additive_work); });
}

template <std::size_t Rows, class Stored>
void packed_map(const char* name) {
  using map = linear<float, hidden<21>, classes<13>, bias<true>>;
  static map::weights w;
  static prepacked<map, stored_as<Stored>> packed{w};
  static tensor<float, token<Rows>, hidden<21>> x;
  static tensor<float, token<Rows>, classes<13>> out;
  count(
      name,
      [&](values& of) {
        of.weights(w), of.inputs(x);
        packed = prepacked<map, stored_as<Stored>>{w};
      },
      [&] { packed.into(out, x); });
}
void maps() {
  group = "linear";
  using map = linear<float, hidden<21>, classes<13>, bias<true>>;
  static map::weights w;
  static tensor<float, token<9>, hidden<21>> x;
  static tensor<float, token<9>, classes<13>> out;
  count("natural", [&](values& of) { of.weights(w), of.inputs(x); }, [&] { map{w}.into(out, x); });
  packed_map<9, float>("packed");
  packed_map<1, float>("packed, one row");
  packed_map<9, std::int8_t>("packed in 8 bits");
  packed_map<1, std::int8_t>("packed in 8 bits, one row");
  packed_map<1, bfloat16>("packed in bfloat16, one row");
  packed_map<1, float16>("packed in float16, one row");
}

void words() {
  group = "words";
  using words = embedding<float, vocabulary<9>, hidden<24>>;
  static words::weights table;
  static prepacked<words, stored_as<std::int8_t>> packed{table};
  static const tensor<int, token<9>> ids{3, 1, 4, 1, 5, 9, 2, 6, 5};
  static tensor<float, token<9>, hidden<24>> x, y;
  static tensor<float, token<9>, vocabulary<9>> logits;
  const auto fill = [&](values& of) {
    of.tables(table), of.inputs(x);
    packed = prepacked<words, stored_as<std::int8_t>>{table};
  };
  count("embedding", fill, [&] { words{table}.into(y, ids); });
  count("embedding in 8 bits", fill, [&] { packed.into(y, ids); });
  count("logits", fill, [&] { words{table}.logits_into(logits, x); });
  count("logits in 8 bits", fill, [&] { packed.logits_into(logits, x); });
  static const sinusoidal_positions<float, token<20>, hidden<24>, split_halves> sinusoids;
  count("learned_positions", fill, [&] {
    y = learned_positions<float, token<9>, hidden<24>>{table | rename_axis<vocabulary, token>}(x);
  });
  count("sinusoidal_positions", fill, [&] { y = sinusoids(x, 3); });
  count("rotate", fill, [&] { y = rotate<split_halves, token, hidden>(x); });
}

using encoder = encoder_layer<float, hidden<24>, heads<4>, intermediate<24>, norm_first<true>,
                              norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>,
                              gated<true>, bias<false>, kv_heads<2>, rope<split_halves>>;
using decoder = decoder_layer<float, hidden<24>, heads<4>, intermediate<24>, norm_first<false>,
                              activation<gelu_exact>, bias<true>>;

void encoders() {
  group = "encoder_layer";
  static encoder::weights w;
  static prepacked<encoder> packed{w};
  static tensor<float, batch<2>, token<9>, hidden<24>> x, out;
  static encoder::workspace<token<9>> work[2];
  static shuffled<2> executor;
  const tensor<int, batch<2>> lens{9, 4};
  const auto fill = [&](values& of) {
    of.weights(w), of.inputs(x);
    packed = prepacked<encoder>{w};
  };
  count("natural, lengths", fill, [&] { encoder{w}.into(out, x, lens, work[0]); });
  count("packed, lengths", fill, [&] { packed.into(out, x, lens, work[0]); });
  count("packed, by an executor", fill, [&] {
    executor = {};
    packed.into(out, x, lens, parallel(executor, work));
  });
  using model = layer_stack<encoder, 2>;
  using past = key_value_cache<model, key<12>>;
  static model::weights of_two;
  static past memory;
  static past::workspace<token<1>> work_of_step;
  static tensor<float, token<1>, hidden<24>> step;
  count(
      "three steps of a stack",
      [&](values& of) { of.weights(of_two.layers[0], of_two.layers[1]), of.inputs(step); },
      [&] {
        memory.reset();
        for (int i = 0; i < 3; ++i)
          (void)memory.step(step, model{of_two}, step, all_keys, work_of_step);
      });
}

void decoders() {
  group = "decoder_layer";
  static decoder::weights w;
  static prepacked<decoder> packed{w};
  static tensor<float, batch<2>, token<9>, hidden<24>> x, out;
  static tensor<float, batch<2>, key<6>, hidden<24>> y;
  static decoder::workspace<token<9>, key<6>> work;
  const tensor<int, batch<2>> lens{6, 4};
  const auto fill = [&](values& of) {
    of.weights(w), of.inputs(x, y);
    packed = prepacked<decoder>{w};
  };
  count("packed, lengths", fill, [&] { packed.into(out, x, y, lens, self_mask(causal), work); });
  using past = key_value_cache<decoder, key<12>, longest_memory<6>>;
  static past memory;
  static past::workspace<token<1>> work_of_step;
  static tensor<float, token<1>, hidden<24>> step;
  static tensor<float, key<6>, hidden<24>> from;
  count(
      "a memory, three steps", [&](values& of) { fill(of), of.inputs(step, from); },
      [&] {
        memory.attend_to(packed, from, work_of_step);
        for (int i = 0; i < 3; ++i)
          (void)memory.step(step, packed, step, self_mask(all_keys), work_of_step);
      });
}

// Parts and joins that neither an encoder layer nor a decoder layer has.
void blocks_of_parts() {
  using namespace block_parts;
  using block = residual_block<
      float, hidden<24>, norm_by<layer_norm>,
      pre_norm<name::norm1, block_parts::self_attention<name::attention, heads<4>, bias<true>>,
               feed_forward_network<name::feed_forward, intermediate<24>, activation<gelu_tanh>,
                                    bias<true>>>,
      scaled<1, 2, sandwich_norm<name::norm2, linear_map<name::linear, bias<true>>, name::norm3>>>;
  group = "residual_block";
  static block::weights w;
  static prepacked<block> packed{w};
  static tensor<float, token<9>, hidden<24>> x, out;
  static block::workspace<token<9>> work;
  using past = key_value_cache<block, key<12>>;
  static past memory;
  static past::workspace<token<1>> work_of_step;
  static tensor<float, token<1>, hidden<24>> step;
  const auto fill = [&](values& of) {
    of.weights(w), of.inputs(x, step);
    packed = prepacked<block>{w};
  };
  count("packed, causal", fill, [&] { packed.into(out, x, causal, work); });
  count("three steps", fill, [&] {
    memory.reset();
    for (int i = 0; i < 3; ++i) (void)memory.step(step, packed, step, all_keys, work_of_step);
  });
}

void formulas() {
  group = "formula";
  using some = dot_product<float, 11, 19>;
  static tensor<float, heads<2>> slopes;
  constexpr formula attend = [](auto q, auto k, auto v, auto slope) {
    auto scores = tanh(contract<head_dim>(q, k) * 0.3f) * 4;
    auto distant = scores + slope * (position<key> - position<query>);
    return contract<key>(softmax<key>(hide(distant, position<key> > position<query>)), v);
  };
  static workspace_for<decltype(attend), some::q_type, some::k_type, some::k_type, decltype(slopes)>
      work;
  count(
      "attention of changed scores",
      [&](values& of) { of.inputs(some::q, some::k, some::v, slopes); },
      [&] { attend.into(some::out, some::q, some::k, some::v, slopes, work); });
}

// So that check.py sees what it would see: numbers that are negative take more.
void wrong() {
  group = "wrong";
  static tensor<float, token<9>> x;
  static volatile float sum;
  count(
      "a branch", [&](values& of) { of.inputs(x); },
      [&] {
        for (const float number : x)
          if (number > 0) sum = sum + number;
      });
}

}  // namespace

int main() {
  dot_products();
  attention();
  maps();
  group = "block";
  blocks<float>();
  words();
  encoders();
  decoders();
  blocks_of_parts();
  formulas();
  wrong();
  return 0;
}
