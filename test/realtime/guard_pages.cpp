// SPDX-License-Identifier: BSL-1.0
// Nothing is read or written past an array: each lies against a page that may not be touched, once
// at its end and once at its beginning, and what is only read is in pages that may not be written.
// Sizes around those of vectors. Exit code 0 is passing; a wrong access ends in the handler, which
// says where.
#include <umbel/bare.hpp>
#include <umbel/quantized.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

#include "../support/quantized.hpp"
#include "../support/random.hpp"
#include "pages.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

const char* current = "";

void on_fault(int) {
  const char text[] = "an access outside of an array, or a write to an input: ";
  const bool written = write(1, text, sizeof text - 1) > 0 &&
                       write(1, current, std::strlen(current)) > 0 && write(1, "\n", 1) > 0;
  _exit(written ? 1 : 2);
}

// Elements without the padding that a tensor has.
template <class X>
struct array;
template <class T, class... Axes>
struct array<tensor<T, Axes...>> : pages {
  array() : pages(layout::count * sizeof(T), sizeof(T)) {}
  using layout = typename tensor<T, Axes...>::layout;
  view<T, Axes...> whole() { return view<T, Axes...>(static_cast<T*>(data)); }
  view<const T, Axes...> read() const {
    return view<const T, Axes...>(static_cast<const T*>(data));
  }
};
template <class X>
struct input : array<X> {
  input(lcg& next, double scale) {
    auto all = this->whole();
    for (auto& x : all) {
      using T = std::remove_reference_t<decltype(x)>;
      if constexpr (std::is_same_v<T, bool>)
        x = next() > 0;
      else
        x = static_cast<T>(static_cast<double>(next()) * scale);
    }
    this->forbid_writing();
  }
};
// Everything that was written is a number.
template <class X>
void check(array<X>& out) {
  for (const float y : out.whole()) {
    if (!(y == y)) {
      std::printf("%s: not every element was written\n", current);
      std::exit(1);
    }
  }
}

lcg next{1};

template <std::size_t Q, std::size_t K, std::size_t D, class Mask>
void attend(const char* name, Mask&& mask) {
  current = name;
  using queries = tensor<float, heads<2>, query<Q>, head_dim<D>>;
  using keys = tensor<float, heads<2>, key<K>, head_dim<D>>;
  input<queries> q(next, 2);
  input<keys> k(next, 2), v(next, 1);
  array<queries> out;
  object<workspace_for<decltype(scaled_dot_product_attention), decltype(q.read()),
                       decltype(k.read()), decltype(v.read())>>
      work;
  scaled_dot_product_attention.into(out.whole(), q.read(), k.read(), v.read(), mask, work.value());
  check(out);
}

template <std::size_t N>
void masks() {
  if constexpr (N % 4 == 3) {  // 3, 7, 31
    input<tensor<bool, query<N>, key<N + 2>>> flags(next, 1);
    attend<N, N + 2, 5>("flags", keep_mask(flags.read()));
  } else if constexpr (N % 16 == 1 && N % 32 != 1) {  // 17, 49
    input<tensor<float, heads<2>, query<N>, key<N>>> biases(next, 1);
    array<tensor<float, heads<2>, query<N>, key<N>>> weights;
    attend<N, N, 8>("bias, observed", score_bias(biases.read()) & observe(weights.whole()));
    check(weights);
  } else {  // 1, 33, 65
    input<tensor<int, query<N>>> lens(next, N);
    attend<N, 2 * N + 1, 7>("lengths", lens.read());
  }
  attend<1, N, 9>("one query", all_keys);
}

template <std::size_t N>
void rows() {
  using row = tensor<float, token<3>, hidden<N>>;
  input<row> x(next, 4);
  array<row> out;
  const auto run = [&](const char* name, const auto& operation) {
    current = name;
    operation.into(out.whole(), x.read());
    check(out);
  };
  run("softmax", softmax<hidden>);
  run("relu", relu);
  object<typename layer_norm<float, hidden<N>>::weights> norm;
  draw(next, norm.value().gamma), draw(next, norm.value().beta);
  norm.forbid_writing();
  run("layer_norm", layer_norm<float, hidden<N>>{norm.value()});
  if constexpr (N == 33) {
    run("gelu_exact", gelu_exact), run("gelu_tanh", gelu_tanh), run("silu", silu);
    run("softmax along tokens", softmax<token>);
  }

  using map = linear<float, hidden<N>, classes<N>, bias<true>>;
  input<tensor<float, hidden<N>, classes<N>>> weight(next, 1);
  input<tensor<float, classes<N>>> bias(next, 1);
  typename map::weights_view w;
  w.weight = weight.read().data(), w.bias = bias.read().data();
  array<tensor<float, token<3>, classes<N>>> mapped;
  current = "linear";
  map{w}.into(mapped.whole(), x.read());
  check(mapped);
}

