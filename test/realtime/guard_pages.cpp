// SPDX-License-Identifier: BSL-1.0
// Nothing is read or written past an array: each lies against a page that may not be touched, once
// at its end and once at its beginning, and what is only read is in pages that may not be written.
// Sizes around those of vectors. Exit code 0 is passing; a wrong access ends in the handler, which
// says where.
#include <umbel/bare.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

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
  view<const T, Axes...> read() { return view<const T, Axes...>(static_cast<const T*>(data)); }
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
  }
  std::printf("no access outside of an array, no write to an input\n");
  return 0;
}
