// SPDX-License-Identifier: BSL-1.0
// prepacked<layer>: a layer that owns its weights, packed for this target (packed_weights.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/layer/packed_weights.hpp>
#include <umbel/layer/stored_as.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(norms_cannot_be_repacked_so_assign_a_new_one_with_its_weights,
           "norms cannot be repacked; assign a new one, packed = prepacked<norm>{w}");

UMBEL_SAYS(pack_expects_one_object_the_weights_of_the_layer,
           "pack expects one object, the weights of the layer");

UMBEL_SAYS(the_first_argument_is_not_a_layer_with_weights_to_pack,
           "the first argument is not a layer with weights to pack");

UMBEL_SAYS(the_first_argument_is_the_type_of_weights_so_name_their_layer,
           "the first argument is the type of weights; name their layer, prepacked<layer>{w}");

// A norm: its epsilon is not a weight, comes after the weights and may have a default.
template <class Layer>
concept takes_epsilon = requires { Layer::has_default_epsilon; };
template <class Layer>
inline constexpr bool needs_epsilon = false;
template <takes_epsilon Layer>
inline constexpr bool needs_epsilon<Layer> = !Layer::has_default_epsilon;
// Not arguments of prepacked: neither weights nor, for a norm, weights and an epsilon.
template <class Layer, class View, class Packed, class... Given>
inline constexpr bool not_to_pack = not_its_weights<View, Packed, Given...>;
template <class Layer, class View, class Packed>
inline constexpr bool not_to_pack<Layer, View, Packed> = false;
template <class Layer, class View, class Packed>
inline constexpr bool not_to_pack<Layer, View, Packed, Layer> = takes_epsilon<Layer>;
template <takes_epsilon Layer, class View, class Packed, class Weights, class Epsilon>
inline constexpr bool not_to_pack<Layer, View, Packed, Weights, Epsilon> =
    foreign_weights<Weights, View, Packed>;
// Not arguments of pack.
template <class Layer, class View, class... Given>
inline constexpr bool not_packed_again = true;
template <class Layer, class View, class Weights>
inline constexpr bool not_packed_again<Layer, View, Weights> =
    takes_epsilon<Layer> || !std::is_convertible_v<const Weights&, View>;

template <class Given>
concept is_weights = requires { typename Given::layer_name; } || requires { typename Given::map; };
template <class Layer>
concept has_weights_to_pack = requires {
  typename Layer::weights_view;
  typename Layer::template calls<Layer>;
};
namespace rules {
template <class Layer, class Given>
using a_layer_to_pack =
    first_error<verdict<!is_weights<Given>, Layer,
                        say::the_first_argument_is_the_type_of_weights_so_name_their_layer>,
                verdict<(sizeof(Given) == 0), Layer,
                        say::the_first_argument_is_not_a_layer_with_weights_to_pack>>;
template <class Layer, class Stored>
using norm_stored =
    verdict<std::is_same_v<Stored, typename Layer::value_type> || !takes_epsilon<Layer>,
            say::prepacked, struct norms_cannot_be_stored_in_8_or_16_bits>;
// packed.pack(...) with a different layer's or a norm's weights, none, several or packed: refused.
template <class Layer, class View, class... Given>
struct packed_again_rule {
  using type =
      verdict<false, say::prepacked, say::pack_expects_one_object_the_weights_of_the_layer>;
};
template <class Layer, class View, class Given>
  requires(!takes_epsilon<Layer> && !requires { typename Given::weights_to_pack; })
struct packed_again_rule<Layer, View, Given> : weights_rule<typename Layer::word, View, Given> {};
template <takes_epsilon Norm, class View, class Given>
struct packed_again_rule<Norm, View, Given> {
  using type = verdict<false, say::prepacked,
                       say::norms_cannot_be_repacked_so_assign_a_new_one_with_its_weights>;
};
}  // namespace rules

