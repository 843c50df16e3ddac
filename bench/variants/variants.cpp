// SPDX-License-Identifier: BSL-1.0
// The formulas of examples/variants, each for (batch 1, 4 heads, 64 tokens, head_dim 16) and (1, 8,
// 128, 32), one line each: name, heads, tokens, head_dim, us, percent of the FMA peak, bytes of
// workspace. tools/bench variants runs it (run.py), beside PyTorch.
#include <cmath>
#include <cstdio>

#include "../../examples/variants/01_qk_norm.hpp"
#include "../../examples/variants/02_softcap.hpp"
#include "../../examples/variants/03_cosine.hpp"
#include "../../examples/variants/04_relative_buckets.hpp"
#include "../../examples/variants/05_alibi_window.hpp"
#include "../../examples/variants/06_sigmoid.hpp"
#include "../../examples/variants/07_sinks.hpp"
#include "../../examples/variants/08_gated_output.hpp"
#include "../../examples/variants/09_differential.hpp"
#include "../../examples/variants/10_talking_heads.hpp"
#include "../../examples/variants/11_linear.hpp"
#include "../../examples/variants/12_latent.hpp"
#include "../../examples/variants/13_retention.hpp"
#include "../../examples/variants/14_forgetting.hpp"
#include "../../examples/variants/15_stick_breaking.hpp"
#include "../../examples/variants/16_top_k.hpp"
#include "../../examples/variants/17_neighborhood.hpp"
#include "../../examples/variants/18_shifted_windows.hpp"
#include "../../examples/variants/19_disentangled.hpp"
#include "../../examples/variants/20_cos_former.hpp"
#include "../../examples/variants/21_global_window.hpp"
#include "../../examples/variants/22_block_sparse.hpp"
#include "../../examples/variants/23_axial.hpp"
#include "../../examples/variants/24_random_features.hpp"
#include "../../examples/variants/25_selected_blocks.hpp"
#include "../../examples/variants/26_dilated.hpp"
#include "../../examples/variants/27_documents.hpp"
#include "../../examples/variants/28_interpolated_biases.hpp"
#include "../../examples/variants/29_gated_linear.hpp"
#include "../core.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;

constexpr formula attention = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k) * rsqrt(float(q.template extent<head_dim>));
  return contract<key>(softmax<key>(scores), v);
};

// Seconds of f, the least of many.
template <class F>
double seconds(F f) {
  f();
  double best = 1;
  for (int round = 0; round < 15; ++round) {
    const double start = bench::thread_seconds();
    for (int i = 0; i < 20; ++i) {
      f();
      __asm__ volatile("" : : : "memory");
    }
    const double each = (bench::thread_seconds() - start) / 20;
    best = each < best ? each : best;
  }
  return best;
}

template <std::size_t Heads, std::size_t Tokens, std::size_t Width>
struct shape {
  using queries = tensor<float, batch<1>, heads<Heads>, query<Tokens>, head_dim<Width>>;
  using keys = tensor<float, batch<1>, heads<Heads>, key<Tokens>, head_dim<Width>>;
  using wide_values = tensor<float, batch<1>, heads<Heads>, key<Tokens>, value_dim<2 * Width>>;

  // flops: of the multiply-adds of products; what is hidden is none.
  template <class F, class... X>
  static void row(const char* name, double flops, const F& f, const X&... x) {
    static workspace_for<F, X...> work;
    static decltype(f(x...)) out;
    const double before = bench::fma_peak();
    const double taken = seconds([&] { f.into(out, x..., work); });
    const double peak = (before + bench::fma_peak()) / 2;
    std::printf("%s\t%zu\t%zu\t%zu\t%.4f\t%.2f\t%zu\n", name, Heads, Tokens, Width, taken * 1e6,
                flops / taken * 1e-7 / peak, sizeof work);
  }
  template <class X>
  static X& filled(float scale = 2) {
    static X x;
    bench::fill(x, scale);
    return x;
  }

