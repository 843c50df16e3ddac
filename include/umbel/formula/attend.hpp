// SPDX-License-Identifier: BSL-1.0
// The step contract<key>(softmax<key>(f(contract<head_dim>(q, k))), v) by the attention kernels: f
// is a score policy (kernel/scores.hpp), and no scores are stored. The kernels' scores are in units
// of log2, so f is rewritten in the graph:
//
//   scores * number              the kernel's factor of the queries
//   ... + b                      b log2(e) is added, one fma each
//   hide(..., condition)         hidden keys; those hidden by comparisons of positions are not read
//   any other f                  f itself, times log2(e)
#pragma once

#include <umbel/attention/attend_heads.hpp>
#include <umbel/config.hpp>
#include <umbel/formula/changed_scores.hpp>
#include <umbel/formula/key_ranges.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Options for the kernels' heads_of_sequence: only a factor.
template <class Run, int Root>
struct formula_scoring {
  using empty = zero_weights;
  static constexpr bool only_scales = true;
  template <class T>
  static constexpr T scale(std::size_t) noexcept {
    // exp2_factor turns this into the factor.
    return attention_of<Run, Root>::form.factor;
  }
  template <class T, class Policy>
  static constexpr const Policy& with(const Policy& policy) noexcept {
    return policy;
  }
};

// The score policies for the heads of a sequence.
template <class Run, int Root>
struct formula_mask {
  using of = attention_of<Run, Root>;
  static constexpr bool same_length_for_heads =
      of::loops.rank == 0 || of::length.axes.stride_of(of::loops.family[of::loops.rank - 1]) == 0;
  const Run& run;
  std::size_t* index;

  constexpr auto operator()(std::size_t head) const noexcept {
    if constexpr (of::loops.rank != 0) index[of::loops.rank - 1] = head;
    using changed = changed_scores<Run, Root>;
    const key_ranges<Run, of> ranges{run, index};
    if constexpr (changed::changes || changed::selects)
      return unobserved(ranges.with(changed{run, index}));
    else
      return unobserved(ranges.with());
  }

 private:
  template <class Policy>
  static constexpr auto unobserved(const Policy& policy) noexcept {
    return head_mask<Policy, no_observer>{policy, {}};
  }
};

template <class Run, int Root, int To>
struct attend_step {
  using T = typename Run::value_type;
  using of = attention_of<Run, Root>;
  static constexpr const attention_parts& parts = of::parts;
  static constexpr axis_list out = [] {
    if constexpr (To == Root)
      return Run::template axes_of<To>();
    else
      return Run::value.written_for(Run::value.at(To).from[0], Run::template axes_of<To>());
  }();
  static constexpr kernel::attend_shape shape = {.queries = of::queries,
                                                 .keys = of::keys,
                                                 .head_dim = parts.q.axes.size_of(parts.head_dim),
                                                 .value_dim = parts.v.axes.size_of(parts.value_dim),
                                                 .q_row = parts.q.axes.stride_of(parts.query),
                                                 .q_dim = parts.q.axes.stride_of(parts.head_dim),
                                                 .k_row = parts.k.axes.stride_of(parts.key),
                                                 .k_dim = parts.k.axes.stride_of(parts.head_dim),
                                                 .v_row = parts.v.axes.stride_of(parts.key),
                                                 .v_dim = parts.v.axes.stride_of(parts.value_dim),
                                                 .o_row = out.stride_of(parts.query),
                                                 .o_dim = out.stride_of(parts.value_dim),
                                                 .o_room = of::queries};
  static constexpr bool has_heads = of::loops.rank != 0;
  static constexpr std::size_t last = has_heads ? of::loops.rank - 1 : 0;
  static constexpr std::size_t outer = last;  // loops around heads_of_sequence
  static constexpr auto of_head(const axis_list& axes) {
    return has_heads ? axes.stride_of(of::loops.family[last]) : 0;
  }
  static constexpr kernel::heads_shape heads = {.heads = has_heads ? of::loops.size[last] : 1,
                                                .share = 1,
                                                .q_head = of_head(parts.q.axes),
                                                .k_head = of_head(parts.k.axes),
                                                .v_head = of_head(parts.v.axes),
                                                .o_head = of_head(out)};
  // For a result with any strides: queries that are not adjacent need most.
  static constexpr std::size_t scratch = [] {
    constexpr kernel::attend_shape apart = [] {
      kernel::attend_shape made = shape;
      made.o_row = 2;
      return made;
    }();
    return kernel::attend_scratch<apart, T>;
  }();

  // Strides of a sequence along the outer axes.
  struct strides {
    std::size_t stride[most_axes]{};
    constexpr explicit strides(const axis_list& axes) noexcept {
      for (std::size_t a = 0; a < outer; ++a) stride[a] = axes.stride_of(of::loops.family[a]);
    }
    constexpr std::size_t operator()(const std::size_t* index) const noexcept {
      std::size_t at = 0;
      for (std::size_t a = 0; a < outer; ++a) at += index[a] * stride[a];
      return at;
    }
  };
  template <bool Plain>
  static constexpr void write(const Run& run, T* to, T* room) noexcept {
    const T* const queries = run.template memory<parts.q.node>() + parts.q.offset;
    const T* const keys = run.template memory<parts.k.node>() + parts.k.offset;
    const T* const values = run.template memory<parts.v.node>() + parts.v.offset;
    constexpr strides of_q(parts.q.axes), of_k(parts.k.axes), of_v(parts.v.axes), of_o(out);
    std::size_t index[most_axes]{};
    for (std::size_t axis = outer + 1; axis != 0;) {
      const T *const q = queries + of_q(index), *const k = keys + of_k(index),
                     *const v = values + of_v(index);
      T* const o = to + of_o(index);
      const formula_mask<Run, Root> mask{run, index};
      if constexpr (Plain)
        for (std::size_t h = 0; h < heads.heads; ++h)
          kernel::plain::attend<shape>(q + h * heads.q_head, k + h * heads.k_head,
                                       v + h * heads.v_head, of::form.factor, mask(h).policy,
                                       o + h * heads.o_head);
      else
        heads_of_sequence<shape, heads, T, formula_scoring<Run, Root>>::attend(q, k, v, o, room,
                                                                               mask);
      // The next sequence, the last axis first; 0: no more.
      for (axis = outer; axis != 0 && ++index[axis - 1] == of::loops.size[axis - 1]; --axis)
        index[axis - 1] = 0;
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
