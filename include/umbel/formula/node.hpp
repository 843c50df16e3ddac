// SPDX-License-Identifier: BSL-1.0
// A tensor's stand-in while a formula is traced. Its axes are in its type, as a tensor's are, so
// every operation checks them with its usual rule and message. Instead of memory it has the number
// of a node of the graph, and operations on it are recorded. Not here: arithmetic (arithmetic.hpp),
// what becomes of the graph (schedule.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/graph.hpp>
#include <umbel/formula/known_operations.hpp>
#include <umbel/formula/parts.hpp>
#include <umbel/formula/rows_of_call.hpp>
#include <umbel/formula/rules.hpp>
#include <umbel/formula/tracer.hpp>
#include <umbel/layer/project.hpp>
#include <umbel/tensor/contract.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// An operation that depends on positions differs for a cache's new positions (along_axes.hpp).
template <class Operation>
struct at_positions {
  static constexpr bool differs = false;
};

// A conversion is refused at its use, before F's result, for which no second error is reported:
// g++ refuses it in the noexcept, clang, which would print an error more there, in the body.
template <class Verdict>
struct refused_conversion {
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
  static constexpr bool noted = note_refusal<std::enable_if_t<sizeof(Verdict*) != 0>>::noted;
};
template <class Verdict>
inline constexpr bool noted_here = !UMBEL_CLANG;
template <class Verdict>
  requires(!UMBEL_CLANG)
inline constexpr bool noted_here<Verdict> = refused_conversion<Verdict>::noted;

// E: bool for a condition. Open: the families of positions whose axes it lacks (yet).
template <class Recorder, class E, class Layout, class Open = families<>>
class node : public portable::value_of_formula<node<Recorder, E, Layout, Open>> {
 public:
  using layout = Layout;
  using value_type = E;
  using recorder_type = Recorder;
  using open = Open;
  using is_node = node;
  using closed = rules::closed<Open>;
  using T = typename Recorder::value_type;
  static constexpr bool traced_before = !Recorder::makes_graph;
  static constexpr bool differentiates = Recorder::differentiates;
  static constexpr bool is_counted = std::is_integral_v<E> && !std::is_same_v<E, bool>;
  static constexpr std::size_t size() noexcept { return Layout::count; }
  template <template <std::size_t> class Axis>
  static constexpr std::size_t extent = Layout::template size_of<family_of<Axis>>;

  Recorder* recorder;
  int number;
  std::size_t offset = 0;

  // x = y with a different type: x keeps its declared axes.
  template <class Y>
    requires(!std::is_same_v<Y, node>)
  constexpr auto operator=(const Y&) noexcept {
    using verdict = in_its_line<rules::assigned_in_formula<node, Y>, node>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return refusal<verdict>();
  }

  // if (x > 0), x(1, 2, 3), x[1]: no values exist while a formula is traced. std::exp(x), or your
  // function of a number; an overload for float fits best. (Not constexpr for clang, which then
  // instantiates the body last, and prints it with your line alone.)
#if UMBEL_CLANG
  explicit operator bool() const
      noexcept(rules::has_a_value<node>::ok ||
               note_refusal<std::enable_if_t<sizeof(node*) != 0>>::noted) {
    static_assert(report<rules::has_a_value<node>>::ok, "umbel: shapes do not fit");
    return false;
  }
  operator float() const noexcept(rules::has_a_number<node>::ok ||
                                  note_refusal<std::enable_if_t<sizeof(node*) != 0>>::noted) {
    static_assert(report<rules::has_a_number<node>>::ok, "umbel: shapes do not fit");
    return 0;
  }
#else
  constexpr explicit operator bool() const noexcept(noted_here<rules::has_a_value<node>>) {
    return note_refusal<std::enable_if_t<sizeof(node*) != 0>>::noted;
  }
  constexpr operator float() const noexcept(noted_here<rules::has_a_number<node>>) {
    return note_refusal<std::enable_if_t<sizeof(node*) != 0>>::noted;
  }
#endif
  template <class... Position>
  constexpr auto operator()(Position...) const noexcept {
    using verdict = in_its_line<rules::has_elements<node>, node>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return refusal<verdict>();
  }

