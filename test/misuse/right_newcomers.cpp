// SPDX-License-Identifier: BSL-1.0
#include <misuse/all_headers.hpp>

#if defined CASE_sum_without_axes_by_pipe
auto s = t | sum<batch, token, hidden>;
float total = s;
#elif defined CASE_mean_of_two_axes
auto s = mean<token, hidden>(t);
float first = s(0);
#elif defined CASE_scalar_arithmetic
auto s = 2 * t + 1;
auto u = t / 3 - 1.5;
#elif defined CASE_compound_assignment
auto f() {
  tokens a = t;
  a += t;
  a *= 2;
  a -= 1;
  a /= 4;
  return a;
}
#elif defined CASE_negative
auto s = -t;
#elif defined CASE_range_for
auto f() {
  float s = 0;
  for (float v : m) s += v;
  return s;
}
#elif defined CASE_std_algorithms
auto f() {
  tokens a = t;
  std::fill(a.begin(), a.end(), 1.0f);
  return std::accumulate(a.begin(), a.end(), 0.0f);
}
#elif defined CASE_equality
bool same = t == t;
#elif defined CASE_copy_of_slice
tensor<float, batch<2>, token<3>, hidden<64>> part = t | slice<token, from<2>, extent<3>>;
#elif defined CASE_write_through_view
void f(tokens& a) {
  auto v = a | select_at<token, 2>;
  v(0, 0) = 1;
}
#elif defined CASE_assign_to_slice
void f(tokens& a, const tensor<float, batch<2>, token<3>, hidden<64>>& b) {
  auto v = a | slice<token, from<2>, extent<3>>;
  copy(b, v);
}
#elif defined CASE_view_of_span
auto f(std::span<float, 6> s) { return view_as<token<2>, hidden<3>>(s); }
#elif defined CASE_view_of_vector
auto f(std::vector<float>& s) { return view_as<token<2>, hidden<3>>(s.data()); }
#elif defined CASE_function_of_any_view
template <class X>
auto normalise(const X& a) {
  return a - (mean<hidden>(a) | broadcast<query<4>, hidden<100>>);
}
auto r = normalise(m);
#elif defined CASE_pipe_of_words
auto r = m | softmax<hidden> | relu | contiguous;
#elif defined CASE_words_called
auto r = relu(m), u = exp(m), v = tanh(m) * sigmoid(m), z = pow(m, 2), c = clamp(m, 0, 6);
#elif defined CASE_maximum_of_tensor_and_number
auto r = maximum(m, 0), s = minimum(1, m);
#elif defined CASE_contract_is_matmul
tensor<float, hidden<64>, classes<10>> weight{};
tensor<float, batch<2>, token<12>, classes<10>> r = contract<hidden>(t, weight);
#elif defined CASE_argmax_of_logits
tensor<int, batch<2>> best = argmax<classes>(logits);
#elif defined CASE_cross_attention_lens_and_causal
auto r = attention{w}(x, y, y, lens& causal_top_left);
#elif defined CASE_lens_by_array
auto f() {
  int n[2] = {3, 2};
  return attention{w}(x, y, y, view_as<batch<2>>(n));
}
#elif defined CASE_lens_by_number
auto r = attention{w}(x, y, y, 3);
#elif defined CASE_keep_mask_of_temporary
auto f(const tensor<float, batch<2>, key<6>>& padding) {
  return attention{w}(x, y, y, keep_mask(tensor<bool, batch<2>, key<6>>{}));
}
#elif defined CASE_layer_in_struct
struct net {
  self_attention::weights a;
  head::weights h;
  auto operator()(const tokens& v) const { return head{h}(self_attention{a}(v, causal)); }
};
auto f(const net& n) { return n(t); }
#elif defined CASE_layer_variable_reused
const self_attention layer{sw};
auto a = layer(t), b = t | layer;
#elif defined CASE_weights_filled_by_algorithm
void f() {
  std::fill(std::begin(sw.q.weight), std::end(sw.q.weight), 0.1f);
  sw.q(0, 0) = 1;
}
#elif defined CASE_workspace_for_with_mask
static workspace_for<self_attention, tokens, decltype(causal)> work;
auto f() { return self_attention{sw}(t, causal, work); }
#elif defined CASE_workspace_for_without_mask
static workspace_for<self_attention, tokens> work;
auto f() { return self_attention{sw}(t, causal, work); }
#elif defined CASE_workspace_for_cross
static workspace_for<attention, queries, context, context> work;
auto f() { return attention{w}(x, y, y, lens, work); }
#elif defined CASE_workspace_for_cross_with_lens
static workspace_for<attention, queries, context, context, tensor<int, batch<2>>> work;
auto f() { return attention{w}(x, y, y, lens, work); }
#elif defined CASE_workspace_for_decoder
using decoder = decoder_layer<float, hidden<64>, heads<8>, intermediate<128>, bias<true>,
                              norm_first<true>, activation<relu>>;
