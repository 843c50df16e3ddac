// SPDX-License-Identifier: BSL-1.0
// The structure of weights: which types are listed by name, the members of a struct, their names.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/text/utf8.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// Weights of x W + b, owned or borrowed.
template <class W>
concept map_of_weights = requires(const W& w) {
  typename W::map;
  w.weight;
};
template <class W>
concept vector_of_weights = requires(const W& w) {
  typename W::owned::layout;
  w.data();
};
// encoder::weights w[4], std::array<encoder::weights, 4>, layer_stack<encoder, 4>::weights.
template <class W>
concept several_weights = !tensor_like<W> && !vector_of_weights<W> && requires(const W& w) {
  requires std::is_array_v<W> || requires { std::tuple_size<W>::value; } || of_several_layers<W>;
  requires std::is_class_v<std::remove_cvref_t<decltype(w[0])>>;
};
template <class W>
concept layer_of_weights = requires { typename W::weights; } && !names_its_parts<W> &&
                           !std::is_same_v<typename W::weights, W>;  // a struct with this name
// From this library, not a user's struct.
template <class W>
concept parts_of_layer = requires { typename W::layer_name; };
template <class W>
concept listed_by_name = names_its_parts<W> || map_of_weights<W> || vector_of_weights<W> ||
                         tensor_like<W> || several_weights<W>;
// (A user's struct may have a type `layer`.)
template <class W>
concept packed_parameters = requires(const W& w) {
  typename W::layer;
  w.get_weights();
} || requires(const W& w) { w.panels; } || (parts_of_layer<W> && !listed_by_name<W>);

// T: the element type, const if the weights are.
template <class W, class T>
using as_const_as = std::conditional_t<std::is_const_v<W>, const T, T>;

template <class W>
struct map_views {
  using map = typename W::map;
  using T = std::remove_reference_t<decltype(std::declval<W&>().weight[0])>;
  using element = std::conditional_t<std::is_pointer_v<decltype(W::weight)>, T, as_const_as<W, T>>;
  using out = axes::out_features<map::out::size>;
  using weight = view<element, axes::in_features<map::in::size>, out>;
  using bias = view<element, out>;
};
template <class W>
using vector_view = view_of<const typename W::owned::value_type, typename W::owned::layout>;

template <class W>
constexpr std::size_t count_of() {
  if constexpr (std::is_array_v<W>)
    return std::extent_v<W>;
  else if constexpr (requires { std::tuple_size<W>::value; })
    return std::tuple_size<W>::value;
  else
    return W::size();
}

// ---- the layers that a struct lists: using part_layers = std::tuple<block, void>
template <class... Layer>
struct layer_list {};
// Without part_layers, or if they aren't a list: void for each member.
template <class Members>
struct no_layers;
template <std::size_t... I>
struct no_layers<std::index_sequence<I...>> {
  template <std::size_t>
  using none = void;
  using type = layer_list<none<I>...>;
};
template <class List>
inline constexpr bool is_list_of_layers = false;
template <template <class...> class List, class... Layer>
inline constexpr bool is_list_of_layers<List<Layer...>> = true;
template <class List>
struct as_layer_list;
template <template <class...> class List, class... Layer>
struct as_layer_list<List<Layer...>> {
  static constexpr std::size_t size = sizeof...(Layer);
  using type = layer_list<Layer...>;
};
template <class W>
struct listed_layers {
  using list = typename no_layers<std::make_index_sequence<parts_named<W>>>::type;
};
template <class W>
  requires is_list_of_layers<typename W::part_layers>
struct listed_layers<W> {
  using list = typename as_layer_list<typename W::part_layers>::type;
};
// The layer of each weights in an array or a stack.
template <class Layer>
struct layer_of_several {
  using type = Layer;
};
template <class Layer>
  requires requires {
    typename Layer::layer;
    Layer::count;
  }
struct layer_of_several<Layer> {
  using type = typename Layer::layer;
};
template <class Layer>
using layer_in_stack = typename layer_of_several<Layer>::type;
// A layer that is listed once stands for any number.
template <class Layer, class W>
inline constexpr bool holds_as_many = true;
template <class Layer, class W>
  requires(Layer::count != count_of<W>())
inline constexpr bool holds_as_many<Layer, W> = false;
// Are W, a member or the elements of one, the weights of the layer?
template <class Layer, class W>
constexpr bool has_weights_of() {
  if constexpr (std::is_void_v<Layer>)
    return true;
  else if constexpr (several_weights<W>)
    return holds_as_many<Layer, W> &&
           has_weights_of<layer_in_stack<Layer>,
                          std::remove_cvref_t<decltype(std::declval<W&>()[0])>>();
  else if constexpr (requires { requires std::is_same_v<typename Layer::weights_view, W>; })
    return true;
  else if constexpr (requires { typename Layer::weights; })
    return std::is_same_v<typename Layer::weights, W>;
  else
    return false;
}

// ---- the members of a struct and their names
inline constexpr std::size_t longest_path_there_may_be = 127;

template <class W>
inline constexpr std::size_t members_there = 0;
template <names_its_parts W>
  requires std::is_aggregate_v<W>
inline constexpr std::size_t members_there<W> = members_in<W>();

// A base with members in addition to those of the struct, which C++ can't decompose. It initializes
// an aggregate first, and converts to nothing else. (With standard layout, only one has members.)
template <class W>
struct base_of {
  template <class Base>
    requires(std::is_base_of_v<Base, W> && !std::is_same_v<Base, W>)
  constexpr operator Base&() const noexcept;
};
template <class W>
concept has_a_base = !std::is_standard_layout_v<W> && requires { W{base_of<W>{}}; };

// Text known at compile time. (An argument: in a class template, clang 14 needs names to be used.)
template <const auto& Names>
inline constexpr bool is_constant_text =
    requires { typename std::bool_constant<(Names[0] == nullptr)>; };
template <class W>
concept has_constant_names = std::is_convertible_v<decltype(W::part_names[0]), const char*> &&
                             requires { requires is_constant_text<W::part_names>; };

enum class name_mistake : unsigned char { none, null, empty, dot, no_utf_8, metadata, twice };

constexpr bool is_same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}
constexpr name_mistake mistake_in_name(const char* name) {
  if (name == nullptr) return name_mistake::null;
  if (*name == '\0') return name_mistake::empty;
  if (is_same_text(name, "__metadata__")) return name_mistake::metadata;
  unsigned char bytes[128]{};
  std::size_t size = 0;
  for (; name[size] != '\0'; ++size) {
    if (name[size] == '.') return name_mistake::dot;
    if (size < sizeof(bytes)) bytes[size] = static_cast<unsigned char>(name[size]);
  }
  if (size > sizeof(bytes)) return name_mistake::none;  // its path is too long
  return end_of_utf8(bytes, bytes + size) == bytes + size ? name_mistake::none
                                                          : name_mistake::no_utf_8;
}

struct found_mistake {
  name_mistake kind = name_mistake::none;
  std::size_t item = 0;  // counted from 1
};
template <class W>
constexpr found_mistake find_mistake_in_names() {
  for (std::size_t i = 0; i < parts_named<W>; ++i) {
    if (const name_mistake kind = mistake_in_name(W::part_names[i]); kind != name_mistake::none)
      return {kind, i + 1};
    for (std::size_t j = 0; j < i; ++j)
      if (is_same_text(W::part_names[i], W::part_names[j])) return {name_mistake::twice, i + 1};
  }
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
