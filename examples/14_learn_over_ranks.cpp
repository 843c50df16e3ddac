// SPDX-License-Identifier: BSL-1.0
// Trains the demo's classifier (learn_fashion) over 1, 2 or 4 processes of an MPI job, with the
// bits of one: each computes the gradients of its part of a batch, and all make the same steps. The
// first writes checkpoints. If a process dies or the job's time is over, start it again with any of
// these numbers of processes: it resumes from the last checkpoint.
//
//   mpic++ -std=c++20 -O3 -march=native -I include examples/14_learn_over_ranks.cpp -o learn
//   mpirun -n 4 ./learn --data DIR --out DIR       with the options of learn_fashion
//
// Under Slurm: examples/14_learn_over_ranks.sbatch.
#include <umbel/mpi.hpp>
#include <umbel/training.hpp>

#include <cstdio>
#include <exception>
#include <optional>

#include "learn_fashion/options.hpp"
#include "learn_fashion/train.hpp"
#include "learning/folder.hpp"

namespace learn_fashion {
namespace {

template <std::size_t Ranks>
void run(const options& wanted) {
  using share = sharded<gradients, over<chains, ranks<Ranks>>>;
  static training_by<share> all;
  static typename share::workspace exchanged;
  static epoch_order order;
  const communicator<ranks<Ranks>> world{MPI_COMM_WORLD};
  if (!world) throw fashion::input_error{world.error()};
  const bool is_first = world.rank() == 0;

  const data_set data = wanted.synthetic ? make_pictures() : read_pictures(wanted.data);
  std::optional<learning::training_folder> folder;  // of the first process
  state& now = all.now;
  begin(now, wanted.seed, wanted.epochs, data.train.size());
  if (is_first) {
    folder.emplace(wanted.out);
    take_up(folder->checkpoint, folder->checkpoint.is_there(), now);
    constexpr exchange_cost each = exchange_of<share>;
    std::printf("ranks: %zu, each sends %zu messages, %llu bytes a step; begins after step %llu\n",
                Ranks, each.messages, static_cast<unsigned long long>(each.bytes),
                static_cast<unsigned long long>(now.made()));
    std::fflush(stdout);
  }
  MPI_Bcast(&now, static_cast<int>(sizeof now), MPI_BYTE, 0, MPI_COMM_WORLD);

  const std::uint64_t steps = now.steps();
  const until last{wanted.stop_after == 0 ? steps : std::min(wanted.stop_after, steps),
                   wanted.checkpoint_every, is_first ? &folder->checkpoint : nullptr};
  if (!train(all, order, data, last, serial, across(world, exchanged)))
    throw fashion::input_error{"the norm of a gradient is not finite"};
  if (is_first && now.made() == steps) write_whole(folder->result, now.average);
}

void run(const options& wanted, int ranks, int rank) {
  if (wanted.help) return void(rank == 0 ? std::fputs(usage, stdout) : 0);
  if (wanted.threads != 1 || !wanted.prune.empty())
    throw fashion::input_error{"processes take neither --threads nor --prune"};
  switch (ranks) {
    case 1:
      return run<1>(wanted);
    case 2:
      return run<2>(wanted);
    case 4:
      return run<4>(wanted);
    default:
      throw fashion::input_error{"four chains are shared by 1, 2 or 4 processes, not " +
                                 std::to_string(ranks)};
  }
}

}  // namespace
}  // namespace learn_fashion

int main(int count, char** words) {
  fashion::system::be_ready_to_write();
  MPI_Init(&count, &words);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    learn_fashion::run(learn_fashion::parse(count, words), ranks, rank);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "learn: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 2);  // the others would wait for this one
  }
  MPI_Finalize();
}
