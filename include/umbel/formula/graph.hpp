// SPDX-License-Identifier: BSL-1.0
// A formula's computation as a value: nodes in the order of writing, each with its operation, axes
// and operands. A formula is traced in a constant expression, so its graph is a constant and what
// follows from it (schedule.hpp) is loops over arrays. Not here: recording operations on nodes
// (node.hpp), shapes that don't fit (rules.hpp), which have no graph.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/layout.hpp>
#include <umbel/simd/math.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {
struct mask_base;
}
namespace umbel::inline UMBEL_TARGET::detail::formulas {

// A node's kind: an argument, a number, a position along an axis, or an operation on nodes.
enum class word : unsigned char {
  none,
  argument,
  number,
  position,
  // Element by element.
  copy,
  add,
  subtract,
  multiply,
  multiply_add,  // a * b + c, rounded once
  divide,
  // Functions, each with an entry in functions.hpp.
  negate,
  exp,
  log,
  sqrt,
  rsqrt,
  tanh,
  sigmoid,
  absolute,
  gelu_exact,
  gelu_tanh,
  silu,
  relu,
  elu,
  softplus,
  log_sigmoid,
  sin,
  cos,
  erf,
  floor,
  gelu_exact_slope,  // derivatives for gradients (training/)
  gelu_tanh_slope,
  maximum,  // NaN if either is NaN
  minimum,
  pow,        // a^b
  remainder,  // a - b floor(a / b)
  clamp,      // a between b and c
  less,
  less_or_equal,
  equal,
  not_equal,
  logical_not,
  logical_and,
  logical_or,
  where,   // a ? b : c
  hide,    // b ? -infinity : a
  gather,  // elements of a, along an axis that it is read without, at computed positions b
  add_to,  // a + b, in a's memory: a gradient, a result although nothing reads it
  // Along axes.
  contract,
  project,  // x * w
  softmax,
  reduce,  // sum, mean, max, min, product
  concat,
  call,  // a separate function: argmax
  log_softmax,
  rotate,
  layer,   // the same for layers, with scratch
  append,  // rows of a after those in a cache, in the cache's memory (next_positions.hpp)
  // For gradients (training/gradient_steps.hpp).
  place,           // zeros, except a where the differentiated operand was read
  scatter,         // zeros, plus elements of a added at positions b along an axis
  layer_gradient,  // of a layer's operands
};

inline constexpr word first_function = word::negate, last_function = word::clamp;
inline constexpr std::size_t function_count =
    static_cast<std::size_t>(last_function) - static_cast<std::size_t>(first_function) + 1;
constexpr bool is_function(word w) noexcept { return w >= first_function && w <= last_function; }
constexpr bool is_elementwise(word w) noexcept { return w >= word::copy && w <= word::add_to; }
constexpr bool is_of_gradients(word w) noexcept { return w >= word::place; }
constexpr bool writes_gradients(word w) noexcept {
  return w == word::add_to || w == word::layer_gradient;
}
// Is its value at -infinity 0?
constexpr bool vanishes(word w) noexcept {
  return w == word::exp || w == word::sigmoid || w == word::relu || w == word::softplus;
}
// Is its value at 0 again 0, of either sign?
constexpr bool keeps_zero(word w) noexcept {
  return w == word::negate || w == word::absolute || w == word::relu || w == word::silu ||
         w == word::tanh || w == word::sqrt || w == word::gelu_exact || w == word::gelu_tanh;
}
constexpr bool is_product(word w) noexcept { return w == word::contract || w == word::project; }
constexpr bool is_condition(word w) noexcept { return w >= word::less && w <= word::logical_or; }

inline constexpr std::size_t most_axes = 8;
inline constexpr std::size_t most_operands = 8;  // the gradient of a layer and its mask
inline constexpr std::size_t most_results = 6;

// Axes by family (shape/axis.hpp), with the strides of their memory.
struct axis_list {
  std::size_t rank = 0;
  unsigned long long family[most_axes]{};
  std::size_t size[most_axes]{}, stride[most_axes]{};

