// SPDX-License-Identifier: BSL-1.0
// Gradients of formulas: against differences of the formula itself, in double; their definition in
// readable loops, bit for bit; that they are added, and of what is asked for alone.
#include "gradient_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

using tokens = tensor<double, token<5>, hidden<6>>;
using sequences = tensor<double, batch<2>, token<5>, hidden<8>>;

BOOST_AUTO_TEST_CASE(functions_of_elements) {
  lcg next;
  tokens x, y;
  draw(next, x, 3.0), draw(next, y, 2.0);
  constexpr formula f = [](auto a, auto b) {
    const auto p = a * a + 0.5f;
    auto r = exp(a * 0.3f) + log(p) * b + sqrt(p) / (b * b + 1.0f) - rsqrt(p) * tanh(b);
    r = r + sigmoid(a) * abs(b) + (a | gelu_exact) - (b | gelu_tanh) + (a | silu) * (b | relu);
    r = r + maximum(a, b) * minimum(b, 1.0f) + where(a < b && b < 1.0f, a * b, b - a) - (-a) * b;
    return sum<token, hidden>(r * (position<token> - position<hidden> * 0.5f));
  };
  check(f, x, y);
}

BOOST_AUTO_TEST_CASE(powers_waves_and_bounds) {
  lcg next;
  tokens x, y;
  draw(next, x, 3.0), draw(next, y, 2.0);
  constexpr formula f = [](auto a, auto b) {
    const auto p = a * a + 0.5f;
    auto r = sin(a) * cos(b) + erf(a) * b - (a | elu) * softplus(b) + log_sigmoid(a * b);
    r = r + pow(p, b) + pow(0.75f, position<token>) * pow(a, 3) + floor(position<token> / 2) * b;
    r = r + clamp(a, b - 1.0f, b + 1.0f) + clamp(b, -1, 1) * a + a % 7 + (position<hidden> % 2) * b;
    return sum<token, hidden>(r * r);
  };
  check(f, x, y);
}

BOOST_AUTO_TEST_CASE(axes_that_move) {
  lcg next;
  tokens x;
  tensor<double, hidden<6>, classes<4>> y;
  draw(next, x), draw(next, y);
  constexpr formula f = [](auto a, auto b) {
    const auto h = a | split<hidden, heads<3>, head_dim> | permute<heads, token, head_dim>;
    const auto m = h | permute<token, heads, head_dim> | merge<heads, head_dim, hidden>;
    const auto part = m | slice<hidden, from<1>, extent<4>>;
    const auto row = a | select_at<token, 2>;
    const auto both = concat<token>(a, m * 2.0f | roll<token, 3>);
    const auto product = contract<hidden>(both, b);
    const auto scaled = mean<token>(product) + max<token>(product) - min<token>(product);
    return sum<classes>(scaled * scaled) + sum<token, hidden>(part * part * part) +
           sum<hidden, classes>(row * b) + sum<heads, token, head_dim>(h * h) +
           mean<token, hidden>(a * sum<classes>(b)) + variance<hidden, token>(a) +
           sum<head_dim>(variance<heads, token>(h) * variance<token>(h | select_at<heads, 1>));
  };
  check(f, x, y);
}

BOOST_AUTO_TEST_CASE(sums_up_to_positions_and_elements_by_rank) {
  lcg next;
  tensor<double, token<5>, hidden<6>> x, y;
  draw(next, x), draw(next, y);
  constexpr formula f = [](auto a, auto b) {
    const auto decay = cumulative_sum<token>(log_sigmoid(a));
    const auto after = cumulative_sum<hidden, exclusive, from_last>(a * b);
    const auto kept = where(b < kth_largest<2, hidden>(b), 0, b);
    const auto third = kth_largest<3, token>(a) * kth_largest<1, token>(b);
    return sum<token, hidden>(exp(decay) * after + (a | flip<hidden, token>)*kept) +
           sum<hidden>(third);
  };
  check(f, x, y);
}

BOOST_AUTO_TEST_CASE(products_of_elements) {
  lcg next;
  tensor<double, token<3>, key<2>, hidden<4>> x, y;
  draw(next, x), draw(next, y);
  x(1, 0, 2) = 0;  // one zero in its products, two in those of the next
  x(0, 1, 3) = x(2, 1, 3) = 0;
  constexpr formula f = [](auto a, auto b) {
    const auto turned = a | permute<hidden, token, key>;
    const auto products = product<token>(a) + product<token>(turned | select_at<key, 1>);
    return sum<key, hidden>(products * products) + product<hidden, key, token>(b + 1) +
           sum<token, hidden>(exp(product<key>(turned * b)));
  };
  check(f, x, y);
}

