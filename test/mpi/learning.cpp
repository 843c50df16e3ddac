// SPDX-License-Identifier: BSL-1.0
// Training over ranks has the bits of one process: the gradient of a batch by chains, and weights
// after some steps. Run by 1, 2, 4 and 8 ranks.
#include <umbel/training.hpp>

#include <array>
#include <cstring>

#include "../support/random.hpp"
#include "counted.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

using map = linear<float, hidden<7>, classes<5>, bias<true>>;
struct model {
  static constexpr const char* part_names[] = {"one", "two"};
  map::weights one, two;
};
constexpr formula loss_of = [](auto x, auto label, const auto& w) {
  return cross_entropy<classes>(x * w.one + (x * x) * w.two, label);
};
constexpr gradient learn{loss_of};

constexpr std::size_t most = 37;
struct samples {
  std::array<tensor<float, token<3>, hidden<7>>, most> x;
  std::array<tensor<int, token<3>>, most> label;
  samples() {
    lcg next{5};
    for (std::size_t b = 0; b < most; ++b) {
      for (auto& e : x[b]) e = 4 * next();
      for (int t = 0; t < 3; ++t) label[b](t) = (static_cast<int>(b * b) + t) % 5;
    }
  }
  auto of(const model& w) const {
    return [this, &w](std::size_t b, model& g, std::size_t) {
      return learn(x[b], label[b], with_gradient(w, g))();
    };
  }
};

// A training: sum(sample) gives the loss of a batch and its gradient.
struct trained {
  model w;
  adamw::state<model> state;
  float losses[4];
};
template <class Sum>
trained train(const samples& all, const Sum& sum) {
  trained to{};
  initialize(to.w, 3);
  for (float& loss : to.losses) {
    model* g = nullptr;
    loss = sum(all.of(to.w), g);
    scale(*g, 1.0 / most);
    clip_by_norm(*g, 1);
    (void)update(to.w, *g, to.state, adamw{.rate = 0.1});
  }
  return to;
}

template <std::size_t Chains, std::size_t Ranks>
void check_chains(const communicator<ranks<Ranks>>& world) {
  using whole = batch_gradient<model, chains<Chains>>;
  using share = sharded<whole, over<chains, ranks<Ranks>>>;
  static_assert(sizeof(share) * Ranks == sizeof(whole));
  static const samples all;
  static whole of_batch;
  static share own;
  static typename share::workspace work;
  for (const std::size_t batch : {std::size_t{0}, std::size_t{1}, std::size_t{6}, most}) {
    static model w;
    initialize(w, 3);
    const float wanted = of_batch.sum(batch, serial, all.of(w));
    const gathered before = so_far;
    const float loss = own.sum(batch, serial, across(world, work), all.of(w));
    check("the gradient of a batch",
          same(loss, wanted) && same(own.gradient(), of_batch.gradient()));
    check("what it exchanges is what the type says", as_said(before, exchange_of<share>, Ranks));
  }
  const trained wanted = train(all, [&](const auto& sample, model*& g) {
    g = &of_batch.gradient();
    return of_batch.sum(most, serial, sample);
  });
  const bool counts = fashion::heap::counter_works();
  trained found;
  {
    const counting now;
    found = train(all, [&](const auto& sample, model*& g) {
      g = &own.gradient();
      return own.sum(most, serial, across(world, work), sample);
    });
  }
  check("nothing is allocated", counts && fashion::heap::so_far().allocations == 0);
  check("weights, the state of the optimiser and losses after some steps", same(found, wanted));
  check("losses fall", found.losses[3] < found.losses[0]);
}

// Numbers that meet in another order have another sum; in double, of few numbers, so that the parts
// of the last ranks are empty.
template <std::size_t Ranks>
void check_order(const communicator<ranks<Ranks>>& world) {
  using weights = tensor<double, token<2>>;
  using share = sharded<batch_gradient<weights, chains<8>>, over<chains, ranks<Ranks>>>;
  static batch_gradient<weights, chains<8>> of_batch;
  static share own;
  static typename share::workspace work;
  const auto sample = [](std::size_t b, weights& g, std::size_t) {
    const double x[] = {1e17, 1, -1e17, 1, 3, 1e16, -2, 1e-3, -1e16, 7, 1e15};
    g(0) += x[b % 11], g(1) -= x[b * 3 % 11];
    return x[b * 5 % 11];
  };
  const double wanted = of_batch.sum(29, serial, sample);
  const double loss = own.sum(29, serial, across(world, work), sample);
  check("numbers that do not commute",
        same(loss, wanted) && same(own.gradient(), of_batch.gradient()));
}

void check_page() {
  using share = sharded<batch_gradient<model, chains<4>>, over<chains, ranks<4>>>;
  check("the page of chains over ranks",
        std::strcmp(describe<share>(),
                    "of 4 ranks, each\n"
                    "calls of MPI                                    2\n"
                    "messages                                        6\n"
                    "bytes sent                                    504\n"
                    "bytes of memory for it                        672\n"
                    "microseconds                                   12\n"
                    "by a network of 2000 ns a message and 12500 MB/s\n") == 0);
}

template <std::size_t Ranks>
void check_all() {
  const communicator<ranks<Ranks>> world{MPI_COMM_WORLD};
  check("as many ranks as the type says", world.has_value());
  if (!world) return;
  if constexpr (Ranks <= 4) check_chains<4>(world);
  check_chains<8>(world);
  check_order(world);
  check_page();
}

}  // namespace

int main(int count, char** words) {
  by_ranks<1, 2, 4, 8>(count, words, [](auto ranks) { check_all<ranks>(); });
}
