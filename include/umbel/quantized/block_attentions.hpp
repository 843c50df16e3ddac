// SPDX-License-Identifier: BSL-1.0
// The attentions of a block in integers to all positions of one sequence and of its memory. See
// block_numbers.hpp for the other parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/mask/base.hpp>
#include <umbel/quantized/block_numbers.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// The attentions of a whole pass. self_mask, mask: as_mask of the sequence and of its memory.
template <class Block, std::size_t Batch, std::size_t N, std::size_t M, class SelfMask, class Mask>
struct attentions_of_pass {
  const std::int8_t* memory;
  const SelfMask& self_mask;
  const Mask& mask;
  std::size_t sequence;

  static constexpr bool by_rows = SelfMask::counts_rows || Mask::counts_rows;
  constexpr std::size_t rows() const noexcept
    requires by_rows
  {
    return rows_present<N, M>(self_mask, mask, sequence).queries;
  }
  template <std::size_t I, class Numbers, class Y, class Finish, class Work>
  constexpr void run(const Numbers& numbers, const std::int8_t* from, Y* to, const Finish& finish,
                     Work& work) const noexcept {
    constexpr event e = Block::template event_at<I>;
    auto& scratch = residual::start<e.number>(work.parts);
    auto& of_head = head_of_part<e.number>(work.input.heads);
    if constexpr (e.sees == reads::sequence && SelfMask::counts_rows)
      numbers.template attend<N, N>(from, from, from, self_mask_at<Numbers>(), to, finish, scratch,
                                    of_head, rows_present<N, N>(self_mask, self_mask, sequence));
    else if constexpr (e.sees == reads::sequence)
      numbers.template attend<N, N>(from, from, from, self_mask_at<Numbers>(), to, finish, scratch,
                                    of_head);
    else if constexpr (by_rows)
      numbers.template attend<N, M>(from, memory, memory, mask_at<Numbers>(), to, finish, scratch,
                                    of_head, rows_present<N, M>(self_mask, mask, sequence));
    else
      numbers.template attend<N, M>(from, memory, memory, mask_at<Numbers>(), to, finish, scratch,
                                    of_head);
  }
  template <std::size_t I, class Numbers, class Y, class Finish, class Given>
  void run_in_parts(const Numbers& numbers, const std::int8_t* from, Y* to, const Finish& finish,
                    const Given& given) const noexcept {
    constexpr event e = Block::template event_at<I>;
    const auto of_head = [&](std::size_t worker) -> auto& {
      return head_of_part<e.number>(given.work[worker].input.heads);
    };
    const residual::workers_at<e.number, Given> workers{given};
    if constexpr (e.sees == reads::sequence)
      numbers.template attend_in_parts<N, N>(from, from, from, self_mask_at<Numbers>(), to, finish,
                                             workers, of_head);
    else
      numbers.template attend_in_parts<N, M>(from, memory, memory, mask_at<Numbers>(), to, finish,
                                             workers, of_head);
  }

 private:
  template <class Numbers>
  constexpr auto self_mask_at() const noexcept {
    return at_sequence<scores_of<float, Batch, Numbers::sizes.heads, N, N>>(self_mask, sequence);
  }
  template <class Numbers>
  constexpr auto mask_at() const noexcept {
    return at_sequence<scores_of<float, Batch, Numbers::sizes.heads, N, M>>(mask, sequence);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
