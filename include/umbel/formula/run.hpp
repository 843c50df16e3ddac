// SPDX-License-Identifier: BSL-1.0
// A formula for arguments of given types: its graph, its schedule, and a call, step by step.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/attend.hpp>
#include <umbel/formula/distance_tables.hpp>
#include <umbel/formula/elementwise.hpp>
#include <umbel/formula/product.hpp>
#include <umbel/formula/reduce.hpp>
#include <umbel/formula/results.hpp>
#include <umbel/formula/row_step.hpp>
#include <umbel/formula/sequences.hpp>
#include <umbel/formula/trace.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

template <std::size_t I, class E>
struct argument_pointer {
  const E* pointer;
};
template <class Sequence, class... E>
struct argument_pointers;
template <std::size_t... I, class... E>
struct argument_pointers<std::index_sequence<I...>, E...> : argument_pointer<I, E>... {};
template <std::size_t I, class E>
constexpr const E* pointer_at(const argument_pointer<I, E>& argument) noexcept {
  return argument.pointer;
}

// Only for gradients: training/gradient_steps.hpp.
template <class Run, int Root>
struct gradient_step;

template <class T, class Argument>
struct element_of_argument {
  using type = T;
};
template <class T, class E, class Layout>
struct element_of_argument<T, tensor_argument<E, Layout>> {
  using type = E;
};

// Only for caches: next_positions.hpp.
template <class Run, int Root>
struct append_step;

// F for these arguments: its graph and schedule.
template <class F, bool Direct, class... Argument>
struct scheduled {
  using T = typename computed_type<Argument...>::type;
  static constexpr auto traced = graph_of<F, tracer<T>, Direct, Argument...>();
  using tables = tabulated<traced>;
  static constexpr std::size_t nodes = tables::nodes + tables::added;
  static constexpr sequence_axis<nodes> sequences{};
  static constexpr auto value = make_schedule(tables::value, tables::added != 0);
};
// The same for one sequence of a batch at a time (sequences.hpp).
template <class F, bool Direct, class... Argument>
struct scheduled_for_one {
  using whole = scheduled<F, Direct, Argument...>;
  using T = typename whole::T;
  static constexpr const auto& traced = whole::traced;
  static constexpr std::size_t nodes = whole::nodes;
  static constexpr auto sequences = find_sequences(whole::value);
  using tables = typename whole::tables;
  static constexpr auto value =
      make_schedule(of_one_sequence(tables::value, sequences), tables::added != 0);
};

// Scheduled: F for its arguments. Outs: a list of the layouts of the outputs. Direct: they are
// row-major, as nodes are.
template <class Scheduled, class Outs, bool Direct, class... Argument>
struct run_by;
template <class Scheduled, class... Out, bool Direct, class... Argument>
struct run_by<Scheduled, list<Out...>, Direct, Argument...> : Scheduled {
  using base = Scheduled;
  using value_type = typename base::T;
  using T = value_type;
  using base::traced, base::value, base::nodes, base::sequences;
  // The number of parts that a call collects.
  static constexpr std::size_t parts = traced.slots - traced.arguments;
  static constexpr auto order = [] {
    slots_in_order<T, sizeof(traced.nodes) / sizeof(traced.nodes[0]), parts> found;
    for (std::size_t r = 0; r < traced.results; ++r) found.collect(traced, traced.result[r].node);
    return found;
  }();
  static constexpr axis_list out_axes[sizeof...(Out)] = {axes_of_layout<Out>()...};

  argument_pointers<std::index_sequence_for<Argument...>,
                    typename element_of_argument<T, Argument>::type...>
      arguments;
  captured<T>* captures;
  T* out[sizeof...(Out)];
  T* work;
  std::size_t sequence = 0;

