// SPDX-License-Identifier: BSL-1.0
// Workspaces and results of undefined contents: no result may depend on what was there. checked.py
// runs it under valgrind, which follows undefined bytes through the kernels to the comparisons
// here; by itself it only runs. With an argument, a number that nobody wrote is looked at, with
// `integers` an integer.
#include <umbel/bare.hpp>
#include <umbel/quantized.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "../support/quantized.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::drawn;
using umbel_test::drawn_integers;
using umbel_test::drawn_quantized;
using umbel_test::drawn_weights;
using umbel_test::lcg;

lcg next{1};

// An X in memory as it comes from malloc.
template <class X>
struct undefined {
  void* memory = std::aligned_alloc(64, (sizeof(X) + 63) / 64 * 64);
  X& value = *static_cast<X*>(memory);
  ~undefined() { std::free(memory); }
};

// Integers decide on whether something is written.
volatile bool decided;
template <class X>
void look_at(const char* what, const X& x) {
  for (const auto y : x) {
    if constexpr (std::is_integral_v<std::remove_cv_t<decltype(y)>>) {
      if (y % 2 != 0) decided = true;
    } else {
      if (y != y) std::printf("%s: NaN\n", what);
    }
  }
}

template <std::size_t N>
void attention() {
  using layer =
      multi_head_attention<float, hidden<15>, heads<3>, bias<true>, rope<split_halves, 10000, 4>>;
  using tokens = tensor<float, batch<2>, token<N>, hidden<15>>;
  static const auto w = drawn_weights<layer>(next);
  static const prepacked<layer> packed{w};
  const auto x = drawn<tokens>(next, 2);
  const tensor<int, batch<2>> lens{N, N / 2};
  tensor<bool, token<N>, key<N>> kept{};
  for (bool& flag : kept) flag = next() > 0;
  undefined<typename layer::template workspace<token<N>>> work;
  undefined<tokens> out;
  layer{w}.into(out.value, x, lens, work.value);
  look_at("lengths", out.value);
  packed.into(out.value, x, causal, work.value);
  look_at("causal, packed", out.value);
}

void others() {
  using encoder = encoder_layer<float, hidden<20>, heads<2>, intermediate<37>,
                                activation<gelu_exact>, norm_first<true>, bias<true>>;
  using tokens = tensor<float, token<9>, hidden<20>>;
  static encoder::weights w{};
  umbel_test::draw_encoder(next, w, 0.25, 0.25, 0.125, 0.125, 1, 0.125);
  const auto x = drawn<tokens>(next, 2);
  undefined<encoder::workspace<token<9>>> work;
  undefined<tokens> out;
  encoder{w}.into(out.value, x, all_keys, work.value);
  look_at("encoder", out.value);
  softmax<hidden>.into(out.value, x);
  look_at("softmax", out.value);
  relu.into(out.value, x);
  look_at("relu", out.value);

  using queries = tensor<float, heads<2>, query<7>, head_dim<5>>;
  using keys = tensor<float, heads<2>, key<11>, head_dim<5>>;
  const auto q = drawn<queries>(next, 2);
  const auto k = drawn<keys>(next, 2);
  tensor<bool, query<7>, key<11>> kept{};
  for (bool& flag : kept) flag = next() > 0;
  undefined<tensor<float, heads<2>, query<7>, key<11>>> weights;
  undefined<queries> context;
  undefined<workspace_for<decltype(scaled_dot_product_attention), queries, keys, keys>> scratch;
  scaled_dot_product_attention.into(context.value, q, k, k,
                                    keep_mask(kept) & observe(weights.value), scratch.value);
  look_at("flags", context.value);
  look_at("weights", weights.value);
}

void cache() {
  using layer =
      multi_head_attention<float, hidden<12>, heads<3>, rope<adjacent_pairs>, bias<false>>;
  using past = key_value_cache<layer, key<21>>;
  using step = tensor<float, token<1>, hidden<12>>;
  static past memory;
  const auto w = drawn_weights<layer>(next);
  undefined<past::workspace<token<1>>> work;
  undefined<step> out;
  for (int t = 0; t < 21; ++t) {
    const auto x = drawn<step>(next, 2);
    if (!memory.step(out.value, layer{w}, x, all_keys, work.value)) std::exit(3);
    look_at("cache", out.value);
  }
}

// Few shapes, each a kernel to compile: rows of 9 or 1, between 15 and 24 features.
void integers() {
  using attention = quantized<
      multi_head_attention<float, hidden<15>, heads<3>, rope<split_halves, 10000, 4>, bias<true>>>;
  using decoder =
      quantized<decoder_layer<float, hidden<15>, heads<3>, intermediate<24>, gated<true>,
                              activation<silu>, norm_first<true>, bias<true>>>;
  using bytes = tensor<std::int8_t, batch<2>, token<9>, hidden<15>>;
  const auto attend = drawn_quantized<attention>(next);
  undefined<attention::workspace<token<9>>> work;
  undefined<bytes> out;
  attend.into(out.value, drawn_integers<bytes>(next, 127), causal, work.value);
  look_at("attention in integers", out.value);

  using row = tensor<std::int8_t, token<1>, hidden<15>>;
  using past = key_value_cache<attention, key<9>>;
  static past memory;
  undefined<past::workspace<token<1>>> work_of_step;
  undefined<row> step;
  for (int t = 0; t < 9; ++t) {
    const auto x = drawn_integers<row>(next, 127);
    if (!memory.step(step.value, attend, x, all_keys, work_of_step.value)) std::exit(3);
    look_at("cache in integers", step.value);
  }

  using sums = tensor<std::int16_t, token<9>, hidden<15>>;
  const auto decode = drawn_quantized<decoder>(next);
  const auto from = drawn_integers<tensor<std::int8_t, key<9>, hidden<15>>>(next, 127);
  undefined<decoder::workspace<token<9>, key<9>>> work_of_decoder;
  undefined<sums> decoded;
  decode.into(decoded.value, drawn_integers<sums>(next, 20000), from, self_mask(causal),
              work_of_decoder.value);
  look_at("decoder in integers", decoded.value);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    undefined<tensor<float, hidden<4>>> nobody;
    undefined<tensor<std::int8_t, hidden<4>>> nor_here;
    if (arguments[1][0] == 'i')
      look_at("nothing was written", nor_here.value);
    else
      look_at("nothing was written", nobody.value);
    return 0;
  }
  attention<1>();
  attention<19>();
  others();
  cache();
  integers();
  return 0;
}
