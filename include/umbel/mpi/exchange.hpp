// SPDX-License-Identifier: BSL-1.0
// exchange_of: the messages between the ranks of a call, as constants of its type:
//
//   constexpr exchange_cost each = exchange_of<share, token<512>>;
//   static_assert(each.bytes == 3 * 2 * 512 * 128 * sizeof(float));   // of ranks<4>, 512 features
//   each.seconds(2e-6, 12.5e9)      2 us a message, 100 Gbit/s
//
// For computing time see inspect/describe.hpp, with a layer of as many heads.
#pragma once

#include <umbel/config.hpp>
#include <umbel/mpi/batch.hpp>
#include <umbel/mpi/gradients.hpp>
#include <umbel/mpi/heads.hpp>
#include <umbel/mpi/residual_block.hpp>
#include <umbel/shape/template_arguments.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace say {
struct exchange_of;
}  // namespace say
UMBEL_SAYS(so_read_its_bytes_or_messages, "; read its bytes or messages");
UMBEL_SAYS(seconds, "seconds");
UMBEL_SAYS(expects_the_latency_of_a_message_and_the_bytes_per_second,
           "expects two numbers, the latency of a message in seconds and the bytes per second; "
           "write seconds(2e-6, 12.5e9)");
UMBEL_SAYS(is_a_constant_so_write_exchange_of_without_a_call,
           "is a constant, not a function; write exchange_of<share, token<512>>");
}  // namespace detail

// The bytes and messages that each rank sends in a call; it receives as much.
struct exchange_cost {
  // Calls of MPI_Allgather; for the gradient of a batch, one of MPI_Alltoall before.
  std::size_t gathers = 0;
  // Messages in sequence if gathers are rings; for short ones MPI uses fewer with the same bytes.
  std::size_t messages = 0;
  std::uint64_t bytes = 0;

  // A model: no message overlaps with others of the rank, or with its computing. latency:
  // seconds of a message without its bytes.
  [[nodiscard]] constexpr double seconds(double latency, double bytes_per_second) const noexcept {
    return static_cast<double>(messages) * latency + static_cast<double>(bytes) / bytes_per_second;
  }
  // Other arguments: refused.
  template <class... X>
    requires(!(sizeof...(X) == 2 && (std::is_convertible_v<const X&, double> && ...)))
  constexpr double seconds(const X&...) const noexcept {
    using namespace detail;
    using verdict = verdict<never<X...>, say::seconds,
                            say::expects_the_latency_of_a_message_and_the_bytes_per_second>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    return 0;
  }
  // As a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr operator X() const noexcept {
    return detail::no_conversion<exchange_cost, detail::say::so_read_its_bytes_or_messages, X>();
  }
  // exchange_of<share, token<512>>(): refused.
  template <class... X>
  constexpr exchange_cost operator()(const X&...) const noexcept {
    using verdict = detail::verdict<detail::never<X...>, detail::say::exchange_of,
                                    detail::say::is_a_constant_so_write_exchange_of_without_a_call>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return *this;
  }
};

