// SPDX-License-Identifier: BSL-1.0
// The options of the layers that a struct of weights lists next to its members. save writes them
// into the file (stored_options.hpp), and load compares them (compare_options.hpp).
//
//   struct model_weights {
//     static constexpr const char* part_names[] = {"encoder", "head"};
//     using part_layers = std::tuple<block, classifier>;
//     block::weights encoder[4];
//     classifier::weights head;
//   };
#pragma once

#include <umbel/config.hpp>

#include <umbel/layer/computing.hpp>
#include <umbel/parameters/parameters.hpp>

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

// The same for a layer; for a block without those of its parts.
template <class Layer, class F>
constexpr void own_options_of(const F& f) {
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
  }
}
// With those of its parts.
template <class Layer, class F>
constexpr void options_of_layer(const F& f) {
  own_options_of<Layer>(f);
  if constexpr (is_block_of_parts<Layer>) {
    using described = typename Layer::described;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (options_of_layer<typename described::template part_layer<I>>(f), ...);
    }(std::make_index_sequence<described::part_count>{});
  }
}

// ---- the layers of weights

// Calls f(path, std::type_identity<Layer>) with a layer and its parts.
template <class Layer, class F>
constexpr void visit_layer(const parameter_path& path, const F& f) {
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

// The same with all layers in weights; of several, with each, or with one whose number is *.
template <class Layer, bool Stars = false, class W, class F>
constexpr void visit_layers(const parameter_path& path, const W& w, const F& f) {
  if constexpr (several_weights<W>) {
    if constexpr (Stars)
      visit_layers<layer_in_stack<Layer>, Stars>(path / "*", w[0], f);
    else
      for (std::size_t i = 0; i < count_of<W>(); ++i)
        visit_layers<layer_in_stack<Layer>>(path / i, w[i], f);
  } else if constexpr (!std::is_void_v<Layer>) {
    visit_layer<Layer>(path, f);
  } else if constexpr (names_its_parts<W> && !parts_of_layer<W>) {
    with_members<parts_named<W>>(w, [&](const auto&... part) {
      std::size_t i = 0;
      [&]<class... Of>(layer_list<Of...>) {
        (visit_layers<Of, Stars>(path / W::part_names[i++], part, f), ...);
      }(typename listed_layers<W>::list{});
    });
  }
}

// ---- as text

// 12, 0.125 as 1.25e-1.
template <class Out>
constexpr void put_number(Out& out, double number) {
  const auto digit = [&](std::uint64_t d) { out.put(static_cast<char>('0' + d)); };
  const auto whole = [&](const auto& self, std::uint64_t n) -> void {
    if (n > 9) self(self, n / 10);
    digit(n % 10);
  };
  if (number < 1e15 && number == static_cast<double>(static_cast<std::uint64_t>(number)))
    return whole(whole, static_cast<std::uint64_t>(number));
  int exponent = 0;
  for (; number < 0.9999995; ++exponent) number *= 10;
  for (; number >= 9.999995; --exponent) number /= 10;
  const auto digits = static_cast<std::uint64_t>(number * 100000 + 0.5);
  digit(digits / 100000);
  std::uint64_t rest = digits % 100000, unit = 10000;
  if (rest != 0) out.put('.');
  for (; rest != 0; rest %= unit, unit /= 10) digit(rest / unit);
  if (exponent == 0) return;
  out.put(exponent > 0 ? "e-" : "e");
  whole(whole, static_cast<std::uint64_t>(exponent > 0 ? exponent : -exponent));
}

// May a path or a value be written? One that separates pieces or needs escapes may not: the name of
// a lambda as an activation.
constexpr bool is_plain(const char* text) {
  std::size_t size = 0;
  for (; text[size] != '\0'; ++size)
    for (const char* other = ":;,=\"\\ "; *other != '\0'; ++other)
      if (text[size] == *other || static_cast<unsigned char>(text[size]) < 0x20) return false;
  return size != 0 && size < 256;
}

// The metadata of a file for the layers in w: ,"umbel.options":"encoder.*: norm_first=true; ..."
template <class Out, class Weights>
constexpr void put_options(Out& out, const Weights& w) {
  bool has_one = false;
  const auto put_layer = [&]<class Layer>(const parameter_path& path, std::type_identity<Layer>) {
    if (!is_plain(path.c_str())) return;
    bool has_option = false;
    own_options_of<Layer>([&](const char* name, auto value) {
      if constexpr (!std::is_same_v<decltype(value), double>)
        if (!is_plain(value)) return;
      if (has_option)
        out.put(", ");
      else
        (out.put(has_one ? "; " : ",\"umbel.options\":\""), out.put(path.c_str()), out.put(": "));
      has_one = has_option = true;
      out.put(name);
      out.put('=');
      if constexpr (std::is_same_v<decltype(value), double>)
        put_number(out, value);
      else
        out.put(value);
    });
  };
  visit_layers<void, true>(parameter_path{}, w, put_layer);
  if (has_one) out.put('"');
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
