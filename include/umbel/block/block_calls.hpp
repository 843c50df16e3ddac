// SPDX-License-Identifier: BSL-1.0
// The calls of a residual_block: x, or x and a memory; masks; a workspace; into a tensor; in a
// formula. prepacked<block> and layer_stack<block> have the same calls.
#pragma once

#include <umbel/block/block_rules.hpp>
#include <umbel/config.hpp>
#include <umbel/layer/memory.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/refusal.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

template <class Masks>
inline constexpr bool says_self_mask = true;
template <class Mask>
inline constexpr bool says_self_mask<both_masks<Mask, unsaid_mask>> = false;
struct without_memory {};  // instead of a memory and its mask

// Refuses calls that fit no form.
template <class Word, bool HasMemory>
struct refused_block_calls
    : other_calls_with_mask<
          Word,
          say::expects_a_sequence_then_a_mask_such_as_lengths_causal_or_all_keys_then_a_workspace> {
};
template <class Word>
struct refused_block_calls<Word, true>
    : other_calls_and_into<
          Word,
          say::
              expects_a_sequence_and_a_memory_then_a_mask_of_the_memory_then_self_mask_then_a_workspace> {
};

// The memory and the masks among the types that follow x, for workspace_for.
template <class Memory, class Mask, class ToSelf>
struct memory_and_masks {
  using memory = Memory;
  using mask = Mask;
  using to_self = ToSelf;
};
template <bool HasMemory, class... More>
struct after_sequence {};
template <bool HasMemory>
struct after_sequence<HasMemory> : memory_and_masks<without_memory, every_key, every_key> {};
template <mask_like Mask>
struct after_sequence<false, Mask> : memory_and_masks<without_memory, every_key, Mask> {};
template <tensor_like Memory>
struct after_sequence<true, Memory> : memory_and_masks<Memory, every_key, every_key> {};
template <tensor_like Memory, class ToSelf>
struct after_sequence<true, Memory, self_attention_mask<ToSelf>>
    : memory_and_masks<Memory, every_key, ToSelf> {};
template <tensor_like Memory, mask_like Mask, class ToSelf>
struct after_sequence<true, Memory, Mask, self_attention_mask<ToSelf>>
    : memory_and_masks<Memory, Mask, ToSelf> {};

template <class Layer, class X, class More,
          class Shapes = typename Layer::template shapes_fit<X, typename More::memory>::type>
struct workspace_rule {
  using verdict = Shapes;
  using type = invalid;
};
template <class Layer, class X, class More>
struct workspace_rule<Layer, X, More, accepted> {
  using entry = typename Layer::entry;
  using call = typename entry::template call_of<X, typename More::memory>;
  using verdict = typename entry::template masks_of_call_fit<call, mask_of<typename More::mask>,
                                                             mask_of<typename More::to_self>>::type;
  using type = typename Layer::template scratch_of<call::n, call::m>::type;
};

// operator() of the layer and of prepacked<layer>.
template <class Derived, class Layer, class Word = say::residual_block, bool HasMemory = false>
struct block_calls : refused_block_calls<Word, HasMemory> {
  using refused = refused_block_calls<Word, HasMemory>;
  using refused::operator();
  using refused::into;
  using refused::workspace_of;