  // f(result...): results are written there.
  constexpr auto writes_to() noexcept {
    return [to = out](auto&... result) {
      T** next = to;
      ((*next++ = result.data()), ...);
    };
  }
  template <int N>
  static constexpr axis_list axes_of() {
    // A result has the axes of its Out, in Out's order.
    if constexpr (value.result[N] >= 0 && !Direct)
      return without(out_axes[value.result[N]], sequences.family);
    else
      return value.at(N).axes;
  }
  // A number of the graph by itself: an address inside `value` would keep the whole graph in the
  // program, 100 kB for a gradient.
  template <int N>
  static constexpr T number = value.at(N).number;
  template <int N>
  UMBEL_INLINE constexpr auto memory() const noexcept {
    constexpr bool is_argument = value.at(N).what == word::argument;
    constexpr std::size_t slot = value.at(N).slot;
    if constexpr (is_argument && slot < value.g.arguments)
      return pointer_at<slot>(arguments) + sequence * sequences.stride[N];
    else if constexpr (value.at(N).what == word::number)
      return &number<N>;
    else if constexpr (is_argument)
      return captures[slot - value.g.arguments].values + sequence * sequences.stride[N];
    else if constexpr (value.at(N).what == word::append)
      return static_cast<const T*>(written<N>()) + base::roles.step[N] * base::position;
    else if constexpr (value.result[N] >= 0)
      return static_cast<const T*>(written<N>());
    else
      return static_cast<const T*>(work + value.place[N]);
  }
  template <int N, std::size_t J>
  UMBEL_INLINE constexpr auto begin() const noexcept {
    constexpr operand from = value.at(N).from[J];
    return memory<from.node>() + from.offset;
  }
  template <unsigned long long Family, int Root>
  UMBEL_INLINE constexpr std::size_t first_position() const noexcept {
    if constexpr (has_position<base>) {
      if constexpr (base::template is_new<Family, Root>) return base::position;
    }
    return 0;
  }
  // Does its memory hold T, or elements that are converted by vectors?
  template <class E>
  static constexpr bool are_loaded_together =
      std::is_same_v<E, T> || are_converted_together<E, T>();
  static constexpr bool loads_vectors(int n) noexcept {
    constexpr bool together[] = {
        are_loaded_together<typename element_of_argument<T, Argument>::type>..., true};
    const node_of_graph<T>& node = value.at(n);
    return node.what != word::argument || node.slot >= value.g.arguments || together[node.slot];
  }
  template <int N>
  UMBEL_INLINE constexpr T* written() const noexcept {
    if constexpr (value.result[N] >= 0)
      return out[value.result[N]] +
             sequence * out_axes[value.result[N]].stride_of(sequences.family);
    else if constexpr (value.at(N).what == word::add_to)
      return const_cast<T*>(begin<N, 0>());
    else if constexpr (value.at(N).what == word::append)
      return base::kept + base::template place_of<N>;
    else
      return work + value.place[N];
  }

  template <std::size_t S>
  static constexpr std::size_t scratch_of() {
    constexpr step this_step = value.steps[S];
    if constexpr (this_step.kind == step_kind::attend)
      return attend_step<run_by, this_step.root, this_step.to>::scratch;
    else if constexpr (this_step.kind == step_kind::rows)
      return row_step<run_by, S>::scratch;
    else if constexpr (value.at(this_step.root).what == word::layer_gradient)
      return value.at(this_step.root).gradient_scratch;
    else
      return value.at(this_step.root).scratch;
  }
  template <std::size_t... S>
  static constexpr std::size_t most_scratch(std::index_sequence<S...>) {
    std::size_t most = 0;
    for (const std::size_t of_step : {std::size_t{0}, scratch_of<S>()...})
      most = of_step > most ? of_step : most;
    return most;
  }

