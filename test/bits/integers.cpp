// SPDX-License-Identifier: BSL-1.0
// 300 layers in integers, of sizes, weights, ranges and inputs drawn from seeds: each result is
// that of the definition (kernel/plain_integers.hpp), and all together are one constant, of every
// compiler, flag and target, with and without fused multiply-add. So are tables of activations.
// A linear map at its bound stays within 32 bits. check.py builds it in many ways and compares the
// lines, a hash of each layer.
//
// Ranges are drawn, not observed: floats have two sets of bits. Sizes are template arguments, of
// one layer for several weights and inputs, since each is a kernel for the compiler.
#include <umbel/quantized.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

using namespace umbel;
using namespace umbel::axes;
namespace kernel = umbel::detail::kernel;
namespace plain = umbel::detail::kernel::plain;
using kernel::integer_linear_shape;

struct drawing {
  std::uint32_t state;

  constexpr std::uint32_t operator()() noexcept {
    return (state = state * 1664525u + 1013904223u) >> 8;
  }
  constexpr std::size_t size(std::size_t low, std::size_t high) noexcept {
    return low + (*this)() % (high - low + 1);
  }
  // One in four is an end, where the kernels' tricks are.
  std::int32_t between(std::int32_t low, std::int32_t high) noexcept {
    const std::uint32_t number = (*this)();
    if (number % 8 == 0) return low;
    if (number % 8 == 1) return high;
    return low + static_cast<std::int32_t>(number / 8 % static_cast<std::uint32_t>(high - low + 1));
  }
  // Floats that every target has exactly: weights, and ranges that no sample was seen for.
  float weight() noexcept { return static_cast<float>(between(-255, 255)) * 0x1p-9F; }
  float range() noexcept {
    const float fraction = static_cast<float>(64 + (*this)() % 64) / 64;
    return fraction * static_cast<float>(1 << (*this)() % 4);
  }
};
// The size `which` of layer Seed.
template <std::uint32_t Seed>
constexpr std::size_t drawn_size(std::uint32_t which, std::size_t low, std::size_t high) noexcept {
  drawing next{Seed * 7919 + which * 104729};
  next(), next();
  return next.size(low, high);
}

drawing draw{1};
bool prints = true, is_plain = true;
std::uint64_t all = 0xcbf29ce484222325u;
int layers = 0;

void add(std::uint64_t& hash, std::int64_t value) noexcept {
  for (int shift = 0; shift < 32; shift += 8)
    hash = (hash ^ (static_cast<std::uint64_t>(value) >> shift & 255)) * 0x100000001b3u;
}
template <class X>
void print(const char* what, const X& x) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto value : x) add(hash, value);
  for (const auto value : x) add(all, value);
  if (prints) std::printf("%s %d: %016llx\n", what, layers, static_cast<unsigned long long>(hash));
  ++layers;
}
// The result of a layer, beside the definition's.
template <class X>
void compare(const char* what, const X& fast, const X& defined) noexcept {
  if (std::memcmp(fast.data(), defined.data(), sizeof fast) != 0) {
    std::printf("%s %d is not its definition\n", what, layers);
    is_plain = false;
  }
  print(what, fast);
}

template <class Weights>
void draw_weights(Weights& w) noexcept {
  if constexpr (requires { w.norm1; }) {
    draw_weights(w.attention), draw_weights(w.feed_forward);
    draw_weights(w.norm1), draw_weights(w.norm2);
  } else if constexpr (requires { w.q; }) {
    draw_weights(w.q), draw_weights(w.k), draw_weights(w.v), draw_weights(w.o);
  } else if constexpr (requires { w.up; }) {
    draw_weights(w.up), draw_weights(w.down);
    if constexpr (requires { w.gate; }) draw_weights(w.gate);
  } else if constexpr (requires { w.gamma; }) {
    for (float& gamma : w.gamma) gamma = 1 + draw.weight();
    if constexpr (requires { w.beta; })
      for (float& beta : w.beta) beta = draw.weight();
  } else {
    for (float& one : w.weight) one = draw.weight();
    if constexpr (std::remove_cvref_t<Weights>::map::has_bias)
      for (float& one : w.bias) one = draw.weight();
  }
}
// Every range of a struct of them.
template <class Ranges>
Ranges drawn_ranges() noexcept {
  Ranges ranges;
  detail::with_members<detail::integers::parts_of<Ranges>>(
      ranges, [](auto&... range) { ((range() = draw.range()), ...); });
  return ranges;
}
template <class X>
const X& drawn() noexcept {
  static X x;
  using T = std::remove_cvref_t<decltype(*x.data())>;
  const std::int32_t largest = sizeof(T) == 1 ? 128 : draw() % 2 == 0 ? 32767 : 9000;
  for (T& v : x) v = static_cast<T>(draw.between(-largest, sizeof(T) == 1 ? 127 : largest));
  return x;
}
// The weights of a layer, packed with drawn ranges.
template <class Quantized>
const Quantized& packed() noexcept {
  using layer = typename Quantized::layer;
  static typename layer::weights w;
  static Quantized q;
  draw_weights(w);
  const auto ranges = drawn_ranges<typename Quantized::ranges>();
  if constexpr (detail::takes_epsilon<layer>)
    is_plain = q.pack(w, ranges, draw() % 2 == 0 ? 0x1p-16F : 0x1p-30F) && is_plain;
  else
    is_plain = q.pack(w, ranges) && is_plain;
  return q;
}

