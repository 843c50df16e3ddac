// SPDX-License-Identifier: BSL-1.0
// key_value_cache: the keys and values of past positions, each projected once, in memory of
// constant size. Decoding step by step has the bits of the whole causal pass:
//
//   static key_value_cache<attention, key<256>> past;   // one sequence; batch<2>: two
//   past.step(out, attend, prompt);                     // (token<12>, hidden): twelve positions
//   while (past.step(out, attend, next)) ...            // (token<1>, hidden): one more
//
//   // Sees the last 64 positions of a sequence of up to 4096.
//   key_value_cache<attention, key<64>, longest_sequence<4096>>
//   // Half the bytes: keys and values are rounded to 16 bits. stored_as<std::int8_t>: a quarter.
//   key_value_cache<attention, key<256>, stored_as<bfloat16>>
//
// For attention to a second sequence, append its keys and values once, then call attend any number
// of times. A step past the capacity returns false and changes nothing. A sliding cache drops the
// oldest positions and has no `attend`.
//
// See cache_of_blocks.hpp for blocks and stacks of them, cache_of_formula.hpp for formulas,
// mask/combine.hpp for masks (whose axis key counts positions of the cache), past.hpp and
// quantized/past.hpp for storage, and forward.hpp for the step itself.
#pragma once

#include <umbel/attention/multi_head.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/cached_layers.hpp>
#include <umbel/decode/past.hpp>
#include <umbel/decode/rules.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// Keys and values of past positions, for decoding step by step. Layer: a multi_head_attention; or
// an encoder_layer, a decoder_layer, a residual_block or a layer_stack of one, which only have
// steps (cache_of_blocks.hpp); or quantized<...> of one, with int8 keys and values. Calls accept
// the layer or its prepacked form. Keys: key<256>, the number of positions that fit in memory.
// Options: batch<2>, longest_sequence<4096>, stored_as<bfloat16> or stored_as<float16>: a float
// layer's keys and values are rounded to 16 bits when stored, and results are those of attention to
// the rounded ones. stored_as<std::int8_t>: 8 bits, with one scale per head and position for the
// key and one for the value (docs/numerics.md).
template <class Layer, class Keys = detail::nothing, class... Options>
UMBEL_EXPECTS(
    "key_value_cache: expects a type of layer, an axis, then options; write "
    "key_value_cache<attention, key<256>>")
class key_value_cache : public detail::other_cache_calls<detail::rules::calls_of_attention> {
  using calls = detail::other_cache_calls<detail::rules::calls_of_attention>;
  using of = detail::cached_attention<Layer>;
  using attention = typename of::attention;
  using hidden = typename attention::hidden_axis;
  using made = detail::stored_of_attention<Layer, Keys, detail::option_list<Options...>>;
  using sizes = typename made::sizes;
  static_assert(detail::reported<typename made::verdict>::ok, "umbel: shapes do not fit");

 public:
  using calls::append;
  using calls::attend;
  using calls::step;
  using calls::workspace_of;
  using layer = Layer;
  using value_type = typename of::number;
  using result_type = typename of::result;
  // The type that keys and values are stored as.
  using stored_type = typename made::stored;
  static constexpr bool slides = sizes::slides;
  // The most positions that a query sees, and that a sequence may have.
  static constexpr std::size_t capacity = sizes::capacity, positions = sizes::positions;
  // The number of positions that fit in memory.
  static constexpr std::size_t rows = sizes::rows;

  // The number of positions so far.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return so_far_.size(); }
  // Forgets everything.
  constexpr void reset() noexcept { so_far_.reset(); }
  // Forgets the positions from `count` on. Returns false and changes nothing if there are fewer, or
  // if a sliding cache has dropped positions that the rest would see.
  [[nodiscard]] constexpr bool rewind(std::size_t count) noexcept { return so_far_.rewind(count); }

  // Scratch for calls with this many positions, workspace<token<1>>; it keeps no state.
  template <class... Positions>
  using workspace = typename made::template scratch<
      detail::rules::first_positions<typename attention::widths, 1, Positions...>()>;

