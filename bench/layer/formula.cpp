// SPDX-License-Identifier: BSL-1.0
// Formulas, each beside the function or layer that computes the same: "formula/..." and
// "function/...". Attention: batch,heads,queries,keys,head_dim, as in kernel/attend.cpp; whole
// layers: the sizes of mha/A to mha/H (multi_head.cpp); "eager/mha/...": the same words called with
// tensors, one after another. Rows "tail/...": what follows a product, beside the product alone;
// "elements/gelu_tanh/...": what follows it, of numbers in the first-level cache. "floor/...": a
// loop that only reads the same two tensors and writes a third.
// "encoder/...": whole encoder layers.
#include <umbel/umbel.hpp>

#include "../measure.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

// Both in a workspace of the caller's.
template <class Formula, class Function, class Out, class... X>
void add_both(const std::string& row, double flops, const Formula& formula, Function function,
              Out& out, const X&... x) {
  static workspace_for<Formula, X...> work;
  bench::add_row("formula/" + row, flops, [&] { formula.into(out, x..., work); });
  bench::add_row("function/" + row, flops, function);
}

template <std::size_t Batch, std::size_t Heads, std::size_t Queries, std::size_t Keys,
          std::size_t HeadDim>
void add_attention() {
  static tensor<float, batch<Batch>, heads<Heads>, query<Queries>, head_dim<HeadDim>> q, out;
  static tensor<float, batch<Batch>, heads<Heads>, key<Keys>, head_dim<HeadDim>> k, v;
  static tensor<float, heads<Heads>, query<Queries>, key<Keys>> bias;
  static tensor<float, heads<Heads>> slopes;
  bench::fill(q, 1.5f);
  bench::fill(k, 1.5f);
  bench::fill(v, 1);
  bench::fill(bias, 1);
  bench::fill(slopes, 0.25f);
  static workspace_for<decltype(scaled_dot_product_attention), decltype(q), decltype(k),
                       decltype(v)>
      work;
  const std::string sizes = bench::row_name("", {Batch, Heads, Queries, Keys, HeadDim}, ',');
  const double flops = 4.0 * Batch * Heads * Queries * Keys * HeadDim;

  static constexpr formula plainly = [](auto queries, auto keys, auto values) {
    auto scores = contract<head_dim>(queries, keys) * rsqrt(static_cast<float>(HeadDim));
    return contract<key>(softmax<key>(scores), values);
  };
  add_both(
      "attend/" + sizes, flops, plainly,
      [] { scaled_dot_product_attention.into(out, q, k, v, all_keys, work); }, out, q, k, v);

  if constexpr (Queries == Keys) {
    static constexpr formula capped = [](auto queries, auto keys, auto values) {
      auto scores = contract<head_dim>(queries, keys) * (rsqrt(static_cast<float>(HeadDim)) / 5);
      return contract<key>(softmax<key>(tanh(scores) * 5), values);
    };
    add_both(
        "softcap/" + sizes, flops, capped,
        [] { scaled_dot_product_attention_with<softcap<5>>.into(out, q, k, v, all_keys, work); },
        out, q, k, v);
    static constexpr formula biased = [](auto queries, auto keys, auto values, auto added) {
      auto scores = contract<head_dim>(queries, keys) * rsqrt(static_cast<float>(HeadDim));
      return contract<key>(softmax<key>(scores + added), values);
    };
    add_both(
        "bias/" + sizes, flops, biased,
        [] { scaled_dot_product_attention.into(out, q, k, v, score_bias(bias), work); }, out, q, k,
        v, bias);
    static constexpr formula with_slopes = [](auto queries, auto keys, auto values, auto slope) {
      auto scores = contract<head_dim>(queries, keys) * rsqrt(static_cast<float>(HeadDim));
      auto distant = scores + slope * (position<key> - position<query>);
      return contract<key>(softmax<key>(hide(distant, position<key> > position<query>)), values);
    };
    add_both(
        "alibi/" + sizes, flops / 2, with_slopes,
        [] { scaled_dot_product_attention.into(out, q, k, v, alibi & causal, work); }, out, q, k, v,
        slopes);
    static constexpr formula nearby = [](auto queries, auto keys, auto values) {
      auto scores = contract<head_dim>(queries, keys) * rsqrt(static_cast<float>(HeadDim));
      auto far = position<key> > position<query> || position<query> - position<key> > 31;
      return contract<key>(softmax<key>(hide(scores, far)), values);
    };
    add_both(
        "window/" + sizes, flops, nearby,
        [] { scaled_dot_product_attention.into(out, q, k, v, sliding_window<31>, work); }, out, q,
        k, v);
  }
}

