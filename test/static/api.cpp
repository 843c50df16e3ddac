// SPDX-License-Identifier: BSL-1.0
// flags-gcc: -Wno-unused
// flags-clang: -Wno-unused
// Examples of docs/api (tools/api_examples.py): a line "// api: names", then the example of these
// names up to the next such line or a blank line. becomes<axes...>(result) checks the axes of a
// result, and the page shows them behind it. The page also shows the axes of the tensors below that
// an example reads. Names without an example here have one from other code that is compiled.
#include <cstdio>
#include <tuple>
#include <umbel/decode/cache_of_formula.hpp>
#include <umbel/decode/sample.hpp>
#include <umbel/files.hpp>
#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/fits.hpp>
#include <umbel/inspect/footprint.hpp>
#include <umbel/inspect/heat_map.hpp>
#include <umbel/inspect/vector_check.hpp>
#include <umbel/quantized.hpp>
#include <umbel/training.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>
#if __has_include(<unistd.h>)
#include <umbel/file/mapped_file.hpp>
#include <umbel/file/read_file.hpp>
#endif
#if __has_include(<mpi.h>)
#include <umbel/mpi.hpp>
#endif

using namespace umbel;
using namespace umbel::axes;

template <class... Axes, class X>
void becomes(const X&) {
  static_assert(
      std::is_same_v<typename X::layout::axes, typename tensor<float, Axes...>::layout::axes>);
}

const tensor<float, batch<2>, token<4>, hidden<8>> x{};
const tensor<float, batch<2>, query<4>, hidden<8>> queries{};
const tensor<float, batch<2>, key<6>, hidden<8>> context{};
const tensor<float, batch<2>, heads<2>, query<4>, head_dim<4>> q{};
const tensor<float, batch<2>, heads<2>, key<6>, head_dim<4>> k{};
const tensor<float, batch<2>, heads<2>, key<6>, head_dim<3>> v{};
const tensor<float, batch<2>, heads<2>, query<4>, key<6>> scores{};
const tensor<bool, batch<2>, heads<2>, query<4>, key<6>> hidden_pairs{};
const tensor<bool, query<4>, key<6>> pairs{};
const tensor<int, batch<2>> lens{};
const tensor<int, batch<2>, token<4>> ids{};
const tensor<float, vocabulary<50>, hidden<8>> table{};
const tensor<float, vocabulary<50>> logits{};
const tensor<float, batch<2>, classes<10>> of_classes{};
tensor<float, batch<2>, token<4>, hidden<8>> y{};

// As in the example of multi_head_attention.
using attention = multi_head_attention<float, hidden<8>, heads<2>, bias<true>>;
attention::weights w;
using encoder = encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                              norm_first<true>, bias<true>>;
using decoder = decoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                              norm_first<true>, bias<true>>;

// ---- shape/ ----
// api: axis
template <std::size_t N>
struct sensor : umbel::axis<sensor, N> {};
tensor<float, sensor<3>> readings{};

// api: axis_family, npos
static_assert(decltype(x)::layout::position<axis_family<token>> == 1);
static_assert(decltype(x)::layout::position<axis_family<key>> == npos);

// api: axis_like
static_assert(axis_like<hidden<8>> && axis_like<strided<hidden<8>, 1>> && !axis_like<int>);

// api: strided
float memory[32];
const auto every_second = view_as<strided<query<4>, 8>, strided<hidden<4>, 2>>(memory);

// api: has_axis
static_assert(has_axis<decltype(x), token> && !has_axis<decltype(x), key>);

// api: splittable
static_assert(splittable<decltype(x), hidden, heads<4>> &&
              !splittable<decltype(x), hidden, heads<3>>);

// api: splittable_into
static_assert(splittable_into<decltype(x), hidden, heads<4>, head_dim<2>>);

// api: mergeable
static_assert(mergeable<decltype(x), token, hidden, intermediate> &&
              !mergeable<decltype(x), batch, hidden, intermediate>);

// api: permutable
static_assert(permutable<decltype(x), hidden, batch, token> &&
              !permutable<decltype(x), hidden, batch>);

// api: transposable
static_assert(transposable<decltype(x), token, hidden> && !transposable<decltype(x), token, key>);

// api: renamable
static_assert(renamable<decltype(x), token, key> && !renamable<decltype(x), token, hidden>);

// api: reshapable
static_assert(reshapable<decltype(x), token<8>, hidden<8>> &&
              !reshapable<decltype(x), token<9>, hidden<8>>);

// api: selectable
static_assert(selectable<decltype(x), token, 3> && !selectable<decltype(x), token, 4>);

// api: sliceable
static_assert(sliceable<decltype(x), token, from<1>, extent<3>>);
static_assert(!sliceable<decltype(x), token, from<2>, extent<3>>);

// api: broadcastable
static_assert(broadcastable<decltype(lens), batch<2>, token<4>> &&
              !broadcastable<decltype(lens), batch<3>>);

// api: contractible
static_assert(contractible<decltype(q), decltype(k), head_dim> &&
              !contractible<decltype(q), decltype(k), hidden>);

// api: reducible
static_assert(reducible<decltype(scores), key, heads> && !reducible<decltype(scores), hidden>);

