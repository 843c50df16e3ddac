// SPDX-License-Identifier: BSL-1.0
// Attention alone, softmax(q k^T / sqrt(head_dim)) v, on heads that lie one after another:
// batch,heads,queries,keys,head_dim. 4 batch heads queries keys head_dim operations; the softmax is
// not counted.
#include <umbel/kernel/float/attend_form.hpp>

#include "../measure.hpp"

namespace {

namespace scores = umbel::detail::kernel::scores;

// visible: pairs of a query and a key that see each other, of one head; what a mask hides is no
// operation.
template <std::size_t Batch, std::size_t Heads, std::size_t Queries, std::size_t Keys,
          std::size_t HeadDim,
          umbel::detail::kernel::tap_stage Tapped = umbel::detail::kernel::tap_stage::none,
          class Policy = scores::every_key>
void add(const char* family = "attend/", const Policy& policy = {},
         std::size_t visible = Queries * Keys) {
  constexpr std::size_t sequences = Batch * Heads;
  static constexpr umbel::detail::kernel::attend_shape shape = {
      Queries, Keys, HeadDim, HeadDim, HeadDim, 1, HeadDim, 1, HeadDim, 1, HeadDim, 1, Queries};
  alignas(64) static float q[sequences * Queries * HeadDim], k[sequences * Keys * HeadDim];
  alignas(64) static float v[sequences * Keys * HeadDim], o[sequences * Queries * HeadDim];
  alignas(64) static float scratch[umbel::detail::kernel::attend_scratch<shape, float>];
  constexpr bool taps = Tapped != umbel::detail::kernel::tap_stage::none;
  alignas(64) static float tapped[taps ? sequences * Queries * Keys : 1];
  bench::fill(q, 1.5f);
  bench::fill(k, 1.5f);
  bench::fill(v, 1);
  const float scale = umbel::detail::simd::rsqrt(static_cast<float>(HeadDim));
  const std::string name = bench::row_name(family, {Batch, Heads, Queries, Keys, HeadDim}, ',');
  // Few queries: several heads at a time, as the layers do.
  static constexpr umbel::detail::kernel::heads_shape heads = {
      sequences, 1, Queries * HeadDim, Keys * HeadDim, Keys * HeadDim, Queries * HeadDim};
  using umbel::detail::plan::attend_form, umbel::detail::plan::seen_keys;
  constexpr seen_keys seen =
      !taps && std::is_same_v<Policy, scores::every_key> ? seen_keys::all : seen_keys::any;
  constexpr attend_form form = umbel::detail::kernel::attend_form_of<shape, heads, float, seen>;
  bench::add_row(name, 4.0 * sequences * HeadDim * static_cast<double>(visible), [=] {
    if constexpr (form == attend_form::keys_in_lanes) {
      umbel::detail::kernel::attend_each<shape, heads>(q, k, v, scale, 0, Keys, o, scratch);
      return;
    } else if constexpr (form == attend_form::heads_in_lanes) {
      umbel::detail::kernel::attend_heads<shape, heads>(q, k, v, scale, Keys, o, scratch);
      return;
    } else if constexpr (form == attend_form::heads_in_pairs) {
      umbel::detail::kernel::attend_pairs<shape, heads>(q, k, v, scale, o, scratch);
      return;
    }
    for (std::size_t s = 0; s < sequences; ++s) {
      const float* const of_q = q + s * Queries * HeadDim;
      const float* const of_k = k + s * Keys * HeadDim;
      const float* const of_v = v + s * Keys * HeadDim;
      float* const of_o = o + s * Queries * HeadDim;
      if constexpr (taps) {
        const umbel::detail::kernel::tap<Tapped, float, Keys> tap{tapped + s * Queries * Keys};
        umbel::detail::kernel::attend<shape>(of_q, of_k, of_v, scale, policy, of_o, scratch, tap);
      } else {
        umbel::detail::kernel::attend<shape>(of_q, of_k, of_v, scale, policy, of_o, scratch);
      }
    }
  });
}

template <std::size_t Batch, std::size_t Heads, std::size_t Tokens, std::size_t HeadDim>
void add_masked() {
  static unsigned char mask[Tokens * Tokens];
  static float bias[Tokens * Tokens];
  constexpr std::size_t pairs = Tokens * Tokens, left = Tokens / 8;
  std::size_t flags = 0, window = 0;
  for (std::size_t i = 0; i < Tokens; ++i) {
    for (std::size_t j = 0; j < Tokens; ++j) {
      mask[i * Tokens + j] = (i * 7 + j * 13) % 5 != 0;
      flags += mask[i * Tokens + j];
      window += j <= i && j + left >= i;
    }
  }
  bench::fill(bias, 1);
  const unsigned char* const at = mask;
  const auto add_one = [](const char* family, const auto& policy, std::size_t visible) {
    add<Batch, Heads, Tokens, Tokens, HeadDim>(family, policy, visible);
  };
  add_one("attend/causal/", scores::causal{}, Tokens * (Tokens + 1) / 2);
  add_one("attend/window/", scores::window{left, 0}, window);
  add_one("attend/kept_rows/", scores::kept(at, Tokens, 1), flags);
  add_one("attend/kept_columns/", scores::kept(at, 1, Tokens), flags);
  add_one("attend/kept_keys/", scores::kept(at, 0, 1), pairs / 5 * 4);
  const float* const from = bias;
  add_one("attend/added_rows/", scores::added(from, Tokens, 1), pairs);
  add_one("attend/alibi/", scores::all_of(scores::alibi{0.0625f}, scores::causal{}),
          Tokens * (Tokens + 1) / 2);
  add_one("attend/softcap/", scores::softcap{30.0f}, pairs);
  add_one("attend/dropout/", scores::dropout(1, 2, 0.1f), pairs);
}

const bool added = [] {
  add<1, 4, 16, 16, 8>();
  add<2, 5, 4, 6, 20>();
  add<1, 8, 32, 32, 8>();
  add<1, 4, 64, 64, 16>();
  add<1, 8, 128, 128, 32>();
  add<1, 12, 128, 128, 32>();
  add<1, 3, 197, 197, 64>();
  add<1, 8, 512, 512, 64>();
  add<1, 8, 1, 512, 64>();
  add<1, 12, 1, 128, 32>();
  add<1, 8, 1, 32, 8>();
  add<2, 5, 1, 6, 20>();
  add<1, 1, 1, 32, 64>();  // keys and values in the first-level cache, and in the second
  add<1, 1, 1, 512, 64>();
  constexpr auto weights = umbel::detail::kernel::tap_stage::weights;
  add<1, 4, 64, 64, 16, weights>("attend/weights/");
  add<1, 8, 128, 128, 32, weights>("attend/weights/");
  add<1, 8, 512, 512, 64, weights>("attend/weights/");
  add_masked<1, 8, 512, 64>();
  add_masked<1, 8, 128, 32>();
  return true;
}();

}  // namespace