template <class Attention>
const typename Attention::weights& weights_of() {
  static typename Attention::weights weights;
  for (auto* map : {&weights.q, &weights.k, &weights.v, &weights.o})
    bench::fill(map->weight, 1.7f * rsqrt(static_cast<float>(Attention::hidden_axis::size)));
  return weights;
}

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void add_layer(const char* name) {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>>;
  static const typename attention::weights& weights = weights_of<attention>();
  static const prepacked<attention> layer{weights};
  static tensor<float, query<Tokens>, hidden<Hidden>> x, out;
  bench::fill(x, 1);
  static typename attention::template workspace<query<Tokens>> work;
  static constexpr auto spelled_out = [](const auto& input, const auto& w) {
    auto q = input * w.q | split<hidden, heads<Heads>, head_dim> | permute<heads, query, head_dim>;
    auto k = input * w.k | split<hidden, heads<Heads>, head_dim> | rename_axis<query, key> |
             permute<heads, key, head_dim>;
    auto v = input * w.v | split<hidden, heads<Heads>, head_dim> | rename_axis<query, key> |
             permute<heads, key, head_dim>;
    auto scores = contract<head_dim>(q, k) * rsqrt(static_cast<float>(Hidden / Heads));
    auto context = contract<key>(softmax<key>(scores), v) | permute<query, heads, head_dim>;
    return (context | contiguous | merge<heads, head_dim, hidden>)*w.o;
  };
  static constexpr formula as_formula = spelled_out;
  const std::string row = std::string("mha/") + name;
  const double flops = 8.0 * Tokens * Hidden * Hidden + 4.0 * Tokens * Tokens * Hidden;
  add_both(
      row, flops, as_formula, [] { layer.into(out, x, all_keys, work); }, out, x,
      layer.get_weights());
  bench::add_row("eager/" + row, flops, [] { out = spelled_out(x, weights); });
}

// Self is the layer's call with x alone; y has the same memory then. The words called with tensors
// keep all that they make on the stack: not of long sequences.
template <std::size_t Batch, std::size_t Queries, std::size_t Keys, std::size_t Hidden,
          std::size_t Heads, bool Self>
