// SPDX-License-Identifier: BSL-1.0
// Taps: what attend writes of scores and probabilities on its way, against plain::attend bit for
// bit, and what the stages mean. That a tap changes no bit of the context.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

namespace {

using namespace umbel_test::attending;

constexpr std::size_t guard = 40;

template <class Tap, attend_shape S>
constexpr std::size_t tap_size =
    (S.queries - 1) * Tap::query_stride + (S.keys - 1) * Tap::key_stride + 1;

template <class Tap, attend_shape S, class T, class Policy>
buffer<T> plain_tap(problem<S, T>& p, const Policy& policy) {
  buffer<T> o{S.queries * S.value_dim}, to{tap_size<Tap, S>, guard};
  plain::attend<S>(p.q.get(), p.k.get(), p.v.get(), p.scale, policy, o.get(), Tap{to.get()});
  return to;
}

// What lies between the rows of a tap keeps its guard value: same_numbers sees that.
template <class Tap, target Target, attend_shape S, class T, class Policy>
void check_tap(problem<S, T>& p, const Policy& policy, const char* what) {
  buffer<T> right = plain_tap<Tap>(p, policy);
  buffer<T> o{S.queries * S.value_dim, 16}, to{tap_size<Tap, S>, guard};
  buffer<T> scratch{attend_scratch<S, T, Target>, guard};
  attend<S, T, Target>(p.q, p.k.get(), p.v.get(), p.scale, policy, o, scratch, Tap{to.get()});
  expect(to.same_numbers(right), what, Target);
  buffer<T> context = p.plain(policy);
  expect(o.same_numbers(context), "context", Target);
  expect(to.guards_are_whole() && scratch.guards_are_whole(), "guards", Target);
  if constexpr (score_tap<Tap>) {
    buffer<T> alone{tap_size<Tap, S>, guard};
    tap_scores<S, T, Target>(p.q, p.k.get(), p.scale, policy, scratch, Tap{alone.get()});
    expect(alone.same_numbers(right), "alone", Target);
  }
}

constexpr std::size_t queries = usual.queries, keys = usual.keys;
template <tap_stage Stage>
using by_row = tap<Stage, float, keys>;
template <tap_stage Stage>
using by_column = tap<Stage, float, 1, queries + 2>;
template <tap_stage Stage>
using spread = tap<Stage, float, keys * 3 + 5, 3>;

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_tap)

// Every two of stage, layout and vectors meet, and what changes scores where a stage shows it: each
// is a kernel for the compiler.
BOOST_AUTO_TEST_CASE(every_stage_layout_and_number_of_lanes) {
  problem<usual> p;
  const auto mask = flags(queries, keys, speckled);
  const scores::kept kept(bytes(mask), keys, 1);
  const scores::window window{270, 9, 440};
  const scores::dropout drop(1, 2, 0.25f);
  const scores::all_of masks(kept, window, drop);
  const scores::all_of all(scores::softcap{2.0f}, scores::alibi{-0.25f, 264}, kept, window, drop);
  check_tap<by_row<tap_stage::raw>, widest>(p, masks, "raw");
  check_tap<by_row<tap_stage::changed>, widest>(p, all, "changed");
  check_tap<by_row<tap_stage::probabilities>, widest>(p, masks, "probabilities");
  check_tap<by_row<tap_stage::weights>, widest>(p, all, "weights");
#if !UMBEL_SANITIZED  // compile time
  check_tap<by_column<tap_stage::raw>, vector_16>(p, masks, "raw, by column, 16 bytes");
  check_tap<by_column<tap_stage::changed>, vector_16>(p, all, "changed, by column, 16 bytes");
  check_tap<by_column<tap_stage::weights>, vector_16>(p, masks, "weights, by column, 16 bytes");
  check_tap<spread<tap_stage::weights>, vector_32>(p, all, "spread, 32 bytes");
  check_tap<by_row<tap_stage::weights>, scalar_target>(p, masks, "weights, scalar");
  check_tap<by_row<tap_stage::changed>, scalar_target>(p, all, "changed, scalar");
#endif
}

