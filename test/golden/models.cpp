// SPDX-License-Identifier: BSL-1.0
// Whole models from files of weights: like BERT, ViT, GPT-2, LLaMA and Qwen2, of random numbers,
// named and ordered as the checkpoints of Hugging Face and Meta are. Logits are compared. Two sizes
// each: square, where no shape tells in from out, and wide, where no two sizes are equal.
#include "weights.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <std::size_t N>
struct segment : axis<segment, N> {};
template <std::size_t N>
struct channel : axis<channel, N> {};
template <std::size_t N>
struct row : axis<row, N> {};
template <std::size_t N>
struct column : axis<column, N> {};
template <std::size_t N>
struct patch_row : axis<patch_row, N> {};
template <std::size_t N>
struct patch_column : axis<patch_column, N> {};

struct square {
  static constexpr std::size_t hidden = 8, heads = 2, kv_heads = 2, intermediate = 8,
                               vocabulary = 8, tokens = 8;
};
struct wide {
  static constexpr std::size_t hidden = 12, heads = 3, kv_heads = 1, intermediate = 20,
                               vocabulary = 17, tokens = 7;
};

template <class Size>
using width = hidden<Size::hidden>;
template <class Size>
using ids = tensor<int, batch<2>, token<Size::tokens>>;
template <class Size>
using logits = tensor<float, batch<2>, token<Size::tokens>, vocabulary<Size::vocabulary>>;
template <class Size>
using embed = embedding<float, vocabulary<Size::vocabulary>, width<Size>>;
template <class Size>
using place = learned_positions<float, token<Size::tokens>, width<Size>>;
template <class Size, class... Options>
using block = encoder_layer<float, width<Size>, heads<Size::heads>,
                            intermediate<Size::intermediate>, Options...>;

// BertForMaskedLM.
template <class Size>
struct bert {
  using layer = block<Size, norm_first<false>, activation<gelu_exact>, bias<true>,
                      norm_epsilon<1, 1'000'000'000'000>>;
  using norm = layer_norm<float, width<Size>>;
  using dense = linear<float, width<Size>, width<Size>, bias<true>>;
  static constexpr float epsilon = 1e-12F;

  struct weights {
    static constexpr const char* part_names[] = {"words",   "positions", "segments",  "norm",
                                                 "encoder", "dense",     "head_norm", "head_bias"};
    typename embed<Size>::weights words;
    typename place<Size>::weights positions;
    tensor<float, segment<2>, width<Size>> segments;
    typename bert::norm::weights norm;
    typename layer::weights encoder[2];
    typename bert::dense::weights dense;
    typename bert::norm::weights head_norm;
    tensor<float, vocabulary<Size::vocabulary>> head_bias;
  };

  static constexpr parameter_name own_names[] = {
      {"words", "bert.embeddings.word_embeddings.weight"},
      {"positions", "bert.embeddings.position_embeddings.weight"},
      {"segments", "bert.embeddings.token_type_embeddings.weight"},
      {"norm.gamma", "bert.embeddings.LayerNorm.weight"},
      {"norm.beta", "bert.embeddings.LayerNorm.bias"},
      {"dense.weight", "cls.predictions.transform.dense.weight", out_in},
      {"dense.bias", "cls.predictions.transform.dense.bias"},
      {"head_norm.gamma", "cls.predictions.transform.LayerNorm.weight"},
      {"head_norm.beta", "cls.predictions.transform.LayerNorm.bias"},
      {"head_bias", "cls.predictions.bias"},
      {nullptr, "cls.predictions.decoder.weight"},  // words once more
      {nullptr, "cls.predictions.decoder.bias"},
      {nullptr, "bert.embeddings.position_ids"},
  };

  static auto run(const weights& w, const ids<Size>& x) {
    constexpr std::size_t n = Size::tokens;
    const embed<Size> words{w.words};
    tensor<int, token<n>> which{};
    for (std::size_t i = n / 2; i < n; ++i) which(i) = 1;
    const tensor<int, batch<2>> lengths{n, n - 3};
    const auto every_sequence = w.positions + lookup(w.segments, which);
    auto y = x | words | place<Size>{every_sequence} | norm(w.norm, epsilon);
    for (const auto& one : w.encoder) y = layer{one}(y, lengths);
    y = y | dense{w.dense} | gelu_exact | norm(w.head_norm, epsilon);
    return words.logits(y) +
           (w.head_bias | broadcast<batch<2>, token<n>, vocabulary<Size::vocabulary>>);
  }
};