void add_batch(const char* name) {
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>>;
  static const prepacked<attention> layer{weights_of<attention>()};
  static tensor<float, batch<Batch>, query<Queries>, hidden<Hidden>> x, out;
  static tensor<float, batch<Batch>, key<Keys>, hidden<Hidden>> memory;
  bench::fill(x, 1);
  bench::fill(memory, 1);
  static const auto y =
      view_as<batch<Batch>, key<Keys>, hidden<Hidden>>(Self ? x.data() : memory.data());
  static workspace_for<attention, decltype(x), decltype(memory), decltype(memory)> work;
  static constexpr auto spelled_out = [](const auto& to, const auto& from, const auto& w) {
    auto q =
        to * w.q | split<hidden, heads<Heads>, head_dim> | permute<batch, heads, query, head_dim>;
    auto k =
        from * w.k | split<hidden, heads<Heads>, head_dim> | permute<batch, heads, key, head_dim>;
    auto v =
        from * w.v | split<hidden, heads<Heads>, head_dim> | permute<batch, heads, key, head_dim>;
    auto scores = contract<head_dim>(q, k) * rsqrt(static_cast<float>(Hidden / Heads));
    auto context = contract<key>(softmax<key>(scores), v) | permute<batch, query, heads, head_dim>;
    return (context | contiguous | merge<heads, head_dim, hidden>)*w.o;
  };
  static constexpr formula as_formula = spelled_out;
  const std::string row = std::string("mha/") + name;
  const double flops = 4.0 * Batch * ((Queries + Keys) * Hidden * Hidden + Queries * Keys * Hidden);
  add_both(
      row, flops, as_formula, [] { layer.into(out, x, y, y, all_keys, work); }, out, x, y,
      layer.get_weights());
  if constexpr (Batch * Queries * Keys < 4096)  // of example 02
    bench::add_row("eager/" + row, flops, [] { out = spelled_out(x, y, weights_of<attention>()); });
}

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
void add_encoder(const char* name) {
  using encoder = encoder_layer<float, hidden<Hidden>, heads<Heads>, intermediate<4 * Hidden>,
                                norm_first<true>, activation<gelu_tanh>, bias<true>>;
  static typename encoder::weights weights;
  auto& [norm1, attention, norm2, network] = weights;
  for (auto* map : {&attention.q, &attention.k, &attention.v, &attention.o})
    bench::fill(map->weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
  bench::fill(network.up.weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
  bench::fill(network.down.weight, 0.8f * rsqrt(static_cast<float>(Hidden)));
  for (auto* part : {&norm1.gamma, &norm2.gamma}) bench::fill(*part, 1);
  static const prepacked<encoder> layer{weights};
  static tensor<float, token<Tokens>, hidden<Hidden>> x, out;
  bench::fill(x, 1);
  static typename encoder::template workspace<token<Tokens>> work;
  bench::add_row(std::string("encoder/") + name,
                 24.0 * Tokens * Hidden * Hidden + 4.0 * Tokens * Tokens * Hidden,
                 [] { layer.into(out, x, all_keys, work); });
}

template <std::size_t Tokens, std::size_t Hidden, std::size_t Wide>
void add_network() {
  using network = feed_forward<float, hidden<Hidden>, intermediate<Wide>, bias<false>,
                               activation<silu>, gated<true>>;
  using map = linear<float, hidden<Hidden>, intermediate<Wide>>;
  static typename network::weights weights;
  bench::fill(weights.gate.weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
  bench::fill(weights.up.weight, 1.7f * rsqrt(static_cast<float>(Hidden)));
  bench::fill(weights.down.weight, 1.7f * rsqrt(static_cast<float>(Wide)));
  static const prepacked<network> layer{weights};
  static const prepacked<map> up{weights.up};
  static tensor<float, token<Tokens>, hidden<Hidden>> x, out;
  static tensor<float, token<Tokens>, intermediate<Wide>> wide, more;
  bench::fill(x, 1);
  bench::fill(more, 1);
  static typename network::template workspace<token<Tokens>> work;
  const std::string sizes = bench::row_name("", {Tokens, Hidden, Wide}, ',');
  const double flops = 2.0 * Tokens * Hidden * Wide;
  static constexpr formula spelled_out = [](auto input, const auto& w) {
    return (input * w.gate | silu) * (input * w.up) * w.down;
  };
  add_both(
      "feed_forward/" + sizes, 3 * flops, spelled_out, [] { layer.into(out, x, work); }, out, x,
      layer.get_weights());
  const auto product = [] { up.into(wide, x); };
  static constexpr formula residual = [](auto input, const auto& w, auto y) {
    return y + input * w;
  };
  add_both("tail/residual/" + sizes, flops, residual, product, wide, x, up.get_weights(), more);
  static constexpr formula gate = [](auto input, const auto& w, auto y) {
    return (input * w | silu) * y;
  };
  add_both("tail/gate/" + sizes, flops, gate, product, wide, x, up.get_weights(), more);
  static constexpr formula activated = [](auto input, const auto& w) {
    return input * w | gelu_tanh;
  };
  add_both("tail/gelu_tanh/" + sizes, flops, activated, product, wide, x, up.get_weights());
  bench::add_row("elements/gelu_tanh/" + sizes, flops, [] {
    constexpr std::size_t part = 2048;
    static_assert(Tokens * Wide % part == 0);
    for (std::size_t i = 0; i < Tokens * Wide; i += part)
      gelu_tanh.apply<part>(more.data(), wide.data());
  });
}

UMBEL_NOINLINE void read_two_and_write(const float* x, const float* y, float* out,
                                       std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = x[i] + y[i];
}

template <std::size_t Tokens, std::size_t Hidden>
void add_norm() {
  static tensor<float, token<Tokens>, hidden<Hidden>> x, y, sum, out;
  using normalise = layer_norm<float, hidden<Hidden>>;
  static typename normalise::weights weights;
  for (auto* part : {&weights.gamma, &weights.beta}) bench::fill(*part, 1);
  bench::fill(x, 1);
  bench::fill(y, 1);
  static const normalise norm{weights};
  static constexpr formula spelled_out = [](auto a, auto b, const auto& w) {
    auto s = a + b;
    auto difference = s - mean<hidden>(s);
    return difference * rsqrt(mean<hidden>(difference * difference) + 1e-5f) * w.gamma + w.beta;
  };
  add_both(
      "residual_norm/" + bench::row_name("", {Tokens, Hidden}, ','), 9.0 * Tokens * Hidden,
      spelled_out,
      [] {
        sum = x + y;
        norm.into(out, sum);
      },
      out, x, y, weights);
  bench::add_row("floor/residual_norm/" + bench::row_name("", {Tokens, Hidden}, ','),
                 9.0 * Tokens * Hidden,
                 [] { read_two_and_write(x.data(), y.data(), out.data(), Tokens * Hidden); });
}

const bool added = [] {
  add_attention<1, 4, 16, 16, 8>();
  add_attention<2, 5, 4, 6, 20>();
  add_attention<1, 8, 32, 32, 8>();
  add_attention<1, 4, 64, 64, 16>();
  add_attention<1, 8, 128, 128, 32>();
  add_attention<1, 12, 128, 128, 32>();
  add_attention<1, 3, 197, 197, 64>();
  add_attention<1, 8, 512, 512, 64>();
  add_attention<1, 8, 1, 512, 64>();
  add_attention<1, 12, 1, 128, 32>();
  add_layer<16, 32, 2>("A");
  add_layer<32, 64, 8>("C");
  add_layer<64, 64, 4>("D");
  add_layer<128, 256, 8>("E");
  add_layer<128, 384, 12>("F");
  add_layer<197, 192, 3>("G");
  add_batch<2, 4, 6, 100, 5, false>("B");
  add_batch<8, 128, 128, 256, 8, true>("H");
  add_encoder<64, 64, 4>("D");
  add_encoder<128, 256, 8>("E");
  add_network<64, 64, 256>();
  add_network<128, 256, 1024>();
  add_norm<64, 64>();
  add_norm<128, 256>();
  return true;
}();

}  // namespace
