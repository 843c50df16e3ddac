// SPDX-License-Identifier: BSL-1.0
// A call of a residual_block: its weights and workspace, which shapes and masks fit, and the pass
// over all sequences. See rows.hpp for one sequence.
#pragma once

#include <umbel/block/block_calls.hpp>
#include <umbel/block/rows.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/stacked.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// The verdict of all attentions of a block: of Rule on those to the sequence and those to a memory.
template <class Block, class Rule>
struct attentions_fit {
  template <std::size_t Number, class Part = typename Block::template part_layer<Number>>
  static constexpr auto of_part() {
    if constexpr (Block::part_sees(Number) == residual::reads::row)
      return accepted{};
    else if constexpr (Block::part_sees(Number) == residual::reads::sequence)
      return typename Rule::template of_sequence<Part>{};
    else
      return typename Rule::template of_memory<Part>{};
  }
  template <std::size_t... Number>
  static first_error<decltype(of_part<Number>())...> all(std::index_sequence<Number...>);
  using type = decltype(all(std::make_index_sequence<Block::part_count>{}));
};

// Shapes fit. Word: for sentences; T, OfMemory: element types; Held: the first verdict on x.
template <class Block, class Word, class T, class OfMemory, class Held, class X, class Memory>
struct block_shapes_fit {
  using hidden = typename Block::hidden_axis;
  using type = first_error<
      verdict<Block::has_memory, typename Block::word, struct has_no_attention_to_a_memory>,
      rules::block_argument<Word, X, T, hidden, say::the_sequence>,
      rules::block_argument<Word, Memory, OfMemory, hidden, say::the_memory>,
      rules::same_size<Word, rules::batch_family, layout_of<X>, say::the_sequences,
                       layout_of<Memory>, say::but_the_memories>>;
};
template <class Block, class Word, class T, class OfMemory, class Held, class X>
struct block_shapes_fit<Block, Word, T, OfMemory, Held, X, without_memory> {
  using type =
      first_error<verdict<!Block::has_memory, typename Block::word,
                          say::attends_to_a_memory_so_write_layer_of_x_memory_and_self_mask>,
                  Held, rules::block_argument<Word, X, T, typename Block::hidden_axis>>;
};

