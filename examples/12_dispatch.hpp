// SPDX-License-Identifier: BSL-1.0
// The interface of 12_dispatch.cpp (the program) and 12_dispatch_attend.cpp (compiled once per
// instruction set): types that are the same for all of them, and three functions. No layer and no
// workspace: these belong to one instruction set, and a file that uses another set's doesn't link.
#pragma once

#include <umbel/umbel.hpp>

namespace encoder {

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<64>, heads<4>, bias<true>>;
using tokens = tensor<float, batch<2>, token<32>, hidden<64>>;
using lengths = tensor<int, batch<2>>;
using mask = decltype(std::declval<const lengths&>() & causal);

// One function, three times.
namespace sse2 {
void attend(const attention::weights& w, const tokens& x, const mask& seen, tokens& out);
}
namespace avx2 {
void attend(const attention::weights& w, const tokens& x, const mask& seen, tokens& out);
}
namespace avx512 {
void attend(const attention::weights& w, const tokens& x, const mask& seen, tokens& out);
}

}  // namespace encoder
