// SPDX-License-Identifier: BSL-1.0
// A layer whose axes or element type are refused: its weights, calls and workspace are not a second
// error (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

#if defined CASE_hidden_and_heads_swapped
// expect-gcc: "umbel: multi_head_attention: expected the axis hidden but got heads=5"
// expect-clang: multi_head_attention, .*expected_the_axis, .*hidden>, .*but_got, .*heads<5>
// cause: The layer needs its features, then its heads, then options.
// cure: Write them in this order: `multi_head_attention<float, hidden<100>, heads<5>>`.
using attention = multi_head_attention<float, heads<5>, hidden<100>>;
#elif defined CASE_element_type_missing
// expect-gcc: "umbel: multi_head_attention: needs float or double, not hidden=100"
// expect-clang: multi_head_attention, .*needs_float_or_double_not, .*hidden<100>
// cause: The element type, the first template argument, is missing.
// cure: Add it: `multi_head_attention<float, hidden<100>, heads<5>>`.
using attention = multi_head_attention<hidden<100>, heads<5>, bias<true>>;
#elif defined CASE_heads_missing
// expect-gcc: "umbel: multi_head_attention: expected the axis heads but got bias"
// expect-clang: multi_head_attention, .*expected_the_axis, .*heads>, .*but_got, .*bias<true>
// cause: The layer needs its features, then its heads, then options.
// cure: Add the number of heads: `heads<5>`.
using attention = multi_head_attention<float, hidden<100>, bias<true>>;
#elif defined CASE_of_integers
// expect-gcc: "umbel: multi_head_attention: needs float or double, not int"
// expect-clang: multi_head_attention, .*needs_float_or_double_not, .*element<int>
// cause: The layer is declared with an element type that it cannot compute with.
// cure: Declare it with float or double.
using attention = multi_head_attention<int, hidden<100>, heads<5>>;
#else
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
#endif

#if defined CASE_encoder_swapped
// expect-gcc: "umbel: encoder_layer: expected the axis hidden but got heads=4"
// expect-clang: encoder_layer, .*expected_the_axis, .*hidden>, .*but_got, .*heads<4>
// cause: The axes of the layer are in the wrong order.
// cure: Write `encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, ...>`.
using encoder = encoder_layer<float, heads<4>, hidden<32>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<true>>;
#elif defined CASE_encoder_without_element_type
// expect-gcc: "umbel: encoder_layer: needs float or double, not hidden=32"
// expect-clang: encoder_layer, .*needs_float_or_double_not, .*hidden<32>
// cause: The element type, the first argument of every layer, is missing.
// cure: Add it, `encoder_layer<float, hidden<32>, ...>`.
using encoder = encoder_layer<hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<true>>;
#elif defined CASE_encoder_without_heads
// expect-gcc: "umbel: encoder_layer: expected the axis heads but got intermediate=64"
// expect-clang: encoder_layer, .*expected_the_axis, .*heads>, .*but_got, .*intermediate<64>
// cause: An axis of the layer is missing.
// cure: Add the number of heads, `heads<4>`.
using encoder = encoder_layer<float, hidden<32>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<true>>;
#else
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<true>>;
#endif

#if defined CASE_decoder_swapped
// expect-gcc: "umbel: decoder_layer: expected the axis heads but got intermediate=64"
// expect-clang: decoder_layer, .*expected_the_axis, .*heads>, .*but_got, .*intermediate<64>
// cause: The axes of the layer are in the wrong order.
// cure: Write `decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, ...>`.
using decoder = decoder_layer<float, hidden<32>, intermediate<64>, heads<4>, norm_first<true>,
                              activation<relu>, bias<true>>;
#else
using decoder = decoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<true>>;
#endif

#if defined CASE_network_swapped
// expect-gcc: "umbel: feed_forward: expected the axis hidden but got intermediate=64"
// expect-clang: feed_forward, .*expected_the_axis, .*hidden>, .*but_got, .*intermediate<64>
// cause: The layer needs its features, then the width of its intermediate layer, then options.
// cure: Write both widths: `feed_forward<float, hidden<32>, intermediate<64>>`.
using network = feed_forward<float, intermediate<64>, hidden<32>, activation<relu>, bias<true>>;
#else
using network = feed_forward<float, hidden<32>, intermediate<64>, activation<relu>, bias<true>>;
#endif

