// SPDX-License-Identifier: BSL-1.0
// Programs that a user expects to compile: layers, and programs around them.
#include <misuse/preamble.hpp>

#if defined CASE_attention_as_in_the_readme
queries f() { return attention{w}(x, y, y, lens); }
#elif defined CASE_attention_without_a_mask
queries f() { return attention{w}(x, y, y); }
#elif defined CASE_attention_by_parentheses
queries f() {
  const attention layer(w);
  return layer(x, y, y);
}
#elif defined CASE_self_attention_in_one_argument
tokens f() { return self_attention{sw}(t); }
#elif defined CASE_self_attention_causal
tokens f() { return self_attention{sw}(t, causal); }
#elif defined CASE_attention_of_views
queries f(const float* p) { return attention{w}(view_as<queries>(p), y, y); }
#elif defined CASE_attention_of_a_permuted_view
auto f(const tensor<float, query<4>, batch<2>, hidden<100>>& q) {
  return attention{w}(q | permute<batch, query, hidden>, y, y);
}
#elif defined CASE_attention_in_a_pipe
auto f() {
  const self_attention layer{sw};
  return t | layer;
}
#elif defined CASE_residual_connection
tokens f(const layer_norm<float, hidden<64>>& norm) { return t + self_attention{sw}(norm(t)); }
#elif defined CASE_residual_then_norm
tokens f(const layer_norm<float, hidden<64>>& norm) {
  return norm(t + self_attention{sw}(t, causal));
}
#elif defined CASE_masks_combined
queries f(const tensor<bool, batch<2>, key<6>>& padding) {
  return attention{w}(x, y, y, drop_mask(padding) & causal_bottom_right);
}
#elif defined CASE_mask_kept_in_a_variable
tokens f() {
  const auto mask = lens & causal;
  return self_attention{sw}(t, mask);
}
#elif defined CASE_lengths_of_size_t
queries f() { return attention{w}(x, y, y, tensor<std::size_t, batch<2>>{3, 2}); }
#elif defined CASE_lengths_of_bytes
queries f() { return attention{w}(x, y, y, tensor<unsigned char, batch<2>>{3, 2}); }
#elif defined CASE_layer_in_a_function_template
template <class Layer>
auto run(const Layer& layer, const auto& in) {
  return layer(in);
}
auto r = run(self_attention{sw}, t);
#elif defined CASE_layer_type_from_sizes
template <std::size_t Width, std::size_t Heads>
using layer = multi_head_attention<float, hidden<Width>, heads<Heads>>;
layer<64, 8>::weights v;
auto r = layer<64, 8>{v}(t);
#elif defined CASE_linear_owned_weights
tensor<float, batch<2>, token<12>, classes<10>> f(
    const linear<float, hidden<64>, classes<10>>::weights& l) {
  return linear<float, hidden<64>, classes<10>>{l}(t);
}
#elif defined CASE_linear_in_a_pipe
auto f(const linear<float, hidden<64>, classes<10>>::weights& l) {
  return t | linear<float, hidden<64>, classes<10>>{l} | softmax<classes>;
}
#elif defined CASE_activation_in_a_pipe
auto r = t | gelu_exact;
#elif defined CASE_activation_called
auto r = relu(t);
#elif defined CASE_norm_in_a_pipe
auto f(const layer_norm<float, hidden<64>>::weights& n) {
  return t | layer_norm<float, hidden<64>>{n};
}
#elif defined CASE_encoder_stack
auto f(const encoder::weights (&v)[2], tensor<float, token<9>, hidden<32>> in) {
  for (const auto& e : v) in = encoder{e}(in);
  return in;
}
#elif defined CASE_classifier_of_the_mean
std::size_t f(const linear<float, hidden<64>, classes<10>>::weights& l) {
  const auto logits =
      t | mean<token> | linear<float, hidden<64>, classes<10>>{l} | select_at<batch, 0>;
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}
#elif defined CASE_cache_of_one_step
bool f(key_value_cache<self_attention, key<40>>& past, row& o, const row& in) {
  return past.step(o, self_attention{sw}, in);
}
#elif defined CASE_struct_of_weights_and_layer
struct model {
  prepacked<self_attention> attend;
  explicit model(const self_attention::weights& v) : attend{v} {}
  tokens operator()(const tokens& in) const { return attend(in, causal); }
};
#elif defined CASE_struct_of_weights_only
struct model {
  self_attention::weights attend;
  tokens operator()(const tokens& in) const { return self_attention{attend}(in); }
};
#elif defined CASE_array_of_tensors
std::array<queries, 3> many{};
float f() {
  float sum = 0;
  for (const auto& q : many) sum += q(0, 0, 0);
  return sum;
}
#elif defined CASE_vector_of_tensors
std::vector<queries> f() {
  std::vector<queries> all;
  all.push_back(x);
  all.emplace_back();
  return all;
}
#elif defined CASE_optional_tensor
std::optional<queries> f(bool b) {
  if (b) return x;
  return std::nullopt;
}
#elif defined CASE_unique_ptr_to_weights
auto f() {
  auto v = std::make_unique<attention::weights>();
  return attention{*v}(x, y, y);
}
#elif defined CASE_tensor_as_a_member
struct state {
  queries q{};
  context c{};
};
state r;
#elif defined CASE_tensor_swap
void f(queries& a, queries& b) { std::swap(a, b); }
#elif defined CASE_tensor_in_a_lambda
auto twice = [](const auto& v) { return v + v; };
queries r = twice(x);
#elif defined CASE_ternary_of_tensors
queries f(bool b) { return b ? x : x + x; }
#elif defined CASE_structured_binding_of_my_struct
struct pair_of {
  queries q;
  context c;
};
float f(const pair_of& p) {
  const auto& [q, c] = p;
  return q(0, 0, 0) + c(0, 0, 0);
}
#elif defined CASE_concept_asked
static_assert(splittable<queries, hidden, heads<5>> && !splittable<queries, hidden, heads<7>>);
#elif defined CASE_weights_read_from_a_file
bool f(std::FILE* file, attention::weights& v) { return std::fread(&v, sizeof v, 1, file) == 1; }
#elif defined CASE_weights_filled_by_a_loop
void f(attention::weights& v) {
  for (auto* map : {&v.q, &v.k, &v.v, &v.o})
    for (float& e : map->weight) e = 0.1f;
}
#elif defined CASE_pipe_stored
constexpr auto to_heads = split<hidden, heads<5>, head_dim>;
auto r = x | to_heads;
#elif defined CASE_own_axis_everywhere
auto r = sound | split<frames, frames<6>, token> | mean<token>;
#elif defined CASE_double_throughout
auto f(const multi_head_attention<double, hidden<64>, heads<8>>::weights& v,
       const tensor<double, token<5>, hidden<64>>& in) {
  return multi_head_attention<double, hidden<64>, heads<8>>{v}(in);
}
#elif defined CASE_qualified_names_without_using
namespace mine {
umbel::tensor<float, umbel::axes::token<3>, umbel::axes::hidden<4>> in{};
auto r = in + in;
}  // namespace mine
#elif defined CASE_self_attention_over_queries
auto f() { return attention{w}(x); }
#endif
