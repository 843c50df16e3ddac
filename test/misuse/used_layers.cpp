// SPDX-License-Identifier: BSL-1.0
// A wrong layer, or a wrong call, whose result is used.
#include <misuse/preamble.hpp>

#if defined CASE_layer_result_indexed
// fact: query
// fact: key=6
float r = attention{w}(y, x, x)(0, 0, 0);
#elif defined CASE_layer_result_printed
// fact: query
// fact: key=6
void f() {
  auto out = attention{w}(y, x, x);
  std::printf("%g\n", static_cast<double>(out(0, 0, 0)));
}
#elif defined CASE_layer_result_printed_whole
// fact: query
// fact: key=6
void f() { std::cout << attention{w}(y, x, x); }
#elif defined CASE_layer_result_added
// fact: query
// fact: key=6
auto r = x + attention{w}(y, x, x);
#elif defined CASE_layer_result_normed
// fact: query
// fact: key=6
auto f(const layer_norm<float, hidden<100>>& n) { return attention{w}(y, x, x) | n; }
#elif defined CASE_layer_result_looped
// fact: query
// fact: key=6
void f() {
  for (float e : attention{w}(y, x, x)) std::printf("%g ", static_cast<double>(e));
}
#elif defined CASE_layer_result_compared
// fact: query
// fact: key=6
bool r = attention{w}(y, x, x) == x;
#elif defined CASE_layer_result_decomposed
// fact: query
// fact: key=6
void f() {
  auto [out, weights] = attention{w}(y, x, x);
  (void)out;
  (void)weights;
}
#elif defined CASE_wrong_layer_weights_filled
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
wrong::weights v;
void f() {
  for (auto* map : {&v.q, &v.k, &v.v, &v.o})
    for (float& e : map->weight) e = 1;
}
#elif defined CASE_wrong_layer_called
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
wrong::weights v;
auto f() { return wrong{v}(t)(0, 0, 0); }
#elif defined CASE_wrong_layer_weights_set
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
void f(wrong::weights& v) {
  v.q(0, 0) = 1;
  v.k.weight[2] = 2;
  v.o(63, 63) = 3;
}
#elif defined CASE_wrong_layer_with_workspace
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
wrong::weights v;
wrong::workspace<token<12>> work;
void f(tokens& out) { wrong{v}.into(out, t, causal, work); }
#elif defined CASE_wrong_layer_prepacked
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
auto f(const wrong::weights& v) {
  const prepacked<wrong> packed{v};
  return packed(t, causal);
}
#elif defined CASE_wrong_layer_in_a_cache
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
wrong::weights v;
key_value_cache<wrong, key<40>> past;
void f(row& o, const row& in) {
  while (past.size() < 40)
    if (!past.step(o, wrong{v}, in)) return;
}
#elif defined CASE_wrong_layer_borrowed
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>, bias<true>>;
float memory[4096], b[64];
const auto q = view_as<in_features, out_features>(memory);
wrong::weights_view borrowed{{q, b}, {q, b}, {q, b}, {q, b}};
#elif defined CASE_wrong_layer_asked
// fact: hidden=64
// fact: heads=6
using wrong = multi_head_attention<float, hidden<64>, heads<6>>;
static_assert(wrong::sizes.head_dim == 10);
#elif defined CASE_wrong_encoder_filled
// fact: hidden=32
// fact: heads=5
using wrong = encoder_layer<float, hidden<32>, heads<5>, intermediate<64>, bias<true>,
                            norm_first<true>, activation<relu>>;
wrong::weights v;
auto f(const tensor<float, token<9>, hidden<32>>& in) {
  v.attention.q(0, 0) = 1;
  return wrong{v}(in);
}
#elif defined CASE_wrong_encoder_weights_size
// fact: hidden=32
// fact: heads=5
using wrong = encoder_layer<float, hidden<32>, heads<5>, intermediate<64>, bias<true>,
                            norm_first<true>, activation<relu>>;
