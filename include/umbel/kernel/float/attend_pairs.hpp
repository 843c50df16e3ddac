// SPDX-License-Identifier: BSL-1.0
// Heads with one vector of queries and few more keys, two at a time, stage by stage: each hides the
// other's waits for maximum, exponentials and sum. Each is computed as in attend_block.hpp, in
// separate scratch. It doesn't support masks.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/float/attend_heads.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::kernel {

namespace detail {

template <attend_shape S, heads_shape H, class T, plan::target Target>
struct attend_pairs {
  using block = attend_block<S, T, Target, 1, true>;
  static constexpr bool fits = H.heads > 1 && pairs_fit<S, T, Target>;

  struct head {
    const T* q;
    const T* k;
    const T* v;
    T* o;
  };

  UMBEL_NOINLINE static void two(const head (&heads)[2], T factor, T* scratch) noexcept {
    constexpr std::size_t apart = block::scratch_size;
    const typename block::room here{S.queries, S.o_row == 1 ? S.o_room : S.queries};
    typename block::softmax_state state[2];
    typename block::V maximum[2][1];
    for (std::size_t i = 0; i < 2; ++i) {
      block::start(heads[i].q, factor, scratch + i * apart, here, state[i]);
      maximum[i][0] = state[i].maximum[0];
    }
    for (std::size_t i = 0; i < 2; ++i)
      block::template score_block<true, S.keys>(heads[i].k, S.keys, scratch + i * apart,
                                                maximum[i]);
    for (std::size_t i = 0; i < 2; ++i) {
      T* const own = scratch + i * apart;
      block::finish_block(heads[i].v, S.keys, maximum[i], true, true, state[i], heads[i].o, own,
                          here);
      block::write(heads[i].o, own, here);
    }
  }
};

}  // namespace detail

// Can attend_pairs compute these?
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
inline constexpr bool pairs_fit_heads = detail::attend_pairs<S, H, T, Target>::fits;

// softmax(scale q k^T) v for every head, each with the bits of plain::attend. q, k, v, o: head 0's;
// scratch: attend_scratch elements.
template <attend_shape S, heads_shape H, class T, plan::target Target = plan::native_target>
UMBEL_INLINE void attend_pairs(const T* q, const T* k, const T* v, T scale, T* o,
                               T* scratch) noexcept {
  using pairs = detail::attend_pairs<S, H, T, Target>;
  const auto head = [&](std::size_t h) {
    return typename pairs::head{q + h * H.q_head, k + h / H.share * H.k_head,
                                v + h / H.share * H.v_head, o + h * H.o_head};
  };
  for (std::size_t h = 0; h + 2 <= H.heads; h += 2)
    pairs::two({head(h), head(h + 1)}, exp2_factor(scale), scratch);
  if constexpr (H.heads % 2 != 0) {
    const auto last = head(H.heads - 1);
    attend<S, T, Target>(last.q, last.k, last.v, scale, scores::every_key{}, last.o, scratch);
  }
}

}  // namespace umbel::inline UMBEL_TARGET::detail::kernel
UMBEL_WARNINGS_POP