// ---- the definition of each layer
// ----------------------------------------------------------------

template <std::size_t Rows, class Map, class T, class Finish>
void defined_map(const Map& map, const std::int8_t* x, T* y, const Finish& finish) noexcept {
  plain::integer_linear<integer_linear_shape{Rows, Map::in, Map::out, Map::in, Map::out}>(map, x, y,
                                                                                          finish);
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
    plain::integer_attend<kernel::integer_attend_shape{
        Queries, Keys, Numbers::head_dim, Numbers::value_dim, Numbers::query_width,
        Numbers::key_width, Numbers::value_width, Numbers::context_width}>(
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
// An encoder layer on the rows of one sequence, in place. n: an encoder_numbers.
template <std::size_t Rows, class Numbers, class Mask>
void defined_encoder(const Numbers& n, std::int16_t* x, const Mask& mask) noexcept {
  constexpr std::size_t hidden = Numbers::hidden;
  using norm = std::remove_cvref_t<decltype(n.norm1.norm)>;
  static std::int8_t in[Rows * hidden];
  const kernel::finish::added added;
  const auto before = [&](const auto& part) {
    for (std::size_t r = 0; r < Rows; ++r)
      if constexpr (Numbers::norms_first)
        plain::integer_norm<norm::centred>(part.norm, x + r * hidden, in + r * hidden);
      else
        for (std::size_t i = r * hidden; i < (r + 1) * hidden; ++i)
          in[i] = plain::to_int8(plain::in_unit(x[i], part.to_part));
  };
  const auto after = [&](const auto& part) {
    if constexpr (!Numbers::norms_first)
      for (std::size_t r = 0; r < Rows; ++r)
        plain::integer_norm<norm::centred>(part.norm, x + r * hidden, x + r * hidden);
  };
  before(n.norm1);
  defined_attention<Rows, Rows>(n.attention, in, in, in, mask, x, added);
  after(n.norm1);
  before(n.norm2);
  defined_network<Rows>(n.feed_forward, in, x, added);
  after(n.norm2);
}

// ---- layers
// --------------------------------------------------------------------------------------

// Count layers of one type, that of Seed.
template <std::uint32_t Seed, class T>
void linear_maps(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 11), in = drawn_size<Seed>(1, 1, 140),
                        out = drawn_size<Seed>(2, 1, 70);
  using layer =
      quantized<linear<float, hidden<in>, out_features<out>, bias<Seed % 2 == 0>>, gives<T>>;
  static tensor<T, token<rows>, out_features<out>> defined;
  for (; count != 0; --count) {
    const layer& map = packed<layer>();
    const auto& x = drawn<tensor<std::int8_t, token<rows>, hidden<in>>>();
    defined_map<rows>(map.get_weights(), x.data(), defined.data(),
                      detail::integers::finish_as<T>{});
    compare("linear", map(x), defined);
  }
}
template <std::uint32_t Seed, class T, class... Options>
void networks(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 9), narrow = drawn_size<Seed>(1, 1, 40),
                        wide = drawn_size<Seed>(2, 1, 90);
  using layer =
      quantized<feed_forward<float, hidden<narrow>, intermediate<wide>, Options...>, gives<T>>;
  static tensor<T, token<rows>, hidden<narrow>> defined;
  for (; count != 0; --count) {
    const layer& feed = packed<layer>();
    const auto& x = drawn<tensor<std::int8_t, token<rows>, hidden<narrow>>>();
    defined_network<rows>(feed.get_weights(), x.data(), defined.data(),
                          detail::integers::finish_as<T>{});
    compare("feed_forward", feed(x), defined);
  }
}
template <std::uint32_t Seed, template <class, class...> class Norm>
void norms(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 5), width = drawn_size<Seed>(1, 1, 200);
  using layer = quantized<Norm<float, hidden<width>>>;
  for (; count != 0; --count) {
    const layer& norm = packed<layer>();
    const auto& x = drawn<tensor<std::int16_t, token<rows>, hidden<width>>>();
    tensor<std::int8_t, token<rows>, hidden<width>> defined;
    for (std::size_t r = 0; r < rows; ++r)
      plain::integer_norm<
          std::is_same_v<Norm<float, hidden<width>>, layer_norm<float, hidden<width>>>>(
          norm.get_weights(), x.data() + r * width, defined.data() + r * width);
    compare("norm", norm(x), defined);
  }
}

