// SPDX-License-Identifier: BSL-1.0
// Packing all layers of a model that follow each other.
//
//   struct model {  // as many members as ranges, in the order of the forward pass
//     quantized<block> encoder;
//     quantized<last_norm> norm;
//   };
//   if (const pack_result packed = pack_model(m, weights, seen); !packed) ...
#pragma once

#include <tuple>
#include <umbel/config.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/quantized/quantized.hpp>
#include <umbel/quantized/ranges.hpp>
#include <umbel/quantized/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
UMBEL_SAYS(
    expects_a_struct_of_quantized_layers_then_their_weights_then_their_ranges_with_part_names,
    "expects a struct of quantized layers, then of their weights, then of their ranges; both with "
    "part_names");
UMBEL_SAYS(the_struct_of_layers_needs_one_member_for_each_of_the_ranges,
           "the struct of layers needs one member for each of the ranges, in their order");
UMBEL_SAYS(the_struct_of_weights_needs_one_member_for_each_layer_with_weights,
           "the struct of weights needs one member for each layer with weights, in their order");
UMBEL_SAYS(the_members_are_layers_or_arrays_of_layers_so_pack_a_struct_within_by_itself,
           "the members are layers or arrays of layers; call pack_model for each struct within the "
           "struct");
UMBEL_SAYS(arrays_of_layers_weights_and_ranges_differ_in_their_sizes,
           "arrays of layers, weights and ranges differ in their sizes");

namespace integers {

// Not constexpr: see this_range_is_missing.
template <auto Part>
void the_ranges_before_this_part_are_not_chained() noexcept {}

template <class Layer>
inline constexpr bool has_weights_to_pack = requires { typename Layer::weights_to_pack; };
template <class Layer, std::size_t Layers>
inline constexpr bool has_weights_to_pack<Layer[Layers]> = has_weights_to_pack<Layer>;

template <class Layers, class Others>
inline constexpr bool are_as_many = !std::is_array_v<Layers> || !std::is_array_v<Others> ||
                                    std::extent_v<Layers> == std::extent_v<Others>;

template <std::size_t I, class Tuple>
struct element_of_tuple {
  using type = void;
};
template <std::size_t I, class... Element>
  requires(I < sizeof...(Element))
struct element_of_tuple<I, std::tuple<Element...>> {
  using type = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<Element...>>>;
};
template <std::size_t I, class Tuple>
using element_or_none = typename element_of_tuple<I, Tuple>::type;

// That of calibrate if it is not given.
template <class Ranges>
constexpr float epsilon_of(const Ranges& seen, float given) noexcept {
  return given != 0 ? given : seen.epsilon() != 0 ? seen.epsilon() : 1e-5F;
}

template <class Layer, class Ranges, class Weights>
constexpr void pack_part(Layer& layer, const Ranges& seen, const Weights& w,
                         float epsilon) noexcept {
  if constexpr (std::is_array_v<Layer>)
    for (std::size_t i = 0; i < std::extent_v<Layer>; ++i)
      pack_part(layer[i], seen[i], w[i], epsilon);
  else if constexpr (takes_epsilon<typename Layer::layer>)
    static_cast<void>(layer.pack(
        w, seen, static_cast<typename Layer::layer::value_type>(epsilon_of(seen, epsilon))));
  else
    static_cast<void>(layer.pack(w, seen));
}

template <class Member>
constexpr bool holds_ranges() noexcept;
struct all_hold_ranges {
  template <class... Member>
  constexpr auto operator()(const Member&...) const noexcept {
    return std::bool_constant<(holds_ranges<Member>() && ...)>{};
  }
};
template <class Member>
constexpr bool holds_ranges() noexcept {
  if constexpr (std::is_array_v<Member>)
    return holds_ranges<std::remove_extent_t<Member>>();
  else if constexpr (names_its_parts<Member>)
    return decltype(with_members<parts_named<Member>>(std::declval<const Member&>(),
                                                      all_hold_ranges{}))::value;
  else
    return std::is_same_v<Member, range>;
}
template <class Ranges>
concept ranges_of_model = names_its_parts<Ranges> && holds_ranges<Ranges>();

template <class Model, class Ranges>
inline constexpr bool is_model_of =
    std::is_aggregate_v<Model> && members_in<Model>() == parts_named<Ranges>;
struct all_are_layers {
  template <class... Member>
  constexpr auto operator()(const Member&...) const noexcept {
    return std::bool_constant<(requires { typename std::remove_all_extents_t<Member>::ranges; } &&
                               ...)>{};
  }
};
template <class Model, class Ranges>
constexpr bool holds_layers() noexcept {
  if constexpr (is_model_of<Model, Ranges>)
    return decltype(with_members<parts_named<Ranges>>(std::declval<Model&>(),
                                                      all_are_layers{}))::value;
  else
    return true;
}

// Weights: a tuple of references. At I: the weights of layer I; past the end if it has none.
template <class... Layer, class Weights, class... Ranges>
constexpr void pack_parts(std::tuple<Layer&...> layers, const Weights& w,
                          const std::tuple<const Ranges&...>& seen, float epsilon) noexcept {
  constexpr bool has[] = {has_weights_to_pack<Layer>...};
  constexpr auto at = [](std::size_t layer) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < layer; ++i) before += has[i];
    return before;
  };
  constexpr std::size_t weighted = at(sizeof...(Layer));
  constexpr bool as_many = [at]<std::size_t... I>(std::index_sequence<I...>) {
    return (are_as_many<Layer, Ranges> && ...) &&
           ((!has[I] || are_as_many<Layer, element_or_none<at(I), Weights>>) && ...);
  }(std::make_index_sequence<sizeof...(Layer)>{});
  using verdict = first_error<
      detail::verdict<weighted == std::tuple_size_v<Weights>, say::pack_model,
                      say::the_struct_of_weights_needs_one_member_for_each_layer_with_weights>,
      detail::verdict<as_many, say::pack_model,
                      say::arrays_of_layers_weights_and_ranges_differ_in_their_sizes>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto pack = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
        if constexpr (has[J])
          pack_part(std::get<J>(layers), std::get<J>(seen), std::get<at(J)>(w), epsilon);
        else
          static_cast<void>(std::get<J>(layers).pack(std::get<J>(seen)));
      };
      (pack(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<sizeof...(Layer)>{});
}

