// SPDX-License-Identifier: BSL-1.0
// Linear maps and attention made of a peer's matrix products. A Peer has
//
//   template <form F> struct product {
//     void operator()(const float* a, const float* b, float* c) const;
//   };
//   // Is form::b_transposed no slower than the other way?
//   static constexpr bool reads_transposed;
//   // Blocks of queries that are tried beside all queries at once.
//   using query_blocks = std::integer_sequence<int, 16, 32>;
//   // Does each product take long to compile?
//   static constexpr bool few_ways;
//
// and may have linears or attentions of its own, instead of or in addition to those made here.
#pragma once

#include <algorithm>

#include "lent.hpp"
#include "ways.hpp"
#include "workloads.hpp"

namespace race {

// c(rows, columns) = a(rows, inner) b(inner, columns), or c += that; x_row from one row to the next
// in memory. A transposed matrix lies there as (inner, rows) or (columns, inner).
struct form {
  int rows, columns, inner;
  int a_row, b_row, c_row;
  bool a_transposed = false, b_transposed = false, add = false;
};

// ---- linear maps --------------------------------------------------------------------------------

template <class Peer, linear_shape S, bool AsGiven, bool BiasFirst>
way<linear_call> linear_way(const float* w, const float* b) {
  constexpr form f = {S.rows,  S.out, S.in,    S.x_row,  AsGiven ? S.in : S.out,
                      S.y_row, false, AsGiven, BiasFirst};
  const memory weights = allocate(S.in * S.out), bias = allocate(S.out);
  if (AsGiven) std::copy_n(w, S.in * S.out, weights.get());
  if (!AsGiven) transpose<false>(w, S.in, S.out, S.in, weights.get(), S.out);
  std::copy_n(b, S.out, bias.get());
  const typename Peer::template product<f> times;
  const std::string layout = AsGiven ? "[out][in]" : "[in][out]";
  return {layout + (BiasFirst ? ", bias first" : ", bias after"),
          repeated([=](const float* x, float* y) {
            if (BiasFirst) set_rows(y, S.y_row, S.rows, S.out, bias.get());
            times(x, weights.get(), y);
            if (!BiasFirst) add_to_rows(y, S.y_row, S.rows, S.out, bias.get());
          })};
}

// w: (out, in), constant, so each way may keep it as it likes.
template <class Peer, linear_shape S>
ways<linear_call> linears(const float* w, const float* b) {
  if constexpr (requires { Peer::template linears<S>(w, b); }) {
    return Peer::template linears<S>(w, b);
  } else {
    ways<linear_call> all = {linear_way<Peer, S, false, true>(w, b),
                             linear_way<Peer, S, false, false>(w, b)};
    if constexpr (Peer::reads_transposed && (!Peer::few_ways || S.rows == 1)) {
      all.push_back(linear_way<Peer, S, true, true>(w, b));
      all.push_back(linear_way<Peer, S, true, false>(w, b));
    }
    return all;
  }
}

template <class Peer, linear_shape S>
linear_call fastest_linear(const float* w, const float* b) {
  const memory x = numbers(S.rows * S.x_row, 1), y = allocate(S.rows * S.y_row);
  return fastest(linears<Peer, S>(w, b), static_cast<const float*>(x.get()), y.get()).run;
}

// Rows of whole vectors, but not of whole kilobytes: those would share a few sets of the cache.
constexpr int row_of(int columns) {
  return round_up(columns) + (round_up(columns) % 256 == 0 ? lanes : 0);
}

// ---- contractions
// ----------------------------------------------------------------------------------

// The right side as it is, or transposed by hand for each head.
template <class Peer, contract_shape S, bool Made, int Block>
way<contract_call> contract_way() {
  constexpr int row = Made ? row_of(S.columns()) : S.hidden();
  constexpr form f = {Block, S.columns(), S.depth(), S.x_row(),
                      row,   S.out_row(), false,     !S.values && !Made};
  const typename Peer::template product<f> times;
  return {std::string(Made ? "y made transposed" : "as given") + ", " + std::to_string(Block) +
              " rows at a time",
          repeated([=](const float* x, const float* y, float* out) {
            alignas(64) static float turned[Made ? S.depth() * row : 1];
            for (int h = 0; h < S.heads; ++h) {
              const float* of_y = y + h * S.head_dim;
              if constexpr (Made) {
                transpose<true>(of_y, S.hidden(), S.keys, S.head_dim, turned, row);
                of_y = turned;
              }
              for (int m = 0; m < S.queries; m += Block) {
                times(x + h * S.x_head() + m * S.x_row(), of_y,
                      out + h * S.out_head() + m * S.out_row());
              }
            }
          })};
}

template <class Peer, contract_shape S>
ways<contract_call> contracts() {
  if constexpr (requires { Peer::template contracts<S>(); }) {
    return Peer::template contracts<S>();
  } else {
    ways<contract_call> all;
    if constexpr (S.values || Peer::reads_transposed)
      all.push_back(contract_way<Peer, S, false, S.queries>());
    if constexpr (!S.values) all.push_back(contract_way<Peer, S, true, S.queries>());
    if constexpr (!Peer::few_ways && S.queries % 32 == 0) {
      if constexpr (S.values || Peer::reads_transposed)
        all.push_back(contract_way<Peer, S, false, 32>());
      if constexpr (!S.values) all.push_back(contract_way<Peer, S, true, 32>());
    }
    return all;
  }
}

// ---- attention ----------------------------------------------------------------------------------

// The keys of a head: used by a product as they are, multiplied by hand as they are (one query),
// transposed by hand for each head, or kept transposed (a cache may be), (head_dim, keys) with rows
// k.row apart.
enum class keys_are { as_given, by_hand, made_transposed, kept_transposed };

// Scores of a block of queries as (queries, keys): softmax along rows.
template <class Peer, attention_shape S, int Rows, keys_are Keys>
struct along_rows {
  static constexpr int room = row_of(S.keys);
  static constexpr bool made = Keys == keys_are::made_transposed;
  static constexpr form scores_form = {Rows,
                                       S.keys,
                                       S.head_dim,
                                       S.q.row,
                                       made ? room : S.k.row,
                                       room,
                                       false,
                                       Keys == keys_are::as_given || Keys == keys_are::by_hand};
  static constexpr form context_form = {Rows, S.head_dim, S.keys, room, S.v.row, S.o.row};
  typename Peer::template product<scores_form> scores;
  typename Peer::template product<context_form> context;

