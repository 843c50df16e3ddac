// SPDX-License-Identifier: BSL-1.0
// The names of the parts and norms of a residual_block, as types, since C++20 can't make a member
// from a string: name::attention makes w.attention. UMBEL_PART_NAME(word) declares more.
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/weights_rules.hpp>
#include <umbel/utility.hpp>

#define UMBEL_PART_NAME(word)                                                      \
  struct word {                                                                    \
    static constexpr const char* text = #word;                                     \
    template <class Part>                                                          \
    struct member {                                                                \
      Part word;                                                                   \
      UMBEL_SHARED constexpr Part& of_name() noexcept { return word; }             \
      UMBEL_SHARED constexpr const Part& of_name() const noexcept { return word; } \
    };                                                                             \
  }

UMBEL_WARNINGS_PUSH
namespace umbel::portable::part_names {
UMBEL_PART_NAME(norm);
UMBEL_PART_NAME(norm1);
UMBEL_PART_NAME(norm2);
UMBEL_PART_NAME(norm3);
UMBEL_PART_NAME(norm4);
UMBEL_PART_NAME(final_norm);
UMBEL_PART_NAME(attention);
UMBEL_PART_NAME(self_attention);
UMBEL_PART_NAME(cross_attention);
UMBEL_PART_NAME(feed_forward);
UMBEL_PART_NAME(feed_forward1);
UMBEL_PART_NAME(feed_forward2);
UMBEL_PART_NAME(linear);
UMBEL_PART_NAME(convolution);
UMBEL_PART_NAME(layer_scale);
UMBEL_PART_NAME(layer_scale1);
UMBEL_PART_NAME(layer_scale2);
UMBEL_PART_NAME(gate);
UMBEL_PART_NAME(up);
UMBEL_PART_NAME(down);
UMBEL_PART_NAME(scale);
}  // namespace umbel::portable::part_names

namespace umbel::portable::range_names {
UMBEL_PART_NAME(residual);
UMBEL_PART_NAME(memory);
UMBEL_PART_NAME(input);
UMBEL_PART_NAME(projected_q);
UMBEL_PART_NAME(projected_k);
UMBEL_PART_NAME(q);
UMBEL_PART_NAME(k);
UMBEL_PART_NAME(v);
UMBEL_PART_NAME(gate);
UMBEL_PART_NAME(up);
UMBEL_PART_NAME(activated);
UMBEL_PART_NAME(product);
UMBEL_PART_NAME(branch);
UMBEL_PART_NAME(formula);
}  // namespace umbel::portable::range_names

namespace umbel::inline UMBEL_TARGET::detail::say {
struct residual_block;
}  // namespace umbel::inline UMBEL_TARGET::detail::say

namespace umbel::portable {

template <std::size_t I, class First, class... Rest>
struct nth_type : nth_type<I - 1, Rest...> {};
template <class First, class... Rest>
struct nth_type<0, First, Rest...> {
  using type = First;
};

// A struct with a member for each name: named<name::norm, name::attention>::parts<N, A> has the
// members norm and attention. auto& [norm, attention] = w binds them, as in layer/parts.hpp.
template <class... Name>
struct named {
  template <class... Part>
  struct parts : Name::template member<Part>... {
    using layer_name = detail::say::residual_block;
    using members_by_name = parts;
    static constexpr std::size_t members = sizeof...(Part);
    static constexpr const char* part_names[] = {Name::text...};
    template <std::size_t I>
    using holder = typename nth_type<I, typename Name::template member<Part>...>::type;
    template <std::size_t I>
    using part = typename nth_type<I, Part...>::type;

    template <std::size_t I>
    [[nodiscard]] UMBEL_SHARED constexpr auto& get() noexcept {
      return static_cast<holder<I>&>(*this).of_name();
    }
    template <std::size_t I>
    [[nodiscard]] UMBEL_SHARED constexpr const auto& get() const noexcept {
      return static_cast<const holder<I>&>(*this).of_name();
    }
  };
};

// Also views and packed ones, which derive from them.
template <class Weights>
concept has_members_by_name = std::is_class_v<Weights> && !std::is_const_v<Weights> &&
                              requires { typename Weights::members_by_name; };

}  // namespace umbel::portable

template <umbel::portable::has_members_by_name Weights>
struct std::tuple_size<Weights>
    : std::integral_constant<std::size_t, Weights::members_by_name::members> {};
template <std::size_t I, umbel::portable::has_members_by_name Weights>
struct std::tuple_element<I, Weights> {
  using type = typename Weights::members_by_name::template part<I>;
};
UMBEL_WARNINGS_POP
