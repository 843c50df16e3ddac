// SPDX-License-Identifier: BSL-1.0
// Blocks in integers: encoder_layer, decoder_layer, residual_block, and stacks of one of them. From
// int16 to int16 with the same unit; a memory is int8:
//
//   encoder(x, causal)
//   decoder(x, memory, self_mask(causal))
//   decoder(x, memory, lens, self_mask(causal & own))     lens: of the memory; own: of x
//
// See block_numbers.hpp for rows, block_attentions.hpp for all positions, cache_of_blocks.hpp for
// steps, and block_observed.hpp for ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/block_storage.hpp>
#include <umbel/quantized/block_attentions.hpp>
#include <umbel/quantized/block_numbers.hpp>
#include <umbel/quantized/block_observed.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// Not the concept: g++ 12 doesn't find it within key_value_cache's for a quantized layer.
template <class Layer>
inline constexpr bool is_of_blocks = decodes_in_blocks<Layer>;

// The packed numbers of all blocks of a layer, and their ranges: for a stack arrays of both.
template <class Layer, class Weight>
struct numbers_of_blocks : block_numbers<typename Layer::described, Weight> {
  using typename block_numbers<typename Layer::described, Weight>::ranges;
  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen) noexcept {
    double memory = 0;
    if constexpr (Layer::has_memory) memory = int8_unit(seen.memory);
    this->pack_block(w, seen, unit_of_residual(static_cast<double>(seen.residual())), memory);
  }
};
template <class Ranges, std::size_t Count>
struct ranges_of_stack {
  static constexpr const char* part_names[] = {"layers"};
  Ranges layers[Count];
};
template <class Seen>
constexpr auto& ranges_of_block(Seen& seen, std::size_t i) noexcept {
  if constexpr (requires { seen.layers; })
    return seen.layers[i];
  else
    return seen;
}
template <is_stack Layer, class Weight>
struct numbers_of_blocks<Layer, Weight> {
  using block = typename Layer::layer;
  using numbers = block_numbers<typename block::described, Weight>;
  using ranges = ranges_of_stack<typename numbers::ranges, Layer::count>;
  using histograms = ranges_of_stack<typename numbers::histograms, Layer::count>;
  numbers layers[Layer::count];

  template <class View>
  constexpr void pack_seen(const View& w, const ranges& seen) noexcept {
    range residual{}, memory{};
    for (const auto& of_layer : seen.layers) {
      widen(residual, of_layer.residual());
      if constexpr (block::has_memory) widen(memory, of_layer.memory());
    }
    for (std::size_t i = 0; i < Layer::count; ++i)
      layers[i].pack_block(w[i], seen.layers[i], unit_of_residual(static_cast<double>(residual())),
                           int8_unit(memory));
  }
};

// Calls of a block or stack in integers, for block_calls. Weight: the type of attention's weights.
template <class Layer, class Weight>
struct calls_of_blocks : entry_of_block {
  using block = typename blocks_in<Layer>::block;
  using description = typename block::described;
  using of_block = block_numbers<description, Weight>;
  using hidden_axis = typename block::hidden_axis;
  using input_type = std::int16_t;
  using softmax_type = Weight;
  // Scratch for one call at a time.
  template <class... Positions>
  using workspace = typename of_block::template scratch_for<
      rules::first_positions<typename block::widths, block::most_axes, Positions...>(),
      rules::memory_positions<block::most_axes, typename block::widths, Positions...>()>;

  template <std::size_t... Number>
  static first_error<typename of_block::template part<Number>::verdict...,
                     rules::norm_fits<hidden_axis>>
      has_integers(std::index_sequence<Number...>);
  using verdict = decltype(has_integers(typename of_block::all_parts{}));

