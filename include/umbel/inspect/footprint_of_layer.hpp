// SPDX-License-Identifier: BSL-1.0
// The needs of a layer's call, from its arguments' types or from axes (footprint.hpp).
#pragma once

#include <umbel/attention/additive.hpp>
#include <umbel/attention/scaled_dot_product.hpp>
#include <umbel/block/decoder.hpp>
#include <umbel/block/embedding.hpp>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cache_of_blocks.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/inspect/call_footprint.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
struct footprint;
struct the_axis_of_the_memory_is_missing_after;
}  // namespace say
UMBEL_SAYS(takes_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments,
           "takes a layer, a cache or a formula; then the axes of a call, such as token<64>, or "
           "the types of its arguments");

namespace footprints {

// Its verdict, as in a call, and its steps: result, scratch, flops.
template <class Layer, class... X>
struct one_call {
  using verdict = detail::verdict<
      (sizeof...(X) > 99), say::footprint,
      say::
          takes_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments>;
};
template <class Forms, class... X>
struct call_of_forms;
template <class Forms, class X>
struct call_of_forms<Forms, X> {
  using verdict = typename Forms::template self<X, every_key, in_formula, by_value>::type;
  using steps = typename Forms::template self_steps<X>;
};
template <class Forms, class X, class Y, class Z>
struct call_of_forms<Forms, X, Y, Z> {
  using verdict = typename Forms::template cross<X, Y, Z, every_key, in_formula, by_value>::type;
  using steps = typename Forms::template cross_steps<X, Y, Z>;
};
template <is_multi_head Layer, tensor_like X>
struct one_call<Layer, X> : call_of_forms<multi_head_forms<Layer>, X> {};
template <is_multi_head Layer, tensor_like X, tensor_like Y, tensor_like Z>
struct one_call<Layer, X, Y, Z> : call_of_forms<multi_head_forms<Layer>, X, Y, Z> {};
template <class T, class Hidden, class ScoreHidden, class... Options, tensor_like X, tensor_like Y,
          tensor_like Z>
struct one_call<additive_attention<T, Hidden, ScoreHidden, Options...>, X, Y, Z>
    : call_of_forms<additive_forms<additive_attention<T, Hidden, ScoreHidden, Options...>>, X, Y,
                    Z> {};
template <class... Options, tensor_like Q, tensor_like K, tensor_like V>
struct one_call<scaled_dot_product_operation<Options...>, Q, K, V> {
  using verdict = first_error<rules::dot_product_options<Options...>, rules::dot_product<Q, K, V>>;
  struct steps : dot_product_call<Q, K, V> {
    using scratch = typename dot_product_call<Q, K, V>::workspace;
  };
};
template <is_of_parts Layer, tensor_like X>
struct one_call<Layer, X> {
  using verdict = typename Layer::template verdict_in_formula<X, every_key>;
  using steps = typename Layer::template steps_on<X>;
};
template <is_of_parts Layer, tensor_like X, tensor_like Memory>
struct one_call<Layer, X, Memory> {
  using verdict = typename Layer::template shapes_fit<X, Memory>::type;
  using steps = typename Layer::template steps_on<X, Memory>;
};
template <is_stack Layer, tensor_like... X>
struct one_call<Layer, X...> : one_call<typename Layer::layer, X...> {};
template <class T, class Hidden, class FeedForward, class... Options, tensor_like X>
struct one_call<feed_forward<T, Hidden, FeedForward, Options...>, X> {
  using steps = typename feed_forward<T, Hidden, FeedForward, Options...>::template steps<X>;
  using verdict = typename steps::verdict;
};
// Operations on one tensor (layer/computing.hpp); linear is a product.
template <class Layer, tensor_like X>
  requires(!in_integers<Layer> &&
           requires {
             typename Layer::template rule<X>;
             typename Layer::template result<X>;
           })
struct one_call<Layer, X> {
  using verdict = typename Layer::template rule<X>;
  struct steps {
    using scratch = on_stack;
    using result = typename Layer::template result<X>;
    static constexpr std::size_t tables = formulas::tables_of<Layer, X>;
    static constexpr std::uint64_t flops = [] {
      if constexpr (requires { typename Layer::map; })
        return kernel::product_flops(result::count, Layer::map::in::size, 1);
      else
        return 0;
    }();
  };
};

// Quantized layers, which describe their calls, except operations on one tensor.
template <in_integers Layer, tensor_like... X>
  requires requires { Layer::call_on(std::declval<const X&>()...); }
struct one_call<Layer, X...> : decltype(Layer::call_on(std::declval<const X&>()...)){};
template <in_integers Layer, tensor_like X>
  requires requires { typename Layer::template rule<X>; }
struct one_call<Layer, X> {
  using verdict = typename Layer::template rule<X>;
  struct steps {
    using scratch = on_stack;
    using result = typename Layer::template result<X>;
    using value = typename Layer::template value<X>;
    static constexpr std::uint64_t flops = [] {
      if constexpr (requires { typename Layer::layer::map; })
        return kernel::product_flops(result::count, Layer::layer::map::in::size, 1);
      else
        return 0;
    }();
  };
};

// Bytes of the weights that a call reads: for an embedding one row per integer, at most all.
template <class Layer, class... X>
inline constexpr std::size_t weights_read = weights_of<Layer>();
template <class Ids, class Vocabulary>
inline constexpr std::size_t rows_read =
    layout_of<Ids>::count < Vocabulary::size ? layout_of<Ids>::count : Vocabulary::size;
template <in_integers Layer, class Ids>
  requires requires { typename Layer::layer::vocabulary_axis; }
inline constexpr std::size_t weights_read<Layer, Ids> =
    rows_read<Ids, typename Layer::layer::vocabulary_axis> * Layer::layer::hidden_axis::size *
    sizeof(std::int16_t);
// 8-bit, with its scale.
template <class T, class Stored, std::size_t Count>
inline constexpr std::size_t bytes_of_row =
    Count * sizeof(Stored) + (kernel::detail::is_scaled<Stored> ? sizeof(T) : 0);
template <class T, class Vocabulary, class Hidden, class Ids>
inline constexpr std::size_t weights_read<embedding<T, Vocabulary, Hidden>, Ids> =
    rows_read<Ids, Vocabulary> * Hidden::size * sizeof(T);
template <class T, class Vocabulary, class Hidden, class... Options, class Ids>
inline constexpr std::size_t
    weights_read<prepacked<embedding<T, Vocabulary, Hidden>, Options...>, Ids> =
        rows_read<Ids, Vocabulary> *
        bytes_of_row<T, typename option_or<option::stored_as, stored_as<T>, Options...>::type,
                     Hidden::size>;

// The element type of the result: differs from the argument's if that holds integers.
template <class Layer, class Steps, class First>
struct result_element {
  using type = typename First::value_type;
};
template <class Layer, class Steps, class First>
  requires requires { typename Layer::value_type; }
struct result_element<Layer, Steps, First> {
  using type = typename Layer::value_type;
};
template <in_integers Layer, class Steps, class First>
struct result_element<Layer, Steps, First> {
  using type = typename Steps::value;
};

template <class Layer, class... X>
struct of_arguments : one_call<typename unpacked<Layer>::type, X...> {
  template <class Steps, class First, class...>
  static constexpr call_footprint value_of() {
    using plain = typename unpacked<Layer>::type;
    using T = typename result_element<plain, Steps, First>::type;
    using scratch = typename Steps::scratch;
    constexpr std::size_t weights = weights_of<Layer>(), arguments = (elements_of<X>() + ...);
    constexpr std::size_t results = Steps::result::count * sizeof(T);
    return {.weights = weights,
            .tables = formulas::tables_of<Steps>,
            .workspace = std::is_same_v<scratch, on_stack> ? 0 : sizeof(scratch),
            .arguments = arguments,
            .results = results,
            .flops = blocks_in<plain>::count * Steps::flops,
            .bytes_moved = weights_read<Layer, X...> + arguments + results};
  }
  static constexpr call_footprint value() { return value_of<typename of_arguments::steps, X...>(); }
};

// ---- axes instead of arguments ------------------------------------------------------------------

template <class Layer>
struct features_of {};
template <class Layer>
  requires requires { typename Layer::hidden_axis; }
struct features_of<Layer> {
  using type = typename Layer::hidden_axis;
};
template <class Layer>
  requires requires { typename Layer::map; }
struct features_of<Layer> {
  using type = typename Layer::map::in;
};
template <class Layer>
  requires requires { typename Layer::axis; }
struct features_of<Layer> {
  using type = typename Layer::axis;
};

template <class... X>
struct list {};

// The tensors that axes stand for. Batch: list<batch<2>>, or list<>.
template <class Layer, class Batch, class... Axis>
struct tensors_along;
template <class Layer, class... Batch, class... Axis>
struct tensors_along<Layer, list<Batch...>, Axis...> {
  using T = typename Layer::value_type;
  using features = typename features_of<Layer>::type;
  using verdict = rules::well_formed<Batch..., Axis..., features>;
  using type = list<tensor<T, Batch..., Axis..., features>>;
};
template <is_multi_head Layer, class... Batch, class Query, class Key>
  requires std::is_same_v<typename Key::family, rules::key_family>
struct tensors_along<Layer, list<Batch...>, Query, Key> {
  using T = typename Layer::value_type;
  using verdict = rules::well_formed<Batch..., Query, Key, typename Layer::hidden_axis>;
  using type = list<tensor<T, Batch..., Query, typename Layer::hidden_axis>,
                    tensor<T, Batch..., Key, typename Layer::keys_axis>,
                    tensor<T, Batch..., Key, typename Layer::values_axis>>;
};
template <decodes_with_memory Layer, class... Batch, class Own, class Memory>
struct tensors_along<Layer, list<Batch...>, Own, Memory> {
  using T = typename Layer::value_type;
  using hidden = typename Layer::hidden_axis;
  using verdict = first_error<rules::well_formed<Batch..., Own, hidden>,
                              rules::well_formed<Batch..., Memory, hidden>>;
  using type = list<tensor<T, Batch..., Own, hidden>, tensor<T, Batch..., Memory, hidden>>;
};
template <decodes_with_memory Layer, class... Batch, class Own>
struct tensors_along<Layer, list<Batch...>, Own> {
  using verdict =
      detail::verdict<false, say::footprint, say::the_axis_of_the_memory_is_missing_after, Own>;
  using type = list<>;
};

// Integers are int.
template <class T, class Vocabulary, class Hidden, class... Batch, class... Axis>
struct tensors_along<embedding<T, Vocabulary, Hidden>, list<Batch...>, Axis...> {
  using verdict = rules::well_formed<Batch..., Axis...>;
  using type = list<tensor<int, Batch..., Axis...>>;
};

template <class Layer, class First, class... Axis>
struct sequences_along : tensors_along<Layer, list<>, First, Axis...> {};
template <class Layer, class First, class... Axis>
  requires std::is_same_v<typename First::family, rules::batch_family>
struct sequences_along<Layer, First, Axis...> : tensors_along<Layer, list<First>, Axis...> {};

// A quantized layer's first argument has its input_type, except embeddings'; the others are int8.
template <class Layer, class Tensors>
struct as_integers {
  using type = Tensors;
};
template <class Layer, class T, class... First, class... Rest>
  requires requires { typename Layer::input_type; }
struct as_integers<Layer, list<tensor<T, First...>, Rest...>> {
  template <class U, class... Axes>
  static tensor<std::int8_t, Axes...> in_int8(tensor<U, Axes...>);
  using type = list<tensor<typename Layer::input_type, First...>,
                    decltype(in_int8(std::declval<Rest>()))...>;
};

template <class Verdict, class Layer, class Tensors>
struct of_tensors {
  using verdict = Verdict;
};
template <class Layer, class... X>
struct of_tensors<accepted, Layer, list<X...>> : of_arguments<Layer, X...> {};

}  // namespace footprints

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
