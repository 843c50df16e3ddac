// SPDX-License-Identifier: BSL-1.0
// The numbers of a formula in integers, packed from floats for the steps that formula_plan.hpp has
// chosen and formula_steps.hpp computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/formula/formula.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/kernel/integer/norm.hpp>
#include <umbel/quantized/formula_plan.hpp>
#include <umbel/quantized/linear.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// How far a walk goes along an axis.
struct whole_axes {
  template <unsigned long long Family, std::size_t Size>
  static constexpr std::size_t count() noexcept {
    return Size;
  }
};
// Calls f(position in Over, position in each of By ...) along all axes of Over, in order, with
// loops that the compiler sees. index: of each axis.
template <const axis_list& Over, const axis_list&... By>
struct walk {
  template <std::size_t A, class F, class Counts, class... At>
  UMBEL_INLINE static constexpr void nest(const F& f, const Counts& counts, std::size_t* index,
                                          std::size_t i, At... at) noexcept {
    if constexpr (A == Over.rank) {
      f(i, at...);
    } else {
      constexpr std::size_t inner = [] {
        std::size_t count = 1;
        for (std::size_t a = A + 1; a < Over.rank; ++a) count *= Over.size[a];
        return count;
      }();
      const std::size_t count = counts.template count<Over.family[A], Over.size[A]>();
      for (std::size_t k = 0; k < count; ++k) {
        index[A] = k;
        nest<A + 1>(f, counts, index, i + k * inner, (at + k * By.stride_of(Over.family[A]))...);
      }
    }
  }
  template <class F, class Counts = whole_axes>
  UMBEL_INLINE static constexpr void with_index(std::size_t* index, const F& f,
                                                const Counts& counts = {}) noexcept {
    nest<0>(f, counts, index, 0, (static_cast<void>(By), std::size_t{0})...);
  }
  template <class F, class Counts = whole_axes>
  UMBEL_INLINE static constexpr void each(const F& f, const Counts& counts = {}) noexcept {
    std::size_t index[formulas::most_axes]{};
    with_index(index, f, counts);
  }
};

// The numbers of nodes, which don't depend on the sizes of axes without weights.
struct no_numbers {};
template <class I, std::size_t Count>
struct integer_values {  // of a constant, or a table
  I values[Count]{};
};
template <std::size_t Operands>
struct sum_numbers {
  std::int16_t multiplier[Operands]{};
  std::uint8_t shift = 0;
};
template <std::size_t Operands>
struct sum_or_numbers : sum_numbers<Operands> {
  std::int16_t number[Operands]{};  // of each operand that is one
};
struct unit_numbers {  // of a product, or a mean
  kernel::plain::integer_unit unit;
};
struct contraction_numbers {
  std::int16_t multiplier = 0;
  std::uint8_t before = 0, after = 0;
};
template <int N, class Numbers>
struct numbered : Numbers {};
template <class Sequence, class... Numbers>
struct all_numbers;
template <int... N, class... Numbers>
struct all_numbers<std::integer_sequence<int, N...>, Numbers...> : numbered<N, Numbers>... {};
template <int N, class Numbers>
constexpr Numbers& numbers_at(numbered<N, Numbers>& all) noexcept {
  return all;
}
template <int N, class Numbers>
constexpr const Numbers& numbers_at(const numbered<N, Numbers>& all) noexcept {
  return all;
}

template <class Argument>
inline constexpr bool is_float_tensor = false;
template <class E, class Layout>
inline constexpr bool is_float_tensor<formulas::tensor_argument<E, Layout>> =
    std::is_floating_point_v<E>;

