// SPDX-License-Identifier: BSL-1.0
// A step of the cache of a formula in integers: its plan, its memory, its refusals. The numbers are
// those of the packed formula, whatever the number of positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/decode/call_of_formula.hpp>
#include <umbel/quantized/formula.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
UMBEL_SAYS(keeps_8_and_16_bit_values_only_so_pass_bool_and_integers_along_key,
           "keeps 8-bit and 16-bit values only; pass bool and integers along key");
UMBEL_SAYS(are_more_positions_than_the_formula_was_quantized_for,
           "is more positions than the formula was quantized for, and sums without softmax may "
           "overflow; quantize it for as many");
UMBEL_SAYS(step_expects_out_the_formula_in_integers_and_its_tensors,
           "step expects out, the formula in integers and its tensors, of input_type; then a "
           "workspace");
template <class F, class... X>
inline constexpr bool decodes_as_formula<quantized<formula<F>, X...>> = true;
template <class F, class... X>
inline constexpr bool decodes_as_formula<quantized<const formula<F>, X...>> = true;

namespace integers {

// The plan of the whole sequence. Decoded: the formula, as a cache calls it.
template <class Decoded, class... X>
struct planned_sequence {
  using T = typename Decoded::T;
  static constexpr bool floats[sizeof...(X) + 1] = {
      is_float_tensor<typename formulas::argument_of<X>::type>..., false};
  static constexpr auto plan = make_integer_plan(Decoded::whole::read.g, floats, false);
};
// The kept values of a cache, in memory for those with 8 and those with 16 bits.
template <class Decoded, class Whole>
struct kept_integers {
  static constexpr bool is_wide(int n) noexcept { return Whole::plan.wide[Whole::plan.root[n]]; }
  // The number of elements with as many bits that are kept before node n.
  static constexpr std::size_t place(int n, bool wide) noexcept {
    const auto& read = Decoded::whole::read;
    std::size_t place = 0;
    for (int i = 0; i < n; ++i)
      if (read.keeps[i] && is_wide(i) == wide) place += read.room_of(read.kept_axes(i));
    return place;
  }
  template <bool Wide>
  static constexpr std::size_t room =
      place(Whole::plan.g.count, Wide) == 0 ? 1 : place(Whole::plan.g.count, Wide);
  // Loops go to the last position, so only panels read unused memory, which weighs 0.
  static constexpr void forget(std::size_t, std::size_t) noexcept {}
  alignas(64) std::int8_t narrow[room<false>]{};
  alignas(64) std::int16_t wide[room<true>]{};
};
// With at most so many new positions, loops read kept values in place, up to the last position.
// With more, products pack them into panels.
inline constexpr std::size_t few_positions = 16;

// The plan of a step of Rows positions. Whole: a planned_sequence.
template <class Decoded, std::size_t Rows, class Whole>
struct planned_step {
  using T = typename Decoded::T;
  using traced = typename Decoded::template traced_step<Rows>;
  static constexpr const auto& floats = Whole::floats;
  static constexpr auto plan =
      make_integer_step(traced::roles.g, floats, Whole::plan, traced::roles.origin);
  template <int N>
  static constexpr int numbered_as = traced::roles.origin[N];
  template <int N, unsigned long long Family>
  static constexpr bool is_new = traced::template is_new<Family, N>;
  static constexpr bool has_kept(int n) noexcept {
    for (std::size_t i = 0; i < plan.at(n).axes.rank; ++i)
      if (traced::roles.of[n][i] == formulas::role::kept) return true;
    return false;
  }
  template <int N>
  static constexpr bool has_past = [] {
    bool found = has_kept(N) && plan.step[N] != integer_step::append;
    for (std::size_t j = 0; j < plan.at(N).operands; ++j)
      found = found || has_kept(plan.at(N).from[j].node);
    return found;
  }();
  template <int N>
  static constexpr bool reads_past = Rows <= few_positions && has_past<N>;
  // ---- of an append
  template <int N>
  static constexpr std::size_t place_of =
      kept_integers<Decoded, Whole>::place(numbered_as<N>, plan.wide[N]);
  template <int N>
  static constexpr axis_list axes_of_append = [] {
    axis_list axes = plan.at(N).from[0].axes;
    for (std::size_t i = 0; i < axes.rank; ++i) axes.stride[i] = plan.at(N).axes.stride[i];
    return axes;
  }();
  template <int N>
  static constexpr std::size_t step_of_position = [] {
    for (std::size_t i = 0; i < plan.at(N).axes.rank; ++i)
      if (traced::roles.of[N][i] == formulas::role::kept) return plan.at(N).axes.stride[i];
    return traced::roles.step[N];
  }();
  template <int N>
  static constexpr std::size_t first_written(std::size_t position) noexcept {
    return traced::roles.before[N] + position * step_of_position<N>;
  }
  // A padded sequence is read from its new positions on.
  template <int N>
  static constexpr std::size_t first_read(std::size_t position) noexcept {
    return traced::roles.step[N] * position;
  }
};

// Kept: kept_integers; Capacity: of the cache.
template <class Kept, std::size_t Capacity>
struct past_of_formula {
  Kept& kept;
  std::size_t position, count;