namespace detail {
namespace say {
struct exchange_of;
}  // namespace say

// each: numbers that a rank contributes to all gathers of a call.
template <class T, class Ranks>
constexpr exchange_cost ring(std::size_t gathers, std::uint64_t each) noexcept {
  return {gathers, gathers * (Ranks::size - 1), (Ranks::size - 1) * each * sizeof(T)};
}

template <class Share, class... Axes>
struct exchange_rule {
  using verdict =
      umbel::detail::verdict<never<Share>, say::exchange_of,
                             struct expects_a_sharded_layer_and_the_axes_of_its_sequences>;
  static constexpr exchange_cost value() { return {}; }
};
template <class Layer, class Over, axis_like Positions, axis_like... Keys>
  requires(divides_heads<Layer, Over> && sizeof...(Keys) < 2 &&
           !std::is_same_v<typename Positions::family, rules::batch_family>)
struct exchange_rule<sharded<Layer, Over>, Positions, Keys...> {
  using share = sharded<Layer, Over>;
  using work = typename share::template workspace<Positions, Keys...>;
  using verdict = accepted;
  static constexpr exchange_cost value() {
    return ring<typename share::value_type, typename share::ranks>(
        2, work::contexts_of_rank + work::results_of_rank);
  }
};
// For a block; if it attends to a memory, the second axis has the memory's positions.
template <class Layer, class Over, axis_like Positions, axis_like... Memory>
  requires(divides_block<Layer, Over> && sizeof...(Memory) == Layer::has_memory &&
           !std::is_same_v<typename Positions::family, rules::batch_family>)
struct exchange_rule<sharded<Layer, Over>, Positions, Memory...> {
  using share = sharded<Layer, Over>;
  using work = typename share::template workspace<Positions, Memory...>;
  using verdict = accepted;
  static constexpr exchange_cost value() {
    return ring<typename share::value_type, typename share::ranks>(work::gathers,
                                                                   work::given_by_rank);
  }
};
// Count times the exchange of Rule.
template <class Rule, std::size_t Count>
struct exchanges {
  using verdict = typename Rule::verdict;
  static constexpr exchange_cost value() {
    constexpr exchange_cost each = Rule::value();
    return {Count * each.gathers, Count * each.messages, Count * each.bytes};
  }
};
template <class Layer, class Over, axis_like Positions, axis_like... Memory>
  requires(divides_stack<Layer, Over> &&
           !std::is_same_v<typename Positions::family, rules::batch_family>)
struct exchange_rule<sharded<Layer, Over>, Positions, Memory...>
    : exchanges<exchange_rule<sharded<typename Layer::layer, Over>, Positions, Memory...>,
                Layer::count> {};
template <class Layer, class Over, std::size_t Batch, axis_like... Positions>
  requires std::is_same_v<typename Over::family, rules::heads_family>
struct exchange_rule<sharded<Layer, Over>, axes::batch<Batch>, Positions...>
    : exchanges<exchange_rule<sharded<Layer, Over>, Positions...>, Batch> {};
// The features of the result: attention's output, or the input of other layers.
template <class Layer>
constexpr std::size_t features_of_result() {
  if constexpr (requires { Layer::output_axis::size; })
    return Layer::output_axis::size;
  else
    return Layer::hidden_axis::size;
}
template <class Layer, class Over, std::size_t Batch, axis_like Positions, axis_like... Memory>
  requires(divides_batch<Layer, Over> && sizeof...(Memory) < 2)
struct exchange_rule<sharded<Layer, Over>, axes::batch<Batch>, Positions, Memory...> {
  using share = sharded<Layer, Over>;
  using verdict = rules::divides<axes::batch<Batch>, typename share::ranks>;
  static constexpr exchange_cost value() {
    return ring<typename share::value_type, typename share::ranks>(
        1, std::uint64_t{Batch / share::ranks::size} * Positions::size *
               features_of_result<typename share::whole>());
  }
};
template <class Gradient, class Over>
  requires divides_chains<Gradient, Over>
struct exchange_rule<sharded<Gradient, Over>> {
  using share = sharded<Gradient, Over>;
  using verdict = accepted;
  static constexpr exchange_cost value() {
    return ring<typename share::value_type, typename share::ranks>(
        2, std::uint64_t{2} * share::workspace::each);
  }
};
template <class Rule, class Verdict>
constexpr exchange_cost exchanged() {
  static_assert(report<Verdict>::ok, "umbel: shapes do not fit");
  if constexpr (Verdict::ok)
    return Rule::value();
  else
    return {};
}
}  // namespace detail

// exchange_of<share, token<512>>, <share, query<4>, key<300>>, <share, batch<2>, token<512>>; for
// decoder layers <share, token<512>, key<48>>, with the memory's positions; <by_sequences,
// batch<8>, token<128>>; <by_chains> for the sum of a batch_gradient. For a cache: token<1>.
template <class Share, class... Axes>
UMBEL_EXPECTS(
    "exchange_of: expects a type of layer, then axes with their sizes; write exchange_of<share, "
    "token<512>>")
inline constexpr exchange_cost exchange_of =
    detail::exchanged<detail::exchange_rule<Share, Axes...>,
                      typename detail::exchange_rule<Share, Axes...>::verdict>();

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
