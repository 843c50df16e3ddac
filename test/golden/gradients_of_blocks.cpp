// SPDX-License-Identifier: BSL-1.0
// Gradients of blocks, norms, positions, losses and a classifier against torch.
#include "gradients.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T>
using sequences = tensor<T, batch<2>, token<3>, hidden<4>>;

template <class T>
void encoder_norms_first() {
  namespace g = golden::gradient_of_encoder_norms_first;
  using layer = encoder_layer<T, hidden<4>, heads<2>, intermediate<5>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>>;
  constexpr formula f = [](auto dy, auto a, const auto& w, auto lengths) {
    return sum<batch, token, hidden>(dy * layer{w}(a, lengths & causal));
  };
  check_gradients<sequences<T>, sequences<T>, typename layer::weights>(
      "norms first", g::seed, g::answer, f, tensor<int, batch<2>>{3, 2});
}
BOOST_AUTO_TEST_CASE(of_encoder_norms_first) {
  encoder_norms_first<float>(), encoder_norms_first<double>();
}

// The same layer as a list of parts has the same gradients. (Its weights lie in base classes,
// between which clang knows no order of addresses.)
BOOST_AUTO_TEST_CASE(of_the_encoder_as_a_list_of_parts) {
  using namespace block_parts;
  using layer = encoder_layer<float, hidden<4>, heads<2>, intermediate<5>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>>;
  using block = residual_block<
      float, hidden<4>,
      pre_norm<name::norm1, self_attention<name::attention, heads<2>, bias<true>>>,
      pre_norm<name::norm2, feed_forward_network<name::feed_forward, intermediate<5>,
                                                 activation<gelu_tanh>, bias<true>>>>;
  static layer::weights w, dw;
  static block::weights v, dv;
  lcg next{7};
  auto x = drawn<tensor<float, token<3>, hidden<4>>>(next);
  each_array(w, [&](auto part) { draw(next, part); });
  v.norm1 = w.norm1, v.norm2 = w.norm2, v.attention = w.attention, v.feed_forward = w.feed_forward;
  constexpr formula of_layer = [](auto a, const auto& weights) {
    const auto y = layer{weights}(a, causal);
    return sum<token, hidden>(y * y);
  };
  constexpr formula of_block = [](auto a, const auto& weights) {
    const auto y = block{weights}(a, causal);
    return sum<token, hidden>(y * y);
  };
  constexpr gradient learn_layer{of_layer};
  constexpr gradient learn_block{of_block};
  const auto of_the_layer = learn_layer(x, with_gradient(w, dw));
  BOOST_TEST(learn_block(x, with_gradient(v, dv))() == of_the_layer());
  const auto equal = [](const auto& a, const auto& b) {
    return __builtin_memcmp(&a, &b, sizeof(a)) == 0;
  };
  BOOST_TEST(equal(dv.norm1, dw.norm1));
  BOOST_TEST(equal(dv.norm2, dw.norm2));
  BOOST_TEST(equal(dv.attention, dw.attention));
  BOOST_TEST(equal(dv.feed_forward, dw.feed_forward));
}

template <class T>
void encoder_norms_last() {
  namespace g = golden::gradient_of_encoder_norms_last;
  using x = tensor<T, token<3>, hidden<4>>;
  using layer = encoder_layer<T, hidden<4>, heads<2>, intermediate<5>, norm_first<false>,
                              activation<relu>, bias<true>>;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<token, hidden>(dy * layer{w}(a));
  };
  check_gradients<x, x, typename layer::weights>("norms last", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_encoder_norms_last) {
  encoder_norms_last<float>(), encoder_norms_last<double>();
}

template <class T>
void gated_encoder() {
  namespace g = golden::gradient_of_gated_encoder;
  using x = tensor<T, token<3>, hidden<8>>;
  using layer = encoder_layer<T, hidden<8>, heads<2>, intermediate<3>, norm_first<true>,
                              norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>,
                              gated<true>, bias<false>, kv_heads<1>, rope<split_halves>>;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<token, hidden>(dy * layer{w}(a, causal));
  };
  check_gradients<x, x, typename layer::weights>("gated", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_gated_encoder) { gated_encoder<float>(), gated_encoder<double>(); }

template <class T>
void decoder() {
  namespace g = golden::gradient_of_decoder;
  using memory = tensor<T, batch<2>, key<2>, hidden<4>>;
  using layer = decoder_layer<T, hidden<4>, heads<2>, intermediate<3>, norm_first<true>,
                              activation<gelu_exact>, bias<true>>;
  constexpr formula f = [](auto dy, auto a, auto m, const auto& w, auto lengths) {
    return sum<batch, token, hidden>(dy * layer{w}(a, m, lengths, self_mask(causal)));
  };
  check_gradients<sequences<T>, sequences<T>, memory, typename layer::weights>(
      "decoder", g::seed, g::answer, f, tensor<int, batch<2>>{1, 2});
}
BOOST_AUTO_TEST_CASE(of_decoder) { decoder<float>(), decoder<double>(); }

