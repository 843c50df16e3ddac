// SPDX-License-Identifier: BSL-1.0
// A block, read: its slots, which have weights, in the order of the weights; and its events, the
// steps of a pass in order. Users fold over the events. Nothing here computes.
#pragma once

#include <umbel/block/parts.hpp>
#include <umbel/block/transformer.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
// A layer made of a list of parts: residual_block, encoder_layer, decoder_layer.
template <class Layer>
concept is_of_parts = requires { typename Layer::described; };
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET::detail::residual {

// A name of a part, as sentences print it.
template <class Name>
concept is_part_name = requires {
  Name::text;
  typename Name::template member<nothing>;
};
template <class Name>
struct speakable_name {
  using type = option_word<Name>;
};
template <is_part_name Name>
struct speakable_name<Name> {
  using type = say::part_name<Name>;
};

using portable::nth_type;

template <class Name, class Layer>
struct slot {
  using name = Name;
  using layer = Layer;
};
template <class... List>
struct joined;
template <class... A>
struct joined<list<A...>> {
  using type = list<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<list<A...>, list<B...>, Rest...> : joined<list<A..., B...>, Rest...> {};

// The factors of features: weights with a gamma, as an rms_norm.
template <class T, class Hidden>
struct branch_scale {
  using norm = rms_norm<T, Hidden>;
  using weights = typename norm::weights;
  using weights_view = typename norm::weights_view;
  template <class>
  using packed_weights = typename norm::template packed_weights<>;
};
template <class Layer>
inline constexpr bool is_branch_scale = false;
template <class T, class Hidden>
inline constexpr bool is_branch_scale<branch_scale<T, Hidden>> = true;

template <class Name, class Layer>
using slot_if_named =
    std::conditional_t<std::is_same_v<Name, none>, list<>, list<slot<Name, Layer>>>;
// In the order of the weights: norm, parts, norm of the branch, its scale.
template <class T, class Hidden, class Norm, class Step, class Parts = typename Step::parts>
struct slots_of_step;
template <class T, class Hidden, class Norm, class Step, class... Part>
struct slots_of_step<T, Hidden, Norm, Step, list<Part...>>
    : joined<slot_if_named<typename Step::before, Norm>, slot_if_named<typename Step::after, Norm>,
             list<slot<typename Part::name, typename Part::template layer<T, Hidden>>...>,
             slot_if_named<typename Step::behind, Norm>,
             slot_if_named<typename Step::scale_name, branch_scale<T, Hidden>>> {};

enum class act { before, part, joined, after };
// slot: of the norm or the part. number: of the part in the block, or of the first of the step.
struct event {
  act what;
  std::size_t step, part, slot, number;
  reads sees;
  constexpr bool is_whole() const noexcept { return what == act::part && sees != reads::row; }
};

// Does a step make the input of its parts: by a norm or, if several read the same, a copy?
template <class Step>
inline constexpr bool step_makes_input = Step::norms_before || (Step::parts::size > 1);
template <class Parts>
struct facts_of;
template <class... Part>
struct facts_of<list<Part...>> {
  static constexpr reads sees[sizeof...(Part) + 1] = {Part::sees..., reads::row};
};
// Writes the events of a step to `to`; slot and number: of the next slot and part.
template <class Step>
constexpr void add_events(event*& to, std::size_t step, std::size_t& slot, std::size_t& number) {
  const std::size_t norm = slot;
  slot += Step::norms_before + Step::norms_after;
  const std::size_t behind = slot + Step::parts::size;
  if (Step::parts::size > 0) *to++ = {act::before, step, 0, norm, number, reads::row};
  for (std::size_t p = 0; p < Step::parts::size; ++p) {
    *to++ = {act::part, step, p, slot++, number, facts_of<typename Step::parts>::sees[p]};
    *to++ = {act::joined, step, p, behind, number++, reads::row};
  }
  if (Step::norms_after) *to++ = {act::after, step, 0, norm, 0, reads::row};
  slot += Step::norms_behind + Step::has_layer_scale;
}
template <class... Step>
struct events_of {
  static constexpr std::size_t count =
      (std::size_t{0} + ... +
       ((Step::parts::size > 0) + 2 * Step::parts::size + Step::norms_after));
  static constexpr std::size_t parts = (std::size_t{0} + ... + Step::parts::size);
  struct made {
    event list[count]{};
  };
  static constexpr made all = [] {
    made m;
    event* to = m.list;
    std::size_t step = 0, slot = 0, number = 0;
    (add_events<Step>(to, step++, slot, number), ...);
    return m;
  }();
};

template <class Steps, class Options, class... Items>
struct sorted {
  using steps = Steps;
  using options = Options;
};
template <class... Steps, class... Options, class First, class... Rest>
struct sorted<list<Steps...>, option_list<Options...>, First, Rest...>
    : std::conditional_t<is_step<First>,
                         sorted<list<Steps..., First>, option_list<Options...>, Rest...>,
                         sorted<list<Steps...>, option_list<Options..., First>, Rest...>> {};

// Norms are always stored as they are.
template <class Layer, class Stored>
struct packed_of {
  using type = typename Layer::template packed_weights<Stored>;
};
template <takes_epsilon Layer, class Stored>
struct packed_of<Layer, Stored> {
  using type = typename Layer::template packed_weights<>;
};

template <std::size_t Number, class Stored>
struct numbered {
  UMBEL_NO_UNIQUE_ADDRESS Stored stored;
};
template <class Sequence, class... Stored>
struct all_stored;
template <std::size_t... Number, class... Stored>
struct all_stored<std::index_sequence<Number...>, Stored...> : numbered<Number, Stored>... {};
template <std::size_t Number, class Stored>
constexpr Stored& stored_at(numbered<Number, Stored>& one) noexcept {
  return one.stored;
}
template <std::size_t Number, class Stored>
constexpr const Stored& stored_at(const numbered<Number, Stored>& one) noexcept {
  return one.stored;
}

template <std::size_t I, class First, class... Rest>
constexpr const auto* nth_of(const First* first, const Rest*... rest) noexcept {
  if constexpr (I == 0)
    return first;
  else
    return nth_of<I - 1>(rest...);
}

template <class Block, class Name>
struct part_called {
  static constexpr std::size_t number = Block::template number_of_part<Name>;
  using verdict = detail::verdict<(number < Block::part_count), typename Block::word,
                                  struct has_no_part_called, typename speakable_name<Name>::type>;
  using type = typename Block::template part_layer<verdict::ok ? number : 0>;
};
// Without such a part: refused.
template <class Block, class Name>
struct layer_of_part : part_called<Block, Name> {
  static_assert(report<typename part_called<Block, Name>::verdict>::ok, "umbel: shapes do not fit");
};

template <class Layer>
struct rows_of_part;  // rows.hpp
// May a part write what it reads?
template <class Layer>
inline constexpr bool part_writes_in_place = rows_of_part<Layer>::in_place;

// The name of a block in sentences, and its weights: a struct with a member for each name. Layers
// with a struct in layer/parts.hpp have a different style.
struct block_style {
  using word = say::residual_block;
  template <class... Name>
  using weights = portable::named<Name...>;
};

// The weights of slots, in their order: owned, borrowed, packed.
template <class Style, class Slots>
struct weights_of_slots;
template <class Style, class... Slot>
struct weights_of_slots<Style, list<Slot...>> {
  using names = typename Style::template weights<typename Slot::name...>;
  using owned = typename names::template parts<typename Slot::layer::weights...>;
  using view =
      view_of_weights<typename names::template parts<typename Slot::layer::weights_view...>>;
  template <class Stored>
  using packed =
      packed_weights_of<view, typename names::template parts<
                                  typename packed_of<typename Slot::layer, Stored>::type...>>;
  template <std::size_t I>
  using layer = typename nth_type<I, typename Slot::layer...>::type;
  template <std::size_t I>
  using name = typename nth_type<I, typename Slot::name...>::type;
};

template <class T, class Hidden, class Steps, class Options, class Style>
struct description;
template <class T, class Hidden, class... Step, class... Options, class Style>
struct description<T, Hidden, list<Step...>, option_list<Options...>, Style> {
  using value_type = T;
  using word = typename Style::word;
  using hidden_axis = typename axis_or_none<Hidden>::plain;
  static constexpr std::size_t width = hidden_axis::size;
  using norms = norm_of_options<T, hidden_axis, Options...>;
  using norm = typename norms::type;
  static constexpr T epsilon = norms::epsilon;

  using steps = list<Step...>;
  template <std::size_t I>
  using step_at = typename nth_type<I, Step...>::type;
  using program = events_of<Step...>;
  static constexpr std::size_t event_count = program::count, part_count = program::parts;
  template <std::size_t I>
  static constexpr event event_at = program::all.list[I];
  static constexpr bool reads_normed = (step_makes_input<Step> || ...);
  static constexpr bool has_branch =
      ((Step::adds || Step::parts::size > 1 || !Step::norms_before) || ...);
  static constexpr bool has_parallel = ((Step::parts::size > 1) || ...);
  static constexpr bool has_memory = [] {
    bool found = false;
    for (const event& e : program::all.list) found = found || e.sees == reads::memory;
    return found;
  }();
  // The slot of the factors of a step, by the event of its join.
  template <std::size_t I>
  static constexpr std::size_t scale_slot =
      event_at<I>.slot + step_at<event_at<I>.step>::norms_behind;
  template <std::size_t I>
  static constexpr bool makes_input = step_makes_input<step_at<event_at<I>.step>>;
  // The first event from i on that needs all positions.
  static constexpr std::size_t next_whole(std::size_t i) noexcept {
    while (i < event_count && !program::all.list[i].is_whole()) ++i;
    return i;
  }

  using slots = typename joined<typename slots_of_step<T, hidden_axis, norm, Step>::type...>::type;
  using all_weights = weights_of_slots<Style, slots>;
  using weights = typename all_weights::owned;
  using weights_view = typename all_weights::view;
  template <class Stored>
  using packed_weights = typename all_weights::template packed<Stored>;
  template <std::size_t Slot>
  using layer_at = typename all_weights::template layer<Slot>;
  static constexpr std::size_t slot_of_part(std::size_t number) noexcept {
    for (const event& e : program::all.list)
      if (e.what == act::part && e.number == number) return e.slot;
    return 0;
  }
  static constexpr reads part_sees(std::size_t number) noexcept {
    for (const event& e : program::all.list)
      if (e.what == act::part && e.number == number) return e.sees;
    return reads::row;
  }
  static constexpr std::size_t step_of_part(std::size_t number) noexcept {
    for (const event& e : program::all.list)
      if (e.what == act::part && e.number == number) return e.step;
    return 0;
  }
  template <std::size_t Number>
  using part_layer = layer_at<slot_of_part(Number)>;
  template <std::size_t Slot>
  using slot_name = typename all_weights::template name<Slot>;
  template <std::size_t Number>
  using part_name = slot_name<slot_of_part(Number)>;
  // The number of the part with that name; part_count if there is none.
  template <class Name>
  static constexpr std::size_t number_of_part =
      []<std::size_t... Number>(std::index_sequence<Number...>) {
        std::size_t found = part_count;
        ((found = std::is_same_v<part_name<Number>, Name> ? Number : found), ...);
        return found;
      }(std::make_index_sequence<part_count>{});

  template <std::size_t Number>
  static constexpr bool writes_in_place = part_writes_in_place<part_layer<Number>>;

  // The weights in a slot: owned, borrowed or packed, by name or in a struct of layer/parts.hpp.
  template <std::size_t Slot, class Weights>
  static constexpr const auto& weights_at(const Weights& w) noexcept {
    return *with_members<slots::size>(w,
                                      [](const auto&... part) { return nth_of<Slot>(&part...); });
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::residual
UMBEL_WARNINGS_POP
