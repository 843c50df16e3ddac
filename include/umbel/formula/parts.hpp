// SPDX-License-Identifier: BSL-1.0
// Things that a call in a formula uses besides its operands, weights in any form, as addresses and
// numbers kept until the call. A borrower is taken apart into the arrays it borrows and rebuilt
// later; for an owner of memory, such as packed weights, its address is kept.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/layer/table.hpp>
#include <umbel/mask/in_formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Is the memory of a view of T readable in a constant expression? Not if the view only stands for
// an argument. (Compared with a local: under -fno-delete-null-pointer-checks and
// -fsanitize=undefined, g++ can't tell whether an address is null.)
template <class T, class X>
constexpr bool is_memory_known(const X& x) noexcept {
  const T here{};
  if constexpr (requires { x.data(); })
    return __builtin_constant_p(x.data() == &here);
  else
    return __builtin_constant_p(x.weight == &here);
}

// W: the kept type, in a formula of elements T.
//   count         its number of parts
//   take(w, to)   writes them. Traced: while the graph is made, when a borrower can only be read if
//                 the formula made it; otherwise its pointers are null
//   restored(from)   rebuilds w
template <class T, class W>
struct kept {
  static constexpr std::size_t count = 1;
  template <bool Traced>
  static constexpr void take(const W& w, captured<T>* to) noexcept {
    to->object = &w;
  }
  static constexpr const W& restored(const captured<T>* from) noexcept {
    return *static_cast<const W*>(from->object);
  }
};

// AnyOrder: of weights to pack; integer has the strides of in and out.
template <class T, class In, class Out, bool Bias, bool AnyOrder>
struct kept<T, portable::borrowed_linear<T, In, Out, Bias, AnyOrder>> {
  using W = portable::borrowed_linear<T, In, Out, Bias, AnyOrder>;
  static constexpr std::size_t count = 1;
  template <bool Traced>
  static constexpr void take(const W& w, captured<T>* to) noexcept {
    if (Traced && !is_memory_known<T>(w)) return;
    to->values = w.weight;
    to->bias = w.bias;
    if constexpr (AnyOrder) to->integer = std::uint64_t{w.strides.in} << 32 | w.strides.out;
  }
  static constexpr W restored(const captured<T>* from) noexcept {
    W w;
    w.weight = from->values;
    w.bias = from->bias;
    return w;
  }
};

template <class T, class W>
struct kept_view {
  static constexpr std::size_t count = 1;
  template <bool Traced>
  static constexpr void take(const W& w, captured<T>* to) noexcept {
    if (Traced && !is_memory_known<T>(w)) return;
    to->values = w.data();
  }
  static constexpr W restored(const captured<T>* from) noexcept { return W(from->values); }
};
template <class T, class Axis>
struct kept<T, portable::vector_view<T, Axis>> : kept_view<T, portable::vector_view<T, Axis>> {};
template <class T, class Row, class Feature>
struct kept<T, portable::table_view<T, Row, Feature>>
    : kept_view<T, portable::table_view<T, Row, Feature>> {
  static constexpr portable::table_view<T, Row, Feature> restored(
      const captured<T>* from) noexcept {
    return view<const T, Row, Feature>(from->values);
  }
};

template <class T, class... Axis>
struct kept<T, portable::borrowed_tensor<T, Axis...>>
    : kept_view<T, portable::borrowed_tensor<T, Axis...>> {};

template <class T, template <class...> class Parts, class... View>
struct kept<T, portable::weights_view<Parts, View...>> {
  using W = portable::weights_view<Parts, View...>;
  static constexpr std::size_t count = (kept<T, View>::count + ...);
  template <bool Traced>
  static constexpr void take(const W& w, captured<T>* to) noexcept {
    with_parts(w, [&](const View&... part) {
      ((kept<T, View>::template take<Traced>(part, to), to += kept<T, View>::count), ...);
    });
  }
  static constexpr W restored(const captured<T>* from) noexcept {
    return W{next<View>(from)...};  // in this order
  }

 private:
  template <class Part>
  static constexpr Part next(const captured<T>*& from) noexcept {
    const captured<T>* const at = from;
    from += kept<T, Part>::count;
    return kept<T, Part>::restored(at);
  }
};

template <class T, class View, std::size_t Count>
struct kept<T, portable::stacked_views<View, Count>> {
  using W = portable::stacked_views<View, Count>;
  static constexpr std::size_t elements_of_layer = kept<T, View>::count,
                               count = Count * elements_of_layer;
  template <bool Traced>
  static constexpr void take(const W& w, captured<T>* to) noexcept {
    for (std::size_t i = 0; i < Count; ++i)
      kept<T, View>::template take<Traced>(w[i], to + i * elements_of_layer);
  }
  static constexpr W restored(const captured<T>* from) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const View layers[Count] = {kept<T, View>::restored(from + I * elements_of_layer)...};
      return W(layers);
    }(std::make_index_sequence<Count>{});
  }
};

// Layers that borrow and are callable: norms with their epsilon, and others.
template <class W>
concept borrows_weights = std::is_same_v<decltype(std::declval<const W&>().get_weights()),
                                         const typename W::weights_view&>;