BOOST_AUTO_TEST_CASE(windows_that_overlap) {
  lcg next;
  tokens x;
  tensor<double, kernel_size<3>, hidden<6>, classes<4>> w;
  draw(next, x), draw(next, w);
  constexpr formula f = [](auto a, auto b) {
    const auto p = a | padded<token, before<1>, after<2>>;
    const auto y = contract<kernel_size, hidden>(p | windows<token, kernel_size<3>, stride<2>>, b);
    const auto of_each = contract<kernel_size>(a * a | windows<token, kernel_size<3>, dilation<2>>,
                                               b | select_at<classes, 1>);
    const auto most = max<kernel_size>(a | windows<hidden, kernel_size<2>, stride<2>>);
    const auto both = a | windows<token, kernel_size<2>> | windows<hidden, classes<4>>;
    return sum<token, classes>(y * y) + sum<token, hidden>(of_each * of_each * of_each) +
           sum<token, hidden>(most * most) + sum<token, kernel_size, hidden, classes>(both * both);
  };
  check(f, x, w);
}

BOOST_AUTO_TEST_CASE(attention_in_words) {
  lcg next;
  tensor<double, heads<3>, query<5>, head_dim<4>> q;
  tensor<double, heads<3>, key<7>, head_dim<4>> k;
  tensor<double, heads<3>> slopes;
  tensor<bool, query<5>, key<7>> seen;
  draw(next, q), draw(next, k), draw(next, slopes);
  for (bool& s : seen) s = next() < 0.5f;
  for (std::size_t j = 0; j < 7; ++j) seen(3, j) = false;  // a query that sees nothing
  constexpr formula f = [](auto a, auto b, auto v, auto s, auto kept) {
    const auto scores = contract<head_dim>(a, b) * 0.5f + s * (position<key> - position<query>);
    const auto p = softmax<key>(hide(scores, !kept));
    const auto o = contract<key>(p, v);
    return sum<heads, query, head_dim>(o * o);
  };
  const auto v = k;
  check<true>(f, q, k, v, slopes, seen);
  // By the slopes, which are repeated along axes that positions have.
  constexpr formula by_slopes = [](auto s, auto a, auto b, auto kept) {
    const auto scores = contract<head_dim>(a, b) * 0.5f + s * (position<key> - position<query>);
    const auto o = contract<key>(softmax<key>(hide(scores, !kept)), b);
    return sum<heads, query, head_dim>(o * o);
  };
  check<true>(by_slopes, slopes, q, k, seen);
}

// Keys that are left out have no gradient, and the sums over queries leave out queries.
BOOST_AUTO_TEST_CASE(weights_that_positions_set_to_zero) {
  lcg next;
  tensor<double, query<66>, head_dim<2>> q;
  tensor<double, key<70>, head_dim<2>> k;
  draw(next, q), draw(next, k);
  constexpr formula f = [](auto a, auto b) {
    const auto decay = exp((position<key> - position<query>)*0.125f);
    const auto later = position<key> > position<query> + 1;
    const auto near = position<key> + 66 > position<query>;
    const auto w = where(later, 0, contract<head_dim>(a, b) * decay) * near;
    const auto o = contract<key>(w, b);
    return sum<query, head_dim>(o * o);
  };
  check(f, q, k);
}

BOOST_AUTO_TEST_CASE(tables_and_angles) {
  lcg next;
  tensor<double, vocabulary<9>, hidden<6>> table;
  tensor<double, token<4>, hidden<6>> y;
  tensor<int, token<4>> ids{3, 8, 3, 0};
  tensor<double, token<4>, hidden<3>> cosines, sines;
  draw(next, table), draw(next, y), draw(next, cosines), draw(next, sines);
  constexpr formula f = [](auto t, auto b, auto i, auto c, auto s) {
    const auto x = rotate<split_halves, hidden>(lookup(t, i), c, s) * b;
    const auto logits = contract<hidden>(x, t) | log_softmax<vocabulary>;
    return sum<token, vocabulary>(where(one_hot<vocabulary<9>>(i) == 1.0f, -logits, 0.0f));
  };
  check(f, table, y, ids, cosines, sines);
}

