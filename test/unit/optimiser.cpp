// SPDX-License-Identifier: BSL-1.0
// Optimisers: the fast loops are the plain ones bit for bit, weights after several steps are those
// of torch's formulas in double, a step that cannot be made changes nothing, and the rate of a step
// is the one of the formula.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/files.hpp>
#include <umbel/training.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// ---- the kernels
template <class T, target Target, class Step, class... Written>
void compare_loops(const Step& step, std::size_t count) {
  seeded next{static_cast<std::uint32_t>(count + 3)};
  constexpr std::size_t arrays = 4;
  std::vector<buffer<T>> fast, plain;
  for (std::size_t i = 0; i < arrays; ++i) {
    fast.emplace_back(count, 8);
    plain.emplace_back(count, 8);
    fast[i].fill(next);
    // The second moments of Adam are not negative.
    for (std::size_t e = 0; e < count; ++e)
      plain[i][e] = fast[i][e] = i == 3 ? fast[i][e] * fast[i][e] : fast[i][e];
  }
  namespace kernel = umbel::detail::kernel;
  const auto call = [&](auto& x, auto f) {
    if constexpr (requires(T v) { step(v, v, v, v); })
      f(x[0].get(), x[1].get(), x[2].get(), x[3].get());
    else if constexpr (requires(T v) { step(v, v, v); })
      f(x[0].get(), x[1].get(), x[2].get());
    else if constexpr (requires(T v) { step(v, v); })
      f(x[0].get(), x[1].get());
    else
      f(x[0].get());
  };
  call(fast, [&](auto*... x) { kernel::each_number<T, Target>(step, count, x...); });
  call(plain, [&](auto*... x) { kernel::plain::each_number(step, count, x...); });
  for (std::size_t i = 0; i < arrays; ++i)
    BOOST_TEST(fast[i].same_bits(plain[i]), "array " << i << " of " << count);

  T chains[16]{}, wanted[16]{};
  for (std::size_t i = 0; i < arrays; ++i) {
    kernel::add_squares<T, Target>(fast[i].get(), count, chains);
    kernel::plain::add_squares(fast[i].get(), count, wanted);
  }
  BOOST_TEST(std::memcmp(chains, wanted, sizeof chains) == 0);
}
template <class T, target Target>
void compare_steps() {
  namespace kernel = umbel::detail::kernel;
  for (const std::size_t count : {0u, 1u, 3u, 4u, 15u, 16u, 17u, 31u, 48u, 61u}) {
    const auto check = [&](const auto& step) { compare_loops<T, Target>(step, count); };
    check(kernel::clearing{});
    check(kernel::scaling<T>{static_cast<T>(0.3)});
    check(kernel::adding{});
    check(kernel::averaging<T>{static_cast<T>(0.1)});
    check(kernel::sgd_step<T>{static_cast<T>(0.1), static_cast<T>(0.02)});
    for (const bool nesterov : {false, true})
      check(kernel::momentum_step<T>{static_cast<T>(0.1), static_cast<T>(0.9), static_cast<T>(0.02),
                                     nesterov});
    check(umbel::detail::optimiser_step<T>::make(adam{.rate = 0.1, .decay = 0.02}, 3));
    check(umbel::detail::optimiser_step<T>::make(adamw{.rate = 0.1, .decay = 0.02}, 1));
  }
}
BOOST_AUTO_TEST_CASE(fast_loops_are_the_plain_ones) {
  compare_steps<float, scalar_target>();
  compare_steps<float, vector_16>();
  compare_steps<float, vector_64>();
  compare_steps<double, vector_32>();
}

// ---- the steps of a model: a table, layers, a map with and without a bias, a vector of the user's
template <class T>
struct model {
  using block = encoder_layer<T, hidden<8>, heads<2>, intermediate<12>, norm_first<true>,
                              activation<relu>, bias<true>>;
  using last = linear<T, hidden<8>, classes<3>>;
  static constexpr const char* part_names[] = {"table", "blocks", "head", "offset"};
  tensor<T, token<5>, hidden<8>> table;
  typename block::weights blocks[2];
  typename last::weights head;
  tensor<T, classes<3>> offset;
};

