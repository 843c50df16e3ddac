// SPDX-License-Identifier: BSL-1.0
// The gradient of a batch is the sum of its chains, folded in halves, whoever computes them: the
// bits of the definition (docs/numerics.md) for any number of workers and any order of pieces.
#include <boost/test/unit_test.hpp>

#include <umbel/training.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../../examples/thread_pool.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using map = linear<float, hidden<5>, classes<3>, bias<true>>;
struct model {
  static constexpr const char* part_names[] = {"table", "maps"};
  tensor<float, token<3>> table{};
  map::weights maps[2]{};
};
static_assert(detail::numbers_in<model>() == 3 + 2 * (5 * 3 + 3));

constexpr formula loss_of = [](auto x, auto label, const auto& w) {
  return cross_entropy<classes>(x * w.maps[0] + x * w.maps[1], label);
};
constexpr gradient learn{loss_of};

constexpr std::size_t most = 21;
struct samples {
  model w;
  std::array<tensor<float, hidden<5>>, most> x;
  std::array<tensor<int>, most> label;
  samples() {
    lcg next{5};
    initialize(w, 3);
    for (auto& e : w.table) e = next();
    for (std::size_t b = 0; b < most; ++b) {
      for (auto& e : x[b]) e = 4 * next();
      label[b]() = static_cast<int>(b * b % 3);
    }
  }
  float operator()(std::size_t b, model& g, std::size_t) const {
    return learn(x[b], label[b], with_gradient(w, g))();
  }
};

std::vector<float> numbers_of(const model& of, float loss) {
  std::vector<float> all;
  for_each_parameter(of, [&](const parameter_path&, const auto& x) {
    all.insert(all.end(), x.data(), x.data() + x.size());
  });
  all.push_back(loss);
  return all;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// docs/numerics.md in loops: each sample's gradient by itself, then sums of numbers.
template <class Sample>
std::vector<float> defined(std::size_t chain_count, std::size_t batch, const Sample& sample) {
  std::vector<std::vector<float>> chain(chain_count, numbers_of(model{}, 0));
  for (std::size_t b = 0; b < batch; ++b) {
    model g{};
    const float loss = sample(b, g, 0);
    const auto one = numbers_of(g, loss);
    auto& to = chain[b % chain_count];
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] + one[i];
  }
  for (std::size_t half = chain_count / 2; half > 0; half /= 2)
    for (std::size_t c = 0; c < half; ++c)
      for (std::size_t i = 0; i < chain[c].size(); ++i)
        chain[c][i] = chain[c][i] + chain[c + half][i];
  return chain[0];
}

// Pieces in another order, by workers in turns.
struct backwards {
  static constexpr std::size_t workers = 3;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const noexcept {
    for (std::size_t i = count; i-- > 0;) piece(i, i % workers);
  }
};

template <std::size_t Count, class Sample>
void check_chains(std::size_t batch, const Sample& sample) {
  static batch_gradient<model, chains<Count>> of_batch;
  const auto wanted = defined(Count, batch, sample);
  const auto check = [&](const char* name, auto&& executor) {
    const float loss = of_batch.sum(batch, executor, sample);
    BOOST_TEST(same(numbers_of(of_batch.gradient(), loss), wanted),
               name << ", " << Count << " chains of " << batch << " samples");
  };
  static thread_pool<2> two;
  static thread_pool<4> four;
  check("one worker", serial);
  check("pieces backwards", backwards{});
  check("two workers", two);
  check("four workers", four);
}

BOOST_AUTO_TEST_CASE(a_batch_is_the_fold_of_its_chains_whoever_computes) {
  static const samples all;
  for (const std::size_t batch :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{16}, most}) {
    check_chains<1>(batch, all);
    check_chains<2>(batch, all);
    check_chains<4>(batch, all);
    check_chains<8>(batch, all);
  }
}

BOOST_AUTO_TEST_CASE(chains_are_told_apart) {
  // 1e8 + 1 is 1e8 in float: which numbers meet decides the sum.
  const auto sample = [](std::size_t b, model& g, std::size_t) {
    const float x[] = {1e8F, 1, -1e8F, 1, 3, -2, 1e-3F};
    for (float& e : g.table) e += x[b % 7];
    return x[b % 7];
  };
  for (const std::size_t batch : {std::size_t{4}, std::size_t{7}, most}) {
    check_chains<1>(batch, sample);
    check_chains<2>(batch, sample);
    check_chains<4>(batch, sample);
  }
  batch_gradient<model, chains<1>> one;
  batch_gradient<model, chains<2>> two;
  BOOST_TEST(one.sum(4, serial, sample) == 1);  // ((1e8 + 1) - 1e8) + 1
  BOOST_TEST(two.sum(4, serial, sample) == 2);  // (1e8 - 1e8) + (1 + 1)
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_stays_where_it_is) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto sample = [&](std::size_t b, model& g, std::size_t) {
    g.table(0) += b == 2 ? infinity : 1;
    g.table(1) += -1;
    return b == 2 ? std::nanf("") : 1;
  };
  batch_gradient<model, chains<4>> of_batch;
  BOOST_TEST(std::isnan(of_batch.sum(5, serial, sample)));
  BOOST_TEST(of_batch.gradient().table(0) == infinity);
  BOOST_TEST(of_batch.gradient().table(1) == -5);
  BOOST_TEST(of_batch.gradient().table(2) == 0);
}

BOOST_AUTO_TEST_CASE(in_double) {
  using weights = tensor<double, token<2>>;
  static_assert(std::is_same_v<batch_gradient<weights, chains<2>>::value_type, double>);
  batch_gradient<weights, chains<2>> of_batch;
  const double loss = of_batch.sum(5, serial, [](std::size_t b, weights& g, std::size_t) {
    g(0) += 0.1 * static_cast<double>(b);
    return 0.1;
  });
  BOOST_TEST(loss == (0.1 + 0.1 + 0.1) + (0.1 + 0.1));
  BOOST_TEST(of_batch.gradient()(0) == (0.0 + 0.1 * 2 + 0.1 * 4) + (0.1 * 1 + 0.1 * 3));
}

}  // namespace
