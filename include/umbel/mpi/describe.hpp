// SPDX-License-Identifier: BSL-1.0
// describe for divided layers: the plan of a rank's heads, its messages, and their time:
//
//   std::puts(describe<share, token<512>>());
//   std::puts(describe<interconnect{.nanoseconds = 1500, .megabytes_per_second = 25'000}, share,
//                      token<512>>());
//
// The time doesn't include how long the ranks wait for each other.
#pragma once

#include <umbel/config.hpp>
#include <umbel/inspect/describe.hpp>
#include <umbel/mpi/exchange.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel {

// A network between machines, for describe: the time of a message without its bytes, and the
// bandwidth. (The default is 100 Gbit/s.)
struct interconnect {
  std::uint64_t nanoseconds = 2000;
  std::uint64_t megabytes_per_second = 12'500;
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {
namespace detail {

template <class Layer, class Over>
inline constexpr bool describes_itself<sharded<Layer, Over>> = true;

// A rank's heads, in the form of a layer for plan_of.
template <class Share>
struct layer_of_rank {
  using value_type = typename Share::value_type;
  static constexpr head_sizes sizes = Share::own;
  using norm_of_heads = typename Share::norm_of_heads;
  template <std::size_t Queries, std::size_t Keys>
  using forward_of = typename Share::template forward_of<Queries, Keys>::steps;
  template <class Queries, class Keys>
  using workspace = typename forward_of<Queries::size, Keys::size>::workspace;
};
// Its last projection is from the context of all heads to the rank's features.
template <class Share, class Queries, class... Keys>
struct plan_of_rank : plan_of<layer_of_rank<Share>, Queries, Keys...> {
  using of_heads = plan_of<layer_of_rank<Share>, Queries, Keys...>;
  static constexpr linear_step output =
      linear_step_of<kernel::linear_shape{Queries::size, Share::sizes.context_width(),
                                          Share::features::size, 1, Queries::size,
                                          Share::features::size, 1, Share::sizes.o_bias},
                     typename Share::value_type>();
  static constexpr double cycles = of_heads::cycles - of_heads::output.cycles + output.cycles;
};

// memory: of the buffers for sending and receiving, 0 if that is the result.
template <interconnect By, class Writer>
constexpr void put_exchange(Writer& out, const exchange_cost& each, std::size_t memory) {
  const auto line = [&](const char* name, std::uint64_t number) {
    out.put_aligned(name, 24);
    out.put_aligned(static_cast<std::size_t>(number), 25);
    out.put('\n');
  };
  line("calls of MPI", each.gathers);
  line("messages", each.messages);
  line("bytes sent", each.bytes);
  line("bytes of memory for it", memory);
  const double microseconds =
      1e6 * each.seconds(static_cast<double>(By.nanoseconds) * 1e-9,
                         static_cast<double>(By.megabytes_per_second) * 1e6);
  line("microseconds", static_cast<std::uint64_t>(microseconds + 0.5));
  out.put("by a network of ", static_cast<std::size_t>(By.nanoseconds), " ns a message and ",
          static_cast<std::size_t>(By.megabytes_per_second), " MB/s\n");
}

// A rank's part of the parts of a block; see plan_of_part.
template <class Layer, class Ranks>
struct plan_of_part<part_of_rank<Layer, Ranks>> : plan_of_part<Layer> {};
template <is_multi_head Layer, class Ranks>
struct plan_of_part<part_of_rank<Layer, Ranks>> {
  template <std::size_t N, std::size_t M>
  using plan =
      plan_of_rank<typename part_of_rank<Layer, Ranks>::share, axes::query<N>, axes::key<M>>;
  template <std::size_t N, std::size_t M, class Writer>
  static constexpr void put_what(Writer& out) {
    put_sizes<plan<N, M>>(out);
  }
  template <std::size_t N, std::size_t M, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    return put_attention<plan<N, M>>(out, margin);
  }
};
template <class T, class Hidden, class Wide, class... Options, class Ranks>
struct plan_of_part<part_of_rank<feed_forward<T, Hidden, Wide, Options...>, Ranks>>
    : plan_of_part<feed_forward<T, Hidden, Wide, Options...>> {
  using whole = plan_of_part<feed_forward<T, Hidden, Wide, Options...>>;
  template <std::size_t N, std::size_t, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    constexpr std::size_t wide = whole::wide / Ranks::size, each = whole::narrow / Ranks::size;
    return put_network<
        T, kernel::linear_shape{N, whole::narrow, wide, whole::narrow, 1, wide, 1, whole::has_bias},
        kernel::linear_shape{N, whole::wide, each, 1, N, each, 1, whole::has_bias},
        whole::layer::is_gated>(out, margin);
  }
};
template <class T, class Hidden, class... Options, class Ranks>
struct plan_of_part<part_of_rank<linear<T, Hidden, Hidden, Options...>, Ranks>>
    : plan_of_part<linear<T, Hidden, Hidden, Options...>> {
  template <std::size_t N, std::size_t, class Writer>
  static constexpr page_sum put(Writer& out, std::size_t margin) {
    return put_map<T, part_of_rank<linear<T, Hidden, Hidden, Options...>, Ranks>::of_rows(N)>(
        out, margin);
  }
};

// A divided layer; for a stack, one of its layers.
template <class Share>
struct block_of_share {
  using type = Share;
  static constexpr std::size_t layers = 0;
};
template <class Layer, class Over>
  requires divides_stack<Layer, Over>
struct block_of_share<sharded<Layer, Over>> {
  using type = typename sharded<Layer, Over>::layer;
  static constexpr std::size_t layers = Layer::count;
};

template <interconnect By, class Share, class... Axes>
struct described_share {
  template <class Writer>
  static constexpr void put(Writer& out) {
    out.put("of ", Share::ranks::size, Share::ranks::size == 1 ? " rank" : " ranks", ", each\n");
    std::size_t memory = 0;
    if constexpr (requires { sizeof(Share::workspace::sent); })
      memory = sizeof(Share::workspace::sent) + sizeof(Share::workspace::received);
    put_exchange<By>(out, exchange_of<Share, Axes...>, memory);
  }
};
template <interconnect By, class Layer, class Over, class Positions, class... Memory>
  requires(divides_block<Layer, Over> || divides_stack<Layer, Over>)
struct described_share<By, sharded<Layer, Over>, Positions, Memory...> {
  using share = sharded<Layer, Over>;
  using block = block_of_share<share>;
  template <class Writer>
  static constexpr void put(Writer& out) {
    using work = typename share::template workspace<Positions, Memory...>;
    using plan =
        plan_of_block<typename block::type::of_rank, Positions::size,
                      portable::nth_type<sizeof...(Memory), Positions, Memory...>::type::size>;
    out.put("of ", share::ranks::size, share::ranks::size == 1 ? " rank" : " ranks", ", each: ");
    plan::template put<typename block::type::word, block::layers, work>(out);
    out.put('\n');
    put_exchange<By>(out, exchange_of<share, Positions, Memory...>, work::exchanged);
  }
};
template <interconnect By, class Layer, class Over, class Queries, class... Keys>
  requires divides_heads<Layer, Over>
struct described_share<By, sharded<Layer, Over>, Queries, Keys...> {
  using share = sharded<Layer, Over>;
  template <class Writer>
  static constexpr void put(Writer& out) {
    out.put("of ", share::ranks::size, share::ranks::size == 1 ? " rank" : " ranks", ", each: ");
    put_plan<plan_of_rank<share, Queries, Keys...>>(out);
    out.put('\n');
    using work = typename share::template workspace<Queries, Keys...>;
    put_exchange<By>(out, exchange_of<share, Queries, Keys...>, work::exchanged);
  }
};
}  // namespace detail