static decoder::weights dw;
static workspace_for<decoder, tokens, tokens, decltype(self_mask(causal))> work;
auto r() { return decoder{dw}(t, t, self_mask(causal), work); }
#elif defined CASE_workspace_for_prepacked
static workspace_for<prepacked<self_attention>, tokens> work;
auto f(const prepacked<self_attention>& p) { return p(t, causal, work); }
#elif defined CASE_cache_loop
static key_value_cache<self_attention, key<128>> past;
auto f(const tensor<float, token<1>, hidden<64>>& r) {
  row o;
  bool ok = past.step(o, self_attention{sw}, r);
  past.reset();
  return ok;
}
#elif defined CASE_cache_prompt
static key_value_cache<self_attention, key<128>> past;
auto f(const tensor<float, token<7>, hidden<64>>& r) {
  tensor<float, token<7>, hidden<64>> o;
  return past.step(o, self_attention{sw}, r) && past.size() == 7;
}
#elif defined CASE_formula_of_numbers
constexpr formula g = [](auto a, auto alpha) { return a * alpha + 1; };
auto r = g(m, 2.0f), s = g(m, 2);
#elif defined CASE_formula_calls_a_function_template
template <class X>
constexpr auto centered(X a) {
  return a - mean<hidden>(a);
}
constexpr formula g = [](auto a) { return centered(a) * rsqrt(variance<hidden>(a) + 1e-5f); };
auto r = g(m);
#elif defined CASE_formula_structured_binding
constexpr formula g = [](auto a) { return std::pair{a * 2, a + 1}; };
auto f() {
  auto [p, q] = g(m);
  return p(0, 0) + q(0, 0);
}
#elif defined CASE_formula_of_captureless_reference
constexpr auto body = [](auto a) { return a * 2; };
constexpr formula g{body};
auto r = g(m);
#elif defined CASE_formula_local_in_function
auto f() {
  constexpr formula g = [](auto a, auto b) { return contract<hidden>(a, b); };
  return g(m, narrow | slice<batch, from<0>, extent<1>> | select_at<batch, 0> |
                  rename_axis<query, key> | padded<hidden, after<20>>);
}
#elif defined CASE_gradient_training_step
static head::weights wg, gg;
constexpr gradient learn{[](auto a, auto label, const auto& wh) {
  return cross_entropy<classes>((a | mean<token>)*wh, label);
}};
float f(const tensor<int, batch<2>>& label) {
  auto l = learn(t, label, with_gradient(wg, gg));
  update(wg, gg, sgd{.rate = 0.1});
  set_to_zero(gg);
  return l;
}
#elif defined CASE_adamw_step
static head::weights wg, gg;
static adamw::state<head::weights> state;
bool f() { return bool(update(wg, gg, state, adamw{.rate = 1e-3})); }
#elif defined CASE_footprint_of_types
constexpr auto bytes = footprint<self_attention, tokens>.ram;
#elif defined CASE_describe_axes
auto f() { std::cout << describe<self_attention, token<12>>(); }
#elif defined CASE_const_auto_weights
const auto weights = [] {
  self_attention::weights a{};
  a.q(0, 0) = 1;
  return a;
}();
auto r = self_attention{weights}(t);
#elif defined CASE_prepacked_deduced
static const prepacked fast{head{hw}};
auto r = fast(t);
#elif defined CASE_prepacked_of_a_layer
const self_attention layer{sw};
static const prepacked fast{layer};
static const prepacked<self_attention> same{layer};
static_assert(std::is_same_v<decltype(fast), decltype(same)>);
static const prepacked<self_attention, stored_as<bfloat16>> half{layer};
auto r = fast(t, causal) + half(t, causal);
#elif defined CASE_prepacked_of_a_stack
using encoders = layer_stack<encoder, 2>;
static encoders::weights ew;
static const prepacked fast{encoders{ew}};
static const prepacked copy_of = fast;
auto f(const tensor<float, token<5>, hidden<32>>& a) { return fast(a, causal) + copy_of(a); }
#elif defined CASE_constexpr_tensor
constexpr tensor<float, token<2>, hidden<2>> a{{1, 2}, {3, 4}};
static_assert(a(1, 0) == 3);
constexpr auto b = a * 2;
static_assert(b(1, 1) == 8);
#elif defined CASE_unique_ptr_of_weights
auto f() {
  auto p = std::make_unique<self_attention::weights>();
  return self_attention{*p}(t);
}
#elif defined CASE_vector_of_tensors
auto f() {
  std::vector<tokens> all(3);
  for (auto& a : all) a = self_attention{sw}(a);
  return all;
}
#elif defined CASE_optional_tensor
auto f(bool b) { return b ? std::optional{t * 2} : std::nullopt; }
#elif defined CASE_if_in_lambda_over_layers
auto f() {
  return std::apply([](const auto&... l) { return (t | ... | l); },
                    std::tuple{self_attention{sw}, head{hw}});
}
#elif defined CASE_quantized_workspace_for
static workspace_for<quantized<self_attention>, tensor<std::int8_t, token<12>, hidden<64>>> work;
auto f(const quantized<self_attention>& q, const tensor<std::int8_t, token<12>, hidden<64>>& a) {
  return q(a, causal, work);
}
#elif defined CASE_executor_serial
static self_attention::workspace<token<12>> works[1];
tokens o;
void f() { self_attention{sw}.into(o, t, causal, parallel(serial, works)); }
#elif defined CASE_executor_own
static self_attention::workspace<token<12>> works[2];
tokens o;
void f() {
  two_workers pool;
  self_attention{sw}.into(o, t, all_keys, parallel(pool, works));
}
#elif defined CASE_executor_workspace_for
static workspace_for<self_attention, tokens> works[2];
tokens o;
void f() {
  two_workers pool;
  self_attention{sw}.into(o, t, causal, parallel(pool, works));
}
#elif defined CASE_short_call_by_workers
static self_attention::workspace<token<12>> works[2];
tokens o;
void f() {
  two_workers pool;
  self_attention{sw}.into(o, t, valid_rows(lens) & causal, parallel(pool, works));
}
#elif defined CASE_cache_workspace_for_a_mask
using past = key_value_cache<self_attention, key<16>>;
static_assert(std::is_same_v<workspace_for<past, row, decltype(sliding_window<3>)>,
                             workspace_for<past, row>>);
#elif defined CASE_cache_workspace_for_both_masks
using decoder = decoder_layer<float, hidden<64>, heads<8>, intermediate<64>, bias<true>,
                              norm_first<true>, activation<relu>>;
using past = key_value_cache<decoder, key<16>, longest_memory<6>>;
static workspace_for<past, row, tensor<int>, decltype(self_mask(causal))> work;
past stored;
bool f(const decoder& layer, const row& a) {
  row o;
  return stored.step(o, layer, a, 5, self_mask(causal), work);
}
#endif