// api: same_shape
static_assert(same_shape<decltype(x), decltype(y)> && !same_shape<decltype(x), decltype(queries)>);

void of_tensor() {
  // ---- tensor/ ----
  // api: set_check_handler, check_handler
  const check_handler previous =
      set_check_handler([](const char* sentence) { std::puts(sentence); });
  set_check_handler(previous);

  // api: accessible
  static_assert(accessible<decltype(x), int, int, int> && !accessible<decltype(x), int>);

  // api: tensor_like
  static_assert(tensor_like<decltype(x)> && !tensor_like<float[8]>);

  // api: contract
  becomes<batch<2>, heads<2>, query<4>, key<6>>(contract<head_dim>(q, k));
  becomes<batch<2>, heads<2>, query<4>, head_dim<3>>(contract<key>(scores, v));

  // api: contiguous
  becomes<batch<2>, hidden<8>, token<4>>(x | permute<batch, hidden, token> | contiguous);

  // api: transposed
  becomes<batch<2>, hidden<8>, token<4>>(x | transposed<token, hidden>);

  // api: copy
  copy(x, y);
  copy(x | select_at<token, 0>, y | select_at<token, 3>);

  // api: view_as
  float plain[64];
  becomes<batch<2>, token<4>, hidden<8>>(view_as<batch<2>, token<4>, hidden<8>>(plain));
  becomes<batch<2>, token<4>, hidden<8>>(view_as<decltype(x)>(plain));

  // api: expected_view
  const float* data = x.data();
  const expected_view<view<const float, batch<2>, token<4>, hidden<8>>> read =
      view_as<view<const float, batch<2>, token<4>, hidden<8>>>(data, {2, 4, 8});
  if (!read) std::puts(read.error());

  // api: as_view
  becomes<batch<2>, token<4>, hidden<8>>(as_view(x));

  // api: view
  view<const float, batch<2>, token<4>, hidden<8>> borrowed = x;
  const float element = borrowed(1, 3, 7);

  // api: tensor
  tensor<float, query<2>, key<3>> t{{1, 2, 3}, {4, 5, 6}};
  t(1, 2) = 7;
  t(at<key>(2), at<query>(1)) = 8;

  // api: tensor/at
  const float by_name = x(at<token>(3), at<batch>(1), at<hidden>(7));

  // api: for_each
  for_each([](float& to, float number) { to += number; }, y, x);

  // api: split
  becomes<batch<2>, token<4>, heads<4>, head_dim<2>>(x | split<hidden, heads<4>, head_dim>);

  // api: split_into
  becomes<batch<2>, token<4>, kv_heads<2>, heads<2>, head_dim<2>>(
      x | split_into<hidden, kv_heads<2>, heads<2>, head_dim<2>>);

  // api: merge
  becomes<batch<2>, heads<2>, hidden<16>>(q | merge<query, head_dim, hidden>);

  // api: permute
  becomes<batch<2>, query<4>, heads<2>, head_dim<4>>(q | permute<batch, query, heads, head_dim>);

  // api: rename_axis
  becomes<batch<2>, query<4>, hidden<8>>(x | rename_axis<token, query>);

  // api: reshape
  becomes<token<8>, hidden<8>>(x | reshape<token<8>, hidden<8>>);

  // api: slice, from, extent
  becomes<batch<2>, token<3>, hidden<8>>(x | slice<token, from<1>, extent<3>>);

  // api: broadcast
  becomes<batch<2>, token<4>>(lens | broadcast<batch<2>, token<4>>);

  // api: select_at
  becomes<batch<2>, hidden<8>>(x | select_at<token, 3>);
  const std::size_t i = 2;
  becomes<batch<2>, hidden<8>>(x | select_at<token>(i));
}

