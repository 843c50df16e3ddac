// SPDX-License-Identifier: BSL-1.0
// Blocks in integers: encoder_layer, decoder_layer, residual_block, and stacks of one of them.
// int16 to int16 of the same unit, beside an int8 memory where there is one:
//
//   encoder(x, causal)
//   decoder(x, memory, self_mask(causal))
//   decoder(x, memory, lens, self_mask(causal & own))     lens: of the memory; own: of x
//
// Not here: the rows of one sequence (block_numbers.hpp), steps (cache_of_blocks.hpp), how ranges
// are observed (block_observed.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/block_storage.hpp>
#include <umbel/quantized/block_numbers.hpp>
#include <umbel/quantized/block_observed.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// Not the concept itself: where that of key_value_cache is asked of a quantized layer, g++ 12 finds
// none in the other.
template <class Layer>
inline constexpr bool is_of_blocks = decodes_in_blocks<Layer>;

// What all blocks of a layer are packed to, and their ranges: of a stack an array of both.
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
// Those of block i of them.
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

// Calls of a layer of floats in integers, as block_calls asks for them. Layer: a block or a stack
// of them; Weight: the type of the weights of attention.
template <class Layer, class Weight>
struct calls_of_blocks {
  using block = typename blocks_in<Layer>::block;
  using description = typename block::described;
  using of_block = block_numbers<description, Weight>;
  using hidden_axis = typename block::hidden_axis;
  using input_type = std::int16_t;
  using softmax_type = Weight;
  // Scratch for one call at a time.
  template <class... Positions>
  using workspace = typename of_block::template scratch_for<
      rules::first_positions<typename block::widths, block::most_axes, Positions...>,
      rules::memory_positions<block::most_axes, typename block::widths, Positions...>>;

  template <std::size_t... Number>
  static first_error<typename of_block::template part<Number>::verdict...,
                     rules::norm_fits<hidden_axis>>
      has_integers(std::index_sequence<Number...>);
  using verdict = decltype(has_integers(typename of_block::all_parts{}));

 private:
  // The shapes of a call.
  template <class X, class Memory>
  struct shapes_fit {
    using type = first_error<
        detail::verdict<block::has_memory, typename description::word,
                        say::has_no_attention_to_a_memory>,
        rules::block_argument<say::quantized, X, std::int16_t, hidden_axis, say::the_sequence>,
        rules::block_argument<say::quantized, Memory, std::int8_t, hidden_axis, say::the_memory>,
        rules::same_size<say::quantized, rules::batch_family, layout_of<X>, say::the_sequences,
                         layout_of<Memory>, say::but_the_memories>>;
  };
  template <class X>
  struct shapes_fit<X, without_memory> {
    using type = first_error<
        detail::verdict<!block::has_memory, typename description::word,
                        say::has_an_attention_to_a_memory_so_write_layer_of_x_memory_and_self_mask>,
        rules::holds_these_integers<X, std::int16_t>,
        rules::block_argument<say::quantized, X, std::int16_t, hidden_axis>>;
  };
  // What the attentions of a call with these masks take.
  template <class Call, class Mask, class Own>
  struct attentions_fit {
    static constexpr std::size_t batch = Call::layout::template size_of<rules::batch_family>;
    template <class Axis, class Given, std::size_t Heads>
    using keys_fit = first_error<
        rules::sums_fit<Axis, most_keys<Weight>>,
        typename rules::integer_mask<
            Given, scores_of<float, batch, Heads, Call::n, Axis::size>,
            rules::mask_fits<say::quantized, Given,
                             scores_of<float, batch, Heads, Call::n, Axis::size>>>::type>;
    template <std::size_t Number, class Part = typename description::template part_layer<Number>>
    static constexpr auto of_part() {
      if constexpr (description::part_sees(Number) == reads::row)
        return accepted{};
      else if constexpr (description::part_sees(Number) == reads::sequence)
        return keys_fit<typename Call::positions, Own, Part::sizes.heads>{};
      else
        return keys_fit<typename Call::memory_positions, Mask, Part::sizes.heads>{};
    }
    template <std::size_t... Number>
    static first_error<decltype(of_part<Number>())...> all(std::index_sequence<Number...>);
    using type = decltype(all(typename of_block::all_parts{}));
  };
  template <class X, class... Memory>
  struct steps {
    using call = typename block::template call_of<
        X, typename portable::nth_type<0, Memory..., without_memory>::type>;
    using verdict = typename attentions_fit<call, every_key, every_key>::type;
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
  // Would the layer of floats take the call?
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