BOOST_AUTO_TEST_CASE(rotated_by_position) {
  lcg next;
  sequences x;
  tensor<double, heads<2>, key<5>, head_dim<6>> y;
  draw(next, x), draw(next, y);
  constexpr formula f = [](auto a, auto b) {
    const auto q = a | select_at<batch, 1> | slice<hidden, from<2>, extent<6>>;
    const auto turned = rotate<split_halves, token, hidden>(q);
    const auto in_part =
        b | permute<key, heads, head_dim> | rotate<rope<adjacent_pairs, 100, 4>, key, head_dim>();
    return sum<token, hidden>(turned * turned * q) +
           sum<key, heads, head_dim>(in_part * tanh(in_part) * position<key>);
  };
  check(f, x, y);
}

// ---- parts of weights ---------------------------------------------------------------------------
using square = linear<double, hidden<6>, hidden<6>, bias<true>>;
struct parts {
  static constexpr const char* part_names[] = {"table", "row", "maps"};
  using layer = square;  // a name that is not taken
  tensor<double, token<7>, hidden<9>> table;
  tensor<double, hidden<6>> row;
  layer::weights maps[2];
};

// A gradient belongs to the argument that the formula used, not to what its memory is.
BOOST_AUTO_TEST_CASE(one_object_as_two_arguments) {
  lcg next;
  tokens x;
  parts w;
  draw(next, x), draw_weights(next, w);
  const parts copy = w;
  constexpr formula f = [](auto a, const auto& student, const auto& teacher) {
    const auto apart = tanh(a * student.maps[0]) - a * teacher.maps[0];
    return sum<token, hidden>(apart * apart * student.row);
  };
  constexpr gradient learn{f};
  parts of_student{}, of_teacher{}, g{}, h{}, alone{}, both{};
  (void)learn(x, with_gradient(w, of_student), with_gradient(copy, of_teacher));
  (void)learn(x, with_gradient(w, g), with_gradient(w, h));
  BOOST_TEST(same_bits(g, of_student));
  BOOST_TEST(same_bits(h, of_teacher));
  (void)learn(x, with_gradient(w, alone), w);
  BOOST_TEST(same_bits(alone, of_student));
  (void)learn(x, with_gradient(w, both), with_gradient(w, both));
  BOOST_TEST(furthest(w, both, [&] { return f(x, w, w)(); }) < 2e-8);
  // What is frozen is not computed, though the other is of its type.
  using work = workspace_for<decltype(learn), tokens, differentiated<parts>, parts>;
  using more = workspace_for<decltype(learn), tokens, differentiated<parts>, differentiated<parts>>;
  static_assert(sizeof(work) < sizeof(more));
}

// Views that the formula makes: of a part of a table, repeated, in any order; weights put together.
BOOST_AUTO_TEST_CASE(views_of_parts) {
  lcg next;
  tokens x;
  parts w;
  draw(next, x), draw_weights(next, w);
  constexpr formula f = [](auto a, const auto& all) {
    const auto part =
        all.table | slice<token, from<1>, extent<5>> | slice<hidden, from<2>, extent<6>>;
    const auto row = all.table | select_at<token, 6> | slice<hidden, from<0>, extent<6>>;
    const auto next_row = all.table | select_at<token, 6> | slice<hidden, from<1>, extent<6>>;
    square::weights_view mixed = all.maps[0];
    mixed.bias = all.maps[1].bias;
    const auto y = tanh(a * part) * row + a * next_row + tanh(a * mixed);
    return sum<token, hidden>(y * y * broadcast<token<5>, hidden<6>>(all.row));
  };
  check(f, x, w);
}

// Weights and their bias from two arguments, of which one is frozen.
BOOST_AUTO_TEST_CASE(a_bias_of_another_argument) {
  lcg next;
  tokens x;
  parts w, v;
  draw(next, x), draw_weights(next, w), draw_weights(next, v);
  constexpr formula f = [](auto a, const auto& one, const auto& two) {
    square::weights_view mixed = one.maps[0];
    mixed.bias = two.maps[0].bias;
    return sum<token, hidden>(tanh(a * mixed));
  };
  constexpr gradient learn{f};
  parts dw{}, dv{}, same_dw{}, same_dv{};
  (void)learn(x, with_gradient(w, dw), v);
  (void)learn(x, w, with_gradient(v, dv));
  BOOST_TEST(furthest(w, dw, [&] { return f(x, w, v)(); }) < 2e-8);
  BOOST_TEST(furthest(v, dv, [&] { return f(x, w, v)(); }) < 2e-8);
  (void)learn(x, with_gradient(w, same_dw), with_gradient(v, same_dv));
  BOOST_TEST(same_bits(dw, same_dw));
  BOOST_TEST(same_bits(dv, same_dv));
}

