// SPDX-License-Identifier: BSL-1.0
// Gradients of every block: finite differences, frozen weights, recompute, the importance of heads.
#include "uses.hpp"

#include <umbel/training.hpp>

#include <cstring>

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class Layer>
using small_problem = problem<Layer, 4, 3>;

// The sum of the squares of a causal pass.
template <class Layer, template <class> class How>
constexpr auto loss_of() {
  if constexpr (has_memory<Layer>)
    return [](auto x, auto memory, const auto& w) {
      const auto y = How<Layer>{w}(x, memory, self_mask(causal));
      return sum<batch, token, hidden>(y * y);
    };
  else
    return [](auto x, auto, const auto& w) {
      const auto y = How<Layer>{w}(x, causal);
      return sum<batch, token, hidden>(y * y);
    };
}
template <class Layer>
using as_it_is = Layer;

template <class Gradient, class Layer>
using workspace_of_gradient =
    workspace_for<Gradient, differentiated<typename small_problem<Layer>::tokens>,
                  typename small_problem<Layer>::memories, differentiated<typename Layer::weights>>;

template <class Weights>
void add(Weights& to, const Weights& direction, double step) {
  double* const t = reinterpret_cast<double*>(&to);
  const double* const d = reinterpret_cast<const double*>(&direction);
  static_assert(sizeof(Weights) % sizeof(double) == 0);
  for (std::size_t i = 0; i < sizeof(Weights) / sizeof(double); ++i) t[i] += step * d[i];
}
template <class Weights>
double product(const Weights& a, const Weights& b) {
  double sum = 0;
  const double* const x = reinterpret_cast<const double*>(&a);
  const double* const y = reinterpret_cast<const double*>(&b);
  for (std::size_t i = 0; i < sizeof(Weights) / sizeof(double); ++i) sum += x[i] * y[i];
  return sum;
}

// (loss(w + h d) - loss(w - h d)) / 2h beside the gradient times d.
struct gradients {
  static constexpr const char* name = "gradient";
  template <class Layer>
  static void check() {
    static small_problem<Layer> p;
    static typename Layer::weights g, direction, moved;
    constexpr formula loss{loss_of<Layer, as_it_is>()};
    constexpr gradient learn{loss};
    typename small_problem<Layer>::tokens dx{};
    static workspace_of_gradient<decltype(learn), Layer> work;
    const double value = learn(with_gradient(p.x, dx), p.memory, with_gradient(p.w, g), work)();
    BOOST_TEST(value == loss(p.x, p.memory, p.w)());
    draw_parameters(p.next, direction);
    constexpr double h = 1e-4;
    const auto at = [&](double step) {
      moved = p.w;
      add(moved, direction, step);
      return loss(p.x, p.memory, moved)();
    };
    const double wanted = (at(h) - at(-h)) / (2 * h), found = product(g, direction);
    BOOST_TEST(std::abs(found - wanted) <= 1e-6 * std::abs(wanted));
    const auto along = drawn<typename small_problem<Layer>::tokens>(p.next);
    const auto at_x = [&](double step) { return loss(p.x + along * step, p.memory, p.w)(); };
    const double wanted_x = (at_x(h) - at_x(-h)) / (2 * h);
    BOOST_TEST(std::abs(product(dx, along) - wanted_x) <= 1e-6 * std::abs(wanted_x));
  }
};

struct frozen_and_recomputed {
  static constexpr const char* name = "frozen, and with recompute";
  template <class Layer>
  static void check() {
    static small_problem<Layer> p;
    static typename Layer::weights g, same;
    constexpr formula loss{loss_of<Layer, as_it_is>()};
    constexpr formula recomputing{loss_of<Layer, recompute>()};
    constexpr gradient learn{loss};
    constexpr gradient learn_again{recomputing};
    typename small_problem<Layer>::tokens dx{}, same_dx{};
    static workspace_of_gradient<decltype(learn), Layer> work;
    static workspace_of_gradient<decltype(learn_again), Layer> less;
    const auto value = learn(with_gradient(p.x, dx), p.memory, with_gradient(p.w, g), work);
    const auto again =
        learn_again(with_gradient(p.x, same_dx), p.memory, with_gradient(p.w, same), less);
    BOOST_TEST((!detail::is_stack<Layer> || sizeof less < sizeof work));
    BOOST_TEST(same_bits(value, again));
    BOOST_TEST(same_bits(dx, same_dx));
    BOOST_TEST(std::memcmp(&g, &same, sizeof g) == 0);
    typename small_problem<Layer>::tokens frozen_dx{};
    static workspace_for<decltype(learn), differentiated<typename small_problem<Layer>::tokens>,
                         typename small_problem<Layer>::memories, typename Layer::weights>
        frozen;
    BOOST_TEST(same_bits(learn(with_gradient(p.x, frozen_dx), p.memory, p.w, frozen), value));
    BOOST_TEST(same_bits(frozen_dx, dx));
  }
};

