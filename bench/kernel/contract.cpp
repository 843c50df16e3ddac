// SPDX-License-Identifier: BSL-1.0
// Contractions alone, rows x depth x columns, both sides known only at run time, of the heads of
// (token, heads, head_dim): scores are queries times keys over head_dim, values are weights times
// values over the keys. 2 rows depth columns operations a head.
#include <umbel/kernel/float/contract_loops.hpp>

#include "../measure.hpp"

namespace {

using umbel::detail::kernel::contract_axis;

template <umbel::detail::kernel::contract_loops Loops, std::size_t X, std::size_t Y,
          std::size_t Out>
void add(const std::string& name, double flops) {
  alignas(64) static float x[X], y[Y], out[Out],
      scratch[umbel::detail::kernel::contract_all_scratch<Loops, float> + 1];
  bench::fill(x, 1);
  bench::fill(y, 1);
  bench::add_row(name, flops,
                 [] { umbel::detail::kernel::contract_all<Loops>(x, y, out, scratch); });
}

std::string name_of(std::initializer_list<std::size_t> sizes, const char* kind, std::size_t heads) {
  return bench::row_name("contract/", sizes, 'x') + kind + std::to_string(heads) + " heads";
}

template <std::size_t Heads, std::size_t Queries, std::size_t Keys, std::size_t HeadDim>
void add_head() {
  constexpr std::size_t hidden = Heads * HeadDim;
  constexpr double flops = 2.0 * Heads * Queries * Keys * HeadDim;
  constexpr auto lowered = [](const auto& kept, const contract_axis& summed) {
    return umbel::detail::kernel::lower_contraction<float, 3>(kept, 3, &summed, 1);
  };
  constexpr contract_axis scores[] = {
      {Heads, HeadDim, HeadDim, Queries * Keys}, {Queries, hidden, 0, Keys}, {Keys, 0, hidden, 1}};
  add<lowered(scores, contract_axis{HeadDim, 1, 1, 0}), Queries * hidden, Keys * hidden,
      Heads * Queries * Keys>(name_of({Queries, HeadDim, Keys}, " scores, ", Heads), flops);
  constexpr contract_axis values[] = {
      {Heads, Queries * Keys, HeadDim, HeadDim}, {Queries, Keys, 0, hidden}, {HeadDim, 0, 1, 1}};
  add<lowered(values, contract_axis{Keys, 1, hidden, 0}), Heads * Queries * Keys, Keys * hidden,
      Queries * hidden>(name_of({Queries, Keys, HeadDim}, " values, ", Heads), flops);
}

const bool added = [] {
  add_head<8, 128, 128, 32>();
  add_head<4, 64, 64, 64>();
  add_head<2, 16, 32, 32>();
  add_head<5, 4, 6, 20>();
  return true;
}();

}  // namespace