template <class W>
void draw_all(W& w, std::uint32_t seed, double size = 1) {
  lcg next{seed};
  for_each_parameter(w, [&](const parameter_path&, auto x) { draw(next, x, size); });
}
template <class W>
std::vector<double> numbers_of(const W& w) {
  std::vector<double> all;
  for_each_parameter(w, [&](const parameter_path&, auto x) {
    for (std::size_t i = 0; i < x.size(); ++i) all.push_back(static_cast<double>(x.data()[i]));
  });
  return all;
}
template <class W>
bool is_same(const W& a, const W& b) {
  return std::memcmp(&a, &b, sizeof(W)) == 0;
}

// torch.optim.SGD, Adam, AdamW (torch 2.1, their documentation) in double.
struct reference {
  std::vector<double> w, m, v;
  int steps = 0;
  explicit reference(const std::vector<double>& from) : w(from), m(from.size()), v(from.size()) {}

  void step(const sgd& how, const std::vector<double>& g) {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= how.rate * (g[i] + how.decay * w[i]);
  }
  void step(const sgd_with_momentum& how, const std::vector<double>& given) {
    ++steps;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = given[i] + how.decay * w[i];
      m[i] = steps == 1 ? g : how.momentum * m[i] + g;
      w[i] -= how.rate * (how.nesterov ? g + how.momentum * m[i] : m[i]);
    }
  }
  template <class Adam>
  void step(const Adam& how, const std::vector<double>& given) {
    constexpr bool decoupled = std::is_same_v<Adam, adamw>;
    ++steps;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = given[i] + (decoupled ? 0 : how.decay * w[i]);
      if (decoupled) w[i] -= how.rate * how.decay * w[i];
      m[i] = how.beta1 * m[i] + (1 - how.beta1) * g;
      v[i] = how.beta2 * v[i] + (1 - how.beta2) * g * g;
      const double first = m[i] / (1 - std::pow(how.beta1, steps));
      const double second = v[i] / (1 - std::pow(how.beta2, steps));
      w[i] -= how.rate * first / (std::sqrt(second) + how.epsilon);
    }
  }
};

template <class T, class How, class... State>
void compare_with_torch(const How& how, State&... state) {
  static model<T> w, g;
  draw_all(w, 1);
  reference wanted(numbers_of(w));
  for (std::uint32_t s = 0; s < 20; ++s) {
    draw_all(g, 10 + s, s % 3 == 0 ? 0.01 : 1);
    const update_result made = update(w, g, state..., how);
    BOOST_TEST(bool(made));
    const std::vector<double> all = numbers_of(g);
    long double squares = 0;
    for (const long double x : all) squares += x * x;
    BOOST_TEST(made.norm == static_cast<double>(std::sqrt(squares)),
               boost::test_tools::tolerance(4.0 * std::numeric_limits<T>::epsilon()));
    wanted.step(how, all);
  }
  const std::vector<double> found = numbers_of(w);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, std::fabs(found[i] - wanted.w[i]));
  // Twenty steps, of weights and steps of about 1.
  BOOST_TEST(worst < 32 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}
template <class T>
void compare_all_with_torch() {
  compare_with_torch<T>(sgd{.rate = 0.1, .decay = 0.05});
  for (const bool nesterov : {false, true}) {
    sgd_with_momentum::state<model<T>> state{};
    compare_with_torch<T>(
        sgd_with_momentum{.rate = 0.05, .momentum = 0.8, .decay = 0.02, .nesterov = nesterov},
        state);
    BOOST_TEST(state.steps() == 20);
  }
  adam::state<model<T>> first{}, second{};
  compare_with_torch<T>(adam{.rate = 0.03, .epsilon = 1e-6, .decay = 0.1}, first);
  compare_with_torch<T>(adamw{.rate = 0.03, .beta1 = 0.8, .beta2 = 0.95, .decay = 0.1}, second);
  BOOST_TEST(second.steps() == 20);
}
BOOST_AUTO_TEST_CASE(steps_are_those_of_torch) {
  compare_all_with_torch<float>();
  compare_all_with_torch<double>();
}

