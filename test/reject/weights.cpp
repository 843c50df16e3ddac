// SPDX-License-Identifier: BSL-1.0
// Mistakes with weights in plain memory and with lists of parameters: one case each, with the
// message that the compiler must print (check.py).
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

using square = linear<float, hidden<100>, hidden<100>>;
using classify = linear<float, hidden<32>, classes<10>>;

struct unnamed_model {
  square::weights first, second;
};
// Its own name is a type in it, as `weights` is one in a layer.
namespace unnamed {
struct weights {
  linear<float, hidden<100>, out_features<100>>::weights first, second;
};
}  // namespace unnamed
struct model_of_three {
  static constexpr const char* part_names[] = {"first", "second"};
  square::weights first, second, third;
};
struct model_of_one_name {
  static constexpr const char* part_names[] = {"up", "up"};
  square::weights up, gate;
};
struct model_with_an_empty_name {
  static constexpr const char* part_names[] = {"up", ""};
  square::weights up, gate;
};
struct model_with_a_null_name {
  static constexpr const char* part_names[] = {nullptr, "gate"};
  square::weights up, gate;
};
struct model_with_a_dot {
  static constexpr const char* part_names[] = {"up", "gate.weight"};
  square::weights up, gate;
};
struct model_in_latin_1 {
  static constexpr const char* part_names[] = {"up", "cl\xe9"};
  square::weights up, gate;
};
struct model_with_metadata {
  static constexpr const char* part_names[] = {"up", "__metadata__"};
  square::weights up, gate;
};
struct model_with_a_name_of_60 {
  static constexpr const char* part_names[] = {
      "a_name_of_sixty_characters_as_nobody_writes_them_for_a_member"};
  classify::weights head;
};
struct model_with_long_paths {
  static constexpr const char* part_names[] = {
      "a_name_of_sixty_characters_as_nobody_writes_them_for_a_struct"};
  model_with_a_name_of_60 part;
};
struct model_of_string_views {
  static constexpr std::string_view part_names[] = {"up", "gate"};
  square::weights up, gate;
};
struct model_with_names_that_change {
  static inline const char* part_names[] = {"up", "gate"};
  square::weights up, gate;
};
class model_of_private_members {
 public:
  static constexpr const char* part_names[] = {"up"};

 private:
  [[maybe_unused]] square::weights up;
};
struct first_part {
  square::weights up;
};
struct model_with_a_base : first_part {
  static constexpr const char* part_names[] = {"up", "gate"};
  square::weights gate;
};
struct model_with_a_number {
  static constexpr const char* part_names[] = {"up", "scale"};
  square::weights up;
  float scale;
};
// Lists of layers: with one too few, of other layers, of a layer alone.
struct model_of_one_layer {
  static constexpr const char* part_names[] = {"first", "last"};
  using part_layers = std::tuple<square>;
  square::weights first;
  classify::weights last;
};
struct model_of_other_layers {
  static constexpr const char* part_names[] = {"first", "last"};
  using part_layers = std::tuple<square, square>;
  square::weights first[2];
  classify::weights last;
};
struct model_of_no_list {
  static constexpr const char* part_names[] = {"first"};
  using part_layers = int;
  square::weights first;
};
struct model_of_many {
  static constexpr const char* part_names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                               "j", "k", "l", "m", "n", "o", "p", "q"};
  tensor<float, hidden<2>> a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};