constexpr std::size_t r = sizeof(wrong::weights);
#elif defined CASE_wrong_linear_result_used
// fact: hidden=64
// fact: hidden=100
float f(const linear<float, hidden<64>, classes<10>>& l) {
  auto logits = x | l;
  return logits(0, 0, 9);
}
#elif defined CASE_wrong_mask_result_used
// fact: key=7
// fact: key=6
float f(const tensor<bool, batch<2>, key<7>>& mask) {
  const auto out = attention{w}(x, y, y, keep_mask(mask));
  return out(0, 0, 0);
}
#elif defined CASE_wrong_select_used_as_a_row
// fact: query=4
// fact: 9
void f(float* out) {
  auto q = x | select_at<query, 9>;
  for (std::size_t i = 0; i < 100; ++i) out[i] = q(0, i);
}
#elif defined CASE_wrong_merge_projected
// fact: heads=5
// fact: head_dim=20
auto f() {
  return (x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim> |
          merge<heads, head_dim, hidden>)*w.o;
}
#elif defined CASE_wrong_reshape_sorted
// fact: 800
// fact: 700
void f(queries& q) {
  auto s = q | reshape<token<7>, hidden<100>>;
  std::sort(s.begin(), s.end());
}
#elif defined CASE_wrong_view_filled
// fact: 800
// fact: 700
float memory[700];
void f() {
  auto v = view_as<queries>(memory);
  v(0, 0, 0) = 1;
  std::fill(v.begin(), v.end(), 0.0f);
}
#elif defined CASE_wrong_contract_reduced
// fact: head_dim
// fact: hidden=100
float f() {
  float most = 0;
  for (float e : contract<head_dim>(x, y)) most = std::max(most, e);
  return most;
}
#elif defined CASE_wrong_rename_attended
// fact: token
// fact: query=4
auto r = attention{w}(x | rename_axis<token, query>, y, y);
#elif defined CASE_ternary_of_a_wrong_sum
// fact: query=4
// fact: key=6
queries f(bool which) { return which ? x + y : x; }
#elif defined CASE_vector_of_wrong_sums
// fact: query=4
// fact: key=6
void f() {
  auto s = x + y;
  std::vector<decltype(s)> all;
  all.push_back(s);
}
#elif defined CASE_optional_wrong_result
// fact: query=4
// fact: key=6
std::optional<queries> f() { return x + y; }
#elif defined CASE_tuple_of_wrong_result
// fact: query=4
// fact: key=6
auto r = std::make_tuple(x + y, 1);
#elif defined CASE_swapped_layer_called
// fact: hidden
// fact: heads=5
using wrong = multi_head_attention<float, heads<5>, hidden<100>>;
wrong::weights v;
auto f() { return wrong{v}(x, y, y, lens)(0, 0, 0); }
#elif defined CASE_layer_without_type_called
// fact: float or double
// fact: hidden=64
using wrong = multi_head_attention<hidden<64>, heads<8>>;
wrong::weights v;
wrong::workspace<token<12>> work;
void f(tokens& out) { wrong{v}.into(out, t, causal, work); }
#elif defined CASE_layer_of_integers_called
// fact: float or double
// fact: int
using wrong = multi_head_attention<int, hidden<64>, heads<8>>;
wrong::weights v;
auto f(const tensor<int, token<12>, hidden<64>>& in) { return prepacked<wrong>{v}(in, causal); }
#elif defined CASE_swapped_encoder_called
// fact: hidden
// fact: heads=4
using wrong = encoder_layer<float, heads<4>, hidden<64>, intermediate<64>, bias<true>,
                            norm_first<true>, activation<relu>>;
wrong::weights v;
auto f() { return t | wrong{v}; }
#elif defined CASE_swapped_network_called
// fact: hidden
// fact: intermediate=128
using wrong = feed_forward<float, intermediate<128>, hidden<64>, bias<true>, activation<relu>>;
wrong::weights v;
auto f() { return t | wrong{v}; }
#elif defined CASE_linear_without_type_called
// fact: float or double
// fact: hidden=64
using wrong = linear<hidden<64>, classes<10>>;
wrong::weights v;
tensor<float, batch<2>, token<12>, classes<10>> f() { return t | wrong{v}; }
#elif defined CASE_norm_without_type_called
// fact: float or double
// fact: hidden=64
using wrong = layer_norm<hidden<64>>;
wrong::weights v;
auto f() { return wrong{v}(t); }
#endif
