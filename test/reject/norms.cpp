// SPDX-License-Identifier: BSL-1.0
// Mistakes with layer_norm and rms_norm: one case each, with the message that the compiler must
// print (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using tokens = tensor<float, batch<2>, token<9>, hidden<32>>;
using norm = layer_norm<float, hidden<32>>;
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<false>>;

[[maybe_unused]] static void cases(const norm& normalise, const rms_norm<float, hidden<32>>& rms,
                                   tokens& x, encoder::weights& w) {
  (void)normalise, (void)rms, (void)x, (void)w;
#if defined CASE_prepacked_norm
  // expect-gcc: "umbel: prepacked: norms cannot be stored in 8 or 16 bits"
  // expect-clang: prepacked.*norms_cannot_be_stored_in_8_or_16_bits
  // cause: `stored_as<>` is for matrices and tables; gamma and beta of a norm are small.
  // cure: Write `prepacked<norm>`, without the option.
  const prepacked<norm, stored_as<bfloat16>> r{w.norm1};
#elif defined CASE_pack_norm
  // expect-gcc: "umbel: prepacked: norms cannot be repacked; assign a new one, packed = prepacked<norm>\{w\}"
  // expect-clang: prepacked.*norms_cannot_be_repacked_so_assign_a_new_one_with_its_weights
  // cause: A norm also has an epsilon, which `pack` cannot change.
  // cure: Write `packed = prepacked<norm>{w}`, for an `rms_norm` `packed = prepacked<norm>{w, epsilon}`.
  static prepacked<norm> later;
  later.pack(w.norm1);
#elif defined CASE_prepacked_without_weights_to_pack
  // expect-gcc: "umbel: prepacked: the first argument is not a layer with weights to pack"
  // expect-clang: prepacked.*the_first_argument_is_not_a_layer_with_weights_to_pack
  // cause: The first argument is not a layer, or a layer without weights.
  // cure: Pass a layer, and then its weights, `prepacked<attention>{w}`.
  const prepacked<tokens> r{};
#elif defined CASE_prepacked_rms_norm_without_epsilon
  // expect-gcc: "umbel: rms_norm: needs the epsilon of the trained model; pass it after the weights"
  // expect-clang: rms_norm.*needs_the_epsilon_of_the_trained_model_so_pass_it_after_the_weights
  // cause: The epsilon of `rms_norm` is missing; it differs between models, so there is no default.
  // cure: Look it up in the configuration of the model: `rms_norm<...>{w, 1e-6f}`.
  const rms_norm<float, hidden<32>>::weights of_rms{};
  const prepacked<rms_norm<float, hidden<32>>> r{of_rms};
#elif defined CASE_norm_memory_of_another_name
  // expect-gcc: "umbel: weights: \[token\] are not the axes of the weights, which are \[hidden=32\]"
  // expect-clang: weights.*token>.*are_not_the_axes_of_the_weights_which_are.*hidden<32>
  // cause: The memory for gamma or beta is named after a different axis than that of the norm.
  // cure: Write `view_as<hidden>(memory)`; a vector needs no name.
  static const float gamma[32] = {}, beta[32] = {};
  const norm r{{view_as<hidden>(gamma), view_as<token>(beta)}};
#elif defined CASE_norm_axis_not_last
  // expect-gcc: "umbel: layer_norm: hidden=32 must be the last axis of \[hidden=32, token=9\]"
  // expect-clang: layer_norm.*hidden<32>.*must_be_the_last_axis_of.*hidden<32>.*token<9>
  // cause: The features to normalize are not adjacent in memory.
  // cure: Move the axis to the end with `permute`, then pass `contiguous`.
  auto r = normalise(tensor<float, hidden<32>, token<9>>{});
#elif defined CASE_norm_not_row_major
  // expect-gcc: "umbel: layer_norm: \[token=9, batch=2, hidden=32\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: layer_norm.*token<9>.*batch<2>.*hidden<32>.*is_not_row_major_in_memory_so_pass_contiguous
  // cause: The input is a permuted or sliced view.
  // cure: Copy first: `x | contiguous | normalise`.
  auto r = x | permute<token, batch, hidden> | normalise;
#elif defined CASE_norm_width
  // expect-gcc: "umbel: layer_norm: the input has hidden=33 but the weights expect hidden=32"
  // expect-clang: layer_norm.*the_input_has.*hidden<33>.*but_the_weights_expect.*hidden<32>
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = normalise(tensor<float, token<9>, hidden<33>>{});
#elif defined CASE_norm_absent_axis
  // expect-gcc: "umbel: layer_norm: there is no axis hidden in \[token=32\]"
  // expect-clang: layer_norm.*there_is_no_axis.*hidden>.*in.*token<32>
  // cause: The input lacks the axis of the norm.
  // cure: Rename the right axis: `x | rename_axis<token, hidden>`.
  auto r = normalise(tensor<float, token<32>>{});
#elif defined CASE_norm_type
  // expect-gcc: "umbel: layer_norm: the input has type double but the weights have type float"
  // expect-clang: layer_norm.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: The input and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = normalise(tensor<double, hidden<32>>{});
#elif defined CASE_norm_of_integers
  // expect-gcc: "umbel: layer_norm: needs float or double, not int"
  // expect-clang: layer_norm.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  const tensor<int, hidden<32>> one{};
  auto r = layer_norm<int, hidden<32>>{{one, one}}(one);
#elif defined CASE_norm_temporary_weights
  // expect-gcc: "umbel: layer_norm: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: layer_norm.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const norm r{norm::weights{}};
#elif defined CASE_norm_temporary_gamma
  // expect-gcc: "umbel: view: the memory of \[hidden=32\] is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view.*the_memory_of.*hidden<32>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The layer borrows gamma or beta from a tensor that is destroyed at the end of its statement.
  // cure: Store the tensor in a variable that lives as long as the layer, preferably `static const`.
  const norm::weights_view r(tensor<float, hidden<32>>{}, w.norm1.beta);
#elif defined CASE_norm_gamma_array_of_the_wrong_length
  // expect-gcc: "umbel: memory: \[hidden=32\] needs 32 elements but the memory holds 31"
  // expect-clang: memory.*hidden<32>.*needs.*number<32>.*elements_but_the_memory_holds.*number<31>
  // cause: The array of gamma or beta has a different size than the normalized axis.
  // cure: Pass one number for each feature; check whether the array belongs to a different layer.
  static const float array[31] = {};
  const portable::vector_view<float, hidden<32>> r(array);
#elif defined CASE_norm_weights_of_another
  // expect-gcc: "umbel: layer_norm: part 1 of the weights has \[hidden=33\] but the layer needs \[hidden=32\]"
  // expect-clang: layer_norm.*part.*of_the_weights_has.*hidden<33>.*but_the_layer_needs.*hidden<32>
  // cause: The weights belong to a layer with a different axis.
  // cure: Use the `weights` type of this layer.
  static layer_norm<float, hidden<33>>::weights other;
  const norm r{other};
#elif defined CASE_norm_weights_with_a_beta
  // expect-gcc: "umbel: layer_norm: the weights do not match this layer and its options"
  // expect-clang: layer_norm.*the_weights_do_not_match_this_layer_and_its_options
  // cause: Either the weights or the layer has norms with a beta, but not both: `bias<false>`, in a block `norm_bias<false>`, is missing.
  // cure: Use the `weights` type of this layer; torch's `bias=False` is `bias<false>`, in a block `bias<false>, norm_bias<false>`.
  const layer_norm<float, hidden<32>, bias<false>> r{w.norm1};
#elif defined CASE_norm_bias_on
  // expect-gcc: "umbel: layer_norm: accepts bias<true> or bias<false>, not bias_on"
  // expect-clang: layer_norm.*accepts_bias_true_or_false_not_bias_on
  // cause: `bias_on<>` lists projections of attention, but this layer has others.
  // cure: Write `bias<true>` or `bias<false>`.
  layer_norm<float, hidden<32>, bias_on<'q'>>::weights r;
#elif defined CASE_norm_along_two_axes
  // expect-gcc: "umbel: layer_norm: hidden=32 is not one of its options"
  // expect-clang: layer_norm.*hidden<32>.*is_not_one_of_its_options
  // cause: The layer normalizes one axis; after it comes only the option `bias<>`.
  // cure: Name one axis; to normalize several, `merge` them first.
  layer_norm<float, token<9>, hidden<32>>::weights r;
#elif defined CASE_rms_norm_without_epsilon
  // expect-gcc: "umbel: rms_norm: needs the epsilon of the trained model; pass it after the weights"
  // expect-clang: rms_norm.*needs_the_epsilon_of_the_trained_model_so_pass_it_after_the_weights
  // cause: The epsilon of `rms_norm` is missing; it differs between models, so there is no default.
  // cure: Look it up in the configuration of the model: `rms_norm<...>{w, 1e-6f}`.
  static rms_norm<float, hidden<32>>::weights gamma;
  const rms_norm<float, hidden<32>> r{gamma};
#elif defined CASE_rms_norm_temporary_weights
  // expect-gcc: "umbel: rms_norm: the weights are a temporary that would be destroyed before the layer; store them in a variable"
  // expect-clang: rms_norm.*the_weights_are_a_temporary_that_would_be_destroyed_before_the_layer_so_store_them_in_a_variable
  // cause: A layer borrows its weights, but these are destroyed at the end of the statement.
  // cure: Store them in a variable that lives as long as the layer, preferably `static const`.
  const rms_norm<float, hidden<32>> r{rms_norm<float, hidden<32>>::weights{}, 1e-6f};
#elif defined CASE_rms_norm_weights_of_a_layer_norm
  // expect-gcc: "umbel: rms_norm: the weights do not match this layer and its options; they are for layer_norm"
  // expect-clang: rms_norm.*the_weights_do_not_match_this_layer_and_its_options
  // cause: The weights belong to a layer with a different axis, or to a `layer_norm`, which also has a beta.
  // cure: Use the `weights` type of this layer.
  const rms_norm<float, hidden<32>> r{w.norm1, 1e-6f};
#elif defined CASE_rms_norm_width
  // expect-gcc: "umbel: rms_norm: the input has hidden=33 but the weights expect hidden=32"
  // expect-clang: rms_norm.*the_input_has.*hidden<33>.*but_the_weights_expect.*hidden<32>
  // cause: The input has a different number of features than the layer's weights.
  // cure: Pass the right tensor, or declare the layer with its width.
  auto r = rms(tensor<float, token<9>, hidden<33>>{});
#elif defined CASE_rms_norm_absent_axis
  // expect-gcc: "umbel: rms_norm: there is no axis hidden in \[batch=2, token=9\]"
  // expect-clang: rms_norm.*there_is_no_axis.*hidden>.*in.*batch<2>.*token<9>
  // cause: The input lacks the axis of the norm.
  // cure: Rename the right axis: `x | rename_axis<token, hidden>`.
  auto r = x | mean<hidden> | rms;
#elif defined CASE_rms_norm_axis_not_last
  // expect-gcc: "umbel: rms_norm: hidden=32 must be the last axis of \[hidden=32, token=9\]"
  // expect-clang: rms_norm.*hidden<32>.*must_be_the_last_axis_of.*hidden<32>.*token<9>
  // cause: The features to normalize are not adjacent in memory.
  // cure: Move the axis to the end with `permute`, then pass `contiguous`.
  auto r = rms(tensor<float, hidden<32>, token<9>>{});
#elif defined CASE_rms_norm_not_row_major
  // expect-gcc: "umbel: rms_norm: \[token=9, batch=2, hidden=32\] is not row-major in memory; pass contiguous\(x\)"
  // expect-clang: rms_norm.*token<9>.*batch<2>.*hidden<32>.*is_not_row_major_in_memory_so_pass_contiguous
  // cause: The input is a permuted or sliced view.
  // cure: Copy first: `x | contiguous | normalise`.
  auto r = x | permute<token, batch, hidden> | rms;
#elif defined CASE_rms_norm_type
  // expect-gcc: "umbel: rms_norm: the input has type double but the weights have type float"
  // expect-clang: rms_norm.*the_input_has_type.*element<double>.*but_the_weights_have_type.*element<float>
  // cause: The input and the layer have different element types, and Umbel converts nothing implicitly.
  // cure: Declare both with one element type.
  auto r = rms(tensor<double, hidden<32>>{});
#elif defined CASE_rms_norm_of_integers
  // expect-gcc: "umbel: rms_norm: needs float or double, not int"
  // expect-clang: rms_norm.*needs_float_or_double_not.*element<int>
  // cause: The layer is declared with an element type that it cannot compute with.
  // cure: Declare it with float or double.
  const tensor<int, hidden<32>> one{};
  auto r = rms_norm<int, hidden<32>>{one, 1}(one);
#elif defined CASE_norm_of_two
  // expect-gcc: "umbel: layer_norm: expects one tensor or view"
  // expect-clang: layer_norm.*expects_one_tensor_or_view
  // cause: The argument is not a tensor or view, or there are several.
  // cure: Pass one tensor or view; for memory write `view_as<query<4>, hidden<8>>(memory)`.
  layer_norm<float, hidden<32>>::weights parameters{};
  auto r = layer_norm<float, hidden<32>>{parameters}(x, x);
#elif defined CASE_layer_norm_without_weights
  // expect-gcc: "umbel: layer_norm: construct it from one object, its weights"
  // expect-clang: layer_norm.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `norm::weights w` and write `norm{w}`.
  const norm wrong;
#elif defined CASE_rms_norm_without_weights
  // expect-gcc: "umbel: rms_norm: construct it from one object, its weights"
  // expect-clang: rms_norm.*construct_it_from_one_object_its_weights
  // cause: A layer borrows its weights, all in one struct, when it is constructed.
  // cure: Fill `norm::weights w` and write `norm{w}`.
  const rms_norm<float, hidden<32>> wrong;
#elif defined CASE_norm_along_no_axis
  // expect-gcc: "umbel: shape: item 1 in the list of axes is not an axis"
  // expect-clang: shape.*item.*number<1>.*in_the_list_of_axes_is_not_an_axis
  // cause: The list of axes contains a type that is not an axis, often a tensor type or an element type.
  // cure: List only axes with their sizes: `tensor<float, batch<2>, hidden<100>>`.
  const layer_norm<float, int>::weights none{};
  const layer_norm<float, int> wrong{none};
#else
  static layer_norm<float, hidden<32>, bias<false>>::weights gamma_only;
  auto r = x | normalise | rms | layer_norm<float, hidden<32>, bias<false>>{gamma_only};
  (void)r;
#endif
}