void of_operations() {
  // ---- operation/ ----
  // api: exp
  becomes<batch<2>, token<4>, hidden<8>>(exp(x));

  // api: log
  becomes<batch<2>, token<4>, hidden<8>>(log(x));

  // api: sqrt
  becomes<batch<2>, token<4>, hidden<8>>(sqrt(x));

  // api: rsqrt
  becomes<batch<2>, token<4>, hidden<8>>(rsqrt(x));

  // api: tanh
  becomes<batch<2>, token<4>, hidden<8>>(tanh(x));

  // api: sigmoid
  becomes<batch<2>, token<4>, hidden<8>>(sigmoid(x));

  // api: abs
  becomes<batch<2>, token<4>, hidden<8>>(abs(x));

  // api: gelu_exact
  becomes<batch<2>, token<4>, hidden<8>>(x | gelu_exact);

  // api: gelu_tanh
  becomes<batch<2>, token<4>, hidden<8>>(x | gelu_tanh);

  // api: silu
  becomes<batch<2>, token<4>, hidden<8>>(x | silu);

  // api: relu
  becomes<batch<2>, token<4>, hidden<8>>(x | relu);

  // api: activation
  using network = feed_forward<float, hidden<8>, intermediate<16>, activation<silu>, bias<true>>;

  // api: mean
  becomes<batch<2>, hidden<8>>(x | mean<token>);
  becomes<batch<2>>(x | mean<token, hidden>);
  becomes<batch<2>, hidden<8>>(mean<token>(x, lens));

  // api: variance
  becomes<batch<2>, token<4>>(x | variance<hidden>);

  // api: sum
  becomes<batch<2>, heads<2>, query<4>>(sum<key>(scores));

  // api: max
  becomes<batch<2>, heads<2>, query<4>>(max<key>(scores));

  // api: min
  becomes<batch<2>, heads<2>, query<4>>(min<key>(scores));

  // api: product
  becomes<batch<2>, heads<2>, query<4>>(product<key>(scores));

  // api: maximum
  becomes<batch<2>, token<4>, hidden<8>>(maximum(x, 0.0f));

  // api: minimum
  becomes<batch<2>, token<4>, hidden<8>>(minimum(x, y));

  // api: softmax
  becomes<batch<2>, heads<2>, query<4>, key<6>>(softmax<key>(scores));
  becomes<batch<2>, heads<2>, query<4>, key<6>>(softmax<query, key>(scores));

  // api: log_softmax
  becomes<batch<2>, classes<10>>(of_classes | log_softmax<classes>);

  // api: cumulative_sum
  becomes<batch<2>, token<4>, hidden<8>>(cumulative_sum<token>(x));

  // api: exclusive
  becomes<batch<2>, token<4>, hidden<8>>(cumulative_sum<token, exclusive>(x));

  // api: from_last
  becomes<batch<2>, token<4>, hidden<8>>(x | cumulative_sum<token, from_last>);

  // api: flip
  becomes<batch<2>, token<4>, hidden<8>>(x | flip<token>);

  // api: windows
  becomes<batch<2>, token<2>, kernel_size<3>, hidden<8>>(x | windows<token, kernel_size<3>>);

  // api: stride
  becomes<batch<2>, token<1>, kernel_size<3>, hidden<8>>(x |
                                                         windows<token, kernel_size<3>, stride<2>>);

  // api: dilation
  becomes<batch<2>, token<2>, kernel_size<2>, hidden<8>>(
      x | windows<token, kernel_size<2>, dilation<2>>);

  // api: patches
  becomes<batch<2>, token<2>, kernel_size<2>, hidden<4>, heads<2>>(
      x | patches<token, hidden, kernel_size<2>, heads<2>>);

  // api: padded
  becomes<batch<2>, token<7>, hidden<8>>(padded<token, before<1>, after<2>>(x, 0.5f));

  // api: before
  becomes<batch<2>, token<5>, hidden<8>>(x | padded<token, before<1>>);

  // api: after
  becomes<batch<2>, token<5>, hidden<8>>(x | padded<token, after<1>>);

  // api: kth_largest
  becomes<batch<2>, heads<2>, query<4>>(kth_largest<3, key>(scores));

  // api: where
  becomes<batch<2>, token<4>, hidden<8>>(where(x > 0.0f, x, 0.0f));

  // api: choosable
  static_assert(choosable<decltype(x > 0.0f), decltype(x), float> &&
                !choosable<decltype(x), decltype(x), float>);

  // api: hide
  becomes<batch<2>, heads<2>, query<4>, key<6>>(softmax<key>(hide(scores, hidden_pairs)));

  // api: hideable
  static_assert(hideable<decltype(scores), decltype(hidden_pairs)> &&
                !hideable<decltype(scores), decltype(lens)>);

  // api: lookup
  becomes<batch<2>, token<4>, hidden<8>>(lookup(table, ids));

  // api: gather
  becomes<batch<2>, token<4>>(gather<hidden>(x, ids));

  // api: gatherable
  static_assert(gatherable<decltype(x), decltype(ids), hidden> &&
                !gatherable<decltype(x), decltype(ids), vocabulary>);

  // api: indexable
  static_assert(indexable<decltype(table), decltype(ids)> &&
                !indexable<decltype(table), decltype(x)>);

  // api: one_hot
  becomes<batch<2>, token<4>, classes<10>>(one_hot<classes<10>>(ids));

  // api: one_hot_encodable
  static_assert(one_hot_encodable<decltype(ids), classes<10>> &&
                !one_hot_encodable<decltype(x), classes<10>>);

  // api: concat
  becomes<batch<2>, token<8>, hidden<8>>(concat<token>(x, y));

  // api: stack
  becomes<batch<2>, query<4>, key<6>>(stack<batch>(pairs, pairs));

  // api: concatenable
  static_assert(concatenable<token, decltype(x), decltype(y)> &&
                !concatenable<key, decltype(x), decltype(y)>);

  // api: stackable
  static_assert(stackable<batch, decltype(pairs), decltype(pairs)> &&
                !stackable<batch, decltype(x), decltype(y)>);

  // api: formula
  constexpr formula scaled = [](auto a, auto b) {
    return softmax<key>(contract<head_dim>(a, b) * 0.5f);
  };
  becomes<batch<2>, heads<2>, query<4>, key<6>>(scaled(q, k));

  // api: position
  constexpr formula causal_softmax = [](auto s) {
    return softmax<key>(hide(s, position<key> > position<query>));
  };
  becomes<batch<2>, heads<2>, query<4>, key<6>>(causal_softmax(scores));

  // api: positions_along
  constexpr formula with_slopes = [](auto a) { return a * positions_along<token<3>>; };
  becomes<token<3>, batch<2>, heads<2>, query<4>, key<6>>(with_slopes(scores));
}

