// SPDX-License-Identifier: BSL-1.0
// decoder_layer: self-attention, attention to a memory (the output of an encoder) and a
// feed-forward network, each with a residual connection and a norm (Vaswani et al. 2017;
// torch.nn.TransformerDecoderLayer without dropout).
//
//   norm_first<true>     y = x + self_attention(norm1(x))
//                        z = y + cross_attention(norm2(y), memory)
//                        z + feed_forward(norm3(z))
//   norm_first<false>    y = norm1(x + self_attention(x))
//                        z = norm2(y + cross_attention(y, memory))
//                        norm3(z + feed_forward(z))
//
//   decoder{w}(x, memory, self_mask(causal))                no position of x sees a later one of x
//   decoder{w}(x, memory, lens, self_mask(causal & own))    lens: of the memory; own: of x
//
// The mask of x itself must be stated. torch hides nothing without a tgt_mask, which is
// self_mask(all_keys); its tgt_is_causal with generate_square_subsequent_mask is self_mask(causal).
// A layer without a memory is encoder_layer. Sequences are computed one after another, in a
// workspace of constant size, or by several workers. Not here: the pass over one sequence
// (decoder_forward.hpp), steps (decode/cache_of_decoders.hpp).
#pragma once

#include <umbel/block/decoder_forward.hpp>
#include <umbel/block/decoder_rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/borrowing.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/tensor/other_calls.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
// operator() of the layer and of prepacked<layer>.
template <class Derived, class Layer>
struct decoder_calls
    : other_calls_and_into<
          say::decoder_layer,
          say::
              takes_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace> {
  using refused = other_calls_and_into<
      say::decoder_layer,
      say::takes_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace>;
  using refused::operator();
  using refused::into;

  // x and memory: (batch,) positions along an axis of any name, hidden; row-major. Gives a tensor
  // of the axes of x.
  //   mask  of the memory: its axes are batch, heads, query (positions of x), key (of the memory);
  //         without one all of it is seen
  //   own   self_mask(m), where both query and key are positions of x; must be given
  //   work  a Layer::workspace<positions of x, positions of the memory>, or several with an
  //         executor, parallel(executor, work) (layer/executor.hpp); without one, scratch is on the
  //         stack, up to UMBEL_STACK_BUDGET bytes
  template <tensor_like X, tensor_like Memory, class Own, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const own_mask<Own>& own,
                            Workspace&& work = {}) const noexcept {
    return Layer::decode(self(), x, memory, all_keys, own, work, by_value{});
  }
  template <tensor_like X, tensor_like Memory, mask_like Mask, class Own,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask,
                            const own_mask<Own>& own, Workspace&& work = {}) const noexcept {
    return Layer::decode(self(), x, memory, mask, own, work, by_value{});
  }
  // Without a self_mask: refused.
  template <tensor_like X, tensor_like Memory, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    return Layer::decode(self(), x, memory, mask, own_mask<unsaid_mask>{}, work, by_value{});
  }

  // In a formula.
  template <traced X, traced Memory, class Own>
  constexpr auto operator()(const X& x, const Memory& memory,
                            const own_mask<Own>& own) const noexcept {
    return Layer::decode_nodes(self(), x, memory, all_keys, own);
  }
  template <traced X, traced Memory, mask_of_a_node Mask, class Own>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask,
                            const own_mask<Own>& own) const noexcept {
    return Layer::decode_nodes(self(), x, memory, mask, own);
  }
  template <traced X, traced Memory, mask_of_a_node Mask = every_key>
  constexpr auto operator()(const X& x, const Memory& memory,
                            const Mask& mask = {}) const noexcept {
    return Layer::decode_nodes(self(), x, memory, mask, own_mask<unsaid_mask>{});
  }

  // The same, written into a row-major tensor or view of the axes of x in the same order. out may
  // be x; it must not overlap the memory.
  template <tensor_like Out, tensor_like X, tensor_like Memory, class Own,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory, const own_mask<Own>& own,
                      Workspace&& work = {}) const noexcept {
    Layer::decode(self(), x, memory, all_keys, own, work, static_cast<Out&&>(out));
  }
  template <tensor_like Out, tensor_like X, tensor_like Memory, mask_like Mask, class Own,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory, const Mask& mask,
                      const own_mask<Own>& own, Workspace&& work = {}) const noexcept {
    Layer::decode(self(), x, memory, mask, own, work, static_cast<Out&&>(out));
  }
  template <tensor_like Out, tensor_like X, tensor_like Memory, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    Layer::decode(self(), x, memory, mask, own_mask<unsaid_mask>{}, work, static_cast<Out&&>(out));
  }

  // See workspace_for.
  template <tensor_like X, tensor_like Memory, class Of = Layer>
  static typename Of::template workspace<
      axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, typename Of::hidden_axis>>,
      axis_of<layout_of<Memory>,
              rules::sequence_family<layout_of<Memory>, typename Of::hidden_axis>>>
  workspace_of(const X&, const Memory&);

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->get_weights();
  }
};