template <template <std::size_t> class Axis, class Out, class X, class Y>
void contract_into(Out out, X x, Y y) {
  static constexpr auto loops =
      detail::lower_contract<float, typename X::layout, typename Y::layout, typename Out::layout,
                             detail::family_of<Axis>>();
  detail::run_contract<loops>(x.data(), y.data(), out.data());
}

// Scores, for which keys are packed, and values, for which nothing is.
template <std::size_t N>
void contractions() {
  input<tensor<float, query<N>, heads<2>, head_dim<N>>> q(next, 1);
  input<tensor<float, key<17>, heads<2>, head_dim<N>>> k(next, 1);
  input<tensor<float, heads<2>, query<N>, key<17>>> weights(next, 1);
  array<tensor<float, query<N>, heads<2>, key<17>>> scores;
  array<tensor<float, heads<2>, query<N>, head_dim<N>>> values;
  current = "contract, scores";
  contract_into<head_dim>(scores.whole(), q.read(), k.read());
  check(scores);
  current = "contract, values";
  contract_into<key>(values.whole(), weights.read(), k.read());
  check(values);
}

// A whole layer, its weights and its workspace, and one packed.
template <std::size_t N>
void layers() {
  current = "attention layer";
  using layer =
      multi_head_attention<float, hidden<15>, heads<3>, bias<true>, rope<split_halves, 10000, 4>>;
  using tokens = tensor<float, batch<2>, token<N>, hidden<15>>;
  object<typename layer::weights> w;
  w.value() = drawn_weights<layer>(next);
  w.forbid_writing();
  object<prepacked<layer>> packed;
  new (packed.data) prepacked<layer>(w.value());
  packed.forbid_writing();
  object<typename layer::template workspace<token<N>>> work;
  input<tokens> x(next, 2);
  array<tokens> out;
  layer{w.value()}.into(out.whole(), x.read(), causal, work.value());
  check(out);
  packed.value().into(out.whole(), x.read(), causal, work.value());
  check(out);
}

void cache() {
  current = "cache";
  using layer =
      multi_head_attention<float, hidden<12>, heads<3>, rope<adjacent_pairs>, bias<false>>;
  using past = key_value_cache<layer, key<33>, stored_as<bfloat16>>;
  object<past> memory;
  new (memory.data) past;
  object<past::workspace<token<1>>> work;
  const auto w = drawn_weights<layer>(next);
  using step = tensor<float, token<1>, hidden<12>>;
  array<step> out;
  for (int t = 0; t < 33; ++t) {
    input<step> x(next, 2);
    if (!memory.value().step(out.whole(), layer{w}, x.read(), all_keys, work.value())) std::exit(3);
    check(out);
  }
}

void cache_with_memory() {
  current = "cache with a memory";
  using layer = decoder_layer<float, hidden<12>, heads<3>, intermediate<20>, norm_first<true>,
                              activation<relu>, bias<false>>;
  using past = key_value_cache<layer, key<9>, longest_memory<7>, stored_as<bfloat16>>;
  object<past> cache;
  new (cache.data) past;
  object<past::workspace<token<3>>> work;
  layer::weights w{};
  draw_decoder(next, w, 0.3, 0.3, 0.3, 0.1, 1, 0.2);
  input<tensor<float, token<7>, hidden<12>>> memory(next, 2);
  cache.value().attend_to(layer{w}, memory.read(), work.value());
  using step = tensor<float, token<3>, hidden<12>>;
  array<step> out;
  for (int t = 0; t < 9; t += 3) {
    input<step> x(next, 2);
    if (!cache.value().step(out.whole(), layer{w}, x.read(), all_keys, work.value())) std::exit(3);
    check(out);
  }
}

// ---- layers in integers: 0xff is one, so results are those of other memory

template <class X>
struct integer_input : array<X> {
  X elsewhere;  // the same
  explicit integer_input(double largest) : elsewhere(drawn_integers<X>(next, largest)) {
    std::copy(elsewhere.begin(), elsewhere.end(), this->whole().data());
    this->forbid_writing();
  }
};
template <class X>
void check_same(array<X>& out, const X& wanted) {
  if (std::equal(wanted.begin(), wanted.end(), out.whole().data())) return;
  std::printf("%s: other bits than elsewhere\n", current);
  std::exit(1);
}
template <class Layer>
struct constant : object<Layer> {
  const Layer& layer = *new (this->data) Layer(drawn_quantized<Layer>(next));
  constant() { this->forbid_writing(); }
};
constexpr double most_of_sums = 32767;