// The 64-bit FNV-1a hash of everything that the layout of packed weights depends on.
class layout_hash {
 public:
  template <class... Fact>
  constexpr void add(Fact... fact) noexcept {
    (add_one(static_cast<std::uint64_t>(fact)), ...);
  }
  constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  constexpr void add_one(std::uint64_t fact) noexcept {
    for (int shift = 0; shift < 64; shift += 8)
      hash_ = (hash_ ^ (fact >> shift & 255)) * 1099511628211u;
  }
  std::uint64_t hash_ = 14695981039346656037u;
};
template <class T, class In, class Out, bool Bias, class Stored>
constexpr void add_layout(layout_hash& hash, const packed_linear<T, In, Out, Bias, Stored>*) {
  hash.add(1, In::size, Out::size, Bias, sizeof(T), sizeof(Stored),
           std::is_same_v<Stored, bfloat16>);
}
template <class T, class Axis>
constexpr void add_layout(layout_hash& hash, const packed_vector<T, Axis>*) {
  hash.add(2, Axis::size, sizeof(T));
}
template <class T, class... Axis>
constexpr void add_layout(layout_hash& hash, const packed_tensor<T, Axis...>*) {
  hash.add(6, sizeof...(Axis), Axis::size..., sizeof(T));
}
template <template <class...> class Parts, class View, class... Packed>
constexpr void add_layout(layout_hash& hash, const packed_weights<Parts, View, Packed...>*) {
  hash.add(3, sizeof...(Packed));
  (add_layout(hash, static_cast<const Packed*>(nullptr)), ...);
}
template <class Packed>
constexpr std::uint64_t packed_layout(plan::target machine) noexcept {
  layout_hash hash;
  hash.add(sizeof(Packed), machine.vector_bytes, machine.registers, machine.fused,
           UMBEL_LITTLE_ENDIAN);
  add_layout(hash, static_cast<const Packed*>(nullptr));
  return hash.value();
}
// The argument that prepacked{w} lacks.
struct unpacked_layer {};
UMBEL_SAYS(needs_the_type_of_the_layer_so_write_prepacked_of_it,
           "needs the type of the layer; write prepacked<attention>{w}");
namespace rules {
template <class Other>
using packed_type = first_error<verdict<!std::is_same_v<Other, unpacked_layer>, say::prepacked,
                                        say::needs_the_type_of_the_layer_so_write_prepacked_of_it>,
                                a_layer_to_pack<say::prepacked, Other>>;
}  // namespace rules
}  // namespace detail

// A layer that owns its weights, packed once for the kernels of this target, and is called like the
// layer. The original weights aren't needed afterwards.
//
//   static const prepacked<attention> attend{weights};   // or constexpr
//   static prepacked<attention> later;                   // zeros, until later.pack(weights)
//
// For a layer with nothing to pack, a norm or learned positions, it owns a copy of the weights.
//
// stored_as<bfloat16> or stored_as<float16> rounds the weights, not the biases, of a float layer to
// 16 bits; results are those of the layer with rounded weights. stored_as<std::int8_t> rounds them
// to 8 bits, with one scale per output: the largest magnitude among its weights / 127. Inputs times
// steps are summed in float, then multiplied by the scale (docs/numerics.md).
//
// Its bytes may be written to a file and read again, or lie in flash. They include a hash of their
// layout: a program for a target with a different layout can't read them (in_memory returns null).
template <class Layer, class... Options>
UMBEL_EXPECTS("prepacked: expects a type of layer, then options; write prepacked<attention>")
class prepacked : public Layer::template calls<prepacked<Layer, Options...>> {
  using calls = typename Layer::template calls<prepacked>;
  using stored =
      typename detail::option_or<detail::option::stored_as, stored_as<typename Layer::value_type>,
                                 Options...>::type;
  using verdict = detail::first_error<
      detail::rules::options<detail::say::prepacked,
                             detail::option_kinds<detail::option::stored_as>, Options...>,
      detail::rules::stored<detail::say::prepacked, typename Layer::value_type, stored>,
      detail::rules::norm_stored<Layer, stored>>;
  static_assert(detail::reported<verdict>::ok, "umbel: shapes do not fit");
  using packed_weights = typename Layer::template packed_weights<
      std::conditional_t<verdict::ok, stored, typename Layer::value_type>>;