#if defined CASE_scores_swapped
// expect-gcc: "umbel: additive_attention: expected the axis hidden but got score_hidden=8"
// expect-clang: additive_attention, .*expected_the_axis, .*hidden>, .*but_got, .*score_hidden<8>
// cause: The layer needs the features of the queries, then those of a score, then options.
// cure: Write both: `additive_attention<float, hidden<20>, score_hidden<8>>`.
using additive = additive_attention<float, score_hidden<8>, hidden<100>>;
#else
using additive = additive_attention<float, hidden<100>, score_hidden<8>>;
#endif

#if defined CASE_linear_without_element_type
// expect-gcc: "umbel: linear: needs float or double, not hidden=32"
// expect-clang: linear, .*needs_float_or_double_not, .*hidden<32>
// cause: The element type, the first argument of every layer, is missing.
// cure: Add it, `linear<float, hidden<32>, classes<10>>`.
using readout = linear<hidden<32>, classes<10>>;
#else
using readout = linear<float, hidden<32>, classes<10>>;
#endif

#if defined CASE_norm_swapped
// expect-gcc: "umbel: layer_norm: needs float or double, not hidden=32"
// expect-clang: layer_norm, .*needs_float_or_double_not, .*hidden<32>
// cause: The element type, the first argument of every layer, is missing or comes after the axis.
// cure: Put it first, `layer_norm<float, hidden<32>>`.
using norm = layer_norm<hidden<32>, float>;
#elif defined CASE_norm_without_element_type
// expect-gcc: "umbel: layer_norm: needs float or double, not hidden=32"
// expect-clang: layer_norm, .*needs_float_or_double_not, .*hidden<32>
// cause: The element type, the first argument of every layer, is missing or comes after the axis.
// cure: Put it first, `layer_norm<float, hidden<32>>`.
using norm = layer_norm<hidden<32>>;
#elif defined CASE_norm_without_axis
// expect-gcc: "umbel: layer_norm: the axis hidden is missing"
// expect-clang: layer_norm, .*the_axis, .*hidden>, .*is_missing
// cause: An axis of the layer is missing.
// cure: Add the axis to normalize, `layer_norm<float, hidden<32>>`.
using norm = layer_norm<float>;
#else
using norm = layer_norm<float, hidden<32>>;
#endif

#if defined CASE_rms_norm_without_element_type
// expect-gcc: "umbel: rms_norm: needs float or double, not hidden=32"
// expect-clang: rms_norm, .*needs_float_or_double_not, .*hidden<32>
// cause: The element type, the first argument of every layer, is missing.
// cure: Add it, `rms_norm<float, hidden<32>>`.
using root = rms_norm<hidden<32>>;
#else
using root = rms_norm<float, hidden<32>>;
#endif

[[maybe_unused]] static void uses(const tensor<float, batch<2>, query<4>, hidden<100>>& x,
                                  const tensor<float, batch<2>, key<6>, hidden<100>>& y,
                                  const tensor<float, token<9>, hidden<32>>& t) {
  static attention::weights w;
  static attention::workspace<query<4>> work;
  for (float& e : w.q.weight) e = 0.5f;
  auto self = attention{w}(x, causal, work);
  const tensor<float, batch<2>, query<4>, hidden<100>> cross = attention{w}(x, y, y);
  attention{w}.into(self, x);
  static const prepacked<attention> packed{w};
  float sum = self(0, 0, 0) + cross(0, 0, 0) + packed(x)(0, 0, 0) + (x | attention{w})(0, 0, 0);

  static encoder::weights encoder_weights;
  static encoder::workspace<token<9>> encoder_work;
  auto encoded = t | encoder{encoder_weights};
  encoder{encoder_weights}.into(encoded, t, all_keys, encoder_work);
  static decoder::weights decoder_weights;
  auto decoded = decoder{decoder_weights}(t, t, self_mask(causal));
  sum += encoded(0, 0) + decoded(0, 0);

  static network::weights network_weights;
  static additive::weights additive_weights;
  auto fed = network{network_weights}(t);
  auto added = additive{additive_weights}(x, y, y);
  static readout::weights readout_weights;
  const tensor<float, token<9>, classes<10>> read = t | readout{readout_weights};
  sum += fed(0, 0) + added(0, 0, 0) + read(0, 0);

  static norm::weights norm_weights;
  static root::weights root_weights;
  auto normed = norm{norm_weights}(t);
  root{root_weights, 1e-5f}.into(normed, t);
  sum += normed(0, 0);
  (void)sum;
}