template <std::size_t N, std::size_t Rows>
void integer_rows() {
  using bytes = tensor<std::int8_t, token<Rows>, hidden<N>>;
  using sums = tensor<std::int16_t, token<Rows>, hidden<N>>;
  const auto run = [](const char* name, const auto& layer, const auto& x, auto& out) {
    current = name;
    layer.into(out.whole(), x.read());
    check_same(out, layer(x.elsewhere));
  };
  integer_input<bytes> x(128);
  integer_input<sums> sum(most_of_sums);
  array<bytes> y;
  array<sums> wide;
  constant<quantized<linear<float, hidden<N>, classes<N + 1>, bias<true>>>> map;
  array<tensor<std::int8_t, token<Rows>, classes<N + 1>>> mapped;
  run("linear in integers", map.layer, x, mapped);
  using norm = quantized<layer_norm<float, hidden<N>>>;
  typename norm::layer::weights w{};
  draw(next, w.gamma), draw(next, w.beta);
  object<norm> normed;
  new (normed.data) norm(w, {{2.0F}, {2.0F}});
  normed.forbid_writing();
  run("layer_norm in integers", normed.value(), sum, y);
  const quantized_mean<token<Rows>> mean{{{2.0F}, {1.0F}}};
  array<tensor<std::int8_t, hidden<N>>> pooled;
  run("mean in integers", mean, x, pooled);
}

template <class Layer, class T, std::size_t N>
void integer_layer(const char* name, double largest) {
  using tokens = tensor<T, batch<2>, token<N>, typename Layer::hidden_axis>;
  constant<quantized<Layer>> all;
  integer_input<tokens> x(largest);
  input<tensor<int, batch<2>>> lens(next, N);
  array<tokens> out;
  object<workspace_for<quantized<Layer>, tokens>> work;
  current = name;
  all.layer.into(out.whole(), x.read(), lens.read() & causal, work.value());
  check_same(out, all.layer(x.elsewhere, lens.read() & causal));
}
template <class Layer, class T>
void integer_cache(const char* name, double largest) {
  using row = tensor<T, token<1>, typename Layer::hidden_axis>;
  using past = key_value_cache<quantized<Layer>, key<19>, longest_sequence<40, 1>>;
  constant<quantized<Layer>> all;
  object<past> memory;
  new (memory.data) past;
  static past elsewhere;
  object<typename past::template workspace<token<1>>> work;
  array<row> out;
  row wanted{};
  current = name;
  for (int t = 0; t < 40; ++t) {
    integer_input<row> x(largest);
    if (!memory.value().step(out.whole(), all.layer, x.read(), all_keys, work.value()) ||
        !elsewhere.step(wanted, all.layer, x.elsewhere))
      std::exit(3);
    check_same(out, wanted);
  }
  elsewhere.reset();
}
void integer_layers() {
  using rotated = multi_head_attention<float, hidden<15>, heads<3>, head_dim<6>, bias<true>,
                                       rope<split_halves, 10000, 4>>;
  using block = encoder_layer<float, hidden<21>, heads<3>, intermediate<37>, norm_first<false>,
                              gated<true>, activation<silu>, bias<true>>;
  integer_rows<1, 1>();
  integer_rows<7, 3>();
  integer_rows<33, 5>();
  integer_rows<65, 17>();
  integer_layer<rotated, std::int8_t, 1>("attention in integers, one query", 127);
  integer_layer<rotated, std::int8_t, 17>("attention in integers", 127);
  integer_layer<layer_stack<block, 2>, std::int16_t, 7>("encoders in integers", most_of_sums);
  integer_cache<rotated, std::int8_t>("cache of attention in integers", 127);
  integer_cache<block, std::int16_t>("cache of an encoder in integers", most_of_sums);
}

template <std::size_t... N>
void all_sizes() {
  (masks<N>(), ...);
  (rows<N>(), ...);
  (contractions<N>(), ...);
}

void self_test() {
  using row = tensor<float, hidden<3>>;
  at_end = true;
  expect_stop("a read past the end",
              [] { (void)*static_cast<const volatile float*>(array<row>().read().data() + 3); });
  expect_stop("a write to an input",
              [] { *const_cast<volatile float*>(input<row>(next, 1).read().data()) = 1; });
  at_end = false;
  expect_stop("a write before the beginning",
              [] { *static_cast<volatile float*>(array<row>().whole().data() - 1) = 1; });
}

}  // namespace

int main() {
  std::signal(SIGSEGV, on_fault);
  std::signal(SIGBUS, on_fault);
  self_test();
  for (const bool end : {true, false}) {
    at_end = end;
    all_sizes<1, 3, 7, 17, 31, 33, 49, 65>();
    layers<17>();
    cache();
    cache_with_memory();
    integer_layers();
  }
  std::printf("no access outside of an array, no write to an input\n");
  return 0;
}
