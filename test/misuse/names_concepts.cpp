// SPDX-License-Identifier: BSL-1.0
// Concepts: one is asked and then another thing is done, or done all the same, or a refused result
// is asked for. (That an assertion about one fails is the compiler's message.)
#include <misuse/all_headers.hpp>

using ids = tensor<int, batch<2>, query<4>>;
using angles = tensor<float, query<4>, hidden<50>>;
using network = feed_forward<float, hidden<100>, intermediate<40>, activation<relu>, bias<true>>;
using norm = layer_norm<float, hidden<100>>;
using places = learned_positions<float, query<4>, hidden<100>>;
using additive = additive_attention<float, hidden<100>, score_hidden<10>>;
using wide_encoder = encoder_layer<float, hidden<100>, heads<5>, intermediate<40>, bias<true>,
                                   norm_first<true>, activation<relu>>;
using decoder = decoder_layer<float, hidden<100>, heads<5>, intermediate<40>, bias<true>,
                              norm_first<true>, activation<relu>>;
using width = linear<float, hidden<100>, classes<10>, bias<true>>;
inline network::weights of_network;
inline norm::weights of_norm;
inline places::weights of_places;
inline additive::weights of_additive;
inline wide_encoder::weights of_encoder;
inline decoder::weights of_decoder;
inline width::weights of_width;
inline const tensor<bool, query<4>, key<6>> pairs{};
inline const tensor<bool, batch<3>, query<4>> seen_by{};
inline const ids positions{};
inline const tensor<int, batch<2>> labels{};
inline constexpr auto sink = [](const char*, std::size_t) {};

// table of shapes: NAME | GOOD | BAD | DONE | ONE | TWO
// row: has_axis | has_axis<X, hidden> | has_axis<X, key> | sum<key>(a) | key | hidden=100
// row: splittable | splittable<X, hidden, heads<5>> | splittable<X, hidden, heads<7>> | split<hidden, heads<7>, head_dim>(a) | hidden=100 | heads=7
// row: splittable_into | splittable_into<X, hidden, heads<5>, head_dim<20>> | splittable_into<X, hidden, heads<5>, head_dim<30>> | split_into<hidden, heads<5>, head_dim<30>>(a) | hidden=100 | 150|head_dim=30
// row: mergeable | mergeable<X, batch, query, token> | mergeable<X, batch, hidden, token> | merge<batch, hidden, token>(a) | batch | hidden
// row: permutable | permutable<X, query, batch, hidden> | permutable<X, query, hidden> | permute<query, hidden>(a) | batch=2|2 of the 3 | query|permute
// row: transposable | transposable<X, query, hidden> | transposable<X, key, hidden> | transposed<key, hidden>(a) | key | query=4
// row: renamable | renamable<X, query, key> | renamable<X, query, hidden> | rename_axis<query, hidden>(a) | query | hidden
// row: reshapable | reshapable<X, batch<8>, hidden<100>> | reshapable<X, batch<8>, hidden<10>> | reshape<batch<8>, hidden<10>>(a) | 800|hidden=100 | 80|hidden=10\b
// row: selectable | selectable<X, query, 2> | selectable<X, query, 4> | select_at<query, 4>(a) | query=4 | position 4|select_at
// row: sliceable | sliceable<X, query, from<2>, extent<2>> | sliceable<X, query, from<2>, extent<3>> | slice<query, from<2>, extent<3>>(a) | query=4 | 3.*positions.from
// row: broadcastable | broadcastable<X, batch<2>, query<4>, hidden<100>> | broadcastable<X, batch<3>, query<4>, hidden<100>> | broadcast<batch<3>, query<4>, hidden<100>>(a) | batch=2 | batch=3
// row: contractible | contractible<X, context, hidden> | contractible<X, context, key> | contract<key>(a, y) | key | query=4
// row: reducible | reducible<X, query, hidden> | reducible<X, query, heads> | mean<query, heads>(a) | heads | query=4
// row: same_shape | same_shape<X, queries> | same_shape<X, context> | a + y | query=4 | key=6
// row: accessible | accessible<X, int, int, int> | accessible<X, int, int> | a(0, 1) | 2 | 3|batch=2
// row: tensor_like | tensor_like<X> | tensor_like<decltype(&a)> | softmax<key>(a) | key | query=4
// row: concatenable | concatenable<query, X, X> | concatenable<query, X, context> | concat<query>(a, y) | query=4|query | key=6|key
// row: stackable | stackable<heads, X, X> | stackable<batch, X, X> | stack<batch>(a, a) | batch | batch=2
// row: gatherable | gatherable<X, ids, hidden> | gatherable<X, ids, key> | gather<key>(a, positions) | key | query=4
// row: indexable | indexable<X, tensor<int, token<3>>> | indexable<X, queries> | lookup(a, x) | float|integers | lookup
// row: one_hot_encodable | one_hot_encodable<ids, classes<10>> | one_hot_encodable<X, classes<10>> | one_hot<classes<10>>(a) | float|integers | one_hot
// row: choosable | choosable<tensor<bool, batch<2>, query<4>, hidden<100>>, X, float> | choosable<X, X, float> | where(a, a, 0.0f) | float | bool|condition
// row: hideable | hideable<X, tensor<bool, batch<2>, query<4>, hidden<100>>> | hideable<X, decltype(seen_by)> | hide(a, seen_by) | batch=3 | batch=2
// row: rotatable | rotatable<X, split_halves, query, hidden> | rotatable<X, split_halves, key, hidden> | rotate<split_halves, key, hidden>(a) | key | query=4
// row: rotatable_at | rotatable_at<X, ids, split_halves, token<9>, hidden> | rotatable_at<X, queries, split_halves, token<9>, hidden> | rotate<split_halves, token<9>, hidden>(a, x) | float | rotate
// row: rotatable_by | rotatable_by<X, angles, angles, split_halves, hidden> | rotatable_by<X, queries, queries, split_halves, hidden> | rotate<split_halves, hidden>(a, x, x) | hidden=100|50 | rotate
// row: projectable | projectable<X, width::weights> | projectable<X, tensor<float, hidden<80>, classes<10>>> | a * tensor<float, hidden<80>, classes<10>>{} | hidden=100 | hidden=80

