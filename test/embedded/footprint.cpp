// SPDX-License-Identifier: BSL-1.0
// What footprint says before anything is linked is what the linker says afterwards (bounds.py):
// here a step of a cache, with a table of rotations.
#include <umbel/inspect/footprint.hpp>

#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<16>, heads<2>, rope<split_halves>>;
using past = key_value_cache<attention, key<10>>;
using step = tensor<float, token<1>, hidden<16>>;

namespace measured {
constexpr attention::weights natural = [] {
  attention::weights w{};
  embedded::lcg next;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) embedded::draw(next, map->weight, 0.25F);
  return w;
}();
constexpr prepacked<attention> attend{natural};
static constinit past cache{};
static constinit past::workspace<token<1>> work{};
static constinit step x{}, out{};
}  // namespace measured

int main() {
  embedded::lcg next{2};
  for (int i = 0; i < 10; ++i) {
    embedded::draw(next, measured::x);
    embedded::check("footprint: a step of a cache",
                    measured::cache.step(measured::out, measured::attend, measured::x, all_keys,
                                         measured::work));
  }
  embedded::check_bits("footprint: a step of a cache with rope", measured::out);
  embedded::print_footprint(footprint<prepacked<attention>, past, token<1>>,
                            "measured::attend measured::cache measured::work measured::x "
                            "measured::out umbel::detail::constant_rope_turns");
  return embedded::finish();
}
