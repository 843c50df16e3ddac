// SPDX-License-Identifier: BSL-1.0
// What docs/numerics.md promises of subnormal numbers, on targets that keep them and on those whose
// vectors flush them (MVE): they change nothing where sums are normal, and a result that would be
// subnormal is that, or 0 where it is flushed.
#include "check.hpp"
#include "draw.hpp"

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<16>, heads<2>>;
using sequence = tensor<float, token<8>, hidden<16>>;
using map = umbel::linear<float, hidden<16>, out_features<8>, umbel::bias<false>>;

constexpr attention::weights natural = [] {
  attention::weights w{};
  embedded::lcg next{5};
  for (auto* of : {&w.q, &w.k, &w.v, &w.o}) embedded::draw(next, of->weight, 0.25F);
  return w;
}();
constexpr float least = 0x1p-149f, least_normal = 0x1p-126f;

static constinit sequence x{}, zeros{}, out{}, out_of_zeros{};
static constinit attention::workspace<token<8>> work{};
static constinit map::weights half{};
static constinit tensor<float, token<5>, hidden<16>> small{};
static constinit tensor<float, token<5>, out_features<8>> mapped{};

std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
bool is_subnormal(float value) {
  const std::uint32_t size = bits_of(value) & 0x7fffffff;
  return size != 0 && size < bits_of(least_normal);
}

int main() {
  // Every third element is subnormal; there 0 stands in the other.
  embedded::lcg next{6};
  embedded::draw(next, x);
  zeros = x;
  std::uint32_t element = 0;
  for (std::size_t t = 0; t < 8; ++t) {
    for (std::size_t h = 0; h < 16; ++h, ++element) {
      if (element % 3 != 0) continue;
      x(t, h) = __builtin_bit_cast(float, (element % 2 << 31) | (1u + element * 65000u));
      zeros(t, h) = 0;
    }
  }
  attention{natural}.into(out, x, all_keys, work);
  attention{natural}.into(out_of_zeros, zeros, all_keys, work);
  bool same = true, normal = true;
  for (std::size_t t = 0; t < 8; ++t) {
    for (std::size_t h = 0; h < 16; ++h) {
      same = same && bits_of(out(t, h)) == bits_of(out_of_zeros(t, h));
      normal = normal && !is_subnormal(out(t, h)) && out(t, h) != 0;
    }
  }
  embedded::check("where sums are normal, subnormal inputs are as 0", same && normal);
  embedded::check_bits("subnormal: attention", out);

  // One weight a feature, 1/2, so that each result is half of one input: exact, or flushed.
  for (std::size_t n = 0; n < 8; ++n) half.weight[n * 8 + n] = 0.5f;
  const float inputs[5] = {least * 2, least * 4096, least_normal, least_normal * 2, -least_normal};
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t n = 0; n < 8; ++n) small(t, n) = inputs[t];
  }
  mapped = small | map{half};
  bool right = true;
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t n = 0; n < 8; ++n) {
      const float exact = inputs[t] / 2;
      const bool flushed = is_subnormal(exact) && UMBEL_MVE == 1;
      right = right && mapped(t, n) == (flushed ? 0.0f : exact) &&
              (!flushed || (bits_of(mapped(t, n)) & 0x7fffffff) == 0);
    }
  }
  embedded::check("a subnormal result of a linear map: 0 by MVE, else exact", right);

  // Weights of the softmax: exactly 0 below 2^-126 on every target.
  tensor<float, key<4>> scores{0, -87, -88, -200};
  const auto weights = scores | softmax<key>;
  embedded::check(
      "the weights of a softmax are never subnormal",
      !is_subnormal(weights(1)) && weights(1) != 0 && weights(2) == 0 && weights(3) == 0);
  return embedded::finish();
}