// F with arguments X: its plan. OfBlock: is it a part of a block?
template <bool OfBlock, class F, class... X>
struct planned_formula {
  using T = typename formulas::computed_type<typename formulas::argument_of<X>::type...>::type;
  using schedule = formulas::scheduled<F, true, typename formulas::argument_of<X>::type...>;
  static constexpr bool floats[sizeof...(X) + 1] = {
      is_float_tensor<typename formulas::argument_of<X>::type>..., false};
  static constexpr auto graph = formulas::with_stored_lookups(schedule::traced);
  static constexpr auto plan = make_integer_plan(graph, floats, OfBlock);
  // The node whose numbers node N has.
  template <int N>
  static constexpr int numbered_as = N;
  // In a step of a cache: does node N have keys of all positions so far? Do its loops end at the
  // last position, not at the last key? Does it have new positions only along an axis?
  template <int N>
  static constexpr bool has_past = false;
  template <int N>
  static constexpr bool reads_past = false;
  template <int N, unsigned long long Family>
  static constexpr bool is_new = false;
};
// Planned: a plan, of a whole call or of a step of a cache.
template <class Planned>
struct integer_model : Planned {
  using T = typename Planned::T;
  using Planned::floats;
  static constexpr const auto& plan = Planned::plan;
  static constexpr int nodes = plan.g.count;
  template <std::size_t R = 0>
  static constexpr int result = plan.g.result[R].node;
  static constexpr std::size_t results = plan.g.results;
  template <int N>
  using integer = std::conditional_t<plan.wide[plan.root[N]], std::int16_t, std::int8_t>;
  template <std::size_t Slot>
  static constexpr int node_of_argument = [] {
    int n = 0;
    while (n < nodes && !(plan.at(n).what == word::argument && plan.at(n).slot == Slot)) ++n;
    return n;
  }();
  // Of argument number Slot in a call. The graph may not have it.
  template <std::size_t Slot, class E>
  static auto element_of() {
    if constexpr (!floats[Slot])
      return std::type_identity<E>{};
    else if constexpr (node_of_argument<Slot> == nodes)
      return std::type_identity<std::int8_t>{};
    else
      return std::type_identity<integer<node_of_argument<Slot>>>{};
  }
  template <std::size_t Slot, class E>
  using element = typename decltype(element_of<Slot, E>())::type;
  template <int N>
  static auto numbers_of() {
    constexpr integer_step step = plan.step[N];
    constexpr const auto& node = plan.at(N);
    if constexpr (!plan.needed[N])
      return std::type_identity<no_numbers>{};
    else if constexpr (step == integer_step::constant)
      return std::type_identity<integer_values<integer<N>, node.axes.count()>>{};
    else if constexpr (step == integer_step::table)
      return std::type_identity<integer_values<integer<N>, 256>>{};
    else if constexpr (step == integer_step::sum)
      return std::type_identity<sum_numbers<2>>{};
    else if constexpr (plan.takes_numbers(N))
      return std::type_identity<sum_or_numbers<node.operands - first_value<N>>>{};
    else if constexpr (step == integer_step::product || step == integer_step::mean)
      return std::type_identity<unit_numbers>{};
    else if constexpr (step == integer_step::contraction)
      return std::type_identity<contraction_numbers>{};
    else if constexpr (step == integer_step::softmax)
      return std::type_identity<kernel::integer_softmax>{};
    else if constexpr (step == integer_step::projection)
      return std::type_identity<kernel::integer_panels<inputs<N>, outputs<N>>>{};
    else if constexpr (step == integer_step::norm)
      return std::type_identity<kernel::integer_norm_numbers<node.axes.size_of(node.family)>>{};
    else
      return std::type_identity<no_numbers>{};
  }
  // The first operand after a condition.
  template <int N>
  static constexpr std::size_t first_value = plan.step[N] == integer_step::choice;
  // Of a projection.
  template <int N>
  static constexpr std::size_t inputs = plan.at(N).from[0].axes.size_of(plan.at(N).summed[0]);
  template <int N>
  static constexpr std::size_t outputs =
      plan.at(N).axes.count() * inputs<N> / plan.at(N).from[0].axes.count();
  using sequence = std::make_integer_sequence<int, nodes>;
  template <int... N>
  static all_numbers<std::integer_sequence<int, N...>, typename decltype(numbers_of<N>())::type...>
      all_of(std::integer_sequence<int, N...>);
  using numbers = decltype(all_of(sequence{}));
  // Axes by themselves: an address inside the plan would keep it in the program.
  template <int N>
  static constexpr axis_list axes = plan.at(N).axes;
  template <int N, std::size_t J>
  static constexpr axis_list axes_of_operand = plan.at(N).from[J].axes;
  template <int N>
  static constexpr axis_list axes_of_leaf = plan.leaf[N].axes;
  // The summed axes of a contraction or reduction, with the strides in operand J.
  template <int N, std::size_t J>
  static constexpr axis_list summed = [] {
    axis_list list;
    const operand& from = plan.at(N).from[J];
    for (std::size_t s = 0; s < plan.at(N).sums; ++s)
      list.push(plan.at(N).summed[s], from.axes.size_of(plan.at(N).summed[s]),
                from.axes.stride_of(plan.at(N).summed[s]));
    return list;
  }();

  // ---- packing

