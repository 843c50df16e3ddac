// SPDX-License-Identifier: BSL-1.0
// Common to every mask: the policy that it becomes for one head of one sequence, and every_key, the
// default. See combine.hpp for a list of the other masks.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/mask/rules.hpp>
#include <umbel/tensor/arithmetic.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

struct no_observer {};

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

// Base of all masks. A mask has
//   rule<Layer, Scores>       its verdict on scores (detail::scores_of)
//   policy<Scores>(place)     the kernel's policy for one head of one sequence
//   observer<Scores>(place)   the receiver of the scores or weights of that head (observe.hpp)
//   observes, drops           does it observe scores, does it drop weights; at most one of each
//   by_position               does it depend only on distances between queries and keys
//   by_head                   can it differ between heads
//   has_length                does it set the number of keys of a sequence
//   counts_rows               does it count the rows of a sequence: rows(batch, most)
//   to_last_key               its name if it puts the last query at the last of all keys
struct mask_base : own_arithmetic {
  static constexpr bool observes = false, drops = false;
  static constexpr bool by_position = false;
  static constexpr bool by_head = true;
  static constexpr bool has_length = false;
  static constexpr bool counts_rows = false;
  using to_last_key = void;
  template <class Scores>
  static constexpr detail::no_observer observer(auto) noexcept {
    return {};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::mask_base;

// (Checks completeness first: the operators are tried for any type.)
template <class M>
concept derived_from_mask = requires { sizeof(std::remove_cvref_t<M>); } &&
                            std::is_base_of_v<mask_base, std::remove_cvref_t<M>>;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// Does a layer accept M as a mask? An integer is the length of all sequences.
template <class M>
concept mask_like = detail::tensor_like<M> || detail::derived_from_mask<M> ||
                    detail::rules::is_length<std::remove_cvref_t<M>>;

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::inline UMBEL_TARGET::detail {

UMBEL_SAYS(has_one_workspace_for_all_layers_so_pass_none_to_a_layer,
           "has one workspace for all layers; pass none to a layer");

namespace rules {
// Calls with tensors, a mask and a workspace, by the descriptions of their arguments.
template <class Takes>
inline constexpr bool takes_a_mask = false;
template <class Takes, class Given>
  requires takes_a_mask<Takes>
inline constexpr bool is_foreign<Takes, Given> =
    !mask_like<Given> && !workspace_like<Given> && !traced<Given>;
template <class Takes, derived_from_mask Given>
  requires takes_a_mask<Takes>
inline constexpr bool is_misplaced<Takes, void, Given> = true;
template <class Takes, derived_from_mask Before, shaped Given>
  requires takes_a_mask<Takes>
inline constexpr bool is_misplaced<Takes, Before, Given> = true;
// In a formula, a call with a workspace.
template <class Operation, class Takes, traced X, class... Arguments>
  requires(takes_a_mask<Takes> && (workspace_like<Arguments> || ...))
struct arguments_rule<Operation, Takes, X, Arguments...> {
  using type = verdict<never<X>, say::formula,
                       say::has_one_workspace_for_all_layers_so_pass_none_to_a_layer>;
};
}  // namespace rules

// For calls with a mask; also refuses attend(x, y, y, {3, 2}): a list has no type to deduce.
template <class Operation, class Takes>
struct other_calls_with_mask : other_calls_and_into<Operation, Takes> {
  using other_calls_and_into<Operation, Takes>::operator();

  template <tensor_like X, class T, std::size_t Count>
    requires(!std::is_same_v<T, char>)  // text is not a list
  constexpr invalid operator()(const X&, const T (&)[Count]) const noexcept {
    static_assert(report<rules::list_for_a_mask<Operation, Count, T>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
  template <tensor_like X, tensor_like Y, tensor_like Z, class T, std::size_t Count>
    requires(!std::is_same_v<T, char>)
  constexpr invalid operator()(const X&, const Y&, const Z&, const T (&)[Count]) const noexcept {
    static_assert(report<rules::list_for_a_mask<Operation, Count, T>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
};

// The head and the sequence of a policy. If the caller knows the positions of the queries
// (Scores::placed): the position of query 0 among the keys, which is added to the mask's, and its
// position if the last query were at the last key that exists.
struct mask_place {
  std::size_t batch, head;
  std::ptrdiff_t first_position = 0, bottom_right = 0;
};

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

// Every key, with its score unchanged.
struct every_key : mask_base {
  static constexpr bool by_position = true;
  static constexpr bool by_head = false;
  template <class Layer, class Scores>
  using rule = detail::accepted;
  template <class Scores>
  constexpr detail::kernel::scores::every_key policy(detail::mask_place) const noexcept {
    return {};
  }
};

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

using portable::every_key;

}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::inline UMBEL_TARGET {

// Every key: the mask of a call that is given none.
inline constexpr detail::every_key all_keys{};

}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::inline UMBEL_TARGET::detail {

// A mask for one head of one sequence. Stored: the keys that exist, which limit every mask.
template <class Policy, class Observer, class Stored = kernel::scores::every_key>
struct head_mask {
  Policy policy;
  Observer observer;
  Stored stored{};
};
template <class Scores, class Mask>
constexpr auto at_head(const Mask& mask, mask_place place) noexcept {
  using policy = decltype(mask.template policy<Scores>(place));
  using observer = decltype(mask.template observer<Scores>(place));
  return head_mask<policy, observer>{mask.template policy<Scores>(place),
                                     mask.template observer<Scores>(place)};
}

// The rows of one sequence that a call computes: all, or the first.
struct every_row {};
struct all_rows {
  every_row queries, keys;
};
struct first_rows {
  std::size_t queries, keys;
};
// OfQueries, OfKeys: masks. Queries, Keys: how many exist at most.
template <std::size_t Queries, std::size_t Keys, class OfQueries, class OfKeys>
constexpr auto rows_present(const OfQueries& of_queries, const OfKeys& of_keys,
                            std::size_t batch) noexcept {
  if constexpr (!OfQueries::counts_rows && !OfKeys::counts_rows) {
    return all_rows{};
  } else {
    const auto count = [batch](const auto& mask, std::size_t most) {
      if constexpr (std::remove_cvref_t<decltype(mask)>::counts_rows)
        return mask.rows(batch, most);
      else
        return most;
    };
    return first_rows{count(of_queries, Queries), count(of_keys, Keys)};
  }
}
// Of an attention. Queries, Keys: axes; the same: of a sequence to itself, whose rows mask counts.
template <class Queries, class Keys, std::size_t QueryCount, std::size_t KeyCount, class Mask>
constexpr auto rows_of_attention(const Mask& mask, std::size_t batch) noexcept {
  if constexpr (std::is_same_v<Queries, Keys>)
    return rows_present<QueryCount, KeyCount>(mask, mask, batch);
  else
    return rows_present<QueryCount, KeyCount>(every_key{}, mask, batch);
}

// A mask for the heads of one sequence.
template <class Scores, class Mask>
struct sequence_mask {
  const Mask& mask;
  std::size_t batch;

  static constexpr bool same_length_for_heads = [] {
    using place = mask_place;
    using policy = decltype(std::declval<const Mask&>().template policy<Scores>(place{}));
    return !Mask::by_head && !Mask::observes &&
           (std::is_same_v<policy, kernel::scores::every_key> ||
            std::is_same_v<policy, kernel::scores::first_keys>);
  }();
  constexpr auto operator()(std::size_t head) const noexcept {
    return at_head<Scores>(mask, {batch, head});
  }
};
template <class Scores, class Mask>
constexpr sequence_mask<Scores, Mask> at_sequence(const Mask& mask, std::size_t batch) noexcept {
  return {mask, batch};
}

// `given`, limited to the keys that the policy `stored` keeps.
template <class Stored, class Mask, class Observer>
constexpr auto among(const Stored& stored, const head_mask<Mask, Observer>& given) noexcept {
  if constexpr (std::is_same_v<Mask, kernel::scores::every_key>) {
    return head_mask<Stored, Observer, Stored>{stored, given.observer, stored};
  } else {
    using both = kernel::scores::all_of<Stored, Mask>;
    return head_mask<both, Observer, Stored>{both(stored, given.policy), given.observer, stored};
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
