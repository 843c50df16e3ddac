// SPDX-License-Identifier: BSL-1.0
// What tests of the gradients of attention share.
#pragma once

#include <cstddef>
#include <umbel/kernel/shapes.hpp>

namespace umbel_test {

using umbel::detail::kernel::attend_backward_shape;

// Rows of more than their features, all different; biases of a query are adjacent.
constexpr attend_backward_shape apart(std::size_t queries, std::size_t keys, std::size_t head_dim,
                                      std::size_t value_dim) {
  return {.queries = queries,
          .keys = keys,
          .head_dim = head_dim,
          .value_dim = value_dim,
          .q_row = head_dim + 1,
          .k_row = head_dim + 2,
          .v_row = value_dim + 3,
          .o_row = value_dim,
          .dq_row = head_dim + 4,
          .dk_row = head_dim + 5,
          .dv_row = value_dim + 6,
          .do_row = value_dim + 7,
          .bias = true,
          .bias_query = keys,
          .bias_key = 1};
}

}  // namespace umbel_test