void of_masks() {
  // ---- mask/ ----
  // api: mask_like
  static_assert(mask_like<decltype(causal)> && mask_like<decltype(lens)> && !mask_like<float>);

  // api: fits_as_mask
  static_assert(fits_as_mask<decltype(lens), float, batch<2>, heads<5>, query<4>, key<6>>);
  static_assert(!fits_as_mask<decltype(causal), float, batch<2>, heads<5>, query<4>, key<6>>);

  // api: mask_after
  becomes<batch<2>, heads<2>, query<4>, key<6>>(softmax<key>(mask_after<key>(scores, lens)));

  // api: all_keys
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, all_keys));

  // api: keep_mask
  becomes<batch<2>, query<4>, hidden<8>>(attention{w}(queries, context, context, keep_mask(pairs)));

  // api: drop_mask
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, drop_mask(pairs) & lens));

  // api: valid_rows
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, valid_rows(lens) & causal));
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, valid_rows(3)));

  // api: score_bias
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, score_bias(scores)));
  const auto distance = [](std::size_t, std::size_t, std::size_t query, std::size_t key) {
    return query < key ? -1.0f : 0.0f;
  };
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, score_bias(distance)));

  // api: causal
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, causal & lens));

  // api: causal_top_left
  becomes<batch<2>, query<4>, hidden<8>>(attention{w}(queries, context, context, causal_top_left));

  // api: causal_bottom_right
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, causal_bottom_right(lens)));

  // api: causal_at
  becomes<batch<2>, query<4>, hidden<8>>(attention{w}(queries, context, context, causal_at(2)));

  // api: sliding_window
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, sliding_window<2, 1>));

  // api: sliding_window_top_left
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, sliding_window_top_left<2>));

  // api: sliding_window_bottom_right
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, sliding_window_bottom_right<2>));

  // api: sliding_window_at
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, sliding_window_at<2>(lens)));

  // api: alibi
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, alibi & causal));

  // api: alibi_top_left
  becomes<batch<2>, query<4>, hidden<8>>(attention{w}(queries, context, context, alibi_top_left));

  // api: alibi_bottom_right
  becomes<batch<2>, query<4>, hidden<8>>(
      attention{w}(queries, context, context, alibi_bottom_right & causal_bottom_right));

  // api: alibi_at
  becomes<batch<2>, query<4>, hidden<8>>(attention{w}(queries, context, context, alibi_at(lens)));

  // api: dropout
  const std::size_t step = 1;
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, causal & dropout(0.1, step)));

  // api: observe, observed
  tensor<float, batch<2>, heads<2>, query<4>, key<4>> seen;
  becomes<batch<2>, token<4>, hidden<8>>(
      attention{w}(x, causal & observe<observed::weights>(seen)));
}

void of_attention() {
  // ---- attention/ ----
  // api: scaled_dot_product_attention
  becomes<batch<2>, heads<2>, query<4>, head_dim<3>>(scaled_dot_product_attention(q, k, v, lens));

  // api: scaled_dot_product_attention_with, score_scale, softcap
  becomes<batch<2>, heads<2>, query<4>, head_dim<3>>(
      scaled_dot_product_attention_with<score_scale<1, 4>, softcap<50>>(q, k, v));

  // api: attends_by_dot_product
  static_assert(attends_by_dot_product<decltype(q), decltype(k), decltype(v)>);
  static_assert(!attends_by_dot_product<decltype(k), decltype(k), decltype(v)>);

  // api: attention_by_score
  const auto by_first_feature =
      attention_by_score([](const auto& a, const auto& b) { return a(0) * b(0); });
  becomes<batch<2>, heads<2>, query<4>, head_dim<3>>(by_first_feature(q, k, v, lens));

  // api: multi_head_attention
  using attention = multi_head_attention<float, hidden<8>, heads<2>, bias<true>>;
  static attention::weights w;
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, causal));
  becomes<batch<2>, query<4>, hidden<8>>(attention{w}(queries, context, context, lens));

  // api: attends
  static_assert(attends<attention, decltype(queries), decltype(context), decltype(context)>);

  // api: attends_to_itself
  static_assert(attends_to_itself<attention, decltype(x)> &&
                !attends_to_itself<attention, decltype(scores)>);

  // api: additive_attention
  using additive = additive_attention<float, hidden<8>, score_hidden<5>>;
  static additive::weights of_additive;
  becomes<batch<2>, query<4>, hidden<8>>(additive{of_additive}(queries, context, context, lens));

  // api: attends_additively
  static_assert(
      attends_additively<additive, decltype(queries), decltype(context), decltype(context)>);

  // api: pruned, prune_heads, pruned_weights
  using smaller = pruned<attention, prune_heads<1>>;
  static const smaller::weights of_smaller = pruned_weights<attention, prune_heads<1>>(w);
  becomes<batch<2>, token<4>, hidden<8>>(smaller{of_smaller}(x));

  // api: keep_heads
  using first_head = pruned<attention, keep_heads<0>>;

  // api: prunable
  static_assert(prunable<attention, prune_heads<1>> && !prunable<attention, prune_heads<0, 1>>);

  // api: rope, split_halves
  using rotary = multi_head_attention<float, hidden<8>, heads<2>, rope<split_halves>>;

  // api: adjacent_pairs
  using rotary_by_pairs = multi_head_attention<float, hidden<8>, heads<2>, rope<adjacent_pairs>>;

  // api: rotate
  becomes<batch<2>, heads<2>, query<4>, head_dim<4>>(q | rotate<split_halves, query, head_dim>);

  // api: rope_cosines, rope_sines
  constexpr auto cosines = rope_cosines<split_halves, query<4>, head_dim<4>>();
  constexpr auto sines = rope_sines<split_halves, query<4>, head_dim<4>>();
  becomes<batch<2>, heads<2>, query<4>, head_dim<4>>(
      rotate<split_halves, head_dim>(q, cosines, sines));

  // api: rotatable
  static_assert(rotatable<decltype(q), split_halves, query, head_dim> &&
                !rotatable<decltype(v), split_halves, key, head_dim>);

  // api: rotatable_at
  static_assert(rotatable_at<decltype(x), decltype(ids), split_halves, token<9>, hidden>);

  // api: rotatable_by
  using turns = tensor<float, query<4>, head_dim<2>>;
  static_assert(rotatable_by<decltype(q), turns, turns, split_halves, head_dim>);

  // api: empty_rows, uniform_weights
  using of_the_book = multi_head_attention<float, hidden<8>, heads<2>, empty_rows<uniform_weights>>;

  // api: zero_weights
  using as_by_default = multi_head_attention<float, hidden<8>, heads<2>, empty_rows<zero_weights>>;
}