  template <tensor_like X, mask_like Mask = every_key, workspace_like Workspace = on_stack>
    requires(!HasMemory)
  constexpr auto operator()(const X& x, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    using shapes =
        typename Layer::entry::template shapes_of_call<Layer, X, without_memory, Mask, by_value>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    return Layer::entry::template pass<Layer>(self(), x, without_memory{}, all_keys, mask, work,
                                              by_value{});
  }
  template <tensor_like X, tensor_like Memory, class ToSelf, workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory,
                            const self_attention_mask<ToSelf>& to_self,
                            Workspace&& work = {}) const noexcept {
    using shapes =
        typename Layer::entry::template shapes_of_call<Layer, X, Memory, ToSelf, by_value>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    return Layer::entry::template pass<Layer>(self(), x, memory, all_keys, to_self.mask, work,
                                              by_value{});
  }
  template <tensor_like X, tensor_like Memory, mask_like Mask, class ToSelf,
            workspace_like Workspace = on_stack>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask,
                            const self_attention_mask<ToSelf>& to_self,
                            Workspace&& work = {}) const noexcept {
    using shapes =
        typename Layer::entry::template shapes_of_call<Layer, X, Memory, ToSelf, by_value>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    return Layer::entry::template pass<Layer>(self(), x, memory, mask, to_self.mask, work,
                                              by_value{});
  }
  // Without a self_mask: refused.
  template <tensor_like X, tensor_like Memory, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
    requires HasMemory
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask = {},
                            Workspace&& work = {}) const noexcept {
    using shapes =
        typename Layer::entry::template shapes_of_call<Layer, X, Memory, unsaid_mask, by_value>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    return Layer::entry::template pass<Layer>(self(), x, memory, mask, unsaid_mask{}, work,
                                              by_value{});
  }
  template <tensor_like Out, tensor_like X, tensor_like Memory, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
    requires HasMemory
  constexpr void into(Out&& out, const X& x, const Memory& memory, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    using shapes =
        typename Layer::entry::template shapes_of_call<Layer, X, Memory, unsaid_mask, Out>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    Layer::entry::template pass<Layer>(self(), x, memory, mask, unsaid_mask{}, work,
                                       static_cast<Out&&>(out));
  }
  template <traced X, traced Memory, mask_of_a_node Mask = every_key>
    requires HasMemory
  constexpr auto operator()(const X& x, const Memory& memory,
                            const Mask& mask = {}) const noexcept {
    return (*this)(x, memory, mask, self_attention_mask<unsaid_mask>{});
  }
  template <tensor_like Out, tensor_like X, mask_like Mask = every_key,
            workspace_like Workspace = on_stack>
    requires(!HasMemory)
  constexpr void into(Out&& out, const X& x, const Mask& mask = {},
                      Workspace&& work = {}) const noexcept {
    using shapes =
        typename Layer::entry::template shapes_of_call<Layer, X, without_memory, Mask, Out>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    Layer::entry::template pass<Layer>(self(), x, without_memory{}, all_keys, mask, work,
                                       static_cast<Out&&>(out));
  }
  template <tensor_like Out, tensor_like X, tensor_like Memory, mask_like Mask, class ToSelf,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory, const Mask& mask,
                      const self_attention_mask<ToSelf>& to_self,
                      Workspace&& work = {}) const noexcept {
    using shapes = typename Layer::entry::template shapes_of_call<Layer, X, Memory, ToSelf, Out>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    Layer::entry::template pass<Layer>(self(), x, memory, mask, to_self.mask, work,
                                       static_cast<Out&&>(out));
  }
  template <tensor_like Out, tensor_like X, tensor_like Memory, class ToSelf,
            workspace_like Workspace = on_stack>
  constexpr void into(Out&& out, const X& x, const Memory& memory,
                      const self_attention_mask<ToSelf>& to_self,
                      Workspace&& work = {}) const noexcept {
    using shapes = typename Layer::entry::template shapes_of_call<Layer, X, Memory, ToSelf, Out>;
    static_assert(report<shapes>::ok, "umbel: shapes do not fit");
    Layer::entry::template pass<Layer>(self(), x, memory, all_keys, to_self.mask, work,
                                       static_cast<Out&&>(out));
  }

  // In a formula.
  template <traced X, mask_of_a_node Mask = every_key>
    requires(!HasMemory)
  constexpr auto operator()(const X& x, const Mask& mask = {}) const noexcept {
    using verdict = in_its_line<typename Layer::template verdict_in_formula<X, Mask>, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return call_with_mask<typename Layer::template steps_on<view_of_node<X>>>(self(), mask, x);
    else
      return refusal<verdict>();
  }
  template <traced X, traced Memory, class ToSelf>
  constexpr auto operator()(const X& x, const Memory& memory,
                            const self_attention_mask<ToSelf>& to_self) const noexcept {
    return (*this)(x, memory, all_keys, to_self);
  }
  template <traced X, traced Memory, mask_of_a_node Mask, class ToSelf>
  constexpr auto operator()(const X& x, const Memory& memory, const Mask& mask,
                            const self_attention_mask<ToSelf>& to_self) const noexcept {
    using masks = both_masks<mask_of<Mask>, ToSelf>;
    using verdict = in_its_line<typename Layer::template verdict_in_formula<X, masks, Memory>, X>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return call_with_mask<
          typename Layer::template steps_on<view_of_node<X>, view_of_node<Memory>>>(
          self(), masks(as_mask(mask), to_self.mask), x, memory);
    else
      return refusal<verdict>();
  }

  // See workspace_for.
  template <tensor_like X, class... More, class Of = Layer>
    requires requires { typename after_sequence<HasMemory, More...>::memory; }
  static auto workspace_of(const X&, const More&...) {
    using rule = workspace_rule<Of, X, after_sequence<HasMemory, More...>>;
    static_assert(report<typename rule::verdict>::ok, "umbel: shapes do not fit");
    return of_type<typename rule::type>();
  }

 private:
  constexpr const auto& self() const noexcept {
    return static_cast<const Derived*>(this)->get_weights();
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
