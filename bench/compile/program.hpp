// SPDX-License-Identifier: BSL-1.0
// Larger programs: ten different layers, one block in six uses, a formula of 25 operations.
// Compiled by run.py; not a part of any program.
#pragma once

#include <umbel/inspect/describe.hpp>
#include <umbel/quantized.hpp>
#include <umbel/training.hpp>
#include <umbel/umbel.hpp>

namespace compile_cost {

using namespace umbel;
using namespace umbel::axes;

template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct ten_layers {
  using tokens = tensor<float, token<Tokens>, hidden<Hidden>>;
  using map = linear<float, hidden<Hidden>, hidden<Hidden>, bias<true>>;
  using network = feed_forward<float, hidden<Hidden>, intermediate<4 * Hidden>,
                               activation<gelu_tanh>, bias<true>>;
  using gated_network = feed_forward<float, hidden<Hidden>, intermediate<2 * Hidden>,
                                     activation<silu>, gated<true>, bias<false>>;
  using attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>>;
  using grouped_attention = multi_head_attention<float, hidden<Hidden>, heads<Heads>,
                                                 kv_heads<Heads / 2>, rope<split_halves>>;
  using encoder = encoder_layer<float, hidden<Hidden>, heads<Heads>, intermediate<2 * Hidden>,
                                norm_first<true>, activation<gelu_tanh>, bias<true>>;
  using decoder = decoder_layer<float, hidden<Hidden>, heads<Heads>, intermediate<2 * Hidden>,
                                norm_first<false>, activation<relu>, bias<true>>;
  static void run(tokens& x, const tensor<int, token<Tokens>>& ids,
                  const typename embedding<float, vocabulary<100>, hidden<Hidden>>::weights& table,
                  const typename layer_norm<float, hidden<Hidden>>::weights& norm,
                  const typename rms_norm<float, hidden<Hidden>>::weights& rms,
                  const typename map::weights& w, const typename network::weights& up,
                  const typename gated_network::weights& gate,
                  const typename attention::weights& heads_of_all,
                  const typename grouped_attention::weights& groups,
                  const typename encoder::weights& encode,
                  const typename decoder::weights& decode) {
    x = embedding<float, vocabulary<100>, hidden<Hidden>>{table}(ids);
    x = layer_norm<float, hidden<Hidden>>{norm}(x);
    x = rms_norm<float, hidden<Hidden>>{rms, 1e-6f}(x);
    x = map{w}(x);
    x = network{up}(x);
    x = gated_network{gate}(x);
    x = attention{heads_of_all}(x, causal);
    x = grouped_attention{groups}(x, causal);
    const tokens memory = encoder{encode}(x);
    x = decoder{decode}(x, memory, self_mask(causal));
  }
};

// In floats, in integers, in a cache, by several workers, described, and with a gradient.
template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads>
struct block_in_six_uses {
  using tokens = tensor<float, token<Tokens>, hidden<Hidden>>;
  using block = residual_block<
      float, hidden<Hidden>, norm_by<rms_norm>, norm_epsilon<1, 1'000'000>,
      block_parts::pre_norm<
          block_parts::name::norm1,
          block_parts::self_attention<block_parts::name::attention, heads<Heads>, bias<false>>>,
      block_parts::pre_norm<block_parts::name::norm2,
                            block_parts::feed_forward_network<
                                block_parts::name::feed_forward, intermediate<4 * Hidden>,
                                activation<silu>, gated<true>, bias<false>>>>;
  using weights = typename block::weights;
  using integers = quantized<block>;
  using one = tensor<float, token<1>, hidden<Hidden>>;
  using workspace = typename block::template workspace<token<Tokens>>;
  struct executor {
    static constexpr std::size_t workers = 2;
    template <class Piece>
    void operator()(std::size_t count, const Piece& piece) noexcept {
      for (std::size_t i = 0; i < count; ++i) piece(i, i % 2);
    }
  };
  static void run(tokens& x, const weights& w, executor& workers, workspace (&work)[2]) {
    block{w}.into(x, x, causal, parallel(workers, work));
  }
  static void run(tokens& x, const weights& w, workspace& work) {
    block{w}.into(x, x, causal, work);
  }
  static tensor<std::int16_t, token<Tokens>, hidden<Hidden>> run(
      const tensor<std::int16_t, token<Tokens>, hidden<Hidden>>& x, const integers& layer) {
    return layer(x, causal);
  }
  static bool step(key_value_cache<block, key<Tokens>>& past, const weights& w, one& x) {
    return static_cast<bool>(past.step(x, block{w}, x));
  }
  static constexpr auto text = describe<block, token<Tokens>>();
  static constexpr formula loss = [](auto x, const auto& w) {
    auto y = block{w}(x, causal);
    return mean<token, hidden>(y * y);
  };
  static float run(const tokens& x, const weights& w, weights& g) {
    constexpr gradient learn{loss};
    static workspace_for<decltype(learn), tokens, differentiated<weights>> work;
    return learn(x, with_gradient(w, g), work)();
  }
};

template <std::size_t Tokens, std::size_t HeadDim>
struct formula_of_25_operations {
  using queries = tensor<float, query<Tokens>, head_dim<HeadDim>>;
  using keys = tensor<float, key<Tokens>, head_dim<HeadDim>>;
  static constexpr formula attend = [](auto q, auto k, auto v, auto gate, auto table) {
    auto normed = [](auto x) { return x * rsqrt(mean<head_dim>(x * x) + 1e-6f); };
    auto s = contract<head_dim>(normed(q), normed(k) | silu) * rsqrt(float{HeadDim});
    s = 30 * tanh(s / 30) + lookup(table, clamp(position<query> - position<key>, 0, 15));
    s = s - softplus(sum<head_dim>(gate)) * log(1 + abs(position<query> - position<key>));
    s = hide(s, position<key> > position<query> || position<key> + 64 < position<query>);
    auto far = where(position<key> % 2 == 0, exp(s - max<key>(s)), 0);
    auto w = far / maximum(sum<key>(far), 1e-6f);
    auto y = contract<key>(w, v | roll<head_dim, 1>) * sigmoid(gate | gelu_tanh);
    return y + sqrt(abs(y)) * sin(y) + minimum(y, pow(y, 2)) * erf(y) + (y | elu);
  };
  using table = tensor<float, classes<16>>;
  static void run(queries& out, const queries& q, const keys& k, const keys& v, const queries& gate,
                  const table& by_distance) {
    static workspace_for<decltype(attend), queries, keys, keys, queries, table> work;
    attend.into(out, q, k, v, gate, by_distance, work);
  }
};

}  // namespace compile_cost
