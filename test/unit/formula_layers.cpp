// SPDX-License-Identifier: BSL-1.0
// Layers in formulas: their bits, in whatever form their weights are, wherever they come from.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

namespace {

template <class X, class Y>
bool same_bits(const X& x, const Y& y) {
  static_assert(std::is_same_v<X, Y>);
  return std::memcmp(x.data(), y.data(), sizeof x) == 0;
}

unsigned seed = 1;
template <class X>
void fill(X& x) {
  for (float& f : x) {
    seed = seed * 1664525u + 1013904223u;
    f = static_cast<float>(seed >> 8) * 0x1p-24f - 0.5f;
  }
}
template <class... Map>
void fill_maps(Map&... map) {
  (fill(map.weight), ...);
  (fill(map.bias), ...);
}

using tokens = tensor<float, batch<2>, token<7>, hidden<20>>;
using lengths = tensor<int, batch<2>>;
template <bool First>
using encoder_of = encoder_layer<float, hidden<20>, heads<4>, intermediate<24>, norm_first<First>,
                                 activation<relu>, bias<true>>;
using encoder = encoder_of<true>;
using decoder = decoder_layer<float, hidden<20>, heads<4>, intermediate<24>, norm_first<true>,
                              activation<gelu_tanh>, bias<true>>;
using attention = encoder::attention;
using network = encoder::feed_forward;
using norm = layer_norm<float, hidden<20>>;
using mean_square_norm = rms_norm<float, hidden<20>>;
using classifier = linear<float, hidden<20>, classes<3>, bias<true>>;
using positions = learned_positions<float, token<7>, hidden<20>>;

void fill_layer(encoder::weights& w) {
  fill(w.norm1.gamma), fill(w.norm1.beta), fill(w.norm2.gamma), fill(w.norm2.beta);
  fill_maps(w.attention.q, w.attention.k, w.attention.v, w.attention.o, w.feed_forward.up,
            w.feed_forward.down);
}

struct two_encoders {
  encoder::weights first, second;
};
struct layers {
  attention attend;
  norm norm1, norm2;
  network feed;
};

constexpr formula called = [](auto x, const auto& f) { return f(x); };
constexpr formula pre_norm_block = [](auto x, const auto& w) {
  auto y = x + attention{w.attention}(norm{w.norm1}(x), causal);
  return y + network{w.feed_forward}(norm{w.norm2}(y));
};

struct fixture {
  encoder::weights w;
  tokens x;
  lengths lens{3, 9};
  fixture() { fill_layer(w), fill(x); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(layers_in_formulas, fixture)

BOOST_AUTO_TEST_CASE(an_argument_is_a_layer) {
  mean_square_norm::weights gamma;
  classifier::weights map;
  positions::weights table;
  fill(gamma.gamma), fill_maps(map), fill(table);
  const auto has_its_bits = [&](const auto& layer) {
    const auto wanted = layer(x);
    return same_bits(called(x, layer), wanted) && same_bits(plain(called)(x, layer), wanted);
  };
  BOOST_TEST(has_its_bits(norm{w.norm1}));
  BOOST_TEST(has_its_bits(norm(w.norm1, 0.25f)));
  BOOST_TEST(has_its_bits(mean_square_norm(gamma, 1e-3f)));
  BOOST_TEST(has_its_bits(classifier{map}));
  BOOST_TEST(has_its_bits(prepacked<classifier>{map}));
  BOOST_TEST(has_its_bits(prepacked<norm>(w.norm1, 0.25f)));
  BOOST_TEST(has_its_bits(prepacked<mean_square_norm>(gamma, 1e-3f)));
  BOOST_TEST(has_its_bits(positions{table}));
  BOOST_TEST(has_its_bits(prepacked<positions>{table}));
  BOOST_TEST(has_its_bits(prepacked<positions, stored_as<bfloat16>>{table}));
  BOOST_TEST(has_its_bits(network{w.feed_forward}));
  BOOST_TEST(has_its_bits(prepacked<network>{w.feed_forward}));
  BOOST_TEST(has_its_bits(attention{w.attention}));
  BOOST_TEST(has_its_bits(prepacked<attention>{w.attention}));
  BOOST_TEST(has_its_bits(encoder{w}));
  BOOST_TEST(has_its_bits(prepacked<encoder>{w}));
  BOOST_TEST(has_its_bits(prepacked<encoder, stored_as<bfloat16>>{w}));
  BOOST_TEST(has_its_bits(prepacked<encoder, stored_as<std::int8_t>>{w}));
  BOOST_TEST(has_its_bits(prepacked<classifier, stored_as<std::int8_t>>{map}));
  BOOST_TEST(has_its_bits(prepacked<positions, stored_as<std::int8_t>>{table}));
  using sines = sinusoidal_positions<float, token<9>, hidden<20>, adjacent_pairs>;
  constexpr formula placed = [](auto a) { return a | sines{}; };
  BOOST_TEST(same_bits(placed(x), sines{}(x)));
}

// From words to the logits of an output that is tied to them, in one formula.
BOOST_AUTO_TEST_CASE(an_embedding_and_its_logits) {
  using embed = embedding<float, vocabulary<11>, hidden<20>>;
  struct model {
    embed::weights words;
    norm::weights last;
  };
  static model of;
  fill(of.words), fill(of.last.gamma), fill(of.last.beta);
  const tensor<int, batch<2>, token<3>> ids{3, 0, 10, 11, -1, 2};  // some outside of the table
  const embed words{of.words};
  const auto rows = words(ids);
  const auto logits = words.logits(norm{of.last}(rows));
  constexpr formula embedded = [](auto at, const auto& w) { return embed{w.words}(at); };
  BOOST_TEST(same_bits(embedded(ids, of), rows));
  BOOST_TEST(same_bits(plain(embedded)(ids, of), rows));
  constexpr formula whole = [](auto at, const auto& w) {
    const embed e{w.words};
    return e.logits(norm{w.last}(e(at)));
  };
  BOOST_TEST(same_bits(whole(ids, of), logits));
  BOOST_TEST(same_bits(plain(whole)(ids, of), logits));
  // The layer an argument, packed too; integers of another type, in another order.
  constexpr formula scaled = [](auto at, const auto& e) {
    return e.logits(e(at | permute<token, batch>) * 0.5f);
  };
  const tensor<unsigned char, batch<2>, token<3>> bytes{3, 0, 10, 11, 255, 2};
  const auto turned = bytes | permute<token, batch>;
  const auto has_its_bits = [&](const auto& layer) {
    const auto wanted = layer.logits(layer(turned) * 0.5f);
    return same_bits(scaled(bytes, layer), wanted) &&
           same_bits(plain(scaled)(bytes, layer), wanted);
  };
  BOOST_TEST(has_its_bits(words));
  static const prepacked<embed> packed{of.words};
  static const prepacked<embed, stored_as<bfloat16>> half{of.words};
  static const prepacked<embed, stored_as<std::int8_t>> eighth{of.words};
  BOOST_TEST(has_its_bits(packed));
  BOOST_TEST(has_its_bits(half));
  BOOST_TEST(has_its_bits(eighth));
}

BOOST_AUTO_TEST_CASE(layers_are_made_of_parts) {
  constexpr formula of_vectors = [](auto a, const auto& of) {
    auto made = norm({of.norm1.gamma, of.norm2.beta}, 0.125f);
    return made(a);
  };
  const norm::weights_view mixed(w.norm1.gamma, w.norm2.beta);
  BOOST_TEST(same_bits(of_vectors(x, w), norm(mixed, 0.125f)(x)));
  constexpr formula of_maps = [](auto a, const auto& of) {
    return attention{{of.q, of.q, of.v, of.o}}(a);
  };
  const attention::weights_view maps(w.attention.q, w.attention.q, w.attention.v, w.attention.o);
  BOOST_TEST(same_bits(of_maps(x, w.attention), attention{maps}(x)));
}

BOOST_AUTO_TEST_CASE(an_encoder_layer_is_a_formula) {
  const tokens wanted = encoder{w}(x, causal);
  BOOST_TEST(same_bits(pre_norm_block(x, w), wanted));
  BOOST_TEST(same_bits(plain(pre_norm_block)(x, w), wanted));
  BOOST_TEST(same_bits(pre_norm_block(x, encoder::weights_view(w)), wanted));
  static const prepacked<encoder> packed(w);
  constexpr formula of_packed = [](auto a, const auto& f) { return f(a, causal); };
  BOOST_TEST(same_bits(of_packed(x, packed), wanted));
  // The layers themselves are members.
  const layers of{attention{w.attention}, norm{w.norm1}, norm{w.norm2}, network{w.feed_forward}};
  constexpr formula of_layers = [](auto a, const auto& l) {
    auto y = a + l.attend(l.norm1(a), causal);
    return l.feed(l.norm2(y)) + y;
  };
  BOOST_TEST(same_bits(of_layers(x, of), wanted));
  using post_norm = encoder_of<false>;
  constexpr formula post_norm_block = [](auto a, const auto& of) {
    auto y = norm{of.norm1}(a + attention{of.attention}(a));
    return norm{of.norm2}(y + network{of.feed_forward}(y));
  };
  BOOST_TEST(same_bits(post_norm_block(x, w), post_norm{w}(x)));
}

BOOST_AUTO_TEST_CASE(a_stack_of_two) {
  static two_encoders of;
  fill_layer(of.first), fill_layer(of.second);
  const tokens wanted = encoder{of.second}(encoder{of.first}(x, causal), causal);
  constexpr formula formulas = [](auto a, const auto& both) {
    return pre_norm_block(pre_norm_block(a, both.first), both.second);
  };
  BOOST_TEST(same_bits(formulas(x, of), wanted));
  constexpr formula layers = [](auto a, const auto& both) {
    return encoder{both.second}(encoder{both.first}(a, causal), causal);
  };
  // Their scratch is one: that of a layer, what is between them, and the result, which is copied
  // where out is not row-major.
  static workspace_for<decltype(layers), tokens, two_encoders> work;
  static_assert(sizeof work <= sizeof(workspace_for<encoder, tokens>) + 2 * sizeof(tokens) + 64);
  tokens out;
  layers.into(out, x, of, work);
  BOOST_TEST(same_bits(out, wanted));
}

BOOST_AUTO_TEST_CASE(masks_of_types_and_lengths) {
  const tensor<long long, batch<2>, query<7>> by_query{1,  2, 3, 4, 5,       6, 7,
                                                       -3, 0, 1, 2, 1000000, 5, 4};
  const attention layer{w.attention};
  const auto has_its_bits = [&]<class Mask>(const auto& with_mask, const Mask& lengths_given,
                                            const auto& mask) {
    return same_bits(with_mask(x, layer, lengths_given), layer(x, mask)) &&
           same_bits(plain(with_mask)(x, layer, lengths_given), layer(x, mask));
  };
  constexpr formula constant = [](auto a, const auto& f, auto) {
    return f(a, causal & sliding_window<3> & alibi);
  };
  constexpr formula of_lengths = [](auto a, const auto& f, auto l) { return f(a, l); };
  constexpr formula both = [](auto a, const auto& f, auto l) { return f(a, l & causal & alibi); };
  constexpr formula both_turned = [](auto a, const auto& f, auto l) { return f(a, causal & l); };
  BOOST_TEST(has_its_bits(constant, lens, causal & sliding_window<3> & alibi));
  BOOST_TEST(has_its_bits(of_lengths, lens, lens));
  BOOST_TEST(has_its_bits(of_lengths, by_query, by_query));
  BOOST_TEST(has_its_bits(both, lens, lens & causal & alibi));
  BOOST_TEST(has_its_bits(both_turned, by_query, causal & by_query));
  BOOST_TEST(same_bits(both(x, encoder{w}, lens), encoder{w}(x, lens & causal & alibi)));
}

BOOST_AUTO_TEST_CASE(queries_to_keys_and_values) {
  tensor<float, batch<2>, query<5>, hidden<20>> q;
  tensor<float, hidden<20>, batch<2>, key<9>> of_keys;
  fill(q), fill(of_keys);
  const auto k = of_keys | permute<batch, key, hidden>;
  constexpr formula attend = [](auto a, auto b, const auto& f, auto l) { return f(a, b, b, l); };
  BOOST_TEST(
      same_bits(attend(q, k, attention{w.attention}, lens), attention{w.attention}(q, k, k, lens)));
  using additive = additive_attention<float, hidden<20>, score_hidden<6>>;
  static additive::weights of;
  fill(of.q.weight), fill(of.k.weight), fill(of.score);
  BOOST_TEST(same_bits(attend(q, k, additive{of}, lens), additive{of}(q, k, k, lens)));
  BOOST_TEST(same_bits(attend(q, k, prepacked<additive>{of}, lens), additive{of}(q, k, k, lens)));
}

BOOST_AUTO_TEST_CASE(a_decoder_layer) {
  static decoder::weights of{w.norm1, w.attention, w.norm2, w.attention, w.norm1, w.feed_forward};
  tensor<float, batch<2>, key<9>, hidden<20>> memory;
  fill(memory);
  const lengths own{2, 5};
  const decoder layer{of};
  constexpr formula plain_memory = [](auto a, auto m, const auto& f) {
    return f(a, m, self_mask(causal));
  };
  constexpr formula both = [](auto a, auto m, const auto& f, auto of_memory, auto of_own) {
    return f(a, m, of_memory, self_mask(of_own & causal));
  };
  constexpr formula own_only = [](auto a, auto m, const auto& f, auto of_own) {
    return f(a, m, all_keys, self_mask(of_own));
  };
  BOOST_TEST(same_bits(plain_memory(x, memory, layer), layer(x, memory, self_mask(causal))));
  BOOST_TEST(same_bits(both(x, memory, layer, lens, own),
                       layer(x, memory, lens, self_mask(own & causal))));
  BOOST_TEST(same_bits(own_only(x, memory, layer, own), layer(x, memory, self_mask(own))));
}

// In whichever order a compiler evaluates operands.
BOOST_AUTO_TEST_CASE(layers_are_known_by_their_place) {
  const layers of{attention{w.attention}, norm{w.norm1}, norm{w.norm2}, network{w.feed_forward}};
  constexpr formula of_layers = [](auto a, const auto& l) {
    return l.norm1(a) - l.norm2(a) * 2 + l.feed(a) / (l.attend(a) - l.norm2(l.norm1(a)));
  };
  constexpr formula of_results = [](auto a, auto b, auto c, auto d, auto e) {
    return a - b * 2 + c / (d - e);
  };
  BOOST_TEST(same_bits(of_layers(x, of), of_results(of.norm1(x), of.norm2(x), of.feed(x),
                                                    of.attend(x), of.norm2(of.norm1(x)))));
}

BOOST_AUTO_TEST_CASE(operands_of_any_strides_and_size_1) {
  // What a layer takes with gaps it takes here.
  static tensor<float, token<1>, hidden<24>, batch<1>> large;
  fill(large);
  const auto part = large | slice<hidden, from<3>, extent<20>> | permute<batch, token, hidden>;
  BOOST_TEST(same_bits(called(part, attention{w.attention}), attention{w.attention}(part)));
  constexpr formula of_steps = [](auto a, const auto& f) {
    return f(contiguous(a | permute<token, batch, hidden>) | permute<batch, token, hidden>);
  };
  BOOST_TEST(same_bits(of_steps(x, attention{w.attention}), attention{w.attention}(x)));
}

BOOST_AUTO_TEST_CASE(constants) {
  using small = layer_norm<float, hidden<4>>;
  using small_attention = multi_head_attention<float, hidden<4>, heads<2>>;
  struct model {
    small::weights norm{{1, 2, 3, 4}, {0.5f, 0, -0.5f, 1}};
    small_attention::weights attention{};
  };
  constexpr auto value = [] {
    model of;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        of.attention.q(i, j) = of.attention.k(j, i) = of.attention.v(i, j) = of.attention.o(i, j) =
            static_cast<float>(i - 2 * j) * 0.25f;
    const tensor<float, token<3>, hidden<4>> a{1, 2, 3, 4, -1, 0, 2, 1, 0.5f, 0, 0, 7};
    constexpr formula block = [](auto b, const auto& weights) {
      return b + small_attention{weights.attention}(small{weights.norm}(b), causal);
    };
    return block(a, of) - (a + small_attention{of.attention}(small{of.norm}(a), causal));
  }();
  BOOST_TEST(same_bits(value, tensor<float, token<3>, hidden<4>>{}));
}

BOOST_AUTO_TEST_CASE(double_too) {
  using attend = multi_head_attention<double, hidden<6>, heads<2>>;
  static attend::weights of;
  for (auto* map : {&of.q, &of.k, &of.v, &of.o})
    for (double& f : map->weight) f = (seed = seed * 1664525u + 1) * 0x1p-33;
  const tensor<double, token<2>, hidden<6>> a{1, 2, 3, 4, 5, 6, -1, -2, -3, 4, 5, 6};
  BOOST_TEST(same_bits(called(a, attend{of}), attend{of}(a)));
}

// Where the only tensors are integers, a formula computes in the type of the weights.
namespace in_double {
using table = embedding<double, vocabulary<5>, hidden<6>>;
using block = encoder_layer<double, hidden<6>, heads<2>, intermediate<4>, norm_first<true>,
                            activation<relu>, bias<true>>;
using blocks_of_two = layer_stack<block, 2>;
using map = linear<double, hidden<6>, classes<3>, bias<false>>;
struct model {
  static constexpr const char* part_names[] = {"rows", "blocks", "maps"};
  table::weights rows;
  blocks_of_two::weights blocks;
  map::weights maps[2];
};
}  // namespace in_double

BOOST_AUTO_TEST_CASE(double_by_the_weights) {
  using namespace in_double;
  static model of;
  const auto numbers = [](auto& x) {
    for (double& f : x) f = (seed = seed * 1664525u + 1013904223u) * 0x1p-33;
  };
  numbers(of.rows);
  for (auto* to : {&of.maps[0], &of.maps[1]}) numbers(to->weight);
  for (auto& layer : of.blocks.layers) {
    for (auto* to :
         {&layer.attention.q, &layer.attention.k, &layer.attention.v, &layer.attention.o})
      numbers(to->weight);
    numbers(layer.norm1.gamma), numbers(layer.norm2.gamma);
    numbers(layer.feed_forward.up.weight), numbers(layer.feed_forward.down.weight);
  }
  const tensor<int, token<4>> ids{3, 0, 4, 3};
  const tensor<int> length{3};
  constexpr formula classify = [](auto at, auto seen, const auto& w) {
    return (blocks_of_two{w.blocks}(table{w.rows}(at), seen) * w.maps[0]) * 0.5;
  };
  const auto y = (blocks_of_two{of.blocks}(table{of.rows}(ids), length) * of.maps[0]) * 0.5;
  BOOST_TEST(same_bits(classify(ids, length, of), y));
  static workspace_for<decltype(classify), tensor<int, token<4>>, tensor<int>, model> work;
  BOOST_TEST(same_bits(classify(ids, length, of, work), y));

  // Layers as arguments: one that refers to its weights, and one that owns them, packed.
  constexpr formula rows = [](auto at, const auto& words) { return words(at); };
  const table words{of.rows};
  BOOST_TEST(same_bits(rows(ids, words), words(ids)));
  BOOST_TEST(same_bits(rows(ids, prepacked<table>{of.rows}), words(ids)));
  constexpr formula mapped = [](auto at, const auto& w, const auto& m) {
    return m(table{w.rows}(at));
  };
  BOOST_TEST(same_bits(mapped(ids, of, prepacked<map>{of.maps[1]}), words(ids) * of.maps[1]));
}

BOOST_AUTO_TEST_SUITE_END()
