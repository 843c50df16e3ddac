// SPDX-License-Identifier: BSL-1.0
// One pass over the elements of a stored node: an elementwise program from memory to memory, or in
// place over a product that was just written there (product.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/formula/linear_form.hpp>
#include <umbel/formula/program.hpp>
#include <umbel/plan/target.hpp>
#include <umbel/simd/int8.hpp>
#include <umbel/simd/row_ends.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// Axes that are contiguous in all operands and the result become one loop. The last, adjacent in
// the result, is in the lanes. known: a node with the result's layout.
template <class T, std::size_t Nodes>
constexpr axis_list loops_of(const schedule<T, Nodes>& p, const node_list<Nodes>& list,
                             const axis_list& out, int known) {
  axis_list loops;
  for (std::size_t i = 0; i < out.rank; ++i) {
    if (out.size[i] == 1) continue;
    std::size_t at = loops.rank++;
    for (; at > 0 && loops.stride[at - 1] < out.stride[i]; --at) loops.set(at, loops, at - 1);
    loops.set(at, out, i);
  }
  if (loops.rank == 0) {
    loops.push(0, 1, 1);
    return loops;
  }
  for (std::size_t i = loops.rank - 1; i-- > 0;) {
    const unsigned long long outer = loops.family[i], inner = loops.family[i + 1];
    // The innermost of already joined axes stands for all: it has the size of all.
    const auto in_a_run = [&](const axis_list& axes) {
      return axes.stride_of(outer) == axes.stride_of(inner) * loops.size[i + 1];
    };
    bool together = loops.stride[i] == loops.stride[i + 1] * loops.size[i + 1];
    for (std::size_t n = 0; n < list.count; ++n) {
      const node_of_graph<T>& node = p.at(list.nodes[n]);
      if (node.what == word::position && (node.family == outer || node.family == inner))
        together = false;
      for (std::size_t j = 0; j < node.operands; ++j)
        if (node.from[j].node != known && list.index(node.from[j].node) == npos)
          together = together && in_a_run(node.from[j].axes);
    }
    if (!together) continue;
    loops.size[i] *= loops.size[i + 1];
    loops.family[i] = inner;
    loops.stride[i] = loops.stride[i + 1];
    for (std::size_t j = i + 1; j + 1 < loops.rank; ++j) {
      loops.family[j] = loops.family[j + 1];
      loops.size[j] = loops.size[j + 1];
      loops.stride[j] = loops.stride[j + 1];
    }
    --loops.rank;
  }
  return loops;
}

// Flags, signed bytes, and integers of the size of a number.
template <class E, class T>
constexpr bool are_converted_together() noexcept {
  if constexpr (std::is_integral_v<E>)
    return sizeof(E) == sizeof(T) ||
           (sizeof(T) == 4 && (std::is_same_v<E, bool> || std::is_same_v<E, std::int8_t>));
  else
    return false;
}

// Loads `count` elements, `Stride` apart, as a pack, converted if needed. Lanes past them repeat
// the last: they raise no floating-point exceptions that the elements don't.
template <class V, std::size_t Stride, class E>
UMBEL_INLINE constexpr V load_apart(const E* from, std::size_t count) noexcept {
  using T = simd::element_of<V>;
  constexpr std::size_t lanes = simd::lanes_of<V>;
  if constexpr (lanes == 1 || Stride == 0) {
    return simd::broadcast<V>(static_cast<T>(*from));
  } else if constexpr (Stride == 1 && std::is_same_v<E, T>) {
    return count == lanes ? simd::load<V>(from)
                          : simd::keep_first(simd::load_first<V>(from, count), count,
                                             simd::broadcast<V>(from[count - 1]));
  } else {
    if constexpr (are_converted_together<E, T>() && Stride == 1)
      if (count == lanes && !__builtin_is_constant_evaluated()) {
        if constexpr (sizeof(E) == 1) {
          return simd::load<V>(reinterpret_cast<const std::int8_t*>(from));
        } else {
          simd::pack<E, lanes> all;
          __builtin_memcpy(&all, from, sizeof(all));
          return __builtin_convertvector(all, V);
        }
      }
    V value{};
    for (std::size_t i = 0; i < lanes; ++i)
      value[i] = static_cast<T>(from[(i < count ? i : count - 1) * Stride]);
    return value;
  }
}