// Rows of an embedding, with the positions of a sequence added.
using dictionary = embedding<double, vocabulary<9>, hidden<6>>;
struct embedded {
  static constexpr const char* part_names[] = {"words"};
  dictionary::weights words;
};
BOOST_AUTO_TEST_CASE(embedding_and_sinusoidal_positions) {
  lcg next;
  tokens x;
  embedded w;
  tensor<int, token<5>> ids{3, 8, 3, 0, 9};  // the last is no word
  draw(next, x), draw_weights(next, w);
  constexpr formula f = [](auto a, const auto& all, auto i) {
    constexpr sinusoidal_positions<double, token<7>, hidden<6>, split_halves> place{};
    const auto y = place(a * dictionary{all.words}(i) * 2.0f);
    return sum<token, hidden>(y * y * a);
  };
  check(f, x, w, ids);
}

// ---- layers and blocks --------------------------------------------------------------------------
template <bool First>
using encoder_of = encoder_layer<double, hidden<8>, heads<4>, intermediate<10>, norm_first<First>,
                                 activation<gelu_tanh>, bias<true>, kv_heads<2>>;
using gated = encoder_layer<double, hidden<8>, heads<2>, intermediate<10>, norm_first<true>,
                            norm_by<rms_norm>, norm_epsilon<1, 100'000>, activation<silu>,
                            gated<true>, bias<false>, rope<split_halves>, softcap<3>>;
using decoder = decoder_layer<double, hidden<8>, heads<2>, intermediate<6>, norm_first<true>,
                              activation<relu>, bias<true>>;
using attention = multi_head_attention<double, hidden<8>, heads<2>, bias<true>, value_dim<3>>;
using table = learned_positions<double, token<5>, hidden<8>>;
using last_norm = layer_norm<double, hidden<8>, bias<false>>;

struct encoders {
  static constexpr const char* part_names[] = {"positions", "first", "stack", "third", "norm"};
  table::weights positions;
  encoder_of<true>::weights first;
  layer_stack<encoder_of<false>, 2>::weights stack;
  gated::weights third;
  last_norm::weights norm;
};

BOOST_AUTO_TEST_CASE(encoder_layers) {
  lcg next;
  sequences x;
  encoders w;
  draw(next, x), draw_weights(next, w);
  tensor<int, batch<2>> lens{3, 5};
  constexpr formula f = [](auto a, const auto& all, auto length) {
    const auto y = encoder_of<true>{all.first}(table{all.positions}(a), length & causal);
    const auto z = gated{all.third}(layer_stack<encoder_of<false>, 2>{all.stack}(y), causal);
    return sum<batch, token, hidden>(last_norm{all.norm}(z)*a);
  };
  check(f, x, w, lens);
  // One of the layers is enough: what is left out is decided step by step.
  constexpr formula of_one = [](auto a, const auto& all, auto length) {
    const auto y = gated{all.third}(table{all.positions}(a), length & causal);
    return sum<batch, token, hidden>(last_norm{all.norm}(y)*a);
  };
  check_alone(of_one, x, w, lens);
}

struct decoders {
  static constexpr const char* part_names[] = {"decode", "attend"};
  decoder::weights decode;
  attention::weights attend;
};

BOOST_AUTO_TEST_CASE(decoder_layers_and_attention_to_another_sequence) {
  lcg next;
  sequences x;
  decoders w;
  tensor<double, batch<2>, key<3>, hidden<8>> memory;
  draw(next, x), draw_weights(next, w), draw(next, memory);
  tensor<int, batch<2>> lens{2, 0};  // one of them has no memory at all
  constexpr formula f = [](auto a, const auto& all, auto m, auto length) {
    const auto y = decoder{all.decode}(a, m, length, self_mask(causal));
    const auto q = y | rename_axis<token, query>;
    const auto z = attention{all.attend}(q, m, m, length);
    return sum<batch, query, hidden>(z * z + q);
  };
  check(f, x, w, memory, lens);
}

// Axes lie in any order, as they do without a gradient. (Queries, keys and values are one copy of
// x, written three times.)
BOOST_AUTO_TEST_CASE(attention_to_axes_in_another_order) {
  lcg next;
  tensor<double, token<4>, hidden<8>, batch<2>> x;
  attention::weights w;
  draw(next, x), draw_weights(next, w);
  tensor<int, batch<2>> lens{4, 2};
  constexpr formula f = [](auto a, const auto& all, auto length) {
    const auto y = attention{all}(a, length & causal);
    return sum<token, batch, hidden>(y * y);
  };
  check(f, x, w, lens);
}

