// SPDX-License-Identifier: BSL-1.0
// Rules of listing by name (parameters.hpp): one verdict for all weights of a call, so that each
// mistake is one error that names the user's operation.
#pragma once

#include <umbel/config.hpp>
#include <umbel/parameters/members.hpp>
#include <umbel/parameters/words.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
UMBEL_SAYS(a_layer_borrows_its_weights_so_pass_the_weights_themselves,
           "a layer borrows its weights; pass the weights themselves, of type layer::weights");
UMBEL_SAYS(a_path_has_more_than_127_characters_so_shorten_part_names,
           "a path has more than 127 characters; shorten part_names");
UMBEL_SAYS(expects_the_weights_then_a_function_so_write_for_each_parameter_of_w_and_f,
           "expects the weights, then a function; write for_each_parameter(w, f)");
UMBEL_SAYS(but_part_names_has, "but part_names has");
UMBEL_SAYS(members_but_part_names_has, "members, but part_names has");
UMBEL_SAYS(of_part_names_has_a_dot_which_separates_the_names_of_a_path,
           "of part_names has a dot, which separates the names of a path");
UMBEL_SAYS(of_part_names_is_a_null_pointer, "of part_names is a null pointer");
UMBEL_SAYS(of_part_names_is_empty, "of part_names is empty");
UMBEL_SAYS(of_part_names_is_metadata_in_underscores_which_safetensors_reserves,
           "of part_names is __metadata__, which safetensors reserves");
UMBEL_SAYS(of_part_names_is_not_utf_8, "of part_names is not UTF-8");
UMBEL_SAYS(of_part_names_is_listed_twice, "of part_names is listed twice");
UMBEL_SAYS(
    part_names_is_not_constant_text_so_write_static_constexpr_const_char,
    "part_names is not constant text; write static constexpr const char* part_names[] = {...}");
UMBEL_SAYS(expects_weights_tensors_or_structs_of_them_not,
           "expects weights, tensors or structs of them, not");
UMBEL_SAYS(the_struct_has_a_base_so_make_it_a_member, "the struct has a base; make it a member");
UMBEL_SAYS(the_struct_has_a_constructor_or_private_members_so_leave_them_out,
           "the struct has a constructor or private members; leave them out");
UMBEL_SAYS(the_struct_does_not_name_its_members_so_add_part_names_in_their_order,
           "the struct does not name its members; add static constexpr const char* part_names[] = "
           "{...}, in their order");
UMBEL_SAYS(the_struct_has_more_than_16_members_so_group_some_in_a_struct,
           "the struct has more than 16 members; group some of them in another struct");
UMBEL_SAYS(part_layers_has_the_length, "part_layers has the length");
UMBEL_SAYS(of_part_layers_has_other_weights_than_the_member,
           "of part_layers has other weights than its member");
UMBEL_SAYS(
    part_layers_is_not_a_list_so_write_using_part_layers_std_tuple,
    "part_layers is not a list of types; write using part_layers = std::tuple<...>, with the "
    "layer of each member, or void");
UMBEL_SAYS(packed_weights_have_no_parameters_so_pass_the_unpacked_weights,
           "packed weights have no parameters; pass the unpacked weights");

