// SPDX-License-Identifier: BSL-1.0
// communicator<ranks<4>>: an MPI communicator whose type has its number of processes, checked once:
//
//   MPI_Init(&argc, &argv);
//   const communicator<ranks<4>> world{MPI_COMM_WORLD};
//   if (!world) return report(world.error());   // "umbel: communicator: it has 3 ranks, but ..."
//
// and across(world, work), which you pass to a sharded layer instead of a workspace. Nothing here
// starts processes or frees the communicator: that is up to the caller and mpirun.
//
// A failed message ends the job on all ranks: by the communicator's error handler, by default
// MPI_ERRORS_ARE_FATAL, or, if that returns, by MPI_Abort. If a process dies, mpirun ends the job.
#pragma once

// Without the C++ bindings of old MPIs, which would have to be linked.
#ifndef MPI_VERSION
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include <umbel/config.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/mpi/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(so_call_its_rank, "; write rank(), its place, or get(), the MPI_Comm");
}

// Ranks: ranks<4>. The communicator is borrowed, and must not be freed before the last call. Its
// error is set for one of a different size, MPI_COMM_NULL, an intercommunicator, or any before
// MPI_Init or after MPI_Finalize; no message was sent. With an error, across() stops the program.
template <class Ranks>
class communicator {
  using verdict = detail::rules::ranks_fit<detail::say::communicator, Ranks>;
  static_assert(detail::reported<verdict>::ok, "umbel: shapes do not fit");

 public:
  using ranks = detail::axis_or_none<Ranks>;

  explicit communicator(MPI_Comm of) noexcept : comm_(of) {
    if (const char* const why = no_group(of)) {
      put("umbel: communicator: ", why);
      return;
    }
    int count = 0, rank = 0;
    MPI_Comm_size(of, &count);
    MPI_Comm_rank(of, &rank);
    rank_ = static_cast<std::size_t>(rank);
    if (count != static_cast<int>(ranks::size))
      put("umbel: communicator: it has ", static_cast<std::size_t>(count),
          count == 1 ? " rank" : " ranks", ", but the type has ranks=", ranks::size);
  }

  [[nodiscard]] bool has_value() const noexcept { return error_.size == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  // One line without a line feed, valid as long as this object; empty without an error.
  [[nodiscard]] const char* error() const noexcept { return error_.chars; }
  // Of this process, from 0; 0 after an error.
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  // As a number: refused.
  template <class X>
    requires std::is_same_v<X, int>
  constexpr operator X() const noexcept {
    return detail::no_conversion<detail::say::communicator, detail::say::so_call_its_rank, X>();
  }

 private:
  // Why a communicator is not a group of processes; null if it is one.
  static const char* no_group(MPI_Comm of) noexcept {
    int began = 0, ended = 0, between = 0;
    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    if (began == 0) return "MPI is not initialized, so call MPI_Init";
    if (ended != 0) return "MPI is finalized";
    if (of == MPI_COMM_NULL) return "it is MPI_COMM_NULL, which has no ranks";
    MPI_Comm_test_inter(of, &between);
    return between != 0 ? "it is an intercommunicator, between two groups" : nullptr;
  }
  template <class... Parts>
  void put(const Parts&... parts) noexcept {
    (error_.put(parts), ...);
  }

  MPI_Comm comm_;
  std::size_t rank_ = 0;
  detail::sentence_buffer error_{};
};

namespace detail {

template <class T>
MPI_Datatype datatype_of() noexcept {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

// Gathers `all`, Each elements per rank, in their order; each rank has its own before the call.
template <std::size_t Each, class Ranks, class T>
void gather(const communicator<Ranks>& among, T* all) noexcept {
  static_assert(Each <= most_in_a_message);
  if constexpr (Ranks::size > 1) {
    const int code = MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, static_cast<int>(Each),
                                   datatype_of<T>(), among.get());
    if (code != MPI_SUCCESS) MPI_Abort(among.get(), code);
  }
}

// Receives the Each elements of `from` that belong to this rank from each rank, in their order.
template <std::size_t Each, class Ranks, class T>
void send_parts(const communicator<Ranks>& among, const T* from, T* to) noexcept {
  static_assert(Each <= most_in_a_message);
  constexpr int count = static_cast<int>(Each);
  const int code =
      MPI_Alltoall(from, count, datatype_of<T>(), to, count, datatype_of<T>(), among.get());
  if (code != MPI_SUCCESS) MPI_Abort(among.get(), code);
}

template <class Ranks, class Workspace>
struct across_ranks : workspace_base {
  const communicator<Ranks>& among;
  Workspace& work;
  across_ranks(const communicator<Ranks>& world, Workspace& w) noexcept : among(world), work(w) {}
};
template <class Ranks, class Workspace, class Scratch>
struct given_workspaces<across_ranks<Ranks, Workspace>, Scratch> {
  using each = across_ranks<Ranks, Workspace>;
  using all = across_ranks<Ranks, Workspace>;
  static constexpr bool several = false;
};
template <class Ranks, class Workspace, class Scratch>
struct given_workspaces<const across_ranks<Ranks, Workspace>, Scratch>
    : given_workspaces<across_ranks<Ranks, Workspace>, Scratch> {
  using all = const across_ranks<Ranks, Workspace>;
};
template <class Ranks, class Workspace>
inline constexpr bool rules::is_const_workspace<const across_ranks<Ranks, Workspace>> = false;

UMBEL_SAYS(is_not_divided_so_pass_the_workspace_without_across,
           "is not divided among processes; pass the workspace itself, without across");
namespace rules {
template <class Layer, class Ranks, class Workspace, class Wanted, class Sizes>
struct workspace_rule<Layer, across_ranks<Ranks, Workspace>, Wanted, Sizes> {
  using type = verdict<false, Layer, say::is_not_divided_so_pass_the_workspace_without_across>;
};
}  // namespace rules

template <class Given>
inline constexpr bool is_across = false;
template <class Ranks, class Workspace>
inline constexpr bool is_across<across_ranks<Ranks, Workspace>> = true;

struct across_operation
    : other_calls<say::across, say::expects_a_communicator_and_a_workspace_of_a_sharded_layer> {
  using other_calls<say::across,
                    say::expects_a_communicator_and_a_workspace_of_a_sharded_layer>::operator();

  template <class Ranks, workspace_like Workspace>
  across_ranks<Ranks, Workspace> operator()(const communicator<Ranks>& among UMBEL_LIFETIMEBOUND,
                                            Workspace& work UMBEL_LIFETIMEBOUND) const noexcept {
    if (!among) stop<(UMBEL_CHECK != 0)>(among.error());
    return {among, work};
  }
};

}  // namespace detail

// across(world, work): pass it to a sharded layer instead of a workspace; both are borrowed. All
// ranks must make the same calls in the same order.
inline constexpr detail::across_operation across{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
