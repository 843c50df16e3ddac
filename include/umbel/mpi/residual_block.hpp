// SPDX-License-Identifier: BSL-1.0
// A block over processes, sharded<block, over<heads, ranks<4>>>: an encoder_layer, a decoder_layer,
// any other residual_block, or a layer_stack of one. The pass is that of rows (block/rows.hpp),
// over a block with a rank's parts (parts.hpp); all ranks compute norms and residual sums.
#pragma once

#include <umbel/block/residual_block.hpp>
#include <umbel/config.hpp>
#include <umbel/mpi/parts.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {

// ---- a block of a rank's parts
template <class Part, class Ranks>
struct named_part_of_rank {
  using name = typename Part::name;
  static constexpr auto sees = Part::sees;
  template <class T, class Hidden>
  using layer = part_of_rank<typename Part::template layer<T, Hidden>, Ranks>;
};
template <class Step, class Ranks, class Parts = typename Step::parts>
struct step_of_rank;
template <class Step, class Ranks, class... Part>
struct step_of_rank<Step, Ranks, residual::list<Part...>> {
  using type = typename Step::template of_parts<residual::list<named_part_of_rank<Part, Ranks>...>>;
};
template <class Block, class Ranks>
struct block_of_rank;
template <class T, class Hidden, class... Step, class Options, class Style, class Ranks>
struct block_of_rank<residual::description<T, Hidden, residual::list<Step...>, Options, Style>,
                     Ranks> {
  using type = residual::description<T, typename axis_or_none<Hidden>::plain,
                                     residual::list<typename step_of_rank<Step, Ranks>::type...>,
                                     Options, Style>;
};

// Scratch, like a block's. Block: of a rank's parts.
template <class Block, class Ranks, std::size_t N, std::size_t M>
struct block_over_ranks_of {
  using T = typename Block::value_type;
  using ranks = Ranks;
  using positions =
      std::conditional_t<Block::has_memory, std::index_sequence<N, M>, std::index_sequence<N>>;
};
template <class Block, class Ranks, std::size_t N, std::size_t M>
struct memory_over_ranks<block_over_ranks_of<Block, Ranks, N, M>> {
  using T = typename Block::value_type;
  using numbers = std::make_index_sequence<Block::part_count>;
  template <std::size_t Number>
  using of_part = typename Block::template part_layer<Number>::template scratch<
      N, Block::part_sees(Number) == residual::reads::memory ? M : N>;
  template <std::size_t... Number>
  static residual::scratch_for<T, Block::reads_normed ? N * Block::width : 0,
                               Block::has_branch ? N * Block::width : 0, std::index_sequence<N, M>,
                               of_part<Number>...>
      made(std::index_sequence<Number...>);

  // The longest of the messages, the largest of their memory: the parts share it.
  template <std::size_t... Number>
  static constexpr std::size_t most(std::index_sequence<Number...>, auto of) noexcept {
    std::size_t found = 0;
    ((found = of(std::type_identity<of_part<Number>>{}) > found
                  ? of(std::type_identity<of_part<Number>>{})
                  : found),
     ...);
    return found;
  }
  static constexpr std::size_t contexts_of_rank =
      most(numbers{}, []<class Part>(std::type_identity<Part>) { return Part::contexts_of_rank; });
  static constexpr std::size_t results_of_rank =
      most(numbers{}, []<class Part>(std::type_identity<Part>) { return Part::results_of_rank; });
  static constexpr std::size_t exchanged =
      most(numbers{}, []<class Part>(std::type_identity<Part>) { return Part::exchanged; });
  // For a call on one sequence: its gathers, and the part that a rank contributes.
  template <std::size_t... Number>
  static constexpr std::size_t gathers_of(std::index_sequence<Number...>) noexcept {
    return (std::size_t{0} + ... + Block::template part_layer<Number>::gathers);
  }
  template <std::size_t... Number>
  static constexpr std::size_t given_of(std::index_sequence<Number...>) noexcept {
    return (std::size_t{0} + ... +
            (of_part<Number>::contexts_of_rank + of_part<Number>::results_of_rank));
  }
  static constexpr std::size_t gathers = gathers_of(numbers{}), given_by_rank = given_of(numbers{});

  using type = decltype(made(numbers{}));
  type scratch;
};

// Parts of a pass by one rank: see residual::whole_pass.
template <class Block, class Ranks, class Call, class Own, class Mask>
struct pass_of_rank {
  using T = typename Block::value_type;
  static constexpr std::size_t n = Call::n, m = Call::m;
  template <class Part, std::size_t Keys>
  using scores = scores_of<T, Call::layout::template size_of<rules::batch_family>,
                           Part::whole::sizes.heads, n, Keys>;
  const communicator<Ranks>& among;
  const T* memory;
  const Own& own;
  const Mask& mask;
  std::size_t sequence;

  template <std::size_t I, std::size_t Rows, class Weights, class Work>
  void run(const Weights& w, const T* from, T* to, Work& work) const noexcept {
    constexpr residual::event e = Block::template event_at<I>;
    using part = typename Block::template layer_at<e.slot>;
    if constexpr (e.sees == residual::reads::row)
      part::template run<Rows>(w, from, to, among, work);
    else if constexpr (e.sees == residual::reads::sequence)
      part::template run<n, n>(w, from, from, at_sequence<scores<part, n>>(own, sequence), to,
                               among, work);
    else
      part::template run<n, m>(w, from, memory, at_sequence<scores<part, m>>(mask, sequence), to,
                               among, work);
  }
};