template <class T>
void norms() {
  namespace g = golden::gradient_of_norms;
  using x = tensor<T, token<3>, hidden<7>>;
  using centered = layer_norm<T, hidden<7>>;
  using rms = rms_norm<T, hidden<7>>;
  constexpr formula f = [](auto dy, auto a, const auto& v, const auto& w) {
    return sum<token, hidden>(dy * (centered(v, T(1e-5))(a) + rms(w, T(1e-5))(a)));
  };
  check_gradients<x, x, typename centered::weights, typename rms::weights>("norms", g::seed,
                                                                           g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_norms) { norms<float>(), norms<double>(); }

template <class T>
struct placed {
  using table = learned_positions<T, token<3>, hidden<4>>;
  static constexpr const char* part_names[] = {"positions"};
  typename table::weights positions;
};
template <class T>
void positions() {
  namespace g = golden::gradient_of_positions;
  constexpr formula f = [](auto dy, auto a, const auto& w) {
    return sum<batch, token, hidden>(dy * typename placed<T>::table{w.positions}(a));
  };
  check_gradients<sequences<T>, sequences<T>, placed<T>>("positions", g::seed, g::answer, f);
}
BOOST_AUTO_TEST_CASE(of_positions) { positions<float>(), positions<double>(); }

template <class T>
void losses() {
  namespace g = golden::gradient_of_losses;
  using logits = tensor<T, batch<2>, token<3>, classes<5>>;
  constexpr formula f = [](auto dy, auto a, auto b, auto label, auto other) {
    return dy * (cross_entropy<classes, label_smoothing<1, 10>>(a, label) +
                 cross_entropy<classes, ignored_label<0>>(b, other) + mean_squared_error(a, b));
  };
  check_gradients<tensor<T>, logits, logits>("losses", g::seed, g::answer, f,
                                             tensor<int, batch<2>, token<3>>{4, 0, 2, -100, 2, 1},
                                             tensor<int, batch<2>, token<3>>{4, 0, 2, 0, 2, 1});
}
BOOST_AUTO_TEST_CASE(of_losses) { losses<float>(), losses<double>(); }

template <class T>
void tied_embedding() {
  namespace g = golden::gradient_of_tied_embedding;
  using table = tensor<T, vocabulary<5>, hidden<4>>;
  constexpr formula f = [](auto dy, auto words, auto ids) {
    const auto logits = contract<hidden>(lookup(words, ids), words);
    return sum<token, vocabulary>(dy * log_softmax<vocabulary>(logits));
  };
  check_gradients<tensor<T, token<3>, vocabulary<5>>, table>("tied embedding", g::seed, g::answer,
                                                             f, tensor<int, token<3>>{3, 0, 3});
}
BOOST_AUTO_TEST_CASE(of_tied_embedding) { tied_embedding<float>(), tied_embedding<double>(); }

// Words, positions and logits by one table.
template <class T>
struct dictionary {
  using words = embedding<T, vocabulary<5>, hidden<4>>;
  static constexpr const char* part_names[] = {"table"};
  typename words::weights table;
};
template <class T>
void embedded() {
  namespace g = golden::gradient_of_embedding;
  constexpr formula f = [](auto dy, const auto& w, auto ids) {
    constexpr sinusoidal_positions<T, token<3>, hidden<4>, adjacent_pairs> places{};
    const typename dictionary<T>::words words{w.table};
    const auto logits = words.logits(tanh(places(words(ids) * 2)));
    return sum<batch, token, vocabulary>(dy * log_softmax<vocabulary>(logits));
  };
  check_gradients<tensor<T, batch<2>, token<3>, vocabulary<5>>, dictionary<T>>(
      "embedding", g::seed, g::answer, f, tensor<int, batch<2>, token<3>>{3, 0, 3, 1, 4, 2});
}
BOOST_AUTO_TEST_CASE(of_embedding) { embedded<float>(), embedded<double>(); }

template <class T>
struct classifier {
  using places = learned_positions<T, token<3>, hidden<4>>;
  using encoder = encoder_layer<T, hidden<4>, heads<2>, intermediate<5>, norm_first<true>,
                                activation<gelu_exact>, bias<true>>;
  using head = linear<T, hidden<4>, classes<3>, bias<true>>;
  struct weights {
    static constexpr const char* part_names[] = {"positions", "encode", "classify"};
    typename places::weights positions;
    typename encoder::weights encode;
    typename head::weights classify;
  };
};
template <class T>
void whole_classifier() {
  namespace g = golden::gradient_of_classifier;
  using model = classifier<T>;
  constexpr formula f = [](auto dy, auto words, const auto& w, auto ids, auto lengths, auto label) {
    const auto x = typename model::places{w.positions}(lookup(words, ids));
    const auto y = typename model::encoder{w.encode}(x, lengths);
    return dy * cross_entropy<classes>(mean<token>(y) * w.classify, label);
  };
  check_gradients<tensor<T>, tensor<T, vocabulary<5>, hidden<4>>, typename model::weights>(
      "classifier", g::seed, g::answer, f, tensor<int, batch<2>, token<3>>{3, 0, 3, 1, 4, 2},
      tensor<int, batch<2>>{3, 2}, tensor<int, batch<2>>{2, 0});
}
BOOST_AUTO_TEST_CASE(of_a_classifier) { whole_classifier<float>(), whole_classifier<double>(); }

}  // namespace
