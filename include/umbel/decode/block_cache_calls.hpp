// SPDX-License-Identifier: BSL-1.0
// The calls of a cache of blocks, of floats and of integers: their forms, and what they refuse. Not
// here: what they do (cache_of_blocks.hpp, quantized/cache_of_blocks.hpp).
#pragma once

#include <umbel/block/stack.hpp>
#include <umbel/config.hpp>
#include <umbel/decode/memory.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
UMBEL_SAYS(a_cache_of_encoder_or_decoder_layers_has_steps_but_no_append_and_no_recall,
           "a cache of encoder or decoder layers has steps, but no append and no recall");

// Derived: step_with(out, layer, x, mask of the memory, mask of the sequence, workspace), and
// attend_to where HasMemory is true. T: of a memory.
template <class Derived, class T, bool HasMemory>
class block_cache_calls : public other_cache_calls {
 public:
  using other_cache_calls::step;

  // The layers' results for the next positions, x (batch, token, hidden), row-major: the rows of
  // the whole causal pass. out may be x. mask: more masks, the same for all layers, whose axis key
  // counts positions of the cache; if there is a memory, of the memory, and own, self_mask(m), of
  // the sequence. Returns false and changes nothing if there is no room for them, or no memory was
  // given.
  template <tensor_like Out, class Given, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
  [[nodiscard]] constexpr bool step(Out&& out, const Given& layer, const X& x,
                                    const Mask& mask = {}, Workspace&& work = {}) noexcept {
    if constexpr (HasMemory)
      return self().template step_with<Out>(out, layer, x, mask, all_keys, work);
    else
      return self().template step_with<Out>(out, layer, x, all_keys, mask, work);
  }
  template <tensor_like Out, class Given, tensor_like X, class Own,
            workspace_like Workspace = on_stack>
    requires HasMemory
  [[nodiscard]] constexpr bool step(Out&& out, const Given& layer, const X& x,
                                    const own_mask<Own>& own, Workspace&& work = {}) noexcept {
    return self().template step_with<Out>(out, layer, x, all_keys, own.mask, work);
  }
  template <tensor_like Out, class Given, tensor_like X, mask_like Mask, class Own,
            workspace_like Workspace = on_stack>
    requires HasMemory
  [[nodiscard]] constexpr bool step(Out&& out, const Given& layer, const X& x, const Mask& mask,
                                    const own_mask<Own>& own, Workspace&& work = {}) noexcept {
    return self().template step_with<Out>(out, layer, x, mask, own.mask, work);
  }
  // Arguments that fit no form of the calls: refused.
  template <class... Arguments>
    requires HasMemory
  constexpr bool step(const Arguments&...) noexcept {
    using rule = typename rules::arguments_of_step<T, Arguments...>::type;
    static_assert(report<rule>::ok, "umbel: shapes do not fit");
    return false;
  }
  template <class... Arguments>
    requires HasMemory
  constexpr void attend_to(const Arguments&...) noexcept {
    using takes = say::attend_to_takes_the_layer_and_the_memory_then_a_workspace;
    (void)other_cache_calls::template refuse<takes, Arguments...>();
  }
  // Keys and values of a block are made of what the block before it gives: refused.
  template <class... Arguments>
  constexpr bool append(const Arguments&...) noexcept {
    return refuse_all_but_steps<Arguments...>();
  }
  template <class... Arguments>
  constexpr void recall(const Arguments&...) const noexcept {
    (void)refuse_all_but_steps<Arguments...>();
  }

 private:
  constexpr Derived& self() noexcept { return *static_cast<Derived*>(this); }
  template <class... Arguments>
  static constexpr bool refuse_all_but_steps() noexcept {
    static_assert(
        report<verdict<
            (sizeof...(Arguments) > 99), say::key_value_cache,
            say::a_cache_of_encoder_or_decoder_layers_has_steps_but_no_append_and_no_recall>>::ok,
        "umbel: shapes do not fit");
    return false;
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
