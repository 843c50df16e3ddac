// SPDX-License-Identifier: BSL-1.0
// Compares the options in a file (stored_options.hpp) with those of the layers that a struct of
// weights lists next to its members:
//
//   struct model_weights {
//     static constexpr const char* part_names[] = {"encoder", "head"};
//     using part_layers = std::tuple<block, classifier>;
//     block::weights encoder[4];
//     classifier::weights head;
//   };
#pragma once

#include <umbel/config.hpp>

#include <umbel/file/result.hpp>
#include <umbel/layer/computing.hpp>
#include <umbel/parameters/parameters.hpp>
#include <umbel/weights/load_result.hpp>
#include <umbel/weights/names.hpp>
#include <umbel/weights/stored_options.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// ---- the options of a layer

// The name of a type, an option or a layer: split_halves.
template <class Word>
struct option_text : sentence_buffer {
  constexpr option_text() noexcept { put_name<Word>(*this, '_'); }
};
template <class Function, class Word>
std::type_identity<Word> word_of_operation(const computing<Function, Word>*);
// Of a layer, or of an activation; of a user's activation, the name of its type.
template <class X>
struct word_of {
  using type = X;
};
template <class X>
  requires requires { typename X::word; }
struct word_of<X> {
  using type = typename X::word;
};
template <class X>
  requires(
      !requires { typename X::word; } && requires(const X* x) { word_of_operation(x); })
struct word_of<X> {
  using type = typename decltype(word_of_operation(static_cast<const X*>(nullptr)))::type;
};

// Calls f(name, number) or f(name, text) with each option of attention.
template <class Layer, class F>
constexpr void options_of_heads(const F& f) {
  using scores = typename Layer::scoring;
  using rope = typename Layer::rope_option;
  using cap = typename scores::softcap_option;
  using norm = typename Layer::norm_of_heads;
  constexpr auto sizes = Layer::sizes;
  const auto count = [&](const char* name, std::size_t n) { f(name, static_cast<double>(n)); };
  count("heads", sizes.heads);
  count("kv_heads", sizes.kv_heads);
  count("head_dim", sizes.head_dim);
  count("value_dim", sizes.value_dim);
  f("score_scale", scores::template scale<double>(sizes.head_dim));
  f("empty_rows", option_text<typename scores::empty>().chars);
  if constexpr (cap::numerator != 0)
    f("softcap", scores::template value_of<cap>);
  else
    f("softcap", "none");
  if constexpr (requires { typename rope::pairs; }) {
    f("rope", option_text<typename rope::pairs>().chars);
    count("rope_base", rope::base);
    count("rope_width", rope::width != 0 ? rope::width : sizes.head_dim);
  } else {
    for (const char* name : {"rope", "rope_base", "rope_width"}) f(name, "none");
  }
  if constexpr (std::is_void_v<typename norm::layer>) {
    f("query_key_norm", "none");
  } else {
    f("query_key_norm", option_text<typename norm::layer::word>().chars);
    f("norm_epsilon", static_cast<double>(norm::epsilon));
  }
}

template <class Layer>
concept is_block_of_parts = requires { typename Layer::described; };

// The same for a layer; for a block, its own options and those of its parts.
template <class Layer, class F>
constexpr void options_of_layer(const F& f) {
  if constexpr (requires {
                  typename Layer::scoring;
                  Layer::sizes.kv_heads;
                }) {
    options_of_heads<Layer>(f);
  } else if constexpr (requires {
                         typename Layer::activate;
                         Layer::is_gated;
                       }) {
    f("activation", option_text<typename word_of<typename Layer::activate>::type>().chars);
    f("gated", Layer::is_gated ? "true" : "false");
  } else if constexpr (is_block_of_parts<Layer>) {
    using described = typename Layer::described;
    if constexpr (requires { Layer::norms_first; })
      f("norm_first", Layer::norms_first ? "true" : "false");
    f("norm_by", option_text<typename described::norm::word>().chars);
    f("norm_epsilon", static_cast<double>(described::epsilon));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (options_of_layer<typename described::template part_layer<I>>(f), ...);
    }(std::make_index_sequence<described::part_count>{});
  }
}

// ---- the layers of weights

template <class Layer, class F>
void visit_layer(const parameter_path& path, const F& f) {
  f(path, std::type_identity<Layer>{});
  if constexpr (is_block_of_parts<Layer>) {
    using described = typename Layer::described;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit_layer<typename described::template part_layer<I>>(
           path / described::template part_name<I>::text, f),
       ...);
    }(std::make_index_sequence<described::part_count>{});
  }
}

template <class Layer, class W, class F>
void visit_layers(const parameter_path& path, const W& w, const F& f) {
  if constexpr (several_weights<W>) {
    for (std::size_t i = 0; i < count_of<W>(); ++i)
      visit_layers<layer_in_stack<Layer>>(path / i, w[i], f);
  } else if constexpr (!std::is_void_v<Layer>) {
    visit_layer<Layer>(path, f);
  } else if constexpr (names_its_parts<W> && !parts_of_layer<W>) {
    with_members<parts_named<W>>(w, [&](const auto&... part) {
      std::size_t i = 0;
      [&]<class... Of>(layer_list<Of...>) {
        (visit_layers<Of>(path / W::part_names[i++], part, f), ...);
      }(typename listed_layers<W>::list{});
    });
  }
}

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

// ---- the comparison

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
    if (!is_known) put_number(number);
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
  // 12, 0.125 as 1.25e-1.
  constexpr void put_number(double number) noexcept {
    if (number < 1e15 && number == static_cast<double>(static_cast<std::uint64_t>(number))) {
      type.put(static_cast<std::uint64_t>(number));
      return;
    }
    int exponent = 0;
    for (; number < 0.9999995; ++exponent) number *= 10;
    for (; number >= 9.999995; --exponent) number /= 10;
    const auto digits = static_cast<unsigned long>(number * 100000 + 0.5);
    type.put(digits / 100000);
    unsigned long rest = digits % 100000, unit = 10000;
    if (rest != 0) type.put('.');
    for (; rest != 0; rest %= unit, unit /= 10) type.put(rest / unit);
    if (exponent == 0) return;
    type.put(exponent > 0 ? "e-" : "e");
    type.put(static_cast<unsigned>(exponent > 0 ? exponent : -exponent));
  }

  const stored_options& stored_;
};

// A piece of the file without characters that control a terminal.
inline void put_stored(load_result& out, const stored_piece& piece) {
  sentence_buffer text;
  put_part(text, tensor_name(static_cast<const char*>(piece.chars)));
  out.put(text.chars);
}

// A line if no layer has this option, or the first of them has a different value.
template <class Weights>
void compare_option(load_result& out, const Weights& w, const stored_options& stored,
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
  if (has_path) return;
  out.begin();
  out.put("the file has options of ");
  put_stored(out, stored.path);
  out.put(has_layers ? ", but no layer in part_layers has that name\n"
                     : ", but the weights name no layers; add using part_layers = "
                       "std::tuple<...> to their struct, with the layer of each member\n");
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
    // Few lines are shown: the rest would only take time.
    while (out.problems() < most_problems && stored.next())
      compare_option(out, w, stored, tables, count);
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