  using steps = std::make_index_sequence<value.count>;
  // Of several sequences.
  template <bool Plain>
  UMBEL_INLINE constexpr void all_sequences() const noexcept {
    auto pass = *this;
    for (; sequences.count > pass.sequence; ++pass.sequence)
      pass.template all_steps<Plain>(steps{});
  }
  // All steps of this sequence.
  template <bool Plain, std::size_t... S>
  UMBEL_INLINE constexpr void all_steps(std::index_sequence<S...>) const noexcept {
    if constexpr (sizeof...(S) > 256) {  // clang refuses such a fold
      [[maybe_unused]] const bool done[] = {(take<Plain, S>(work + value.workspace), true)...};
    } else {
      (take<Plain, S>(work + value.workspace), ...);
    }
  }
  // scratch: most_scratch elements.
  template <bool Plain, std::size_t S>
  UMBEL_INLINE constexpr void take([[maybe_unused]] T* scratch) const noexcept {
    constexpr step this_step = value.steps[S];
    UMBEL_HAS_EFFECTS();
    T* const to = written<this_step.to>();
    // A gradient that nobody asked for.
    if constexpr (value.at(this_step.to).what == word::add_to)
      if (to == nullptr) return;
    if constexpr (this_step.kind == step_kind::elementwise) {
      using elementwise = elementwise_step<run_by, this_step.root, this_step.to>;
      if (Plain || __builtin_is_constant_evaluated())
        elementwise::plainly(*this, to);
      else
        elementwise::fast(*this, to);
    } else if constexpr (this_step.kind == step_kind::attend) {
      attend_step<run_by, this_step.root, this_step.to>::template write<Plain>(*this, to, scratch);
    } else if constexpr (this_step.kind == step_kind::product) {
      product_step<run_by, this_step.root, this_step.to, this_step.product>::template write<Plain>(
          *this, to);
    } else if constexpr (this_step.kind == step_kind::rows) {
      using rows = row_step<run_by, S>;
      for (std::size_t i = 0; i < rows::count; ++i) rows::template take<Plain>(*this, scratch, i);
    } else if constexpr (this_step.kind == step_kind::reduce) {
      reduce_step<run_by, this_step.root>::template write<Plain>(*this, to);
    } else if constexpr (value.at(this_step.root).what == word::append) {
      append_step<run_by, this_step.root>::write(*this, to);
    } else if constexpr (value.at(this_step.root).by_axes) {
      step_by_axes<run_by, this_step.root>::template write<Plain>(*this, to);
    } else if constexpr (is_of_gradients(value.at(this_step.root).what)) {
      gradient_step<run_by, this_step.root>::write(*this, to, scratch);
    } else {
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        constexpr const node_of_graph<T>& called = value.at(this_step.root);
        constexpr std::size_t part = called.slot == npos ? 0 : called.slot - value.g.arguments;
        if constexpr (called.what == word::layer) {
          const operand_memory<T> from[] = {
              operand_memory<T>(memory<called.from[J].node>() + called.from[J].offset)...};
          called.run_layer(captures + part, from, to, scratch);
        } else {
          const T* const from[] = {(memory<called.from[J].node>() + called.from[J].offset)...};
          (Plain ? called.run_plainly : called.run)(captures[part], from, to);
        }
      }(std::make_index_sequence<value.at(this_step.root).operands>{});
    }
  }
};

// The run of a call.
template <class F, class Outs, bool Direct, class... Argument>
struct chosen_run {
  using whole = scheduled<F, Direct, Argument...>;
  static constexpr bool one_by_one = find_sequences(whole::value).count != 1;
  using type =
      run_by<std::conditional_t<one_by_one, scheduled_for_one<F, Direct, Argument...>, whole>, Outs,
             Direct, Argument...>;
};
template <class F, class Outs, bool Direct, class... Argument>
using run_of = typename chosen_run<F, Outs, Direct, Argument...>::type;

// A run's stored nodes, then scratch.
template <class Run, std::size_t Stored = Run::value.workspace>
struct run_workspace : workspace_base {
  static constexpr std::size_t elements =
      Stored + Run::most_scratch(std::make_index_sequence<Run::value.count>{});
  alignas(64) typename Run::value_type memory[elements != 0 ? elements : 1];
};

// The same for results in any order: one that is not row-major may be stored before it is copied.
template <class F, class Rows, class... Argument>
struct formula_workspace {
  using run = run_of<F, Rows, true, Argument...>;
  static constexpr std::size_t stored = [] {
    constexpr std::size_t direct = run::value.workspace;
    constexpr std::size_t copied = run_of<F, Rows, false, Argument...>::value.workspace;
    return copied > direct ? copied : direct;
  }();
  using type = run_workspace<run, stored>;
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
