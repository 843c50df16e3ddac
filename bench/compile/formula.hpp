// SPDX-License-Identifier: BSL-1.0
// One attention without projections, one multi-head attention with them, and one encoder layer of
// norms, attention and network, as formulas; beside the function, and the layer, for the first and
// the last. Compiled by run.py and by test/compile_cost; not a part of any program.
#pragma once

#include <umbel/bare.hpp>

namespace compile_cost {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Heads, std::size_t Tokens, std::size_t HeadDim>
struct head_shapes {
  using queries = tensor<float, heads<Heads>, query<Tokens>, head_dim<HeadDim>>;
  using keys = tensor<float, heads<Heads>, key<Tokens>, head_dim<HeadDim>>;
};

template <std::size_t Heads, std::size_t Tokens, std::size_t HeadDim>
struct attention_function {
  using of = head_shapes<Heads, Tokens, HeadDim>;
  static void run(typename of::queries& out, const typename of::queries& q,
                  const typename of::keys& k, const typename of::keys& v) {
    scaled_dot_product_attention.into(out, q, k, v);
  }
};

template <std::size_t Heads, std::size_t Tokens, std::size_t HeadDim>
struct attention_formula {
  using of = head_shapes<Heads, Tokens, HeadDim>;
  static constexpr formula attend = [](auto q, auto k, auto v) {
    return contract<key>(
        softmax<key>(contract<head_dim>(q, k) * rsqrt(static_cast<float>(HeadDim))), v);
  };
  static void run(typename of::queries& out, const typename of::queries& q,
                  const typename of::keys& k, const typename of::keys& v) {
    attend.into(out, q, k, v);
  }
};

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct layer_formula {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>>;
  using tokens = tensor<float, query<Tokens>, hidden<Hidden>>;
  static constexpr formula attend = [](auto x, const auto& w) {
    auto q = x * w.q | split<hidden, heads<Heads>, head_dim> | permute<heads, query, head_dim>;
    auto k = x * w.k | split<hidden, heads<Heads>, head_dim> | rename_axis<query, key> |
             permute<heads, key, head_dim>;
    auto v = x * w.v | split<hidden, heads<Heads>, head_dim> | rename_axis<query, key> |
             permute<heads, key, head_dim>;
    auto scores = contract<head_dim>(q, k) * rsqrt(static_cast<float>(Hidden / Heads));
    auto context = contract<key>(softmax<key>(scores), v) | permute<query, heads, head_dim>;
    return (context | contiguous | merge<heads, head_dim, hidden>)*w.o;
  };
  static void run(tokens& out, const tokens& x, const typename attention::weights& w) {
    attend.into(out, x, w);
  }
};

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct encoder_shapes {
  using encoder = encoder_layer<float, hidden<Hidden>, heads<Heads>, intermediate<2 * Hidden>,
                                norm_first<true>, activation<gelu_tanh>, bias<true>>;
  using tokens = tensor<float, token<Tokens>, hidden<Hidden>>;
};

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct encoder_by_the_layer {
  using of = encoder_shapes<Tokens, Hidden, Heads>;
  static void run(typename of::tokens& out, const typename of::tokens& x,
                  const typename of::encoder::weights& w) {
    typename of::encoder{w}.into(out, x);
  }
};

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct encoder_formula {
  using of = encoder_shapes<Tokens, Hidden, Heads>;
  static constexpr formula block = [](auto x, const auto& w) {
    using norm = layer_norm<float, hidden<Hidden>>;
    using encoder = typename of::encoder;
    auto y = x + typename encoder::attention{w.attention}(norm{w.norm1}(x));
    return y + typename encoder::feed_forward{w.feed_forward}(norm{w.norm2}(y));
  };
  static void run(typename of::tokens& out, const typename of::tokens& x,
                  const typename of::encoder::weights& w) {
    block.into(out, x, w);
  }
};

}  // namespace compile_cost