// What a decoder_layer has besides its calls: its parts, the types of its weights, the forward
// pass.
template <class T, class Hidden, class Heads, class FeedForward, class... Options>
struct decoder_layer_types {
  using parts = transformer_parts<T, Hidden, Heads, FeedForward, Options...>;

  static constexpr bool norms_first =
      option_or<option::norm_first, norm_first<true>, Options...>::value;
  static constexpr T epsilon = static_cast<T>(parts::epsilon_option::value);
  using value_type = T;
  using hidden_axis = typename parts::hidden;
  using self_attention = typename parts::attention::type;
  using cross_attention = typename parts::memory_attention::type;
  using feed_forward = typename parts::feed_forward::type;
  using norm = typename parts::norm;

  using weights = portable::decoder_parts<typename norm::weights, typename self_attention::weights,
                                          typename norm::weights, typename cross_attention::weights,
                                          typename norm::weights, typename feed_forward::weights>;
  using weights_view = view_of_weights<
      portable::decoder_parts<typename norm::weights_view, typename self_attention::weights_view,
                              typename norm::weights_view, typename cross_attention::weights_view,
                              typename norm::weights_view, typename feed_forward::weights_view>>;
  template <class Stored>
  using packed_weights =
      packed_weights_of<weights_view, portable::decoder_parts<
                                          typename norm::template packed_weights<>,
                                          typename self_attention::template packed_weights<Stored>,
                                          typename norm::template packed_weights<>,
                                          typename cross_attention::template packed_weights<Stored>,
                                          typename norm::template packed_weights<>,
                                          typename feed_forward::template packed_weights<Stored>>>;

  // Scratch for one call at a time; its contents between calls do not matter. It depends on the
  // numbers of positions, its own and the memory's, or one where they are equal, not on the names
  // of their axes. SelfWork, CrossWork: what the attentions need, in a step of a cache
  // (decode/cache_of_decoders.hpp) others.
  template <std::size_t Positions, std::size_t MemoryPositions,
            class SelfWork = typename self_attention::template workspace<axes::query<Positions>>,
            class CrossWork = typename cross_attention::template workspace<
                axes::query<Positions>, axes::key<MemoryPositions>>>
  struct scratch_for : workspace_base {
    using positions = std::index_sequence<Positions, MemoryPositions>;
    static constexpr std::size_t rows = Positions;
    static constexpr std::size_t count = Positions * hidden_axis::size;
    alignas(64) T normed[count];
    alignas(64) T branch[count];  // what a residual connection adds
    union {                       // one after the other
      SelfWork self_work;
      CrossWork cross_work;
      typename feed_forward::template scratch_for<Positions> feed_forward_work;
    };
  };
  using widths = shape<hidden_axis,
                       typename self_attention::template width<self_attention::sizes.query_width()>,
                       typename feed_forward::wide_axis>;
  template <class... Positions>
  using workspace = scratch_for<rules::first_positions<widths, 2, Positions...>,
                                rules::second_positions<widths, Positions...>>;

