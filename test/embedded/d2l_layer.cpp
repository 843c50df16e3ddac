// SPDX-License-Identifier: BSL-1.0
// The attention layer of "Dive into Deep Learning" (README.md), weights packed by the compiler:
// batch 2, 4 queries, 6 keys, hidden 100, 5 heads, a length a sequence. Its cost is measured.
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;

constexpr attention::weights natural = [] {
  attention::weights w{};
  embedded::lcg next;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) embedded::draw(next, map->weight, 0.125F);
  return w;
}();
constexpr prepacked<attention> attend{natural};

static constinit queries x{}, out{};
static constinit context y{};
static constinit attention::workspace<query<4>, key<6>> work{};

MEASURED void forward() noexcept { attend.into(out, x, y, y, tensor<int, batch<2>>{3, 2}, work); }

int main() {
  embedded::lcg next{2};
  embedded::draw(next, x);
  embedded::draw(next, y);
  forward();
  embedded::check_bits("d2l layer", out);
  embedded::multiply_accumulates(2 * (4 + 6 + 6 + 4) * 100 * 100 + 2 * 4 * (3 + 2) * 100);
  embedded::forward_of_other_data<forward>(x, y);
  return embedded::finish();
}
