// SPDX-License-Identifier: BSL-1.0
// The gradients of attention, of all heads of a sequence that lie side by side:
// tokens,hidden,heads. Five products where the forward pass has two: 10 tokens tokens hidden
// operations. And the forward pass that keeps what they need, of 4, beside the one that does not
// (bench/kernel/attend.cpp).
#include <umbel/kernel/backward/attend.hpp>

#include "../measure.hpp"

namespace {

namespace kernel = umbel::detail::kernel;
namespace scores = umbel::detail::kernel::scores;

// seen: pairs of a query and a key that see each other, of one head.
template <std::size_t Tokens, std::size_t Hidden, std::size_t Heads,
          class Policy = scores::every_key>
void add(const char* family = "", const Policy& policy = {}, std::size_t seen = Tokens * Tokens) {
  constexpr std::size_t dims = Hidden / Heads, all = Tokens * Hidden;
  static constexpr kernel::attend_shape forward = {
      Tokens, Tokens, dims, dims, Hidden, 1, Hidden, 1, Hidden, 1, Hidden, 1, Tokens};
  static constexpr kernel::attend_backward_shape backward = {
      Tokens, Tokens, dims, dims, Hidden, Hidden, Hidden, Hidden, Hidden, Hidden, Hidden, Hidden};
  using keep = kernel::attend_kept<forward, float>;
  using gradients = kernel::attend_backward<backward, float>;
  alignas(64) static float q[all], k[all], v[all], o[all], d_o[all], dq[all], dk[all], dv[all];
  alignas(64) static float maximum[Heads * Tokens], inverse[Heads * Tokens];
  alignas(64) static float scratch[keep::scratch_size + gradients::scratch_size];
  bench::fill(q, 1.5f);
  bench::fill(k, 1.5f);
  bench::fill(v, 1);
  bench::fill(d_o, 1);
  const float scale = umbel::detail::simd::rsqrt(static_cast<float>(dims));
  const double pairs = static_cast<double>(seen * Hidden);
  const auto name = [&](const char* what) {
    const std::string group = std::string(what) + "/" + family;
    return bench::row_name(group.c_str(), {Tokens, Hidden, Heads}, ',');
  };
  const auto run_forward = [=] {
    for (std::size_t h = 0; h < Heads; ++h) {
      const std::size_t at = h * dims, row = h * Tokens;
      keep::run(q + at, k + at, v + at, scale, policy, o + at, maximum + row, inverse + row,
                scratch);
    }
  };
  run_forward();
  bench::add_row(name("attend_kept"), 4 * pairs, run_forward);
  bench::add_row(name("attend_backward"), 10 * pairs, [=] {
    for (std::size_t h = 0; h < Heads; ++h) {
      const std::size_t at = h * dims, row = h * Tokens;
      gradients::run(q + at, k + at, v + at, o + at, d_o + at, scale, policy, maximum + row,
                     inverse + row, dq + at, dk + at, dv + at, nullptr, scratch);
    }
  });
}

const bool added = [] {
  add<16, 32, 2>();
  add<49, 32, 4>();
  add<64, 64, 4>();
  add<128, 256, 8>();
  add<128, 256, 8>("causal/", scores::causal{}, 128 * 129 / 2);
  add<128, 256, 8>("softcap/", scores::softcap{30.0f});
  add<128, 256, 8>("dropout/", scores::dropout(1, 2, 0.1f));
  return true;
}();

}  // namespace