[[maybe_unused]] static void cases() {
  static const float memory[10000] = {};
  (void)memory;
  [[maybe_unused]] const auto look = [](const parameter_path&, const auto&) {};
#if defined CASE_order_not_said
  // expect-gcc: "umbel: weights: the order of the axes is unknown; write view_as<in_features, out_features>\(memory\) or, as in torch, view_as<out_features, in_features>\(memory\)"
  // expect-clang: weights.*the_order_of_the_axes_is_unknown_so_write_view_as_in_out_or_view_as_out_in
  // cause: A matrix has two axes, and the size of a square matrix does not show their order, so a missing transposition would compile.
  // cure: Write `view_as<in_features, out_features>(memory)` for one row per input, or `view_as<out_features, in_features>(memory)`, as in `torch.nn.Linear`.
  const square layer{{memory}};
#elif defined CASE_order_of_a_part_not_said
  // expect-gcc: "umbel: weights: the order of the axes is unknown; write view_as<in_features, out_features>\(memory\) or, as in torch, view_as<out_features, in_features>\(memory\)"
  // expect-clang: weights.*the_order_of_the_axes_is_unknown_so_write_view_as_in_out_or_view_as_out_in
  // cause: A matrix has two axes, and the size of a square matrix does not show their order, so a missing transposition would compile.
  // cure: Write `view_as<in_features, out_features>(memory)` for one row per input, or `view_as<out_features, in_features>(memory)`, as in `torch.nn.Linear`.
  const auto named = view_as<in_features, out_features>(memory);
  const multi_head_attention<float, hidden<100>, heads<5>>::weights_view r{
      {named}, {named}, {memory}, {named}};
#elif defined CASE_order_of_torch_without_packing
  // expect-gcc: "umbel: weights: \[out_features, in_features\] are not in the order that a borrowing layer needs, \[in_features=100, out_features=100\]; use prepacked<layer>, which accepts any order"
  // expect-clang: weights.*out_features>.*in_features>.*are_not_in_the_order_that_a_borrowing_layer_needs.*in_features<100>.*out_features<100>.*so_use_prepacked_which_accepts_any_order
  // cause: A layer that borrows its weights reads them in place, with one row per input, but these have one row per output.
  // cure: Pack them, `prepacked<layer>{{view_as<out_features, in_features>(memory)}}`, or load them into `layer::weights`.
  const square layer{{view_as<out_features, in_features>(memory)}};
#elif defined CASE_names_for_a_tensor
  // expect-gcc: "umbel: view_as: expects memory, but got the tensor \[classes=10, hidden=32\]; pass it directly, since its axes have names"
  // expect-clang: view_as.*expects_memory_but_got_the_tensor.*classes<10>.*hidden<32>.*so_pass_it_directly_since_its_axes_have_names
  // cause: The axes of a tensor or view already have names.
  // cure: Pass it directly, `prepacked<classify>{{x}}`; if it has other names, write `x | rename_axis<...>`.
  static const tensor<float, classes<10>, hidden<32>> transposed{};
  const prepacked<classify> r{{view_as<out_features, in_features>(transposed)}};
#elif defined CASE_axes_of_another_matrix
  // expect-gcc: "umbel: weights: \[in_features, hidden\] are not the axes of the weights, which are \[in_features=100, out_features=100\]"
  // expect-clang: weights.*in_features>.*hidden>.*are_not_the_axes_of_the_weights_which_are.*in_features<100>.*out_features<100>
  // cause: The memory is named after other axes than the matrix has.
  // cure: Use `in_features` and `out_features`, or the two axes of the layer if they differ, `view_as<classes, hidden>(memory)`.
  const square layer{{view_as<in_features, hidden>(memory)}};
#elif defined CASE_matrix_of_other_sizes
  // expect-gcc: "umbel: weights: \[classes=12, hidden=32\] are not the axes of the weights, which are \[in_features=32, out_features=10\]"
  // expect-clang: weights.*classes<12>.*hidden<32>.*are_not_the_axes_of_the_weights_which_are.*in_features<32>.*out_features<10>
  // cause: The tensor has other sizes than the matrix of the layer.
  // cure: Correct the layer, or pass the weights of this layer.
  const tensor<float, classes<12>, hidden<32>> w{};
  const prepacked<classify> layer{{w}};
#elif defined CASE_named_array_of_the_wrong_length
  // expect-gcc: "umbel: weights: \[in_features=100, out_features=100\] needs 10000 elements but the memory holds 9999"
  // expect-clang: weights.*in_features<100>.*out_features<100>.*needs.*number<10000>.*elements_but_the_memory_holds.*number<9999>
  // cause: The array of weights does not have inputs times outputs elements.
  // cure: Export the matrix again, without padding, or correct the axes of the layer.
  static const float array[9999] = {};
  const square layer{{view_as<in_features, out_features>(array)}};
#elif defined CASE_named_vector
  // expect-gcc: "umbel: weights: \[in_features=100, out_features=100\] needs 10000 elements but the size of a vector or span is known only at run time; view its pointer to use or copy it"
  // expect-clang: weights.*in_features<100>.*out_features<100>.*needs.*number<10000>.*but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it
  // cause: The compiler does not know the size of a `std::vector` or of a `std::span` without a fixed size, and would read past the end of one that is too short.
  // cure: Compare its size, then view its pointer, `view_as<in_features, out_features>(vector.data())`; or use a span of fixed size, `std::span<const float, 10000>`.
  static std::vector<float> vector(10000);
  const square layer{{view_as<in_features, out_features>(vector)}};
#elif defined CASE_named_span_to_pack
  // expect-gcc: "umbel: weights: \[in_features=100, out_features=100\] needs 10000 elements but the size of a vector or span is known only at run time; view its pointer to use or copy it"
  // expect-clang: weights.*in_features<100>.*out_features<100>.*needs.*number<10000>.*but_the_size_of_a_vector_or_span_is_known_only_at_run_time_so_view_its_pointer_to_use_or_copy_it
  // cause: The compiler does not know the size of a `std::vector` or of a `std::span` without a fixed size, and would read past the end of one that is too short.
  // cure: Compare its size, then view its pointer, `view_as<in_features, out_features>(vector.data())`; or use a span of fixed size, `std::span<const float, 10000>`.
  const prepacked<square> layer{
      {view_as<out_features, in_features>(std::span<const float>(memory))}};
#elif defined CASE_matrix_of_another_type
  // expect-gcc: "umbel: weights: \[in_features=100, out_features=100\] holds float but the pointer is to double"
  // expect-clang: weights.*in_features<100>.*out_features<100>.*holds.*element<float>.*but_the_pointer_is_to.*element<double>
  // cause: The types of the weights and the layer differ.
  // cure: Convert them once, or use `linear<double, ...>`.
  static const double array[10000] = {};
  const prepacked<square> layer{{view_as<out_features, in_features>(array)}};
#elif defined CASE_weights_in_a_temporary_array
  // expect-gcc: "umbel: view_as: the memory of in_features and out_features is a temporary that would be destroyed before the view; store it in a variable"
  // expect-clang: view_as.*the_memory_of.*in_features>.*out_features>.*is_a_temporary_that_would_be_destroyed_before_the_view_so_store_it_in_a_variable
  // cause: The elements would be destroyed before the view is used.
  // cure: Store the array in a variable that lives as long as the layer, preferably `static const`.
  const auto w = view_as<in_features, out_features>(std::array<float, 10000>{});
#elif defined CASE_function_before_the_weights
  // expect-gcc: "umbel: for_each_parameter: expects the weights, then a function; write for_each_parameter\(w, f\)"
  // expect-clang: for_each_parameter, .*expects_the_weights_then_a_function_so_write_for_each_parameter_of_w_and_f
  // cause: The function is the first argument.
  // cure: Pass the weights first.
  static linear<float, hidden<4>, classes<2>>::weights of_layer;
  for_each_parameter([](const parameter_path&, const auto&) {}, of_layer);
#elif defined CASE_parameters_without_names
  // expect-gcc: "umbel: for_each_parameter: the struct does not name its members; add static constexpr const char\* part_names\[\] = \{\.\.\.\}, in their order"
  // expect-clang: for_each_parameter.*the_struct_does_not_name_its_members_so_add_part_names_in_their_order
  // cause: C\+\+ cannot list the names of members, so the struct must list them.
  // cure: Add `static constexpr const char* part_names[] = {"first", "second"};` to the struct.
  static unnamed_model w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_without_names_of_a_struct_called_weights
  // expect-gcc: "umbel: for_each_parameter: the struct does not name its members; add static constexpr const char\* part_names\[\] = \{\.\.\.\}, in their order"
  // expect-clang: for_each_parameter.*the_struct_does_not_name_its_members_so_add_part_names_in_their_order
  // cause: C\+\+ cannot list the names of members, so the struct must list them.
  // cure: Add `static constexpr const char* part_names[] = {"first", "second"};` to the struct.
  static unnamed::weights w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_a_name_too_few
  // expect-gcc: "umbel: for_each_parameter: the struct has 3 members, but part_names has 2"
  // expect-clang: for_each_parameter.*the_struct_has.*number<3>.*members_but_part_names_has.*number<2>
  // cause: The struct and its list of names have different numbers of members.
  // cure: List all members, in their order.
  static model_of_three w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_a_layer_too_few
  // expect-gcc: "umbel: for_each_parameter: part_layers has the length 1 but part_names has 2"
  // expect-clang: for_each_parameter.*part_layers_has_the_length.*number<1>.*but_part_names_has.*number<2>
  // cause: The lists of layers and of names have different lengths.
  // cure: List a layer for each member, in their order, and `void` for a member without one.
  static model_of_one_layer w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_another_layer
  // expect-gcc: "umbel: for_each_parameter: item 2 of part_layers has other weights than its member"
  // expect-clang: for_each_parameter.*item.*number<2>.*of_part_layers_has_other_weights_than_the_member
  // cause: The member isn't the weights of the layer that is listed for it.
  // cure: List the layers in the order of the members.
  static model_of_other_layers w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_without_a_list_of_layers
  // expect-gcc: "umbel: for_each_parameter: part_layers is not a list of types; write using part_layers = std::tuple<\.\.\.>, with the layer of each member, or void"
  // expect-clang: for_each_parameter.*part_layers_is_not_a_list_so_write_using_part_layers_std_tuple
  // cause: `part_layers` is a type that lists no layers.
  // cure: Write `using part_layers = std::tuple<first_layer>;`.
  static model_of_no_list w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_of_many_members
  // expect-gcc: "umbel: for_each_parameter: the struct has more than 16 members; group some of them in another struct"
  // expect-clang: for_each_parameter.*the_struct_has_more_than_16_members_so_group_some_in_a_struct
  // cause: Structs of at most 16 members can be listed.
  // cure: Group them: a struct for the embeddings, one for the head, an array for equal layers.
  static model_of_many w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_of_packed_weights
  // expect-gcc: "umbel: for_each_parameter: packed weights have no parameters; pass the unpacked weights"
  // expect-clang: for_each_parameter.*packed_weights_have_no_parameters_so_pass_the_unpacked_weights
  // cause: Packed weights have panels for the kernels, not parameters.
  // cure: List, load and save `layer::weights`, and pack them afterwards.
  static const square::weights w{};
  const prepacked<square> packed{w};
  for_each_parameter(packed, look);
#elif defined CASE_parameters_of_one_name
  // expect-gcc: "umbel: for_each_parameter: item 2 of part_names is listed twice"
  // expect-clang: for_each_parameter.*item.*number<2>.*of_part_names_is_listed_twice
  // cause: Two members would have the same path, and a file with two tensors of the same name cannot be read.
  // cure: Use a different name for each member.
  static model_of_one_name w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_an_empty_name
  // expect-gcc: "umbel: for_each_parameter: item 2 of part_names is empty"
  // expect-clang: for_each_parameter.*item.*number<2>.*of_part_names_is_empty
  // cause: A path consists of names.
  // cure: Use the C\+\+ name of the member.
  static model_with_an_empty_name w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_a_null_name
  // expect-gcc: "umbel: for_each_parameter: item 1 of part_names is a null pointer"
  // expect-clang: for_each_parameter.*item.*number<1>.*of_part_names_is_a_null_pointer
  // cause: A path consists of names.
  // cure: Use the C\+\+ name of the member.
  static model_with_a_null_name w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_a_dot
  // expect-gcc: "umbel: for_each_parameter: item 2 of part_names has a dot, which separates the names of a path"
  // expect-clang: for_each_parameter.*item.*number<2>.*of_part_names_has_a_dot_which_separates_the_names_of_a_path
  // cause: Two members of different structs could have one path.
  // cure: Use the C\+\+ name of the member; the rows passed to `load` contain the names in the file.
  static model_with_a_dot w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_not_in_utf_8
  // expect-gcc: "umbel: for_each_parameter: item 2 of part_names is not UTF-8"
  // expect-clang: for_each_parameter.*item.*number<2>.*of_part_names_is_not_utf_8
  // cause: Names in files are UTF-8.
  // cure: Save the source as UTF-8, or write the name in ASCII.
  static model_in_latin_1 w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_called_metadata
  // expect-gcc: "umbel: save: item 2 of part_names is __metadata__, which safetensors reserves"
  // expect-clang: save.*item.*number<2>.*of_part_names_is_metadata_in_underscores_which_safetensors_reserves
  // cause: In a safetensors file, `__metadata__` is not a tensor but texts.
  // cure: Choose a different name.
  static model_with_metadata w;
  save([](const char*, std::size_t) {}, w);
#elif defined CASE_parameters_of_long_paths
  // expect-gcc: "umbel: for_each_parameter: a path has more than 127 characters; shorten part_names"
  // expect-clang: for_each_parameter.*a_path_has_more_than_127_characters_so_shorten_part_names
  // cause: A path has room for 127 characters; longer paths could become equal.
  // cure: Shorten the names; names in the file may be longer.
  static model_with_long_paths w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_of_string_views
  // expect-gcc: "umbel: for_each_parameter: part_names is not constant text; write static constexpr const char\* part_names\[\] = \{\.\.\.\}"
  // expect-clang: for_each_parameter.*part_names_is_not_constant_text_so_write_static_constexpr_const_char
  // cause: Names must be known at compile time, so that they can be checked.
  // cure: Write `static constexpr const char* part_names[] = {"up", "gate"};`
  static model_of_string_views w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_names_that_change
  // expect-gcc: "umbel: for_each_parameter: part_names is not constant text; write static constexpr const char\* part_names\[\] = \{\.\.\.\}"
  // expect-clang: for_each_parameter.*part_names_is_not_constant_text_so_write_static_constexpr_const_char
  // cause: Names must be known at compile time, so that they can be checked.
  // cure: Write `static constexpr const char* part_names[] = {"up", "gate"};`
  static model_with_names_that_change w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_of_private_members
  // expect-gcc: "umbel: for_each_parameter: the struct has a constructor or private members; leave them out"
  // expect-clang: for_each_parameter.*the_struct_has_a_constructor_or_private_members_so_leave_them_out
  // cause: Only the members of an aggregate, which are all public, can be listed.
  // cure: Use a struct of public members without a constructor, and a function that creates it.
  static model_of_private_members w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_a_base
  // expect-gcc: "umbel: for_each_parameter: the struct has a base; make it a member"
  // expect-clang: for_each_parameter.*the_struct_has_a_base_so_make_it_a_member
  // cause: The members of a struct and of its base cannot be listed together.
  // cure: Make the base a member, with a name in part_names.
  static model_with_a_base w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_with_a_number
  // expect-gcc: "umbel: for_each_parameter: expects weights, tensors or structs of them, not float"
  // expect-clang: for_each_parameter.*expects_weights_tensors_or_structs_of_them_not.*given<float>
  // cause: A member is neither weights nor a tensor.
  // cure: Use `tensor<float, token<1>>`, or keep it outside the struct.
  static model_with_a_number w;
  for_each_parameter(w, look);
#elif defined CASE_parameters_of_a_layer
  // expect-gcc: "umbel: count_parameters: a layer borrows its weights; pass the weights themselves, of type layer::weights"
  // expect-clang: count_parameters.*a_layer_borrows_its_weights_so_pass_the_weights_themselves
  // cause: A layer does not own its weights.
  // cure: Pass the `layer::weights` from which it was constructed.
  static const square::weights w{};
  const std::size_t count = count_parameters(square{w});
#elif defined CASE_count_without_weights
  // expect-gcc: "umbel: count_parameters: expects the weights; write count_parameters\(w\)"
  // expect-clang: count_parameters.*expects_the_weights_so_write_count_parameters_of_w
  // cause: Parameters are counted in weights, not in their type.
  // cure: Write `count_parameters(w)`.
  const std::size_t count = count_parameters<square::weights>();
#elif defined CASE_compare_two_types
  // expect-gcc: "umbel: compare_parameters: the arguments have two types; load both into weights of one type"
  // expect-clang: compare_parameters.*the_arguments_have_two_types_so_load_both_into_weights_of_one_type
  // cause: Parameters are compared one by one, so both arguments must have the same parameters.
  // cure: Load both into weights of one type.
  static const square::weights w[2] = {};
  const auto r = compare_parameters(w, w[0]);
#elif defined CASE_compare_one_with_nothing
  // expect-gcc: "umbel: compare_parameters: expects two structs of weights; write compare_parameters\(w, loaded\)"
  // expect-clang: compare_parameters.*expects_two_weights_so_write_compare_parameters_of_both
  // cause: There is nothing to compare with.
  // cure: Pass two structs of one type: `compare_parameters(w, loaded)`.
  static const square::weights w{};
  const auto r = compare_parameters(w);
  const bool same = r.largest == 0;
#elif defined CASE_parameters_by_one_argument
  // expect-gcc: "umbel: for_each_parameter: f must accept a path and a view, \(const parameter_path& path, auto x\)"
  // expect-clang: for_each_parameter.*f_must_accept_a_path_and_a_view_const_parameter_path_path_auto_x
  // cause: The function is called with a path and a view of the parameter.
  // cure: Write `[](const parameter_path& path, auto x) {...}`; to get the path as text, write `path.c_str()`.
  static square::weights w;
  for_each_parameter(w, [](auto) {});
#elif defined CASE_parameters_by_reference
  // expect-gcc: "umbel: for_each_parameter: f must accept a path and a view, \(const parameter_path& path, auto x\)"
  // expect-clang: for_each_parameter.*f_must_accept_a_path_and_a_view_const_parameter_path_path_auto_x
  // cause: The function is called with a path and a view of the parameter.
  // cure: Write `[](const parameter_path& path, auto x) {...}`; to get the path as text, write `path.c_str()`.
  static square::weights w;
  for_each_parameter(w, [](const parameter_path&, auto&) {});
#elif defined CASE_probe_of_another_order
  // expect-gcc: "umbel: compare_with_probe: \[token=2, batch=3\] and \[batch=3, token=2\] have the same axes in a different order; permute one"
  // expect-clang: compare_with_probe, .*token<2>, .*batch<3>.*have_the_same_axes_in_a_different_order_so_permute_one
  // cause: The output of the model and that of the probe have the same axes in a different order.
  // cure: Declare the output in the order of the file, and permute the result of the model.
  const tensor<float, token<2>, batch<3>> given{};
  const auto result = compare_with_probe(given, tensor<float, batch<3>, token<2>>{});
#elif defined CASE_probe_of_another_size
  // expect-gcc: "umbel: compare_with_probe: \[classes=12\] and \[classes=10\] have the same axes with different sizes"
  // expect-clang: compare_with_probe, .*classes<12>.*classes<10>.*have_the_same_axes_with_different_sizes
  // cause: The model has a different number of outputs than the probe.
  // cure: Correct the sizes of the model; `tools/export --types` prints those of the file.
  const tensor<float, classes<12>> given{};
  const auto result = compare_with_probe(given, tensor<float, classes<10>>{});
#elif defined CASE_bias_of_another_axis
  // expect-gcc: "umbel: weights: \[token=10\] are not the axes of the bias, which are \[classes=10\]"
  // expect-clang: weights.*token<10>.*are_not_the_axes_of_the_bias_which_are.*classes<10>
  // cause: The bias is named after a different axis than the map has, or has a different size.
  // cure: Write `view_as<classes<10>>(memory)`, or `view_as<out_features>(memory)`, which has the size of the map.
  const linear<float, hidden<32>, classes<10>, bias<true>> layer{
      {view_as<in_features, out_features>(&memory[0]), view_as<token<10>>(&memory[0])}};
#elif defined CASE_bias_of_the_wrong_length
  // expect-gcc: "umbel: weights: \[classes=10\] needs 10 elements but the memory holds 9"
  // expect-clang: weights.*classes<10>.*needs.*number<10>.*elements_but_the_memory_holds.*number<9>
  // cause: The array of weights does not have inputs times outputs elements.
  // cure: Export the matrix again, without padding, or correct the axes of the layer.
  static const float nine[9] = {};
  const prepacked<linear<float, hidden<32>, classes<10>, bias<true>>> layer{
      {view_as<out_features, in_features>(&memory[0]), view_as<out_features>(nine)}};
#elif defined CASE_weights_of_a_layer_in_a_pipe
  // expect-gcc: "umbel: encoder_layer: got its weights for the layer; write x \| layer\{w\}"
  // expect-clang: encoder_layer.*got_its_weights_for_the_layer_so_write_x_pipe_layer_of_w
  // cause: Weights are numbers; the layer made from them is called.
  // cure: Write `x | encoder{w}`.
  using encoder = encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, norm_first<true>,
                                activation<gelu_exact>, bias<true>>;
  static const encoder::weights w{};
  auto r = tensor<float, token<4>, hidden<8>>{} | w;
#elif defined CASE_weights_of_a_stack_in_a_pipe
  // expect-gcc: "umbel: layer_stack: got its weights for the layer; write x \| layer\{w\}"
  // expect-clang: layer_stack.*got_its_weights_for_the_layer_so_write_x_pipe_layer_of_w
  // cause: Weights are numbers; the layer made from them is called.
  // cure: Write `x | encoder{w}`.
  using encoder = encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, norm_first<true>,
                                activation<gelu_exact>, bias<true>>;
  static const layer_stack<encoder, 2>::weights w{};
  auto r = tensor<float, token<4>, hidden<8>>{} | w;
#elif defined CASE_permute_of_memory_without_sizes
  // expect-gcc: "umbel: permute: expects one tensor or view, but the memory of in_features and out_features has no sizes; write view_as<in_features<8>, out_features<4>>\(memory\)"
  // expect-clang: permute.*expects_one_tensor_or_view.*but_the_memory_of.*in_features>.*out_features>.*has_no_sizes_so_write_them_in_view_as
  // cause: Memory that is named for a layer gets its sizes from the layer; alone it has none.
  // cure: Write `view_as<in_features<100>, out_features<100>>(memory)`.
  auto r = view_as<in_features, out_features>(memory) | permute<out_features, in_features>;
#elif defined CASE_tensor_assigned_to_weights
  // expect-gcc: "umbel: copy: \[hidden=100, query=100\] cannot be copied to weights; write copy\(x, view_as<in_features, out_features>\(w\.weight\)\), with the axes of x"
  // expect-clang: copy, .*hidden<100>, .*query<100>>, .*cannot_be_copied_to_weights_so_copy_it_to_a_view_of_their_array_weight
  // cause: The weights of a map hold their matrix as the array `weight`, in the order (in, out).
  // cure: Copy it to a view of the array with the axes of the tensor: `copy(x, view_as<hidden<100>, query<100>>(w.weight))`.
  static square::weights target;
  target = tensor<float, hidden<100>, query<100>>{};
#elif defined CASE_tensor_copied_to_weights
  // expect-gcc: "umbel: copy: \[hidden=100, query=100\] cannot be copied to weights; write copy\(x, view_as<in_features, out_features>\(w\.weight\)\), with the axes of x"
  // expect-clang: copy, .*hidden<100>, .*query<100>>, .*cannot_be_copied_to_weights_so_copy_it_to_a_view_of_their_array_weight
  // cause: The weights of a map hold their matrix as the array `weight`, in the order (in, out).
  // cure: Copy it to a view of the array with the axes of the tensor: `copy(x, view_as<hidden<100>, query<100>>(w.weight))`.
  static square::weights target;
  copy(tensor<float, hidden<100>, query<100>>{}, target);
#elif defined CASE_heads_of_stored_axes_as_an_axis
  // expect-gcc: "umbel: stored_axes: in_of and out_of expect a number, as in in_of\(8\), not heads=8"
  // expect-clang: stored_axes, .*in_of_and_out_of_expect_a_number_as_in_in_of_8_not, .*heads<8>
  // cause: The parameter is a number of heads.
  // cure: Write `in_out.in_of(8)`.
  static_cast<void>(stored_axes::in_of(axes::heads<8>{}));
#else
  const tensor<float, classes<12>> given{};
  if (!compare_with_probe(given, given)) return;
  const square plain{{view_as<in_features, out_features>(memory)}};
  const prepacked<square> packed{{view_as<out_features, in_features>(memory)}};
  const tensor<float, classes<10>, hidden<32>> w{};
  const prepacked<classify> either{{w}};
  const square of_a_span{
      {view_as<in_features, out_features>(std::span<const float, 10000>(memory))}};
  const linear<float, hidden<32>, classes<10>, bias<true>> with_a_view{
      {view_as<in_features, out_features>(&memory[0]), view_as<classes<10>>(&memory[0])}};
  static const tensor<float, classes<10>> bias_of_classes{};
  const prepacked<linear<float, hidden<32>, classes<10>, bias<true>>> with_a_tensor{
      {view_as<out_features, in_features>(&memory[0]), bias_of_classes}};
  const prepacked<linear<float, hidden<32>, classes<10>, bias<true>>> with_a_name{
      {view_as<out_features, in_features>(&memory[0]), view_as<out_features>(&memory[0])}};
  (void)with_a_view, (void)with_a_tensor, (void)with_a_name, (void)plain, (void)packed,
      (void)either, (void)of_a_span;
#endif
}
