// SPDX-License-Identifier: BSL-1.0
// What the programs of this folder share: they run under mpirun, and check.py reads what rank 0
// prints. Not here: any test.
#pragma once

#include <umbel/mpi.hpp>

#include <cstddef>
#include <cstdio>
#include <type_traits>

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

// Did all checks so far hold on all ranks? Known to rank 0.
inline bool all_hold = true;
// "ok NAME" where it holds on all ranks, else "not ok NAME: ranks 0, 2".
inline void check(const char* name, bool holds) {
  const int bad = holds ? 0 : 1, rank = rank_of_world(), count = ranks_of_world();
  int all[64]{};
  MPI_Gather(&bad, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  bool good = true;
  for (int r = 0; r < count; ++r) good = good && all[r] == 0;
  all_hold = all_hold && good;
  std::printf("%s %s", good ? "ok" : "not ok", name);
  const char* before = ": ranks ";
  for (int r = 0; r < count; ++r)
    if (all[r] != 0) std::printf("%s%d", before, r), before = ", ";
  std::printf("\n");
  std::fflush(stdout);
}

// The body of main: f of the number of ranks, a constant, where it is one of Ranks.
template <int... Ranks, class F>
void by_ranks(int count, char** words, const F& f) {
  const mpi job{count, words};
  const int given = ranks_of_world();
  bool is_known = false;
  ((given == Ranks ? (is_known = true, f(std::integral_constant<std::size_t, std::size_t{Ranks}>{}))
                   : void()),
   ...);
  if (!is_known) check("a number of ranks that this program is for", false);
  if (rank_of_world() == 0) std::printf("done\n");
}

}  // namespace umbel_test
