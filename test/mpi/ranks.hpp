// SPDX-License-Identifier: BSL-1.0
// What the programs of this folder share: they run under mpirun, and check.py reads what rank 0
// prints. Not here: any test.
#pragma once

#include <umbel/mpi.hpp>

#include <cstdio>

namespace umbel_test {

// MPI for as long as it lives.
struct mpi {
  mpi(int& count, char**& words) { MPI_Init(&count, &words); }
  mpi(const mpi&) = delete;
  mpi& operator=(const mpi&) = delete;
  ~mpi() { MPI_Finalize(); }
};

inline int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks_of_world() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

// "ok NAME" where it holds on all ranks, else "not ok NAME: ranks 0, 2".
inline void check(const char* name, bool holds) {
  const int bad = holds ? 0 : 1, rank = rank_of_world(), count = ranks_of_world();
  int all[64]{};
  MPI_Gather(&bad, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  bool good = true;
  for (int r = 0; r < count; ++r) good = good && all[r] == 0;
  std::printf("%s %s", good ? "ok" : "not ok", name);
  const char* before = ": ranks ";
  for (int r = 0; r < count; ++r)
    if (all[r] != 0) std::printf("%s%d", before, r), before = ", ";
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace umbel_test
