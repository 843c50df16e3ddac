// SPDX-License-Identifier: BSL-1.0
// flags-gcc: -Os -DUMBEL_SMALL_CODE=1
// flags-clang: -Os -DUMBEL_SMALL_CODE=1
// Small code (config.hpp) plans tiles of few registers, one or two vectors wide, and a layer
// compiles with it.
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

static_assert(detail::plan::native_target.registers == 6);
static_assert(detail::plan::tile_rows(detail::plan::native_target, 1) <= 4);
static_assert(
    detail::plan::plan_linear<float>(64, 256, 256, detail::plan::native_target).panels.large <= 2);

using attention = multi_head_attention<float, hidden<20>, heads<4>>;
tensor<float, query<5>, hidden<20>> attend(const attention::weights& w,
                                           const tensor<float, query<5>, hidden<20>>& x) {
  return attention{w}(x);
}
