// SPDX-License-Identifier: BSL-1.0
// What the race is about: one list, for every peer. Sizes are constants, because some peers have
// them in their types; the others read them.
#pragma once

#include <initializer_list>
#include <string>

namespace race {

// y(rows, out) = x(rows, in) w(out, in)^T + b(out), rows of x and y x_row and y_row elements apart.
struct linear_shape {
  int rows, out, in, x_row, y_row;

  constexpr linear_shape(int rows_, int out_, int in_, int x_row_ = 0, int y_row_ = 0)
      : rows(rows_),
        out(out_),
        in(in_),
        x_row(x_row_ ? x_row_ : in_),
        y_row(y_row_ ? y_row_ : out_) {}
};

// Elements from one batch, head or row to the next.
struct strides {
  int batch, head, row;
};

// o = softmax(q k^T / sqrt(head_dim)) v, head by head.
struct attention_shape {
  int batch, heads, queries, keys, head_dim;
  strides q, k, v, o;
};

// (batch, heads, tokens, head_dim), one after another.
constexpr attention_shape attention_of(int batch, int heads, int queries, int keys, int head_dim) {
  const strides of_queries = {heads * queries * head_dim, queries * head_dim, head_dim};
  const strides of_keys = {heads * keys * head_dim, keys * head_dim, head_dim};
  return {batch, heads, queries, keys, head_dim, of_queries, of_keys, of_keys, of_queries};
}

// The whole layer with bias: self-attention where queries == keys, else of x to a second sequence
// z. Decoding: one token, whose key and value become the last ones of a cache.
struct layer_shape {
  char name;
  int batch, queries, keys, hidden, heads;
  bool decodes = false;

  constexpr int head_dim() const { return hidden / heads; }
  constexpr bool self() const { return queries == keys || decodes; }
};

struct softmax_shape {
  int rows, columns;
};

// A contraction alone, head by head, of sides that are both known only at run time and lie as
// (token, heads, head_dim). Scores: queries times keys over head_dim, to (heads, queries, keys).
// Values: weights of that shape times values over the keys, to (queries, heads, head_dim).
struct contract_shape {
  int heads, queries, keys, head_dim;
  bool values;

  constexpr int hidden() const { return heads * head_dim; }
  constexpr int columns() const { return values ? head_dim : keys; }
  constexpr int depth() const { return values ? keys : head_dim; }
  // Elements from one head to the next, and from one row.
  constexpr int x_head() const { return values ? queries * keys : head_dim; }
  constexpr int x_row() const { return values ? keys : hidden(); }
  constexpr int out_head() const { return values ? head_dim : queries * keys; }
  constexpr int out_row() const { return values ? hidden() : keys; }
};

#if defined RACE_LAYER  // tools/bench mine: this one only
inline constexpr layer_shape layers_raced[] = {{'M', RACE_LAYER}};
#else
inline constexpr linear_shape linears_raced[] = {
    {16, 32, 32},    {4, 100, 100},   {32, 64, 64}, {64, 64, 64},  {32, 128, 128}, {128, 256, 256},
    {128, 384, 384}, {197, 192, 192}, {1, 64, 64},  {1, 256, 256}, {1, 384, 384},  {1, 1024, 1024},
};
inline constexpr softmax_shape softmaxes_raced[] = {{64, 64}, {128, 128}, {512, 512}};
inline constexpr contract_shape contracts_raced[] = {
    {8, 128, 128, 32, false}, {8, 128, 128, 32, true}, {4, 64, 64, 64, false},
    {4, 64, 64, 64, true},    {2, 16, 32, 32, false},  {2, 16, 32, 32, true},
};
inline constexpr attention_shape attentions_raced[] = {
    attention_of(1, 4, 16, 16, 8),    attention_of(2, 5, 4, 6, 20),
    attention_of(1, 8, 32, 32, 8),    attention_of(1, 4, 64, 64, 16),
    attention_of(1, 8, 128, 128, 32), attention_of(1, 12, 128, 128, 32),
    attention_of(1, 3, 197, 197, 64), attention_of(1, 8, 512, 512, 64),
    attention_of(1, 8, 1, 512, 64),   attention_of(1, 12, 1, 128, 32),
};
inline constexpr layer_shape layers_raced[] = {
    {'A', 1, 16, 16, 32, 2},    {'B', 2, 4, 6, 100, 5},     {'C', 1, 32, 32, 64, 8},
    {'D', 1, 64, 64, 64, 4},    {'E', 1, 128, 128, 256, 8}, {'F', 1, 128, 128, 384, 12},
    {'G', 1, 197, 197, 192, 3}, {'H', 8, 128, 128, 256, 8}, {'I', 1, 1, 512, 256, 8, true},
};
#endif

// Operations. A softmax's are its elements; inside attention they are not counted.
constexpr double flops(linear_shape s) { return 2.0 * s.rows * s.out * s.in; }
constexpr double flops(softmax_shape s) { return 1.0 * s.rows * s.columns; }
constexpr double flops(contract_shape s) { return 2.0 * s.heads * s.queries * s.keys * s.head_dim; }
constexpr double flops(attention_shape s) {
  return 4.0 * s.batch * s.heads * s.queries * s.keys * s.head_dim;
}
constexpr double flops(layer_shape s) {
  const double projected = s.decodes ? 4 : 2.0 * s.queries + 2.0 * s.keys;
  return s.batch * (2.0 * s.hidden * s.hidden * projected + 4.0 * s.queries * s.keys * s.hidden);
}

// As the table and the Python peers read them: "64x64x64", "1,8,32,32,8", "B 2,4 to 6,100,5".
inline std::string joined(std::initializer_list<int> sizes, char separator) {
  std::string text;
  for (const int size : sizes) {
    if (!text.empty()) text.push_back(separator);
    text.append(std::to_string(size));
  }
  return text;
}
inline std::string name(linear_shape s) { return joined({s.rows, s.out, s.in}, 'x'); }
inline std::string name(softmax_shape s) { return joined({s.rows, s.columns}, 'x'); }
inline std::string name(const contract_shape& s) {
  return joined({s.queries, s.depth(), s.columns()}, 'x') + (s.values ? " values, " : " scores, ") +
         std::to_string(s.heads) + " heads";
}
inline std::string name(const attention_shape& s) {
  return joined({s.batch, s.heads, s.queries, s.keys, s.head_dim}, ',');
}
inline std::string name(const layer_shape& s) {
  std::string text(1, s.name);
  text.append(" ").append(joined({s.batch, s.queries}, ','));
  if (s.keys != s.queries) text.append(" to ").append(std::to_string(s.keys));
  return text.append(",").append(joined({s.hidden, s.heads}, ','));
}

}  // namespace race
