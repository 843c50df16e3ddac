// SPDX-License-Identifier: BSL-1.0
// What a tap receives of a row with a score of infinity or NaN, against plain::attend: such a row
// is NaN where it sees, and a pair that is hidden from it has the weight 0 all the same. So does
// one whose weight is dropped.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

namespace {

using namespace umbel_test::attending;

constexpr std::size_t queries = 19, keys = 21;
constexpr attend_shape shape = columns_out<queries, keys>;

// Finite inputs whose product overflows, an infinity and a NaN. Each in a row, and in a key that
// some rows see.
void plant(problem<shape>& p) {
  for (std::size_t d = 0; d < 3; ++d) p.q[2 * 3 + d] = p.k[1 * 3 + d] = 1e19f;
  for (std::size_t d = 0; d < 3; ++d) p.q[5 * 3 + d] = p.k[17 * 3 + d] = -1e19f;
  p.q[7 * 3] = infinity;
  p.q[9 * 3 + 1] = not_a_number;
  p.k[12 * 3 + 2] = infinity;
  p.k[14 * 3] = not_a_number;
}

template <tap_stage Stage, target Target, class Policy>
void check_stage(problem<shape>& p, const Policy& policy, const char* what) {
  using tap_type = tap<Stage, float, keys>;
  buffer<float> right{queries * keys}, to{queries * keys}, context = p.plain(policy);
  buffer<float> o{queries * 2, 16}, scratch{attend_scratch<shape, float, Target>};
  plain::attend<shape>(p.q.get(), p.k.get(), p.v.get(), p.scale, policy, o.get(),
                       tap_type{right.get()});
  attend<shape, float, Target>(p.q, p.k.get(), p.v.get(), p.scale, policy, o, scratch,
                               tap_type{to.get()});
  BOOST_TEST(to.same_numbers(right), what);
  BOOST_TEST(o.same_numbers(context), what << ", context");
  if constexpr (!score_tap<tap_type>) {
    std::size_t of_rows[3]{};  // rows that are NaN, and what they have besides
    for (std::size_t i = 0; i < queries; ++i) {
      const auto over = policy.template over<float>(i, 1);
      const auto range = policy.range(i, 1, keys);
      const bool is_row_nan = std::isnan(p.at(context, i, 0));
      of_rows[0] += is_row_nan;
      for (std::size_t j = 0; j < keys; ++j) {
        const bool seen = j >= range.begin && j < range.end && over.sees(j);
        const float weight = to[i * keys + j];
        if (!seen) BOOST_TEST(weight == 0.0f, what << ", hidden " << i << " " << j);
        if (is_row_nan) ++of_rows[seen ? 1 : 2];
        if constexpr (!scores::drops<Policy>) {
          if (is_row_nan && seen)
            BOOST_TEST(std::isnan(weight), what << ", seen " << i << " " << j);
        }
      }
    }
    BOOST_TEST((of_rows[0] > 3 && of_rows[1] > 9 && of_rows[2] > 9), what << ", too tame");
  }
}

template <target Target, class Policy>
void check_stages(const Policy& policy, const char* what) {
  problem<shape> p;
  plant(p);
  check_stage<tap_stage::changed, Target>(p, policy, what);
  check_stage<tap_stage::probabilities, Target>(p, policy, what);
  check_stage<tap_stage::weights, Target>(p, policy, what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_overflow)

BOOST_AUTO_TEST_CASE(flags_hide) {
  const auto mask = flags(queries, keys, speckled);
  const scores::kept policy(bytes(mask), keys, 1);
  check_stages<vector_16>(policy, "flags, 16 bytes");
  check_stages<widest>(policy, "flags, widest");
}

BOOST_AUTO_TEST_CASE(positions_hide) {
  check_stages<widest>(scores::causal{1}, "causal, widest");
  check_stages<scalar_target>(scores::causal{1}, "causal, scalar");
}

BOOST_AUTO_TEST_CASE(weights_are_dropped) {
  const auto mask = flags(queries, keys, speckled);
  const scores::all_of policy(scores::kept(bytes(mask), keys, 1), scores::dropout(1, 2, 0.25f));
  check_stages<vector_16>(policy, "dropped, 16 bytes");
  check_stages<widest>(policy, "dropped, widest");
}

BOOST_AUTO_TEST_SUITE_END()