void of_layers() {
  // ---- layer/ and block/ ----
  // api: bias
  using biased = multi_head_attention<float, hidden<8>, heads<2>, bias<true>>;
  using only_gamma = layer_norm<float, hidden<8>, bias<false>>;

  // api: bias_on
  using qwen2 = multi_head_attention<float, hidden<8>, heads<2>, bias_on<'q', 'k', 'v'>>;

  // api: keys_from, values_from, output_to
  using cross = multi_head_attention<float, hidden<8>, heads<2>, keys_from<hidden<6>>,
                                     values_from<hidden<5>>, output_to<hidden<10>>>;

  // api: query_key_norm
  using normed = multi_head_attention<float, hidden<8>, heads<2>, query_key_norm<rms_norm>>;

  // api: norm_by, norm_epsilon, norm_bias
  using block = encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<silu>,
                              norm_first<true>, bias<false>, norm_by<layer_norm>,
                              norm_epsilon<1, 1'000'000>, norm_bias<false>>;

  // api: workspace_for
  static workspace_for<attention, decltype(x)> work;
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, causal, work));

  // api: workspace_like
  static_assert(workspace_like<attention::workspace<token<4>>> && !workspace_like<float>);

  // api: executor_like, serial_executor, serial
  static_assert(executor_like<serial_executor> && !executor_like<int>);
  static attention::workspace<token<4>> works[1];
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, causal, parallel(serial, works)));

  // api: parallel
  becomes<batch<2>, token<4>, hidden<8>>(attention{w}(x, causal, parallel(serial, works)));

  // api: prepacked
  static const prepacked<attention> packed{w};
  becomes<batch<2>, token<4>, hidden<8>>(packed(x, causal));

  // api: stored_as, bfloat16
  static const prepacked<attention, stored_as<bfloat16>> in_16_bits{w};
  becomes<batch<2>, token<4>, hidden<8>>(in_16_bits(x, causal));

  // api: float16
  using half_weights = prepacked<attention, stored_as<float16>>;

  // api: linear
  using head = linear<float, hidden<8>, classes<10>, bias<true>>;
  static head::weights of_head;
  becomes<batch<2>, token<4>, classes<10>>(head{of_head}(x));

  // api: projectable
  static_assert(projectable<decltype(x), head::weights>);

  // api: layer_norm
  using norm = layer_norm<float, hidden<8>>;
  static norm::weights of_norm;
  becomes<batch<2>, token<4>, hidden<8>>(norm{of_norm}(x));

  // api: rms_norm
  using root = rms_norm<float, hidden<8>>;
  static root::weights of_root;
  becomes<batch<2>, token<4>, hidden<8>>(root{of_root, 1e-5f}(x));

  // api: normalises
  static_assert(normalises<norm, decltype(x)> && !normalises<norm, decltype(scores)>);

  // api: embedding
  using embed = embedding<float, vocabulary<50>, hidden<8>>;
  static embed::weights of_embed;
  becomes<batch<2>, token<4>, hidden<8>>(embed{of_embed}(ids));
  becomes<batch<2>, token<4>, vocabulary<50>>(embed{of_embed}.logits(x));

  // api: learned_positions
  using places = learned_positions<float, token<4>, hidden<8>>;
  static places::weights of_places;
  becomes<batch<2>, token<4>, hidden<8>>(places{of_places}(x));

  // api: sinusoidal_positions
  constexpr sinusoidal_positions<float, token<4>, hidden<8>, adjacent_pairs> waves{};
  becomes<batch<2>, token<4>, hidden<8>>(waves(x));

  // api: split_halves_to_base
  constexpr sinusoidal_positions<float, token<16>, hidden<8>, split_halves_to_base>
      of_tensor2tensor{};

  // api: has_positions_for
  static_assert(has_positions_for<places, decltype(x)> &&
                !has_positions_for<places, decltype(context)>);

  // api: feed_forward
  using network = feed_forward<float, hidden<8>, intermediate<16>, activation<relu>, bias<true>>;
  static network::weights of_network;
  becomes<batch<2>, token<4>, hidden<8>>(network{of_network}(x));

  // api: gated
  using swiglu =
      feed_forward<float, hidden<8>, intermediate<16>, activation<silu>, gated<true>, bias<false>>;

  // api: feeds_forward
  static_assert(feeds_forward<network, decltype(x)> && !feeds_forward<network, decltype(scores)>);

  // api: encoder_layer, norm_first
  using encoder = encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                                norm_first<true>, bias<true>>;
  static encoder::weights of_encoder;
  becomes<batch<2>, token<4>, hidden<8>>(encoder{of_encoder}(x, lens));

  // api: encodes
  static_assert(encodes<encoder, decltype(x)> && !encodes<encoder, decltype(scores)>);

  // api: feed_forward_bias
  using biased_network =
      encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                    norm_first<true>, bias<false>, feed_forward_bias<true>>;

  // api: decoder_layer, self_mask
  using decoder = decoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                                norm_first<true>, bias<true>>;
  static decoder::weights of_decoder;
  becomes<batch<2>, token<4>, hidden<8>>(decoder{of_decoder}(x, context, lens, self_mask(causal)));

  // api: decodes
  static_assert(decodes<decoder, decltype(x), decltype(context)>);

  // api: layer_stack
  using encoders = layer_stack<encoder, 3>;
  static encoders::weights of_encoders;
  becomes<batch<2>, token<4>, hidden<8>>(encoders{of_encoders}(x, causal));

  // api: residual_block
  namespace parts = block_parts;
  using own_attention = parts::self_attention<parts::name::attention, heads<2>, bias<true>>;
  using own_network = parts::feed_forward_network<parts::name::feed_forward, intermediate<16>,
                                                  activation<relu>, bias<true>>;
  using in_parallel =
      residual_block<float, hidden<8>,
                     parts::pre_norm<parts::name::norm, own_attention, own_network>>;
  static in_parallel::weights of_parallel;
  becomes<batch<2>, token<4>, hidden<8>>(in_parallel{of_parallel}(x, causal));

  // ---- decode/ ----
  // api: key_value_cache
  static key_value_cache<attention, key<64>> past;
  const tensor<float, token<1>, hidden<8>> next{};
  tensor<float, token<1>, hidden<8>> out;
  if (!past.step(out, attention{w}, next)) std::puts("the cache is full");

  // api: longest_sequence
  using stream = key_value_cache<attention, key<64>, longest_sequence<1'000'000>>;

  // api: longest_memory
  using past_of_decoder = key_value_cache<decoder, key<64>, longest_memory<16>>;

  // api: called_with
  using row = tensor<float, token<1>, hidden<8>>;
  constexpr formula causal_layer = [](auto rows, auto weights) {
    return attention{weights}(rows, causal);
  };
  using past_of_formula =
      key_value_cache<decltype(causal_layer), key<64>, called_with<row, attention::weights>>;

  // api: argmax
  const std::size_t most_likely = argmax(logits);
  becomes<batch<2>, heads<2>, query<4>>(argmax<key>(scores));

  // api: sampler, sampling
  sampler<float, vocabulary<50>> draw{42};
  const std::size_t token_drawn = draw(logits, sampling{.temperature = 0.8f, .top_k = 40});

  // api: penalize_repetition
  tensor<float, vocabulary<50>> changed = logits;
  const tensor<int, token<3>> said{7, 9, 7};
  penalize_repetition(changed, said, 1.1f);

  // ---- inspect/ ----
  // api: describe
  std::puts(describe<attention, token<64>>());

  // api: plan_of
  static_assert(plan_of<attention, token<64>>::flops >
                plan_of<attention, token<1>, token<64>>::flops);

  // api: fits
  static_assert(fits<board::microbit_v2, attention, token<4>>);

  // api: vector_check, vector_bits
  const vector_bits bits = vector_check();
  if (!bits.fit) std::printf("compiled for %zu bits, not %zu\n", bits.compiled, bits.core);

  // api: footprint, call_footprint
  constexpr call_footprint needs = footprint<attention, token<64>>;
  static_assert(needs.workspace > 0);

  // api: attention_heat_map
  const auto to_terminal = [](const char* text, std::size_t count) {
    std::fwrite(text, 1, count, stdout);
  };
  attention_heat_map(scores, to_terminal, {.form = heat_map_form::terminal});

  // api: heat_map_options, heat_map_form
  constexpr heat_map_options small{.form = heat_map_form::svg, .cell = 4, .legend = false};

  // api: heat_map_legend
  heat_map_legend(to_terminal);

  // api: heat_mappable
  static_assert(heat_mappable<decltype(scores)> && !heat_mappable<float>);

  // api: heat_colour
  const auto brightest = heat_colour(1.0);
  std::printf("#%02x%02x%02x\n", brightest.red, brightest.green, brightest.blue);
}