// Masks of each call: lengths beyond both ends, positions before the first key.
template <std::size_t Queries, std::size_t Keys, class F>
void with_mask(std::uint32_t kind, const F& call) noexcept {
  static tensor<int, query<Queries>> lengths;
  static tensor<bool, query<Queries>, key<Keys>> kept;
  for (int& length : lengths) length = draw.between(-1, static_cast<int>(Keys) + 1);
  for (bool& keep : kept) keep = draw() % 3 != 0;
  for (std::size_t j = 0; j < Keys; ++j) kept(Queries / 2, j) = false;
  if (kind == 0) call(all_keys);
  if (kind == 1) call(lengths);
  if (kind == 2) call(keep_mask(kept) & causal_at(draw.between(-2, 3)));
  if (kind == 3) call(sliding_window_at<3, 1>(draw.between(-2, 3)));
}
template <std::uint32_t Seed, class T, std::size_t Heads, std::size_t KvHeads, class... Options>
void attention(int count) noexcept {
  constexpr std::size_t queries = drawn_size<Seed>(0, 1, 9), keys = drawn_size<Seed>(1, 1, 23),
                        width = drawn_size<Seed>(2, 1, 11), in = drawn_size<Seed>(3, 5, 40);
  using attention = multi_head_attention<float, hidden<in>, heads<Heads>, kv_heads<KvHeads>,
                                         head_dim<width>, bias<Seed % 2 == 1>, Options...>;
  using layer = quantized<attention, gives<T>>;
  using x_type = tensor<std::int8_t, batch<2>, query<queries>, hidden<in>>;
  using y_type = tensor<std::int8_t, batch<2>, key<keys>, hidden<in>>;
  using scores = detail::scores_of<float, 2, Heads, queries, keys>;
  static tensor<T, batch<2>, query<queries>, hidden<in>> defined;
  for (; count != 0; --count) {
    const layer& attend = packed<layer>();
    const auto& x = drawn<x_type>();
    static y_type y, z;
    y = drawn<y_type>(), z = drawn<y_type>();
    with_mask<queries, keys>(static_cast<std::uint32_t>(count) % 4, [&](const auto& mask) {
      const auto& masks = detail::as_mask(mask);
      for (std::size_t b = 0; b < 2; ++b)
        defined_attention<queries, keys>(
            attend.get_weights(), x.data() + b * queries * in, y.data() + b * keys * in,
            z.data() + b * keys * in, detail::at_sequence<scores>(masks, b),
            defined.data() + b * queries * in, detail::integers::finish_as<T>{});
      compare("attention", attend(x, y, z, mask), defined);
    });
  }
}
template <std::uint32_t Seed, std::size_t Heads, bool First, std::size_t Depth, class... Options>
void encoders(int count) noexcept {
  constexpr std::size_t rows = drawn_size<Seed>(0, 1, 17), width = drawn_size<Seed>(1, 1, 9),
                        wide = drawn_size<Seed>(2, 1, 50), in = drawn_size<Seed>(3, 1, 40);
  using block = encoder_layer<float, hidden<in>, heads<Heads>, intermediate<wide>, head_dim<width>,
                              norm_first<First>, Options...>;
  using layer =
      std::conditional_t<Depth == 1, quantized<block>, quantized<layer_stack<block, Depth>>>;
  using residual = tensor<std::int16_t, token<rows>, hidden<in>>;
  using scores = detail::scores_of<float, 0, Heads, rows, rows>;
  static layer stack;
  static typename layer::layer::weights w;
  for (; count != 0; --count) {
    if constexpr (Depth == 1) {
      draw_weights(w);
      is_plain = stack.pack(w, drawn_ranges<typename layer::ranges>()) && is_plain;
    } else {
      static typename layer::ranges ranges;
      for (std::size_t i = 0; i < Depth; ++i) {
        draw_weights(w[i]);
        ranges.layers[i] = drawn_ranges<std::remove_cvref_t<decltype(ranges.layers[i])>>();
      }
      is_plain = stack.pack(w, ranges) && is_plain;
    }
    const residual& x = drawn<residual>();
    const auto call = [&](const auto& mask) {
      residual defined = x;
      for (std::size_t i = 0; i < Depth; ++i)
        defined_encoder<rows>(stack.numbers_at(i), defined.data(),
                              detail::at_sequence<scores>(detail::as_mask(mask), 0));
      compare("encoder", stack(x, mask), defined);
    };
    if (count % 2 == 0)
      call(all_keys);
    else
      call(causal);
  }
}