  // For entry_of_block.
  using entry = calls_of_blocks;
  using word_of_block = typename description::word;
  using word_of_call = say::quantized;
  using number = std::int16_t;
  using all_events = typename of_block::all_events;
  template <class X, class Memory>
  using call_of = typename block::template call_of<X, Memory>;
  template <std::size_t N, std::size_t M>
  struct scratch_of {
    using type = typename of_block::template scratch_for<N, M>;
  };
  template <class X, class Memory>
  using shapes_fit = block_shapes_fit<description, say::quantized, number, std::int8_t,
                                      rules::holds_these_integers<X, number>, X, Memory>;
  template <class Call, class Mask, class Own>
  struct masks_rule {
    template <std::size_t Heads, std::size_t Keys>
    using scores =
        scores_of<float, Call::layout::template size_of<rules::batch_family>, Heads, Call::n, Keys>;
    template <class Axis, class Given, std::size_t Heads>
    using keys_fit =
        first_error<rules::sums_fit<Axis, most_keys<Weight>>,
                    typename rules::integer_mask<
                        Given, scores<Heads, Axis::size>,
                        rules::mask_fits<say::quantized, Given,
                                         scores_by_rows<scores<Heads, Axis::size>, true>>>::type>;
    template <class Part>
    using of_sequence = keys_fit<typename Call::positions, Own, Part::sizes.heads>;
    template <class Part>
    using of_memory = keys_fit<typename Call::memory_positions, Mask, Part::sizes.heads>;
  };
  template <class Call, class Mask, class Own>
  using masks_of_call_fit = attentions_fit<description, masks_rule<Call, Mask, Own>>;

 private:
  template <class X, class... Memory>
  struct steps {
    using call = typename block::template call_of<
        X, typename portable::nth_type<0, Memory..., without_memory>::type>;
    using verdict = typename masks_of_call_fit<call, every_key, every_key>::type;
    using scratch = typename of_block::template scratch_for<call::n, call::m>;
    using result = row_major<layout_of<X>>;
    using value = std::int16_t;
    static constexpr std::uint64_t flops =
        blocks_in<Layer>::count * (call::layout::count / (call::n * block::width)) *
        block::template scratch_of<call::n, call::m>::flops(typename of_block::all_parts{});
    template <std::size_t Number>
    static constexpr std::size_t tables_of() noexcept {
      using part = typename of_block::template part<Number>;
      if constexpr (description::part_sees(Number) == reads::row)
        return 0;
      else
        return part::template tables < call::n,
               description::part_sees(Number) == reads::memory ? call::m : call::n > ;
    }
    static constexpr std::size_t tables =
        []<std::size_t... Number>(std::index_sequence<Number...>) {
          return (std::size_t{0} + ... + tables_of<Number>());
        }(typename of_block::all_parts{});
  };

 public:
  // Does the float layer accept the call?
  template <class Shapes, class X, class Memory, class Mask, class Own>
  struct observed_if {
    using type = Shapes;
  };
  template <class X, class Memory, class Mask, class Own>
  struct observed_if<accepted, X, Memory, Mask, Own> {
    using call = typename block::template call_of<X, Memory>;
    using type =
        typename block::template masks_fit<mask_of<Mask>, mask_of<Own>,
                                           call::layout::template size_of<rules::batch_family>,
                                           call::n, call::m>::type;
  };
  template <class X, class Memory, class Mask, class Own>
  using observed_call_fits =
      observed_if<typename block::template shapes_fit<X, Memory>::type, X, Memory, Mask, Own>;

  // See footprint.
  template <class X, class... Memory>
    requires(sizeof...(Memory) == block::has_memory)
  static call_if<
      typename shapes_fit<X, typename portable::nth_type<0, Memory..., without_memory>::type>::type,
      steps, X, Memory...>
  call_on(const X&, const Memory&...);
  template <class...>
  using verdict_in_formula = rules::no_word_of_formulas<say::quantized>;

