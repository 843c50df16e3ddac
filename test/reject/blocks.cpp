// SPDX-License-Identifier: BSL-1.0
// Mistakes in the blocks (linear, layer_norm, rms_norm, activations, mean, positions,
// encoder_layer): one case each, with the message that the compiler must print (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
using map = linear<float, hidden<32>, classes<10>, bias<true>>;
using norm = layer_norm<float, hidden<32>>;
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<false>>;
using positions = learned_positions<float, token<9>, hidden<32>>;

[[maybe_unused]] static void cases(const map& classify, const norm& normalise,
                                   const encoder& encode, const prepacked<encoder>& packed,
                                   const positions& place, const rms_norm<float, hidden<32>>& rms,
                                   tokens& x, encoder::weights& w) {
  (void)classify, (void)normalise, (void)rms, (void)encode, (void)packed, (void)place, (void)x,
      (void)w;
#if defined CASE_encoder_part_of_another_layer
  // expect-gcc: "umbel: encoder_layer: part 2 of the weights must be weights for multi_head_attention"
  // expect-clang: encoder_layer.*part.*number<2>.*of_the_weights_must_be_weights_for.*multi_head_attention
  // cause: The weights are passed part by part, and one part does not match the layer.
  // cure: Declare the part as in the layer: `decltype(encoder::weights::attention)`.
  const encoder::weights_view r(w.norm1, w.norm1, w.norm2, w.feed_forward);
#elif defined CASE_linear_width
  // expect-gcc: "umbel: linear: the input has hidden=31 but the weights expect hidden=32"
  // expect-clang: linear.*the_input_has.*hidden<31>.*but_the_weights_expect.*hidden<32>
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = classify(tensor<float, batch<2>, hidden<31>>{});
#elif defined CASE_linear_absent_axis
  // expect-gcc: "umbel: linear: there is no axis hidden in \[batch=2, token=9\]"
  // expect-clang: linear.*there_is_no_axis.*hidden>.*in.*batch<2>.*token<9>
  // cause: The input lacks the input axis of the layer; here `mean` removed it.
  // cure: Reduce a different axis, or rename the right one.
  auto r = x | mean<hidden> | classify;
#elif defined CASE_linear_type
  // expect-gcc: "umbel: linear: the input has type double but the weights have type float"
  // expect-clang: linear.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: The input and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = classify(tensor<double, hidden<32>>{});
#elif defined CASE_linear_of_integers
  // expect-gcc: "umbel: linear: needs float or double, not int"
  // expect-clang: linear.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  linear<int, hidden<32>, classes<10>>::weights r;
#elif defined CASE_linear_to_nothing
  // expect-gcc: "umbel: shape: classes=0 has size 0 in \[classes=0\]"
  // expect-clang: shape.*classes<0>.*has_size_0_in.*classes<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  linear<float, hidden<32>, classes<0>>::weights r;
#elif defined CASE_linear_biases
  // expect-gcc: "umbel: linear: accepts bias<true> or bias<false>, not bias_on"
  // expect-clang: linear.*accepts_bias_true_or_false_not_bias_on
  // cause: `bias_on<>` lists projections of attention, but this layer has others.
  // cure: Write `bias<true>` or `bias<false>`.
  linear<float, hidden<32>, classes<10>, bias_on<'q'>>::weights r;
#elif defined CASE_linear_unknown_option
  // expect-gcc: "umbel: linear: activation is not one of its options"
  // expect-clang: linear.*activation<{+}+>.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of `linear`.
  // cure: `linear` only has `bias<>`; pipe the result into the activation: `x | classify | relu`.
  linear<float, hidden<32>, classes<10>, activation<relu>>::weights r;
#elif defined CASE_linear_temporary_weights
  // expect-gcc: "umbel: linear: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: linear.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A linear map borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const map r{map::weights{}};
#elif defined CASE_linear_weights_of_another
  // expect-gcc: "umbel: linear: the weights do not match this layer and its options"
  // expect-clang: linear.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other axes or other options, such as `bias<>`.
  // cure: Use the `weights` type of this layer.
  static linear<float, hidden<32>, classes<10>>::weights without_bias;
  const map r{without_bias};
#elif defined CASE_prepacked_weights_of_another
  // expect-gcc: "umbel: linear: the weights do not match this layer and its options"
  // expect-clang: linear.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other axes or other options, such as `bias<>`.
  // cure: Use the `weights` type of this layer.
  static linear<float, hidden<32>, classes<10>>::weights without_bias;
  const prepacked<map> r{without_bias};
#elif defined CASE_pack_weights_of_another
  // expect-gcc: "umbel: linear: the weights do not match this layer and its options"
  // expect-clang: linear.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with other axes or other options, such as `bias<>`.
  // cure: Use the `weights` type of this layer.
  static linear<float, hidden<32>, classes<10>>::weights without_bias;
  static prepacked<map> later;
  later.pack(without_bias);
#elif defined CASE_pack_nothing
  // expect-gcc: "umbel: prepacked: pack expects one object, the weights of the layer"
  // expect-clang: prepacked.*pack_expects_one_object_the_weights_of_the_layer
  // cause: `pack` got nothing, several arguments, or a layer that is already packed.
  // cure: Write `later.pack(w)` with the weights of the layer; assign a packed layer, `later = packed`.
  static prepacked<map> later;
  later.pack();
#elif defined CASE_pack_prepacked
  // expect-gcc: "umbel: prepacked: pack expects one object, the weights of the layer"
  // expect-clang: prepacked.*pack_expects_one_object_the_weights_of_the_layer
  // cause: `pack` got nothing, several arguments, or a layer that is already packed.
  // cure: Write `later.pack(w)` with the weights of the layer; assign a packed layer, `later = packed`.
  static prepacked<encoder> later;
  later.pack(packed);
#elif defined CASE_prepacked_double_in_16_bits
  // expect-gcc: "umbel: prepacked: a layer of double cannot be stored as bfloat16"
  // expect-clang: prepacked.*a_layer_of.*element<double>.*cannot_be_stored_as.*element<.*bfloat16>
  // cause: 16-bit and 8-bit storage is for float layers; a double layer would lose most of its precision.
  // cure: Declare the layer with float, or leave out `stored_as<>`.
  using of_double = linear<double, hidden<32>, classes<10>>;
  static of_double::weights w_double;
  const prepacked<of_double, stored_as<bfloat16>> r{w_double};
#elif defined CASE_prepacked_as_integers
  // expect-gcc: "umbel: prepacked: a layer of float cannot be stored as int"
  // expect-clang: prepacked.*a_layer_of.*element<float>.*cannot_be_stored_as.*element<int>
  // cause: Weights can be stored as 8-bit integers, but not as this type.
  // cure: Write `stored_as<std::int8_t>`, `stored_as<bfloat16>` or `stored_as<float16>`.
  static map::weights w_map;
  const prepacked<map, stored_as<int>> r{w_map};
#elif defined CASE_prepacked_double_in_8_bits
  // expect-gcc: "umbel: prepacked: a layer of double cannot be stored as std::int8_t"
  // expect-clang: prepacked.*a_layer_of.*element<double>.*cannot_be_stored_as.*element<signed char>
  // cause: 16-bit and 8-bit storage is for float layers; a double layer would lose most of its precision.
  // cure: Declare the layer with float, or leave out `stored_as<>`.
  using of_double = linear<double, hidden<32>, classes<10>>;
  static of_double::weights w_double;
  const prepacked<of_double, stored_as<std::int8_t>> r{w_double};
#elif defined CASE_prepacked_as_unsigned
  // expect-gcc: "umbel: prepacked: a layer of float cannot be stored as std::uint8_t"
  // expect-clang: prepacked.*a_layer_of.*element<float>.*cannot_be_stored_as.*element<unsigned char>
  // cause: Weights have either sign, but this type has none.
  // cure: Write `stored_as<std::int8_t>`.
  static map::weights w_map;
  const prepacked<map, stored_as<std::uint8_t>> r{w_map};
#elif defined CASE_prepacked_unknown_option
  // expect-gcc: "umbel: prepacked: bias is not one of its options"
  // expect-clang: prepacked.*bias<true>.*is_not_one_of_its_options
  // cause: A type after the layer is not an option of `prepacked`.
  // cure: `prepacked` only has `stored_as<>`; put the options of the layer into the layer.
  static map::weights w_map;
  const prepacked<map, bias<true>> r{w_map};
#elif defined CASE_linear_array_of_the_wrong_length
  // expect-gcc: "umbel: weights: \[in_features=32, out_features=10\] needs 320 elements but the memory holds 319"
  // expect-clang: weights.*in_features<32>.*out_features<10>.*needs.*number<320>.*elements_but_the_memory_holds.*number<319>
  // cause: The array of weights does not have inputs times outputs elements.
  // cure: Export the matrix again, as (in, out) without padding, or correct the axes of the layer.
  static const float array[319] = {}, biases[10] = {};
  const map::weights_view r(view_as<in_features, out_features>(array), biases);
#elif defined CASE_mean_absent_axis
  // expect-gcc: "umbel: mean: there is no axis key in \[batch=2, token=9, hidden=32\]"
  // expect-clang: mean.*there_is_no_axis.*key>.*in.*batch<2>.*token<9>.*hidden<32>
  // cause: The axis to average over is not an axis of the tensor.
  // cure: Average over an axis in the brackets.
  auto r = x | mean<key>;
#elif defined CASE_mean_over_an_axis_twice
  // expect-gcc: "umbel: mean: the axis token is named twice in \[batch=2, token=9, hidden=32\]"
  // expect-clang: mean, .*the_axis, .*token>, .*is_named_twice_in, .*batch<2>, .*token<9>, .*hidden<32>
  // cause: An axis can be removed only once.
  // cure: Name it once; the second name was probably meant to be different.
  auto r = x | mean<token, token>;
#elif defined CASE_mean_of_lengths_of_another_batch
  // expect-gcc: "umbel: mean: lengths have \[batch=3\] but the means have \[batch=2, hidden=32\]"
  // expect-clang: mean, .*lengths_have, .*batch<3>.*but_the_means_have, .*batch<2>, .*hidden<32>
  // cause: There is a length for each sequence of a batch with a different size, or for an axis that the means do not have.
  // cure: Pass one length for each sequence, `tensor<int, batch<2>>`, or an integer for all.
  auto r = mean<token>(x, tensor<int, batch<3>>{});
#elif defined CASE_mean_of_lengths_that_are_no_integers
  // expect-gcc: "umbel: mean: lengths must be integers but have type bool"
  // expect-clang: mean, .*lengths_must_be_integers_but_have_type, .*element<bool>
  // cause: A length counts positions; a tensor of bool or float is something else, such as a mask.
  // cure: Pass a tensor of int with the number of positions of each sequence.
  auto r = mean<token>(x, tensor<bool, batch<2>>{});
#elif defined CASE_mean_of_lengths_over_two_axes
  // expect-gcc: "umbel: mean: lengths count positions of one axis; write mean<token>\(x, lengths\)"
  // expect-clang: mean, .*lengths_count_positions_of_one_axis_so_write_mean_of_one_axis
  // cause: A length counts the positions of one axis.
  // cure: Average over that axis, then over the others.
  auto r = mean<token, hidden>(x, tensor<int, batch<2>>{});
#elif defined CASE_mean_of_integers
  // expect-gcc: "umbel: mean: needs float or double, not int"
  // expect-clang: mean.*needs_float_or_double_not.*element<int>
  // cause: The input is integers, whose mean would be truncated.
  // cure: Declare the tensor with float or double.
  auto r = tensor<int, token<9>>{} | mean<token>;
#elif defined CASE_gelu_of_integers
  // expect-gcc: "umbel: gelu_tanh: needs float or double, not int"
  // expect-clang: gelu_tanh.*needs_float_or_double_not.*element<int>
  // cause: The input of the activation is integers.
  // cure: Declare the tensor with float or double.
  auto r = tensor<int, token<9>>{} | gelu_tanh;
#elif defined CASE_silu_of_integers
  // expect-gcc: "umbel: silu: needs float or double, not int"
  // expect-clang: silu.*needs_float_or_double_not.*element<int>
  // cause: The input of the activation is integers.
  // cure: Declare the tensor with float or double.
  auto r = tensor<int, token<9>>{} | silu;
#elif defined CASE_positions_of_another_size
  // expect-gcc: "umbel: learned_positions: the input has token=10 but the table has token=9"
  // expect-clang: learned_positions.*the_input_has.*token<10>.*but_the_table_has.*token<9>
  // cause: The sequence has a different length or width than the table of positions.
  // cure: For a shorter sequence, pass its first position, `positions(x, 0)` or `positions(x, cache.size())`; or declare the layer with the trained sizes.
  auto r = place(tensor<float, batch<2>, token<10>, hidden<32>>{});
#elif defined CASE_positions_of_a_part_unsaid
  // expect-gcc: "umbel: learned_positions: the input has token=4 but the table has token=9"
  // expect-clang: learned_positions.*the_input_has.*token<4>.*but_the_table_has.*token<9>
  // cause: The sequence has a different length or width than the table of positions.
  // cure: For a shorter sequence, pass its first position, `positions(x, 0)` or `positions(x, cache.size())`; or declare the layer with the trained sizes.
  auto r = place(tensor<float, batch<2>, token<4>, hidden<32>>{});
#elif defined CASE_positions_of_a_part_that_is_longer
  // expect-gcc: "umbel: learned_positions: the input has token=10 but the table has token=9"
  // expect-clang: learned_positions.*the_input_has.*token<10>.*but_the_table_has.*token<9>
  // cause: The sequence has a different length or width than the table of positions.
  // cure: For a shorter sequence, pass its first position, `positions(x, 0)` or `positions(x, cache.size())`; or declare the layer with the trained sizes.
  auto r = place(tensor<float, batch<2>, token<10>, hidden<32>>{}, 2);
#elif defined CASE_positions_from_a_place_that_is_no_integer
  // expect-gcc: "umbel: learned_positions: expects one tensor or view, then an integer, but argument 2 is double"
  // expect-clang: learned_positions.*expects_one_tensor_or_view_then_an_integer
  // cause: The first argument is not a tensor or view, or the second is not an integer.
  // cure: Pass the tensor, then the position of its first row, if that is not 0.
  auto r = place(tensor<float, batch<2>, token<4>, hidden<32>>{}, 2.5);
  (void)r;
#elif defined CASE_positions_absent_axis
  // expect-gcc: "umbel: learned_positions: there is no axis token in \[batch=2, query=9, hidden=32\]"
  // expect-clang: learned_positions.*there_is_no_axis.*token>.*in.*batch<2>.*query<9>.*hidden<32>
  // cause: The input lacks the position axis of the table.
  // cure: Rename the axis: `x | rename_axis<query, token>`.
  auto r = place(tensor<float, batch<2>, query<9>, hidden<32>>{});
#elif defined CASE_positions_type
  // expect-gcc: "umbel: learned_positions: the input has type double but the table has type float"
  // expect-clang: learned_positions.*the_input_has_type.*element<double>.*but_the_table_has_type.*element<float>
  // cause: The input or the layer has a different element type than the table, and Umbel converts nothing implicitly.
  // cure: Declare all with one element type.
  auto r = place(tensor<double, batch<2>, token<9>, hidden<32>>{});
#elif defined CASE_positions_temporary_table
  // expect-gcc: "umbel: view: the memory of \[token=9, hidden=32\] is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view.*the_memory_of.*token<9>.*hidden<32>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The layer borrows the table of positions from a tensor that is destroyed at the end of its statement.
  // cure: Store the table in a variable that lives as long as the layer, preferably `static const`.
  const positions r{positions::weights{}};
#elif defined CASE_positions_table_of_another_type
  // expect-gcc: "umbel: learned_positions: the table has type double but the layer has type float"
  // expect-clang: learned_positions.*the_table_has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The table and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare all with one element type.
  static const tensor<double, token<9>, hidden<32>> table{};
  const positions r{table};
#elif defined CASE_positions_table_not_row_major
  // expect-gcc: "umbel: learned_positions: \[token=9, hidden=32\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: learned_positions.*token<9>.*hidden<32>.*is_not_row_major_in_memory_so_pass_contiguous
  // cause: The table is a permuted or sliced view.
  // cure: Store it as (token, hidden): keep `table | contiguous` in a variable.
  static const tensor<float, hidden<32>, token<9>> table{};
  const positions r{table | permute<token, hidden>};
#elif defined CASE_positions_table_of_another_size
  // expect-gcc: "umbel: learned_positions: the table has \[token=9, hidden=33\] but must have \[token=9, hidden=32\]"
  // expect-clang: learned_positions.*the_table_has.*token<9>.*hidden<33>.*but_must_have.*token<9>.*hidden<32>
  // cause: The table has other sizes than the layer.
  // cure: Pass the table that was trained with the layer, or correct the sizes of the layer.
  static const tensor<float, token<9>, hidden<33>> table{};
  const positions r{table};
#elif defined CASE_positions_table_without_names
  // expect-gcc: "umbel: learned_positions: the order of the axes is unknown; write view_as<\.\.\.>\(memory\) with token and hidden"
  // expect-clang: learned_positions.*the_order_of_the_axes_is_unknown_so_write_view_as_with.*token>.*hidden>
  // cause: A table in plain memory may have its axes in either order.
  // cure: Name the axes in the order of the memory: `view_as<token, hidden>(memory)`.
  static const float memory[9 * 32] = {};
  const positions r{memory};
#elif defined CASE_positions_table_in_another_order
  // expect-gcc: "umbel: learned_positions: the table has \[hidden, token\] but must have \[token, hidden\]"
  // expect-clang: learned_positions.*the_table_has.*hidden>.*token>.*but_must_have.*token>.*hidden>
  // cause: A layer reads a borrowed table in place, row by row.
  // cure: Copy it with `prepacked<learned_positions<...>>`, which accepts any order, or store it as (token, hidden).
  static const float memory[9 * 32] = {};
  const positions r{view_as<hidden, token>(memory)};
#elif defined CASE_positions_table_of_fewer
  // expect-gcc: "umbel: learned_positions: \[token=9, hidden=32\] needs 288 elements but the memory holds 287"
  // expect-clang: learned_positions.*token<9>.*hidden<32>.*needs.*number<288>.*elements_but_the_memory_holds.*number<287>
  // cause: The memory of the table has a different size than the layer's table.
  // cure: Pass the table that was trained with the layer, or correct the sizes of the layer.
  static const float memory[287] = {};
  const positions r{view_as<token, hidden>(memory)};
#elif defined CASE_encoder_width
  // expect-gcc: "umbel: encoder_layer: the sequence has hidden=33 but the layer has hidden=32"
  // expect-clang: encoder_layer.*the_sequence.*has.*hidden<33>.*but_the_layer_has.*hidden<32>
  // cause: The sequence has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = encode(tensor<float, batch<2>, token<9>, hidden<33>>{});
#elif defined CASE_encoder_packed_width
  // expect-gcc: "umbel: encoder_layer: the sequence has hidden=33 but the layer has hidden=32"
  // expect-clang: encoder_layer.*the_sequence.*has.*hidden<33>.*but_the_layer_has.*hidden<32>
  // cause: The sequence has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = packed(tensor<float, token<9>, hidden<33>>{});
#elif defined CASE_encoder_without_hidden
  // expect-gcc: "umbel: encoder_layer: the sequence needs the axis hidden but has \[batch=2, token=9, intermediate=32\]"
  // expect-clang: encoder_layer.*the_sequence.*needs_the_axis.*hidden>.*but_has.*batch<2>.*token<9>.*intermediate<32>
  // cause: The sequence has no feature axis with the name in the layer.
  // cure: Rename it: `x | rename_axis<feed_forward, hidden>`.
  auto r = encode(tensor<float, batch<2>, token<9>, intermediate<32>>{});
#elif defined CASE_encoder_two_sequences
  // expect-gcc: "umbel: encoder_layer: the sequence must have exactly one axis besides batch and hidden, not \[query=9, key=9, hidden=32\]"
  // expect-clang: encoder_layer.*the_sequence.*must_have_exactly_one_axis_besides_batch_and.*hidden>.*not_.*query<9>.*key<9>.*hidden<32>
  // cause: The tensor has no position axis, or two.
  // cure: Pass (batch, token, hidden); an encoder layer attends from one sequence to itself.
  auto r = encode(tensor<float, query<9>, key<9>, hidden<32>>{});
#elif defined CASE_encoder_type
  // expect-gcc: "umbel: encoder_layer: the sequence has type double but the layer has type float"
  // expect-clang: encoder_layer.*the_sequence.*has_type.*element<double>.*but_the_layer_has_type.*element<float>
  // cause: The sequence and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = encode(tensor<double, token<9>, hidden<32>>{});
#elif defined CASE_encoder_hidden_not_last
  // expect-gcc: "umbel: encoder_layer: hidden=32 must be the last axis of \[batch=2, hidden=32, token=9\]"
  // expect-clang: encoder_layer.*hidden<32>.*must_be_the_last_axis_of.*batch<2>.*hidden<32>.*token<9>
  // cause: The features are not adjacent in memory.
  // cure: Move the axis to the end with `permute`, then pass `contiguous`.
  auto r = encode(tensor<float, batch<2>, hidden<32>, token<9>>{});
#elif defined CASE_encoder_batch_not_first
  // expect-gcc: "umbel: encoder_layer: batch must be the first axis of \[token=9, batch=2, hidden=32\]"
  // expect-clang: encoder_layer.*batch>.*must_be_the_first_axis_of.*token<9>.*batch<2>.*hidden<32>
  // cause: The batch axis is behind the positions, as in PyTorch without `batch_first`.
  // cure: Write `x | permute<batch, token, hidden> | contiguous`.
  auto r = encode(tensor<float, token<9>, batch<2>, hidden<32>>{});
#elif defined CASE_encoder_not_row_major
  // expect-gcc: "umbel: encoder_layer: \[batch=2, token=9, hidden=32\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: encoder_layer.*batch<2>.*token<9>.*hidden<32>.*is_not_row_major_in_memory_so_pass_contiguous
  // cause: The sequence is a permuted or sliced view.
  // cure: Copy first: `x | contiguous | encode`.
  auto r = encode(tensor<float, token<9>, batch<2>, hidden<32>>{} | permute<batch, token, hidden>);
#elif defined CASE_encoder_lengths_of_float
  // expect-gcc: "umbel: encoder_layer: valid_lens must be integers but have type float; pass numbers to add to the scores as score_bias"
  // expect-clang: encoder_layer.*valid_lens.*must_be_integers_but_have_type.*element<float>
  // cause: Lengths count tokens, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`; an encoder layer accepts only one sequence.
  auto r = encode(x, tensor<float, batch<2>>{});
#elif defined CASE_encoder_lengths_of_another_batch
  // expect-gcc: "umbel: encoder_layer: valid_lens have batch=3 but the scores have \[batch=2, heads=4, query=9, key=9\]"
  // expect-clang: encoder_layer.*valid_lens.*have.*batch<3>.*but_the_scores_have.*batch<2>.*heads<4>.*query<9>.*key<9>
  // cause: The number of lengths is not the number of sequences in the batch.
  // cure: Pass one length for each sequence of the batch.
  auto r = encode(x, tensor<int, batch<3>>{});
#elif defined CASE_encoder_two_arguments
  // expect-gcc: "umbel: encoder_layer: valid_lens must be integers but have type float; pass numbers to add to the scores as score_bias"
  // expect-clang: encoder_layer.*valid_lens.*must_be_integers_but_have_type.*element<float>
  // cause: Lengths count tokens, but this tensor does not hold integers.
  // cure: Pass `tensor<int, batch<2>>`; an encoder layer accepts only one sequence.
  auto r = encode(x, x);
#elif defined CASE_encoder_three_arguments
  // expect-gcc: "umbel: encoder_layer: expects a sequence; then a mask such as lengths, causal or all_keys; then a workspace"
  // expect-clang: encoder_layer.*expects_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace
  // cause: The arguments match no overload; only attention accepts three sequences.
  // cure: Keep this order; to pass a workspace without a mask, put `all_keys` before it.
  auto r = encode(x, x, x);
#elif defined CASE_encoder_workspace_of_other_sizes
  // expect-gcc: "umbel: encoder_layer: the workspace is for \[token=10\]; pass one for \[token=9\]"
  // expect-clang: encoder_layer.*the_workspace_is_for.*token<10>.*so_pass_one_for.*token<9>
  // cause: The workspace was declared for a different layer (perhaps its attention) or length; or it is `parallel`, which only attention accepts.
  // cure: Declare it with the size in the brackets: `encoder::workspace<token<9>>`.
  static encoder::workspace<token<10>> work;
  auto r = encode(x, all_keys, work);
#elif defined CASE_encoder_workspace_of_its_attention
  // expect-gcc: "umbel: encoder_layer: the workspace is for a different layer or other sizes; pass one for \[token=9\]"
  // expect-clang: encoder_layer.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*token<9>
  // cause: The workspace was declared for a different layer (perhaps its attention) or length; or it is `parallel`, which only attention accepts.
  // cure: Declare it with the size in the brackets: `encoder::workspace<token<9>>`.
  static encoder::attention::workspace<token<9>> work;
  auto r = encode(x, all_keys, work);
#elif defined CASE_encoder_stack_budget
  // expect-gcc: "umbel: encoder_layer: needs a workspace of [0-9]+ bytes but the stack budget is 65536 bytes; pass one for \[token=500\]"
  // expect-clang: encoder_layer.*needs_a_workspace_of.*number<[0-9]+>.*bytes.*but_the_stack_budget_is.*number<65536>.*bytes_so_pass_one_for.*token<500>
  // cause: The intermediate results of the call would need more stack than `UMBEL_STACK_BUDGET`.
  // cure: Pass a static workspace: `encoder::workspace<token<500>>`, or raise the budget with `-DUMBEL_STACK_BUDGET=...`.
  auto r = encode(tensor<float, token<500>, hidden<32>>{});
#elif defined CASE_encoder_out_of_other_axes
  // expect-gcc: "umbel: encoder_layer: the result has \[batch=2, token=9, hidden=32\] but out has \[batch=2, query=9, hidden=32\]"
  // expect-clang: encoder_layer.*the_result_has.*batch<2>.*token<9>.*hidden<32>.*but_out_has.*batch<2>.*query<9>.*hidden<32>
  // cause: The output has other axes or sizes than the result, which has those of the sequence.
  // cure: Declare `out` with the axes of the result.
  tensor<float, batch<2>, query<9>, hidden<32>> out{};
  encode.into(out, x);
#elif defined CASE_encoder_out_in_another_order
  // expect-gcc: "umbel: encoder_layer: \[batch=2, token=9, hidden=32\] and \[token=9, batch=2, hidden=32\] have the same axes in a different order; permute one"
  // expect-clang: encoder_layer.*batch<2>.*token<9>.*hidden<32>.*and_.*token<9>.*batch<2>.*hidden<32>.*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: The output has the axes of the sequence in a different order.
  // cure: Declare `out` in the order of the sequence.
  tensor<float, token<9>, batch<2>, hidden<32>> out{};
  encode.into(out, x);
#elif defined CASE_encoder_out_not_row_major
  // expect-gcc: "umbel: encoder_layer: out must be row-major in memory"
  // expect-clang: encoder_layer.*out_must_be_row_major_in_memory
  // cause: The output is a permuted or sliced view.
  // cure: Write to a plain tensor, then `copy` it to the view.
  tensor<float, token<9>, batch<2>, hidden<32>> out{};
  encode.into(out | permute<batch, token, hidden>, x);
#elif defined CASE_encoder_out_is_const
  // expect-gcc: "umbel: encoder_layer: out is const"
  // expect-clang: encoder_layer.*out_is_const
  // cause: The output is const.
  // cure: Remove the const.
  const tokens out{};
  encode.into(out, x);
#elif defined CASE_encoder_temporary_weights
  // expect-gcc: "umbel: encoder_layer: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: encoder_layer.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const encoder r{encoder::weights{}};
#elif defined CASE_encoder_weights_of_another
  // expect-gcc: "umbel: feed_forward: part 1 of the weights maps \[hidden=32, intermediate=63\] but the layer needs \[hidden=32, intermediate=64\]"
  // expect-clang: feed_forward.*part.*of_the_weights_maps.*intermediate<63>.*but_the_layer_needs.*intermediate<64>
  // cause: The weights belong to a layer with other axes or other options, such as `bias<>`.
  // cure: Use the `weights` type of this layer.
  static encoder_layer<float, hidden<32>, heads<4>, intermediate<63>, norm_first<true>,
                       activation<gelu_exact>, bias<false>>::weights other;
  const encoder r{other};
#elif defined CASE_encoder_heads_do_not_divide_hidden
  // expect-gcc: "umbel: multi_head_attention: hidden=32 into heads=5 leaves a remainder of 2"
  // expect-clang: multi_head_attention.*hidden<32>.*into.*heads<5>.*leaves_a_remainder_of.*number<2>
  // cause: The heads of the layer do not divide its hidden axis.
  // cure: Choose a number of heads that divides it.
  encoder_layer<float, hidden<32>, heads<5>, intermediate<64>>::weights r;
#elif defined CASE_encoder_network_forgotten
  // expect-gcc: "umbel: encoder_layer: expected the axis intermediate but got kv_heads=1"
  // expect-clang: encoder_layer.*expected_the_axis.*intermediate>.*but_got.*kv_heads<1>
  // cause: The layer needs its features, its heads, the width of its network, then options.
  // cure: Add the width of the network: `intermediate<64>`.
  encoder_layer<float, hidden<32>, heads<4>, kv_heads<1>, intermediate<64>>::weights none;
#elif defined CASE_encoder_without_a_network
  // expect-gcc: "umbel: encoder_layer: the axis intermediate is missing"
  // expect-clang: encoder_layer.*the_axis.*intermediate>.*is_missing
  // cause: The layer needs its features, its heads, the width of its network, then options.
  // cure: Add the width of the network: `intermediate<64>`.
  encoder_layer<float, hidden<32>, heads<4>>::weights none;
#elif defined CASE_encoder_network_is_an_option
  // expect-gcc: "umbel: encoder_layer: expected the axis intermediate but got bias"
  // expect-clang: encoder_layer.*expected_the_axis.*intermediate>.*but_got.*bias<true>
  // cause: The layer needs its features, its heads, the width of its network, then options.
  // cure: Add the width of the network: `intermediate<64>`.
  encoder_layer<float, hidden<32>, heads<4>, bias<true>>::weights none;
#elif defined CASE_encoder_unknown_option
  // expect-gcc: "umbel: encoder_layer: int is not one of its options"
  // expect-clang: encoder_layer.*element<int>.*is_not_one_of_its_options
  // cause: A type after the axes is not an option of the encoder layer.
  // cure: See `block/encoder.hpp` for the options, such as `norm_first<>` and `activation<>`.
  encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, int>::weights r;
#elif defined CASE_encoder_option_twice
  // expect-gcc: "umbel: encoder_layer: activation is given twice"
  // expect-clang: encoder_layer.*activation<{+}+>.*is_given_twice
  // cause: One option has two values.
  // cure: Leave one out.
  encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, activation<relu>,
                activation<gelu_tanh>>::weights r;
#elif defined CASE_encoder_of_integers
  // expect-gcc: "umbel: encoder_layer: needs float or double, not int"
  // expect-clang: encoder_layer.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  encoder_layer<int, hidden<32>, heads<4>, intermediate<64>>::weights r;
#elif defined CASE_one_error_in_a_chain
  // expect-gcc: "umbel: mean: there is no axis key in \[batch=2, token=9, hidden=32\]"
  // expect-clang: mean.*there_is_no_axis.*key>.*in.*batch<2>.*token<9>.*hidden<32>
  // cause: The axis to average over is not an axis of the tensor.
  // cure: Average over an axis in the brackets.
  auto r = x | mean<key> | normalise | rms | gelu_exact | place | encode | packed | classify;
  encode.into(r, x);
#elif defined CASE_linear_without_result
  // expect-gcc: "umbel: linear: the axis of the result is missing"
  // expect-clang: linear.*the_axis_of_the_result_is_missing
  // cause: The layer needs two axes: one for its input, one for its result.
  // cure: Write both: `linear<float, hidden<32>, classes<10>>`.
  linear<float, hidden<32>>::weights none{};
  (void)none;
#elif defined CASE_linear_without_weights
  // expect-gcc: "umbel: linear: construct it from one object, its weights"
  // expect-clang: linear.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `map::weights w` and write `map{w}`.
  const map wrong;
#elif defined CASE_encoder_without_weights
  // expect-gcc: "umbel: encoder_layer: construct it from one object, its weights"
  // expect-clang: encoder_layer.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `encoder::weights w` and write `encoder{w}`.
  const encoder wrong;
#elif defined CASE_positions_without_a_table
  // expect-gcc: "umbel: learned_positions: construct it from one object, its weights"
  // expect-clang: learned_positions.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `positions::weights w` and write `positions{w}`.
  const positions wrong;
#elif defined CASE_workspace_for_a_wrong_width
  // expect-gcc: "umbel: encoder_layer: the sequence has hidden=80 but the layer has hidden=32"
  // expect-clang: encoder_layer.*hidden<80>.*hidden<32>
  // cause: `workspace_for` checks the tensors of the call, and these do not fit the layer.
  // cure: Write the types of the tensors that you pass in the call.
  static workspace_for<encoder, tensor<float, batch<2>, token<9>, hidden<80>>> work;
#elif defined CASE_workspace_for_another_type
  // expect-gcc: "umbel: encoder_layer: the sequence has type double but the layer has type float"
  // expect-clang: encoder_layer.*element<double>
  // cause: The sequence and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  static workspace_for<encoder, tensor<double, token<9>, hidden<32>>> work;
#elif defined CASE_prepacked_without_its_layer
  // expect-gcc: "umbel: prepacked: needs the type of the layer; write prepacked<attention>\{w\}"
  // expect-clang: prepacked.*needs_the_type_of_the_layer_so_write_prepacked_of_it
  // cause: Several layers have weights of one type, so the weights do not determine the layer.
  // cure: Name the layer: `prepacked<encoder> packed{w}`.
  prepacked wrong{w};
#elif defined CASE_row_formula_without_its_header
  // expect-gcc: "umbel: residual_block: row_formula needs its header; add #include <umbel/formula/row_formula\.hpp>"
  // expect-clang: residual_block.*row_formula_needs_its_header_so_include_row_formula
  // cause: Formulas as parts of a block are not in umbel.hpp.
  // cure: Write `#include <umbel/formula/row_formula.hpp>`.
  using namespace block_parts;
  constexpr formula f = [](auto a, const auto& part) { return a * part.linear; };
  using block = residual_block<
      float, hidden<32>,
      without_norm<row_formula<name::feed_forward, decltype(f),
                               linear_map<name::linear, hidden<32>, hidden<32>, bias<false>>>>>;
  static block::weights of_block;
  auto r = block{of_block}(x);
#else
  auto r = x | place | encode | packed | normalise | rms | gelu_exact | mean<token> | classify;
  (void)r;
#endif
}