  constexpr std::size_t count() const noexcept {
    std::size_t elements = 1;
    for (std::size_t i = 0; i < rank; ++i) elements *= size[i];
    return elements;
  }
  constexpr std::size_t position(unsigned long long of) const noexcept {
    for (std::size_t i = 0; i < rank; ++i)
      if (family[i] == of) return i;
    return npos;
  }
  constexpr std::size_t find(std::size_t of_size, std::size_t of_stride) const noexcept {
    for (std::size_t i = 0; i < rank; ++i)
      if (size[i] == of_size && stride[i] == of_stride) return i;
    return npos;
  }
  constexpr bool has(unsigned long long of) const noexcept { return position(of) != npos; }
  // Of an absent axis: 1 and 0, as if repeated.
  constexpr std::size_t size_of(unsigned long long of) const noexcept {
    const std::size_t at = position(of);
    return at == npos ? 1 : size[at];
  }
  constexpr std::size_t stride_of(unsigned long long of) const noexcept {
    const std::size_t at = position(of);
    return at == npos ? 0 : stride[at];
  }
  constexpr void push(unsigned long long of, std::size_t how_many, std::size_t step) noexcept {
    family[rank] = of;
    size[rank] = how_many;
    stride[rank++] = step;
  }
  // Axis `to` becomes axis `at` of other.
  constexpr void set(std::size_t to, const axis_list& other, std::size_t at) noexcept {
    family[to] = other.family[at];
    size[to] = other.size[at];
    stride[to] = other.stride[at];
  }
  friend constexpr bool operator==(const axis_list& a, const axis_list& b) noexcept {
    if (a.rank != b.rank) return false;
    for (std::size_t i = 0; i < a.rank; ++i)
      if (a.family[i] != b.family[i] || a.size[i] != b.size[i] || a.stride[i] != b.stride[i])
        return false;
    return true;
  }
};

template <class Layout>
constexpr axis_list axes_of_layout() noexcept {
  axis_list axes;
  for (std::size_t i = 0; i < Layout::rank; ++i)
    axes.push(Layout::families[i], Layout::extents[i], Layout::strides[i]);
  return axes;
}

// A node's memory, read from `offset` on with different axes.
struct operand {
  int node = -1;
  std::size_t offset = 0;
  axis_list axes;

