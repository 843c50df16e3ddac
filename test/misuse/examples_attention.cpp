// SPDX-License-Identifier: BSL-1.0
// One-place mistakes in the project's examples: 01 and 02.
#include <misuse/preamble.hpp>

#if defined CASE_hello_seven_heads
// fact: hidden=100
// fact: heads=7
using layer = multi_head_attention<float, hidden<100>, heads<7>, bias<false>>;
static layer::weights v;
int main() {
  for (auto* map : {&v.q, &v.k, &v.v, &v.o})
    for (std::size_t i = 0; i < 100; ++i) (*map)(i, i) = 1;
  const queries out = layer{v}(x, y, y, lens);
  return out(at<hidden>(0), at<batch>(1), at<query>(3)) == 0.5f ? 0 : 1;
}
#elif defined CASE_hello_weights_of_a_narrower_layer
// fact: hidden=100|hidden=80
// fact: weights|multi_head
static multi_head_attention<float, hidden<80>, heads<5>, bias<false>>::weights v;
int main() {
  const queries out = attention{v}(x, y, y, lens);
  return out(0, 0, 0) > 0;
}
#elif defined CASE_hello_three_lengths
// fact: batch=3
// fact: batch=2
int main() {
  constexpr tensor<int, batch<3>> valid_lens{3, 2, 6};
  const queries out = attention{w}(x, y, y, valid_lens);
  std::printf("%g\n", static_cast<double>(out(1, 0, 0)));
}
#elif defined CASE_hello_result_into_context
// fact: query=4
// fact: key=6
int main() {
  const context out = attention{w}(x, y, y, lens);
  return out(1, 0, 0) > 0;
}
#elif defined CASE_hello_values_forgotten
// fact: values
// fact: keys
int main() {
  const queries out = attention{w}(x, y);
  return out(1, 0, 0) > 0;
}
#elif defined CASE_hello_layer_not_made
// fact: weights
// fact: attention
int main() {
  const queries out = attention(x, y, y, lens);
  return out(1, 0, 0) > 0;
}
#elif defined CASE_hello_at_of_key
// fact: key
// fact: query
int main() {
  const queries out = attention{w}(x, y, y, lens);
  return out(at<hidden>(0), at<batch>(1), at<key>(3)) == 0.5f;
}
#elif defined CASE_hello_map_with_three_indices
// fact: 2|hidden
// fact: 3
int main() {
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (std::size_t i = 0; i < 100; ++i) (*map)(i, i, 0) = 1;
}
#elif defined CASE_by_hand_keys_named_query
// fact: query
// fact: key=6
auto f() {
  auto k = y * w.k | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  return k;
}
#elif defined CASE_by_hand_contract_over_heads
// fact: key
// fact: query=4|heads
auto f() {
  auto q = x * w.q | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = y * w.k | split<hidden, heads<5>, head_dim> | permute<batch, heads, key, head_dim>;
  auto scores = contract<heads>(q, k);
  return softmax<token>(scores);
}
#elif defined CASE_by_hand_other_number_of_heads
// fact: head_dim=20
// fact: head_dim=25
auto f() {
  auto q = x * w.q | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  auto k = y * w.k | split<hidden, heads<4>, head_dim> | permute<batch, heads, key, head_dim>;
  auto scores = contract<head_dim>(q, k) * 0.2f;
  return softmax<key>(mask_after<key>(scores, lens));
}
#elif defined CASE_by_hand_split_by_ten
// fact: head_dim=20
// fact: head_dim=10
auto f() {
  auto q = x * w.q | split<hidden, heads<5>, head_dim>;
  auto k = y * w.k | split<hidden, heads<10>, head_dim>;
  return contract<head_dim>(q | select_at<heads, 0>, k | select_at<heads, 0>);
}
#elif defined CASE_by_hand_softmax_over_query_axis_of_keys
// fact: token
// fact: key=6
auto f() {
  auto scores = contract<hidden>(x, y);
  return softmax<token>(scores);
}
#elif defined CASE_by_hand_merge_before_permute
// fact: heads=5
// fact: head_dim=20
auto f() {
  auto q = x * w.q | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  return (q | contiguous | merge<heads, head_dim, hidden>)*w.o;
}
#elif defined CASE_by_hand_unmerged_projected
// fact: hidden
// fact: heads|head_dim
auto f() {
  auto q = x * w.q | split<hidden, heads<5>, head_dim>;
  return q * w.o;
}
#elif defined CASE_by_hand_lengths_before_the_scores
// fact: key
// fact: head_dim|query
auto f() {
  auto q = x * w.q | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  return mask_after<key>(q, lens);
}
#elif defined CASE_by_hand_compare_with_keys
// fact: query=4
// fact: key=6
int main() {
  float worst = 0;
  for_each([&](float a, float b) { worst = a > b ? a : b; }, x, y);
  return worst > 0;
}
#endif
