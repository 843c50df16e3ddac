// SPDX-License-Identifier: BSL-1.0
// Compares the options in a file (stored_options.hpp) with those of the layers that a struct of
// weights lists (layer_options.hpp).
#pragma once

#include <umbel/config.hpp>

#include <umbel/file/result.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/weights/layer_options.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/names.hpp>
#include <umbel/weights/stored_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Is `pattern` one of the names of the layer `path` in the file?
inline bool is_layer_in_file(const char* path, const char* pattern, const parameter_names& names) {
  const auto is_name = [&](const char* parameter, const char* tensor) {
    pattern_match match(path);
    if (!match.matches(names.parameter_prefix, parameter)) return false;
    const name_text name(names.tensor_prefix, tensor, match.values);
    return pattern_match(name.chars).matches("", pattern);
  };
  if (is_name("", "")) return true;
  for (std::size_t i = 0; i < names.count; ++i)
    if (names.rows[i].parameter != nullptr &&
        is_name(names.rows[i].parameter, names.rows[i].tensor))
      return true;
  return false;
}

// Numbers are equal if they differ by at most 1e-5 of themselves: a file may have 1e-05f.
class option_match {
 public:
  constexpr explicit option_match(const stored_options& stored) noexcept : stored_(stored) {}
  constexpr void operator()(const char* name, double number) noexcept {
    if (!is_it(name)) return;
    double given = 0;
    const bool is_number = read_number(stored_.value.chars, given);
    const double apart = given > number ? given - number : number - given;
    is_same = is_same || (is_number && apart <= 1e-5 * number);
    if (!is_known) put_number(type, number);
    is_known = true;
  }
  constexpr void operator()(const char* name, const char* word) noexcept {
    if (!is_it(name)) return;
    is_same = is_same || is_same_text(word, stored_.value.chars);
    if (!is_known) type.put(word);
    is_known = true;
  }
  bool is_known = false, is_same = false;
  sentence_buffer type;  // the value of the type

 private:
  constexpr bool is_it(const char* name) const noexcept {
    return is_same_text(name, stored_.name.chars);
  }

  const stored_options& stored_;
};

// A piece of the file without characters that control a terminal.
inline void put_stored(load_result& out, const stored_piece& piece) {
  sentence_buffer text;
  put_part(text, tensor_name(static_cast<const char*>(piece.chars)));
  out.put(text.chars);
}

// A line if no layer has this option, or the first of them has a different value. Returns whether a
// layer has this path.
template <class Weights>
bool compare_option(load_result& out, const Weights& w, const stored_options& stored,
                    const parameter_names* tables, std::size_t count) {
  bool has_layers = false, has_path = false, has_line = false;
  const auto compare = [&]<class Layer>(const parameter_path& path, std::type_identity<Layer>) {
    has_layers = true;
    bool is_it = false;
    for (std::size_t i = 0; i < count; ++i)
      is_it = is_it || is_layer_in_file(path.c_str(), stored.path.chars, tables[i]);
    if (!is_it || has_line) return;
    has_path = true;
    option_match match(stored);
    options_of_layer<Layer>([&](const char* name, auto value) { match(name, value); });
    if (match.is_same) return;
    has_line = true;
    out.begin();
    out.put(path.c_str());
    out.put(": ");
    put_stored(out, stored.name);
    if (match.is_known) {
      out.put(" is ");
      put_stored(out, stored.value);
      out.put(" in the file but ");
      out.put(match.type.chars);
      out.put(" in the type, ");
    } else {
      out.put(" is in the options of the file but is no option of ");
    }
    out.put(option_text<typename word_of<Layer>::type>().chars);
    out.put('\n');
  };
  visit_layers<void>(parameter_path{}, w, compare);
  if (has_path) return true;
  out.begin();
  out.put("the file has options of ");
  put_stored(out, stored.path);
  out.put(has_layers ? ", but no layer in part_layers has that name\n"
                     : ", but the weights name no layers; add using part_layers = "
                       "std::tuple<...> to their struct, with the layer of each member\n");
  return false;
}

inline constexpr std::size_t most_problems = 100;

// Compares all of them. A file without options fits.
template <class Weights, class File>
void compare_options(load_result& out, const Weights& w, const File& file,
                     const parameter_names* tables, std::size_t count) {
  if constexpr (has_metadata<File>) {
    const tensor_name text = file.metadata("umbel.options");
    if (text.is_longer(stored_options::longest)) {
      out.begin();
      out.put("the options of the file have more than 262144 characters\n");
      return;
    }
    stored_options stored(text);
    bool has_path = true;
    // Few lines are shown: the rest would only take time. A path that no layer has is shown once.
    while (out.problems() < most_problems && stored.next())
      if (has_path || stored.is_first) has_path = compare_option(out, w, stored, tables, count);
    if (stored.problem() == nullptr) return;
    out.begin();
    out.put("the options of the file are malformed at character ");
    out.put(stored.place());
    out.put(": ");
    out.put(stored.problem());
    out.put('\n');
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
