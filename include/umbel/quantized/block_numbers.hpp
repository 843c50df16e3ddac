// SPDX-License-Identifier: BSL-1.0
// A block in integers on the rows of one sequence: int16 residual sums, all with one unit, are
// normalized to int8 for the parts, whose results are added. Its ranges, numbers and pass.
//
// See block_parts.hpp for the kinds of parts, and block.hpp for axes, batches and stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/integer/linear.hpp>
#include <umbel/quantized/block_parts.hpp>
#include <umbel/quantized/norm.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {
using residual::act;
using residual::event;
using residual::joined;
using residual::list;
using residual::reads;
using residual::slot;

// A struct with a member for each name: slot<name, type>.
template <class Slots>
struct named_struct;
template <class... Slot>
struct named_struct<list<Slot...>> {
  using type =
      typename portable::named<typename Slot::name...>::template parts<typename Slot::layer...>;
};
template <class Slots>
struct named_members;
template <class... Slot>
struct named_members<list<Slot...>> : Slot::name::template member<typename Slot::layer>... {};
template <class Range, class Name>
struct slot_of_range {
  using type = slot<Name, Range>;
};
template <class Range, class Model>
struct slot_of_range<Range, values_of_formula<Model>> {
  using type = slot<range_names::formula, formula_ranges<Model, Range>>;
};
template <class Range, class Names>
struct ranges_of_names;
template <class Range, class... Name>
struct ranges_of_names<Range, list<Name...>>
    : named_struct<list<typename slot_of_range<Range, Name>::type...>> {};

// ---- ranges
//
// residual: x, all sums, and all norms of sums; for each part its input and result;
// memory: the input. A stack has one unit for residual and memory: the largest of its layers'.
template <class Block, class Weight>
struct block_ranges {
  template <std::size_t Number>
  using part = part_in_integers<typename Block::template part_layer<Number>, Weight>;
  // The first part that reads the memory, whose range precedes the part's.
  static constexpr std::size_t first_of_memory = [] {
    std::size_t i = 0;
    while (i < Block::part_count && Block::part_sees(i) != reads::memory) ++i;
    return i;
  }();
  template <class Range, std::size_t Number>
  using of_part = typename ranges_of_names<
      Range, typename joined<list<range_names::input>, typename part<Number>::names,
                             std::conditional_t<
                                 Block::template step_at<Block::step_of_part(Number)>::norms_behind,
                                 list<range_names::branch>, list<>>>::type>::type;
  template <class Range, std::size_t Number>
  using slots_of = typename joined<
      std::conditional_t<Number == first_of_memory, list<slot<range_names::memory, Range>>, list<>>,
      list<slot<typename Block::template part_name<Number>, of_part<Range, Number>>>>::type;
  template <class Range, std::size_t... Number>
  static named_struct<
      typename joined<list<slot<range_names::residual, Range>>, slots_of<Range, Number>...>::type>
      made(std::index_sequence<Number...>);
  template <class Range>
  using type = typename decltype(made<Range>(std::make_index_sequence<Block::part_count>{}))::type;

  template <std::size_t Number, class Seen>
  static constexpr auto& at(Seen& seen) noexcept {
    return seen.template get<1 + Number + (Number >= first_of_memory)>();
  }
};

// ---- scratch
//
// The parts' input shares memory with the heads' scratch, unless other parts still read it.
template <bool InOnePlace, class Normed, class Heads>
struct normed_and_heads {
  union {
    Normed normed;
    Heads heads;
  };
  constexpr std::int8_t* begin() noexcept {
    if (__builtin_is_constant_evaluated()) normed = {};
    return normed.rows;
  }
};
template <class Normed, class Heads>
struct normed_and_heads<false, Normed, Heads> {
  Normed normed;
  UMBEL_NO_UNIQUE_ADDRESS Heads heads;
  constexpr std::int8_t* begin() noexcept { return normed.rows; }
};
// Scratch of a head of part I, whose lifetime begins later: it holds the projections' input.
template <std::size_t I, class First, class... Rest>
constexpr auto& head_of_part(residual::one_of<First, Rest...>& heads) noexcept {
  if constexpr (I == 0)
    return heads.first;
  else
    return head_of_part<I - 1>(heads.rest);
}
// Positions: an index_sequence. Branch: of the elements of its rows.
template <class Positions, class Input, std::size_t Branch, class... Parts>
struct block_scratch : workspace_base {
  using positions = Positions;
  Input input;
  UMBEL_NO_UNIQUE_ADDRESS residual::rows_memory<std::int16_t, Branch> branch;
  residual::one_of<Parts...> parts;
};

// The rows of a pass: sums, a part's input, its result if a norm follows.
struct places_of_rows {
  std::int16_t* x;
  std::int8_t* input;
  std::int16_t* branch;
  constexpr places_of_rows at(std::size_t i) const noexcept {
    return {x + i, input + i, residual::from_element(branch, i)};
  }
};