// Sums as large as the bound lets them be: weights and inputs at an end, beside a bias of 24 bits.
void largest_sums() noexcept {
  constexpr std::size_t in = kernel::most_input_products;
  using layer = quantized<linear<float, hidden<in>, out_features<3>, bias<true>>>;
  static layer map;
  static layer::layer::weights w;
  static tensor<std::int8_t, token<2>, hidden<in>> x;
  layer::ranges ranges;
  for (const float sign : {1.0F, -1.0F}) {
    for (float& one : w.weight) one = -sign;
    for (float& one : w.bias) one = sign * 1000;
    w.bias[1] = 0;
    for (std::int8_t& one : x) one = -128;
    for (std::size_t i = 0; i < in; i += 2) x(1, i) = 127;
    ranges.input() = 1, ranges.output() = 131072;
    is_plain = map.pack(w, ranges) && is_plain;
    tensor<std::int8_t, token<2>, out_features<3>> defined;
    defined_map<2>(map.get_weights(), x.data(), defined.data(), kernel::finish::as_int8{});
    compare("largest sums", map(x), defined);
  }
}

// Tables of activations that were packed for drawn ranges.
template <class Activation>
void tables(const char* what, const Activation&) noexcept {
  for (int i = 0; i < 12; ++i) {
    std::int8_t table[256];
    const double in = static_cast<double>(draw.range()) / 127,
                 out = static_cast<double>(draw.range()) / 127;
    detail::integers::pack_table<Activation>(table, in, out);
    print(what, table);
  }
}

}  // namespace

int main(int count, char** arguments) {
  prints = count == 1 || std::strcmp(arguments[1], "exceptions") != 0;
  if (prints) std::puts("fused: of no concern");
  linear_maps<1, std::int8_t>(15), linear_maps<2, std::int16_t>(15);
  linear_maps<3, std::int8_t>(15), linear_maps<4, std::int16_t>(15);
  linear_maps<5, std::int8_t>(15);
  networks<6, std::int8_t, gated<false>, activation<gelu_exact>, bias<true>>(15);
  networks<7, std::int16_t, gated<true>, activation<silu>, bias<false>>(15);
  networks<8, std::int16_t, gated<false>, activation<relu>, bias<false>>(15);
  norms<9, layer_norm>(15), norms<10, layer_norm>(15);
  norms<11, rms_norm>(15), norms<12, rms_norm>(15);
  attention<13, std::int8_t, 3, 3>(20), attention<14, std::int16_t, 4, 2>(20);
  attention<15, std::int8_t, 2, 1>(20);
  encoders<16, 2, true, 1, activation<gelu_tanh>, bias<true>>(15);
  encoders<17, 3, false, 1, activation<relu>, bias<true>>(15);
  encoders<18, 2, true, 1, gated<true>, activation<silu>, bias<false>, norm_by<rms_norm>,
           norm_epsilon<1, 1'000'000>>(15);
  encoders<19, 1, true, 2, activation<gelu_exact>, bias<true>>(15);
  const bool are_300 = layers == 300;
  largest_sums();
  tables("gelu_exact", gelu_exact), tables("gelu_tanh", gelu_tanh), tables("silu", silu);
  constexpr std::uint64_t golden = 0xb26fbaaa55f39511;
  if (all != golden)
    std::printf("the hash of all is %016llx\n", static_cast<unsigned long long>(all));
  return all == golden && is_plain && are_300 ? 0 : 1;
}