  template <class Position>
  constexpr auto operator[](const Position&) const noexcept {
    using verdict = in_its_line<rules::has_elements<node>, node>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return refusal<verdict>();
  }

  constexpr operand as_operand() const noexcept {
    return {number, offset, axes_of_layout<Layout>()};
  }

  // Of a tensor that is part of an argument, or of a node (arithmetic.hpp).
  template <class X>
  constexpr auto as_node_like(const X& x) const noexcept {
    return as_node(recorder, x);
  }

  // The same as an operand of a layer's call: conditions are read in place, from an argument;
  // integers become numbers of the formula.
  template <class X>
  constexpr auto as_operand_of_call(const X& x) const noexcept {
    using E1 = typename X::value_type;
    if constexpr (std::is_same_v<E1, T> || std::is_same_v<E1, bool>)
      return as_node_like(x);
    else
      return as_node_like(x).contiguous();
  }
  template <class X>
  using operand_view =
      view_of<std::conditional_t<std::is_same_v<typename X::value_type, bool>, const bool, const T>,
              layout_of<X>>;

  constexpr node<Recorder, T, row_major<Layout>> in_numbers() const noexcept {
    return {{}, recorder, contiguous().number, 0};
  }

  // Numbers that are 1 or 0.
  constexpr node<Recorder, bool, Layout, Open> as_conditions() const noexcept {
    return {{}, recorder, number, offset};
  }

  // The same memory with a different layout.
  template <class To>
  constexpr node<Recorder, E, To> reread(std::size_t from) const noexcept {
    static_assert(report<rules::closed<Open>>::ok, "umbel: shapes do not fit");
    return {{}, recorder, number, offset + from};
  }

  // The results of `computing` operations (layer/computing.hpp).
  template <class Operation>
  constexpr auto compute(const Operation& operation) const noexcept {
    constexpr bool has_weights = borrows_weights<Operation> || owns_weights<Operation>;
    using verdict = rules::without_weights<Operation, std::is_empty_v<Operation> || has_weights>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (requires { operation.projection(); })
      return project(operation.projection());
    else if constexpr (differentiates && requires { sizeof(in_words<Operation>); })
      return in_words<Operation>::of(operation, *this);
    else if constexpr (std::is_same_v<E, bool> && !has_weights)
      return in_numbers().compute(operation).as_conditions();
    else if constexpr (std::is_integral_v<E>)
      return in_numbers().compute(operation);
    else if constexpr (has_weights)
      return call<operation_steps<Operation, view_of<const E, Layout>>>(operation);
    else if constexpr (verdict::ok && Recorder::positions != 0 && at_positions<Operation>::differs)
      return at_positions<Operation>::of(*this);
    else if constexpr (verdict::ok)
      return compute_of<Operation>();
    else
      return invalid{};
  }
  template <class Operation>
  constexpr auto compute_of() const noexcept {
    using result = typename Operation::template result<node>;
    constexpr bool elementwise = is_elementwise(known_operation<Operation>::what);
    static_assert(report<first_error<std::conditional_t<elementwise, accepted, rules::closed<Open>>,
                                     rules::has_gradient<Recorder, Operation>>>::ok,
                  "umbel: shapes do not fit");
    return recorded<result, std::conditional_t<elementwise, Open, families<>>>(
        [&] {
          node_of_graph<T> entry;
          entry.what = word::call;
          entry.open = elementwise && !std::is_same_v<Open, families<>>;
          entry.run = [](const captured<T>&, const T* const* from, T* to) {
            view_of<T, result> y(to);
            Operation::write(view_of<const T, Layout>(from[0]), y);
          };
          if constexpr (Recorder::describes) {
            entry.name = written_out<typename Operation::called>();
            entry.tables = tables_of<Operation, node>;
          }
          if (known_operation<Operation>::what != word::none) {
            entry.what = known_operation<Operation>::what;
            entry.family = known_operation<Operation>::family;
            if (is_elementwise(entry.what)) entry.run = nullptr;
          }
          if constexpr (requires { known_operation<Operation>::describe(entry); })
            known_operation<Operation>::describe(entry);
          if (adds_a_constant<Operation>) entry.differentiated = 1;
          if constexpr (Recorder::differentiates && is_linear<Operation>) {
            entry.what = word::rotate;
            entry.run_back = [](const captured<T>&, const T* const* from, T* to) {
              view_of<T, result> y(to);
              Operation::template write<true>(view_of<const T, row_major<Layout>>(from[0]), y);
            };
          }
          entry.from[0] = as_operand();
          entry.operands = 1;
          return entry;
        },
        number);
  }

