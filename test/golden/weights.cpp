// SPDX-License-Identifier: BSL-1.0
// The layers of torch, d2l, Keras, Flax and Haiku, of Whisper and StarCoder2 from files of their
// weights, by the tables of names for them: the answers are the framework's, and no mistake in a
// table goes unnoticed. Whole models, and with them the tables of Hugging Face and Meta:
// models.cpp.
#include "weights.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using sequence = tensor<float, batch<1>, token<8>, hidden<8>>;
using queries = tensor<float, batch<1>, query<8>, hidden<8>>;
using keys = tensor<float, batch<1>, key<8>, hidden<8>>;
using attention = multi_head_attention<float, hidden<8>, heads<2>, bias<true>>;

// A layer of one sequence.
template <class Layer, class X = sequence, std::size_t Count>
void check_layer(const std::string& name, const std::string& ending,
                 const name_tables<Count>& names) {
  using weights = typename Layer::weights;
  const auto x = golden_answer<X>(name + ".x");
  check_adopted<weights>(
      name + ending, names, [&](const weights& w) { return Layer{w}(x); },
      golden_answer<X>(name + ".y"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_weights)

BOOST_AUTO_TEST_CASE(torch_attention) {
  check_layer<attention>("torch_attention", ".safetensors", tables(names::torch_attention));
}

// kdim and vdim: q_proj_weight, k_proj_weight, v_proj_weight, and one in_proj_bias.
BOOST_AUTO_TEST_CASE(torch_attention_of_other_widths) {
  using layer = multi_head_attention<float, hidden<8>, heads<2>, keys_from<hidden<6>>,
                                     values_from<hidden<4>>, bias<true>>;
  using result = tensor<float, batch<1>, query<5>, hidden<8>>;
  const std::string name = "torch_attention_widths";
  const auto x = golden_answer<result>(name + ".x");
  const auto y = golden_answer<tensor<float, batch<1>, key<7>, hidden<6>>>(name + ".u");
  const auto z = golden_answer<tensor<float, batch<1>, key<7>, hidden<4>>>(name + ".v");
  check_adopted<layer::weights>(
      name + ".safetensors", tables(names::torch_attention),
      [&](const layer::weights& w) { return layer{w}(x, y, z); },
      golden_answer<result>(name + ".y"));
}

// add_bias_kv appends a key and a value that are learnt: there is no such thing here.
BOOST_AUTO_TEST_CASE(torch_attention_with_bias_kv_is_refused) {
  const golden_file file("torch_attention_bias_kv.safetensors");
  static attention::weights w;
  BOOST_TEST(load(w, *file, names::torch_attention).error() ==
             "umbel: load: bias_k is in the file, but no parameter has that name\n"
             "umbel: load: bias_v is in the file, but no parameter has that name\n");
}

// nn.TransformerEncoder with a norm at its end, then nn.Linear; Bias: what bias= is.
template <std::size_t Wide, std::size_t Tokens, bool Bias = true>
struct torch_encoder {
  using layer = encoder_layer<float, hidden<8>, heads<2>, intermediate<Wide>, norm_first<false>,
                              activation<relu>, bias<Bias>, norm_bias<Bias>>;
  using last_norm = layer_norm<float, hidden<8>, bias<Bias>>;
  using output = linear<float, hidden<8>, hidden<8>, bias<Bias>>;
  using tokens = tensor<float, batch<1>, token<Tokens>, hidden<8>>;

  struct weights {
    static constexpr const char* part_names[] = {"layers", "norm", "head"};
    typename layer::weights layers[2];
    typename last_norm::weights norm;
    typename output::weights head;
  };

  static void check(const std::string& name) {
    auto x = golden_answer<tokens>(name + ".x");
    check_adopted<weights>(
        name + ".safetensors",
        tables(at("layers.*", "encoder.layers.*", names::torch_encoder_layer),
               at("norm", "encoder.norm", names::torch_layer_norm),
               at("head", "head", names::torch_linear)),
        [&](const weights& w) {
          return layer{w.layers[0]}(x) | layer{w.layers[1]} | last_norm{w.norm} | output{w.head};
        },
        golden_answer<tokens>(name + ".y"));
  }
};

BOOST_AUTO_TEST_CASE(torch_encoders) {
  torch_encoder<8, 8>::check("torch_encoder");
  torch_encoder<12, 5>::check("torch_encoder_wide");
}
BOOST_AUTO_TEST_CASE(torch_encoders_without_bias) {
  torch_encoder<8, 8, false>::check("torch_encoder_without_bias");
  torch_encoder<12, 5, false>::check("torch_encoder_wide_without_bias");
}

template <std::size_t Wide, std::size_t Tokens, std::size_t Keys, bool Bias = true>
void check_torch_decoder(const std::string& name) {
  using layer = decoder_layer<float, hidden<8>, heads<2>, intermediate<Wide>, norm_first<true>,
                              activation<gelu_exact>, bias<Bias>, norm_bias<Bias>>;
  using weights = std::array<typename layer::weights, 2>;
  using tokens = tensor<float, batch<1>, token<Tokens>, hidden<8>>;
  const auto x = golden_answer<tokens>(name + ".x");
  const auto memory = golden_answer<tensor<float, batch<1>, key<Keys>, hidden<8>>>(name + ".u");
  check_adopted<weights>(
      name + ".safetensors", tables(at("*", "layers.*", names::torch_decoder_layer)),
      [&](const weights& w) {
        const auto y = layer{w[0]}(x, memory, self_mask(causal));
        return layer{w[1]}(y, memory, self_mask(causal));
      },
      golden_answer<tokens>(name + ".y"));
}

BOOST_AUTO_TEST_CASE(torch_decoders) {
  check_torch_decoder<8, 8, 8>("torch_decoder");
  check_torch_decoder<12, 5, 7>("torch_decoder_wide");
}
BOOST_AUTO_TEST_CASE(torch_decoders_without_bias) {
  check_torch_decoder<8, 8, 8, false>("torch_decoder_without_bias");
  check_torch_decoder<12, 5, 7, false>("torch_decoder_wide_without_bias");
}

template <class Layer, std::size_t Tokens>
void check_one_layer(const std::string& name, const auto& names_of_layer) {
  using tokens = tensor<float, batch<1>, token<Tokens>, hidden<8>>;
  const auto x = golden_answer<tokens>(name + ".x");
  check_adopted<typename Layer::weights>(
      name + ".safetensors", tables(names_of_layer),
      [&](const typename Layer::weights& w) { return Layer{w}(x); },
      golden_answer<tokens>(name + ".y"));
}

BOOST_AUTO_TEST_CASE(block_of_timm) {
  using layer = encoder_layer<float, hidden<8>, heads<2>, intermediate<8>, norm_first<true>,
                              activation<gelu_exact>, bias<true>, norm_epsilon<1, 1'000'000>,
                              query_key_norm<layer_norm>>;
  check_one_layer<layer, 5>("timm_block", names::timm_block);
}
BOOST_AUTO_TEST_CASE(layers_of_paddle) {
  using attention = multi_head_attention<float, hidden<8>, heads<2>, bias<true>>;
  check_one_layer<attention, 8>("paddle_attention", names::paddle_attention);
  using layer = encoder_layer<float, hidden<8>, heads<2>, intermediate<8>, norm_first<false>,
                              activation<relu>, bias<true>>;
  check_one_layer<layer, 8>("paddle_encoder", names::paddle_encoder_layer);
}

// A layer that expects a beta, or has none where the file has one.
BOOST_AUTO_TEST_CASE(a_norm_bias_that_is_not_the_files_is_refused) {
  using norm = layer_norm<float, hidden<8>>;
  using without_beta = layer_norm<float, hidden<8>, bias<false>>;
  const golden_file with("torch_encoder.safetensors"),
      without("torch_encoder_without_bias.safetensors");
  static norm::weights w;
  static without_beta::weights v;
  const auto names = at("", "encoder.norm", names::torch_layer_norm);
  const std::string missing = load(w, *without, names).error();
  BOOST_TEST(
      missing.starts_with("umbel: load: beta [hidden=8]: the file has no encoder.norm.bias\n"));
  const std::string left_over = load(v, *with, names).error();
  BOOST_TEST(left_over.find("umbel: load: encoder.norm.bias is in the file, but no parameter has "
                            "that name\n") != std::string::npos);
}

// Layers of Hugging Face that no whole model of models.cpp has: two of each, square or of sizes
// that are all different.
template <std::size_t Hidden, std::size_t Heads, std::size_t Wide, std::size_t Tokens>
struct layers_of_hugging_face {
  using tokens = tensor<float, batch<1>, token<Tokens>, hidden<Hidden>>;
  using memory = tensor<float, batch<1>, key<Tokens + 2>, hidden<Hidden>>;
  template <template <class...> class Layer, class... Options>
  using layer =
      Layer<float, hidden<Hidden>, heads<Heads>, intermediate<Wide>, norm_first<true>, Options...>;

  template <std::size_t KvHeads>
  static void check_starcoder2(const std::string& name) {
    using one = layer<encoder_layer, activation<gelu_tanh>, bias<true>, kv_heads<KvHeads>,
                      rope<split_halves>>;
    using weights = std::array<typename one::weights, 2>;
    const auto x = golden_answer<tokens>(name + ".x");
    check_adopted<weights>(
        name + ".safetensors", tables(at("*", "layers.*", names::starcoder2_layer)),
        [&](const weights& w) { return one{w[1]}(one{w[0]}(x, causal), causal); },
        golden_answer<tokens>(name + ".y"));
  }
  static void check_whisper_encoder(const std::string& name) {
    using one = layer<encoder_layer, activation<gelu_exact>, bias_on<'q', 'v', 'o'>,
                      feed_forward_bias<true>>;
    using weights = std::array<typename one::weights, 2>;
    const auto x = golden_answer<tokens>(name + ".x");
    check_adopted<weights>(
        name + ".safetensors", tables(at("*", "layers.*", names::whisper_encoder_layer)),
        [&](const weights& w) { return one{w[1]}(one{w[0]}(x)); },
        golden_answer<tokens>(name + ".y"));
  }
  static void check_whisper_decoder(const std::string& name) {
    using one = layer<decoder_layer, activation<gelu_exact>, bias_on<'q', 'v', 'o'>,
                      feed_forward_bias<true>>;
    using weights = std::array<typename one::weights, 2>;
    const auto x = golden_answer<tokens>(name + ".x");
    const auto y = golden_answer<memory>(name + ".u");
    check_adopted<weights>(
        name + ".safetensors", tables(at("*", "layers.*", names::whisper_decoder_layer)),
        [&](const weights& w) {
          return one{w[1]}(one{w[0]}(x, y, self_mask(causal)), y, self_mask(causal));
        },
        golden_answer<tokens>(name + ".y"));
  }
};
using square_layers = layers_of_hugging_face<8, 2, 8, 8>;
using wide_layers = layers_of_hugging_face<12, 3, 20, 7>;

BOOST_AUTO_TEST_CASE(starcoder2) {
  square_layers::check_starcoder2<2>("starcoder2_square");
  wide_layers::check_starcoder2<1>("starcoder2_wide");
}
BOOST_AUTO_TEST_CASE(whisper) {
  square_layers::check_whisper_encoder("whisper_encoder_square");
  wide_layers::check_whisper_encoder("whisper_encoder_wide");
  square_layers::check_whisper_decoder("whisper_decoder_square");
  wide_layers::check_whisper_decoder("whisper_decoder_wide");
}

BOOST_AUTO_TEST_CASE(d2l_attention) {
  const auto x = golden_answer<queries>("d2l_attention.x");
  const auto y = golden_answer<keys>("d2l_attention.u");
  check_adopted<attention::weights>(
      "d2l_attention.safetensors", tables(names::d2l_attention),
      [&](const attention::weights& w) { return attention{w}(x, y, y); },
      golden_answer<queries>("d2l_attention.y"));
}

BOOST_AUTO_TEST_CASE(d2l_additive_attention) {
  using layer = additive_attention<float, hidden<8>, score_hidden<8>>;
  const auto x = golden_answer<queries>("d2l_additive_attention.x");
  const auto y = golden_answer<keys>("d2l_additive_attention.u");
  const auto z = golden_answer<keys>("d2l_additive_attention.v");
  check_adopted<layer::weights>(
      "d2l_additive_attention.safetensors", tables(names::d2l_additive_attention),
      [&](const layer::weights& w) { return layer{w}(x, y, z); },
      golden_answer<queries>("d2l_additive_attention.y"));
}

// Their names are paths, with the names of the layers around them in front.
template <std::size_t Hidden>
using short_sequence = tensor<float, batch<1>, token<5>, hidden<Hidden>>;

BOOST_AUTO_TEST_CASE(keras) {
  check_layer<multi_head_attention<float, hidden<4>, heads<2>, bias<true>>, short_sequence<4>>(
      "keras_attention", ".npz",
      tables(at("", "block/multi_head_attention/", names::keras_attention<2>)));
  check_layer<multi_head_attention<float, hidden<6>, heads<3>, bias<true>>, short_sequence<6>>(
      "keras_attention_3", ".npz",
      tables(at("", "block/multi_head_attention/", names::keras_attention<3>)));
}

BOOST_AUTO_TEST_CASE(flax) {
  check_layer<multi_head_attention<float, hidden<4>, heads<2>, bias<true>>, short_sequence<4>>(
      "flax_attention", ".npz",
      tables(at("", "params/MultiHeadDotProductAttention_0/", names::flax_attention<2>)));
}

BOOST_AUTO_TEST_CASE(haiku) {
  check_layer<attention, short_sequence<8>>(
      "haiku_attention", ".npz",
      tables(at("", "transformer/multi_head_attention/", names::haiku_attention)));
}

BOOST_AUTO_TEST_SUITE_END()