// Loads `count` elements, Stride apart, which may be negative.
template <class V, std::ptrdiff_t Stride, class E>
UMBEL_INLINE constexpr V load_by(const E* from, std::size_t count) noexcept {
  using T = simd::element_of<V>;
  constexpr std::size_t lanes = simd::lanes_of<V>;
  if constexpr (Stride >= 0 || lanes == 1) {
    return load_apart<V, static_cast<std::size_t>(Stride >= 0 ? Stride : 0)>(from, count);
  } else {
    if constexpr (Stride == -1 && std::is_same_v<E, T>)
      if (count == lanes) return simd::reversed(simd::load<V>(from - (lanes - 1)));
    V value{};
    for (std::size_t i = 0; i < lanes; ++i)
      value[i] =
          static_cast<T>(from[static_cast<std::ptrdiff_t>(i < count ? i : count - 1) * Stride]);
    return value;
  }
}

// Elements of a table at positions, Stride apart: from those of the first element, whose lanes are
// Lane apart. 0 outside of the table's Size. OneForAll: all lanes have the same position.
template <std::size_t Size, std::size_t Stride, std::size_t Lane, bool OneForAll, class V, class E>
UMBEL_INLINE constexpr V load_at(const E* from, V at, std::size_t count) noexcept {
  using T = simd::element_of<V>;
  constexpr std::size_t lanes = simd::lanes_of<V>;
  const auto is_inside = kernel::scores::detail::and_masks(
      simd::less_equal(V{}, at), simd::less(at, simd::broadcast<V>(static_cast<T>(Size))));
  const V inside = simd::select(is_inside, at, V{});
  const auto offset = [&](std::size_t i) {
    using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    if constexpr (lanes == 1)
      return static_cast<std::size_t>(static_cast<integer>(inside)) * Stride;
    else
      return static_cast<std::size_t>(static_cast<integer>(inside[i])) * Stride;
  };
  if constexpr (lanes == 1 || OneForAll) {
    return simd::select(is_inside, load_apart<V, Lane>(from + offset(0), count), V{});
  } else {
    V value{};
    for (std::size_t i = 0; i < lanes; ++i)
      value[i] = static_cast<T>(from[offset(i) + (Lane == 0 || i < count ? i : count - 1) * Lane]);
    return simd::select(is_inside, value, V{});
  }
}

// Is it a step of a cache (next_positions.hpp), which knows positions?
template <class Run>
concept has_position = requires(const Run& run) { run.position; };

// Run: a class with its plan `value`, begin<N, J>(), the start of operand J of node N, and
// first_position<Family, Root>(), the start of that axis. Known: the node that lies where the
// result is written, or -1.
template <class Run, int Root, int To, int Known = -1>
struct elementwise_step {
  using T = typename Run::value_type;
  static constexpr auto list = program_of(Run::value, Root, Known);
  // The axes written; for a reduction, read.
  static constexpr axis_list axes = [] {
    constexpr const node_of_graph<T>& root = Run::value.at(Root);
    if constexpr (root.what == word::reduce)
      return Run::value.at(root.from[0].node).axes;
    else
      return Run::template axes_of<To>();
  }();
  static constexpr axis_list loops = loops_of(Run::value, list, axes, Known);

  template <class V>
  struct place {
    const Run& run;
    const std::size_t* index;  // of the outer loops
    std::size_t first, count;  // of the lanes

    static constexpr unsigned long long lane_family = loops.family[loops.rank - 1];
    template <int N, std::size_t J>
    static constexpr std::size_t stride = Run::value.at(N).from[J].axes.stride_of(lane_family);

    // How far apart does gather N read for neighboring lanes, if its positions are a line? 0: not.
    template <int N>
    static constexpr std::ptrdiff_t step_of_positions = [] {
      const node_of_graph<T>& node = Run::value.at(N);
      const linear_form form =
          linear_form_of(Run::value, node.from[1].node, [](unsigned long long family) {
            return linear_form{family == lane_family ? 1.0 : 0, family != lane_family ? 1.0 : 0, 0,
                               true};
          });
      const bool is_line = form.ok && form.exact && !form.is_clamped() &&
                           (form.key == 1 || form.key == -1) && node.gathered_stride == 1 &&
                           stride<N, 0> == 0;
      return is_line ? static_cast<std::ptrdiff_t>(form.key) : 0;
    }();