// The members of sharded<Layer, over<heads, Ranks>> of a block except its calls.
template <class Layer, class Ranks>
struct block_over_ranks_types : block_of_rank<typename Layer::described, Ranks>::type {
  using of_rank = typename block_of_rank<typename Layer::described, Ranks>::type;
  using whole = Layer;
  using entry = typename Layer::entry;
  using ranks = Ranks;
  using widths = typename Layer::widths;
  using typename of_rank::word;
  using T = typename of_rank::value_type;

  template <std::size_t N, std::size_t M>
  struct scratch_of {
    using type = workspace_over_ranks<block_over_ranks_of<of_rank, Ranks, N, M>>;
  };
  template <class... Positions>
  using workspace =
      typename scratch_of<rules::first_positions<widths, Layer::most_axes, Positions...>(),
                          rules::memory_positions<Layer::most_axes, widths, Positions...>()>::type;
  template <class X, class Mask, class... Memory>
  using verdict_in_formula = rules::call_across<word>;

  template <class Call, std::size_t... Event, class Weights, class Mask, class Own, class Given>
  static void sequences(std::index_sequence<Event...> events, const Weights& w, const T* x,
                        const T* memory, const Mask& mask, const Own& own, T* y,
                        Given& given) noexcept {
    constexpr std::size_t one = Call::n * of_rank::width;
    if constexpr (of_several_layers<Weights>) {
      for (std::size_t i = 0; i < w.size(); ++i)
        sequences<Call>(events, w.layers[i], i == 0 ? x : y, memory, mask, own, y, given);
    } else {
      auto& s = given.work.scratch;
      for (std::size_t b = 0; b < Call::layout::count / one; ++b) {
        const residual::places<T> at{x + b * one, y + b * one, s.normed.rows, s.branch.rows};
        const pass_of_rank<of_rank, Ranks, Call, Own, Mask> parts{
            given.among, memory + b * Call::m * of_rank::width * of_rank::has_memory, own, mask, b};
        (residual::rows<of_rank>::template on<Event, Call::n>(w, at, s, parts), ...);
      }
    }
  }

  template <class W>
  static constexpr void cut(const W& w, std::size_t rank, typename of_rank::weights& own) noexcept {
    constexpr std::size_t count = of_rank::slots::size;
    with_members<count>(w, [&](const auto&... from) {
      with_members<count>(own, [&](auto&... to) {
        [&]<std::size_t... Slot>(std::index_sequence<Slot...>) {
          (cut_slot<typename of_rank::template layer_at<Slot>>(from, rank, to), ...);
        }(std::make_index_sequence<count>{});
      });
    });
  }

 private:
  template <class Slot, class From, class To>
  static constexpr void cut_slot(const From& from, std::size_t rank, To& to) noexcept {
    if constexpr (std::is_same_v<Slot, typename of_rank::norm> || residual::is_branch_scale<Slot>)
      copy_norm(from, to);
    else
      Slot::cut(from, rank, to);
  }
};
template <class Layer, class Over>
using block_over_types = block_over_ranks_types<Layer, rules::ranks_of<Layer, Over>>;

// For a stack, as for its layers.
template <class Stack, class Over>
struct stack_over_types
    : stack_types<sharded<typename Stack::layer, over<axes::heads, rules::ranks_of<Stack, Over>>>,
                  Stack::count> {
  using share = typename stack_over_types::layer;
  using whole = Stack;
  using ranks = typename share::ranks;
  template <class W>
  static constexpr void cut(const W& w, std::size_t rank,
                            typename stack_over_types::weights& own) noexcept {
    for (std::size_t i = 0; i < own.size(); ++i) share::cut(w[i], rank, own[i]);
  }
};
}  // namespace detail

template <class Layer, class Over>
  requires detail::divides_block<Layer, Over>
class sharded<Layer, Over>
    : public detail::block_over_types<Layer, Over>,
      public detail::block_calls<sharded<Layer, Over>, sharded<Layer, Over>, typename Layer::word,
                                 Layer::has_memory>,
      public detail::borrowing<typename Layer::word, sharded<Layer, Over>,
                               typename detail::block_over_types<Layer, Over>::weights_view> {
  static_assert(detail::reported<detail::rules::sharded_layer<Layer, Over>>::ok,
                "umbel: shapes do not fit");
  using view = typename detail::block_over_types<Layer, Over>::weights_view;

 public:
  using word = typename Layer::word;
  template <class Derived>
  using calls = detail::block_calls<Derived, sharded, word, Layer::has_memory>;
  using detail::borrowing<word, sharded, view>::borrowing;
};

template <class Stack, class Over>
  requires detail::divides_stack<Stack, Over>
class sharded<Stack, Over>
    : public detail::stack_over_types<Stack, Over>,
      public detail::stack_over_types<Stack, Over>::layer::template calls<sharded<Stack, Over>>,
      public detail::borrowing<detail::say::layer_stack, sharded<Stack, Over>,
                               typename detail::stack_over_types<Stack, Over>::weights_view> {
  static_assert(detail::reported<detail::rules::sharded_layer<Stack, Over>>::ok,
                "umbel: shapes do not fit");
  using types = detail::stack_over_types<Stack, Over>;

 public:
  template <class Derived>
  using calls = typename types::layer::template calls<Derived>;
  using detail::borrowing<detail::say::layer_stack, sharded,
                          typename types::weights_view>::borrowing;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
