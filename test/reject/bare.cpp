// SPDX-License-Identifier: BSL-1.0
// What is not available on bare metal (check.py).
#define UMBEL_CONSTRUCTORS_RUN 0  // as -ffreestanding says
#include <umbel/bare.hpp>

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<128>, heads<1>, rope<split_halves>>;
using tokens = tensor<float, token<1>, hidden<128>>;

#if defined CASE_turns_of_a_long_sequence
// expect-gcc: "umbel: rope: 262144 pairs need a constructor, and none runs here; use at most 131072"
// expect-clang: rope, .*<262144>, .*pairs_need_a_constructor_and_none_runs_here_so_use_at_most, .*<131072>
// lines-gcc: 17
// lines-clang: 30
// cause: Larger tables of rotary positions are computed before main. With `-ffreestanding` the start-up code may not do this, and the tables would be zeros.
// cure: Use fewer positions or rotate fewer features. If your start-up code runs constructors, compile with `-DUMBEL_CONSTRUCTORS_RUN=1`.
using past = key_value_cache<attention, key<16>, longest_sequence<4096>>;
#elif defined CASE_turns_of_a_large_table
// expect-gcc: "umbel: rope: 262144 pairs need a constructor, and none runs here; use at most 131072"
// expect-clang: rope, .*<262144>, .*pairs_need_a_constructor_and_none_runs_here_so_use_at_most, .*<131072>
// lines-clang: 16
// cause: Larger tables of rotary positions are computed before main. With `-ffreestanding` the start-up code may not do this, and the tables would be zeros.
// cure: Use fewer positions or rotate fewer features. If your start-up code runs constructors, compile with `-DUMBEL_CONSTRUCTORS_RUN=1`.
using past = key_value_cache<attention, key<16>>;
auto cosines() { return rope_cosines<split_halves, token<4096>, hidden<128>>(); }
#else
using past = key_value_cache<attention, key<16>, longest_sequence<64>>;
#endif

bool step(past& cache, const attention& layer, tokens& x) { return cache.step(x, layer, x); }
