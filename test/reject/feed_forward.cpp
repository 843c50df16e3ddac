// SPDX-License-Identifier: BSL-1.0
// Mistakes with feed_forward, and with the options that the encoder layer passes to its parts: one
// case each, with the message that the compiler must print (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
using network =
    feed_forward<float, hidden<32>, intermediate<64>, gated<true>, activation<silu>, bias<false>>;
template <class... Options>
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, Options...>;

[[maybe_unused]] static void cases(const network& feed, const prepacked<network>& packed,
                                   tokens& x) {
  (void)feed, (void)packed, (void)x;
#if defined CASE_feed_forward_width
  // expect-gcc: "umbel: feed_forward: the input has hidden=33 but the weights expect hidden=32"
  // expect-clang: feed_forward.*the_input_has.*hidden<33>.*but_the_weights_expect.*hidden<32>
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = feed(tensor<float, token<9>, hidden<33>>{});
#elif defined CASE_feed_forward_packed_width
  // expect-gcc: "umbel: feed_forward: the input has hidden=33 but the weights expect hidden=32"
  // expect-clang: feed_forward.*the_input_has.*hidden<33>.*but_the_weights_expect.*hidden<32>
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = packed(tensor<float, token<9>, hidden<33>>{});
#elif defined CASE_feed_forward_absent_axis
  // expect-gcc: "umbel: feed_forward: there is no axis hidden in \[batch=2, token=9, intermediate=32\]"
  // expect-clang: feed_forward.*there_is_no_axis.*hidden>.*in.*batch<2>.*token<9>.*intermediate<32>
  // cause: The input lacks the input axis of the layer.
  // cure: Rename the right axis: `x | rename_axis<feed_forward, hidden>`.
  auto r = feed(tensor<float, batch<2>, token<9>, intermediate<32>>{});
#elif defined CASE_feed_forward_axis_not_last
  // expect-gcc: "umbel: feed_forward: hidden=32 must be the last axis of \[hidden=32, token=9\]"
  // expect-clang: feed_forward.*hidden<32>.*must_be_the_last_axis_of.*hidden<32>.*token<9>
  // cause: The features are not adjacent in memory.
  // cure: Move the axis to the end with `permute`, then pass `contiguous`.
  auto r = feed(tensor<float, hidden<32>, token<9>>{});
#elif defined CASE_feed_forward_not_row_major
  // expect-gcc: "umbel: feed_forward: \[token=9, batch=2, hidden=32\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: feed_forward.*token<9>.*batch<2>.*hidden<32>.*is_not_row_major_in_memory_so_pass_contiguous
  // cause: The input is a permuted or sliced view.
  // cure: Copy first: `x | contiguous | feed`.
  auto r = feed(x | permute<token, batch, hidden>);
#elif defined CASE_feed_forward_type
  // expect-gcc: "umbel: feed_forward: the input has type double but the weights have type float"
  // expect-clang: feed_forward.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: The input and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = feed(tensor<double, token<9>, hidden<32>>{});
#elif defined CASE_feed_forward_two_arguments
  // expect-gcc: "umbel: feed_forward: expects a sequence, then a workspace"
  // expect-clang: feed_forward.*expects_a_sequence_then_a_workspace
  // cause: The arguments match no overload; masks are for attention.
  // cure: Pass the sequence, and a workspace if the stack is too small.
  auto r = feed(x, causal);
#elif defined CASE_feed_forward_workspace_of_other_sizes
  // expect-gcc: "umbel: feed_forward: the workspace is for \[token=18\]; pass one for \[token=9\]"
  // expect-clang: feed_forward.*the_workspace_is_for.*token<18>.*so_pass_one_for.*token<9>
  // cause: The workspace was declared for a different layer or number of positions.
  // cure: Declare it with the size in the brackets: `network::workspace<token<9>>`.
  static network::workspace<token<18>> work;
  auto r = feed(x, work);
#elif defined CASE_feed_forward_stack_budget
  // expect-gcc: "umbel: feed_forward: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=500\]"
  // expect-clang: feed_forward.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<500>
  // cause: The intermediate results of the call would need more stack than `UMBEL_STACK_BUDGET`.
  // cure: Pass a static workspace: `network::workspace<token<500>>`, or raise the budget with `-DUMBEL_STACK_BUDGET=...`.
  auto r = feed(tensor<float, token<500>, hidden<32>>{});
#elif defined CASE_feed_forward_out_of_other_axes
  // expect-gcc: "umbel: feed_forward: the result has \[batch=2, token=9, hidden=32\] but out has \[batch=2, token=9, hidden=64\]"
  // expect-clang: feed_forward.*the_result_has.*batch<2>.*token<9>.*hidden<32>.*but_out_has.*batch<2>.*token<9>.*hidden<64>
  // cause: The output has other axes or sizes than the result, which has those of the input.
  // cure: Declare `out` with the axes of the result.
  tensor<float, batch<2>, token<9>, hidden<64>> out{};
  feed.into(out, x);
#elif defined CASE_feed_forward_out_not_row_major
  // expect-gcc: "umbel: feed_forward: out must be row-major in memory"
  // expect-clang: feed_forward.*out_must_be_row_major_in_memory
  // cause: The output is a permuted or sliced view.
  // cure: Write to a plain tensor, then `copy` it to the view.
  tensor<float, token<9>, batch<2>, hidden<32>> out{};
  feed.into(out | permute<batch, token, hidden>, x);
#elif defined CASE_feed_forward_out_is_a_temporary
  // expect-gcc: "umbel: feed_forward: out is a temporary; store it in a variable"
  // expect-clang: feed_forward.*out_is_a_temporary_so_store_it_in_a_variable
  // cause: The result would be lost at the end of the statement.
  // cure: Declare a tensor and pass it, or use the returned result.
  feed.into(std::remove_cvref_t<decltype(x)>{}, x);
#elif defined CASE_feed_forward_out_is_const
  // expect-gcc: "umbel: feed_forward: out is const"
  // expect-clang: feed_forward.*out_is_const
  // cause: The output is const.
  // cure: Remove the const.
  const tokens out{};
  feed.into(out, x);
#elif defined CASE_feed_forward_temporary_weights
  // expect-gcc: "umbel: feed_forward: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: feed_forward.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const network r{network::weights{}};
#elif defined CASE_feed_forward_weights_without_a_gate
  // expect-gcc: "umbel: feed_forward: the weights do not match this layer and its options"
  // expect-clang: feed_forward.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other axes or other options, such as `gated<>` or `bias<>`.
  // cure: Use the `weights` type of this layer.
  static feed_forward<float, hidden<32>, intermediate<64>, activation<silu>, bias<false>>::weights
      other;
  const network r{other};
#elif defined CASE_gate_without_activation
  // expect-gcc: "umbel: feed_forward: specify activation<relu> or another; LLaMA, which also has gated<true>, has activation<silu>"
  // expect-clang: feed_forward.*specify<.*activation_relu_or_another>.*LLaMA_which_is_also_gated_has.*options_are<.*activation_silu>
  // cause: Activation and bias differ between models and have no default.
  // cure: Add the options of your model: `activation<silu>` is SwiGLU, `activation<gelu_tanh>` is GEGLU.
  feed_forward<float, hidden<32>, intermediate<64>, gated<true>, bias<false>>::weights r;
#elif defined CASE_feed_forward_nothing_said
  // expect-gcc: "umbel: feed_forward: specify activation<relu> or another, bias<true> or bias<false>; the transformer layers of torch have activation<relu>, bias<true>"
  // expect-clang: feed_forward.*specify<.*activation_relu_or_another, .*bias_true_or_false>.*torch_transformer_layers_have.*options_are<.*activation_relu, .*bias_true>
  // cause: Activation and bias differ between models and have no default.
  // cure: Add the options of your model: `activation<relu>, bias<true>` is Vaswani et al. and torch's default, `activation<gelu_tanh>, bias<true>` is GPT-2.
  feed_forward<float, hidden<32>, intermediate<64>>::weights r;
#elif defined CASE_feed_forward_bias_not_said
  // expect-gcc: "umbel: feed_forward: specify bias<true> or bias<false>; the transformer layers of torch have bias<true>"
  // expect-clang: feed_forward.*specify<.*bias_true_or_false>.*torch_transformer_layers_have.*options_are<.*bias_true>
  // cause: Activation and bias differ between models and have no default.
  // cure: Add the option of your model: `bias<true>` is torch's default.
  feed_forward<float, hidden<32>, intermediate<64>, activation<relu>>::weights r;
#elif defined CASE_feed_forward_heads
  // expect-gcc: "umbel: feed_forward: expected the axis intermediate but got heads=40"
  // expect-clang: feed_forward.*expected_the_axis.*intermediate>.*but_got.*heads<40>
  // cause: The layer needs its features, those of the intermediate layer, then options.
  // cure: Add the width of the network: `intermediate<40>`.
  feed_forward<float, hidden<20>, heads<40>>::weights odd;
#elif defined CASE_feed_forward_of_integers
  // expect-gcc: "umbel: feed_forward: needs float or double, not int"
  // expect-clang: feed_forward.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  feed_forward<int, hidden<32>, intermediate<64>>::weights r;
#elif defined CASE_feed_forward_unknown_option
  // expect-gcc: "umbel: feed_forward: norm_first is not one of its options"
  // expect-clang: feed_forward.*norm_first<.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of the feed-forward layer.
  // cure: The options are `bias<>`, `activation<>` and `gated<>`; norms belong to the encoder layer.
  feed_forward<float, hidden<32>, intermediate<64>, norm_first<true>>::weights r;
#elif defined CASE_feed_forward_biases
  // expect-gcc: "umbel: feed_forward: accepts bias<true> or bias<false>, not bias_on"
  // expect-clang: feed_forward.*accepts_bias_true_or_false_not_bias_on
  // cause: `bias_on<>` lists projections of attention, but this layer has others.
  // cure: Write `bias<true>` or `bias<false>`.
  feed_forward<float, hidden<32>, intermediate<64>, bias_on<'q', 'k', 'v', 'o'>>::weights r;
#elif defined CASE_encoder_gate_without_activation
  // expect-gcc: "umbel: encoder_layer: specify norm_first<true> or norm_first<false>, activation<relu> or another, bias<true> or bias<false>; LLaMA, which also has gated<true>, has norm_first<true>, activation<silu>, bias<false>"
  // expect-clang: encoder_layer.*specify<.*norm_first_true_or_false, .*activation_relu_or_another, .*bias_true_or_false>.*LLaMA_which_is_also_gated_has.*options_are<.*norm_first_true, .*activation_silu, .*bias_false>
  // cause: Norm order, activation and bias differ between models and have no default.
  // cure: Add the options of your model: `norm_first<true>, activation<silu>, bias<false>` is LLaMA.
  encoder<gated<true>>::weights r;
#elif defined CASE_encoder_nothing_said
  // expect-gcc: "umbel: encoder_layer: specify norm_first<true> or norm_first<false>, activation<relu> or another, bias<true> or bias<false>; torch\.nn\.TransformerEncoderLayer has norm_first<false>, activation<relu>, bias<true>"
  // expect-clang: encoder_layer.*specify<.*norm_first_true_or_false, .*activation_relu_or_another, .*bias_true_or_false>.*torch_nn_TransformerEncoderLayer_has.*options_are<.*norm_first_false, .*activation_relu, .*bias_true>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add the options of your model: the default of torch's layer is `norm_first<false>, activation<relu>, bias<true>`; BERT is `norm_first<false>, activation<gelu_exact>, bias<true>`.
  encoder<>::weights r;
#elif defined CASE_encoder_norm_order_not_said
  // expect-gcc: "umbel: encoder_layer: specify norm_first<true> or norm_first<false>; torch\.nn\.TransformerEncoderLayer has norm_first<false>"
  // expect-clang: encoder_layer.*specify<.*norm_first_true_or_false>.*torch_nn_TransformerEncoderLayer_has.*options_are<.*norm_first_false>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add `norm_first<false>` (Vaswani et al., torch's default) or `norm_first<true>` (most recent models).
  encoder<activation<relu>, bias<true>>::weights r;
#elif defined CASE_encoder_activation_not_said
  // expect-gcc: "umbel: encoder_layer: specify activation<relu> or another; torch\.nn\.TransformerEncoderLayer has activation<relu>"
  // expect-clang: encoder_layer.*specify<.*activation_relu_or_another>.*torch_nn_TransformerEncoderLayer_has.*options_are<.*activation_relu>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add `activation<relu>` (torch's default), `<gelu_exact>` (torch's "gelu"), `<gelu_tanh>`, `<silu>` or a custom one.
  const encoder<norm_first<false>, bias<true>>* none = nullptr;
  auto r = (*none)(x);
#elif defined CASE_encoder_bias_not_said
  // expect-gcc: "umbel: encoder_layer: specify bias<true> or bias<false>; torch\.nn\.TransformerEncoderLayer has bias<true>"
  // expect-clang: encoder_layer.*specify<.*bias_true_or_false>.*torch_nn_TransformerEncoderLayer_has.*options_are<.*bias_true>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add `bias<true>` (torch's default) or `bias<false>` for all projections of the layer, or `bias_on<'q', 'k', 'v'>` with `feed_forward_bias<>`.
  static encoder<norm_first<false>, activation<relu>>::weights w;
  const encoder<norm_first<false>, activation<relu>> layer{w};
  auto r = layer(x);
#elif defined CASE_encoder_rms_norm_without_epsilon
  // expect-gcc: "umbel: encoder_layer: rms_norm needs the epsilon of the trained model; add norm_epsilon<1, 1000000> for 1e-6"
  // expect-clang: encoder_layer.*rms_norm_needs_the_epsilon_of_the_model_so_add_norm_epsilon
  // cause: The epsilon of `rms_norm` differs between models and has no default.
  // cure: Look it up in the configuration of the model and add it, for example `norm_epsilon<1, 1'000'000>`.
  encoder<norm_by<rms_norm>>::weights r;
#elif defined CASE_encoder_epsilon_of_0
  // expect-gcc: "umbel: encoder_layer: norm_epsilon 0/1 is not a positive number"
  // expect-clang: encoder_layer.*norm_epsilon.*ratio<0, 1>.*is_not_a_positive_number
  // cause: The option is a fraction, and its numerator or denominator is 0.
  // cure: Write `norm_epsilon<1, 1'000'000>` for 1e-6.
  encoder<norm_epsilon<0, 1>>::weights r;
#elif defined CASE_feed_forward_bias_is_of_blocks
  // expect-gcc: "umbel: feed_forward: feed_forward_bias is not one of its options"
  // expect-clang: feed_forward.*feed_forward_bias<.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of the feed-forward layer.
  // cure: The option here is `bias<>`; `feed_forward_bias<>` is for blocks, which also have attention.
  feed_forward<float, hidden<32>, intermediate<64>, feed_forward_bias<true>>::weights r;
#elif defined CASE_encoder_bias_of_the_network_not_said
  // expect-gcc: "umbel: encoder_layer: specify feed_forward_bias<true> or feed_forward_bias<false>; LLaMA, which also has gated<true>, has bias<false>"
  // expect-clang: encoder_layer.*specify<.*feed_forward_bias_true_or_false>.*LLaMA_which_is_also_gated_has.*options_are<.*bias_false>
  // cause: `bias_on<>` lists the projections of attention but not those of the feed-forward network, in which models differ.
  // cure: Add the options of your model: Qwen2 is `bias_on<'q', 'k', 'v'>, feed_forward_bias<false>`, Whisper is `bias_on<'q', 'v', 'o'>, feed_forward_bias<true>`.
  encoder<norm_first<true>, gated<true>, activation<silu>, bias_on<'q', 'k', 'v'>>::weights r;
#elif defined CASE_encoder_bias_of_attention_not_said
  // expect-gcc: "umbel: encoder_layer: specify bias<true> or bias<false>; torch\.nn\.TransformerEncoderLayer has bias<true>"
  // expect-clang: encoder_layer.*specify<.*bias_true_or_false>.*torch_nn_TransformerEncoderLayer_has.*options_are<.*bias_true>
  // cause: Norm order, activation and bias differ between frameworks and models and have no default.
  // cure: Add `bias<true>` (torch's default) or `bias<false>` for all projections of the layer, or `bias_on<'q', 'k', 'v'>` with `feed_forward_bias<>`.
  encoder<norm_first<true>, activation<relu>, feed_forward_bias<true>>::weights r;
#elif defined CASE_encoder_bias_on_an_unknown_projection
  // expect-gcc: "umbel: encoder_layer: bias_on accepts only the letters q, k, v and o"
  // expect-clang: encoder_layer.*bias_on_accepts_only_the_letters_q_k_v_and_o
  // cause: A letter does not name a projection of attention; those of the feed-forward network have no letters.
  // cure: List those of attention, `bias_on<'q', 'v'>`, and add `feed_forward_bias<true>` for the others.
  encoder<bias_on<'q', 'u'>, feed_forward_bias<true>>::weights r;
#elif defined CASE_encoder_norm_bias_of_rms_norm
  // expect-gcc: "umbel: encoder_layer: rms_norm has no beta; leave out norm_bias"
  // expect-clang: encoder_layer.*rms_norm_has_no_beta_so_leave_out_norm_bias
  // cause: `norm_bias<>` is for `layer_norm`; `rms_norm` never has a beta.
  // cure: Leave it out, or use `norm_by<layer_norm>`.
  encoder<norm_by<rms_norm>, norm_bias<false>>::weights r;
#elif defined CASE_encoder_weights_with_a_beta
  // expect-gcc: "umbel: layer_norm: the weights do not match this layer and its options"
  // expect-clang: layer_norm.*the_weights_do_not_match_this_layer_and_its_options
  // cause: Either the weights or the layer has norms with a beta, but not both: `bias<false>`, in a block `norm_bias<false>`, is missing.
  // cure: Use the `weights` type of this layer; torch's `bias=False` is `bias<false>`, in a block `bias<false>, norm_bias<false>`.
  static encoder<norm_first<true>, activation<relu>, bias<false>>::weights with_beta;
  const encoder<norm_first<true>, activation<relu>, bias<false>, norm_bias<false>> r{with_beta};
#elif defined CASE_encoder_kv_heads_do_not_divide_heads
  // expect-gcc: "umbel: multi_head_attention: heads=4 into kv_heads=3 leaves a remainder of 1; use kv_heads=2"
  // expect-clang: multi_head_attention.*heads<4>.*into.*kv_heads<3>.*leaves_a_remainder_of.*number<1>
  // cause: Equal groups of heads share the heads of keys and values, but these groups are not equal.
  // cure: Choose a number of `kv_heads` that divides `heads`.
  encoder<kv_heads<3>>::weights r;
#elif defined CASE_encoder_keys_from
  // expect-gcc: "umbel: encoder_layer: keys_from is not one of its options"
  // expect-clang: encoder_layer.*keys_from<.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of the encoder layer.
  // cure: See `block/encoder.hpp` for the options, such as `norm_first<>` and `activation<>`.
  encoder<keys_from<hidden<16>>>::weights r;
#elif defined CASE_encoder_gated_twice
  // expect-gcc: "umbel: encoder_layer: gated is given twice"
  // expect-clang: encoder_layer.*gated<.*is_given_twice
  // cause: One option has two values.
  // cure: Leave one out.
  encoder<gated<true>, activation<silu>, gated<false>>::weights r;
#elif defined CASE_feed_forward_forgotten
  // expect-gcc: "umbel: feed_forward: the axis intermediate is missing"
  // expect-clang: feed_forward.*the_axis.*intermediate>.*is_missing
  // cause: The layer needs its features, then the width of its intermediate layer, then options.
  // cure: Write both widths: `feed_forward<float, hidden<32>, intermediate<64>>`.
  feed_forward<float, hidden<32>>::weights none{};
  (void)none;
#elif defined CASE_feed_forward_swapped
  // expect-gcc: "umbel: feed_forward: expected the axis hidden but got intermediate=64"
  // expect-clang: feed_forward.*expected_the_axis.*hidden>.*but_got.*intermediate<64>
  // cause: The layer needs its features, then the width of its intermediate layer, then options.
  // cure: Write both widths: `feed_forward<float, hidden<32>, intermediate<64>>`.
  feed_forward<float, intermediate<64>, hidden<32>>::weights none{};
  (void)none;
#elif defined CASE_no_weights
  // expect-gcc: "umbel: feed_forward: construct it from one object, its weights"
  // expect-clang: feed_forward.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `network::weights w` and write `network{w}`.
  const network wrong;
#elif defined CASE_one_axis_twice
  // expect-gcc: "umbel: feed_forward: the axis hidden is named twice in \[hidden=64, hidden=256\]"
  // expect-clang: feed_forward, .*the_axis, .*hidden>, .*is_named_twice_in, .*hidden<64>, .*hidden<256>
  // cause: The two widths of the network need two axes.
  // cure: Rename the inner one: `feed_forward<float, hidden<64>, intermediate<256>, ...>`.
  feed_forward<float, hidden<64>, hidden<256>, activation<relu>, bias<true>>::weights wrong;
#elif defined CASE_workspace_for_a_wrong_width
  // expect-gcc: "umbel: feed_forward: the input has hidden=80 but the weights expect hidden=32"
  // expect-clang: feed_forward.*hidden<80>.*hidden<32>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<network, tensor<float, token<9>, hidden<80>>> work;
#else
  encoder<norm_first<true>, bias<false>, gated<true>, activation<silu>, norm_by<rms_norm>,
          norm_epsilon<1, 1'000'000>, kv_heads<2>>::weights w;
  encoder<norm_first<true>, bias_on<'q', 'k', 'v'>, feed_forward_bias<false>, gated<true>,
          activation<silu>>::weights of_some_biases;
  auto r = x | feed | packed;
  (void)r, (void)w, (void)of_some_biases;
#endif
}
