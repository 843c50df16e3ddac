// SPDX-License-Identifier: BSL-1.0
// Mistakes in drawing tokens: one case each, with the words that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

#include <umbel/decode/sample.hpp>

using namespace umbel;
using namespace umbel::axes;

[[maybe_unused]] static void cases(sampler<float, classes<8>>& sample,
                                   tensor<float, token<2>, classes<8>>& all,
                                   tensor<float, classes<8>>& logits) {
  (void)sample, (void)all, (void)logits;
#if defined CASE_logits_of_several_positions
  // expect-gcc: "umbel: sampler: takes logits along one axis; select a position first \[token=2, classes=8\]"
  // expect-clang: sampler.*takes_logits_along_one_axis_select_a_position_first.*token<2>.*classes<8>
  // cause: The logits of several positions or sequences are passed.
  // cure: Those of the last: `sample(logits | select_at<token, 1>)`.
  auto r = sample(all);
#elif defined CASE_logits_of_another_vocabulary
  // expect-gcc: "umbel: sampler: takes the logits of one position along classes=8 float but got \[classes=9\]"
  // expect-clang: sampler.*takes_the_logits_of_one_position_along.*classes<8>.*element<float>.*but_got.*classes<9>
  // cause: The sampler was made for another number of tokens.
  // cure: `sampler<float, classes<9>>`.
  auto r = sample(tensor<float, classes<9>>{});
#elif defined CASE_most_likely_of_several_positions
  // expect-gcc: "umbel: most_likely: takes logits along one axis; select a position first \[token=2, classes=8\]"
  // expect-clang: most_likely.*takes_logits_along_one_axis_select_a_position_first.*token<2>.*classes<8>
  // cause: The logits of several positions or sequences are passed.
  // cure: Those of the last: `most_likely(logits | select_at<token, 1>)`.
  auto r = most_likely(all);
#elif defined CASE_tokens_that_are_no_integers
  // expect-gcc: "umbel: penalise_repetition: takes tokens as integers along one axis, not float \[token=3\]"
  // expect-clang: penalise_repetition.*takes_tokens_as_integers_along_one_axis_not.*element<float>.*token<3>
  // cause: Tokens are indices of the logits.
  // cure: `tensor<int, token<3>>`.
  penalise_repetition(logits, tensor<float, token<3>>{}, 1.1f);
#else
  auto r = sample(all | select_at<token, 1>);
  penalise_repetition(logits, tensor<int, token<3>>{}, 1.1f);
  (void)r;
#endif
}