// Names the first part whose input and the result before it have different ranges.
template <class Names, class... Ranges>
constexpr pack_result all_chained(const std::tuple<const Ranges&...>& seen) noexcept {
  pack_result found;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const auto check = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      if (!found || are_chained(std::get<J>(seen), std::get<J + 1>(seen))) return;
      constexpr auto part = range_name<name_size<Names, J + 1>()>(Names::part_names[J + 1]);
      the_ranges_before_this_part_are_not_chained<part>();
      found = pack_result::unchained(Names::part_names[J + 1]);
    };
    (check(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<sizeof...(Ranges) - 1>{});
  return found;
}

}  // namespace integers
}  // namespace detail

// Packs each layer of a model with its weights and ranges. Model: a struct of quantized layers, or
// arrays of them, in the order of the forward pass. Weights, Ranges: structs with part_names, in
// the same order. Layers without weights, such as quantized_mean, have no member in Weights.
// epsilon: of the norms among them; 0: for each that of calibrate.
//
// Nothing changes if a range is missing, if a norm was calibrated with a different epsilon, or if a
// layer's result and the next one's input have different ranges (chain_ranges makes them equal).
// The result names the range, the epsilon or the layer.
template <class Model, class Weights, class Ranges>
  requires(detail::names_its_parts<Weights> && detail::integers::ranges_of_model<Ranges>)
constexpr pack_result pack_model(Model& model, const Weights& weights, const Ranges& ranges,
                                 float epsilon = 0) noexcept {
  using namespace detail;
  using verdict = first_error<
      detail::verdict<integers::is_model_of<Model, Ranges>, say::pack_model,
                      say::the_struct_of_layers_needs_one_member_for_each_of_the_ranges>,
      detail::verdict<
          integers::holds_layers<Model, Ranges>(), say::pack_model,
          say::the_members_are_layers_or_arrays_of_layers_so_pack_a_struct_within_by_itself>>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  pack_result result = integers::all_seen(ranges, epsilon);
  if constexpr (verdict::ok) {
    const auto refer = [](auto&... member) { return std::tie(member...); };
    const auto seen = with_members<parts_named<Ranges>>(ranges, refer);
    if (result) result = integers::all_chained<Ranges>(seen);
    if (result)
      integers::pack_parts(with_members<parts_named<Ranges>>(model, refer),
                           with_members<parts_named<Weights>>(weights, refer), seen, epsilon);
  }
  return result;
}
template <class... Given>
constexpr pack_result pack_model(const Given&...) noexcept {
  using namespace detail;
  using verdict = verdict<
      (one_is_invalid<Given> || ...), say::pack_model,
      say::
          expects_a_struct_of_quantized_layers_then_their_weights_then_their_ranges_with_part_names>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