  // Operations of its products (kernel/shapes.hpp) on one sequence; pairs: of a position and one of
  // the same sequence that it sees. projected: positions of the memory whose keys and values are
  // computed; a step of a cache (decode/cache_of_decoders.hpp) has those of all.
  static constexpr std::uint64_t flops_of(std::uint64_t positions, std::uint64_t pairs,
                                          std::uint64_t projected, std::uint64_t memory) noexcept {
    return self_attention::sizes.flops(positions, positions, pairs) +
           cross_attention::sizes.flops(positions, projected, positions * memory) +
           feed_forward::flops_of(positions);
  }

  // How a call comes in, from the layer and from prepacked<layer> alike.
  template <class Weights, class X, class Memory, class Mask, class Own, class Workspace, class Out>
  static constexpr auto decode(const Weights& w, const X& x, const Memory& memory, const Mask& mask,
                               const own_mask<Own>& own, Workspace& work, Out&& out) noexcept {
    using verdict = first_error<rules::decode<X, Memory, T, hidden_axis>,
                                rules::row_major_out<say::decoder_layer, Out, T, layout_of<X>>,
                                rules::self_mask_said<Own>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using call = call_of<typename X::layout, typename Memory::layout>;
      using scratch = typename call::scratch;
      using given = given_workspaces<Workspace, scratch>;
      using fit = first_error<
          rules::mask_fits<say::decoder_layer, mask_of<Mask>, typename call::memory_scores>,
          rules::mask_fits<say::decoder_layer, Own, typename call::own_scores>,
          rules::scratch_fits<say::decoder_layer, typename given::each, scratch,
                              typename call::sizes>>;
      static_assert(report<fit>::ok, "umbel: shapes do not fit");
      if constexpr (fit::ok)
        return computed<tensor_of<T, row_major<typename X::layout>>, typename given::all>(
            out, work, [&](auto& y, auto& s) {
              call::sequences(w, x.data(), memory.data(), as_mask(mask), own.mask, y.data(), s);
            });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

  template <class Layout, class MemoryLayout>
  struct call_of;
  // What a call in a formula does. The two masks are taken apart as one.
  template <class X, class Memory>
  struct steps_of {
    using block = decoder_layer_types;
    using call = call_of<layout_of<X>, layout_of<Memory>>;
    using scratch = typename call::scratch;
    using result = row_major<layout_of<X>>;
    static constexpr std::uint64_t flops = call::flops;
    static constexpr std::size_t tables =
        self_attention::template forward_of<call::n, call::n>::tables;

    template <class Given, class Y, class... OfMasks>
    static constexpr void run(const Given& given, Y& y, scratch& work, const X& x,
                              const Memory& memory, const OfMasks&... of_masks) noexcept {
      const auto masks = given.mask(of_masks...);
      call::sequences(given.weights(), x.data(), memory.data(), masks.first, masks.second, y.data(),
                      work);
    }
  };

  // A call in a formula: of nodes.
  template <class Weights, class X, class Memory, class Mask, class Own>
  static constexpr auto decode_nodes(const Weights& w, const X& x, const Memory& memory,
                                     const Mask& mask, const own_mask<Own>& own) noexcept {
    using verdict =
        first_error<rules::decode<X, Memory, T, hidden_axis>, rules::self_mask_said<Own>,
                    rules::mask_in_a_formula<say::decoder_layer, both_masks<mask_of<Mask>, Own>>>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      using call = call_of<layout_of<X>, layout_of<Memory>>;
      using fit = first_error<
          rules::mask_fits<say::decoder_layer, mask_of<Mask>, typename call::memory_scores>,
          rules::mask_fits<say::decoder_layer, Own, typename call::own_scores>>;
      static_assert(report<fit>::ok, "umbel: shapes do not fit");
      using steps = steps_of<view_of_node<X>, view_of_node<Memory>>;
      if constexpr (fit::ok)
        return call_with_mask<steps>(w, both_masks<mask_of<Mask>, Own>(as_mask(mask), own.mask), x,
                                     memory);
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

  using forward = decoder_forward<decoder_layer_types>;

  // A call whose shapes fit.
  template <class Layout, class MemoryLayout>
  struct call_of {
    using positions = axis_of<Layout, rules::sequence_family<Layout, hidden_axis>>;
    using memory_positions =
        axis_of<MemoryLayout, rules::sequence_family<MemoryLayout, hidden_axis>>;
    using sizes = shape<positions, memory_positions>;
    using scratch = workspace<positions, memory_positions>;
    static constexpr std::size_t n = positions::size, m = memory_positions::size;
    static constexpr std::size_t one = n * hidden_axis::size, memory_one = m * hidden_axis::size;
    static constexpr std::size_t batch = Layout::template size_of<rules::batch_family>;
    static constexpr std::uint64_t flops =
        Layout::count / one * flops_of(n, std::uint64_t{n} * n, m, m);
    using own_scores = scores_of<T, batch, Heads::size, n, n>;
    using memory_scores = scores_of<T, batch, Heads::size, n, m>;

    // All sequences of x, row-major, into y, which may be x, through one layer or a stack of them.
    // mask, of the memory, and own: as_mask of the arguments. Work: a workspace, or what parallel()
    // gives.
    template <class Weights, class Mask, class Own, class Work>
    static constexpr void sequences(const Weights& w, const T* x, const T* memory, const Mask& mask,
                                    const Own& own, T* y, Work& work) noexcept {
      if constexpr (of_several_layers<Weights>) {
        sequences(w.layers[0], x, memory, mask, own, y, work);
        for (std::size_t i = 1; i < w.size(); ++i)
          sequences(w.layers[i], y, memory, mask, own, y, work);
      } else {
        each_sequence<Layout::count / one>(
            work,
            [&](std::size_t b, auto& s) {
              forward::template sequence<n, m>(w, x + b * one, memory + b * memory_one,
                                               at_sequence<memory_scores>(mask, b),
                                               at_sequence<own_scores>(own, b), y + b * one, s);
            },
            [&](std::size_t b, const auto& given) {
              forward::template sequence_in_parts<n, m>(
                  w, x + b * one, memory + b * memory_one, at_sequence<memory_scores>(mask, b),
                  at_sequence<own_scores>(own, b), y + b * one, given);
            });
      }
    }
  };
};

template <class T, class Hidden, class Heads, class FeedForward, class... Options>
using decoder_layer_types_of = std::conditional_t<
    rules::transformer_arguments<say::decoder_layer, T, Hidden, Heads, FeedForward>::ok,
    decoder_layer_types<T, Hidden, Heads, FeedForward, Options...>,
    decoder_layer_types<float, no_axis<1>, axes::heads<1>, axes::intermediate<1>>>;

}  // namespace detail

// A Transformer decoder layer (Vaswani et al. 2017). T: float or double. hidden<32>, heads<4>,
// intermediate<64>. Options: those of encoder_layer; rope<> rotates in the self-attention only.
template <class T, class Hidden, class Heads, class FeedForward = detail::nothing, class... Options>
class decoder_layer
    : public detail::decoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>,
      public detail::decoder_calls<decoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                                   decoder_layer<T, Hidden, Heads, FeedForward, Options...>>,
      public detail::borrowing<detail::say::decoder_layer,
                               decoder_layer<T, Hidden, Heads, FeedForward, Options...>,
                               typename detail::decoder_layer_types_of<
                                   T, Hidden, Heads, FeedForward, Options...>::weights_view> {
  using types = detail::decoder_layer_types_of<T, Hidden, Heads, FeedForward, Options...>;
  static_assert(detail::reported<detail::rules::decoder<T, Hidden, Heads, FeedForward,
                                                        typename types::parts, Options...>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class Derived>
  using calls = detail::decoder_calls<Derived, decoder_layer>;
  using detail::borrowing<detail::say::decoder_layer, decoder_layer,
                          typename types::weights_view>::borrowing;
};

namespace detail {
// Would a call compile? Generic code asks first: decodes<decoder, tokens, memory>.
template <class Layer, class X, class Memory>
inline constexpr bool decodes =
    rules::decode<X, Memory, typename Layer::value_type, typename Layer::hidden_axis>::ok;
}  // namespace detail

// Would layer(x, memory, self_mask(...)) of a decoder_layer compile?
template <class Layer, class X, class Memory>
concept decodes = detail::decodes<Layer, std::remove_cvref_t<X>, std::remove_cvref_t<Memory>>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
