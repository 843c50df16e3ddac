// SPDX-License-Identifier: BSL-1.0
// The start and the end of a job. Without a word: communicators of other sizes than their types say
// are errors, on all ranks and before any message (by 3 ranks). "dies": after some calls rank 1 is
// killed, and the others would go on for ever. "fails": a message fails on a communicator whose
// errors are returned.
#include <csignal>
#include <cstring>

#include "ranks.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

using attention = multi_head_attention<float, hidden<12>, heads<6>>;
template <std::size_t Ranks>
using share = sharded<attention, over<heads, ranks<Ranks>>>;

template <std::size_t Ranks>
void check_error(MPI_Comm of, const char* sentence) {
  const communicator<ranks<Ranks>> one{of};
  check(sentence, !one && !one.has_value() && std::strcmp(one.error(), sentence) == 0);
}

void check_communicators(const char* before) {
  check("an error before MPI_Init",
        std::strcmp(before, "umbel: communicator: MPI is not initialized, so call MPI_Init") == 0);
  check_error<4>(MPI_COMM_WORLD, "umbel: communicator: it has 3 ranks, but the type has ranks=4");
  check_error<2>(MPI_COMM_WORLD, "umbel: communicator: it has 3 ranks, but the type has ranks=2");
  check_error<3>(MPI_COMM_SELF, "umbel: communicator: it has 1 rank, but the type has ranks=3");
  check_error<3>(MPI_COMM_NULL, "umbel: communicator: it is MPI_COMM_NULL, which has no ranks");
  // Rank 0 on one side, 1 and 2 on the other.
  MPI_Comm side = MPI_COMM_NULL, between = MPI_COMM_NULL;
  const int rank = rank_of_world(), other = rank == 0 ? 1 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, other, 1, &between);
  check_error<2>(between, "umbel: communicator: it is an intercommunicator, between two groups");
  MPI_Comm_free(&between), MPI_Comm_free(&side);

  const communicator<ranks<3>> world{MPI_COMM_WORLD};
  const communicator<ranks<1>> self{MPI_COMM_SELF};
  check("ranks are those of the communicator",
        world && world.rank() == static_cast<std::size_t>(rank) && self && self.rank() == 0 &&
            world.get() == MPI_COMM_WORLD);
}

// Calls until something ends them.
[[noreturn]] void call_for_ever(MPI_Comm of, int last_of_rank_1) {
  static const share<3>::weights own{};
  static const tensor<float, token<5>, hidden<12>> x{};
  static share<3>::workspace<token<5>> work;
  const communicator<ranks<3>> world{of};
  for (int i = 0;; ++i) {
    if (world.rank() == 1 && i == last_of_rank_1) std::raise(SIGKILL);
    (void)share<3>{own}(x, all_keys, across(world, work));
  }
}

// Fails every message: as the profiling interface has it, in the place of MPI's.
bool fails = false;

}  // namespace

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int each,
                  MPI_Datatype type_of_each, MPI_Comm among) {
  if (fails) return MPI_ERR_OTHER;
  return PMPI_Allgather(from, count, type, to, each, type_of_each, among);
}

int main(int count, char** words) {
  const communicator<ranks<3>> early{MPI_COMM_WORLD};
  {
    const mpi job{count, words};
    if (count > 1 && std::strcmp(words[1], "dies") == 0) call_for_ever(MPI_COMM_WORLD, 20);
    fails = count > 1 && std::strcmp(words[1], "fails") == 0;
    if (fails) call_for_ever(MPI_COMM_WORLD, -1);
    check_communicators(early.error());
    if (rank_of_world() == 0) std::printf("done\n");
    if (rank_of_world() != 0) return 0;
  }
  // Of rank 0: MPI has nothing to gather by any more.
  const communicator<ranks<3>> late{MPI_COMM_WORLD};
  std::printf(
      "%s an error after MPI_Finalize\n",
      std::strcmp(late.error(), "umbel: communicator: MPI is finalized") == 0 ? "ok" : "not ok");
}