// A part by its name: w.attention or w.self_attention, of the first layer of a stack.
template <class Weights>
auto& attention_in(Weights& w) {
  if constexpr (requires { w[0]; })
    return attention_in(w[0]);
  else if constexpr (requires { w.attention; })
    return w.attention;
  else
    return w.self_attention;
}
template <class Layer>
using name_of_attention = std::conditional_t<has_memory<Layer>, block_parts::name::self_attention,
                                             block_parts::name::attention>;
template <class Layer>
struct first_layer {
  using type = Layer;
};
template <detail::is_stack Layer>
struct first_layer<Layer> {
  using type = typename Layer::layer;
};

// The gate of a head is a factor of its rows of the output projection.
struct importance_of_heads {
  static constexpr const char* name = "importance of heads";
  template <class Layer>
  static void check() {
    static small_problem<Layer> p;
    static typename Layer::weights g, moved;
    constexpr formula loss{loss_of<Layer, as_it_is>()};
    constexpr gradient learn{loss};
    static workspace_of_gradient<decltype(learn), Layer> work;
    typename small_problem<Layer>::tokens dx{};
    (void)learn(with_gradient(p.x, dx), p.memory, with_gradient(p.w, g), work);
    using attention =
        typename first_layer<Layer>::type::template layer_of<name_of_attention<Layer>>;
    const auto gates = head_gates<attention>(attention_in(p.w), attention_in(g));
    constexpr double h = 1e-4;
    const auto at = [&](double step) {  // of head 1, which has 8 rows of 32
      moved = p.w;
      auto& o = attention_in(moved).o.weight;
      for (std::size_t i = 8 * 32; i < 16 * 32; ++i) o[i] *= 1 + step;
      return loss(p.x, p.memory, moved)();
    };
    const double wanted = (at(h) - at(-h)) / (2 * h);
    BOOST_TEST(std::abs(gates(1) - wanted) <= 1e-6 * std::abs(wanted));
  }
};

struct pruned_heads {
  static constexpr const char* name = "pruned heads";
  template <class Layer>
  static void check() {
    static small_problem<Layer> p;
    using attention = name_of_attention<Layer>;
    using smaller = pruned<Layer, attention, prune_heads<0, 1>>;
    const auto w = pruned_weights<Layer, attention, prune_heads<0, 1>>(p.w);
    static_assert(sizeof w < sizeof p.w);
    const auto silence = [](auto& layer) {  // their rows of the output projection
      auto& o = attention_in(layer).o.weight;
      for (std::size_t i = 0; i < 16 * 32; ++i) o[i] = 0;
    };
    if constexpr (detail::is_stack<Layer>)
      for (auto& layer : p.w.layers) silence(layer);
    else
      silence(p.w);
    BOOST_TEST(relative_error(p.causal_pass(smaller{w}), p.causal_pass(Layer{p.w})) < 1e-14);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(uses_in_training)
BOOST_AUTO_TEST_CASE(of_gradients) { try_on_all<double, gradients>(); }
BOOST_AUTO_TEST_CASE(of_frozen_weights) { try_on_all<double, frozen_and_recomputed>(); }
BOOST_AUTO_TEST_CASE(of_importance) { try_on_all<double, importance_of_heads>(); }
BOOST_AUTO_TEST_CASE(of_pruned_heads) { try_on_all<double, pruned_heads>(); }
BOOST_AUTO_TEST_SUITE_END()
