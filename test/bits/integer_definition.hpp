// SPDX-License-Identifier: BSL-1.0
// Layers in integers as they are defined: the loops of kernel/plain/integers.hpp one after the
// other, on the rows of one sequence. Not here: any test (integers.cpp).
#pragma once

#include <umbel/quantized.hpp>

namespace integers_test {

using namespace umbel;
namespace kernel = umbel::detail::kernel;
namespace plain = umbel::detail::kernel::plain;

template <std::size_t Rows, class Map, class T, class Finish>
void defined_map(const Map& map, const std::int8_t* x, T* y, const Finish& finish) noexcept {
  plain::integer_linear<kernel::integer_linear_shape{Rows, Map::in, Map::out, Map::in, Map::out}>(
      map, x, y, finish);
}
// Attention of one sequence. n: an attention_numbers.
template <std::size_t Queries, std::size_t Keys, class Numbers, class Mask, class T, class Finish>
void defined_attention(const Numbers& n, const std::int8_t* x, const std::int8_t* y,
                       const std::int8_t* z, const Mask& mask, T* out,
                       const Finish& finish) noexcept {
  static std::int8_t q[Queries * Numbers::query_width], k[Keys * Numbers::key_width],
      v[Keys * Numbers::value_width], context[Queries * Numbers::context_width];
  const kernel::finish::as_int8 as_int8;
  defined_map<Queries>(n.q, x, q, as_int8);
  defined_map<Keys>(n.k, y, k, as_int8);
  defined_map<Keys>(n.v, z, v, as_int8);
  constexpr std::size_t share = Numbers::sizes.heads / Numbers::sizes.kv_heads;
  for (std::size_t h = 0; h < Numbers::sizes.heads; ++h)
    plain::integer_attend<kernel::integer_attend_shape{.queries = Queries,
                                                       .keys = Keys,
                                                       .head_dim = Numbers::head_dim,
                                                       .value_dim = Numbers::value_dim,
                                                       .q_row = Numbers::query_width,
                                                       .k_row = Numbers::key_width,
                                                       .v_row = Numbers::value_width,
                                                       .o_row = Numbers::context_width,
                                                       .weight_bits = Numbers::weight_bits}>(
        q + h * Numbers::head_dim, k + h / share * Numbers::head_dim,
        v + h / share * Numbers::value_dim, n.softmax, mask(h).policy,
        context + h * Numbers::value_dim);
  defined_map<Queries>(n.o, context, out, finish);
}
template <std::size_t Rows, class Numbers, class T, class Finish>
void defined_network(const Numbers& n, const std::int8_t* x, T* y, const Finish& finish) noexcept {
  static std::int8_t wide[Rows * Numbers::wide], gates[Rows * Numbers::wide];
  const auto activated = [&](std::int8_t& to, std::int32_t v) {
    to = n.table[plain::to_int8(v) + 128];
  };
  if constexpr (Numbers::is_gated) {
    defined_map<Rows>(n.up, x, wide, kernel::finish::as_int8{});
    defined_map<Rows>(n.gate, x, gates, activated);
    for (std::size_t i = 0; i < Rows * Numbers::wide; ++i)
      wide[i] = plain::to_int8(plain::in_unit(std::int32_t{gates[i]} * wide[i], n.product));
  } else {
    defined_map<Rows>(n.up, x, wide, activated);
  }
  defined_map<Rows>(n.down, wide, y, finish);
}
// A part of an encoder or decoder layer on rows in place: attention or a network, which adds its
// result to x, and its norm before or after.
template <std::size_t Rows, std::size_t hidden, bool First, class Norm, class Add>
void defined_part(const Norm& norm, const plain::integer_unit& to_part, std::int16_t* x,
                  const Add& add) noexcept {
  static std::int8_t in[Rows * hidden];
  for (std::size_t r = 0; r < Rows; ++r)
    if constexpr (First)
      plain::integer_norm<Norm::centred>(norm, x + r * hidden, in + r * hidden);
    else
      for (std::size_t i = r * hidden; i < (r + 1) * hidden; ++i)
        in[i] = plain::to_int8(plain::in_unit(x[i], to_part));
  add(in, x);
  if constexpr (!First)
    for (std::size_t r = 0; r < Rows; ++r)
      plain::integer_norm<Norm::centred>(norm, x + r * hidden, x + r * hidden);
}
// An encoder layer on the rows of one sequence, in place. n: a block_numbers.
template <std::size_t Rows, bool First, class Numbers, class Mask>
void defined_encoder(const Numbers& n, std::int16_t* x, const Mask& mask) noexcept {
  const kernel::finish::added added;
  const auto part = [](const auto&... of_part) {
    defined_part<Rows, Numbers::width, First>(of_part...);
  };
  part(n.norm1, n.to_parts[0], x, [&](const std::int8_t* in, std::int16_t* to) {
    defined_attention<Rows, Rows>(n.attention, in, in, in, mask, to, added);
  });
  part(n.norm2, n.to_parts[1], x, [&](const std::int8_t* in, std::int16_t* to) {
    defined_network<Rows>(n.feed_forward, in, to, added);
  });
}
// A decoder layer, with a memory of Keys rows. n: a block_numbers; own: of the sequence.
template <std::size_t Rows, std::size_t Keys, bool First, class Numbers, class Mask, class Own>
void defined_decoder(const Numbers& n, std::int16_t* x, const std::int8_t* memory, const Mask& mask,
                     const Own& own) noexcept {
  const kernel::finish::added added;
  const auto part = [](const auto&... of_part) {
    defined_part<Rows, Numbers::width, First>(of_part...);
  };
  part(n.norm1, n.to_parts[0], x, [&](const std::int8_t* in, std::int16_t* to) {
    defined_attention<Rows, Rows>(n.self_attention, in, in, in, own, to, added);
  });
  part(n.norm2, n.to_parts[1], x, [&](const std::int8_t* in, std::int16_t* to) {
    defined_attention<Rows, Keys>(n.cross_attention, in, memory, memory, mask, to, added);
  });
  part(n.norm3, n.to_parts[2], x, [&](const std::int8_t* in, std::int16_t* to) {
    defined_network<Rows>(n.feed_forward, in, to, added);
  });
}

}  // namespace integers_test
