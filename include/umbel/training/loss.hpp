// SPDX-License-Identifier: BSL-1.0
// Losses, of tensors and in formulas, which differentiate the operations that they consist of:
//
//   constexpr formula loss = [](auto x, auto label, const auto& w) {
//     return cross_entropy<classes>(x * w, label);      // x (batch, hidden), label (batch)
//   };
//   cross_entropy<classes, label_smoothing<1, 10>>(logits, label)();
//
// Both return tensors without axes. For tensors they run the formula: the same bits.
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/formula/reduce.hpp>
#include <umbel/operation/lookup.hpp>
#include <umbel/operation/softmax.hpp>
#include <umbel/shape/template_arguments.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// An option of cross_entropy: the label has the probability 1 - s + s / n, each other of the n
// classes s / n, with s = Over / Under (Szegedy et al. 2016), like torch's label_smoothing.
template <std::size_t Over, std::size_t Under>
struct label_smoothing {};
// An option of cross_entropy: rows with this label add no loss and are not counted, like torch's
// ignore_index. (Nor is any label that is not a class, for example -100.)
template <std::ptrdiff_t Label>
struct ignored_label {};

namespace detail {
namespace say {
struct cross_entropy;
struct mean_squared_error;
struct label_smoothing;
}  // namespace say
UMBEL_SAYS(ignored_label, "ignored_label");
UMBEL_SAYS(is_not_a_class_and_is_ignored_without_the_option_so_leave_it_out,
           "is not a class and is ignored without the option; leave it out");
template <std::ptrdiff_t N>
struct below_zero {};
template <std::ptrdiff_t N>
struct speak<below_zero<N>> {
  static constexpr void to(sentence_buffer& out) {
    out.put('-');
    out.put(static_cast<unsigned long>(-(N + 1)) + 1);
  }
};
UMBEL_SAYS(needs_the_axis_of_the_classes_so_write_cross_entropy_of_that_axis,
           "needs the axis of the classes; write cross_entropy<classes>(logits, labels)");
UMBEL_SAYS(must_be_a_fraction_from_0_to_1,
           "must be a fraction from 0 to 1; write label_smoothing<1, 10>");
UMBEL_SAYS(accepts_label_smoothing_and_ignored_label_not,
           "accepts the options label_smoothing<1, 10> and ignored_label<0>, not");
UMBEL_SAYS(expects_logits_and_labels_both_tensors_or_both_of_one_formula,
           "expects logits and labels, both tensors or both of one formula");
UMBEL_SAYS(has_the_axis_and_then_options_as_template_arguments,
           "has first the axis, then options as template arguments; write cross_entropy<classes, "
           "ignored_label<0>>(logits, labels)");
UMBEL_SAYS(is_of_all_axes_so_write_it_without_one,
           "averages over all axes; write mean_squared_error(x, y)");
UMBEL_SAYS(expects_two_tensors_or_two_values_of_one_formula,
           "expects two tensors, or two values of one formula");

template <class Option>
struct loss_option {
  static constexpr bool is_known = false, is_part = true, is_class = true;
  static constexpr std::ptrdiff_t label = 0;
};
template <std::size_t Over, std::size_t Under>
struct loss_option<label_smoothing<Over, Under>> {
  static constexpr bool is_known = true, is_part = Under != 0 && Over <= Under, is_class = true;
  static constexpr std::ptrdiff_t label = 0;
  static constexpr double smoothing = is_part ? static_cast<double>(Over) / (Under + !Under) : 0;
};
template <std::ptrdiff_t Label>
struct loss_option<ignored_label<Label>> {
  static constexpr bool is_known = true, is_part = true, is_class = Label >= 0;
  static constexpr std::ptrdiff_t label = Label;
};
template <class Option>
inline constexpr double smoothing_of = 0;
template <std::size_t Over, std::size_t Under>
inline constexpr double smoothing_of<label_smoothing<Over, Under>> =
    loss_option<label_smoothing<Over, Under>>::smoothing;

namespace rules {
template <class Option>
using option_of_loss =
    first_error<verdict<loss_option<Option>::is_known, say::cross_entropy,
                        say::accepts_label_smoothing_and_ignored_label_not, option_word<Option>>,
                verdict<loss_option<Option>::is_class, say::cross_entropy, say::ignored_label,
                        below_zero<loss_option<Option>::label>,
                        say::is_not_a_class_and_is_ignored_without_the_option_so_leave_it_out>,
                verdict<loss_option<Option>::is_part, say::cross_entropy, say::label_smoothing,
                        say::must_be_a_fraction_from_0_to_1>>;

template <class X, class Y>
inline constexpr bool are_of_one_kind =
    shaped<X> && shaped<Y> && formulas::a_node<X> == formulas::a_node<Y>;

template <class Family, class X, class Label, class... Options>
struct cross_entropy_rule {
  using type = verdict<one_is_invalid<X, Label>, say::cross_entropy,
                       say::expects_logits_and_labels_both_tensors_or_both_of_one_formula>;
};
template <class Family, class X, class Label, class... Options>
  requires are_of_one_kind<X, Label>
struct cross_entropy_rule<Family, X, Label, Options...> {
  using kinds =
      first_error<option_of_loss<Options>..., has_axis<say::cross_entropy, layout_of<X>, Family>,
                  floating<say::cross_entropy, typename X::value_type>,
                  integers<say::cross_entropy, typename Label::value_type>>;
  static constexpr auto whole() {
    if constexpr (kinds::ok)
      return same_shape<say::cross_entropy, row_major<layout_of<Label>>,
                        reduced_layout<layout_of<X>, Family>>{};
    else
      return kinds{};
  }
  using type = decltype(whole());
};

template <class X, class Y>
struct mean_squared_error_rule {
  using type = verdict<one_is_invalid<X, Y>, say::mean_squared_error,
                       say::expects_two_tensors_or_two_values_of_one_formula>;
};
template <class X, class Y>
  requires are_of_one_kind<X, Y>
struct mean_squared_error_rule<X, Y> {
  using type = first_error<
      floating<say::mean_squared_error, typename X::value_type>,
      same_element<say::mean_squared_error, typename X::value_type, typename Y::value_type>,
      same_shape<say::mean_squared_error, layout_of<X>, layout_of<Y>>>;
};
}  // namespace rules

template <class Node, class... Axes>
constexpr auto sum_over(const Node& x, shape<Axes...>) noexcept {
  if constexpr (sizeof...(Axes) == 0)
    return x;
  else
    return x.template reduce<say::sum, kernel::plain::sum_of, typename Axes::family...>();
}
template <class Node>
constexpr auto sum_of_all(const Node& x) noexcept {
  return sum_over(x, typename layout_of<Node>::axes{});
}

template <template <std::size_t> class Axis, class... Options>
struct cross_entropy_of_nodes {
  template <class Logits, class Label>
  constexpr auto operator()(const Logits& logits, const Label& label) const noexcept {
    using axes = typename layout_of<Logits>::axes;
    using repeated = algebra::broadcast_to<layout_of<Label>, axes>;
    constexpr std::size_t count = layout_of<Logits>::template size_of<family_of<Axis>>;
    constexpr double smoothing = (0.0 + ... + smoothing_of<Options>);
    const auto of_row = label.template reread<repeated>(0);
    const auto is_label = counts<Options...>(of_row, of_row == position<Axis>);
    const auto counted = sum<Axis>(formulas::where(is_label, 1, 0));
    const auto rows = formulas::maximum(sum_of_all(counted), 1);
    // Logits of rows that aren't counted are 0: NaN or infinity would make their gradient NaN.
    const auto logarithm = log_softmax<Axis>(formulas::where(counted > 0, logits, 0));
    // Unselected values don't matter, not even NaN. The sum of a row that isn't counted is 0.
    const auto chosen = sum<Axis>(formulas::where(is_label, logarithm, 0));
    // 0 - sum, since -sum, and for a single row the sum of -chosen, would be -0 without a loss.
    if constexpr (smoothing == 0) {
      return (0 - sum_of_all(chosen)) / rows;
    } else {
      const auto all = formulas::where(counted > 0, sum<Axis>(logarithm), 0);
      return (0 - sum_of_all(chosen * (1 - smoothing) + all * (smoothing / count))) / rows;
    }
  }

