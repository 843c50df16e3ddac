// SPDX-License-Identifier: BSL-1.0
// Several documents in one sequence: Krell et al., "Efficient Sequence Packing without
// Cross-contamination" (2021), section 3.4. A query sees the keys of its document, here up to
// its own position:
//
//   softmax(Q K^T / sqrt(d)) V over j <= i, document_i = document_j
//
// q: batch, heads, query, head_dim; k, v: batch, heads, key, head_dim; documents: batch, token.
#pragma once

#include <umbel/umbel.hpp>

namespace variants {
using namespace umbel;
using namespace umbel::axes;

inline constexpr formula packed_documents = [](auto q, auto k, auto v, auto documents) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  auto of_query = gather<token>(documents, position<query>);
  auto of_key = gather<token>(documents, position<key>);
  auto is_hidden = position<key> > position<query> || of_query != of_key;
  return contract<key>(softmax<key>(hide(scores, is_hidden)), v);
};

}  // namespace variants