BOOST_AUTO_TEST_CASE(without_a_policy_to_speak_of) {
  problem<usual> p;
  check_tap<by_row<tap_stage::raw>, widest>(p, scores::every_key{}, "every key");
  check_tap<by_row<tap_stage::probabilities>, widest>(p, scores::every_key{}, "every key");
  for (std::size_t count : {0u, 1u, 31u, 256u, 299u, 523u}) {
    check_tap<by_row<tap_stage::weights>, widest>(p, scores::first_keys(count), "count");
    check_tap<by_row<tap_stage::changed>, widest>(p, scores::first_keys(count), "count");
  }
  for (std::ptrdiff_t offset : {-55, -20, 0, 255, 470}) {
    check_tap<by_row<tap_stage::weights>, widest>(p, scores::causal{offset}, "causal");
  }
}

// In one block the exponentials of the softmax are still there, if it drops what the tap drops.
BOOST_AUTO_TEST_CASE(small_shapes_and_doubles) {
  problem<rows_out<1, 1>> one;
  check_tap<tap<tap_stage::weights, float, 1>, widest>(one, scores::every_key{}, "one");
  check_tap<tap<tap_stage::raw, float, 1>, vector_16>(one, scores::every_key{}, "one");
  constexpr std::size_t in_one_block = 70;
  problem<columns_out<queries, in_one_block>> few;
  const auto mask = flags(queries, in_one_block, speckled);
  const scores::all_of policy(scores::kept(bytes(mask), in_one_block, 1), scores::window{30, 9, 20},
                              scores::dropout(1, 2, 0.25f));
  using weights = tap<tap_stage::weights, float, in_one_block>;
  using probabilities = tap<tap_stage::probabilities, float, in_one_block>;
  check_tap<weights, widest>(few, policy, "one block");
  check_tap<probabilities, vector_16>(few, policy, "one block");
  check_tap<probabilities, widest>(few, scores::first_keys(in_one_block), "one block");
  check_tap<probabilities, widest>(few, scores::first_keys(37), "one block");
  problem<rows_out<13, 21, 5, 4>, double> wide;
  check_tap<tap<tap_stage::weights, double, 23>, widest>(wide, scores::causal{3}, "double");
  check_tap<tap<tap_stage::changed, double, 23>, vector_32>(wide, scores::causal{3}, "double");
}

BOOST_AUTO_TEST_CASE(stages_mean_what_they_say) {
  constexpr attend_shape shape = rows_out<11, 270>;
  problem<shape> p;
  buffer<float> bias{11 * 270};
  seeded next{5};
  bias.fill(next, 2.0);
  for (std::size_t e = 0; e < bias.size(); e += 7) bias[e] = -infinity;
  const scores::softcap cap{1.5f};
  const scores::added plus(bias.get(), 270, 1);
  const scores::all_of policy(cap, plus, scores::dropout(1, 2, 0.25f));
  buffer<float> raw = plain_tap<tap<tap_stage::raw, float, 270>>(p, policy);
  buffer<float> changed = plain_tap<tap<tap_stage::changed, float, 270>>(p, policy);
  buffer<float> all = plain_tap<tap<tap_stage::probabilities, float, 270>>(p, policy);
  buffer<float> kept = plain_tap<tap<tap_stage::weights, float, 270>>(p, policy);
  // After the cap, before the bias: the scores of the policies up to there.
  buffer<float> capped{11 * 270}, scratch{attend_scratch<shape, float, widest>};
  tap_scores<shape, float, widest>(p.q, p.k.get(), p.scale, cap, scratch,
                                   tap<tap_stage::changed, float, 270>{capped.get()});
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < 11; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 270; ++j)
      sum += std::exp(static_cast<double>(changed[i * 270 + j]));
    for (std::size_t j = 0; j < 270; ++j) {
      const std::size_t e = i * 270 + j;
      double score = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        score += static_cast<double>(p.q[i * 3 + d]) * p.k[j * 3 + d];
      }
      score *= static_cast<double>(p.scale);
      const double after_cap = 1.5 * std::tanh(score / 1.5);
      BOOST_TEST(std::fabs(raw[e] - score) < 2e-6);
      BOOST_TEST(std::fabs(capped[e] - after_cap) < 2e-6);
      if (e % 7 == 0) {
        BOOST_TEST(changed[e] == -infinity);
        BOOST_TEST(all[e] == 0.0f);
        BOOST_TEST(kept[e] == 0.0f);
        continue;
      }
      BOOST_TEST(std::fabs(changed[e] - after_cap - static_cast<double>(bias[e])) < 3e-6);
      BOOST_TEST(std::fabs(all[e] - std::exp(static_cast<double>(changed[e])) / sum) < 1e-6);
      if (kept[e] == 0.0f)
        ++dropped;
      else
        BOOST_TEST(std::fabs(static_cast<double>(kept[e]) * 0.75 - all[e]) < 1e-7);
    }
  }
  BOOST_TEST((dropped > 500 && dropped < 780));
}

