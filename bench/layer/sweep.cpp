// SPDX-License-Identifier: BSL-1.0
// Self-attention over a grid of sizes, made with Boost.Hana: how speed changes with tokens and
// width.
#include <boost/hana.hpp>
#include <umbel/umbel.hpp>

#include "../measure.hpp"

namespace {

namespace hana = boost::hana;
using namespace umbel;
using namespace umbel::axes;

constexpr auto grid = hana::cartesian_product(
    hana::make_tuple(hana::tuple_t<query<8>, query<24>, query<96>>,
                     hana::tuple_t<hidden<32>, hidden<96>>, hana::tuple_t<heads<4>>));

template <class Tokens, class Hidden, class Heads>
void add() {
  using attention = multi_head_attention<float, Hidden, Heads, bias<true>>;
  static tensor<float, Tokens, Hidden> x, y;
  static typename attention::weights w;
  static typename attention::template workspace<Tokens> work;
  bench::fill(x, 1);
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) {
    bench::fill(map->weight, 0.1f);
    bench::fill(map->bias, 0.1f);
  }
  static const prepacked<attention> attend{w};
  constexpr double tokens = Tokens::size, width = Hidden::size;
  bench::add_row(bench::row_name("mha_sweep/", {Tokens::size, Hidden::size, Heads::size}, ','),
                 8 * tokens * width * width + 4 * tokens * tokens * width,
                 [] { attend.into(y, x, all_keys, work); });
}

const bool added = [] {
  hana::for_each(grid, hana::fuse([](auto tokens, auto width, auto parts) {
                   add<typename decltype(tokens)::type, typename decltype(width)::type,
                       typename decltype(parts)::type>();
                 }));
  return true;
}();

}  // namespace
