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

// The attentions of a whole pass.
template <class Block, std::size_t Batch, std::size_t N, std::size_t M, class ToSelf, class Mask>
struct attentions_of_pass : residual::masks_of_pass<N, M, ToSelf, Mask> {
  using masks = residual::masks_of_pass<N, M, ToSelf, Mask>;
  const std::int8_t* memory;

  template <std::size_t I, class Numbers, class Y, class Finish, class Work>
  constexpr void run(const Numbers& numbers, const std::int8_t* from, Y* to, const Finish& finish,
                     Work& work) const noexcept {
    constexpr event e = Block::template event_at<I>;
    constexpr bool of_itself = e.sees == reads::sequence;
    constexpr std::size_t keys = of_itself ? N : M;
    auto& scratch = residual::start<e.number>(work.parts);
    auto& of_head = head_of_part<e.number>(work.input.heads);
    const std::int8_t* const x = of_itself ? from : memory;
    const auto on = at<Numbers, of_itself>();
    if constexpr (masks::template leaves_out<of_itself>)
      numbers.template attend<N, keys>(from, x, x, on, to, finish, scratch, of_head,
                                       this->template rows_of_keys<of_itself>());
    else
      numbers.template attend<N, keys>(from, x, x, on, to, finish, scratch, of_head);
  }
  template <std::size_t I, class Numbers, class Y, class Finish, class Given>
  void run_in_parts(const Numbers& numbers, const std::int8_t* from, Y* to, const Finish& finish,
                    const Given& given) const noexcept {
    constexpr event e = Block::template event_at<I>;
    const auto of_head = [&](std::size_t worker) -> auto& {
      return head_of_part<e.number>(given.work[worker].input.heads);
    };
    const residual::workers_at<e.number, Given> workers{given};
    constexpr bool of_itself = e.sees == reads::sequence;
    const std::int8_t* const x = of_itself ? from : memory;
    numbers.template attend_in_parts<N, of_itself ? N : M>(
        from, x, x, at<Numbers, of_itself>(), to, finish, workers, of_head,
        this->template rows_of_keys<of_itself>());
  }

 private:
  template <class Numbers, bool OfItself>
  constexpr auto at() const noexcept {
    return at_sequence<scores_of<float, Batch, Numbers::sizes.heads, N, OfItself ? N : M>>(
        this->template of_keys<OfItself>(), this->sequence);
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers
UMBEL_WARNINGS_POP