 private:
  // Without the rows of ignored labels.
  template <class... All, class Row, class Condition>
  static constexpr auto counts(const Row& row, const Condition& is_label) noexcept {
    if constexpr (sizeof...(All) == 0)
      return is_label;
    else
      return without_first<All...>(row, is_label);
  }
  template <class Option, class... More, class Row, class Condition>
  static constexpr auto without_first(const Row& row, const Condition& is_label) noexcept {
    if constexpr (requires { ignored(Option{}); })
      return counts<More...>(row, is_label && row != ignored(Option{}));
    else
      return counts<More...>(row, is_label);
  }
  template <std::ptrdiff_t Label>
  static constexpr int ignored(ignored_label<Label>) noexcept {
    return static_cast<int>(Label);
  }
};

struct mean_squared_error_of_nodes {
  template <class X, class Y>
  constexpr auto operator()(const X& x, const Y& y) const noexcept {
    const auto apart = x - y;
    return sum_of_all(apart * apart) / static_cast<int>(layout_of<X>::count);
  }
};

template <class Verdict, class Loss, class X, class Y>
constexpr auto loss_of(const X& x, const Y& y) noexcept {
  if constexpr (!Verdict::ok || one_is_invalid<X, Y>)
    return invalid{};
  else if constexpr (formulas::a_node<X>)
    return Loss{}(x, y);
  else
    return formula<Loss>(Loss{})(x, y);
}

}  // namespace detail

