// SPDX-License-Identifier: BSL-1.0
// flags-gcc: -fconstexpr-ops-limit=1000000000 -fconstexpr-loop-limit=10000000
// flags-clang: -fconstexpr-steps=2000000000
// The d2l book's toy case, evaluated whole by the compiler: the layer itself, not a model of it.
#include <umbel/umbel.hpp>

#include "../golden/data/d2l_multi_head.hpp"
#include "../support/random.hpp"

using namespace umbel;
using namespace umbel::axes;

namespace g = golden::d2l_random_lengths;
using attention = multi_head_attention<float, hidden<g::hidden>, heads<g::heads>>;
using queries = tensor<float, batch<g::batch>, query<g::queries>, hidden<g::hidden>>;
using context = tensor<float, batch<g::batch>, key<g::keys>, hidden<g::hidden>>;

struct problem {
  queries x{};
  context y{};
  attention::weights w{};
};
static constexpr problem drawn = [] {
  problem p;
  umbel_test::lcg next{g::seed};
  umbel_test::draw(next, p.x);
  umbel_test::draw(next, p.y);
  umbel_test::draw_attention(next, p.w, g::weight_scale, 0);
  return p;
}();
static constexpr tensor<int, batch<2>> valid_lens(g::lengths);

constexpr queries out = attention{drawn.w}(drawn.x, drawn.y, drawn.y, valid_lens);

static_assert([] {
  for (std::size_t i = 0; i < queries::layout::count; ++i) {
    const float error = out.data()[i] - g::output[i];
    if (!(error < 1e-5f && error > -1e-5f)) return false;
  }
  return true;
}());