// The gradient of a gate on a head is that of a factor of its rows of the output projection.
BOOST_AUTO_TEST_CASE(gates_on_heads) {
  lcg next;
  tensor<double, token<5>, hidden<8>> x;
  attention::weights w, g{};
  draw(next, x), draw_weights(next, w);
  constexpr formula f = [](auto a, const auto& all) {
    const auto y = attention{all}(a, causal);
    return sum<token, hidden>(y * y);
  };
  constexpr gradient learn{f};
  (void)learn(x, with_gradient(w, g));
  const auto gates = head_gates<attention>(w, g);
  for (std::size_t h = 0; h < 2; ++h) {
    double apart = 0;
    for (const double step : {1e-5, -1e-5}) {
      attention::weights scaled = w;
      for (std::size_t i = 0; i < 3 * 8; ++i) scaled.o.weight[h * 24 + i] *= 1 + step;
      apart += f(x, scaled)() / (2 * step);
    }
    BOOST_TEST(std::fabs(apart - gates(h)) < 1e-7 * std::fabs(gates(0)) + 1e-7);
  }
}

// What is hidden is not read, whatever is there.
BOOST_AUTO_TEST_CASE(not_a_number_under_a_mask_reaches_no_gradient) {
  lcg next;
  tensor<double, batch<1>, query<3>, hidden<8>> x;
  tensor<double, batch<1>, key<4>, hidden<8>> y, clean;
  attention::weights w, g{}, g_clean{};
  draw(next, x), draw(next, y), draw_weights(next, w);
  clean = y;
  for (std::size_t e = 0; e < 8; ++e) y(0, 3, e) = std::nan("");
  constexpr formula f = [](auto a, auto b, const auto& all, auto length) {
    return sum<batch, query, hidden>(attention{all}(a, b, b, length));
  };
  constexpr gradient learn{f};
  const tensor<int> length{3};
  const auto value = learn(x, y, with_gradient(w, g), length);
  const auto wanted = learn(x, clean, with_gradient(w, g_clean), length);
  BOOST_TEST(value() == wanted());
  bool same = true;
  // (What the projections of the hidden position add is 0 times what is there: for them it is to be
  // a number.)
  for (std::size_t i = 0; i < sizeof w.q / sizeof(double); ++i)
    same = same && numbers_of(g.q)[i] == numbers_of(g_clean.q)[i];
  for (std::size_t i = 0; i < sizeof w.o / sizeof(double); ++i)
    same = same && numbers_of(g.o)[i] == numbers_of(g_clean.o)[i];
  BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(a_workspace_of_the_callers) {
  lcg next;
  tokens x, dx{}, same{};
  draw(next, x);
  constexpr formula f = [](auto a) { return sum<token, hidden>(a * a); };
  constexpr gradient learn{f};
  static workspace_for<decltype(learn), differentiated<tokens>> work;
  (void)learn(with_gradient(x, dx), work);
  (void)learn(with_gradient(x, same));
  BOOST_TEST(same_bits(dx, same));
  bool twice = true;
  for (std::size_t i = 0; i < x.size(); ++i) twice = twice && dx.data()[i] == 2 * x.data()[i];
  BOOST_TEST(twice);
}

// Where the only tensors are integers, a gradient is computed in the type of the weights.
struct rows_of_double {
  static constexpr const char* part_names[] = {"rows"};
  tensor<double, vocabulary<3>, hidden<2>> rows;
};
BOOST_AUTO_TEST_CASE(of_double_by_the_weights) {
  using table = embedding<double, vocabulary<3>, hidden<2>>;
  constexpr formula loss = [](auto ids, const auto& w) {
    const auto x = table{w.rows}(ids);
    return sum<token, hidden>(x * x);
  };
  constexpr gradient learn{loss};
  const rows_of_double w{{0.1, -0.2, 0.3, 0.4, -0.5, 0.6}};
  rows_of_double g{};
  const tensor<double> value = learn(tensor<int, token<3>>{2, 0, 2}, with_gradient(w, g));
  BOOST_TEST(value() == 0.1 * 0.1 + 0.2 * 0.2 + 2 * (0.5 * 0.5 + 0.6 * 0.6),
             boost::test_tools::tolerance(1e-15));
  const double wanted[] = {0.2, -0.4, 0, 0, -2, 2.4};
  for (std::size_t i = 0; i < 6; ++i)
    BOOST_TEST(g.rows.data()[i] == wanted[i], boost::test_tools::tolerance(1e-15));
}

// Also in constant expressions, of tensors.
constexpr double slope_at_three() {
  tensor<double> x{3}, dx{};
  constexpr formula f = [](auto a) { return a * a * a; };
  constexpr gradient learn{f};
  (void)learn(with_gradient(x, dx));
  return dx();
}
static_assert(slope_at_three() == 27);

}  // namespace
