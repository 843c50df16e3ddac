// SPDX-License-Identifier: BSL-1.0
// Weights that are zero outside of a range of keys: the bits of all pairs one after another, also
// at every border of a block and a chunk, and nothing of what is left out.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string_view>
#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>

#include "formula_support.hpp"

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

namespace {

// A formula of q, k and v for each way to write what is left out.
template <class Weights>
struct of_weights {
  static constexpr formula stored = [](auto q, auto k) { return Weights{}(q, k); };
  static constexpr formula context = [](auto q, auto k, auto v) {
    return contract<key>(Weights{}(q, k), v);
  };
};

struct causal_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto scores = contract<head_dim>(q, k) * 0.25f;
    auto decayed = scores * exp((position<key> - position<query>)*0.125f);
    return where(position<key> > position<query>, 0, decayed);
  }
};
struct kept_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto scores = contract<head_dim>(q, k);
    return where(position<key> + 3 <= position<query> + 1, scores, 0);
  }
};
struct window_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto scores = contract<head_dim>(q, k);
    auto outside = position<key> > position<query> + 4 || position<key> + 40 < position<query>;
    return where(outside, 0, scores * scores);
  }
};
struct kept_window_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto apart = position<query> - position<key>;
    return contract<head_dim>(q, k) * (apart < 7 && !(apart < -2));
  }
};
struct clamped_weights {
  constexpr auto operator()(auto q, auto k) const {
    constexpr auto keys = static_cast<float>(decltype(k)::template extent<key>);
    auto start = clamp(position<query> - 9, 0, keys - 19);
    auto scores = sigmoid(contract<head_dim>(q, k));
    return where(position<key> < start || position<key> >= start + 19, 0, scores);
  }
};
// No range: a clamped position is compared with a sum.
struct sum_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto sum = position<key> + position<query>;
    auto scores = contract<head_dim>(q, k);
    auto seen = hide(scores, sum > clamp(position<query>, 9, 40));
    return where(clamp(position<query>, 0, 5) > sum, 0, softmax<key>(seen));
  }
};
struct matrix_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto decay =
        where(position<query> >= position<key>, exp((position<key> - position<query>)*0.25f), 0);
    return contract<head_dim>(q, k) * decay / 3;
  }
};
struct softmax_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto all = softmax<key>(contract<head_dim>(q, k));
    return where(position<key> > position<query> || position<key> + 50 < position<query>, 0, all);
  }
};
struct hidden_weights {
  constexpr auto operator()(auto q, auto k) const {
    auto scores = contract<head_dim>(q, k);
    auto seen =
        hide(hide(scores, position<key> > position<query>), position<key> + 70 < position<query>);
    return softmax<key>(seen) * sigmoid(scores);
  }
};
struct no_weights {  // no query has a key
  constexpr auto operator()(auto q, auto k) const {
    return where(position<key> > position<query> - 500, 0, contract<head_dim>(q, k));
  }
};

template <std::size_t Queries, std::size_t Keys, class... Weights>
void check_all() {
  static const inputs<Queries, Keys> in;
  const auto check = [&]<class W>(W) {
    using formulas = of_weights<W>;
    BOOST_TEST(is_context(formulas::context, formulas::stored, in.v, in.q, in.k));
  };
  (check(Weights{}), ...);
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(formula_ranges)

BOOST_AUTO_TEST_CASE(blocks_and_chunks_of_many_sizes) {
  // Each form on each size is kernels of its own: the forms are all in the next test.
  check_all<1, 1, window_weights>();
  check_all<2, 1, kept_weights>();
  check_all<5, 70, causal_weights, kept_window_weights>();
  check_all<64, 64, matrix_weights>();
  check_all<65, 65, causal_weights, hidden_weights>();
  check_all<131, 67, softmax_weights, clamped_weights>();
  check_all<67, 201, kept_weights, window_weights>();
}
BOOST_AUTO_TEST_CASE(every_way_to_write_a_range) {
  check_all<150, 144, causal_weights, kept_weights, window_weights, kept_window_weights,
            clamped_weights, sum_weights, matrix_weights, softmax_weights, hidden_weights,
            no_weights>();
}
BOOST_AUTO_TEST_CASE(other_orders_in_memory) {
  static const inputs<130, 77> in;
  const auto k = in.k | permute<key, batch, head_dim, heads> | contiguous;
  const auto v = in.v | permute<batch, heads, value_dim, key> | contiguous;
  using formulas = of_weights<window_weights>;
  BOOST_TEST(is_context(formulas::context, formulas::stored, v, in.q, k));
  constexpr formula turned = [](auto q, auto keys, auto values) {
    return contract<key>(values, window_weights{}(q, keys)) |
           permute<batch, query, value_dim, heads> | contiguous;
  };
  BOOST_TEST(same_bits(turned(in.q, k, v), formulas::context(in.q, k, v) |
                                               permute<batch, query, value_dim, heads> |
                                               contiguous));
  // Gates whose keys are adjacent: the other order in scratch.
  static tensor<float, heads<3>, query<130>, key<77>> gates;
  fill(gates, 5);
  static constexpr auto gated = [](auto q, auto keys, auto g) {
    return window_weights{}(q, keys) * g;
  };
  constexpr formula stored = gated;
  constexpr formula f = [](auto q, auto keys, auto g, auto values) {
    return contract<key>(gated(q, keys, g), values) * 2 + 1;
  };
  constexpr formula scaled = [](auto weights, auto values) {
    return contract<key>(weights, values) * 2 + 1;
  };
  static workspace_for<decltype(f), decltype(in.q), decltype(in.k), decltype(gates), decltype(in.v)>
      work;
  const auto weights = stored(in.q, in.k, gates);
  BOOST_TEST(same_bits(f(in.q, in.k, gates, in.v, work), scaled(weights, in.v)));
  BOOST_TEST(same_bits(plain(f)(in.q, in.k, gates, in.v, work), scaled(weights, in.v)));
}

// Lengths, which may be NaN, negative or longer than all keys.
BOOST_AUTO_TEST_CASE(lengths) {
  static const inputs<70, 90> in;
  static constexpr auto weights = [](auto q, auto k, auto lengths) {
    auto scores = contract<head_dim>(q, k);
    return where(position<key> < lengths, where(position<key> > position<query> + 60, 0, scores),
                 0);
  };
  constexpr formula stored = weights;
  constexpr formula f = [](auto q, auto k, auto lengths, auto v) {
    return contract<key>(weights(q, k, lengths), v);
  };
  const tensor<float, batch<2>, heads<3>> lengths{0, 1, 64.5f, 1e9f, -3, not_a_number};
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, lengths));
  const tensor<int, batch<2>> whole{65, 200};
  BOOST_TEST(is_context(f, stored, in.v, in.q, in.k, whole));
  static constexpr auto up_to = [](auto q, auto k, auto last) {
    return sigmoid(contract<head_dim>(q, k)) * (position<key> <= last);
  };
  constexpr formula stored_up_to = up_to;
  constexpr formula g = [](auto q, auto k, auto last, auto v) {
    return contract<key>(up_to(q, k, last), v);
  };
  BOOST_TEST(is_context(g, stored_up_to, in.v, in.q, in.k, whole));
}

