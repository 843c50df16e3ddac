// SPDX-License-Identifier: BSL-1.0
// Files, weights, ranges, drawings: what few programs of the other files have.
#include <misuse/all_headers.hpp>

#if defined CASE_npy_of_a_path
// fact: in_memory
// fact: path|char
auto r = npy_file::in_memory("model.npy");
#elif defined CASE_npz_of_a_path
// fact: in_memory
// fact: path|char
auto r = npz_file::in_memory("model.npz");
#elif defined CASE_npz_made_of_a_path
// fact: npz_file
// fact: in_memory
npz_file r("model.npz");
#elif defined CASE_npz_result_loaded
// fact: load
// fact: \*|asterisk
auto f(const file_result<npz_file>& file) { return load(sw, file); }
#elif defined CASE_safetensors_made_of_a_path
// fact: safetensors_file
// fact: in_memory
safetensors_file r("model.safetensors");
#elif defined CASE_safetensors_result_read
// fact: file_result
// fact: \*|star
auto f(const file_result<safetensors_file>& file, self_attention::weights& to) {
  return file.read("q.weight", to.q.weight);
}
#elif defined CASE_mapped_file_of_a_path
// fact: mapped_file
// fact: open
mapped_file r("model.safetensors");
#elif defined CASE_mapped_file_loaded
// fact: load
// fact: in_memory
auto f(const mapped_file& file) { return load(sw, file); }
#elif defined CASE_file_read_from_a_path_alone
// fact: read_file
// fact: memory
auto r = read_file("model.npz");
#elif defined CASE_file_read_into_a_vector
// fact: read_file
// fact: vector|memory
auto f(std::vector<char>& memory) { return read_file("model.npz", memory); }
#elif defined CASE_file_read_into_weights
// fact: read_file
// fact: memory
auto f() { return read_file("model.npz", sw); }
#elif defined CASE_error_code_of_a_file
// fact: file_result
// fact: code
auto f(const file_result<npy_file>& file) { return file == file_error::not_found; }
#elif defined CASE_stored_tensor_read_as_a_type
// fact: read
// fact: float|memory
auto f(const stored_tensor& one) { return one.read<float>(); }
#elif defined CASE_stored_tensor_added
// fact: stored_tensor
// fact: read
auto f(const stored_tensor& one) { return x + one; }
#elif defined CASE_stored_tensor_read_as_a_stored_type
// fact: read
// fact: stored_type|memory
auto f(const stored_tensor& one) { return one.read(stored_type::float32); }
#elif defined CASE_stored_type_of_weights
// fact: prepacked
// fact: float16
prepacked<self_attention, stored_as<stored_type::float16>> f() {
  return prepacked<self_attention, stored_as<stored_type::float16>>{sw};
}
#elif defined CASE_stored_type_of_a_tensor
// fact: stored_type
// fact: float
auto f(const tensor<float, hidden<64>>& g) { return g + tensor<stored_type, hidden<64>>{}; }
#elif defined CASE_tensor_name_as_a_number
// fact: tensor_name
// fact: int
tensor_name r(3);
#elif defined CASE_tensor_name_printed
// fact: tensor_name
// fact: print|copy_to
void f(const tensor_name& name) { std::cout << name; }
#elif defined CASE_tensor_name_as_a_string
// fact: tensor_name
// fact: copy_to
std::string f(const tensor_name& name) { return name; }
#elif defined CASE_npz_of_tensors_without_names
// fact: write_npz
// fact: put
auto f(const std::function<void(const char*, std::size_t)>& sink) { return write_npz(sink, x); }
#elif defined CASE_npz_to_a_path
// fact: write_npz
// fact: sink
auto r = write_npz("model.npz", [](const auto& put) { put("x", x); });
#elif defined CASE_path_appended_by_plus
// fact: parameter_path
// fact: /
auto f(const parameter_path& path) { return path + "weight"; }
#elif defined CASE_path_printed
// fact: parameter_path
// fact: c_str
void f(const parameter_path& path) { std::cout << path; }
#elif defined CASE_parameters_counted_by_type
// fact: count_parameters
// fact: weights|w
auto r = count_parameters<self_attention::weights>();
#elif defined CASE_parameters_of_a_formula_counted
// fact: count_parameters
// fact: struct
constexpr formula twice = [](auto a) { return a + a; };
auto r = count_parameters(twice);
#elif defined CASE_parameters_compared_with_a_tolerance
// fact: compare_parameters
// fact: two
auto r = compare_parameters(sw, sg, 1e-5);
#elif defined CASE_difference_as_a_number
// fact: compare_parameters|parameter_difference
// fact: largest
double f() {
  const parameter_difference d = compare_parameters(sw, sg);
  return d;
}
#elif defined CASE_difference_as_a_condition
// fact: compare_parameters|parameter_difference
// fact: largest
bool f(const parameter_difference& d) { return d < 1e-5; }
#elif defined CASE_difference_printed
// fact: compare_parameters|parameter_difference
// fact: largest
void f(const parameter_difference& d) { std::cout << d; }
#elif defined CASE_checksum_of_a_tensor
// fact: checksum
// fact: array|tensor
auto f(weights_checksum& sum) { sum.add(x); }
#elif defined CASE_checksum_of_a_vector
// fact: checksum
// fact: array|vector
auto f(weights_checksum& sum, const std::vector<float>& v) { sum.add(v); }
#elif defined CASE_checksum_compared_with_the_sum
// fact: checksum
// fact: value
bool f(const weights_checksum& sum) { return sum == std::uint64_t{42}; }
#elif defined CASE_checksum_of_weights
// fact: checksum_of
// fact: array|file
auto r = checksum_of(sw);
#elif defined CASE_checksum_of_a_pointer
// fact: checksum_of
// fact: array|pointer
auto f(const float* p) { return checksum_of(p); }
#elif defined CASE_checksum_of_a_result
// fact: file_result|checksum
// fact: \*|star|asterisk
auto f(const file_result<safetensors_file>& file) { return checksum_of(file); }
#elif defined CASE_checksum_verified_of_a_result
// fact: verify_checksum
// fact: \*|star|asterisk
auto f(const file_result<safetensors_file>& file) { return verify_checksum(file); }
#elif defined CASE_checksum_verified_of_weights
// fact: verify_checksum
// fact: file
auto r = verify_checksum(sw);
#elif defined CASE_checksum_verified_of_npz
// fact: verify_checksum
// fact: npz|safetensors
auto f(const npz_file& file) { return verify_checksum(file); }
#elif defined CASE_loaded_into_a_result_of_files
// fact: load
// fact: load_result
file_result<> f() { return load(sw, opened, names::umbel); }
#elif defined CASE_load_result_dereferenced
// fact: load
// fact: load_result|weights
auto f(const load_result& loaded) { return *loaded; }
#elif defined CASE_load_result_given_to_a_layer
// fact: multi_head_attention
// fact: weights
auto f(const load_result& loaded) { return self_attention{loaded}(t); }
#elif defined CASE_load_by_an_order
// fact: load
// fact: tables
auto f() { return load(sw, opened, in_out); }
#elif defined CASE_load_as_they_are
// fact: load
// fact: tables
auto f() { return load(sw, opened, as_they_are); }
#elif defined CASE_load_by_stored_axes
// fact: load
// fact: tables
auto f() { return load(sw, opened, stored_axes{}); }
#elif defined CASE_row_order_second
// fact: parameter_name
// fact: argument\W+2
parameter_name r{"q.weight", in_out};
#elif defined CASE_row_order_as_they_are_first
// fact: parameter_name
// fact: argument\W+1
parameter_name r{as_they_are, "q.weight", "q.weight"};
#elif defined CASE_row_order_as_a_type
// fact: parameter_name
// fact: argument\W+3
parameter_name r{"q.weight", "q.weight", stored_type::float32};
#elif defined CASE_rows_of_two_orders
// fact: parameter_name
// fact: argument
parameter_name r{"q.weight", "q.weight", in_out, as_they_are};
#elif defined CASE_part_of_a_stored_axes_as_a_number
// fact: stored_axes|part_of
// fact: 3|of
stored_axes r = in_out.part_of(1);
#elif defined CASE_heads_of_a_stored_axes_as_an_axis
// fact: stored_axes|in_of
// fact: heads
stored_axes r = stored_axes::in_of(heads<8>{});
#elif defined CASE_names_of_a_vector
// fact: parameter_names
// fact: array|vector
auto f(const std::vector<parameter_name>& rows) { return parameter_names(rows); }
#elif defined CASE_names_of_one_row
// fact: parameter_names
// fact: array|parameter_name
parameter_names r = parameter_name{"q.weight", "q.weight", in_out};
#elif defined CASE_names_in_braces
// fact: parameter_names
// fact: array|parameter_name
constexpr parameter_names r{{"q.weight", "q.weight"}, {"k.weight", "k.weight"}};
#elif defined CASE_probe_tolerance_as_a_number
// fact: compare_with_probe
// fact: probe_tolerance|double
auto r = compare_with_probe(x, x, 1e-5);
#elif defined CASE_probe_tolerance_first
// fact: compare_with_probe
// fact: argument 1|probe_tolerance
auto r = compare_with_probe(probe_tolerance{.absolute = 1e-5}, x, x);
#elif defined CASE_probe_result_as_a_number
// fact: probe
// fact: largest
double f(const probe_result& r) { return r; }
#elif defined CASE_probe_result_as_a_result_of_files
// fact: probe
// fact: error
file_result<> f(const probe_result& r) { return r; }
#elif defined CASE_probe_result_printed
// fact: probe
// fact: error
void f(const probe_result& r) { std::cout << r; }
#elif defined CASE_probe_input_tensor_first
// fact: probe_input
// fact: name
auto f(tokens& input) { return probe_input(input, "x"); }
#elif defined CASE_probe_input_of_weights
// fact: replay
// fact: argument\W+4
tokens wanted;
auto f() {
  return replay(opened, [](const auto&) { return t; }, wanted, probe_input("w", sw));
}
#elif defined CASE_probe_input_without_a_name
// fact: probe_input
// fact: name
auto f(tokens& input) { return probe_input(input); }
#elif defined CASE_table_of_a_stream
// fact: write_parameter_table
// fact: sink
void f() { write_parameter_table(std::cout, sw); }
#elif defined CASE_percentile_of_one_histogram
// fact: take_percentile
// fact: ranges
auto f(magnitude_histogram& counted) { return take_percentile(counted, 99.9); }
#elif defined CASE_percentile_before_the_histograms
// fact: take_percentile
// fact: histograms
void f(quantized<head>::ranges& seen, quantized<head>::histograms& counted) {
  take_percentile(seen, 99.9, counted);
}
#elif defined CASE_histogram_of_a_tensor
// fact: magnitude_histogram
// fact: tensor|number
void f(magnitude_histogram& counted) { counted.add(x); }
#elif defined CASE_histogram_of_a_type
// fact: magnitude_histogram
// fact: <
magnitude_histogram<float> r;
#elif defined CASE_packed_as_a_bool
// fact: pack
// fact: bool|missing_range
bool f(quantized<head>& q, const quantized<head>::ranges& seen) {
  const pack_result r = q.pack(hw, seen);
  return r;
}
#elif defined CASE_pack_result_called
// fact: pack
// fact: layer
auto f(const pack_result& packed) { return packed(t); }
#elif defined CASE_pack_result_as_ranges
// fact: quantized
// fact: ranges
auto f(quantized<head>& q, const pack_result& seen) { return q.pack(hw, seen); }
#elif defined CASE_same_range_of_constants
// fact: same_range
// fact: const
void f(const quantized<head>::ranges& seen) { same_range(seen.input, seen.output); }
#elif defined CASE_chain_of_one
// fact: chain_ranges
// fact: two
void f(quantized<head>::ranges& seen) { chain_ranges(seen); }
#elif defined CASE_chained_layers
// fact: are_chained
// fact: ranges
auto f(const quantized<head>& a, const quantized<head>& b) { return are_chained(a, b); }
#elif defined CASE_pack_model_of_a_layer
// fact: pack_model
// fact: struct
auto f(quantized<head>& q, const quantized<head>::ranges& seen) { return pack_model(q, hw, seen); }
#elif defined CASE_pack_model_without_weights
// fact: pack_model
// fact: weights
auto f(quantized<head>& q, const quantized<head>::ranges& seen) { return pack_model(q, seen); }
#elif defined CASE_pack_model_without_arguments
// fact: pack_model
// fact: struct
auto f() { return pack_model(); }
#elif defined CASE_legend_of_options
// fact: heat_map_legend
// fact: sink
void f(const heat_map_options& how) { heat_map_legend(how); }
#elif defined CASE_legend_of_a_file
// fact: heat_map_legend
// fact: sink
void f(std::FILE* to) { heat_map_legend(to); }
#elif defined CASE_legend_of_weights
// fact: heat_map_legend
// fact: sink
auto f() { return heat_map_legend(scores); }
#elif defined CASE_map_in_a_form
// fact: attention_heat_map
// fact: options
void f(const std::function<void(const char*, std::size_t)>& sink) {
  attention_heat_map(scores, sink, heat_map_form::svg);
}
#elif defined CASE_map_options_before_the_sink
// fact: attention_heat_map
// fact: sink
void f(const std::function<void(const char*, std::size_t)>& sink) {
  attention_heat_map(scores, heat_map_options{.form = heat_map_form::html}, sink);
}
#elif defined CASE_map_sink_first
// fact: attention_heat_map
// fact: weights|query
void f(const std::function<void(const char*, std::size_t)>& sink) {
  attention_heat_map(sink, scores, heat_map_options{.form = heat_map_form::ascii});
}
#elif defined CASE_colour_of_a_tensor
// fact: heat_colour
// fact: number|tensor
auto r = heat_colour(scores);
#elif defined CASE_colour_as_a_number
// fact: heat_colour
// fact: red
unsigned r = heat_colour(0.5);
#elif defined CASE_colour_of_red_green_blue
// fact: heat_colour
// fact: one|share
auto r = heat_colour(0.1, 0.2, 0.3);
#elif defined CASE_plan_of_weights
// fact: plan_of
// fact: multi_head_attention
auto r = plan_of<self_attention::weights, token<12>>::flops;
#elif defined CASE_plan_of_no_positions
// fact: plan_of
// fact: token
auto r = plan_of<self_attention>::flops;
#elif defined CASE_plan_called
// fact: plan_of
// fact: layer|<
auto r = plan_of(self_attention{sw}, t);
#elif defined CASE_footprint_called
// fact: footprint
// fact: value|constant|<
constexpr call_footprint r = footprint<self_attention, token<12>>();
#elif defined CASE_footprint_as_bytes
// fact: footprint
// fact: ram
constexpr std::size_t r = footprint<self_attention, token<12>>;
#elif defined CASE_footprint_of_a_type
// fact: footprint
// fact: layer
constexpr call_footprint r = call_footprint<self_attention, token<12>>;
#elif defined CASE_vectors_checked_for_bits
// fact: vector_check
// fact: fit
bool f() { return vector_check(); }
#elif defined CASE_vectors_as_a_number
// fact: vector_bits
// fact: compiled|core
std::size_t r = vector_bits{};
#elif defined CASE_vectors_of_a_type
// fact: vector_check
// fact: vector_bits
auto r = vector_check<float>();
#elif defined CASE_same_range_of_one
// fact: same_range
// fact: two
void f(quantized<head>::ranges& seen) { same_range(seen.input); }
#elif defined CASE_chain_of_histograms
// fact: chain_ranges
// fact: ranges
void f(quantized<head>::ranges& seen, quantized<head>::histograms& counted) {
  chain_ranges(seen, counted);
}
#elif defined CASE_chained_by_one
// fact: are_chained
// fact: two
auto f(const quantized<head>::ranges& seen) { return are_chained(seen); }
#elif defined CASE_footprint_compared
// fact: footprint
// fact: ram
bool f(const call_footprint& needs) { return needs < 65536; }
#elif defined CASE_load_result_printed
// fact: load.result
// fact: error
void f(const load_result& loaded) { std::cout << loaded; }
#elif defined CASE_probe_tolerance_before_the_model
// fact: replay
// fact: model|tolerance
auto f(tokens& input, tokens& output) {
  return replay(opened, probe_tolerance{.absolute = 1e-6}, self_attention{sw}, output, input);
}
#elif defined CASE_table_of_weights_first
// fact: write_parameter_table
// fact: sink
void f(const std::function<void(const char*, std::size_t)>& sink) {
  write_parameter_table(sw, sink);
}
#elif defined CASE_layers_by_their_weights
// fact: item
// fact: part.layers
struct model_weights {
  static constexpr const char* part_names[] = {"attend", "last"};
  using part_layers = std::tuple<self_attention::weights, head>;
  self_attention::weights attend;
  head::weights last;
};
auto f(model_weights& w, const tensor_file& file) { return load(w, file, names::umbel); }
#elif defined CASE_layers_in_another_order
// fact: item
// fact: part.layers
struct model_weights {
  static constexpr const char* part_names[] = {"attend", "last"};
  using part_layers = std::tuple<head, self_attention>;
  self_attention::weights attend;
  head::weights last;
};
auto f(model_weights& w) { return count_parameters(w); }
#elif defined CASE_layers_without_the_tensor
// fact: part.layers
// fact: 2
struct model_weights {
  static constexpr const char* part_names[] = {"token", "last"};
  using part_layers = std::tuple<head>;
  tensor<float, hidden<64>> token;
  head::weights last;
};
auto f(model_weights& w, const tensor_file& file) { return load(w, file, names::umbel); }
#elif defined CASE_layers_as_an_array
// fact: part.layers
// fact: std.*tuple
struct model_weights {
  static constexpr const char* part_names[] = {"last"};
  using part_layers = std::array<head, 1>;
  head::weights last;
};
auto f(model_weights& w, const tensor_file& file) { return load(w, file, names::umbel); }
#endif