using pool = quantized_mean<token<4>>;
using classifier = linear<float, hidden<8>, classes<10>>;
struct model {
  pool mean;
  quantized<classifier> classify;
};
struct model_weights {
  static constexpr const char* part_names[] = {"classify"};
  classifier::weights classify;
};
struct model_ranges {
  static constexpr const char* part_names[] = {"mean", "classify"};
  pool::ranges mean;
  quantized<classifier>::ranges classify;
};
// api: pack_model
pack_result pack_of_parts(model& m, const model_weights& parts, const model_ranges& seen) {
  return pack_model(m, parts, seen);
}

void of_files_and_weights(const char* bytes, std::size_t size) {
  // ---- file/ ----
  // api: npy_file, file_result, file_error
  const file_result<npy_file> npy = npy_file::in_memory(bytes, size);
  if (!npy) std::puts(npy.error());

  // api: npz_file
  const auto npz = npz_file::in_memory(bytes, size);

  // api: safetensors_file
  const auto safetensors = safetensors_file::in_memory(bytes, size);

  // api: stored_tensor, stored_type, tensor_name
  if (safetensors)
    for (const stored_tensor& one : *safetensors)
      if (one.type == stored_type::float32)
        std::printf("%zu bytes of name\n", tensor_name(one.name).size());

  // api: tensor_file
  const auto file = tensor_file::in_memory(bytes, size);
  if (file)
    if (const auto read = file->read("x", y); !read) std::puts(read.error());

  // api: write_npy
  const auto sink = [](const void* data, std::size_t count) {
    return std::fwrite(data, 1, count, stdout) == count;
  };
  write_npy(sink, x);

  // api: write_safetensors
  const auto as_safetensors = write_safetensors(sink, [](const auto& put) { put("x", x); });

  // api: write_npz
  const auto as_npz = write_npz(sink, [](const auto& put) { put("x", x); });

  // ---- parameters/ and weights/ ----
  // api: for_each_parameter, parameter_path
  for_each_parameter(w, [](const parameter_path& path, const auto& number) {
    std::printf("%s: %zu\n", path.c_str(), number.size());
  });

  // api: count_parameters
  const std::size_t count = count_parameters(w);

  // api: compare_parameters, parameter_difference
  static attention::weights other;
  const parameter_difference difference = compare_parameters(w, other);

  // api: write_parameter_table
  write_parameter_table([](const char* text, std::size_t n) { std::fwrite(text, 1, n, stdout); },
                        w);

  // api: parameter_name, parameter_names, in_out, out_in, as_they_are, stored_axes
  static constexpr parameter_name of_file[] = {{"q.weight", "query.kernel", in_out},
                                               {"o.weight", "out_proj.weight", out_in},
                                               {"*.bias", "*.bias", as_they_are}};
  constexpr parameter_names names = of_file;

  // api: weights/at
  const auto renamed = load(w, *safetensors, at("*", "layers.0.attention.*", names));

  // api: load, load_result
  const load_result loaded = load(w, *safetensors, names);
  if (!loaded) std::puts(loaded.error());

  // api: batch_norm, fold_batch_norm
  struct convolution_weights {
    tensor<float, kernel_size<3>, hidden<6>, out_features<8>> weight;
    tensor<float, out_features<8>> bias;
  };
  static convolution_weights convolution;
  static batch_norm<float, out_features<8>> norm;  // loaded by names::torch_batch_norm
  fold_batch_norm(convolution, norm, 1e-5);

  // api: save
  save(sink, w);

  // api: weights_checksum, checksum_of
  weights_checksum sum;
  const float numbers[] = {1, 2, 3};
  sum.add(numbers);
  if (sum.value() != checksum_of(numbers)) std::puts("not these numbers");

  // api: verify_checksum
  if (const auto checked = verify_checksum(*safetensors); !checked) std::puts(checked.error());

  // api: replay, probe_input, probe_result
  static tensor<float, batch<2>, token<4>, hidden<8>> input, wanted;
  static tensor<int, batch<2>> valid;
  const auto model = [](const auto& of, const auto& lengths) { return attention{w}(of, lengths); };
  const probe_result replayed =
      replay(*safetensors, model, wanted, probe_input("x", input), probe_input("lens", valid));
  if (!replayed) std::puts(replayed.error());

  // api: compare_with_probe, probe_tolerance
  const auto compared = compare_with_probe(attention{w}(x), wanted,
                                           probe_tolerance{.absolute = 1e-6, .relative = 1e-6});

  // ---- training/ ----
  // api: initialize
  initialize(w, 42);

  // api: initializer
  initialize(w, 42, initializer::normal(0.02));

  // api: gradient, with_gradient
  constexpr formula loss = [](auto a, auto b) { return mean_squared_error(a, b); };
  constexpr auto learn = gradient(loss);
  tensor<float, batch<2>, token<4>, hidden<8>> slope{};
  const float value = learn(with_gradient(x, slope), y)();

  // api: head_gates
  static attention::weights of_loss;
  becomes<heads<2>>(head_gates<attention>(w, of_loss));

  // api: mean_squared_error
  becomes<>(mean_squared_error(x, y));

  // api: cross_entropy
  becomes<>(cross_entropy<classes>(of_classes, lens));

  // api: cross_entropy_fits
  static_assert(cross_entropy_fits<decltype(of_classes), decltype(lens), classes>);

  // api: label_smoothing, ignored_label
  becomes<>(cross_entropy<classes, label_smoothing<1, 10>, ignored_label<0>>(of_classes, lens));

  // api: set_to_zero
  static attention::weights g;
  set_to_zero(g);

  // api: scale
  scale(g, 0.5f);

  // api: add
  add(g, w);

  // api: clip_by_norm
  clip_by_norm(g, 1);

  // api: moving_average
  static attention::weights average;
  moving_average(average, w, 0.999);

  // api: sgd, update, update_result, update_status
  const update_result made = update(w, g, sgd{.rate = 0.1});
  if (made.status != update_status::updated) std::puts("nothing has changed");

  // api: sgd_with_momentum
  static sgd_with_momentum::state<attention::weights> momentum;
  std::ignore = update(w, g, momentum, sgd_with_momentum{.rate = 0.1, .momentum = 0.9});

  // api: adam
  static adam::state<attention::weights> moments;
  std::ignore = update(w, g, moments, adam{.rate = 1e-3});

  // api: adamw
  static adamw::state<attention::weights> averages;
  std::ignore = update(w, g, averages, adamw{.rate = 1e-3, .decay = 0.01});

  // api: constant_rate
  constexpr constant_rate constant{.rate = 1e-3, .warm_up = 100};
  std::ignore = update(w, g, sgd{.rate = constant(1)});

  // api: warm_up_then_cosine
  constexpr warm_up_then_cosine cosine{.rate = 1e-3, .warm_up = 100, .steps = 10'000};

  // api: warm_up_then_linear
  constexpr warm_up_then_linear line{.rate = 1e-3, .warm_up = 100, .steps = 10'000};

  // api: trainable_weights
  static_assert(trainable_weights<attention::weights> && !trainable_weights<int>);

  // api: recompute
  using thrifty = recompute<layer_stack<encoder, 3>>;

  // ---- quantized/ ----
  // api: quantize
  becomes<batch<2>, token<4>, hidden<8>>(quantize<std::int8_t>(x, 4.0f));

  // api: dequantize
  becomes<batch<2>, token<4>, hidden<8>>(dequantize(quantize<std::int8_t>(x, 4.0f), 4.0f));

  // api: quantized
  using head = linear<float, hidden<8>, classes<10>, bias<true>>;
  static head::weights of_head;
  quantized<head>::ranges seen{};
  becomes<batch<2>, token<4>, classes<10>>(quantized<head>::calibrate(seen, of_head, x));
  static const quantized<head> in_integers{of_head, seen};
  becomes<batch<2>, token<4>, classes<10>>(in_integers(quantize<std::int8_t>(x, seen.input)));

  // api: quantized_mean
  static quantized_mean<token<4>>::ranges of_mean{};
  static const quantized_mean<token<4>> pool{of_mean};
  becomes<batch<2>, hidden<8>>(pool(quantize<std::int8_t>(x, of_mean.input)));
  becomes<batch<2>, hidden<8>>(pool(quantize<std::int8_t>(x, of_mean.input), lens));

  // api: output_as
  using to_residual = quantized<head, output_as<std::int16_t>>;

  // api: same_range
  same_range(seen.input, of_mean.output);

  // api: chain_ranges, are_chained
  chain_ranges(of_mean, seen);
  if (!are_chained(of_mean, seen)) std::puts("not chained");

  // api: magnitude_histogram
  magnitude_histogram counted;
  counted.add(0.5f);
  const float bound = counted.percentile(99.9);

  // api: pack_result
  static quantized<head> packed;
  if (const pack_result result = packed.pack(of_head, seen); !result)
    std::puts(result.missing_range());

  // api: softmax_as
  using long_rows = quantized<encoder, softmax_as<std::int16_t>>;

  // api: take_percentile
  static quantized<head>::histograms histograms{};
  take_percentile(seen, histograms, 99.99);
}

#if __has_include(<unistd.h>)
void of_files_by_path() {
  // api: mapped_file
  const auto mapped = mapped_file::open("model.safetensors");
  if (mapped) std::ignore = safetensors_file::in_memory(mapped->data(), mapped->size());

  // api: read_file
  static char in_ram[4096];
  const auto bytes = read_file("model.npz", in_ram, sizeof(in_ram));
  if (!bytes) std::puts(bytes.error());
}
#endif

#if __has_include(<mpi.h>)
void of_ranks() {
  // ---- mpi/ ----
  // api: sharded, over, ranks
  using share = sharded<attention, over<heads, ranks<2>>>;
  static share::weights own;

  // api: communicator
  const communicator<ranks<2>> world{MPI_COMM_WORLD};
  if (world.error()[0]) std::puts(world.error());

  // api: cut_weights
  cut_weights<share>(w, world.rank(), own);

  // api: across
  static share::workspace<token<4>> work;
  becomes<batch<2>, token<4>, hidden<8>>(share{own}(x, causal, across(world, work)));

  // api: exchange_of, exchange_cost
  constexpr exchange_cost cost = exchange_of<share, token<512>>;
  static_assert(cost.bytes > 0);

  // api: interconnect
  std::puts(describe<interconnect{.nanoseconds = 1500, .megabytes_per_second = 25'000}, share,
                     token<512>>());
}
#endif
