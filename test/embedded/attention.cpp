// SPDX-License-Identifier: BSL-1.0
// Attention in its forms, each at a size for the smallest core: its bits, and that they are those
// of another spelling of the same function.
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;
using embedded::check;
using embedded::check_bits;
using embedded::lcg;

constexpr std::size_t count = 7, width = 16;
using tokens = tensor<float, token<count>, hidden<width>>;
using queries = tensor<float, query<count>, hidden<width>>;
template <std::size_t Keys>
using rows = view<const float, key<Keys>, hidden<width>>;

// Two heads of queries share one of keys and values; positions are turned into them.
using attention = multi_head_attention<float, hidden<width>, heads<4>, kv_heads<2>,
                                       rope<split_halves>, bias<true>>;
constexpr attention::weights natural = [] {
  attention::weights w{};
  lcg next;
  const auto map = [&](auto& of) {
    embedded::draw(next, of.weight, 0.5F), embedded::draw(next, of.bias, 0.125F);
  };
  map(w.q), map(w.k), map(w.v), map(w.o);
  return w;
}();

static constinit tokens x{}, out{}, other{};
static constinit attention::workspace<token<count>> work{};

static bool same(const float* a, const float* b, std::size_t numbers) noexcept {
  for (std::size_t i = 0; i < numbers; ++i)
    if (__builtin_bit_cast(std::uint32_t, a[i]) != __builtin_bit_cast(std::uint32_t, b[i]))
      return false;
  return true;
}
static bool same() noexcept { return same(out.data(), other.data(), count * width); }

// A position at a time, keys and values stored as Stored: out.
template <class Stored>
static bool decode() noexcept {
  using cache = key_value_cache<attention, key<count>, stored_as<Stored>>;
  static constinit cache past{};
  static constinit typename cache::template workspace<token<1>> step_work{};
  bool stepped = true;
  for (std::size_t t = 0; t < count; ++t) {
    const view<const float, token<1>, hidden<width>> from(x.data() + t * width);
    const view<float, token<1>, hidden<width>> to(out.data() + t * width);
    stepped = past.step(to, attention{natural}, from, all_keys, step_work) && stepped;
  }
  return stepped;
}

static void decoding() noexcept {
  attention{natural}.into(other, x, causal, work);
  check_bits("attention: causal, grouped heads, rope", other);
  check("attention: step by step, and the whole pass", decode<float>() && same());
  check("attention: the cache has room in bfloat16", decode<bfloat16>());
  check_bits("attention: cache in bfloat16", out);
  check("attention: the cache has room in float16", decode<float16>());
  check_bits("attention: cache in float16", out);
  check("attention: the cache has room in 8 bits", decode<std::int8_t>());
  check_bits("attention: cache in 8 bits", out);
}

// Each head with keys and values of its own: copies of those that were shared.
static constexpr auto unshared = [] {
  multi_head_attention<float, hidden<width>, heads<4>, rope<split_halves>, bias<true>>::weights w{};
  const auto copy = [](auto& to, const auto& from) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t shared = c / 8 * 4 + c % 4;
      to.bias[c] = from.bias[shared];
      for (std::size_t r = 0; r < width; ++r)
        to.weight[r * width + c] = from.weight[r * width / 2 + shared];
    }
  };
  w.q = natural.q, w.o = natural.o, copy(w.k, natural.k), copy(w.v, natural.v);
  return w;
}();

static void shared_heads() noexcept {
  using layer =
      multi_head_attention<float, hidden<width>, heads<4>, rope<split_halves>, bias<true>>;
  static constinit layer::workspace<token<count>> all_work{};
  attention{natural}.into(out, x, all_keys, work);
  layer{unshared}.into(other, x, all_keys, all_work);
  check("attention: grouped heads, and copies of what they share", same());
}

