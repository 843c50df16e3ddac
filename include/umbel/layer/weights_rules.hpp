// SPDX-License-Identifier: BSL-1.0
// Weights given part by part, weights_view(q, k, v, o): a wrong part is refused, with its name and
// what it maps. See weights.hpp for the weights.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

template <class... Part>
struct parts_list {};

// The number of parts: a struct of portable has them as arguments.
template <class Weights>
inline constexpr std::size_t parts_in = 0;
template <template <class...> class Parts, class... Part>
inline constexpr std::size_t parts_in<Parts<Part...>> = sizeof...(Part);
template <template <class...> class Parts, class... View>
struct weights_view;
template <template <class...> class Parts, class... View>
inline constexpr std::size_t parts_in<weights_view<Parts, View...>> = sizeof...(View);

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace say {
struct but_the_layer_needs;
struct of_the_weights_must_be_weights_for;
struct part;
struct weights;
}  // namespace say
UMBEL_SAYS(must_be_built_from_weights_before_it_is_called_but_got_the_tensor,
           "must be built from weights before it is called, layer{w}(x), but got the tensor");

UMBEL_SAYS(the_weights_are_a_single_tensor_argument_of_the_formula_so_pass_a_struct_that_has_them,
           "the weights are a tensor argument of the formula, which a layer cannot borrow; pass a "
           "struct that has them and write layer{w.table}");
UMBEL_SAYS(x_times_weights, "x * weights");
UMBEL_SAYS(the_tensor_goes_on_the_left_of_its_weights,
           "the tensor goes on the left of *, its weights on the right");
UMBEL_SAYS(got_a_bias_but_the_layer_has_none_so_add_bias_true,
           "got a bias but the layer has none; add bias<true> to its type");
UMBEL_SAYS(got_no_bias_but_the_layer_has_one_so_pass_weight_and_bias,
           "got no bias but the layer has one; pass both, {weight, bias}");
UMBEL_SAYS(they_are_for, "; they are for");
UMBEL_SAYS(they_have_type, "; they are");
UMBEL_SAYS(got_its_weights_for_the_layer_so_write_x_pipe_layer_of_w,
           "got its weights for the layer; write x | layer{w}");
UMBEL_SAYS(needs_times_not_a_pipe, "needs *, not |");

template <class Wanted, class... Given>
inline constexpr bool are_parts = false;
template <class... Wanted, class... Given>
  requires(sizeof...(Wanted) == sizeof...(Given))
inline constexpr bool are_parts<portable::parts_list<Wanted...>, Given...> =
    (std::is_convertible_v<const Given&, Wanted> && ...);

// Several parts that are not those of Wanted, a parts_list.
template <class Wanted, class... Given>
concept foreign_parts = sizeof...(Given) > 1 && !are_parts<Wanted, Given...>;

