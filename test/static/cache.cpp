// SPDX-License-Identifier: BSL-1.0
// A cache in a constant expression: five positions step by step are the whole pass. And its sizes.
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/umbel.hpp>

#include <tuple>
#include <utility>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<4>, heads<2>, rope<adjacent_pairs>>;
using memory = key_value_cache<attention, key<5>>;

constexpr bool steps_are_the_whole_pass() {
  attention::weights w{};
  for (std::size_t i = 0; i < 16; ++i) {
    const float e = static_cast<float>(i * 7 % 11) / 8 - 0.5f;
    w.q.weight[i] = e, w.k.weight[i] = 1 - e, w.v.weight[i] = e * e, w.o.weight[i] = 2 * e;
  }
  tensor<float, token<5>, hidden<4>> x{};
  for (std::size_t i = 0; i < decltype(x)::layout::count; ++i)
    x.data()[i] = static_cast<float>(i * 5 % 13) / 4 - 1;
  const attention attend{w};
  const auto whole = attend(x, causal);
  memory past{};
  for (std::size_t t = 0; t < 5; ++t) {
    tensor<float, token<1>, hidden<4>> now{}, out{};
    for (std::size_t d = 0; d < 4; ++d) now(0, d) = x(t, d);
    if (!past.step(out, attend, now) || past.size() != t + 1) return false;
    for (std::size_t d = 0; d < 4; ++d)
      if (out(0, d) != whole(t, d)) return false;
  }
  tensor<float, token<1>, hidden<4>> more{}, out{};
  return !past.step(out, attend, more) && past.rewind(2) && past.step(out, attend, more);
}
static_assert(steps_are_the_whole_pass());

static_assert(memory::capacity == 5 && memory::positions == 5 && memory::rows == 5);
static_assert(!memory::slides && key_value_cache<attention, key<5>, longest_sequence<9>>::slides);
static_assert(key_value_cache<attention, key<5>, longest_sequence<9>>::positions == 9);
static_assert(std::is_trivially_copyable_v<memory>);

// The same of a formula, which gives two results.
constexpr formula two_results = [](auto x, const auto& w) {
  auto k = x * w.k | rename_axis<token, key>;
  auto v = x * w.v | rename_axis<token, key>;
  auto scores = hide(contract<hidden>(x * w.q, k), position<key> > position<token>);
  return std::pair{contract<key>(softmax<key>(scores), v), x * w.o};
};
using row = tensor<float, token<1>, hidden<4>>;
using rows_so_far =
    key_value_cache<decltype(two_results), key<5>, called_with<row, attention::weights>>;

constexpr bool steps_of_a_formula_are_the_whole_pass() {
  attention::weights w{};
  for (std::size_t i = 0; i < 16; ++i) {
    const float e = static_cast<float>(i * 7 % 11) / 8 - 0.5f;
    w.q.weight[i] = e, w.k.weight[i] = 1 - e, w.v.weight[i] = e * e, w.o.weight[i] = 2 * e;
  }
  tensor<float, token<4>, hidden<4>> x{};
  for (std::size_t i = 0; i < 16; ++i) x.data()[i] = static_cast<float>(i * 5 % 13) / 4 - 1;
  const auto [context, projected] = two_results(x, w);
  rows_so_far past{};
  for (std::size_t t = 0; t < 4; ++t) {
    row now{}, out{}, also{};
    for (std::size_t d = 0; d < 4; ++d) now(0, d) = x(t, d);
    if (!past.step(std::tie(out, also), two_results, now, w) || past.size() != t + 1) return false;
    for (std::size_t d = 0; d < 4; ++d)
      if (out(0, d) != context(t, d) || also(0, d) != projected(t, d)) return false;
  }
  return true;
}
static_assert(steps_of_a_formula_are_the_whole_pass());
static_assert(std::is_trivially_copyable_v<rows_so_far> && rows_so_far::capacity == 5);
static_assert(sizeof(workspace_for<rows_so_far, row, attention::weights>) ==
              sizeof(rows_so_far::workspace<token<1>>));