  // The function of a table, of its value v. parts: of arguments.
  template <int N, int Table>
  static constexpr double function_of(double v, const formulas::captured<T>* parts) noexcept {
    constexpr const auto& node = plan.at(N);
    if constexpr (node.what == word::number)
      return static_cast<double>(node.number);
    else if constexpr (node.what == word::argument)
      return static_cast<double>(parts[node.slot - plan.g.arguments].values[0]);
    else
      return [&]<std::size_t... J>(std::index_sequence<J...>) {
        const auto operand_of = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
          if constexpr (node.from[K] == plan.leaf[Table])
            return v;
          else
            return function_of<node.from[K].node, Table>(v, parts);
        };
        return outside_of<node.what>(operand_of(std::integral_constant<std::size_t, J>{})...);
      }(std::make_index_sequence<node.operands>{});
  }
  // An operation on single numbers; conditions are 1 or 0.
  template <word W, class... V>
  static constexpr double outside_of(V... v) noexcept {
    const double of[] = {v...};
    if constexpr (W == word::less)
      return of[0] < of[1];
    else if constexpr (W == word::less_or_equal)
      return of[0] <= of[1];
    else if constexpr (W == word::equal)
      return of[0] == of[1];
    else if constexpr (W == word::not_equal)
      return of[0] != of[1];
    else if constexpr (W == word::logical_not)
      return of[0] == 0;
    else if constexpr (W == word::logical_and)
      return of[0] != 0 && of[1] != 0;
    else if constexpr (W == word::logical_or)
      return of[0] != 0 || of[1] != 0;
    else if constexpr (W == word::where)
      return of[0] != 0 ? of[1] : of[2];
    else
      return formulas::number_of<W>(v...);
  }

  // Of each node, the value of its 1.
  struct units {
    double of[static_cast<std::size_t>(nodes)]{};
    constexpr double operator()(int n) const noexcept { return plan.scale[n] * of[plan.group[n]]; }
  };
  // input, output: the units that a block wants of its part; an output of 0 is that of its range.
  template <class Seen>
  static constexpr units units_of(const Seen& seen, const formulas::captured<T>* parts,
                                  double input, double output) noexcept {
    units u;
    for (int n = 0; n < nodes; ++n) {
      if (!plan.needed[n] || plan.group[n] != n) continue;
      const bool is_input = plan.of_block && plan.step[n] == integer_step::given;
      if (is_input || (n == plan.group[result<>] && output > 0)) {
        u.of[n] = is_input ? input : output / plan.scale[result<>];
        continue;
      }
      double largest = 0, scale = 1;
      if (plan.step[n] == integer_step::constant && plan.observed[n] == no_node) {
        const T* const values = parts[plan.at(n).slot - plan.g.arguments].values;
        for (std::size_t i = 0; i < plan.at(n).axes.count(); ++i) {
          const double v = magnitude(static_cast<double>(values[i]));
          if (v > largest) largest = v;
        }
        if (!(largest > 0)) largest = 1;
      } else if constexpr (plan.ranges != 0) {
        if (plan.observed[n] != no_node) {
          largest = static_cast<double>(seen.values[plan.range[plan.observed[n]]]());
          scale = plan.scale[plan.observed[n]];
        }
      }
      u.of[n] = (plan.wide[n] ? unit_of_residual(largest) : unit_of_int8(largest)) / scale;
    }
    return u;
  }
  template <std::size_t Operands>
  static constexpr void pack_factors(sum_numbers<Operands>& to,
                                     const double (&factor)[Operands]) noexcept {
    double largest = 0;
    for (const double one : factor) largest = one > largest ? one : largest;
    int shift = 29;
    while (shift > 1 && largest * power_of_two(shift) > 16383) --shift;
    for (std::size_t j = 0; j < Operands; ++j)
      to.multiplier[j] = static_cast<std::int16_t>(rounded(factor[j] * power_of_two(shift), 16383));
    to.shift = static_cast<std::uint8_t>(shift);
  }
  template <int N>
  static constexpr void pack(numbers& all, const units& unit,
                             const formulas::captured<T>* parts) noexcept {
    constexpr integer_step step = plan.step[N];
    constexpr std::int32_t most = most_of<integer<N>>;
    auto& to = numbers_at<N>(all);
    const auto& node = plan.at(N);
    // The first of its parts, if it has any.
    constexpr bool has_parts = plan.at(N).slot != npos && plan.at(N).slot >= plan.g.arguments;
    const formulas::captured<T>* const part =
        parts + (has_parts ? plan.at(N).slot - plan.g.arguments : 0);
    if constexpr (!plan.needed[N]) {
    } else if constexpr (step == integer_step::constant) {
      for (std::size_t i = 0; i < axes<N>.count(); ++i)
        to.values[i] =
            static_cast<integer<N>>(rounded(static_cast<double>(part->values[i]) / unit(N), most));
    } else if constexpr (step == integer_step::table) {
      for (int i = 0; i < 256; ++i)
        to.values[i] = static_cast<integer<N>>(
            rounded(function_of<N, N>((i - 128) * unit(plan.leaf[N].node), parts) / unit(N), most));
    } else if constexpr (step == integer_step::sum) {
      pack_factors(to, {unit(node.from[0].node) / unit(N), unit(node.from[1].node) / unit(N)});
      if (node.what == word::subtract)
        to.multiplier[1] = static_cast<std::int16_t>(-to.multiplier[1]);
    } else if constexpr (plan.takes_numbers(N)) {
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        const auto factor = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
          constexpr int from = plan.at(N).from[first_value<N> + K].node;
          if constexpr (plan.is_number(from)) {
            const double v = function_of<from, N>(0, parts) / unit(N);
            to.number[K] = static_cast<std::int16_t>(rounded(v, most));
            return 0.0;
          } else {
            return unit(from) / unit(N);
          }
        };
        pack_factors(to, {factor(std::integral_constant<std::size_t, J>{})...});
      }(std::make_index_sequence<plan.at(N).operands - first_value<N>>{});
    } else if constexpr (step == integer_step::product) {
      to.unit = integers::unit(unit(node.from[0].node) * unit(node.from[1].node), unit(N));
    } else if constexpr (step == integer_step::mean) {
      constexpr std::size_t count = summed<N, 0>.count();
      constexpr double kept = power_of_two(kernel::plain::digits_of_mean<count>);
      const double of_mean = unit(node.from[0].node) * kept;
      to.unit = integers::unit(
          node.reduces_by == reduction::sum ? of_mean : of_mean / static_cast<double>(count),
          unit(N));
    } else if constexpr (step == integer_step::contraction) {
      const double factor[] = {unit(node.from[0].node) * unit(node.from[1].node) / unit(N)};
      const double sums[] = {128.0 * 127 * static_cast<double>(summed<N, 0>.count())};
      const auto [before, after] = shifts_of_sums(factor, sums);
      to.before = static_cast<std::uint8_t>(before);
      to.after = static_cast<std::uint8_t>(after);
      to.multiplier = multiplier_of_sums(factor[0], sums[0], before, after);
    } else if constexpr (step == integer_step::softmax) {
      to = integers::softmax<8>(unit(node.from[0].node), 1, 1);
    } else if constexpr (step == integer_step::projection) {
      // In any order of in and out, if they have strides.
      const bool in_order = part->integer == 0;
      const std::size_t in = in_order ? to.out : static_cast<std::size_t>(part->integer >> 32);
      const std::size_t out = in_order ? 1 : static_cast<std::uint32_t>(part->integer);
      integers::pack(
          to, [&](std::size_t i, std::size_t o) { return part->values[i * in + o * out]; },
          [&](std::size_t o) { return plan.at(N).has_bias ? part->bias[o] : T{}; },
          unit(node.from[0].node), unit(N));
    } else if constexpr (step == integer_step::norm) {
      constexpr bool has_beta = plan.at(N).norm == norm_form::layer_norm;
      integers::pack<plan.at(N).norm != norm_form::rms_norm>(
          to, [&](std::size_t i) { return part[0].values[i]; },
          [&](std::size_t i) { return has_beta ? part[has_beta].values[i] : T{}; },
          static_cast<double>(part[1 + has_beta].number), unit(node.from[0].node), unit(N));
    }
  }
  // Returns the unit of the first result.
  template <class Seen, int... N>
  static constexpr double pack_all(numbers& all, const Seen& seen,
                                   const formulas::captured<T>* parts,
                                   std::integer_sequence<int, N...>, double input = 0,
                                   double output = 0) noexcept {
    const units unit = units_of(seen, parts, input, output);
    (pack<N>(all, unit, parts), ...);
    return unit(result<>);
  }
};
template <bool OfBlock, class F, class... X>
using integer_formula_in = integer_model<planned_formula<OfBlock, F, X...>>;
template <class F, class... X>
using integer_formula = integer_formula_in<false, F, X...>;

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