  static void rows() {
    static const queries q = filled<queries>(), q2 = filled<queries>();
    static const keys k = filled<keys>(), k2 = filled<keys>(), v = filled<keys>();
    const auto gain = filled<tensor<float, head_dim<Width>>>(1);
    const auto by_head = filled<tensor<float, heads<Heads>>>(1);
    static const auto biases = filled<tensor<float, heads<Heads>, query<Tokens>, key<Tokens>>>(1);
    constexpr double pairs = Heads * Tokens * Tokens, products = 4 * pairs * Width;

    row("attention", products, attention, q, k, v);
    row("qk_norm", products, variants::qk_norm, q, k, v, gain, gain);
    row("softcapped", products, variants::softcapped, q, k, v);
    row("cosine", products, variants::cosine, q, k, v, by_head, biases);
    row("relative_buckets", products, variants::relative_buckets, q, k, v, biases);
    row("alibi_window", 4.0 * Heads * (8 * Tokens - 28) * Width, variants::alibi_window, q, k, v,
        by_head);
    row("sigmoid_attention", products, variants::sigmoid_attention, q, k, v,
        -std::log(static_cast<float>(Tokens)));
    constexpr tensor<float, batch<1>, heads<Heads>, key<1>, head_dim<Width>> none{};
    row("sink_logits", products, variants::sink_logits, q, k, v, none, by_head);

    constexpr std::size_t features = Heads * Width;
    static const auto x = filled<tensor<float, batch<1>, query<Tokens>, hidden<features>>>(1);
    static const auto w_gate =
        filled<tensor<float, hidden<features>, heads<Heads>, head_dim<Width>>>(0.2f);
    row("gated_output", products + 2.0 * Tokens * features * features, variants::gated_output, q, k,
        v, x, w_gate);

    static const auto wide = filled<wide_values>();
    const auto wide_gain = filled<tensor<float, value_dim<2 * Width>>>(1);
    row("differential", 2 * products, variants::differential, q, k, q2, k2, wide, 0.5f, wide_gain);

    const auto p_l = filled<tensor<float, variants::talker<Heads>, heads<Heads>>>(1);
    const auto p_w = filled<tensor<float, heads<Heads>, variants::talker<Heads>>>(1);
    row("talking_heads", products + 4 * pairs * Heads, variants::talking_heads, q, k, v, p_l, p_w);
    row("linear_attention", products / Tokens * (Width + 0.5), variants::linear_attention, q, k,
        v | rename_axis<head_dim, value_dim>);

    using variants::latent, variants::rope_dim;
    constexpr std::size_t rank = 2 * Width, rotated = Width / 2;
    static const auto q_rope =
        filled<tensor<float, batch<1>, heads<Heads>, query<Tokens>, rope_dim<rotated>>>();
    static const auto k_rope = filled<tensor<float, batch<1>, key<Tokens>, rope_dim<rotated>>>();
    static const auto c = filled<tensor<float, batch<1>, key<Tokens>, latent<rank>>>(1);
    static const auto w_k =
        filled<tensor<float, latent<rank>, heads<Heads>, head_dim<Width>>>(0.5f);
    static const auto w_v =
        filled<tensor<float, latent<rank>, heads<Heads>, value_dim<Width>>>(0.5f);
    row("latent_attention", products + 2 * pairs * rotated + 4.0 * Tokens * rank * features,
        variants::latent_attention, q, q_rope, c, k_rope, w_k, w_v);

    constexpr double up_to_query = products * (Tokens + 1) / (2 * Tokens);
    const auto gamma = filled<tensor<float, heads<Heads>>>(0.05f) + 0.9f;
    const auto gate = filled<tensor<float, batch<1>, heads<Heads>, key<Tokens>>>() + 2.0f;
    row("retention", up_to_query, variants::retention, q, k, v, gamma);
    row("forgetting", up_to_query, variants::forgetting, q, k, v, gate);
    row("stick_breaking", products * (Tokens - 1) / (2 * Tokens), variants::stick_breaking, q, k,
        v);
    row("top_k", products, variants::top_k, q, k, v);
    row("neighborhood", products * 5 / Tokens, variants::neighborhood, q, k, v);

    constexpr std::size_t side = Tokens < 121 ? 8 : 11, window = side * side;
    static const auto q_w =
        filled<tensor<float, batch<1>, heads<Heads>, query<window>, head_dim<Width>>>();
    static const auto k_w =
        filled<tensor<float, batch<1>, heads<Heads>, key<window>, head_dim<Width>>>();
    const auto table =
        filled<tensor<float, variants::offset<(2 * side - 1) * (2 * side - 1)>, heads<Heads>>>(1);
    row("shifted_windows", products * window / Tokens * window / Tokens,
        variants::shifted_windows<side>, q_w, k_w, k_w, table);
    static const auto by_distance =
        filled<tensor<float, heads<Heads>, variants::bucket_of_distance<8>, head_dim<Width>>>(1);
    row("disentangled", products + 32.0 * Heads * Tokens * Width, variants::disentangled, q, k, v,
        by_distance, by_distance);
    row("cos_former", 8.0 * Heads * Tokens * Width * Width, variants::cos_former, q, k,
        v | rename_axis<head_dim, value_dim>);
    row("global_window", products, variants::global_window, q, k, v);
    tensor<bool, query<8>, key<8>> seen{};
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 8; ++j)
        seen(i, j) = i == 0 || j == 0 || i + 1 == j || i == j || i == j + 1 || (3 * i + j) % 4 == 0;
    row("block_sparse", products, variants::block_sparse, q, k, v, seen);
    using grid = tensor<float, batch<1>, heads<Heads>, variants::row<4>,
                        variants::column<Tokens / 4>, head_dim<Width>>;
    static const auto x_g = filled<grid>();
    row("axial", products / 4, variants::axial, x_g, x_g, x_g);
    const auto w = filled<tensor<float, variants::feature<2 * Width>, head_dim<Width>>>(1);
    row("random_features", 16.0 * Heads * Tokens * Width * Width, variants::random_features, q, k,
        v | rename_axis<head_dim, value_dim>, w);
    row("selected_blocks", products + 16.0 * Heads * Tokens * Width, variants::selected_blocks<8>,
        q, k, v);
    row("dilated", 4.0 * Heads * (5 * Tokens - 18) * Width, variants::dilated, q, k, v);
    tensor<int, batch<1>, token<Tokens>> documents{};
    for (std::size_t i = 0; i < Tokens; ++i)
      documents(0, i) = 10 * i < 4 * Tokens ? 0 : 10 * i < 6 * Tokens ? 1 : 2;
    row("packed_documents", up_to_query, variants::packed_documents, q, k, v, documents);
    const auto of_units = filled<tensor<float, variants::unit<32>>>(1);
    const auto to_heads = filled<tensor<float, variants::unit<32>, heads<Heads>>>(1);
    row("interpolated_biases", up_to_query + 2 * 32 * pairs, variants::interpolated_biases, q, k, v,
        0.5f, 4.0f, of_units, of_units, to_heads);
    row("gated_linear", up_to_query, variants::gated_linear, q, k, v, k);
  }
};

}  // namespace

int main() {
  shape<4, 64, 16>::rows();
  shape<8, 128, 32>::rows();
}