  friend constexpr bool operator==(const operand& a, const operand& b) noexcept {
    return a.node == b.node && a.offset == b.offset && a.axes == b.axes;
  }
};

// Something a formula uses besides its arguments: part of one, such as a weight matrix.
template <class T>
struct captured {
  const T* values = nullptr;                  // of a tensor, or unpacked weights
  const T* bias = nullptr;                    // of weights
  const void* object = nullptr;               // packed panels, or an owner of memory
  T number{};                                 // such as a norm's epsilon
  const portable::mask_base* mask = nullptr;  // an argument
  unsigned long long integer = 0;             // of a mask, or strides of weights to pack
};
// An operand of a layer's call: numbers, or flags if it is an argument of bool.
template <class T>
struct operand_memory {
  const T* numbers = nullptr;
  const bool* flags = nullptr;
  constexpr explicit operand_memory(const T* values) noexcept : numbers(values) {}
  constexpr explicit operand_memory(const bool* values) noexcept : flags(values) {}
};
// A sum up to each position, from the first one on: with the position itself or without.
enum class scan_form : unsigned char { none, inclusive, exclusive };
enum class reduction : unsigned char { sum, mean, max, min, product };
// A norm: layer_norm, with a beta or without, or rms_norm.
enum class norm_form : unsigned char { none, layer_norm, layer_norm_without_beta, rms_norm };
enum class weights_form : unsigned char {
  natural,
  packed,
  packed_bfloat16,
  packed_float16,
  packed_int8
};

// A separate function: writes its row-major result from its operands' memory.
template <class T>
using function = void (*)(const captured<T>& object, const T* const* operands, T* result);
// Of a layer: gets all its parts (parts.hpp), and scratch.
template <class T>
using layer_function = void (*)(const captured<T>* parts, const operand_memory<T>* operands,
                                T* result, T* scratch);

// The gradient of a layer's call. The gradients of its operands go to d_operands, row-major, one
// after another; those of its parts are added to `gradients` if not null. result: the output of the
// layer's function: its result and what it keeps.
template <class T>
using layer_gradient_function = void (*)(const captured<T>* parts, const captured<T>* gradients,
                                         const operand_memory<T>* operands, const T* result,
                                         const T* d_result, T* d_operands, T* scratch);

// The same if one more operand has a gradient, which comes last in d_operands.
template <class T>
struct layer_gradient_with {
  std::size_t operand = npos;
  layer_gradient_function<T> run = nullptr;
  std::size_t scratch = 0;
};

template <class T>
struct node_of_graph {
  word what = word::none;
  bool condition = false;    // true or false, not numbers
  bool open = false;         // positions along axes that it lacks: computed in place of use
  bool by_rows = false;      // of a call: does each row, along axes that it doesn't go along,
                             // depend on that row alone?
  bool by_axes = false;      // computed through its axes, not its function
  bool is_position = false;  // of a call: the position of an element, without a gradient
  axis_list axes;            // of its memory; if computed, row-major
  operand from[most_operands];
  T number{};                   // of a number
  std::size_t slot = npos;      // of an argument or captured parts: the first one's number
  std::size_t parts = 1;        // their number
  int recomputed = 0;           // not 0: recomputed in a gradient, with the others of this number
  unsigned long long family{};  // of a position, softmax, concat, gather or norm: its axis
  std::size_t operands = 0;
  // For a product or reduction: the summed axes, the last one fastest; for x * w, the kind of w.
  unsigned long long summed[most_axes]{};
  std::size_t sums = 0;
  std::size_t gathered = 0, gathered_stride = 0;  // of a gather: that axis in a's memory
  reduction reduces_by{};
  scan_form scan{};        // of a call, or of an append: the sums of its rows
  bool from_last = false;  // of a scan: from the other end
  std::size_t kth = 0;     // of a call: which of the largest elements it finds; 0: none
  weights_form weights{};
  norm_form norm{};  // of a layer: is it a norm with borrowed weights?
  bool has_bias = false;
  function<T> run = nullptr, run_plainly = nullptr;
  function<T> run_back = nullptr;  // of a rotation or a product: for the gradient of its operand
  layer_function<T> run_layer = nullptr;
  std::size_t scratch = 0;  // of a layer, in elements
  // For a differentiated layer: elements kept after its result, the scratch of its gradient, and
  // the elements of its operands' gradients.
  layer_gradient_function<T> run_gradient = nullptr;
  std::size_t kept = 0, gradient_scratch = 0;
  std::size_t differentiated = 0;                               // the first operands, so many
  const layer_gradient_with<T>* also_differentiated = nullptr;  // one more at a time, so many
  std::size_t also = 0;
  const char* label = nullptr;  // the user's name (named.hpp)
  bool has_label = false;       // (with -fsanitize=undefined, g++ can't compare the pointer)
  // For readers (inspect/): axes, the callee's name; a layer's operations and bytes of its tables.
  const char *shape = nullptr, *name = nullptr;
  std::uint64_t flops = 0;
  std::size_t tables = 0;
};

// A call whose kernel the plan knows, for rows of any layout.
template <class T>
constexpr bool is_known_call(const node_of_graph<T>& node) noexcept {
  return node.what == word::call && (node.scan != scan_form::none || node.kth != 0);
}

// The same operation on the same operands? Functions are not compared: g++ with
// -fsanitize=undefined doesn't treat that as a constant.
template <class T>
constexpr bool is_same_node(const node_of_graph<T>& a, const node_of_graph<T>& b) noexcept {
  if (a.what != b.what || a.what >= word::contract || a.family != b.family || a.slot != npos ||
      b.slot != npos || a.operands != b.operands || a.gathered != b.gathered ||
      a.gathered_stride != b.gathered_stride ||
      simd::detail::bits_of(a.number) != simd::detail::bits_of(b.number))
    return false;
  for (std::size_t i = 0; i < a.operands; ++i)
    if (!(a.from[i] == b.from[i])) return false;
  return a.axes == b.axes;
}
// The first of `count` nodes that is the same, or -1. It is after its operands, so a formula of
// many nodes compares few.
template <class T>
constexpr int find_same(const node_of_graph<T>* nodes, int count,
                        const node_of_graph<T>& node) noexcept {
  if (node.what >= word::contract || node.slot != npos) return -1;
  int first = 0;
  for (std::size_t j = 0; j < node.operands; ++j)
    if (node.from[j].node >= first) first = node.from[j].node + 1;
  for (int i = first; i < count; ++i)
    if (nodes[i].what == node.what && is_same_node(nodes[i], node)) return i;
  return -1;
}

// Nodes: the capacity.
template <class T, std::size_t Nodes>
struct graph {
  node_of_graph<T> nodes[Nodes];
  int count = 0;
  std::size_t arguments = 0, slots = 0;  // slots: of arguments, then captures
  operand result[most_results];
  std::size_t results = 0;
  bool direct = true;  // are results written row-major, without a copy?

