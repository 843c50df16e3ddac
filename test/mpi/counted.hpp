// SPDX-License-Identifier: BSL-1.0
// Messages, bytes and what is allocated beside them, counted: for programs of one file.
#pragma once

#include "../../examples/fashion/allocations.hpp"
#include "ranks.hpp"

namespace umbel_test {

// Of MPI_Allgather and MPI_Alltoall, so far: calls, and bytes that this rank gave to each other.
struct gathered {
  std::size_t calls = 0, bytes = 0;
};
inline gathered so_far;
// Were those since `before` what the type of the call says?
inline bool as_said(const gathered& before, const umbel::exchange_cost& said, std::size_t ranks) {
  if (ranks == 1) return so_far.calls == before.calls && said.messages == 0 && said.bytes == 0;
  return so_far.calls - before.calls == said.gathers &&
         said.messages == said.gathers * (ranks - 1) &&
         (so_far.bytes - before.bytes) * (ranks - 1) == said.bytes;
}

// Counts what reaches the heap while it lives, but for what those do.
inline bool is_counting = false;
struct counting {
  counting() { fashion::heap::begin(), is_counting = true; }
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;
  ~counting() { fashion::heap::end(), is_counting = false; }
};

template <class Send>
int counted(int each, MPI_Datatype type, const Send& send) {
  if (is_counting) fashion::heap::end();
  int size = 0;
  MPI_Type_size(type, &size);
  ++so_far.calls, so_far.bytes += static_cast<std::size_t>(each) * static_cast<std::size_t>(size);
  const int code = send();
  if (is_counting) fashion::heap::begin();
  return code;
}

}  // namespace umbel_test

// In the place of MPI's, as its profiling interface has it.
int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int each,
                  MPI_Datatype type_of_each, MPI_Comm among) {
  return umbel_test::counted(each, type_of_each, [&] {
    return PMPI_Allgather(from, count, type, to, each, type_of_each, among);
  });
}
int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int each,
                 MPI_Datatype type_of_each, MPI_Comm among) {
  return umbel_test::counted(each, type_of_each, [&] {
    return PMPI_Alltoall(from, count, type, to, each, type_of_each, among);
  });
}