  // Over the axes of these families. Operation: from kernel/float/reduce.hpp.
  template <class Name, class Operation, class... Families>
  constexpr auto reduce() const noexcept {
    static_assert(report<rules::closed<Open>>::ok, "umbel: shapes do not fit");
    if constexpr (is_counted) {
      return in_numbers().template reduce<Name, Operation, Families...>();
    } else {
      using result = reduced_layout<Layout, Families...>;
      return recorded<result>(
          [&] {
            node_of_graph<T> entry;
            entry.what = word::reduce;
            entry.reduces_by = reduction_of<Operation>;
            ((entry.summed[entry.sums++] = family_id<Families>), ...);
            entry.run = [](const captured<T>&, const T* const* from, T* to) {
              reduce_to<Operation, Layout, Families...>(from[0], to);
            };
            if constexpr (Recorder::differentiates && reduction_of<Operation> == reduction::product)
              entry.run_back = [](const captured<T>&, const T* const* from, T* to) {
                using dense = row_major<Layout>;
                kernel::plain::products_of_others<walk_over<dense, false, Families...>(),
                                                  walk_over<dense, true, Families...>()>(
                    from[0], from[1], to);
              };
            if constexpr (Recorder::describes) entry.name = written_out<Name>();
            entry.from[0] = as_operand();
            entry.operands = 1;
            return entry;
          },
          number);
    }
  }

  // For an accepted rule. Families: the summed ones.
  template <class... Families, class Y>
  constexpr auto contract(const Y& y) const noexcept {
    static_assert(report<first_error<rules::closed<Open>, rules::closed<typename Y::open>>>::ok,
                  "umbel: shapes do not fit");
    if constexpr (is_counted) {
      return in_numbers().template contract<Families...>(y.in_numbers());
    } else {
      using result = algebra::contract<Layout, typename Y::layout, Families...>;
      return recorded<result>(
          [&] {
            node_of_graph<T> entry;
            entry.what = word::contract;
            ((entry.summed[entry.sums++] = family_id<Families>), ...);
            if (entry.sums == 1) entry.family = entry.summed[0];
            entry.name = "contraction";
            entry.from[0] = as_operand();
            entry.from[1] = y.as_operand();
            entry.operands = 2;
            return entry;
          },
          number, y.number);
    }
  }