// The entry of a call, for floats or int8, from the layer and from prepacked<layer>. Of: computes
// it, with scratch_of and sequences; Of::entry has its verdicts: word_of_block, word_of_call,
// number, call_of, shapes_fit, masks_fit.
struct entry_of_block {
  // The verdict on the shapes of a call, which its caller asserts: that saves a frame of clang.
  template <class Of, class X, class Memory, class ToSelf, class Out>
  using shapes_of_call = first_error<
      typename Of::entry::template shapes_fit<X, Memory>::type,
      rules::row_major_out<typename Of::entry::word_of_call, Out, typename Of::entry::number,
                           layout_of<X>>,
      verdict<
          !std::is_same_v<ToSelf, unsaid_mask>, typename Of::entry::word_of_block,
          say::
              needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask>>;
  template <class Of, class Weights, class X, class Memory, class Mask, class ToSelf,
            class Workspace, class Out>
  static constexpr auto pass(const Weights& w, const X& x, const Memory& memory, const Mask& mask,
                             const ToSelf& to_self, Workspace& work, Out&& out) noexcept {
    using entry = typename Of::entry;
    using refuses = typename entry::word_of_call;
    using number = typename entry::number;
    using shapes = shapes_of_call<Of, X, Memory, ToSelf, Out>;
    if constexpr (shapes::ok) {
      using call = typename entry::template call_of<X, Memory>;
      using scratch = typename Of::template scratch_of<call::n, call::m>::type;
      using workspaces = given_workspaces<Workspace, scratch>;
      using fit = first_error<
          typename entry::template masks_of_call_fit<call, mask_of<Mask>, mask_of<ToSelf>>::type,
          rules::scratch_fits<refuses, typename workspaces::each, scratch, typename call::sizes>>;
      static_assert(report<fit>::ok, "umbel: shapes do not fit");
      if constexpr (fit::ok)
        return computed<tensor_of<number, row_major<layout_of<X>>>, typename workspaces::all>(
            out, work, [&](auto& y, auto& all) UMBEL_LAMBDA_INLINE {
              Of::template sequences<call>(typename entry::all_events{}, w, x.data(),
                                           memory_in(memory), as_mask(mask), as_mask(to_self),
                                           y.data(), all);
              if constexpr (mask_of<ToSelf>::counts_rows) {
                constexpr std::size_t n = call::n, width = entry::hidden_axis::size;
                clear_rest<call::layout::count / (n * width), n, width, adjacent_rows<n, width>>(
                    y.data(), [&](std::size_t b) { return as_mask(to_self).rows(b, n); });
              }
            });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

 private:
  template <class Memory>
  static constexpr auto memory_in(const Memory& memory) noexcept {
    if constexpr (std::is_same_v<Memory, without_memory>)
      return nullptr;
    else
      return memory.data();
  }
};

// The members of a block except its calls.
template <class T, class Hidden, class Steps, class Options, class Style = residual::block_style>
struct block_types : entry_of_block, residual::description<T, Hidden, Steps, Options, Style> {
  using described = residual::description<T, Hidden, Steps, Options, Style>;
  using typename described::hidden_axis;
  using typename described::word;
  using all_events = std::make_index_sequence<described::event_count>;
  static constexpr std::size_t width = described::width;
  // The layer of a part, by its name: block::layer_of<name::attention>.
  template <class Name>
  using layer_of = typename residual::layer_of_part<described, Name>::type;

  template <std::size_t Number>
  using rows_of_part = residual::rows_of_part<typename described::template part_layer<Number>>;
  // For one pass of N positions, with a memory of M.
  template <std::size_t N, std::size_t M>
  struct scratch_of {
    template <std::size_t Number>
    static constexpr std::size_t keys =
        described::part_sees(Number) == residual::reads::memory ? M : N;
    template <std::size_t Number>
    using of_part = typename rows_of_part<Number>::template scratch<N, keys<Number>>;
    template <std::size_t... Number>
    static constexpr std::uint64_t flops(std::index_sequence<Number...>) noexcept {
      return (std::uint64_t{0} + ... + rows_of_part<Number>::template flops<N, keys<Number>>);
    }
    template <std::size_t... Number>
    static constexpr std::size_t tables(std::index_sequence<Number...>) noexcept {
      return (std::size_t{0} + ... + rows_of_part<Number>::template tables<N, keys<Number>>);
    }
    using positions = std::conditional_t<described::has_memory, std::index_sequence<N, M>,
                                         std::index_sequence<N>>;
    template <std::size_t... Number>
    static residual::scratch_for<T, described::reads_normed ? N * width : 0,
                                 described::has_branch ? N * width : 0, positions,
                                 of_part<Number>...>
        made(std::index_sequence<Number...>);
    using type = decltype(made(std::make_index_sequence<described::part_count>{}));
  };
  template <std::size_t... Number>
  static shape<hidden_axis, typename rows_of_part<Number>::width...> widths_of(
      std::index_sequence<Number...>);
  using widths = decltype(widths_of(std::make_index_sequence<described::part_count>{}));
  static constexpr std::size_t most_axes = described::has_memory ? 2 : 1;
  template <class... Positions>
  using workspace =
      typename scratch_of<rules::first_positions<widths, most_axes, Positions...>(),
                          rules::memory_positions<most_axes, widths, Positions...>()>::type;

  template <class X>
  using positions_in = axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden_axis>>;

  template <class X, class Memory>
  struct call_of {
    using layout = layout_of<X>;
    using positions = positions_in<X>;
    using memory_positions = positions_in<Memory>;
    using sizes = shape<positions, memory_positions>;
    static constexpr std::size_t n = positions::size, m = memory_positions::size;
  };
  template <class X>
  struct call_of<X, without_memory> {
    using layout = layout_of<X>;
    using positions = positions_in<X>;
    using memory_positions = positions;  // without a memory
    using sizes = shape<positions>;
    static constexpr std::size_t n = positions::size, m = n;
  };

  // For entry_of_block.
  using entry = block_types;
  using word_of_block = word;
  using word_of_call = word;
  using number = T;
  template <class X, class Memory>
  using shapes_fit = block_shapes_fit<block_types, word, T, T, accepted, X, Memory>;
  // ByRows: not in formulas.
  template <class Mask, class ToSelf, std::size_t Batch, std::size_t N, std::size_t M, bool ByRows>
  struct masks_rule {
    template <class Part, std::size_t Keys>
    using scores = scores_by_rows<scores_of<T, Batch, Part::sizes.heads, N, Keys>,
                                  ByRows && Part::template forward_of<N, Keys>::by_rows>;
    template <class Part>
    using of_sequence = rules::mask_fits<word, ToSelf, scores<Part, N>>;
    template <class Part>
    using of_memory = rules::mask_fits<word, Mask, scores<Part, M>>;
  };
  template <class Mask, class ToSelf, std::size_t Batch, std::size_t N, std::size_t M,
            bool ByRows = false>
  using masks_fit = attentions_fit<described, masks_rule<Mask, ToSelf, Batch, N, M, ByRows>>;
  template <class Call, class Mask, class ToSelf>
  using masks_of_call_fit =
      masks_fit<Mask, ToSelf, Call::layout::template size_of<rules::batch_family>, Call::n, Call::m,
                true>;

  // All sequences, row-major, through a layer or stack; y may be x. Work: workspace or parallel().
  template <class Call, std::size_t... Event, class Weights, class Mask, class ToSelf, class Work>
  UMBEL_NOINLINE static constexpr void sequences(std::index_sequence<Event...> events,
                                                 const Weights& w, const T* x, const T* memory,
                                                 const Mask& mask, const ToSelf& to_self, T* y,
                                                 Work& work) noexcept {
    using rows = residual::rows<block_types>;
    if constexpr (of_several_layers<Weights>) {
      sequences<Call>(events, w.layers[0], x, memory, mask, to_self, y, work);
      for (std::size_t i = 1; i < w.size(); ++i)
        sequences<Call>(events, w.layers[i], y, memory, mask, to_self, y, work);
    } else {
      constexpr std::size_t sequence_size = Call::n * width,
                            count = Call::layout::count / sequence_size;
      const auto place = [&](std::size_t b, auto& s) {
        return residual::places<T>{x + b * sequence_size, y + b * sequence_size, s.normed.rows,
                                   s.branch.rows};
      };
      const auto parts = [&](std::size_t b) {
        return residual::whole_pass<block_types,
                                    Call::layout::template size_of<rules::batch_family>, Call::n,
                                    Call::m, ToSelf, Mask>{
            {to_self, mask, b}, memory + b * Call::m * width * described::has_memory};
      };
      constexpr bool by_rows = ToSelf::counts_rows || Mask::counts_rows;
      if constexpr (!by_rows && !rules::is_for_workers<Work>) {
        for (std::size_t b = 0; b < count; ++b) {
          const auto at = place(b, work);
          const auto pass = parts(b);
          (rows::template on<Event, Call::n>(w, at, work, pass), ...);
        }
      } else {
        each_sequence<count>(
            work, [&](std::size_t b) { return parts(b).rows(); },
            [&](std::size_t b, auto& s) {
              const auto at = place(b, s);
              const auto pass = parts(b);
              if constexpr (by_rows)
                rows::template first_rows<Call::n>(w, at, pass.rows().queries, s, pass);
              else
                (rows::template on<Event, Call::n>(w, at, s, pass), ...);
            },
            [&](std::size_t b, const auto& workers) {
              rows::template in_parts<Call::n>(w, place(b, workers.work[0]), workers, parts(b));
            });
      }
    }
  }

  template <class X, class Mask, class Memory = without_memory>
  struct verdict_in_formula_rule {
    using call = call_of<X, Memory>;
    static constexpr std::size_t batch = call::layout::template size_of<rules::batch_family>;
    template <class M>
    struct fit : masks_fit<M, M, batch, call::n, call::m> {};
    template <class A, class B>
    struct fit<both_masks<A, B>> : masks_fit<A, B, batch, call::n, call::m> {};
    using type = first_error<
        verdict<
            says_self_mask<Mask>, word,
            say::
                needs_a_self_mask_so_add_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask>,
        rules::mask_in_a_formula<word, Mask>, typename fit<mask_of<Mask>>::type>;
  };
  template <class Shapes, class X, class Mask, class Memory>
  struct verdict_if {
    using type = Shapes;
  };
  template <class X, class Mask, class Memory>
  struct verdict_if<accepted, X, Mask, Memory> : verdict_in_formula_rule<X, Mask, Memory> {};
  template <class X, class Mask, class Memory = without_memory>
  using verdict_in_formula =
      typename verdict_if<typename shapes_fit<X, Memory>::type, X, Mask, Memory>::type;
  template <class X, class... Memory>
  struct steps_on {
    using block = block_types;
    using call = call_of<X, typename portable::nth_type<0, Memory..., without_memory>::type>;
    using scratch = typename scratch_of<call::n, call::m>::type;
    using result = row_major<layout_of<X>>;
    using of_sequence = scratch_of<call::n, call::m>;
    static constexpr std::uint64_t flops =
        call::layout::count / (call::n * width) *
        of_sequence::flops(std::make_index_sequence<described::part_count>{});
    static constexpr std::size_t tables =
        of_sequence::tables(std::make_index_sequence<described::part_count>{});
    template <class Parts, class Y, class... Operands>
    static constexpr void run(const Parts& parts, Y& y, scratch& work, const X& x,
                              const Memory&... memory, const Operands&... of_mask) noexcept {
      const auto mask = parts.mask(of_mask...);
      if constexpr (sizeof...(Memory) == 0)
        sequences<call>(all_events{}, parts.weights(), x.data(), static_cast<const T*>(nullptr),
                        mask, mask, y.data(), work);
      else
        sequences<call>(all_events{}, parts.weights(), x.data(), memory.data()..., mask.first,
                        mask.second, y.data(), work);
    }
  };
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