// table of layers: NAME | GOOD | BAD | DONE | ONE | TWO
// row: attends | attends<attention, X, context, context> | attends<attention, X, context, queries> | attention{w}(a, y, x) | key | query=4
// row: attends_to_itself | attends_to_itself<attention, X> | attends_to_itself<self_attention, X> | self_attention{sw}(a) | hidden=100 | hidden=64
// row: attends_additively | attends_additively<additive, X, context, context> | attends_additively<additive, X, context, queries> | additive{of_additive}(a, y, x) | key | query=4
// row: attends_by_dot_product | attends_by_dot_product<tensor<float, query<4>, head_dim<20>>, tensor<float, key<6>, head_dim<20>>, tensor<float, key<6>, head_dim<20>>> | attends_by_dot_product<X, context, context> | scaled_dot_product_attention(a, y, y) | head_dim | hidden=100
// row: encodes | encodes<wide_encoder, X> | encodes<wide_encoder, decltype(narrow)> | wide_encoder{of_encoder}(narrow) | hidden=80 | hidden=100
// row: decodes | decodes<decoder, X, context> | decodes<decoder, X, tokens> | decoder{of_decoder}(a, t, self_mask(causal)) | hidden=64 | hidden=100
// row: feeds_forward | feeds_forward<network, X> | feeds_forward<network, decltype(narrow)> | network{of_network}(narrow) | hidden=80 | hidden=100
// row: normalises | normalises<norm, X> | normalises<norm, decltype(narrow)> | norm{of_norm}(narrow) | hidden=80 | hidden=100
// row: has_positions_for | has_positions_for<places, X> | has_positions_for<places, context> | places{of_places}(y) | key=6 | query
// row: mask_like | mask_like<tensor<int, batch<2>>> | mask_like<X> | attention{w}(a, y, y, a) | float | integers
// row: fits_as_mask | fits_as_mask<decltype(lens), float, batch<2>, heads<5>, query<4>, key<6>> | fits_as_mask<decltype(causal), float, batch<2>, heads<5>, query<4>, key<6>> | attention{w}(a, y, y, causal) | query=4 | key=6
// row: prunable | prunable<attention, keep_heads<0>> | prunable<attention, prune_heads<0, 5>> | pruned<attention, prune_heads<0, 5>>{w}(a) | heads=5 | 5
// row: workspace_like | workspace_like<attention::workspace<query<4>, key<6>>> | workspace_like<X> | attention{w}(a, y, y, all_keys, a) | workspace | query=4|tensor
// row: executor_like | executor_like<two_workers> | executor_like<X> | attention{w}(a, y, y, all_keys, parallel(two_workers{}, a)) | workspace | tensor|query=4

