// SPDX-License-Identifier: BSL-1.0
// Loads weights from a file, all or none: finds every parameter by name and compares it with the
// shape of its tensor first. Tensors that are missing, unexpected, transposed or of a wrong shape
// are listed together, and nothing is loaded unless all fit.
//
//   static model_weights w;
//   const auto loaded = load(w, *file, at("encoder.*", "layers.*", names::torch_encoder_layer));
//   if (!loaded) return report(loaded.error());
#pragma once

#include <umbel/config.hpp>

#include <umbel/parameters/parameters.hpp>
#include <umbel/weights/asked_names.hpp>
#include <umbel/weights/compare_options.hpp>
#include <umbel/weights/fitting_tensor.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/load_rules.hpp>
#include <umbel/weights/prefix_of_names.hpp>
#include <umbel/weights/scales.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

// A tensor of a probe (probe.hpp)? name: at least 6 bytes.
inline bool is_of_probe(const char* name) noexcept {
  return __builtin_memcmp(name, "probe.", 6) == 0;
}

template <class Weights>
bool has_parameter(const Weights& w, const char* path) noexcept {
  bool found = false;
  const auto look = [&](const parameter_path& one, const auto&) { found = found || one == path; };
  visit_parameters(parameter_path{}, w, look);
  return found;
}

// The user of a tensor of the file.
struct tensor_use {
  bool is_known = false;         // a parameter, or left out on purpose
  std::size_t parts = 1;         // number of equal parts ...
  std::uint64_t taken = 0;       // ... one bit per used part
  name_text parameter, instead;  // a parameter that could use it, but uses that one
};

// find(path, found_row&): finds a parameter's tensor. is_scale: `name` belongs to the scaled
// weights.
template <class Weights, class Find>
void add_use(tensor_use& use, const Weights& w, const char* name, bool is_scale,
             const parameter_names& names, const Find& find) noexcept {
  for (std::size_t i = 0; i < names.count; ++i) {
    const parameter_name& row = names.rows[i];
    pattern_match match(name);
    if (!match.matches(names.tensor_prefix, row.tensor)) continue;
    if (row.parameter == nullptr) {
      use.is_known = use.is_known || !is_scale;
      continue;
    }
    const name_text path(names.parameter_prefix, row.parameter, match.values);
    if (!has_parameter(w, path.chars)) continue;
    found_row found;
    find(path.chars, found);
    if (is_scale && found.tensor.type != stored_type::int8) continue;
    // The row is not enough: at("head", "a", table) and at("head", "b", table) use one twice.
    if (found.row == &row && found.name == name) {
      use.is_known = true;
      use.parts = row.axes.parts;
      if (row.axes.part < 64) use.taken |= std::uint64_t{1} << row.axes.part;
    } else if (!is_scale) {
      use.parameter = path;
      use.instead = found.name;
    }
  }
}
template <class Weights, class Find>
void add_use(tensor_use& use, const Weights& w, const stored_tensor& tensor,
             const parameter_names& names, const Find& find) noexcept {
  char name[name_text::most + 1]{};
  if (tensor.name.is_longer(name_text::most)) return;
  const std::size_t size = tensor.name.copy_to(name, sizeof(name));
  if (is_of_probe(name)) {
    use.is_known = true;
    return;
  }
  add_use(use, w, name, false, names, find);
  constexpr std::size_t suffix = __builtin_strlen(scale_suffix);
  if (use.is_known || size < suffix ||
      __builtin_memcmp(name + size - suffix, scale_suffix, suffix) != 0)
    return;
  name[size - suffix] = '\0';
  add_use(use, w, name, true, names, find);
}

// The first unused part; the number of parts if there is none.
constexpr std::size_t part_left_over(const tensor_use& use) noexcept {
  std::size_t part = 0;
  while (part < use.parts && (use.taken >> part & 1) != 0) ++part;
  return use.taken == 0 || use.parts > 64 ? use.parts : part;
}

// Lines for null pointers instead of names, for example of strings that a program made.
inline void complain_of_nulls(load_result& out, const parameter_names& names) {
  if (names.parameter_prefix == nullptr || names.tensor_prefix == nullptr) {
    out.begin();
    out.put("a path given to at(...) is a null pointer\n");
  }
  for (std::size_t i = 0; i < names.count; ++i) {
    if (names.rows[i].tensor != nullptr) continue;
    out.begin();
    out.put("the name in the file of row ");
    out.put(i);
    out.put(" of the names is a null pointer\n");
  }
}

// A line for a tensor that is unused, wholly or in part.
inline void complain_of(load_result& out, const tensor_use& use, const stored_tensor& tensor) {
  const std::size_t part = part_left_over(use);
  if (use.is_known && part == use.parts) return;
  sentence_buffer name;
  put_part(name, tensor.name);  // without characters that control a terminal
  out.begin();
  if (use.is_known) {
    out.put("part_of(");
    out.put(part);
    out.put(", ");
    out.put(use.parts);
    out.put(") of ");
    out.put(name.chars);
    out.put(" is not used by any parameter\n");
    return;
  }
  out.put(name.chars);
  if (use.parameter.size == 0) {
    out.put(" is in the file, but no parameter has that name\n");
    return;
  }
  out.put(" is in the file, but ");
  out.put(use.parameter.chars);
  out.put(" reads ");
  out.put(use.instead.chars);
  out.put('\n');
}