BOOST_AUTO_TEST_CASE(a_step_that_cannot_be_made_changes_nothing) {
  static model<float> w, g;
  static adamw::state<model<float>> state;
  draw_all(w, 1), draw_all(g, 2), draw_all(state.first, 3), draw_all(state.second, 4);
  state.steps() = 7;
  const auto kept = w;
  const auto kept_state = state;
  const auto refused = [&](const adamw& how, update_status status) {
    const update_result made = update(w, g, state, how);
    return !made && made.status == status && is_same(w, kept) && is_same(state, kept_state);
  };
  float& last = g.offset(2);
  const float number = last;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30f, -INFINITY}) {
    last = bad;
    BOOST_TEST(refused(adamw{}, update_status::gradient_is_not_finite));
    BOOST_TEST(!(clip_by_norm(g, 1) < INFINITY));
    BOOST_TEST(g.table(0, 0) != 0);
    BOOST_TEST(!update(w, g, sgd{}));
  }
  last = number;
  for (const adamw& how :
       {adamw{.rate = -1}, adamw{.rate = NAN}, adamw{.beta1 = 1}, adamw{.beta2 = -0.1},
        adamw{.epsilon = 0}, adamw{.epsilon = 1e-50}, adamw{.decay = INFINITY}})
    BOOST_TEST(refused(how, update_status::optimiser_out_of_range));
  BOOST_TEST(!update(w, g, sgd{.decay = -1}));
  BOOST_TEST(!update(w, g, sgd{.rate = 1e300}));  // of float: infinite
  sgd_with_momentum::state<model<float>> momentum{};
  BOOST_TEST(!update(w, g, momentum, sgd_with_momentum{.momentum = 1}));
  BOOST_TEST(is_same(w, kept));
  BOOST_TEST(momentum.steps() == 0);
  BOOST_TEST(bool(update(w, g, state, adamw{})));
  BOOST_TEST(state.steps() == 8);
  BOOST_TEST(!is_same(w, kept));
}

// A part of the weights by itself: the rest stays.
BOOST_AUTO_TEST_CASE(parts_are_weights) {
  static model<float> w, g;
  draw_all(w, 1), draw_all(g, 2);
  const auto kept = w;
  BOOST_TEST(bool(update(w.head, g.head, sgd{.rate = 1})));
  for (std::size_t i = 0; i < 24; ++i)
    BOOST_TEST(w.head.weight[i] == kept.head.weight[i] - g.head.weight[i]);
  w.head = kept.head;
  BOOST_TEST(is_same(w, kept));
}

BOOST_AUTO_TEST_CASE(gradients_are_added_scaled_and_clipped) {
  static model<double> g, other;
  draw_all(g, 1), draw_all(other, 2);
  const std::vector<double> a = numbers_of(g), b = numbers_of(other);
  add(g, other);
  scale(g, 0.25);
  std::vector<double> found = numbers_of(g);
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    BOOST_TEST(found[i] == (a[i] + b[i]) * 0.25);
    squares += found[i] * found[i];
  }
  const auto kept = g;
  BOOST_TEST(clip_by_norm(g, 100) == clip_by_norm(g, -1));
  BOOST_TEST(is_same(g, kept));
  BOOST_TEST(clip_by_norm(g, 0.5) == std::sqrt(squares), boost::test_tools::tolerance(1e-14));
  const std::vector<double> clipped = numbers_of(g);
  for (std::size_t i = 0; i < a.size(); ++i)
    BOOST_TEST(std::fabs(clipped[i] - found[i] * 0.5 / std::sqrt(squares)) < 1e-15);
  BOOST_TEST(clip_by_norm(g, 0.5) == 0.5, boost::test_tools::tolerance(1e-14));

  // The order of the sum: each parameter from chain 0 on.
  double chain[16]{};
  for_each_parameter(g, [&](const parameter_path&, auto x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      chain[i % 16] = umbel::detail::simd::fma(x.data()[i], x.data()[i], chain[i % 16]);
  });
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) chain[i] += chain[i + half];
  BOOST_TEST(clip_by_norm(g, 1) == std::sqrt(chain[0]));

  moving_average(g, other, 0.9);
  const std::vector<double> average = numbers_of(g);
  for (std::size_t i = 0; i < a.size(); ++i)
    BOOST_TEST(std::fabs(average[i] - (0.9 * clipped[i] + 0.1 * b[i])) < 1e-15);
  set_to_zero(g);
  for (const double x : numbers_of(g)) BOOST_TEST(x == 0);
}

// The state is listed, saved and loaded as weights are.
BOOST_AUTO_TEST_CASE(a_state_is_saved_and_loaded) {
  static model<float> w, g;
  static adam::state<model<float>> state, loaded;
  draw_all(w, 1), draw_all(g, 2);
  BOOST_TEST(bool(update(w, g, state, adamw{})));
  std::string bytes;
  save([&](const char* from, std::size_t count) { bytes.append(from, count); }, state);
  const auto file = tensor_file::in_memory(bytes.data(), bytes.size());
  BOOST_REQUIRE(bool(file));
  const auto done = load(loaded, *file, names::umbel);
  BOOST_REQUIRE_MESSAGE(bool(done), done.error());
  BOOST_TEST(is_same(state, loaded));
  BOOST_TEST(loaded.steps() == 1);
}