  template <class I>
  constexpr I* values() const noexcept {
    if constexpr (sizeof(I) == 1)
      return kept.narrow;
    else
      return kept.wide;
  }
  struct keys {
    std::size_t so_far;
    template <unsigned long long Family, std::size_t Size>
    constexpr std::size_t count() const noexcept {
      if constexpr (Family == family_id<axis_family<axes::key>> && Size == Capacity)
        return so_far;
      else
        return Size;
    }
  };
  constexpr keys keys_so_far() const noexcept { return {position + count}; }
};

template <bool Ok, class Decoded, class... X>
struct cached_formula {
  using T = std::int8_t;
  using kept_values = formulas::no_kept_values;
  template <std::size_t>
  struct step {};
  template <std::size_t>
  using workspace = workspace_base;
};
template <class Decoded, class... X>
struct cached_formula<true, Decoded, X...> {
  using T = std::int8_t;
  using whole = planned_sequence<Decoded, X...>;
  using kept_values = kept_integers<Decoded, whole>;
  template <std::size_t Rows>
  using step = integer_model<planned_step<Decoded, Rows, whole>>;
  template <std::size_t Rows>
  using workspace = integer_workspace<step<Rows>>;
};

// Are the numbers of a packed formula those of the whole sequence? Form: of the packed formula.
template <class Form, class Decoded, class... X>
struct numbers_of_sequence {
  using whole = planned_sequence<Decoded, X...>;
  static constexpr bool agree = [] {
    constexpr const auto &a = Form::plan, &b = whole::plan;
    bool same = a.g.count == b.g.count;
    for (int n = 0; same && n < a.g.count; ++n) same = are_equal(a, b, n);
    return same &&
           std::is_same_v<typename Form::model::numbers, typename integer_model<whole>::numbers>;
  }();
  // Sums along keys, without softmax: of at most as many as the shifts are for.
  static constexpr bool sums_fit = [] {
    constexpr const auto &a = Form::plan, &b = whole::plan;
    for (int n = 0; agree && n < a.g.count; ++n)
      if (a.needed[n] && b.longest_sum(n) > a.longest_sum(n) &&
          (a.step[n] == integer_step::contraction || a.step[n] == integer_step::mean))
        return false;
    return true;
  }();
  static constexpr bool keeps_values = [] {
    constexpr const auto& b = whole::plan;
    for (int n = 0; n < b.g.count; ++n)
      if (Decoded::whole::read.keeps[n] && b.step[b.root[n]] == integer_step::outside) return false;
    return true;
  }();
  static constexpr int too_long = whole::plan.too_long;
};

template <bool Ok, std::size_t Capacity, class Form, class Decoded, class... X>
struct sequence_rule {
  using type = accepted;
};
template <std::size_t Capacity, class Form, class Decoded, class... X>
struct sequence_rule<true, Capacity, Form, Decoded, X...> {
  using numbers = numbers_of_sequence<Form, Decoded, X...>;
  using type = first_error<
      verdict<numbers::keeps_values, say::key_value_cache,
              say::keeps_8_and_16_bit_values_only_so_pass_bool_and_integers_along_key>,
      verdict<numbers::agree, say::key_value_cache,
              say::the_formula_uses_the_size_of_token_which_differs_in_a_step>,
      verdict<numbers::sums_fit && numbers::too_long == no_node, say::key_value_cache,
              axes::key<Capacity>, say::are_more_positions_than_the_formula_was_quantized_for>>;
};

// The types of key_value_cache<quantized<formula<F>, X...>, Keys>.
template <class Layer, class F, class Keys, class OptionsVerdict, class... X>
struct types_of_cache {
  using keys = Keys;
  static constexpr std::size_t capacity = OptionsVerdict::ok ? axis_or_none<Keys>::size : 1;
  using decoded = typename formulas::decoded_if<OptionsVerdict::ok, true, F, capacity,
                                                formulas::list<std::remove_cvref_t<X>...>>::type;
  using form = formula_in_integers<F, X...>;
  using by_position = first_error<OptionsVerdict, typename decoded::rule::type>;
  using verdict =
      first_error<by_position,
                  typename sequence_rule<by_position::ok, capacity, form, decoded, X...>::type>;
  using sizes = cached_formula<verdict::ok, decoded, X...>;
  using layer = Layer;
  template <class Given>
  static constexpr bool is_declared_for = std::is_base_of_v<quantized_formula<F, X...>, Given>;