// ViTForImageClassification.
template <class Size>
struct vit {
  using layer = block<Size, norm_first<true>, activation<gelu_exact>, bias<true>,
                      norm_epsilon<1, 1'000'000'000'000>>;
  using norm = layer_norm<float, width<Size>>;
  using classifier = linear<float, width<Size>, classes<Size::vocabulary>, bias<true>>;
  using picture = tensor<float, channel<2>, row<4>, column<6>>;

  struct weights {
    static constexpr const char* part_names[] = {
        "projection", "projection_bias", "class_token", "positions", "encoder", "norm", "head"};
    tensor<float, width<Size>, channel<2>, row<2>, column<2>> projection;  // nn.Conv2d's
    tensor<float, width<Size>> projection_bias;
    tensor<float, token<1>, width<Size>> class_token;
    tensor<float, token<7>, width<Size>> positions;
    typename layer::weights encoder[2];
    typename vit::norm::weights norm;
    typename classifier::weights head;
  };

  static constexpr parameter_name own_names[] = {
      {"projection", "vit.embeddings.patch_embeddings.projection.weight"},
      {"projection_bias", "vit.embeddings.patch_embeddings.projection.bias"},
      {"class_token", "vit.embeddings.cls_token"},
      {"positions", "vit.embeddings.position_embeddings"},
      {"norm.gamma", "vit.layernorm.weight"},
      {"norm.beta", "vit.layernorm.bias"},
      {"head.weight", "classifier.weight", out_in},
      {"head.bias", "classifier.bias"},
  };

  static auto run(const weights& w, const picture& x) {
    const auto cut = x | split<row, patch_row<2>, row> | split<column, patch_column<3>, column>;
    const auto bias = w.projection_bias | broadcast<token<6>, width<Size>>;
    const auto patches =
        contract<channel, row, column>(cut, w.projection) | merge<patch_row, patch_column, token>;
    auto y = concat<token>(w.class_token, patches + bias) + w.positions;
    for (const auto& one : w.encoder) y = layer{one}(y);
    const auto first = y | norm(w.norm, 1e-12F) | slice<token, from<0>, extent<1>> | contiguous;
    return classifier{w.head}(first);
  }
};

// GPT2LMHeadModel.
template <class Size>
struct gpt2 {
  using layer = block<Size, norm_first<true>, activation<gelu_tanh>, bias<true>>;
  using norm = layer_norm<float, width<Size>>;

  struct weights {
    static constexpr const char* part_names[] = {"words", "positions", "blocks", "norm"};
    typename embed<Size>::weights words;
    typename place<Size>::weights positions;
    typename layer::weights blocks[2];
    typename gpt2::norm::weights norm;
  };

  static constexpr parameter_name own_names[] = {
      {"words", "wte.weight"},
      {"positions", "wpe.weight"},
      {"norm.gamma", "ln_f.weight"},
      {"norm.beta", "ln_f.bias"},
  };

  static auto run(const weights& w, const ids<Size>& x) {
    const embed<Size> words{w.words};
    auto y = x | words | place<Size>{w.positions};
    for (const auto& one : w.blocks) y = layer{one}(y, causal);
    return words.logits(norm{w.norm}(y));
  }
};

// LlamaForCausalLM, Qwen2ForCausalLM, Qwen3ForCausalLM; Transformer of Meta's llama/model.py.
template <class Size, class Pairs, std::size_t OneOverEpsilon, class Bias = bias<false>,
          class NetworkBias = feed_forward_bias<Bias::q>, class... Options>
struct llama {
  using layer =
      block<Size, norm_first<true>, norm_by<rms_norm>, norm_epsilon<1, OneOverEpsilon>, gated<true>,
            activation<silu>, Bias, NetworkBias, kv_heads<Size::kv_heads>, rope<Pairs>, Options...>;
  using norm = rms_norm<float, width<Size>>;
  using output = linear<float, width<Size>, vocabulary<Size::vocabulary>>;

  struct weights {
    static constexpr const char* part_names[] = {"words", "layers", "norm", "head"};
    typename embed<Size>::weights words;
    typename layer::weights layers[2];
    typename llama::norm::weights norm;
    typename output::weights head;
  };

  static constexpr parameter_name own_names[] = {
      {"words", "model.embed_tokens.weight"},
      {"norm.gamma", "model.norm.weight"},
      {"head.weight", "lm_head.weight", out_in},
  };
  static constexpr parameter_name names_of_meta[] = {
      {"words", "tok_embeddings.weight"},
      {"head.weight", "output.weight", out_in},
  };

  static auto run(const weights& w, const ids<Size>& x) {
    auto y = embed<Size>{w.words}(x);
    for (const auto& one : w.layers) y = layer{one}(y, causal);
    return y | norm(w.norm, 1.0F / OneOverEpsilon) | output{w.head};
  }
};

