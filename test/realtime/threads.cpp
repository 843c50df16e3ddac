// SPDX-License-Identifier: BSL-1.0
// Executors with real threads, and threads that share layers and weights but not workspaces: the
// bits of one thread, round after round. checked.py runs it with the thread sanitizer. With an
// argument, two threads write one number.
#include <umbel/bare.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../../examples/thread_pool.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel_test::drawn;
using umbel_test::drawn_weights;
using umbel_test::lcg;

using layer = multi_head_attention<float, hidden<24>, heads<3>, rope<split_halves>, bias<true>>;
using tokens = tensor<float, batch<3>, token<17>, hidden<24>>;

void expect_same(const tokens& out, const tokens& wanted, const char* what) {
  if (std::memcmp(out.data(), wanted.data(), sizeof(float) * tokens::layout::count) == 0) return;
  std::printf("%s: other bits\n", what);
  std::exit(1);
}

}  // namespace

int main(int count, char**) {
  static lcg next{1};
  static const auto w = drawn_weights<layer>(next);
  static const prepacked<layer> packed{w};
  static const auto x = drawn<tokens>(next, 2);
  static const tensor<int, batch<3>> lens{17, 5, 11};
  static tokens wanted = layer{w}(x, lens);

  if (count > 1) {
    const auto write = [] { wanted(0, 0, 0) += 1; };
    std::thread one(write), other(write);
    one.join(), other.join();
    return 0;
  }

  static layer::workspace<token<17>> work[3];
  static thread_pool<3> pool;
  static tokens out;
  for (int round = 0; round < 200; ++round) {
    layer{w}.into(out, x, lens, parallel(pool, work));
    expect_same(out, wanted, "an executor");
    packed.into(out, x, lens, parallel(pool, work));
    expect_same(out, wanted, "an executor, packed");
  }

  // A formula, of a step that needs what the pieces of another wrote, with a program in its place.
  static constexpr formula block = [](auto x, const auto& w, auto lengths) {
    constexpr auto heads_of = [](auto y) {
      return y | split<hidden, heads<3>, head_dim> | permute<batch, heads, token, head_dim>;
    };
    auto q = heads_of(x * w.q) | rename_axis<token, query>;
    auto k = heads_of(x * w.k) | rename_axis<token, key>;
    auto v = heads_of(x * w.v) | rename_axis<token, key>;
    auto scores = hide(contract<head_dim>(q, k) * 0.25f, position<key> >= lengths);
    auto context = contract<key>(softmax<key>(scores), v) | rename_axis<query, token>;
    return x + silu((context | permute<batch, token, heads, head_dim> | contiguous |
                     merge<heads, head_dim, hidden>)*w.o);
  };
  static const layer::weights_view parts = w;
  static workspace_for<decltype(block), tokens, layer::weights_view, tensor<int, batch<3>>> room[3];
  static const tokens formed = block(x, parts, lens, room[0]);
  for (int round = 0; round < 200; ++round) {
    block.into(out, x, parts, lens, parallel(pool, room));
    expect_same(out, formed, "a formula and an executor");
  }

  const auto alone = [] {
    static thread_local layer::workspace<token<17>> own;
    static thread_local tokens y;
    for (int round = 0; round < 50; ++round) {
      packed.into(y, x, lens, own);
      expect_same(y, wanted, "threads that share weights");
    }
  };
  std::thread one(alone), other(alone);
  one.join(), other.join();
  return 0;
}