  template <std::size_t, class, class Packed>
  static constexpr bool is_argument(const Packed*) noexcept {
    return true;
  }
  template <std::size_t I, class Given, class E, class Layout>
  static constexpr bool is_argument(const formulas::tensor_argument<E, Layout>*) noexcept {
    if constexpr (!tensor_like<Given>)
      return false;
    else
      return form::template has_type<I, Given, Layout, E>;
  }
  template <class... A>
  using has_positions =
      detail::verdict<formulas::new_positions<A...> != 0, say::key_value_cache,
                      say::step_expects_out_the_formula_in_integers_and_its_tensors>;
  // A call with tensors A, which are to be those of a step.
  template <class... A>
  struct decoded_by : decoded {
    static constexpr std::size_t count = formulas::new_positions<A...>;
    static constexpr bool fits = [] {
      if constexpr (sizeof...(A) != form::kinds::tensors)
        return false;
      else
        return []<std::size_t... I>(std::index_sequence<I...>) {
          return (
              is_argument<I, typename form::template nth<form::kinds::number(I), A...>>(
                  static_cast<typename decoded::template resized<count, capacity, X>*>(nullptr)) &&
              ...);
        }(std::index_sequence_for<X...>{});
    }();
    using rule = typename form::template tensors_rule<
        say::key_value_cache, say::step_expects_out_the_formula_in_integers_and_its_tensors,
        formulas::list<typename decoded::template resized<count, capacity, X>...>,
        std::index_sequence_for<X...>, A...>::type;
  };
  template <class Called>
  static constexpr bool is_declared_with = Called::fits;
  template <class Called>
  using other_arguments = typename Called::rule;
  template <std::size_t Rows>
  using traced = std::remove_cvref_t<typename decoded::template result<Rows>>;
  template <std::size_t Rows>
  using results = results_in_integers<typename sizes::template step<Rows>, traced<Rows>,
                                      formulas::row_major_layouts<traced<Rows>>>;
  template <class Called, std::size_t Rows, class Out>
  using outs_fit = typename results<Rows>::template fit<Out>::type;
  template <class Called, std::size_t Rows, class Out, class Scratch, class... A>
  static constexpr void run(typename sizes::kept_values& kept, std::size_t position,
                            const quantized_formula<F, X...>& packed, Out& out, Scratch& scratch,
                            const A&... a) noexcept {
    using past = past_of_formula<typename sizes::kept_values, capacity>;
    form::template compute_as<typename sizes::template step<Rows>, results<Rows>>(
        std::index_sequence_for<X...>{}, packed.numbers_, out, scratch, past{kept, position, Rows},
        a...);
  }
};
template <class Keys, class... Options>
using options_of_cache =
    first_error<rules::in_place<say::key_value_cache, Keys, axes::key>, rules::well_formed<Keys>,
                rules::options<say::key_value_cache, option_kinds<>, Options...>>;
}  // namespace integers

namespace formulas {
template <class F, class... X>
struct cache_of<quantized<formula<F>, X...>> {
  using calls =
      rules::calls_of_steps<say::step_expects_out_the_formula_in_integers_and_its_tensors,
                            say::a_cache_of_a_formula_has_no_append_or_attend_so_use_step>;
  template <class Keys, class... Options>
  using types = integers::types_of_cache<quantized<formula<F>, X...>, F, Keys,
                                         integers::options_of_cache<Keys, Options...>, X...>;
};
template <class F, class... X>
struct cache_of<quantized<const formula<F>, X...>> : cache_of<quantized<formula<F>, X...>> {};
}  // namespace formulas

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