  // May what `by` reads differ along an axis?
  constexpr bool differs_along(const operand& by, unsigned long long family) const {
    const node_of_graph<T>& node = nodes[by.node];
    if (!node.open) return by.axes.stride_of(family) != 0;
    if (node.what == word::position) return node.family == family;
    for (std::size_t j = 0; j < node.operands; ++j)
      if (differs_along(node.from[j], family)) return true;
    return false;
  }
};

// Is it the same formula for different numbers of positions? a and b may differ in the copies of
// their results, which come last.
template <class T, std::size_t A, std::size_t B>
constexpr bool same_words(const graph<T, A>& a, const graph<T, B>& b) {
  const int count = b.count > a.count ? a.count : b.count;
  for (int n = 0; n < count; ++n) {
    const node_of_graph<T>&x = a.nodes[n], &y = b.nodes[n];
    if (x.what != y.what || x.operands != y.operands || x.slot != y.slot ||
        simd::detail::bits_of(x.number) != simd::detail::bits_of(y.number))
      return false;
    for (std::size_t j = 0; j < x.operands; ++j)
      if (x.from[j].node != y.from[j].node) return false;
  }
  for (int n = count; n < a.count; ++n)
    if (a.nodes[n].what != word::copy) return false;
  for (int n = count; n < b.count; ++n)
    if (b.nodes[n].what != word::copy) return false;
  return true;
}

// The readers of a node, in graph order. Found once: clang allows a million steps per constant
// expression, and gradients have hundreds of nodes.
template <std::size_t Nodes>
struct readings {
  struct reading {
    int by;
    std::size_t operand;
  };
  std::size_t first[Nodes + 1]{};  // of a node, in `all`
  reading all[Nodes * most_operands + 1]{};

  template <class T>
  constexpr explicit readings(const graph<T, Nodes>& g) {
    for (int i = 0; i < g.count; ++i)
      for (std::size_t j = 0; j < g.nodes[i].operands; ++j) ++first[g.nodes[i].from[j].node];
    for (std::size_t n = 0; n < Nodes; ++n) first[n + 1] += first[n];
    for (int i = g.count; i-- > 0;)
      for (std::size_t j = g.nodes[i].operands; j-- > 0;)
        all[--first[g.nodes[i].from[j].node]] = {i, j};
  }
};

// The size of an axis wherever open node n is used, also by other open nodes; 0: nowhere; npos:
// several.
template <class T, std::size_t Nodes>
constexpr std::size_t size_where_used(const graph<T, Nodes>& g, int n, unsigned long long family) {
  bool is_part[Nodes]{};
  is_part[n] = true;
  std::size_t size = 0;
  for (int by = n + 1; by < g.count; ++by) {
    const node_of_graph<T>& node = g.nodes[by];
    bool reads = false;
    for (std::size_t j = 0; j < node.operands; ++j) reads = reads || is_part[node.from[j].node];
    if (!reads) continue;
    is_part[by] = node.open;
    const std::size_t there = node.open ? 0 : node.axes.size_of(family);
    if (there != 0 && size != 0 && there != size) return npos;
    size = there != 0 ? there : size;
  }
  return size;
}

}  // namespace umbel::inline UMBEL_TARGET::detail::formulas
UMBEL_WARNINGS_POP