  // See workspace_for, for the positions of a step.
  template <detail::tensor_like X, mask_like... Mask>
    requires(detail::is_mask_of_step<Mask> && ...)
  static auto workspace_of(const X&, const Mask&...) {
    using namespace detail;
    using fits = first_error<rules::self_attend<say::key_value_cache, X, value_type, hidden>,
                             rules::batch_of_cache<layout_of<X>, typename sizes::batch_option>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok)
      return of_type<
          workspace<axis_of<layout_of<X>, rules::sequence_family<layout_of<X>, hidden>>>>();
    else
      return invalid{};
  }

  // Self-attention of the next positions, x (batch, token, hidden) with the batch of the cache, to
  // themselves and all before them: the rows of the whole causal pass. out: a tensor or view with
  // the axes of x in any order; for int8, x and out are row-major. mask: more masks
  // (mask/combine.hpp), whose axis key counts positions of the cache. Returns false and changes
  // nothing if the positions don't fit.
  template <detail::tensor_like Out, class Attend, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr auto step(Out&& out, const Attend& attend, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    using namespace detail;
    using fits =
        first_error<rules::layer_of_cache<Layer, Attend>,
                    rules::self_attend<say::key_value_cache, X, value_type, hidden>,
                    rules::one_width<say::key_value_cache, hidden, typename attention::keys_axis,
                                     typename attention::values_axis>,
                    argument_fits<X, hidden>, result_fits<Out, X>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using family = rules::sequence_family<layout_of<X>, hidden>;
      using call = call_of<axis_of<layout_of<X>, family>, true, Mask, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(call::count)) return false;
        constexpr auto xs = strides_along<layout_of<X>, family, typename hidden::family>;
        constexpr auto outs = strides_of_out<Out, family>;
        with_scratch<typename call::place>(work, [&](auto& scratch) UMBEL_LAMBDA_INLINE {
          for (std::size_t b = 0; b < sizes::batches; ++b)
            step_of_sequence<call::count, xs, outs>(past_, attend.get_weights(), b,
                                                    x.data() + b * xs.batch, so_far_, as_mask(mask),
                                                    out.data() + b * outs.batch, scratch);
        });
        so_far_.add(call::count);
        return true;
      }
    }
    return false;
  }

  // Adds the keys and values of more positions, (batch, key, hidden) each, without attending. work:
  // a workspace<key<..>>. Returns false and changes nothing if they don't fit.
  template <class Attend, detail::tensor_like Y, detail::tensor_like Z,
            workspace_like Workspace = detail::on_stack>
  [[nodiscard]] constexpr auto append(const Attend& attend, const Y& y, const Z& z,
                                      Workspace&& work = {}) noexcept {
    using namespace detail;
    using family = rules::key_family;
    using key_axis = typename attention::keys_axis;
    using value_axis = typename attention::values_axis;
    using fits = first_error<rules::layer_of_cache<Layer, Attend>,
                             rules::attention_argument<say::key_value_cache, say::the_keys, Y,
                                                       value_type, family, key_axis>,
                             rules::attention_argument<say::key_value_cache, say::the_values, Z,
                                                       value_type, family, value_axis>,
                             rules::same_size<say::key_value_cache, family, layout_of<Y>,
                                              say::the_keys, layout_of<Z>, say::but_the_values>,
                             argument_fits<Y, key_axis>, argument_fits<Z, value_axis>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using call = call_of<axis_of<layout_of<Y>, family>, true, every_key, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        if (!make_room(call::count)) return false;
        constexpr auto ys = strides_along<layout_of<Y>, family, typename key_axis::family>;
        constexpr auto zs = strides_along<layout_of<Z>, family, typename value_axis::family>;
        with_scratch<typename call::place>(work, [&](auto& scratch) UMBEL_LAMBDA_INLINE {
          for (std::size_t b = 0; b < sizes::batches; ++b)
            past_.template append<call::count, ys, zs>(
                attend.get_weights(), b, y.data() + b * ys.batch, z.data() + b * zs.batch,
                so_far_.size(), so_far_.row(), scratch);
        });
        so_far_.add(call::count);
        return true;
      }
    }
    return false;
  }

  // Attention of queries, (batch, query, hidden), to everything stored, at any position. Rotary
  // positions of the queries count from 0. A sliding cache has no `attend`: its remaining part
  // depends on how the sequence was cut into steps.
  template <detail::tensor_like Out, class Attend, detail::tensor_like X,
            mask_like Mask = detail::every_key, workspace_like Workspace = detail::on_stack>
  constexpr void attend(Out&& out, const Attend& attend, const X& x, const Mask& mask = {},
                        Workspace&& work = {}) const noexcept {
    using namespace detail;
    using family = rules::query_family;
    using fits = first_error<rules::layer_of_cache<Layer, Attend>, rules::attend_of_cache<slides>,
                             rules::attention_argument<say::key_value_cache, say::the_queries, X,
                                                       value_type, family, hidden>,
                             argument_fits<X, hidden>, result_fits<Out, X>>;
    static_assert(report<fits>::ok, "umbel: shapes do not fit");
    if constexpr (fits::ok) {
      using call = call_of<axis_of<layout_of<X>, family>, false, Mask, Workspace>;
      static_assert(report<typename call::verdict>::ok, "umbel: shapes do not fit");
      if constexpr (call::verdict::ok) {
        constexpr auto xs = strides_along<layout_of<X>, family, typename hidden::family>;
        constexpr auto outs = strides_of_out<Out, family>;
        with_scratch<typename call::place>(work, [&](auto& scratch) UMBEL_LAMBDA_INLINE {
          for (std::size_t b = 0; b < sizes::batches; ++b)
            attend_to_sequence<call::count, xs, outs>(
                past_, attend.get_weights(), b, x.data() + b * xs.batch, 0, size(), as_mask(mask),
                out.data() + b * outs.batch, scratch);
        });
      }
    }
  }

 private:
  template <class X, class Axis>
  using argument_fits = detail::first_error<
      typename of::template argument_fits<X, Axis>,
      detail::rules::batch_of_cache<detail::layout_of<X>, typename sizes::batch_option>>;
  template <class Out, class X>
  using result_fits =
      typename of::template out_fits<Out,
                                     typename attention::template result_of<detail::layout_of<X>>>;
  template <class Out, class Family>
  static constexpr auto strides_of_out =
      detail::strides_along<detail::layout_of<std::remove_reference_t<Out>>, Family,
                            typename attention::output_axis::family>;

  // Common to all calls with one number of positions. Appends: are these positions stored?
  template <class Positions, bool Appends, class Mask, class Workspace>
  struct call_of {
    static constexpr std::size_t count = Positions::size;
    using workspace_type = std::remove_reference_t<Workspace>;
    using scratch = typename made::template scratch<count>;
    using place = typename detail::given_workspaces<workspace_type, scratch>::all;
    using verdict = detail::first_error<
        detail::rules::fits_into_cache<Positions, Keys, Appends ? sizes::at_once : npos>,
        typename made::type::template mask_rule<Mask, count>,
        detail::rules::scratch_fits<detail::say::key_value_cache, workspace_type, scratch,
                                    detail::shape<Positions>>>;
  };
  constexpr bool make_room(std::size_t count) noexcept {
    return so_far_.make_room(count,
                             [&](std::size_t gone, std::size_t left) { past_.drop(gone, left); });
  }

  detail::positions_so_far<sizes> so_far_;
  typename made::type past_;
};

// An option of a formula's cache (step_of_formula.hpp).
template <class... X>
struct called_with;
// Any other layer is refused.
template <class Layer, class Keys, class... Options>
  requires(portable::anything<void> && !detail::is_multi_head<Layer> &&
           !detail::stores_heads<Layer> && !detail::stores_blocks<Layer> &&
           !detail::decodes_as_formula<Layer>)
class key_value_cache<Layer, Keys, Options...> {
  static_assert(detail::reported<detail::rules::a_layer_to_decode<Layer>>::ok,
                "umbel: shapes do not fit");

 public:
  using layer = Layer;
  template <class... Positions>
  struct workspace : detail::workspace_base {};
  constexpr std::size_t size() const noexcept { return 0; }
  constexpr void reset() const noexcept {}
  [[nodiscard]] constexpr bool rewind(std::size_t) const noexcept { return false; }
  constexpr bool step(const auto&...) const noexcept { return false; }
  constexpr bool append(const auto&...) const noexcept { return false; }
  constexpr void attend(const auto&...) const noexcept {}
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