  using entry = calls_of_blocks;
  template <class, class Numbers, class X, class Memory, class Mask, class Own, class Workspace,
            class Out>
  static constexpr auto pass(const Numbers& numbers, const X& x, const Memory& memory,
                             const Mask& mask, const Own& own, Workspace& work,
                             Out&& out) noexcept {
    using shapes = first_error<
        typename shapes_fit<X, Memory>::type,
        rules::row_major_out<say::quantized, Out, std::int16_t, layout_of<X>>,
        detail::verdict<
            !std::is_same_v<Own, unsaid_mask>, typename description::word,
            say::say_self_mask_causal_or_self_mask_all_keys_as_torch_has_without_tgt_mask>>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    if constexpr (shapes::ok) {
      using call = typename block::template call_of<X, Memory>;
      using scratch = typename of_block::template scratch_for<call::n, call::m>;
      using given = given_workspaces<Workspace, scratch>;
      using fits = first_error<
          typename attentions_fit<call, mask_of<Mask>, mask_of<Own>>::type,
          rules::scratch_fits<say::quantized, typename given::each, scratch, typename call::sizes>>;
      static_assert(report<fits>::ok, "umbel: shapes do not fit");
      if constexpr (fits::ok)
        return computed<tensor_of<std::int16_t, row_major<layout_of<X>>>, typename given::all>(
            out, work, [&](auto& y, auto& all) {
              if (static_cast<const void*>(y.data()) != static_cast<const void*>(x.data()))
                for (std::size_t i = 0; i < call::layout::count; ++i) y.data()[i] = x.data()[i];
              sequences<call>(numbers, y.data(), data_of(memory), as_mask(mask), as_mask(own), all);
            });
      else
        return invalid{};
    } else {
      return invalid{};
    }
  }

 private:
  template <class Memory>
  static constexpr const std::int8_t* data_of(const Memory& memory) noexcept {
    if constexpr (block::has_memory)
      return memory.data();
    else
      return nullptr;
  }
  template <class Call, class Numbers, class Mask, class Own, class Work>
  static constexpr void sequences(const Numbers& numbers, std::int16_t* x,
                                  const std::int8_t* memory, const Mask& mask, const Own& own,
                                  Work& work) noexcept {
    constexpr std::size_t one = Call::n * block::width;
    using attentions =
        attentions_of_pass<description, Call::layout::template size_of<rules::batch_family>,
                           Call::n, Call::m, Own, Mask>;
    const auto of_sequence = [&](std::size_t b) {
      return attentions{memory + b * Call::m * block::width * block::has_memory, own, mask, b};
    };
    each_sequence<Call::layout::count / one>(
        work,
        [&](std::size_t b, auto& scratch) {
          for (std::size_t i = 0; i < blocks_in<Layer>::count; ++i)
            weights_of_block(numbers, i)
                .template rows<Call::n>(x + b * one, scratch, of_sequence(b));
        },
        [&](std::size_t b, const auto& workers) {
          for (std::size_t i = 0; i < blocks_in<Layer>::count; ++i)
            weights_of_block(numbers, i)
                .template rows_in_parts<Call::n>(of_block::place(x + b * one, workers.work[0]),
                                                 workers, of_sequence(b));
        });
  }
};

}  // namespace detail::integers

// x: int16, one sequence or a batch of them, and an int8 memory where the block attends to one,
// give int16 of the axes of x, and of its unit.
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
  using base::observe;
  using typename base::layer;
  template <class Derived>
  using calls = quantized;  // what a cache takes for the layer

  // layer{w}(x, mask) or layer{w}(x, memory, mask, own), whose tensors widen the ranges.
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            mask_like Mask = detail::every_key>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Mask& mask = {}) noexcept {
    return observed(seen, w, contiguous(x), detail::without_memory{}, all_keys, mask);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, class Own>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Memory& memory, const detail::own_mask<Own>& own) noexcept {
    return observed(seen, w, contiguous(x), contiguous(memory), all_keys, own.mask);
  }
  template <detail::integers::seen_by<quantized> Seen, detail::tensor_like X,
            detail::tensor_like Memory, mask_like Mask, class Own>
  static constexpr auto observe(Seen& seen, const typename layer::weights_view& w, const X& x,
                                const Memory& memory, const Mask& mask,
                                const detail::own_mask<Own>& own) noexcept {
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