  // All sequences, as for a float block. Numbers: of one block or a stack.
  template <class Call, class Events, class Numbers, class Mask, class Own, class Work>
  static constexpr void sequences(Events, const Numbers& numbers, const number* from,
                                  const std::int8_t* memory, const Mask& mask, const Own& own,
                                  number* x, Work& work) noexcept {
    if (x != from)
      for (std::size_t i = 0; i < Call::layout::count; ++i) x[i] = from[i];
    constexpr std::size_t elements_of_batch = Call::n * block::width;
    using attentions =
        attentions_of_pass<description, Call::layout::template size_of<rules::batch_family>,
                           Call::n, Call::m, Own, Mask>;
    const auto of_sequence = [&](std::size_t b) {
      return attentions{{own, mask, b}, memory + b * Call::m * block::width * block::has_memory};
    };
    each_sequence<Call::layout::count / elements_of_batch>(
        work, [&](std::size_t b) { return of_sequence(b).rows(); },
        [&](std::size_t b, auto& scratch) {
          for (std::size_t i = 0; i < blocks_in<Layer>::count; ++i)
            weights_of_block(numbers, i)
                .template rows<Call::n>(x + b * elements_of_batch, scratch, of_sequence(b));
        },
        [&](std::size_t b, const auto& workers) {
          for (std::size_t i = 0; i < blocks_in<Layer>::count; ++i)
            weights_of_block(numbers, i)
                .template rows_in_parts<Call::n>(
                    of_block::place(x + b * elements_of_batch, workers.work[0]), workers,
                    of_sequence(b));
        });
  }
};

}  // namespace detail::integers

// x: int16, one sequence or a batch; an int8 memory if any. Returns int16 with x's axes and unit.
template <class Layer, class... Options>
  requires(detail::integers::is_of_blocks<Layer>)
class quantized<Layer, Options...>
    : public detail::integers::calls_of_blocks<Layer, detail::integers::softmax_of<Options...>>,
      public detail::block_calls<
          quantized<Layer, Options...>,
          detail::integers::calls_of_blocks<Layer, detail::integers::softmax_of<Options...>>,
          detail::say::quantized, detail::blocks_in<Layer>::block::has_memory>,
      public detail::integers::made_of_weights<
          Layer,
          detail::integers::numbers_of_blocks<Layer, detail::integers::softmax_of<Options...>>> {
  using types = detail::integers::calls_of_blocks<Layer, detail::integers::softmax_of<Options...>>;
  using base = detail::integers::made_of_weights<
      Layer, detail::integers::numbers_of_blocks<Layer, detail::integers::softmax_of<Options...>>>;
  using blocks = detail::blocks_in<Layer>;
  static_assert(
      detail::reported<detail::first_error<
          typename types::verdict,
          detail::rules::options<detail::say::quantized,
                                 detail::option_kinds<detail::option::softmax_as>, Options...>,
          detail::rules::integer_softmax<typename types::softmax_type>>>::ok,
      "umbel: shapes do not fit");

 public:
  using base::base;
  using base::calibrate;
  using typename base::layer;
  template <class Derived>
  using calls = quantized;  // the layer's calls, for a cache

  // layer{w}(x, mask) or layer{w}(x, memory, mask, own), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            mask_like Mask = detail::every_key>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w, const X& x,
                                  const Mask& mask = {}) noexcept {
    return observed(seen, w, contiguous(x), detail::without_memory{}, all_keys, mask);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, class Own>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w, const X& x,
                                  const Memory& memory,
                                  const detail::self_attention_mask<Own>& own) noexcept {
    return observed(seen, w, contiguous(x), contiguous(memory), all_keys, own.mask);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, mask_like Mask, class Own>
  static constexpr auto calibrate(Seen& seen, const typename layer::weights_view& w, const X& x,
                                  const Memory& memory, const Mask& mask,
                                  const detail::self_attention_mask<Own>& own) noexcept {
    return observed(seen, w, contiguous(x), contiguous(memory), mask, own.mask);
  }

 private:
  template <class Seen, class X, class Memory, class Mask, class Own>
  static constexpr auto observed(Seen& seen, const typename layer::weights_view& w, const X& x,
                                 const Memory& memory, const Mask& mask, const Own& own) noexcept {
    using fits = typename types::template observed_call_fits<X, Memory, Mask, Own>::type;
    static_assert(detail::report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      X y = x;
      for (std::size_t i = 0; i < blocks::count; ++i)
        y = detail::integers::
            observed_block<typename types::description, typename types::softmax_type>::pass(
                detail::integers::ranges_of_block(seen, i), detail::weights_of_block(w, i), y,
                memory, mask, own);
      return y;
    } else {
      return detail::invalid{};
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
