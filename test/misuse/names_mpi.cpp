// SPDX-License-Identifier: BSL-1.0
// Layers over processes: what few programs of the other files have.
#include <misuse/all_headers.hpp>

inline share::weights own;

#if defined CASE_communicator_of_a_number
// fact: communicator
// fact: ranks
const communicator<2> r{MPI_COMM_WORLD};
#elif defined CASE_communicator_as_a_number
// fact: communicator
// fact: rank\(
int f(const communicator<ranks<2>>& world) { return world; }
#elif defined CASE_weights_cut_for_the_whole_layer
// fact: hidden=64|heads=8
// fact: cut_weights|sharded
void f(share::weights& own) { cut_weights<self_attention>(sw, 0, own); }
#elif defined CASE_weights_cut_for_a_communicator
// fact: cut_weights
// fact: rank
void f(const communicator<ranks<2>>& world, share::weights& own) {
  cut_weights<share>(sw, world, own);
}
#elif defined CASE_weights_cut_into_the_whole
// fact: cut_weights
// fact: weights
void f() { cut_weights<share>(sw, 0, sg); }
#elif defined CASE_exchange_called
// fact: exchange_of
// fact: constant|without
constexpr exchange_cost r = exchange_of<share, token<12>>();
#elif defined CASE_exchange_as_bytes
// fact: exchange_of|exchange_cost
// fact: bytes
constexpr std::size_t r = exchange_of<share, token<12>>;
#elif defined CASE_exchange_of_weights
// fact: exchange_of
// fact: sharded
constexpr exchange_cost r = exchange_of<share::weights, token<12>>;
#elif defined CASE_seconds_of_a_network
// fact: seconds|exchange_cost
// fact: interconnect|seconds
auto r = exchange_of<share, token<12>>.seconds(interconnect{});
#elif defined CASE_network_after_the_layer
// fact: describe
// fact: interconnect
auto r = describe<share, token<12>, interconnect{}>();
#elif defined CASE_network_as_an_argument
// fact: describe
// fact: interconnect
auto r = describe<share, token<12>>(interconnect{.nanoseconds = 1500});
#elif defined CASE_seconds_of_no_network
// fact: seconds|exchange_cost
// fact: latency|bytes
double f(const exchange_cost& each) { return each.seconds(); }
#elif defined CASE_cut_without_a_layer
// fact: cut_weights
// fact: sharded|layer|share
void f() { cut_weights(sw, 1, own); }
#elif defined CASE_cut_of_the_whole_layer
// fact: cut_weights
// fact: sharded
void f() { cut_weights<self_attention>(sw, 1, own); }
#elif defined CASE_cut_without_a_rank
// fact: cut_weights
// fact: rank
void f() { cut_weights<share>(sw, own); }
#elif defined CASE_cut_by_a_communicator
// fact: cut_weights
// fact: rank
void f(const communicator<ranks<2>>& world) { cut_weights<share>(sw, world, own); }
#elif defined CASE_cut_of_other_weights
// fact: cut_weights
// fact: hidden=100|weights
void f() { cut_weights<share>(w, 1, own); }
#endif
