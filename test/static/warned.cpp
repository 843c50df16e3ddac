// SPDX-License-Identifier: BSL-1.0
// What compiles with a warning, a case each: test/meson.build makes it an error and expects it.
// Without a case, the same shapes used well: no warning.
#include <umbel/umbel.hpp>

#include <umbel/files.hpp>
#include <umbel/weights.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, token<4>, hidden<6>>;
using attention = multi_head_attention<float, hidden<6>, heads<2>>;

inline tokens x;
inline attention::weights w;

#if defined CASE_a_result_thrown_away
void f() { attention{w}(x); }
#elif defined CASE_a_view_thrown_away
void f() { x | permute<hidden, token>; }
#elif defined CASE_loading_thrown_away
void f(const tensor_file& file) { load(w, file, names::torch_attention); }
#elif defined CASE_a_rewind_thrown_away
void f(key_value_cache<attention, key<4>>& past) { past.rewind(1); }
#elif defined CASE_a_view_of_a_local
auto f() {
  tokens local{};
  return local | permute<hidden, token>;
}
#elif defined CASE_a_layer_of_local_weights
auto f() {
  attention::weights local{};
  return attention{local};
}
#elif defined CASE_a_mask_of_a_local
auto f() {
  tensor<bool, key<4>> local{};
  return keep_mask(local);
}
#elif defined CASE_a_bias_of_a_local
auto f() {
  const tensor<float, query<4>, key<4>> local{};
  return score_bias(local);
}
#elif defined CASE_a_pointer_into_a_temporary
const float* f() { return (x + x).data(); }
#else
auto view_of_a_global() { return x | permute<hidden, token>; }
auto view_of_a_view(tokens& y) {
  const auto turned = y | permute<hidden, token>;
  return turned | permute<token, hidden>;
}
auto mask_of_a_temporary() { return keep_mask(tensor<bool, key<4>>{}); }
auto mask_of_a_view(view<const bool, key<4>> seen) { return drop_mask(seen); }
auto tensor_of_a_local() {
  tokens local{};
  return local | softmax<hidden>;
}
auto tensor_of_a_temporary() { return (x + x) | permute<hidden, token>; }
auto layer_of_global_weights() { return attention{w}; }
auto view_of_an_array() {
  static float memory[24];
  return view_as<tokens>(memory);
}
tokens result(const tokens& y) { return attention{w}(y); }
bool loading(const tensor_file& file) { return bool(load(w, file, names::torch_attention)); }
bool rewind(key_value_cache<attention, key<4>>& past) { return past.rewind(1); }
#endif
