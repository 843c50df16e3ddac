// SPDX-License-Identifier: BSL-1.0
// Attention by other scores: additive, and a formula. Their bits, and that they are those of the
// plain definition.
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;
using embedded::check;
using embedded::check_bits;
using embedded::drawn;

template <class X>
static bool same(const X& a, const X& b) noexcept {
  for (std::size_t i = 0; i < X::layout::count; ++i)
    if (__builtin_bit_cast(std::uint32_t, a.data()[i]) !=
        __builtin_bit_cast(std::uint32_t, b.data()[i]))
      return false;
  return true;
}

// What the compiler computes is the plain definition (kernel/plain/floats.hpp).
static void additive_scores() noexcept {
  using layer = additive_attention<float, hidden<6>, score_hidden<5>>;
  using result = tensor<float, batch<2>, query<3>, value_dim<4>>;
  static constexpr auto w = [] {
    layer::weights w{};
    embedded::lcg next;
    embedded::draw(next, w.q.weight), embedded::draw(next, w.k.weight);
    embedded::draw(next, w.score, 2.F);
    return w;
  }();
  static constexpr auto x = drawn<tensor<float, batch<2>, query<3>, hidden<6>>>(2);
  static constexpr auto y = drawn<tensor<float, batch<2>, key<7>, hidden<6>>>(3);
  static constexpr auto z = drawn<tensor<float, batch<2>, key<7>, value_dim<4>>>(4);
  static constexpr tensor<int, batch<2>> lengths{6, 3};
  static constexpr result plain = layer{w}(x, y, z, lengths);
  static constinit layer::workspace<query<3>, key<7>, value_dim<4>> work{};
  static constinit result fast{};
  layer{w}.into(fast, x, y, z, lengths, work);
  check_bits("scores: additive", fast);
  check("scores: additive, and as the compiler computes it", same(fast, plain));
}

// Normed queries and keys, and no key after the query's position.
static constexpr formula attend = [](auto q, auto k, auto v, auto gain) {
  constexpr auto norm = [](auto x) { return x * rsqrt(sum<head_dim>(x * x) * 0.25f + 1e-6f); };
  auto scores = contract<head_dim>(norm(q) * gain, norm(k)) * 0.5f;
  return contract<key>(softmax<key>(hide(scores, position<key> > position<query>)), v);
};

static void formulas() noexcept {
  using queries = tensor<float, heads<2>, query<5>, head_dim<4>>;
  using keys = tensor<float, heads<2>, key<5>, head_dim<4>>;
  using gains = tensor<float, head_dim<4>>;
  static constexpr auto q = drawn<queries>(5, 2.F);
  static constexpr auto k = drawn<keys>(6, 2.F), v = drawn<keys>(7);
  static constexpr auto gain = drawn<gains>(8);
  static constexpr queries defined = plain(attend)(q, k, v, gain);
  static constinit workspace_for<decltype(attend), queries, keys, keys, gains> work{};
  static constinit queries fast{};
  attend.into(fast, q, k, v, gain, work);
  check_bits("scores: a formula", fast);
  check("scores: a formula, and its definition", same(fast, defined));
}

int main() {
  additive_scores();
  formulas();
  return embedded::finish();
}