// The same by every compiler, on every target that fuses.
BOOST_AUTO_TEST_CASE(bits_of_ten_steps) {
  static model<float> w, g;
  static adam::state<model<float>> state;
  draw_all(w, 1);
  constexpr warm_up_then_cosine rate{.rate = 0.05, .warm_up = 3, .steps = 10};
  for (std::uint32_t s = 0; s < 10; ++s) {
    draw_all(g, 10 + s);
    clip_by_norm(g, 1);
    BOOST_TEST(bool(update(w, g, state, adamw{.rate = rate(s)})));
  }
  static_assert(sizeof w % sizeof(float) == 0);
  const std::uint64_t hash = hash_bits(w.table.data(), sizeof w / sizeof(float));
  if (umbel::detail::simd::has_fma<float>) BOOST_TEST(hash == 9752553469368382589u);
}

static_assert(trainable_weights<model<float>> && trainable_weights<tensor<double, token<2>>>);
static_assert(!trainable_weights<model<float>::block::weights_view>);

// ---- the rate
constexpr warm_up_then_cosine cosine{.rate = 6e-3, .warm_up = 4, .steps = 104, .last = 1e-3};
static_assert(cosine(0) == 1.5e-3 && cosine(3) == 6e-3 && cosine(4) == 6e-3);
static_assert(cosine(54) == 1e-3 + 5e-3 / 2 && cosine(104) == 1e-3 && cosine(1000) == 1e-3);
constexpr warm_up_then_linear line{.rate = 1, .warm_up = 2, .steps = 10};
static_assert(line(0) == 0.5 && line(2) == 1 && line(4) == 0.75 && line(10) == 0);
static_assert(constant_rate{.rate = 2, .warm_up = 4}(1) == 1 && constant_rate{.rate = 2}(0) == 2);
// A decay that ends before the warm-up does.
static_assert(warm_up_then_cosine{.rate = 1, .warm_up = 5, .steps = 5}(4) == 1);
static_assert(warm_up_then_cosine{.rate = 1, .warm_up = 5, .steps = 3}(2) == 0.6);
static_assert(warm_up_then_cosine{.rate = 1, .warm_up = 5, .steps = 3, .last = 0.25}(3) == 0.25);

BOOST_AUTO_TEST_CASE(rates_are_those_of_the_formula) {
  const double pi = std::acos(-1.0);
  double largest = 0;
  for (std::uint64_t s = 4; s <= 104; ++s) {
    const double part = static_cast<double>(s - 4) / 100;
    const double wanted = 1e-3 + 5e-3 * (1 + std::cos(pi * part)) / 2;
    largest = std::max(largest, std::fabs(cosine(s) - wanted));
  }
  BOOST_TEST(largest < 2e-18);
  // Computed by the compiler and by the program.
  constexpr auto in_compiler = [] {
    struct {
      double at[104];
    } r{};
    for (std::uint64_t s = 0; s < 104; ++s) r.at[s] = cosine(s);
    return r;
  }();
  bool same = true;
  for (std::uint64_t s = 0; s < 104; ++s) same = same && in_compiler.at[s] == cosine(s);
  BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(elementary_functions_are_near) {
  namespace elementary = umbel::detail::elementary;
  double circle = 0, logarithm = 0;
  for (int i = 0; i <= 10000; ++i) {
    const double turns = i / 10000.0;
    const long double angle = 2 * std::acos(-1.0L) * static_cast<long double>(turns);
    const auto [c, s] = elementary::on_circle(turns);
    circle = std::max(
        circle, static_cast<double>(std::fabs(std::cos(angle) - static_cast<long double>(c))));
    circle = std::max(
        circle, static_cast<double>(std::fabs(std::sin(angle) - static_cast<long double>(s))));
    const double x = std::ldexp(i + 0.5, i % 90 - 60);
    const long double log = std::log(static_cast<long double>(x));
    const long double error = std::fabs(log - static_cast<long double>(elementary::logarithm(x)));
    logarithm = std::max(logarithm, static_cast<double>(error / std::max(1.0L, std::fabs(log))));
  }
  BOOST_TEST(circle < 2e-16);
  BOOST_TEST(logarithm < 3e-16);
}

}  // namespace