// The weights of the layers' tests: T* after o.
BOOST_AUTO_TEST_CASE(a_pointer_is_a_tap_of_weights) {
  constexpr attend_shape shape = rows_out<11, 70>;
  problem<shape> p;
  buffer<float> o{22}, weights{11 * 70};
  plain::attend<shape>(p.q.get(), p.k.get(), p.v.get(), p.scale, scores::causal{59}, o.get(),
                       weights.get());
  buffer<float> same = plain_tap<tap<tap_stage::weights, float, 70>>(p, scores::causal{59});
  BOOST_TEST(weights.same_numbers(same));
}

BOOST_AUTO_TEST_CASE(a_nan_query_stays_in_its_row) {
  problem<usual> p;
  p.q[4 * 3] = not_a_number;
  check_tap<by_row<tap_stage::weights>, widest>(p, scores::causal{290}, "NaN query");
  check_tap<by_row<tap_stage::changed>, widest>(p, scores::first_keys(290), "NaN query");
  buffer<float> to = plain_tap<by_row<tap_stage::weights>>(p, scores::causal{290});
  BOOST_TEST(std::isnan(to[4 * keys + 3]));
  BOOST_TEST(!std::isnan(to[5 * keys + 3]));
}

// Keys that are hidden are not read by a tap of what comes after hiding.
BOOST_AUTO_TEST_CASE(hidden_keys_are_not_read) {
  constexpr attend_shape shape = columns_out<20, 600>;
  problem<shape> p;
  const scores::window policy{5, 0, 270};
  using probabilities = tap<tap_stage::probabilities, float, 600>;
  buffer<float> right = plain_tap<probabilities>(p, policy);
  buffer<float> some{25 * 3}, values{25 * 2}, o{40}, to{12000, guard};
  buffer<float> scratch{attend_scratch<shape, float, widest>};
  for (std::size_t e = 0; e < 75; ++e) some[e] = p.k[265 * 3 + e];
  for (std::size_t e = 0; e < 50; ++e) values[e] = p.v[265 * 2 + e];
  attend<shape, float, widest>(p.q, some.get() - 265 * 3, values.get() - 265 * 2, p.scale, policy,
                               o, scratch, probabilities{to.get()});
  BOOST_TEST(to.same_bits(right));
}

BOOST_AUTO_TEST_CASE(taps_in_constant_expressions) {
  constexpr float sum = [] {
    const float q[1] = {1}, k[3] = {1, 1, 2}, v[3] = {};
    float o[1] = {}, to[3] = {};
    constexpr attend_shape shape{1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    plain::attend<shape>(q, k, v, 1.0f, scores::first_keys(2), o,
                         tap<tap_stage::probabilities, float, 3>{to});
    return to[0] + to[1] + 8 * to[2];
  }();
  static_assert(sum == 1);
  BOOST_TEST(sum == 1);
}

BOOST_AUTO_TEST_SUITE_END()