#if defined CASE_asked_another_NAME
// each of: shapes layers
// fact: ONE
// fact: TWO
template <class X>
  requires(GOOD)
auto f(const X& a) {
  return DONE;
}
auto r = f(x);
#elif defined CASE_asked_and_done_all_the_same_NAME
// each of: shapes layers
// fact: ONE
// fact: TWO
template <class X>
auto f(const X& a) {
  if constexpr (!(BAD)) std::puts("does not fit");
  return DONE;
}
auto r = f(x);
#elif defined CASE_a_refused_result_asked_for_NAME
// each of: shapes layers
// fact: hidden=100
// fact: heads=ROW
template <class X>
  requires(GOOD)
auto f(const X& a) {
  return a | mean<hidden>;
}
auto r = f(x | split<hidden, heads<ROW>, head_dim>);
#elif defined CASE_axis_like_named_twice
// fact: query
// fact: query=4.*query=8|twice
template <axis_like A>
auto f() {
  return tensor<float, query<4>, A>{};
}
auto r = f<query<8>>();
#elif defined CASE_axis_like_of_another_size
// fact: batch=2
// fact: batch=3
template <axis_like A>
auto f() {
  return x | broadcast<A, query<4>, hidden<100>>;
}
auto r = f<batch<3>>();
#elif defined CASE_axis_like_a_view_that_is_too_large
// fact: 800|hidden=100
// fact: 1000|key=10
template <axis_like A>
auto f(float (&memory)[800]) {
  return view_as<A, hidden<100>>(memory);
}
float numbers[800];
auto r = f<key<10>>(numbers);
#elif defined CASE_trainable_weights_scaled_by_a_tensor
// fact: scale
// fact: number|factor
template <trainable_weights Weights>
void f(Weights& gradient) {
  scale(gradient, x);
}
void of_attention() { f(w); }
#elif defined CASE_trainable_weights_of_two_types
// fact: add
// fact: type
template <trainable_weights Weights>
void f(Weights& gradient) {
  add(gradient, sw);
}
void of_attention() { f(w); }
#elif defined CASE_trainable_weights_that_are_const
// fact: clip_by_norm
// fact: const
template <trainable_weights Weights>
void f(const Weights& gradient) {
  clip_by_norm(gradient, 1);
}
void of_attention() { f(w); }
#elif defined CASE_entropy_fits_asked_of_another_axis
// fact: hidden
// fact: classes=10
template <class Logits, class Label>
  requires cross_entropy_fits<Logits, Label, classes>
auto f(const Logits& of, const Label& label) {
  return cross_entropy<hidden>(of, label);
}
auto r = f(logits, labels);
#elif defined CASE_entropy_fits_asked_and_done_all_the_same
// fact: hidden
// fact: batch=2|hidden=100
template <class Logits, class Label>
auto f(const Logits& of, const Label& label) {
  if constexpr (!cross_entropy_fits<Logits, Label, classes>) std::puts("does not fit");
  return cross_entropy<classes>(of, label);
}
auto r = f(x, labels);
#elif defined CASE_entropy_fits_asked_of_a_refused_result
// fact: hidden=100
// fact: heads=7
template <class Logits, class Label>
  requires cross_entropy_fits<Logits, Label, classes>
auto f(const Logits& of, const Label& label) {
  return cross_entropy<classes>(of, label);
}
auto r = f(x | split<hidden, heads<7>, head_dim>, labels);
#elif defined CASE_heat_mappable_asked_of_another
// fact: hidden=100
// fact: key
template <class X>
  requires heat_mappable<decltype(scores)>
void f(const X& weights) {
  attention_heat_map(weights, sink);
}
void g() { f(x); }
#elif defined CASE_heat_mappable_asked_and_done_all_the_same
// fact: hidden=100
// fact: key
template <class X>
void f(const X& weights) {
  if constexpr (!heat_mappable<X>) std::puts("does not fit");
  attention_heat_map(weights, sink);
}
void g() { f(x); }
#elif defined CASE_heat_mappable_asked_of_a_refused_result
// fact: hidden=100
// fact: heads=7
template <class X>
  requires heat_mappable<X>
void f(const X& weights) {
  attention_heat_map(weights, sink);
}
void g() { f(x | split<hidden, heads<7>, head_dim>); }
#endif