  // For an accepted rule: x * w.
  template <class Weights>
  constexpr auto project(const Weights& w) const noexcept {
    using verdict = first_error<rules::closed<Open>, rules::has_gradient<Recorder, Weights>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (rules::has_gradient<Recorder, Weights>::ok)
      return project_accepted(w);
    else
      return invalid{};
  }
  template <class Weights>
  constexpr auto project_accepted(const Weights& w) const noexcept {
    using result = projected<Layout, typename Weights::map>;
    using borrowed = std::remove_cvref_t<decltype(as_borrowed(w))>;
    constexpr bool natural = form_of_weights<borrowed> == weights_form::natural;
    std::size_t slot = 0;
    if constexpr (natural) {
      slot = capture_parts(recorder, as_borrowed(w));
    } else {
      captured<T> part;
      if constexpr (!Recorder::makes_graph) part = {nullptr, w.bias(), w.panels};
      slot = recorder->capture(part);
    }
    return recorded<result>(
        [&] {
          node_of_graph<T> entry;
          entry.what = word::project;
          entry.name = "projection";
          entry.slot = slot;
          entry.summed[entry.sums++] = family_id<typename Weights::map::in::family>;
          entry.weights = form_of_weights<borrowed>;
          entry.has_bias = Weights::map::has_bias;
          entry.from[0] = as_operand();
          entry.operands = 1;
          return entry;
        },
        number);
  }

  // A layer's call, for an accepted rule: Steps with its weights, this node and others.
  //   Steps::result         the layout of the result
  //   Steps::scratch        a workspace, or on_stack
  //   Steps::flops          operations of one layer's products (kernel/shapes.hpp)
  //   Steps::tables         bytes of constants that it reads, if any
  //   Steps::run(w, y, ...) parts.hpp
  template <class Steps, class Weights, class... X>
  constexpr auto call(const Weights& w, const X&... x) const noexcept {
    using steps = layer_call<T, Steps, Weights, view_of<const T, Layout>, operand_view<X>...>;
    using verdict = first_error<rules::closed<Open>, rules::closed<typename X::open>...,
                                rules::same_element<say::formula, T, E>,
                                rules::has_gradient<Recorder, Steps, steps>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      const std::size_t slot = capture_parts(recorder, w);
      if constexpr (Recorder::makes_graph)
        recorder->made_a_mask |=
            ((std::is_same_v<typename X::value_type, bool> && x.number >= recorder->arguments) ||
             ...);
      return recorded<typename Steps::result>(
          [&] {
            node_of_graph<T> entry;
            entry.what = word::layer;
            entry.slot = slot;
            entry.parts = kept<T, Weights>::count;
            entry.run_layer = steps::run;
            entry.scratch = steps::elements;
            entry.by_rows = rows_of_call<Steps>::apart;
            entry.family = rows_of_call<Steps>::along;
            entry.norm = norm_of_call<Steps>;
            if constexpr (Recorder::differentiates) layer_gradient<steps>::describe(entry);
            if constexpr (Recorder::describes) {
              entry.flops = layers_in<Weights> * Steps::flops;
              entry.tables = tables_of<Steps>;
            }
            entry.from[0] = as_operand();
            entry.operands = 1;
            ((entry.from[entry.operands++] = x.as_operand()), ...);
            return entry;
          },
          number, x.number...);
    } else {
      return invalid{};
    }
  }

  constexpr auto contiguous() const noexcept {
    static_assert(report<rules::closed<Open>>::ok, "umbel: shapes do not fit");
    return recorded<row_major<Layout>>(
        [&] {
          node_of_graph<T> entry;
          entry.what = word::copy;
          entry.from[0] = as_operand();
          entry.operands = 1;
          return entry;
        },
        number);
  }

  // A node with this layout, row-major. make() describes it; from: its operands.
  template <class Result, class ResultOpen = families<>, class Make, class... From>
  constexpr node<Recorder, E, Result, ResultOpen> recorded(Make make, From... from) const noexcept {
    if constexpr (Recorder::makes_graph) {
      node_of_graph<T> entry = make();
      entry.run_plainly = entry.run;
      entry.axes = axes_of_layout<Result>();
      if constexpr (Recorder::describes) entry.shape = written_out<typename Result::axes>();
      return {{}, recorder, recorder->add(entry), 0};
    } else {
      return {{}, recorder, recorder->add(from...), 0};
    }
  }
};

template <class X>
concept a_node = requires { typename std::remove_cvref_t<X>::is_node; };

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
