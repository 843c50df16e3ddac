// SPDX-License-Identifier: BSL-1.0
// More than one core: pass an executor and one workspace per worker instead of a workspace:
//
//   static thread_pool<2> pool;                          // yours: examples/thread_pool.hpp
//   static attention::workspace<token<512>> work[2];
//   attend.into(out, x, causal, parallel(pool, work));   // the same bits
//
// The layer calls executor(count, piece). The executor calls piece(index, worker) once for each
// index below count, in any order, and returns when all calls have returned; their results are
// visible after that. worker is below the constant `workers`, and no two pieces run with the same
// worker at the same time. Pieces never allocate or throw. Neither should executors.
//
// An executor pays off if a call takes tens of microseconds; for shorter calls it costs more than
// it gains. The library starts no threads, and without `parallel` none of this is compiled. Not
// here: the pieces (attention/forward_in_parts.hpp, block/transformer.hpp, formula/in_parts.hpp).
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/workspace.hpp>
#include <umbel/tensor/other_calls.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct parallel;
struct
    the_executor_needs_a_static_constant_workers_above_0_and_a_call_operator_that_accepts_a_count_and_a_function;
struct workers;
}  // namespace say

UMBEL_SAYS(the_executor_is_a_temporary_so_store_it_in_a_variable,
           "the executor is a temporary; store it in a variable");
UMBEL_SAYS(expects_an_executor_and_an_array_of_workspaces_one_for_each_worker,
           "expects an executor and an array of workspaces, one for each worker");

template <shaped Given>
inline constexpr bool rules::is_foreign<
    say::expects_an_executor_and_an_array_of_workspaces_one_for_each_worker, Given> = true;

struct any_piece {
  constexpr void operator()(std::size_t, std::size_t) const noexcept {}
};
// A static member. g++ 12 makes the concept below an error if it isn't static.
template <class E>
concept has_workers = std::is_pointer_v<decltype(&E::workers)>;
}  // namespace detail

// Can E run the pieces of a call: executor(count, piece), with a constant `workers` above 0?
template <class E>
concept executor_like =
    detail::has_workers<std::remove_cvref_t<E>> &&
    requires(E& executor, const detail::any_piece& piece) {
      typename std::integral_constant<std::size_t, std::remove_cvref_t<E>::workers>;
      executor(std::size_t{1}, piece);
    } && (std::remove_cvref_t<E>::workers > 0);

// An executor with one worker, the calling thread.
struct serial_executor {
  static constexpr std::size_t workers = 1;
  template <class Piece>
  constexpr void operator()(std::size_t count, const Piece& piece) const noexcept {
    for (std::size_t index = 0; index < count; ++index) piece(index, std::size_t{0});
  }
};
inline constexpr serial_executor serial{};
namespace detail {
namespace rules {
// Count: the number of workspaces.
template <class Executor, std::size_t Count>
struct parallel_rule {
  using type = verdict<
      never<Executor>, say::parallel,
      say::
          the_executor_needs_a_static_constant_workers_above_0_and_a_call_operator_that_accepts_a_count_and_a_function>;
};
template <executor_like Executor, std::size_t Count>
struct parallel_rule<Executor, Count> {
  static constexpr std::size_t workers = std::remove_cvref_t<Executor>::workers;
  using type = first_error<
      verdict<std::is_lvalue_reference_v<Executor>, say::parallel,
              say::the_executor_is_a_temporary_so_store_it_in_a_variable>,
      verdict<(Count >= workers), say::parallel, struct the_executor_has, number<workers>,
              say::workers, struct but_the_number_of_workspaces_is, number<Count>>>;
};
}  // namespace rules

// The result of parallel(): an executor and the first of its workers' workspaces. Checked: with
// UMBEL_CHECK, so that files with and without it share no code of a call.
template <class Executor, class Workspace, bool Checked>
struct parallel_workspaces : workspace_base {
  static constexpr std::size_t workers = Executor::workers;
  using each = Workspace;
  Executor& executor;
  Workspace* work;
  constexpr parallel_workspaces(Executor& e, Workspace* w) noexcept : executor(e), work(w) {}

  template <class Piece>
  constexpr void hand_out(std::size_t count, const Piece& piece) const noexcept {
    if constexpr (Checked)
      executor(count, [&](std::size_t index, std::size_t worker) noexcept {
        if (index >= count) number_is_outside_of("piece", index, "pieces", count);
        if (worker >= workers) number_is_outside_of("worker", worker, "workers", workers);
        piece(index, worker);
      });
    else
      executor(count, piece);
  }
};

// The workspace passed to a call: the type of one, and of all. Scratch: the wanted type of one.
template <class Given, class Scratch>
struct given_workspaces {
  using each = Given;
  using all = Scratch;
  static constexpr bool several = false;
};
template <class Given, class Scratch>
  requires requires { typename Given::each; }
struct given_workspaces<Given, Scratch> {
  using each = typename Given::each;
  using all = Given;
  static constexpr bool several = true;
};

struct parallel_operation
    : other_calls<say::parallel,
                  say::expects_an_executor_and_an_array_of_workspaces_one_for_each_worker> {
  using refused =
      other_calls<say::parallel,
                  say::expects_an_executor_and_an_array_of_workspaces_one_for_each_worker>;
  using refused::operator();

  template <class Executor, workspace_like Workspace, std::size_t Count>
  UMBEL_SHARED constexpr auto operator()(Executor&& executor,
                                         Workspace (&work)[Count]) const noexcept {
    return checked<Executor, Count>(executor, work);
  }
  // std::array or std::span; or std::vector, whose size UMBEL_CHECK compares at run time.
  template <class Executor, memory Workspaces>
    requires workspace_like<decltype(*std::declval<Workspaces&>().data())>
  UMBEL_SHARED constexpr auto operator()(Executor&& executor, Workspaces& work) const noexcept {
    constexpr std::size_t count = memory_size<std::remove_const_t<Workspaces>>();
    if constexpr (UMBEL_CHECK != 0 && count == npos && executor_like<Executor>) {
      constexpr std::size_t last = std::remove_cvref_t<Executor>::workers - 1;
      if (work.size() <= last) number_is_outside_of("worker", last, "workspaces", work.size());
    }
    return checked<Executor, count>(executor, work.data());
  }

 private:
  template <class Executor, std::size_t Count, class Workspace>
  UMBEL_SHARED static constexpr auto checked(std::remove_reference_t<Executor>& executor,
                                             Workspace* work) noexcept {
    using verdict = typename rules::parallel_rule<Executor, Count>::type;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return parallel_workspaces<std::remove_reference_t<Executor>, Workspace, (UMBEL_CHECK != 0)>(
          executor, work);
    else
      return invalid{};
  }
};

}  // namespace detail

// parallel(executor, work): pass it to a layer instead of a workspace to use several cores; both
// are borrowed. work: an array, std::array, std::span or std::vector of workspaces of the call, at
// least one per worker. If their number is known only at run time, UMBEL_CHECK reports too few.
inline constexpr detail::parallel_operation parallel{};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