    template <int N, std::size_t J>
    UMBEL_INLINE constexpr auto memory_of() const noexcept {
      constexpr operand from = Run::value.at(N).from[J];
      std::size_t at = first * stride<N, J>;
      for (std::size_t i = 0; i + 1 < loops.rank; ++i)
        at += index[i] * from.axes.stride_of(loops.family[i]);
      return run.template begin<N, J>() + at;
    }
    template <int N, std::size_t J>
    UMBEL_INLINE constexpr V load() const noexcept {
      return load_apart<V, stride<N, J>>(memory_of<N, J>(), count);
    }
    template <int N>
    UMBEL_INLINE constexpr V gather(V at) const noexcept {
      constexpr node_of_graph<T> node = Run::value.at(N);
      constexpr bool differs = Run::value.g.differs_along(node.from[1], lane_family);
      constexpr std::ptrdiff_t step = step_of_positions<N>;
      if constexpr (simd::lanes_of<V> > 1 && (step == 1 || step == -1)) {
        const T least = at[step > 0 ? 0 : count - 1], most = at[step > 0 ? count - 1 : 0];
        if (least >= 0 && most < static_cast<T>(node.gathered))
          return load_by<V, step>(memory_of<N, 0>() + static_cast<std::size_t>(at[0]), count);
      }
      return load_at<node.gathered, node.gathered_stride, stride<N, 0>, !differs>(memory_of<N, 0>(),
                                                                                  at, count);
    }
    template <unsigned long long Family>
    UMBEL_INLINE constexpr V position() const noexcept {
      constexpr std::size_t at = loops.position(Family);
      const std::size_t begin = run.template first_position<Family, Root>();
      if constexpr (at == npos) {
        return simd::broadcast<V>(static_cast<T>(begin));  // an axis of size 1
      } else if constexpr (at + 1 == loops.rank) {
        if constexpr (simd::lanes_of<V> == 1) {
          return static_cast<T>(begin + first);
        } else {
          const V all = simd::broadcast<V>(static_cast<T>(begin + first)) +
                        __builtin_convertvector(kernel::scores::detail::lane_numbers<V>(), V);
          return simd::keep_first(all, count,
                                  simd::broadcast<V>(static_cast<T>(begin + first + count - 1)));
        }
      } else {
        return simd::broadcast<V>(static_cast<T>(begin + index[at]));
      }
    }
  };

  template <class V>
  UMBEL_INLINE static constexpr void write(const Run& run, const std::size_t* index, T* to,
                                           std::size_t first, std::size_t count) noexcept {
    constexpr std::size_t stride = loops.stride[loops.rank - 1];
    V known{};
    if constexpr (Known >= 0) known = load_apart<V, stride>(to + first * stride, count);
    V value = program<Run, list, Known, V>(place<V>{run, index, first, count}, known).last();
    if constexpr (simd::lanes_of<V> == 1) {
      to[first * stride] = value;
    } else if constexpr (stride == 1) {
      if (count == simd::lanes_of<V>)
        simd::store(to + first, value);
      else
        simd::store_first(to + first, value, count);
    } else {
      if constexpr (sizeof(V) >= 16 && sizeof(V) <= UMBEL_VECTOR_BYTES) UMBEL_ALL_LANES(value);
      for (std::size_t i = 0; i < count; ++i) to[(first + i) * stride] = value[i];
    }
  }

  template <std::size_t Axis, std::size_t Lanes>
  UMBEL_INLINE static constexpr void over(const Run& run, std::size_t* index, T* to) noexcept {
    if constexpr (Axis + 1 < loops.rank) {
      for (std::size_t i = 0; i < loops.size[Axis]; ++i) {
        index[Axis] = i;
        over<Axis + 1, Lanes>(run, index, to + i * loops.stride[Axis]);
      }
    } else {
      using V = simd::pack<T, Lanes>;
      constexpr std::size_t count = loops.size[loops.rank - 1], whole = count / Lanes * Lanes;
      for (std::size_t first = 0; first < whole; first += Lanes)
        write<V>(run, index, to, first, Lanes);
      if constexpr (whole != count) write<V>(run, index, to, whole, count - whole);
    }
  }

  static constexpr void plainly(const Run& run, T* to) noexcept {
    std::size_t index[most_axes]{};
    over<0, 1>(run, index, to);
  }
  UMBEL_NOINLINE static void fast(const Run& run, T* to) noexcept {
    const Run local_run = run;  // so that stores can't alias it
    std::size_t index[most_axes]{};
    over<0, plan::lanes<T>(plan::native_target)>(local_run, index, to);
  }

  // The values of contiguous elements from `offset` on.
  template <class V>
  UMBEL_INLINE static constexpr V values(const Run& run, std::size_t offset,
                                         std::size_t count) noexcept {
    std::size_t index[most_axes]{};
    find<0>(offset, index);
    return program<Run, list, Known, V>(place<V>{run, index, offset, count}, V{}).last();
  }

 private:
  // Splits an offset into indices of the outer loops and a rest.
  template <std::size_t Axis>
  UMBEL_INLINE static constexpr void find(std::size_t& offset, std::size_t* index) noexcept {
    if constexpr (Axis + 1 < loops.rank) {
      index[Axis] = offset / loops.stride[Axis];
      offset %= loops.stride[Axis];
      find<Axis + 1>(offset, index);
    }
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