  void operator()(const float* q, const float* k, const float* v, float* o, float scale) const {
    alignas(64) static float s[Rows * room], inverse[round_up(Rows)];
    if constexpr (Keys == keys_are::by_hand) dot_rows(q, k, S.k.row, S.keys, S.head_dim, s);
    if constexpr (Keys != keys_are::by_hand) scores(q, k, s);
    softmax_rows<S.keys>(s, room, Rows, scale, inverse);
    context(s, v, o);
    scale_rows(o, S.o.row, Rows, S.head_dim, inverse);
  }
};

// Scores as (keys, queries): softmax down the columns, queries and context transposed on their way.
template <class Peer, attention_shape S, int Rows, keys_are>
struct down_columns {
  static constexpr int room = round_up(Rows);
  static constexpr form scores_form = {S.keys, room, S.head_dim, S.k.row, room, room};
  static constexpr form context_form = {S.head_dim, room, S.keys, S.v.row, room, room, true};
  typename Peer::template product<scores_form> scores;
  typename Peer::template product<context_form> context;

  void operator()(const float* q, const float* k, const float* v, float* o, float scale) const {
    alignas(64) static float queries[S.head_dim * room], s[S.keys * room], inverse[room];
    alignas(64) static float sums[S.head_dim * room];
    transpose<true>(q, S.q.row, Rows, S.head_dim, queries, room);
    scores(k, queries, s);
    softmax_columns(s, S.keys, room, scale, inverse);
    context(v, s, sums);
    transpose<false>(sums, room, S.head_dim, Rows, o, S.o.row, inverse);
  }
};

template <class Peer, attention_shape S, int Block, keys_are Keys,
          template <class, attention_shape, int, keys_are> class Form>
attention_call attention_way() {
  constexpr int rest = S.queries % Block, last = S.queries - rest;
  const Form<Peer, S, Block, Keys> whole;
  const Form<Peer, S, rest ? rest : Block, Keys> end;
  return repeated([=](const float* q, const float* k, const float* v, float* o) {
    constexpr bool made = Keys == keys_are::made_transposed;
    alignas(64) static float turned[made ? S.head_dim * row_of(S.keys) : 1];
    const float scale = umbel::detail::simd::rsqrt(static_cast<float>(S.head_dim));
    for (int b = 0; b < S.batch; ++b) {
      for (int h = 0; h < S.heads; ++h) {
        const float* const of_q = q + b * S.q.batch + h * S.q.head;
        const float* keys = k + b * S.k.batch + h * S.k.head;
        const float* const of_v = v + b * S.v.batch + h * S.v.head;
        float* const of_o = o + b * S.o.batch + h * S.o.head;
        if (made) {
          transpose<true>(keys, S.k.row, S.keys, S.head_dim, turned, row_of(S.keys));
          keys = turned;
        }
        for (int i = 0; i < last; i += Block) {
          whole(of_q + i * S.q.row, keys, of_v, of_o + i * S.o.row, scale);
        }
        if (rest) end(of_q + last * S.q.row, keys, of_v, of_o + last * S.o.row, scale);
      }
    }
  });
}

template <class Peer, attention_shape S, int Block>
void add_attention_ways(ways<attention_call>& all) {
  const std::string block = ", " + std::to_string(Block) + " queries at a time";
  if constexpr (Peer::reads_transposed) {
    all.push_back({"rows, k read transposed" + block,
                   attention_way<Peer, S, Block, keys_are::as_given, along_rows>()});
  }
  if constexpr (!Peer::few_ways) {
    all.push_back({"rows, k made transposed" + block,
                   attention_way<Peer, S, Block, keys_are::made_transposed, along_rows>()});
  }
  if constexpr (Block == 1) {
    all.push_back(
        {"rows, scores by hand", attention_way<Peer, S, 1, keys_are::by_hand, along_rows>()});
  } else {
    all.push_back(
        {"columns" + block, attention_way<Peer, S, Block, keys_are::as_given, down_columns>()});
  }
}

template <class Peer, attention_shape S>
ways<attention_call> composed_attentions() {
  ways<attention_call> all;
  add_attention_ways<Peer, S, S.queries>(all);
  [&]<int... Block>(std::integer_sequence<int, Block...>) {
    const auto add = [&]<int One>(std::integral_constant<int, One>) {
      if constexpr (One < S.queries) add_attention_ways<Peer, S, One>(all);
    };
    (add(std::integral_constant<int, Block>{}), ...);
  }(typename Peer::query_blocks{});
  return all;
}

template <class Peer, attention_shape S>
ways<attention_call> attentions() {
  if constexpr (requires { Peer::template attentions<S>(); }) {
    return Peer::template attentions<S>();
  } else {
    return composed_attentions<Peer, S>();
  }
}

}  // namespace race
