// SPDX-License-Identifier: BSL-1.0
// A layer's scratch memory: on the stack, within a budget, or in a workspace that the caller owns
// and passes. Its type follows from the layer and the sizes of the call; its size is a constant.
//
//   static attention::workspace<query<4>, key<6>> work;
//   attention{w}(x, y, y, all_keys, work);
//
// In addition to workspace and result, the functions of a call need at most this much stack:
//
//   2 kB                   (clang 3 kB); if a few queries are left over from the blocks, 40 vectors
//                          more: 5 kB with AVX-512
//   6 kB                   under many masks; if tensors of biases are among them, 3 kB and 192
//                          vectors: 15 kB with AVX-512, 9 kB with AVX2
//   10 kB                  in a formula that computes with the scores
//   8 kB and 1024 vectors  unoptimized (-O0): 72 kB with AVX-512, 40 kB with AVX2, 24 kB with SSE2;
//                          three times that in such a formula
//
// test/realtime measures them.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/template_arguments.hpp>

#include <type_traits>
#include <umbel/utility.hpp>

// Bytes of scratch that a layer may put on the stack. A layer that needs more is a compile error
// without a workspace. To change it, define it before including Umbel.
#ifndef UMBEL_STACK_BUDGET
#define UMBEL_STACK_BUDGET 65536
#endif

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
struct on_stack {};
// A call in a formula: scratch is in the workspace of the formula.
struct in_formula {};

struct workspace_base {};

// For decltype: the type of a workspace, which may not be copied.
template <class T>
T of_type() noexcept;
}  // namespace detail

// May W be passed as a workspace?
template <class W>
concept workspace_like = std::is_base_of_v<detail::workspace_base, std::remove_cvref_t<W>> ||
                         std::is_same_v<std::remove_cvref_t<W>, detail::on_stack>;

// The workspace of a call with arguments of these types, for any layer; tensors or views, in the
// order of the call: workspace_for<attention, queries, context, context>, workspace_for<encoder,
// tokens>, workspace_for<decoder, tokens, memory>, workspace_for<cache, step>. Masks may follow, as
// in the call: workspace_for<encoder, tokens, decltype(causal)>. Without a tensor, use the axes:
// attention::workspace<query<4>, key<6>>. sizeof is its cost.
template <class Layer, class... X>
UMBEL_EXPECTS(
    "workspace_for: expects types, of a layer or formula and of its arguments; write "
    "workspace_for<decltype(f), queries>")
using workspace_for =
    decltype(std::remove_cvref_t<Layer>::workspace_of(std::declval<const X&>()...));

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
