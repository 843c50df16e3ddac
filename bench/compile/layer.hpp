// SPDX-License-Identifier: BSL-1.0
// One multi_head_attention with its kernels: natural weights, lengths, a workspace. Compiled by
// run.py and by test/compile_cost; not a part of any program.
#pragma once

#include <umbel/bare.hpp>

namespace compile_cost {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads>
struct layer {
  using attention = multi_head_attention<float, hidden<Hidden>, axes::heads<Heads>>;
  using queries = tensor<float, batch<Batch>, query<Queries>, hidden<Hidden>>;
  using context = tensor<float, batch<Batch>, key<Keys>, hidden<Hidden>>;
  static void run(const typename attention::weights& w, const queries& x, const context& y,
                  const tensor<int, batch<Batch>>& valid_lens,
                  typename attention::template workspace<query<Queries>, key<Keys>>& work,
                  queries& out) {
    attention{w}.into(out, x, y, y, valid_lens, work);
  }
};

}  // namespace compile_cost