template <class Model, class Input, class Answer, std::size_t Count>
void check(const std::string& name, const name_tables<Count>& names,
           const std::string& silent = "k.bias") {
  const auto x = golden_answer<Input>(name + ".x");
  const auto y = golden_answer<Answer>(name + ".y");
  check_adopted<typename Model::weights>(
      name + ".safetensors", names,
      [&](const typename Model::weights& w) { return Model::run(w, x); }, y, silent);
}

template <class Size>
void check_bert(const char* name) {
  using model = bert<Size>;
  check<model, ids<Size>, logits<Size>>(
      name, tables(model::own_names, at("encoder.*", "bert.encoder.layer.*", names::bert_layer)));
}
template <class Size>
void check_vit(const char* name) {
  using model = vit<Size>;
  check<model, typename model::picture, tensor<float, token<1>, classes<Size::vocabulary>>>(
      name, tables(model::own_names, at("encoder.*", "vit.encoder.layer.*", names::vit_layer)));
}
template <class Size>
void check_gpt2(const char* name) {
  using model = gpt2<Size>;
  check<model, ids<Size>, logits<Size>>(
      name, tables(model::own_names, at("blocks.*", "h.*", names::gpt2_block)));
}
template <class Size, class Bias = bias<false>>
void check_llama(const char* name) {
  using model = llama<Size, split_halves, 1'000'000, Bias>;
  check<model, ids<Size>, logits<Size>>(
      name, tables(model::own_names, at("layers.*", "model.layers.*", names::llama_layer)), "");
}
template <class Size>
void check_qwen2(const char* name) {
  using model =
      llama<Size, split_halves, 1'000'000, bias_on<'q', 'k', 'v'>, feed_forward_bias<false>>;
  check<model, ids<Size>, logits<Size>>(
      name, tables(model::own_names, at("layers.*", "model.layers.*", names::qwen2_layer)), "");
}
template <class Size, std::size_t HeadDim>
void check_qwen3(const char* name) {
  using model = llama<Size, split_halves, 1'000'000, bias<false>, feed_forward_bias<false>,
                      head_dim<HeadDim>, query_key_norm<rms_norm>>;
  check<model, ids<Size>, logits<Size>>(
      name, tables(model::own_names, at("layers.*", "model.layers.*", names::qwen3_layer)), "");
}
template <class Size>
void check_meta(const char* name) {
  using model = llama<Size, adjacent_pairs, 100'000>;
  check<model, ids<Size>, logits<Size>>(
      name,
      tables(model::names_of_meta, at("layers.*", "layers.*", names::meta_llama_block),
             at("norm", "norm", names::torch_layer_norm)),
      "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_models)

BOOST_AUTO_TEST_CASE(like_bert) {
  check_bert<square>("bert_square");
  check_bert<wide>("bert_wide");
}
BOOST_AUTO_TEST_CASE(like_vit) {
  check_vit<square>("vit_square");
  check_vit<wide>("vit_wide");
}
BOOST_AUTO_TEST_CASE(like_gpt2) {
  check_gpt2<square>("gpt2_square");
  check_gpt2<wide>("gpt2_wide");
}
BOOST_AUTO_TEST_CASE(like_llama) {
  check_llama<square>("llama_square");
  check_llama<wide>("llama_wide");
  check_llama<square, bias<true>>("llama_biases");
}
BOOST_AUTO_TEST_CASE(like_qwen2) {
  check_qwen2<square>("qwen2_square");
  check_qwen2<wide>("qwen2_wide");
}
BOOST_AUTO_TEST_CASE(like_qwen3) {
  check_qwen3<square, 4>("qwen3_square");
  check_qwen3<wide, 6>("qwen3_wide");
}
BOOST_AUTO_TEST_CASE(like_llama_of_meta) {
  check_meta<square>("meta_square");
  check_meta<wide>("meta_wide");
}

// No name and no shape tells how features are paired: the wrong pairing loads, and is wrong.
BOOST_AUTO_TEST_CASE(the_other_pairing_of_rope) {
  using model = llama<square, adjacent_pairs, 1'000'000>;
  const golden_file file("llama_square.safetensors");
  const auto x = golden_answer<ids<square>>("llama_square.x");
  const auto found = fate_of<model::weights>(
      *file, tables(model::own_names, at("layers.*", "model.layers.*", names::llama_layer)),
      [&](const model::weights& w) { return model::run(w, x); },
      golden_answer<logits<square>>("llama_square.y"));
  BOOST_TEST((found == fate::wrong_numbers));
}

BOOST_AUTO_TEST_SUITE_END()