// ---- numbers
template <std::size_t Steps>
struct units_of_steps {
  kernel::plain::integer_unit to_parts[Steps];  // of steps without a norm before their parts
};
template <class Layer, class Weight>
struct numbers_of {
  using type = typename part_in_integers<Layer, Weight>::numbers;
};
template <takes_epsilon Norm, class Weight>
struct numbers_of<Norm, Weight> {
  using type = norm_numbers<Norm>;
};
template <class T, class Hidden, class Weight>
struct numbers_of<residual::branch_scale<T, Hidden>, Weight> {
  using type = void;  // they are in the weights of the parts
};
// This order has the least padding.
template <class Slots, class Weight>
struct sorted_numbers;
template <class... Slot, class Weight>
struct sorted_numbers<list<Slot...>, Weight> {
  template <bool IsNorm, class Each>
  using only = std::conditional_t<
      takes_epsilon<typename Each::layer> == IsNorm &&
          !residual::is_branch_scale<typename Each::layer>,
      list<slot<typename Each::name, typename numbers_of<typename Each::layer, Weight>::type>>,
      list<>>;
  using norms = named_members<typename joined<list<>, only<true, Slot>...>::type>;
  using parts = named_members<typename joined<list<>, only<false, Slot>...>::type>;
};

// Block: a description, which names the members. Weight: the type of attention weights.
template <class Block, class Weight>
struct block_numbers : sorted_numbers<typename Block::slots, Weight>::norms,
                       units_of_steps<Block::steps::size>,
                       sorted_numbers<typename Block::slots, Weight>::parts {
  static constexpr std::size_t width = Block::width;
  using ranges_by_name = block_ranges<Block, Weight>;
  using ranges = typename ranges_by_name::template type<range>;
  using histograms = typename ranges_by_name::template type<magnitude_histogram>;
  template <std::size_t Number>
  using part = typename ranges_by_name::template part<Number>;
  template <std::size_t I>
  using step_of = typename Block::template step_at<Block::template event_at<I>.step>;
  using all_events = std::make_index_sequence<Block::event_count>;
  using all_parts = std::make_index_sequence<Block::part_count>;
  static constexpr bool norms_branches = []<std::size_t... I>(std::index_sequence<I...>) {
    return (step_of<I>::norms_behind || ...);
  }(all_events{});

  template <std::size_t Slot>
  using member_at = typename Block::template slot_name<Slot>::template member<
      typename numbers_of<typename Block::template layer_at<Slot>, Weight>::type>;
  template <std::size_t Slot>
  constexpr auto& at() noexcept {
    return static_cast<member_at<Slot>&>(*this).of_name();
  }
  template <std::size_t Slot>
  constexpr const auto& at() const noexcept {
    return static_cast<const member_at<Slot>&>(*this).of_name();
  }

  // Units: of the sums, of the memory.
  template <class View>
  constexpr void pack_block(const View& w, const ranges& seen, double sum, double memory) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (pack_event<I>(w, seen, sum, memory), ...);
    }(all_events{});
  }

  // ---- rows
  template <std::size_t N, std::size_t M>
  struct scratch_for_positions {
    template <std::size_t Number>
    static constexpr std::size_t keys = Block::part_sees(Number) == reads::memory ? M : N;
    template <std::size_t Number>
    static auto head_of() {
      if constexpr (Block::part_sees(Number) == reads::row)
        return std::type_identity<no_scratch>{};
      else
        return std::type_identity<typename part<Number>::template head<N, keys<Number>>>{};
    }
    template <std::size_t... Number>
    static block_scratch<
        std::conditional_t<Block::has_memory, std::index_sequence<N, M>, std::index_sequence<N>>,
        normed_and_heads<!Block::has_parallel, residual::rows_memory<std::int8_t, N * width>,
                         residual::one_of<typename decltype(head_of<Number>())::type...>>,
        norms_branches ? N * width : 0, typename part<Number>::template scratch<N, keys<Number>>...>
        made(std::index_sequence<Number...>);
    using type = decltype(made(all_parts{}));
  };
  template <std::size_t N, std::size_t M = N>
  using scratch_for = typename scratch_for_positions<N, M>::type;

  template <class Work>
  static constexpr places_of_rows place(std::int16_t* x, Work& work) noexcept {
    return {x, work.input.begin(), work.branch.rows};
  }
  // N rows of x become the result. Parts: runs the parts that need all positions.
  template <std::size_t N, class Work, class Parts>
  constexpr void rows(std::int16_t* x, Work& work, const Parts& parts) const noexcept {
    const places_of_rows p = place(x, work);
    if constexpr (requires { requires Parts::by_rows; })  // not in steps of a cache
      residual::events_on_first_rows<Block, N>(
          parts.rows().queries,
          [&]<std::size_t First, std::size_t Count, std::size_t R>(std::size_t at) {
            const places_of_rows here = p.at(at * width);
            on_each<First, R>(std::make_index_sequence<Count>{}, here, work, parts);
          });
    else
      on_each<0, N>(all_events{}, p, work, parts);
  }
  // By several workers: blocks of rows from one part that needs all of them to the next. Rows
  // between these rounds are in the workspace of worker 0.
  template <std::size_t N, std::size_t First = 0, class Given, class Parts>
  void rows_in_parts(const places_of_rows& p, const Given& given,
                     const Parts& parts) const noexcept {
    constexpr std::size_t end = Block::next_whole(First);
    if constexpr (First < end)
      each_block_of_rows<N, width>(given, parts.rows().queries,
                                   [&]<std::size_t R>(std::integral_constant<std::size_t, R>,
                                                      std::size_t at, auto& buffers) {
                                     const places_of_rows here = p.at(at);
                                     on_each<First, R>(std::make_index_sequence<end - First>{},
                                                       here, buffers, parts);
                                   });
    if constexpr (end < Block::event_count) {
      parts.template run_in_parts<end>(this->template at<Block::template event_at<end>.slot>(),
                                       p.input, step_of<end>::norms_behind ? p.branch : p.x,
                                       finish_of<end>{}, given);
      rows_in_parts<N, end + 1>(p, given, parts);
    }
  }

 private:
  template <std::size_t First, std::size_t N, std::size_t... I, class... Arguments>
  constexpr void on_each(std::index_sequence<I...>, Arguments&... arguments) const noexcept {
    (on<First + I, N>(arguments...), ...);
  }
  template <std::size_t I, std::size_t N, class Work, class Parts>
  constexpr void on(const places_of_rows& p, Work& work, const Parts& parts) const noexcept {
    constexpr event e = Block::template event_at<I>;
    using step = step_of<I>;
    if constexpr (e.what == act::before) {
      if constexpr (step::norms_before)
        at<e.slot>().template rows<N>(p.x, p.input);
      else
        kernel::integer_rescale<N * width>(p.x, this->to_parts[e.step], p.input);
    } else if constexpr (e.what == act::part) {
      constexpr finish_of<I> finish{};
      std::int16_t* const to = step::norms_behind ? p.branch : p.x;
      if constexpr (e.sees == reads::row)
        at<e.slot>().template feed<N>(p.input, to, finish, residual::start<e.number>(work.parts));
      else
        parts.template run<I>(at<e.slot>(), p.input, to, finish, work);
      // Memory of the next input was scratch of heads.
      if (e.sees != reads::row && __builtin_is_constant_evaluated())
        static_cast<void>(work.input.begin());
    } else if constexpr (e.what == act::joined && step::norms_behind) {
      at<e.slot>().template rows<N>(p.branch, p.branch);
      if constexpr (step::adds || e.part > 0)
        kernel::integer_sum<N * width>(p.branch, p.x);
      else
        for (std::size_t i = 0; i < N * width; ++i) p.x[i] = p.branch[i];
    } else if constexpr (e.what == act::after) {
      at<e.slot>().template rows<N>(p.x, p.x);
    }
  }
  // How a part writes: unchanged if a norm follows or no sum exists yet.
  template <std::size_t I>
  using finish_of =
      std::conditional_t<!step_of<I>::norms_behind &&
                             (step_of<I>::adds || Block::template event_at<I>.part > 0),
                         kernel::finish::added, kernel::finish::as_int16>;

  template <std::size_t I, class View>
  constexpr void pack_event(const View& w, const ranges& seen, double sum, double memory) noexcept {
    constexpr event e = Block::template event_at<I>;
    using step = step_of<I>;
    if constexpr (e.what == act::after) {
      pack_norm<e.slot>(w, sum, sum);
    } else {
      const double input = int8_unit(ranges_by_name::template at<e.number - e.part>(seen).input);
      const auto& of_part = ranges_by_name::template at<e.number>(seen);
      // The branch is scaled before it is added: this many of its units are one of the sum.
      const double added = sum / step::template scale<double>;
      const double branch = [&] {
        if constexpr (step::norms_behind)
          return unit_of_residual(static_cast<double>(of_part.branch()));
        else
          return added;
      }();
      if constexpr (e.what == act::before && step::norms_before)
        pack_norm<e.slot>(w, sum, input);
      else if constexpr (e.what == act::before)
        this->to_parts[e.step] = unit(sum, input);
      else if constexpr (e.what == act::part)
        part<e.number>::pack(at<e.slot>(), Block::template weights_at<e.slot>(w), of_part,
                             {input, e.sees == reads::memory ? memory : input, branch,
                              factors_of<I + 1, step::norms_behind>(w)});
      else if constexpr (step::norms_behind)
        pack_norm<e.slot>(w, branch, added, factors_of<I>(w));
    }
  }
  // The factors of a branch's features, by the event of its join; none if the norm has them.
  template <std::size_t Joined, bool NormHas = false, class View>
  static constexpr factors_of_features<typename Block::value_type> factors_of(
      const View& w) noexcept {
    if constexpr (step_of<Joined>::has_layer_scale && !NormHas)
      return {Block::template weights_at<Block::template scale_slot<Joined>>(w).gamma.data()};
    else
      return {};
  }
  template <std::size_t Slot, class View>
  constexpr void pack_norm(const View& w, double from, double to,
                           factors_of_features<typename Block::value_type> factors = {}) noexcept {
    at<Slot>().pack_norm(Block::template weights_at<Slot>(w), static_cast<double>(Block::epsilon),
                         from, to, factors);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