// cross_entropy<classes>(logits, label): the mean over the rows of -log softmax(logits) at the
// label, like torch's. logits: any axes with classes; label: integers with the other axes, in their
// order; a tensor or view without axes for one row. A label that is not a class, and the one of
// ignored_label<>, has no loss or gradient and is not counted; if none is counted, the loss is +0.
//   "umbel: cross_entropy: [batch=4] and [batch=2] have different axes"
template <template <std::size_t> class Axis, class... Options, class Logits, class Label>
[[nodiscard]] constexpr auto cross_entropy(const Logits& logits, const Label& label) noexcept {
  using verdict = typename detail::rules::cross_entropy_rule<detail::family_of<Axis>, Logits, Label,
                                                             Options...>::type;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::loss_of<verdict, detail::cross_entropy_of_nodes<Axis, Options...>>(logits, label);
}

// Without labels: refused.
template <template <std::size_t> class Axis, class... Options, class Logits>
constexpr auto cross_entropy(const Logits&) noexcept {
  using verdict = detail::in_its_line<
      detail::verdict<detail::one_is_invalid<Logits>, detail::say::cross_entropy,
                      detail::say::expects_logits_and_labels_both_tensors_or_both_of_one_formula>,
      Logits>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

// mean_squared_error(x, y): the mean over all elements of (x - y)^2; x and y have the same axes.
template <class X, class Y>
[[nodiscard]] constexpr auto mean_squared_error(const X& x, const Y& y) noexcept {
  using verdict = typename detail::rules::mean_squared_error_rule<X, Y>::type;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::loss_of<verdict, detail::mean_squared_error_of_nodes>(x, y);
}

// Would cross_entropy<Axis>(logits, label) compile?
template <class Logits, class Label, template <std::size_t> class Axis>
concept cross_entropy_fits = detail::fits<
    typename detail::rules::cross_entropy_rule<detail::family_of<Axis>, Logits, Label>::type>;

// Without the axis: refused.
template <class Logits, class Label>
  requires(detail::shaped<Logits> || detail::one_is_invalid<Logits>)
constexpr auto cross_entropy(const Logits&, const Label&) noexcept {
  using verdict = detail::in_its_line<
      detail::verdict<
          detail::one_is_invalid<Logits, Label>, detail::say::cross_entropy,
          detail::say::needs_the_axis_of_the_classes_so_write_cross_entropy_of_that_axis>,
      Logits>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

namespace detail {
template <class Logits, class Label>
using options_of_cross_entropy =
    in_its_line<verdict<one_is_invalid<Logits, Label>, say::cross_entropy,
                        say::has_the_axis_and_then_options_as_template_arguments>,
                Logits>;
}  // namespace detail
// Options before the axis, an axis with its size and the like: refused.
#define UMBEL_INSTEAD                                                                     \
  "has first the axis, then options as template arguments; write cross_entropy<classes, " \
  "ignored_label<0>>(logits, labels)"
UMBEL_REFUSED_RESULT(cross_entropy, UMBEL_INSTEAD)
UMBEL_REFUSES_NUMBERS_OF_TENSOR(cross_entropy, UMBEL_INSTEAD)
UMBEL_REFUSES_OF_TENSOR(cross_entropy, UMBEL_INSTEAD, UMBEL_TYPES)
UMBEL_REFUSES_OF_TENSOR(cross_entropy, UMBEL_INSTEAD, UMBEL_TWO_NAMES)
#if UMBEL_CLANG
UMBEL_REFUSES_OF_TENSOR(cross_entropy, UMBEL_INSTEAD, UMBEL_NAME Axis,
                        template <std::ptrdiff_t> class Option)
#endif
#undef UMBEL_INSTEAD
// Options as arguments: refused.
template <template <std::size_t> class Axis, class... Options, class Logits, class Label,
          class Option, class... More>
constexpr auto cross_entropy(const Logits&, const Label&, const Option&, const More&...) noexcept {
  using verdict = detail::options_of_cross_entropy<Logits, Label>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}
// With an axis: refused.
template <template <std::size_t> class... Axes, class X, class Y>
  requires(sizeof...(Axes) != 0)
constexpr auto mean_squared_error(const X&, const Y&) noexcept {
  using verdict = detail::in_its_line<
      detail::verdict<detail::one_is_invalid<X, Y>, detail::say::mean_squared_error,
                      detail::say::is_of_all_axes_so_write_it_without_one>,
      X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return detail::refusal<verdict>();
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
