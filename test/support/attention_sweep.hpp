// SPDX-License-Identifier: BSL-1.0
// One shape of multi-head attention against the reference, for every key and for lengths; and
// packed, with lengths (a mask does what it does after the projections that are packed). The shapes
// are in test/law/attention_*.cpp. Not here: any test.
#pragma once

#include <umbel/umbel.hpp>

#include "compare.hpp"
#include "random.hpp"
#include "reference.hpp"

namespace umbel_test {

template <class T, std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads, bool Bias>
void check_attention() {
  using namespace umbel;
  using namespace umbel::axes;
  using attention = multi_head_attention<T, hidden<Hidden>, heads<Heads>, bias<Bias>>;
  using queries = tensor<T, batch<Batch>, query<Queries>, hidden<Hidden>>;
  using context = tensor<T, batch<Batch>, key<Keys>, hidden<Hidden>>;
  static typename attention::template workspace<query<Queries>, key<Keys>> work;

  lcg next{Queries * 31 + Keys};
  const auto w = drawn_weights<attention>(next);
  static const prepacked<attention> packed{w};
  const auto x = drawn<queries>(next, 2);
  const auto y = drawn<context>(next, 2), z = drawn<context>(next);

  const attention_sizes sizes{Batch, Queries, Keys, Hidden, Heads};
  const auto check = [&](const auto& lens, const queries& result) {
    std::vector<std::size_t> count(Batch, Keys);
    if constexpr (requires { lens(0); })
      for (std::size_t b = 0; b < Batch; ++b) count[b] = static_cast<std::size_t>(lens(b));
    const reals wanted =
        reference_attention(sizes, w, reals_of(x), reals_of(y), reals_of(z), count);
    check_near("attention", result.data(), wanted.data(), wanted.size());
  };
  BOOST_TEST_CONTEXT(Batch << " x " << Queries << " queries, " << Keys << " keys, " << Hidden
                           << " wide, " << Heads << " heads" << (Bias ? ", bias" : "")) {
    check(all_keys, attention{w}(x, y, z, all_keys, work));
    tensor<int, batch<Batch>> lens{};
    for (std::size_t b = 0; b < Batch; ++b)
      lens(b) = static_cast<int>(1 + (Keys * (b + 1) * 2 / 3) % Keys);
    const queries shortened = attention{w}(x, y, z, lens, work);
    check(lens, shortened);
    BOOST_TEST(same_bits(shortened, packed(x, y, z, lens, work)), "packed");
  }
}

}  // namespace umbel_test
