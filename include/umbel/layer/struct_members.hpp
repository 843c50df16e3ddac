// SPDX-License-Identifier: BSL-1.0
// The members of a struct: how many it has, their names in part_names, a call with all of them.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

// A struct whose members have names.
template <class W>
concept names_its_parts = requires { W::part_names[0]; };
template <class W>
inline constexpr std::size_t parts_named = 0;
template <names_its_parts W>  // sizeof: for clang 14 the extent is 0 until it is used elsewhere
inline constexpr std::size_t parts_named<W> = sizeof(W::part_names) / sizeof(W::part_names[0]);

// The number of members of a struct, 17 for more; 0 if one of them has no default.
template <class W>
constexpr std::size_t members_in() {
  if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 17;
  else if constexpr (requires {
                       W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
                     })
    return 16;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 15;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 14;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 13;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 12;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 11;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 10;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 9;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}}; })
    return 8;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}}; })
    return 7;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}}; })
    return 6;
  else if constexpr (requires { W{{}, {}, {}, {}, {}}; })
    return 5;
  else if constexpr (requires { W{{}, {}, {}, {}}; })
    return 4;
  else if constexpr (requires { W{{}, {}, {}}; })
    return 3;
  else if constexpr (requires { W{{}, {}}; })
    return 2;
  else if constexpr (requires { W{{}}; })
    return 1;
  else
    return 0;
}
// Calls f(member...) with the Count members of a struct in their order.
inline constexpr std::size_t most_members = 16;
template <std::size_t Count, class Struct, class F>
UMBEL_INLINE constexpr auto with_members(Struct& s, F f) {
  static_assert(Count <= most_members || requires { s.with_all_members(f); });
  if constexpr (requires { s.with_all_members(f); }) {
    return s.with_all_members(f);
  } else if constexpr (Count == 1) {
    auto& [a] = s;
    return f(a);
  } else if constexpr (Count == 2) {
    auto& [a, b] = s;
    return f(a, b);
  } else if constexpr (Count == 3) {
    auto& [a, b, c] = s;
    return f(a, b, c);
  } else if constexpr (Count == 4) {
    auto& [a, b, c, d] = s;
    return f(a, b, c, d);
  } else if constexpr (Count == 5) {
    auto& [a, b, c, d, e] = s;
    return f(a, b, c, d, e);
  } else if constexpr (Count == 6) {
    auto& [a, b, c, d, e, g] = s;
    return f(a, b, c, d, e, g);
  } else if constexpr (Count == 7) {
    auto& [a, b, c, d, e, g, h] = s;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (Count == 8) {
    auto& [a, b, c, d, e, g, h, i] = s;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (Count == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = s;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (Count == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = s;
    return f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (Count == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (Count == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m);
  } else if constexpr (Count == 13) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, n] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, n);
  } else if constexpr (Count == 14) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, n, o] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, n, o);
  } else if constexpr (Count == 15) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, n, o, p] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (Count == 16) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q] = s;
    return f(a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