// prepacked<norm> and the like.
template <class W>
concept owns_weights = requires(const W& w) {
  typename W::layer;
  w.get_weights();
};
template <class T, borrows_weights W>
struct kept<T, W> {
  using weights = kept<T, typename W::weights_view>;
  static constexpr bool has_epsilon = requires(const W& w) { w.get_epsilon(); };
  static constexpr std::size_t count = weights::count + has_epsilon;
  template <bool Traced>
  static constexpr void take(const W& w, captured<T>* to) noexcept {
    weights::template take<Traced>(w.get_weights(), to);
    if constexpr (has_epsilon && !Traced) to[weights::count].number = w.get_epsilon();
  }
  static constexpr W restored(const captured<T>* from) noexcept {
    if constexpr (has_epsilon)
      return W(weights::restored(from), from[weights::count].number);
    else
      return W(weights::restored(from));
  }
};

template <class T, class W, class Mask>
struct given_with_mask {
  const captured<T>* from;
  constexpr decltype(auto) weights() const noexcept { return kept<T, W>::restored(from); }
  // x: views of the mask's tensors.
  template <class... X>
  constexpr auto mask(const X&... x) const noexcept {
    return mask_in_formula<Mask>::template made<0>(from + kept<T, W>::count, x...);
  }
};
template <class T, class W, class Mask>
struct kept<T, weights_and_mask<W, Mask>> {
  static constexpr std::size_t count = kept<T, W>::count + mask_in_formula<Mask>::parts;
  template <bool Traced>
  static constexpr void take(const weights_and_mask<W, Mask>& w, captured<T>* to) noexcept {
    kept<T, W>::template take<Traced>(w.weights, to);
    if constexpr (!Traced) mask_in_formula<Mask>::take(w.mask, to + kept<T, W>::count);
  }
  static constexpr given_with_mask<T, W, Mask> restored(const captured<T>* from) noexcept {
    return {from};
  }
};

// The recorder's slot for the first part of w.
template <class R, class W>
constexpr std::size_t capture_parts(R* recorder, const W& w) noexcept {
  using T = typename R::value_type;
  captured<T> parts[kept<T, W>::count]{};
  kept<T, W>::template take<R::makes_graph>(w, parts);
  const std::size_t first = recorder->capture(parts[0]);
  for (std::size_t i = 1; i < kept<T, W>::count; ++i) recorder->capture(parts[i]);
  return first;
}

// Bytes of constants that a call reads: tables of rotary and sinusoidal positions. X: its argument.
template <class Call, class X = void>
inline constexpr std::size_t tables_of = 0;
template <class Call, class X>
  requires requires { Call::tables; }
inline constexpr std::size_t tables_of<Call, X> = Call::tables;
template <class Call, class X>
  requires requires { Call::template bytes_of_table<X>(); }
inline constexpr std::size_t tables_of<Call, X> = Call::template bytes_of_table<X>();
template <class Call, class X>
  requires requires { Call::table; }
inline constexpr std::size_t tables_of<Call, X> = sizeof(Call::table);

// The number of layers that a call runs in turn.
template <class W>
inline constexpr std::size_t layers_in = 1;
template <of_several_layers W>
inline constexpr std::size_t layers_in<W> = W::size();
template <class W, class Mask>
inline constexpr std::size_t layers_in<weights_and_mask<W, Mask>> = layers_in<W>;

// A layer's gradient: training/layers.hpp. describe(node) sets its function, kept size and scratch.
template <class Call>
struct layer_gradient;

// A step that calls a layer: Steps::run(w, y, x...) or, with its scratch, Steps::run(w, y, scratch,
// x...). X: views of the operands.
template <class T, class Steps, class W, class... X>
struct layer_call {
  using scratch = typename Steps::scratch;
  static constexpr bool has_scratch = !std::is_same_v<scratch, on_stack>;
  static constexpr std::size_t elements = has_scratch ? sizeof(scratch) / sizeof(T) : 0;

  static constexpr void run(const captured<T>* parts, const operand_memory<T>* from, T* to,
                            T* work) noexcept {
    if constexpr (!has_scratch)
      with(parts, from, to, scratch{}, std::index_sequence_for<X...>{});
    else if (__builtin_is_constant_evaluated())
      in_new_scratch(parts, from, to);
    else
      with(parts, from, to, *static_cast<scratch*>(static_cast<void*>(work)),
           std::index_sequence_for<X...>{});
  }

 private:
  // A separate function, so that the call's stack isn't always used.
  static constexpr void in_new_scratch(const captured<T>* parts, const operand_memory<T>* from,
                                       T* to) noexcept {
    scratch new_scratch;
    with(parts, from, to, new_scratch, std::index_sequence_for<X...>{});
  }
  template <class View>
  static constexpr View seen(const operand_memory<T>& memory) noexcept {
    if constexpr (std::is_same_v<typename View::value_type, bool>)
      return View(memory.flags);
    else
      return View(memory.numbers);
  }
  template <class Work, std::size_t... I>
  static constexpr void with(const captured<T>* parts, const operand_memory<T>* from, T* to,
                             Work&& work, std::index_sequence<I...>) noexcept {
    const auto& w = kept<T, W>::restored(parts);
    view_of<T, typename Steps::result> y(to);
    if constexpr (has_scratch)
      Steps::run(w, y, work, seen<X>(from[I])...);
    else
      Steps::run(w, y, seen<X>(from[I])...);
  }
};

template <class Weights>
inline constexpr weights_form form_of_weights = weights_form::natural;
template <class T, class In, class Out, bool Bias, class Stored>
inline constexpr weights_form form_of_weights<packed_linear<T, In, Out, Bias, Stored>> =
    std::is_same_v<Stored, bfloat16>      ? weights_form::packed_bfloat16
    : std::is_same_v<Stored, float16>     ? weights_form::packed_float16
    : std::is_same_v<Stored, std::int8_t> ? weights_form::packed_int8
                                          : weights_form::packed;

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