 public:
  using layer = Layer;
  // The weights of the layer, borrowed, with matrices and tables in any order.
  using weights_to_pack = detail::in_any_order<typename Layer::weights_view>;
  // Zeros, to be packed later: model.encoder.pack(w).
  constexpr prepacked() noexcept = default;
  // Matrices in any order, {view_as<out_features, in_features>(memory)}: packing rearranges them.
  // Norms also need their epsilon, prepacked<norm>{w, 1e-6F}.
  constexpr explicit prepacked(const weights_to_pack& w) noexcept
    requires(!detail::needs_epsilon<Layer>)
  {
    weights_.pack(w);
  }
  constexpr prepacked(const weights_to_pack& w, typename Layer::value_type epsilon) noexcept
    requires detail::takes_epsilon<Layer>
      : calls(epsilon) {
    weights_.pack(w);
  }
  // The weights of a layer, prepacked{attention{w}}.
  template <class Given>
    requires(std::is_same_v<Given, Layer> && !detail::takes_epsilon<Layer>)
  constexpr explicit prepacked(const Given& from) noexcept {
    weights_.pack(from.get_weights());
  }
  // Weights that may end with the statement: they are copied.
  template <class Weights>
    requires(std::is_same_v<Weights, typename Layer::weights> && !detail::needs_epsilon<Layer>)
  constexpr explicit prepacked(const Weights& w) noexcept {
    weights_.pack(w);
  }
  template <class... Given>
    requires detail::not_to_pack<Layer, weights_to_pack, prepacked, Given...>
  constexpr explicit(sizeof...(Given) == 1) prepacked(const Given&...) noexcept {
    static_assert(detail::report<detail::rules::weights_of_this_layer<
                      typename Layer::word, typename Layer::weights_view, Given...>>::ok,
                  "umbel: shapes do not fit");
  }
  template <class Weights>
    requires(detail::needs_epsilon<Layer> && std::is_convertible_v<const Weights&, weights_to_pack>)
  constexpr explicit prepacked(const Weights&) noexcept {
    static_assert(detail::report<typename Layer::template without_epsilon<Weights>>::ok,
                  "umbel: shapes do not fit");
  }
  // Packs other weights into the same memory. (packed = prepacked<layer>{w} also does, with a copy
  // on the stack.) Not for norms, which are small and have an epsilon, nor for a prepacked layer,
  // which you can assign: "pack expects one object, the weights of the layer".
  constexpr void pack(const weights_to_pack& w) noexcept
    requires(!detail::takes_epsilon<Layer>)
  {
    weights_.pack(w);
  }
  template <class... Given>
    requires detail::not_packed_again<Layer, weights_to_pack, Given...>
  constexpr void pack(const Given&...) noexcept {
    using rule = detail::rules::packed_again_rule<Layer, typename Layer::weights_view, Given...>;
    static_assert(detail::report<typename rule::type>::ok, "umbel: shapes do not fit");
  }
  [[nodiscard]] constexpr const packed_weights& get_weights() const noexcept { return weights_; }

  // Packed weights in place: `bytes` bytes at `memory`, perhaps written by a different program.
  // Null if they are fewer than sizeof(prepacked), not aligned to alignof(prepacked) (64), packed
  // for a different target, for parts with other sizes or biases, or stored as a different type.
  // Properties that no weight depends on, such as the number of heads or the order of the norms,
  // are not checked. The memory must outlive the result.
  [[nodiscard]] static const prepacked* in_memory(const void* memory, std::size_t bytes) noexcept {
    if (memory == nullptr || bytes < sizeof(prepacked)) return nullptr;
    if (reinterpret_cast<std::uintptr_t>(memory) % alignof(prepacked) != 0) return nullptr;
    const auto* const packed = static_cast<const prepacked*>(memory);
    return packed->layout_[0] == layout ? packed : nullptr;
  }

 private:
  static constexpr std::uint64_t layout =
      detail::packed_layout<packed_weights>(detail::plan::native_target);

  // As long as the weights' alignment, zeros after the first: equal weights have equal bytes.
  static constexpr std::size_t numbers = alignof(packed_weights) > sizeof(layout)
                                             ? alignof(packed_weights) / sizeof(layout)
                                             : 1;
  std::uint64_t layout_[numbers] = {layout};
  packed_weights weights_;
};
template <class Other, class... Options>
  requires(portable::anything<void> && !detail::has_weights_to_pack<Other>)
class prepacked<Other, Options...> : public detail::invalid {
  static_assert(detail::reported<detail::rules::packed_type<Other>>::ok,
                "umbel: shapes do not fit");

 public:
  template <class... Weights>
  constexpr explicit prepacked(const Weights&...) noexcept {}
  template <class... Weights>
  constexpr void pack(const Weights&...) noexcept {}
};
template <class... Weights>
prepacked(const Weights&...) -> prepacked<detail::unpacked_layer>;
template <class Layer>
  requires(detail::has_weights_to_pack<Layer> && !detail::takes_epsilon<Layer>)
prepacked(const Layer&) -> prepacked<Layer>;

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