// The keys past the length are not read, whatever they hold.
static void lengths() noexcept {
  static constinit queries seen{}, all{};
  static constinit attention::workspace<query<count>, key<count>> of_all{};
  static constinit attention::workspace<query<count>, key<5>> of_seen{};
  const view<const float, query<count>, hidden<width>> q(x.data());
  other = x;
  for (std::size_t i = 5 * width; i < count * width; ++i) other.data()[i] = __builtin_nanf("");
  const rows<count> y(other.data());
  attention{natural}.into(all, q, y, y, tensor<int>{5}, of_all);
  attention{natural}.into(seen, q, rows<5>(x.data()), rows<5>(x.data()), all_keys, of_seen);
  check_bits("attention: length", all);
  check("attention: a length, and fewer keys", same(all.data(), seen.data(), count * width));
}

// Without its first two heads, and with nothing of them in the output.
static void pruning() noexcept {
  using kept = keep_heads<2, 3>;
  using smaller = pruned<attention, kept>;
  static constexpr smaller::weights small = pruned_weights<attention, kept>(natural);
  static constexpr attention::weights silent = [] {
    attention::weights w = natural;
    for (std::size_t i = 0; i < 8 * width; ++i) w.o.weight[i] = 0;
    return w;
  }();
  static constinit smaller::workspace<token<count>> small_work{};
  smaller{small}.into(out, x, causal, small_work);
  attention{silent}.into(other, x, causal, work);
  check_bits("attention: pruned", out);
  check("attention: pruned, and with weights of 0", same());
}

// Weights in 16 bits, and each weight rounded to them.
template <class Stored>
static bool stored() noexcept {
  static constexpr prepacked<attention, stored_as<Stored>> packed{natural};
  static constexpr attention::weights rounded = [] {
    attention::weights w = natural;
    const auto round = [](auto& map) {
      for (float& weight : map.weight) weight = static_cast<float>(static_cast<Stored>(weight));
    };
    round(w.q), round(w.k), round(w.v), round(w.o);
    return w;
  }();
  packed.into(out, x, causal, work);
  attention{rounded}.into(other, x, causal, work);
  return same();
}

// Where processors differ (docs/numerics.md): the sign and payload of a NaN, and numbers below the
// smallest normal one, which count as they are, or as 0.
static void special_numbers() noexcept {
  static constinit tokens in{}, tiny{};
  in = x;
  in(3, 5) = __builtin_bit_cast(float, 0xffc12345u);  // seen from there on
  attention{natural}.into(other, x, causal, work);
  attention{natural}.into(out, in, causal, work);
  bool spoiled = same(out.data(), other.data(), 3 * width);
  for (std::size_t i = 3 * width; i < count * width; ++i)
    spoiled = spoiled && out.data()[i] != out.data()[i];
  check("attention: a NaN spoils what sees it, and nothing else", spoiled);

  for (std::uint32_t i = 0; i < count * width; ++i)
    tiny.data()[i] = __builtin_bit_cast(float, 2 * i + 2);
  in = tokens{};
  attention{natural}.into(other, in, causal, work);
  attention{natural}.into(out, tiny, causal, work);
  check("attention: subnormal numbers beside normal ones", same());
  out = tiny * 0.5F;
  bool exact_or_zero = true;
  for (std::uint32_t i = 0; i < count * width; ++i) {
    const auto bits = __builtin_bit_cast(std::uint32_t, out.data()[i]);
    exact_or_zero = exact_or_zero && (bits == i + 1 || bits == 0);
  }
  check("attention: subnormal numbers by themselves, kept or 0", exact_or_zero);
}

// In 8 bits each output has a scale.
static void in_8_bits() noexcept {
  static constexpr prepacked<attention, stored_as<std::int8_t>> packed{natural};
  packed.into(out, x, causal, work);
  check_bits("attention: weights in 8 bits", out);
}

int main() {
  lcg next{2};
  embedded::draw(next, x, 2.F);
  decoding();
  shared_heads();
  lengths();
  pruning();
  check("attention: weights in bfloat16, and rounded ones", stored<bfloat16>());
  check_bits("attention: weights in bfloat16", out);
  check("attention: weights in float16, and rounded ones", stored<float16>());
  check_bits("attention: weights in float16", out);
  in_8_bits();
  special_numbers();
  return embedded::finish();
}