// For arguments that the rules accept.
template <class Weights, class File>
void load_parameters(load_result& result, Weights& w, const File& file,
                     const parameter_names* tables, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) complain_of_nulls(result, tables[i]);
  if (!result) return;
  const auto ask = [&](const auto& name) {
    const auto of_one = [&](const parameter_path& path, const auto& x) {
      for (std::size_t i = 0; i < count; ++i)
        for_each_name(path.c_str(), is_matrix<std::remove_cvref_t<decltype(x)>>, tables[i], name);
    };
    visit_parameters(parameter_path{}, w, of_one);
  };
  with_asked(file, ask, [&](const asked_tensors<File>& tensors) {
    const auto find = [&](const char* path, found_row& found) {
      for (std::size_t i = 0; i < count; ++i) find_row(found, tensors, path, tables[i]);
    };
    bool has_one = false;
    name_text missing;
    const auto compare = [&](const parameter_path& path, const auto& x) {
      using X = std::remove_cvref_t<decltype(x)>;
      found_row found;
      find(path.c_str(), found);
      has_one = has_one || found.tensor.data != nullptr;
      if (missing.size == 0 && found.row != nullptr) missing = found.name;
      if (fits_parameter<X>(result, path.c_str(), found))
        fits_elements<X>(result, path.c_str(), found);
    };
    visit_parameters(parameter_path{}, w, compare);
    if (load_result line; !has_one && complain_of_prefix(line, file, missing)) {
      result = line;
      return;
    }
    for (const stored_tensor& tensor : file) {
      tensor_use use;
      for (std::size_t i = 0; i < count; ++i) add_use(use, w, tensor, tables[i], find);
      complain_of(result, use, tensor);
    }
    compare_options(result, w, file, tables, count);
    if (!result) return;
    // A mapped file may have changed since, so the tensor found now is compared again.
    const auto read = [&](const parameter_path& path, const auto& x) {
      using X = std::remove_cvref_t<decltype(x)>;
      found_row found;
      find(path.c_str(), found);
      if (fits_parameter<X>(result, path.c_str(), found)) read_parameter(result, x, path, found);
    };
    visit_parameters(parameter_path{}, w, read);
    if (result) return;
    result.begin();
    result.put("the file changed while it was loaded, so some parameters may be wrong\n");
  });
  result.finish();
}

}  // namespace detail

// Loads all parameters of w (parameters/parameters.hpp) from a file (file/safetensors.hpp,
// npz.hpp), with the file's names in the tables `names`. Tensors of a probe (probe.hpp) are
// skipped. Numbers are exact if possible, otherwise rounded once.
//   "umbel: load: encoder.0.attention.q.weight [in_features=8, out_features=8]: the file has no
//    layers.0.q.weight"
//   "umbel: load: up.weight [in_features=8, out_features=16]: linear1.weight has [8, 16] in the
//    file but must have [16, 8]; it is transposed, write in_out in the names, not out_in"
//   "umbel: load: bias_k is in the file, but no parameter has that name"
//   "umbel: load: q_proj_weight is in the file, but q.weight reads in_proj_weight"
//   "umbel: load: part_of(1, 3) of in_proj_weight is not used by any parameter"
// If the file has options of layers, they are compared with the part_layers of the struct
// (compare_options.hpp):
//   "umbel: load: encoder.0: norm_epsilon is 1e-12 in the file but 1e-5 in the type, encoder_layer"
// Errors that don't depend on the file are compile errors:
//   "umbel: load: expects a file of tensors, not the result of opening one; write *file"
//   "umbel: load: expects tables of names, arrays of parameter_name or at(...), but argument 3 is
//    vector"
//   "umbel: load: the weights are const"
// and, for structs, the messages of for_each_parameter.
template <class Weights, class File, class... Names>
[[nodiscard]] auto load(Weights&& w, const File& file, const Names&... names) noexcept {
  if constexpr (detail::one_is_invalid<Weights, File, Names...>) {
    return load_result{};
  } else {
    using verdict = decltype(detail::rules::load_call<Weights, File, Names...>());
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    load_result result;
    if constexpr (verdict::ok) {
      const parameter_names tables[] = {parameter_names(names)...};
      detail::load_parameters(result, w, file, tables, sizeof...(Names));
    }
    return result;
  }
}

// Without a file: refused.
template <class Weights>
  requires detail::listed_by_name<std::remove_cvref_t<Weights>>
constexpr detail::invalid load(Weights&&) noexcept {
  using verdict =
      detail::verdict<detail::one_is_invalid<Weights>, detail::say::load,
                      detail::say::expects_the_weights_and_a_file_so_write_load_of_both>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