namespace rules {

template <class Operation, class W>
struct part_names {
  static constexpr found_mistake found = find_mistake_in_names<W>();
  template <name_mistake Kind, class Phrase>
  using is_not = verdict<found.kind != Kind, Operation, say::item, number<found.item>, Phrase>;
  using type = first_error<
      is_not<name_mistake::null, say::of_part_names_is_a_null_pointer>,
      is_not<name_mistake::empty, say::of_part_names_is_empty>,
      is_not<name_mistake::dot, say::of_part_names_has_a_dot_which_separates_the_names_of_a_path>,
      is_not<name_mistake::no_utf_8, say::of_part_names_is_not_utf_8>,
      is_not<name_mistake::metadata,
             say::of_part_names_is_metadata_in_underscores_which_safetensors_reserves>,
      is_not<name_mistake::twice, say::of_part_names_is_listed_twice>>;
};

template <class Operation, class W>
struct struct_of_weights {
  using type = first_error<
      verdict<has_constant_names<W>, Operation,
              say::part_names_is_not_constant_text_so_write_static_constexpr_const_char>,
      verdict<std::is_aggregate_v<W>, Operation,
              say::the_struct_has_a_constructor_or_private_members_so_leave_them_out>,
      verdict<!has_a_base<W>, Operation, say::the_struct_has_a_base_so_make_it_a_member>,
      verdict<(parts_named<W> <= most_members), Operation,
              say::the_struct_has_more_than_16_members_so_group_some_in_a_struct>,
      verdict<members_there<W> == 0 || members_there<W> == parts_named<W>, Operation,
              struct the_struct_has, number<members_there<W>>, say::members_but_part_names_has,
              number<parts_named<W>>>>;
};

template <class Operation, class W>
using listable = first_error<
    verdict<!layer_of_weights<W>, Operation,
            say::a_layer_borrows_its_weights_so_pass_the_weights_themselves>,
    verdict<!packed_parameters<W>, Operation,
            say::packed_weights_have_no_parameters_so_pass_the_unpacked_weights>,
    verdict<listed_by_name<W> || std::is_class_v<std::remove_all_extents_t<W>>, Operation,
            say::expects_weights_tensors_or_structs_of_them_not, type_of_given<W>>,
    verdict<listed_by_name<W>, Operation,
            say::the_struct_does_not_name_its_members_so_add_part_names_in_their_order>>;

// The layers that a struct lists.
template <class Operation, class Numbers, class... Layer>
struct layer_of_each_member;
template <class Operation, std::size_t... I, class... Layer>
struct layer_of_each_member<Operation, std::index_sequence<I...>, Layer...> {
  template <class... Part>
  constexpr auto operator()(Part&...) const {
    return first_error<
        verdict<has_weights_of<Layer, std::remove_const_t<Part>>(), Operation, say::item,
                number<I + 1>, say::of_part_layers_has_other_weights_than_the_member>...>{};
  }
};
template <class Operation, class W, class... Layer>
constexpr auto layers_of_members(layer_list<Layer...>) {
  using fit = layer_of_each_member<Operation, std::index_sequence_for<Layer...>, Layer...>;
  if constexpr (sizeof...(Layer) != parts_named<W>)
    return verdict<false, Operation, say::part_layers_has_the_length, number<sizeof...(Layer)>,
                   say::but_part_names_has, number<parts_named<W>>>{};
  else
    return decltype(with_members<parts_named<W>>(std::declval<W&>(), fit{})){};
}
template <class Operation, class W>
constexpr auto part_layers() {
  if constexpr (requires { requires is_list_of_layers<typename W::part_layers>; })
    return layers_of_members<Operation, W>(typename listed_layers<W>::list{});
  else
    return verdict<!requires { typename W::part_layers; } && !requires { W::part_layers; },
                   Operation,
                   say::part_layers_is_not_a_list_so_write_using_part_layers_std_tuple>{};
}

// W, without its parts.
template <class Operation, class W>
constexpr auto weights_by_themselves() {
  using kind = listable<Operation, W>;
  if constexpr (!kind::ok) {
    return kind{};
  } else if constexpr (names_its_parts<W> && !parts_of_layer<W>) {
    using shape = typename struct_of_weights<Operation, W>::type;
    if constexpr (!shape::ok)
      return shape{};
    else
      return first_error<typename part_names<Operation, W>::type,
                         decltype(part_layers<Operation, W>())>{};
  } else {
    return accepted{};
  }
}

// W and all its parts. Ask::operation: the user's; Ask::of<view>: the verdict on a parameter.
template <class Ask, class W>
constexpr auto weights_and_parts();

template <class Ask>
struct of_members {
  template <class... Part>
  constexpr auto operator()(Part&...) const {
    return first_error<decltype(weights_and_parts<Ask, Part>())..., accepted>{};
  }
};

template <class Ask, class W>
constexpr auto weights_and_parts() {
  using plain = std::remove_const_t<W>;
  using itself = decltype(weights_by_themselves<typename Ask::operation, plain>());
  if constexpr (!itself::ok) {
    return itself{};
  } else if constexpr (tensor_like<plain>) {
    return typename Ask::template of<decltype(as_view(std::declval<W&>()))>{};
  } else if constexpr (vector_of_weights<plain>) {
    return typename Ask::template of<vector_view<plain>>{};
  } else if constexpr (map_of_weights<plain>) {
    using weight = typename Ask::template of<typename map_views<W>::weight>;
    if constexpr (!weight::ok || !plain::map::has_bias)
      return weight{};
    else
      return typename Ask::template of<typename map_views<W>::bias>{};
  } else if constexpr (several_weights<plain>) {
    return weights_and_parts<Ask, std::remove_reference_t<decltype(std::declval<W&>()[0])>>();
  } else {
    return decltype(with_members<parts_named<plain>>(std::declval<W&>(), of_members<Ask>{})){};
  }
}

// The length of the longest path, with a dot before each name; for weights that can be listed.
template <class W>
constexpr std::size_t longest_path();

template <class W>
struct longest_of_members {
  template <class... Part>
  constexpr auto operator()(Part&...) const {
    constexpr std::size_t below[] = {longest_path<std::remove_const_t<Part>>()...};
    constexpr std::size_t longest = [] {
      std::size_t most = 0;
      for (std::size_t i = 0; i < sizeof...(Part); ++i) {
        std::size_t size = 1 + below[i];  // g++ 12 can't call strlen for a member array
        for (const char* c = W::part_names[i]; *c != '\0'; ++c) ++size;
        most = size > most ? size : most;
      }
      return most;
    }();
    return std::integral_constant<std::size_t, longest>{};
  }
};

template <class W>
constexpr std::size_t longest_path() {
  if constexpr (tensor_like<W> || vector_of_weights<W>) {
    return 0;
  } else if constexpr (map_of_weights<W>) {
    return sizeof(".weight") - 1;
  } else if constexpr (several_weights<W>) {
    std::size_t size = 2;
    for (std::size_t last = count_of<W>() - 1; last > 9; last /= 10) ++size;
    return size + longest_path<std::remove_cvref_t<decltype(std::declval<W&>()[0])>>();
  } else {
    return decltype(with_members<parts_named<W>>(std::declval<W&>(),
                                                 longest_of_members<W>{}))::value;
  }
}

template <class Ask, class W>
constexpr auto parameters_of() {
  using all = decltype(weights_and_parts<Ask, W>());
  if constexpr (all::ok)
    return verdict<(longest_path<std::remove_const_t<W>>() <= 1 + longest_path_there_may_be),
                   typename Ask::operation,
                   say::a_path_has_more_than_127_characters_so_shorten_part_names>{};
  else
    return all{};
}
// for_each_parameter(f, w): the weights come first.
template <class W, class F>
using weights_first =
    verdict<listed_by_name<W> || !listed_by_name<F>, say::for_each_parameter,
            say::expects_the_weights_then_a_function_so_write_for_each_parameter_of_w_and_f>;
// For all weights of a call, W, const if they are.
template <class Ask, class W>
using parameters = decltype(parameters_of<Ask, W>());

}  // namespace rules
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