namespace rules {

template <class Layer, class Sequence, class Wanted, class... Given>
struct parts_rule;
// Layer: its name in sentences. Wanted: a parts_list.
template <class Layer, class Wanted, class... Given>
using parts_of_weights =
    typename parts_rule<Layer, std::index_sequence_for<Given...>, Wanted, Given...>::type;

// The axes of a matrix or vector; for the weights of a layer, the layer's name.
template <class Part>
struct what_a_part_is_for {
  using type = typename Part::layer_name;
};
template <class Part>
  requires requires { typename Part::map; }
struct what_a_part_is_for<Part> {
  using type = shape<typename Part::map::in::plain, typename Part::map::out::plain>;
};
template <class Part>
  requires requires { typename Part::owned::layout; }
struct what_a_part_is_for<Part> {
  using type = typename Part::owned::layout::axes;
};

template <class Part>
struct axes_of_vector {};
template <class Part>
  requires(!tensor_like<Part> && requires { typename Part::owned::layout; })
struct axes_of_vector<Part> {
  using type = typename Part::owned::layout::axes;
};
template <tensor_like Part>
struct axes_of_vector<Part> {
  using type = typename Part::layout::axes;
};

// If a wrong part is itself a layer, the sentence names the part of it that differs.
template <class Given, class Wanted>
struct parts_of_one_layer {
  static constexpr bool value = false;
};
template <template <class...> class Parts, class... Given, class... Wanted>
  requires(sizeof...(Given) == sizeof...(Wanted))
struct parts_of_one_layer<Parts<Given...>, portable::weights_view<Parts, Wanted...>> {
  static constexpr bool value = true;
  template <class Layer>
  using rule = parts_of_weights<Layer, portable::parts_list<Wanted...>, Given...>;
};
template <template <class...> class Parts, class... Given, class... Wanted>
  requires(sizeof...(Given) == sizeof...(Wanted))
struct parts_of_one_layer<portable::weights_view<Parts, Given...>,
                          portable::weights_view<Parts, Wanted...>>
    : parts_of_one_layer<Parts<Given...>, portable::weights_view<Parts, Wanted...>> {};

template <class Layer, std::size_t Number, class Given, class Wanted>
struct part_rule {
  using type =
      verdict<std::is_convertible_v<const Given&, Wanted>, Layer, say::part, number<Number>,
              say::of_the_weights_must_be_weights_for, typename what_a_part_is_for<Wanted>::type>;
};
template <class Layer, std::size_t Number, class Given, class Wanted>
  requires requires {
    typename axes_of_vector<Given>::type;
    typename axes_of_vector<Wanted>::type;
  }
struct part_rule<Layer, Number, Given, Wanted> {
  using given = typename axes_of_vector<Given>::type;
  using wanted = typename axes_of_vector<Wanted>::type;
  using type =
      first_error<verdict<std::is_same_v<given, wanted>, Layer, say::part, number<Number>,
                          struct of_the_weights_has, given, say::but_the_layer_needs, wanted>,
                  verdict<std::is_convertible_v<const Given&, Wanted>, Layer, say::part,
                          number<Number>, say::of_the_weights_must_be_weights_for, wanted>>;
};
template <class Layer, std::size_t Number, class Given, class Wanted>
  requires parts_of_one_layer<Given, Wanted>::value
struct part_rule<Layer, Number, Given, Wanted> {
  using type =
      typename parts_of_one_layer<Given, Wanted>::template rule<typename Wanted::layer_name>;
};
// The weights of such a layer with other options, hence other parts.
template <class Layer, std::size_t Number, class Given, class Wanted>
  requires(!parts_of_one_layer<Given, Wanted>::value &&
           requires {
             requires std::is_same_v<typename Given::layer_name, typename Wanted::layer_name>;
           })
struct part_rule<Layer, Number, Given, Wanted> {
  using type = verdict<std::is_convertible_v<const Given&, Wanted>, typename Wanted::layer_name,
                       say::the_weights_do_not_match_this_layer_and_its_options>;
};
template <class Layer, std::size_t Number, class Given, class Wanted>
  requires requires {
    typename Given::map;
    typename Wanted::map;
  }
struct part_rule<Layer, Number, Given, Wanted> {
  template <class Part>
  using axes = shape<typename Part::map::in::plain, typename Part::map::out::plain>;
  using type = first_error<
      verdict<std::is_same_v<axes<Given>, axes<Wanted>>, Layer, say::part, number<Number>,
              struct of_the_weights_maps, axes<Given>, say::but_the_layer_needs, axes<Wanted>>,
      verdict<Given::map::has_bias == Wanted::map::has_bias, Layer, say::part, number<Number>,
              std::conditional_t<Given::map::has_bias,
                                 struct of_the_weights_has_a_bias_but_the_layer_has_none,
                                 struct of_the_weights_has_no_bias_but_the_layer_has_one>>,
      verdict<std::is_same_v<typename Given::map::value_type, typename Wanted::map::value_type>,
              Layer, say::part, number<Number>, struct of_the_weights_has_type,
              element<typename Given::map::value_type>, say::but_the_layer_has_type,
              element<typename Wanted::map::value_type>>>;
};

template <class Layer, class Sequence, class Wanted, class... Given>
struct parts_rule {
  template <class... Parts>
  static constexpr std::size_t count(portable::parts_list<Parts...>) {
    return sizeof...(Parts);
  }
  using type = verdict<false, Layer, struct the_weights_have, number<sizeof...(Given)>,
                       struct parts_but_the_layer_needs, number<count(Wanted{})>>;
};
template <class Layer, std::size_t... I, class... Wanted, class... Given>
  requires(sizeof...(Wanted) == sizeof...(Given))
struct parts_rule<Layer, std::index_sequence<I...>, portable::parts_list<Wanted...>, Given...> {
  using type = first_error<typename part_rule<Layer, I + 1, Given, Wanted>::type...>;
};

// Arrays or pointers for one map. W: a type that depends on the arguments.
template <bool Given, class W>
using bias_of_a_map =
    verdict<(sizeof(W) == 0), say::weights,
            std::conditional_t<Given, say::got_a_bias_but_the_layer_has_none_so_add_bias_true,
                               say::got_no_bias_but_the_layer_has_one_so_pass_weight_and_bias>>;

// A layer's argument for its weights, of type View: the first difference that both types state.
template <class Layer, class View, class Given>
struct given_weights_rule {
  using type = verdict<false, Layer, say::the_weights_do_not_match_this_layer_and_its_options,
                       say::they_have_type, type_of_given<Given>>;
};
// attention(x): the tensor that it should be called with.
template <class Layer, class View, class Given>
  requires shaped<Given>
struct given_weights_rule<Layer, View, Given> {
  using type =
      verdict<false, Layer, say::must_be_built_from_weights_before_it_is_called_but_got_the_tensor,
              typename layout_of<Given>::axes>;
};
// The same for a table in a formula, reported when its graph is made: calls trace it again.
template <class Layer, class View, traced Given>
  requires(shaped<Given> &&
           std::is_same_v<typename layout_of<Given>::axes, typename what_a_part_is_for<View>::type>)
struct given_weights_rule<Layer, View, Given> {
  using type = verdict<
      Given::traced_before, Layer,
      say::the_weights_are_a_single_tensor_argument_of_the_formula_so_pass_a_struct_that_has_them>;
};
template <class Layer, class View, class Given>
  requires(!parts_of_one_layer<Given, View>::value && requires { typename Given::layer_name; })
struct given_weights_rule<Layer, View, Given> {
  using without_name = verdict<!std::is_same_v<typename Given::layer_name, Layer>, Layer,
                               say::the_weights_do_not_match_this_layer_and_its_options>;
  using type =
      first_error<without_name,
                  verdict<false, Layer, say::the_weights_do_not_match_this_layer_and_its_options,
                          say::they_are_for, typename Given::layer_name>>;
};
template <class Layer, class View, class Given>
  requires requires {
    typename Given::map;
    typename View::map;
  }
struct given_weights_rule<Layer, View, Given> {
  template <class Part>
  using axes = shape<typename Part::map::in::plain, typename Part::map::out::plain>;
  using type =
      first_error<verdict<std::is_same_v<axes<Given>, axes<View>>, Layer, struct the_weights_map,
                          axes<Given>, say::but_the_layer_needs, axes<View>>,
                  verdict<false, Layer, say::the_weights_do_not_match_this_layer_and_its_options>>;
};
template <class Layer, class View, class Given>
  requires parts_of_one_layer<Given, View>::value
struct given_weights_rule<Layer, View, Given> {
  using type =
      first_error<typename parts_of_one_layer<Given, View>::template rule<Layer>,
                  verdict<false, Layer, say::the_weights_do_not_match_this_layer_and_its_options>>;
};
template <class Layer, class View, class... Given>
struct weights_rule {
  using type = verdict<false, Layer, say::construct_it_from_one_object_its_weights>;
};
template <class Layer, class View, class Given>
struct weights_rule<Layer, View, Given> : given_weights_rule<Layer, View, Given> {};
// A layer borrows its weights, which must be those of this layer.
template <class Layer, class View, class... Given>
using weights_of_this_layer = typename weights_rule<Layer, View, Given...>::type;

}  // namespace rules
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
