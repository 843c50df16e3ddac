// SPDX-License-Identifier: BSL-1.0
// attend_form_of: plan::choose_attend's form for one shape, given each kernel's abilities.
#pragma once

#include <umbel/config.hpp>
#include <umbel/kernel/float/attend_each.hpp>
#include <umbel/kernel/float/attend_heads.hpp>
#include <umbel/kernel/float/attend_pairs.hpp>
#include <umbel/plan/choose_attend.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
inline constexpr plan::attend_forms attend_forms_of = {
    heads_fit_lanes<S, H, T, Target>, pairs_fit_heads<S, H, T, Target>,
    each_fits_lanes<S, H, T, Target>, [] {
      if constexpr (S.queries > 1 && detail::queries_alone<S, T, Target> == 1)
        return each_fits_lanes<few_of(S, 1), H, T, Target>;
      else
        return false;
    }()};

template <attend_shape S, heads_shape H, class T, plan::seen_keys Seen,
          plan::target Target = plan::native_target>
inline constexpr plan::attend_form attend_form_of =
    plan::choose_attend(attend_forms_of<S, H, T, Target>, Seen);

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
