// SPDX-License-Identifier: BSL-1.0
// The 25th step of decoding with a cache of 32 positions: hidden 64, 4 heads, weights packed by the
// compiler. Its bits are those of the whole causal pass; its cost is measured.
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<64>, heads<4>>;
using one = tensor<float, token<1>, hidden<64>>;
using sequence = tensor<float, token<25>, hidden<64>>;
using cache = key_value_cache<attention, key<32>>;

constexpr attention::weights natural = [] {
  attention::weights w{};
  embedded::lcg next;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) embedded::draw(next, map->weight, 0.25F);
  return w;
}();
constexpr prepacked<attention> attend{natural};

static constinit one x{}, out{};
static constinit cache past{};
static constinit cache::workspace<token<1>> work{};
static bool full = false;

[[gnu::noinline]] static void step() noexcept {
  full |= !past.step(out, attend, x, all_keys, work);
}
MEASURED void forward() noexcept { step(); }

static void again() noexcept {
  forward();
  full |= !past.rewind(24);
}

static constinit sequence all{};
static constinit attention::workspace<token<25>> whole_work{};

int main() {
  embedded::lcg next{2};
  embedded::draw(next, all);
  for (std::size_t i = 0; i < 25; ++i) {
    for (std::size_t d = 0; d < 64; ++d) x(0, d) = all(i, d);
    i < 24 ? step() : forward();
  }
  embedded::check_bits("decode step", out);
  attend.into(all, all, causal, whole_work);
  bool equal = !full;
  for (std::size_t d = 0; d < 64; ++d) equal = equal && out(0, d) == all(24, d);
  embedded::check("decode step: the last row of the whole causal pass", equal);
  embedded::multiply_accumulates(4 * 64 * 64 + 2 * 25 * 64);
  full |= !past.rewind(24);
  embedded::forward_of_other_data<again>(x);
  return embedded::finish();
}
