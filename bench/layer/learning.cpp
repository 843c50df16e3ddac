// SPDX-License-Identifier: BSL-1.0
// A step of learning: forward, loss and all gradients of a multi-head attention, batch, tokens,
// hidden, heads, and of the demo's classifier for one picture. Operations: those of the forward
// pass and, backward, twice those of its linear maps and 5 / 2 of its attention, whose scores are
// computed again. Beside them the forward pass of inference, and the same step in plain loops
// (plain_attention.hpp). tools/bench learning has them beside PyTorch's.
#include <umbel/training.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "../../examples/learn_fashion/training.hpp"
#include "../measure.hpp"
#include "plain_attention.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using bench::plain_attention;

template <class W>
void fill_weights(W& w, float scale) {
  for_each_parameter(w, [&](const parameter_path&, auto x) { bench::fill(x, scale); });
}

// The weights of w, of each map with its features turned.
template <class W>
void take_weights(plain_attention& plain, const W& w) {
  for_each_parameter(w, [&](const parameter_path& path, const auto& x) {
    const bool is_out = path == "o.weight" || path == "o.bias";
    const std::size_t part = path == "k.weight" || path == "k.bias"   ? 1
                             : path == "v.weight" || path == "v.bias" ? 2
                                                                      : 0;
    if constexpr (std::remove_cvref_t<decltype(x)>::layout::rank == 2) {
      const auto width = static_cast<std::size_t>(std::sqrt(static_cast<double>(x.size())));
      float* const to = (is_out ? plain.w_out : plain.w_qkv).data() + part * x.size();
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t o = 0; o < width; ++o) to[o * width + i] = x.data()[i * width + o];
    } else {
      std::copy_n(x.data(), x.size(),
                  (is_out ? plain.b_out : plain.b_qkv).data() + part * x.size());
    }
  });
}

// Is a what b is, but for another order of sums?
template <class X>
bool is_close(const X& a, const float* b) {
  float most = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a.data()[i]));
    apart = std::max(apart, std::abs(a.data()[i] - b[i]));
  }
  return apart <= 1e-4f * most;
}

template <std::size_t Batch, std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void add_attention() {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>, bias<true>>;
  using sequences = tensor<float, batch<Batch>, token<Tokens>, hidden<Hidden>>;
  static constexpr formula loss = [](auto x, auto dy, const auto& w) {
    return sum<batch, token, hidden>(attention{w}(x)*dy);
  };
  static constexpr gradient learn{loss};
  static typename attention::weights w, g;
  static sequences x, dx, dy, y;
  static workspace_for<decltype(learn), differentiated<sequences>, sequences,
                       differentiated<typename attention::weights>>
      work;
  static typename attention::template workspace<token<Tokens>> forward_work;
  fill_weights(w, 1 / static_cast<float>(Hidden));
  bench::fill(x, 1);
  bench::fill(dy, 1);
  constexpr double maps = 8.0 * Batch * Tokens * Hidden * Hidden;
  constexpr double attend = 4.0 * Batch * Tokens * Tokens * Hidden;
  const auto name = [&](const char* what) {
    return bench::row_name(what, {Batch, Tokens, Hidden, Heads}, ',');
  };
  bench::add_row(name("learn/forward"), maps + attend,
                 [] { attention{w}.into(y, x, all_keys, forward_work); });
  bench::add_row(name("learn/attention"), 3 * maps + 3.5 * attend, [] {
    benchmark::DoNotOptimize(learn(with_gradient(x, dx), dy, with_gradient(w, g), work));
  });

  static plain_attention plain(Batch, Tokens, Hidden, Heads);
  static const auto check = [] {
    static sequences dx_of_plain;
    plain.forward(x.data(), y.data());
    plain.backward(x.data(), dy.data(), dx_of_plain.data(), true);
    dx = {};
    benchmark::DoNotOptimize(learn(with_gradient(x, dx), dy, with_gradient(w, g), work));
    if (!is_close(dx, dx_of_plain.data())) std::abort();
    return true;
  };
  static sequences dx_of_plain;
  take_weights(plain, w);
  for (const bool every_pair : {true, false})
    bench::add_row(name(every_pair ? "learn/llm.c" : "learn/one sum"), 3 * maps + 3.5 * attend,
                   [=] {
                     [[maybe_unused]] static const bool checked = check();
                     plain.forward(x.data(), y.data());
                     plain.backward(x.data(), dy.data(), dx_of_plain.data(), every_pair);
                   });
}

// Of the demo's classifier: a picture, and a batch with all that comes after it, its augmentation,
// clipping, AdamW and the moving average.
void add_clothing() {
  using namespace learn_fashion;
  static training all;
  static epoch_order order;
  static const picture_set pictures = make_pictures().train;
  static worker by;
  static weights w, g;
  static patches x;
  static tensor<int> label{3};
  begin(all.now, 1, 32, most_pictures);
  order.shuffle(1, 0, pictures.size());
  for (std::size_t i = pictures.size(); i < most_pictures; ++i)
    order.of[i] = order.of[i - pictures.size()];
  first_weights(w, 1);
  bench::fill(x, 1);
  constexpr double maps = 2.0 * 49 * (16 * 32 + 2 * (4 * 32 * 32 + 2 * 32 * 64)) + 2.0 * 32 * 10;
  constexpr double attend = 2 * 4.0 * 49 * 49 * 32, both = 3 * maps + 3.5 * attend;
  bench::add_row("learn/clothing forward", maps + attend, [] {
    benchmark::DoNotOptimize(logits_of(x, w, by.template use<answering_workspace>()));
  });
  bench::add_row("learn/clothing", both, [] {
    benchmark::DoNotOptimize(
        learn(x, label, with_gradient(w, g), by.template use<learning_workspace>()));
  });
  bench::add_row("learn/clothing, 128 pictures", batch_size * both, [] {
    const float loss = learn_batch(all, pictures, order, serial);
    benchmark::DoNotOptimize(make_step(all.now, all.of_batch.gradient(), loss));
  });
}

const bool added = [] {
  add_attention<1, 16, 32, 2>();
  add_attention<1, 49, 32, 4>();
  add_attention<1, 64, 64, 4>();
  add_attention<1, 128, 256, 8>();
  add_attention<8, 128, 256, 8>();
  add_clothing();
  return true;
}();

}  // namespace