// The page of a divided layer, with axes as for exchange_of: for heads the plan of the rank's,
// describe<share, token<64>>(); for sequences, describe<share, batch<8>, token<64>>(), and for a
// batch_gradient, describe<share>(), the messages.
template <interconnect By, class Share, class... Axes>
  requires detail::describes_itself<Share>
constexpr const char* describe() noexcept {
  using verdict = typename detail::exchange_rule<Share, Axes...>::verdict;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok)
    return detail::page_of<detail::described_share<By, Share, Axes...>>.text;
  else
    return "";
}
template <class Share, class... Axes>
  requires detail::describes_itself<Share>
constexpr const char* describe() noexcept {
  return describe<interconnect{}, Share, Axes...>();
}

// describe<share, token<64>, interconnect{}>() and describe<share>(interconnect{}): refused.
#define UMBEL_INSTEAD \
  "expects an interconnect before the type; write describe<interconnect{}, share, token<64>>()"
UMBEL_REFUSES_CALL(describe, (const Given&...), UMBEL_INSTEAD, class Layer, class First,
                   auto Network, auto... Rest)
UMBEL_REFUSES_CALL(describe, (const Given&...), UMBEL_INSTEAD, class Layer, class First,
                   class Second, auto Network, auto... Rest)
#undef UMBEL_INSTEAD

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