// The keys and values of queries to come, and of those outside of a window.
template <std::size_t Queries>
void spoil_a_key() {
  static const inputs<Queries, 130> in;
  static auto spoilt_k = in.k;
  static auto spoilt_v = in.v;
  constexpr std::size_t at = 97;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t i = 0; i < 5; ++i) {
        spoilt_v(b, h, at, i) = b == 0 ? not_a_number : infinity;
        spoilt_k(b, h, at, i) = b == 0 ? infinity : not_a_number;
      }
  const auto check = [&]<class W>(W, auto sees) {
    constexpr auto f = of_weights<W>::context;
    static workspace_for<decltype(f), decltype(in.q), decltype(in.k), decltype(in.v)> work;
    const auto clean = f(in.q, in.k, in.v, work), fast = f(in.q, spoilt_k, spoilt_v, work),
               slow = plain(f)(in.q, spoilt_k, spoilt_v, work);
    bool right = true;
    for (std::size_t h = 0; h < 6; ++h)
      for (std::size_t i = 0; i < Queries; ++i)
        for (std::size_t e = 0; e < 5; ++e) {
          const float x = fast(h / 3, h % 3, i, e), y = slow(h / 3, h % 3, i, e);
          right = right && (sees(i) ? !std::isfinite(x) && !std::isfinite(y)
                                    : x == clean(h / 3, h % 3, i, e) && x == y);
        }
    BOOST_TEST(right);
  };
  check(causal_weights{}, [](std::size_t i) { return i >= at; });
  check(matrix_weights{}, [](std::size_t i) { return i >= at; });
  check(window_weights{}, [](std::size_t i) { return i + 4 >= at && i <= at + 40; });
}
BOOST_AUTO_TEST_CASE(what_is_left_out_does_not_leak) {
  spoil_a_key<130>();
  spoil_a_key<1>();
}

BOOST_AUTO_TEST_CASE(pairs_left_out_are_described) {
  static const inputs<128, 128> in;
  const std::string_view causal = describe(of_weights<causal_weights>::context, in.q, in.k, in.v);
  BOOST_TEST(causal.find("query i reads keys up to i\n") != causal.npos);
  const std::string_view window = describe(of_weights<window_weights>::context, in.q, in.k, in.v);
  BOOST_TEST(window.find("query i reads keys i - 40 to i + 4\n") != window.npos);
  const auto floats = []<class W>(W) {
    return sizeof(workspace_for<decltype(of_weights<W>::context), decltype(in.q), decltype(in.k),
                                decltype(in.v)>) /
           sizeof(float);
  };
  static_assert(floats(window_weights{}) <= 32 * 32);
  static_assert(floats(causal_weights{}) <= 32 * 32 + 256);  // with a table of 255 distances
}

constexpr float of_constants() {
  tensor<float, query<3>, head_dim<1>> q{1, 2, 3};
  tensor<float, key<3>, head_dim<1>> k{1, 1, 1};
  tensor<float, key<3>, value_dim<1>> v{2, 4, 8};
  return of_weights<kept_weights>::context(q, k, v)(2, 0);
}
static_assert(of_constants() == 6);

BOOST_AUTO_TEST_SUITE_END()
