// SPDX-License-Identifier: BSL-1.0
// The whole layer made of a peer's linear maps and attention: heads by stride, so that nothing is
// permuted; one projection for queries, keys and values or three; a batch at once or a sequence at
// a time; for decoding, three layouts of the cache.
#pragma once

#include "composed.hpp"
#include "reference.hpp"

namespace race {

// x: (batch, queries, hidden), z: (batch, keys, hidden), the same when the layer is self-attention;
// when it decodes, z is all tokens and x the last. w: (3 hidden, hidden), of queries, keys and
// values; w_o likewise.
struct layer_data {
  memory x, z, w, b, w_o, b_o;

  explicit layer_data(layer_shape s) {
    const float scale = 1.7f * umbel::detail::simd::rsqrt(static_cast<float>(s.hidden));
    z = numbers(s.batch * s.keys * s.hidden, 1);
    x = s.decodes  ? memory(z, z.get() + (s.keys - 1) * s.hidden)
        : s.self() ? z
                   : numbers(s.batch * s.queries * s.hidden, 1);
    w = numbers(3 * s.hidden * s.hidden, scale), b = numbers(3 * s.hidden, 0.1f);
    w_o = numbers(s.hidden * s.hidden, scale), b_o = numbers(s.hidden, 0.1f);
  }
};

// Its queries and context, and its keys and values, both (batch, tokens, hidden).
constexpr attention_shape attention_in(layer_shape s, int q_row, int k_row) {
  const strides of_queries = {s.queries * q_row, s.head_dim(), q_row};
  const strides of_keys = {s.keys * k_row, s.head_dim(), k_row};
  return {s.batch, s.heads,      s.queries,
          s.keys,  s.head_dim(), of_queries,
          of_keys, of_keys,      {s.queries * s.hidden, s.head_dim(), s.hidden}};
}

inline numbers64 reference(layer_shape s, const layer_data& d) {
  const int hidden = s.hidden, rows = s.batch * s.queries, columns = s.batch * s.keys;
  const auto project = [&](int rows_, const float* x, int which) {
    return reference(linear_shape{rows_, hidden, hidden}, x, d.w.get() + which * hidden * hidden,
                     d.b.get() + which * hidden);
  };
  const numbers64 q = project(rows, d.x.get(), 0), k = project(columns, d.z.get(), 1);
  const numbers64 v = project(columns, d.z.get(), 2);
  const numbers64 o = reference(attention_in(s, hidden, hidden), q.data(), k.data(), v.data());
  return reference(linear_shape{rows, hidden, hidden}, o.data(), d.w_o.get(), d.b_o.get());
}

template <class Peer, layer_shape S>
ways<layer_call> layers_fused(const layer_data& d) {
  constexpr int e = S.hidden, rows = S.batch * S.queries, columns = S.batch * S.keys;
  constexpr int q_row = S.self() ? 3 * e : e, k_row = S.self() ? 3 * e : 2 * e;
  constexpr int first = S.self() ? 3 * e : e;  // how much the first projection makes
  const linear_call project =
      fastest_linear<Peer, linear_shape{rows, first, e}>(d.w.get(), d.b.get());
  linear_call project_keys;
  if constexpr (!S.self()) {
    project_keys =
        fastest_linear<Peer, linear_shape{columns, 2 * e, e}>(d.w.get() + e * e, d.b.get() + e);
  }
  const linear_call last = fastest_linear<Peer, linear_shape{rows, e, e}>(d.w_o.get(), d.b_o.get());
  const memory q = allocate(rows * q_row), context = allocate(rows * e);
  const memory kv = S.self() ? memory(q, q.get() + e) : allocate(columns * k_row);
  ways<layer_call> all;
  for (const auto& [name, attend] : attentions<Peer, attention_in(S, q_row, k_row)>()) {
    all.push_back({"fused projections; " + name,
                   repeated([=, attend = attend](const float* x, const float* z, float* y) {
                     project(1, x, q.get());
                     if constexpr (!S.self()) project_keys(1, z, kv.get());
                     attend(1, q.get(), kv.get(), kv.get() + e, context.get());
                     last(1, context.get(), y);
                   })});
  }
  return all;
}

template <class Peer, layer_shape S>
ways<layer_call> layers_separate(const layer_data& d) {
  constexpr int e = S.hidden, rows = S.batch * S.queries, columns = S.batch * S.keys;
  using linear_of_queries = std::integral_constant<int, rows>;
  using linear_of_keys = std::integral_constant<int, columns>;
  const auto map = [&](auto count, const float* w, const float* b) {
    return fastest_linear<Peer, linear_shape{decltype(count)::value, e, e}>(w, b);
  };
  const linear_call to_q = map(linear_of_queries{}, d.w.get(), d.b.get());
  const linear_call to_k = map(linear_of_keys{}, d.w.get() + e * e, d.b.get() + e);
  const linear_call to_v = map(linear_of_keys{}, d.w.get() + 2 * e * e, d.b.get() + 2 * e);
  const linear_call last = map(linear_of_queries{}, d.w_o.get(), d.b_o.get());
  const memory q = allocate(rows * e), k = allocate(columns * e), v = allocate(columns * e);
  const memory context = allocate(rows * e);
  ways<layer_call> all;
  for (const auto& [name, attend] : attentions<Peer, attention_in(S, e, e)>()) {
    all.push_back({"three projections; " + name,
                   repeated([=, attend = attend](const float* x, const float* z, float* y) {
                     to_q(1, x, q.get());
                     to_k(1, z, k.get());
                     to_v(1, z, v.get());
                     attend(1, q.get(), k.get(), v.get(), context.get());
                     last(1, context.get(), y);
                   })});
  }
  return all;
}

// One token. Its key and value go into the cache, which has Layout:
enum class cache_is { of_tokens, of_heads, of_heads_keys_transposed };

template <class Peer, layer_shape S, cache_is Layout>
ways<layer_call> layers_decoding(const layer_data& d) {
  constexpr int e = S.hidden, width = S.head_dim(), size = S.keys * e;
  constexpr bool transposed = Layout == cache_is::of_heads_keys_transposed;
  static constexpr strides by_head = {size, S.keys * width, width};
  static constexpr attention_shape attention = [] {
    attention_shape result = attention_in(S, 3 * e, e);
    if (Layout != cache_is::of_tokens) result.k = result.v = by_head;
    if (transposed) result.k.row = S.keys;
    return result;
  }();
  const linear_call project = fastest_linear<Peer, linear_shape{1, 3 * e, e}>(d.w.get(), d.b.get());
  const linear_call last = fastest_linear<Peer, linear_shape{1, e, e}>(d.w_o.get(), d.b_o.get());
  const memory qkv = allocate(3 * e), context = allocate(e), k = allocate(size), v = allocate(size);
  // The key and value (both e) of a token, at its place.
  const auto put = [=](int token, const auto* key, const auto* value) {
    for (int h = 0; h < S.heads; ++h) {
      float* const to_k =
          k.get() + h * attention.k.head + token * (transposed ? 1 : attention.k.row);
      float* const to_v = v.get() + h * attention.v.head + token * attention.v.row;
      for (int i = 0; i < width; ++i) {
        to_k[i * (transposed ? S.keys : 1)] = static_cast<float>(key[h * width + i]);
        to_v[i] = static_cast<float>(value[h * width + i]);
      }
    }
  };
  const auto past =
      reference(linear_shape{S.keys, 2 * e, e}, d.z.get(), d.w.get() + e * e, d.b.get() + e);
  for (int t = 0; t < S.keys; ++t) put(t, past.data() + t * 2 * e, past.data() + t * 2 * e + e);

  const auto attends = [] {
    if constexpr (transposed) {
      return ways<attention_call>{
          {"keys kept transposed",
           attention_way<Peer, attention, 1, keys_are::kept_transposed, along_rows>()}};
    } else {
      return attentions<Peer, attention>();
    }
  }();
  ways<layer_call> all;
  for (const auto& [name, attend] : attends) {
    all.push_back(
        {(Layout == cache_is::of_tokens ? "cache of tokens; " : "cache of heads; ") + name,
         repeated([=, attend = attend](const float* x, const float*, float* y) {
           project(1, x, qkv.get());
           put(S.keys - 1, qkv.get() + e, qkv.get() + 2 * e);
           attend(1, qkv.get(), k.get(), v.get(), context.get());
           last(1, context.get(), y);
         })});
  }
  return all;
}

template <class Call>
void append(ways<Call>& all, ways<Call> more) {
  for (auto& one : more) all.push_back(std::move(one));
}

template <class Peer, layer_shape S>
ways<layer_call> composed_layers(const layer_data& d) {
  ways<layer_call> all;
  if constexpr (S.decodes) {
    append(all, layers_decoding<Peer, S, cache_is::of_tokens>(d));
    append(all, layers_decoding<Peer, S, cache_is::of_heads>(d));
    append(all, layers_decoding<Peer, S, cache_is::of_heads_keys_transposed>(d));
  } else {
    if constexpr (!Peer::few_ways) append(all, layers_fused<Peer, S>(d));
    append(all, layers_separate<Peer, S>(d));
  }
  if constexpr (S.batch > 1) {
    constexpr layer_shape one = {S.name, 1, S.queries, S.keys, S.hidden, S.heads};
    for (const auto& [name, run] : composed_layers<Peer, one>(d)) {
      all.push_back({"a sequence at a time; " + name,
                     repeated([=, run = run](const float* x, const float* z, float* y) {
                       for (int b = 0; b < S.batch; ++b) {
                         run(1, x + b * S.queries * S.hidden, z + b * S.keys * S.hidden,
                             y + b * S.queries * S.hidden);
                       }
                     })});
    }
  }
  return all;
}

template <class Peer, layer_shape S>
ways<layer_call> layers(const layer_data& d) {
  if constexpr (requires { Peer::template layers<S>(d); }) {
    return Peer::template layers<S>(d);
  } else {
    return composed_layers<Peer, S>(d);
  }
}

}  // namespace race
