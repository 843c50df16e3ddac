// SPDX-License-Identifier: BSL-1.0
// A layer over the processes of an MPI job: splits one long sequence by heads, a batch by
// sequences. Every rank has the result, with the bits of one process. Prints the least wall time of
// some calls, for one process and for all.
//
//   mpic++ -std=c++20 -O3 -march=native -I include examples/13_ranks.cpp -o ranks
//   mpirun -n 2 ./ranks           for a different number of ranks compile with -DRANKS=4
//
// Under Slurm: examples/13_ranks.sbatch.
#include <umbel/mpi.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef RANKS
#define RANKS 2
#endif

using namespace umbel;
using namespace umbel::axes;

using all = ranks<RANKS>;
using long_layer = multi_head_attention<float, hidden<512>, heads<8>>;
using batch_layer = multi_head_attention<float, hidden<256>, heads<8>>;
using by_heads = sharded<long_layer, over<heads, all>>;
using by_sequences = sharded<batch_layer, over<batch, all>>;

template <class X>
static void fill(X& values, float scale) {
  std::size_t i = 0;
  for (float& e : values) e = scale * std::sin(static_cast<float>(i * i % 1009)), ++i;
}

// One call on the slowest rank, in milliseconds.
template <class F>
static double time_of(const F& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  f();
  double ms = 1e3 * (MPI_Wtime() - start);
  MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return ms;
}

// The fastest of some calls, on rank 0 alone and on all, alternating so that both see the same
// machine; and whether the bits are the same.
template <class Out, class One, class All>
static bool compare(const char* name, const communicator<all>& world, int calls, const Out& by_one,
                    const Out& by_all, const One& one, const All& over_ranks) {
  double ms_of_one = 1e9, ms_of_all = 1e9;
  for (int i = 0; i < calls; ++i) {
    ms_of_all = std::fmin(ms_of_all, time_of(over_ranks));
    ms_of_one = std::fmin(ms_of_one, time_of([&] {
                            if (world.rank() == 0) one();
                          }));
  }
  if (world.rank() != 0) return true;
  const bool same = std::memcmp(by_one.data(), by_all.data(), sizeof by_one) == 0;
  std::printf("%-28s one process: %.2f ms, %d: %.2f ms, %.2f times as fast; %s bits\n", name,
              ms_of_one, RANKS, ms_of_all, ms_of_one / ms_of_all, same ? "the same" : "other");
  return same;
}

static bool run(const communicator<all>& world, int calls) {
  static long_layer::weights w;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o}) fill(map->weight, 0.1f);
  static by_heads::weights own;  // smaller than w: only this rank's heads
  cut_weights<by_heads>(w, world.rank(), own);
  static const prepacked<long_layer> whole{w};
  static const prepacked<by_heads> share{own};
  static tensor<float, token<512>, hidden<512>> x, by_one, by_all;
  static long_layer::workspace<token<512>> work;
  static by_heads::workspace<token<512>> own_work;
  fill(x, 1);
  bool good = compare(
      "8 heads, 512 tokens of 512:", world, calls, by_one, by_all,
      [] { whole.into(by_one, x, all_keys, work); },
      [&] { share.into(by_all, x, all_keys, across(world, own_work)); });

  static batch_layer::weights v;
  for (auto* map : {&v.q, &v.k, &v.v, &v.o}) fill(map->weight, 0.1f);
  static const prepacked<batch_layer> attend{v};
  static const prepacked<by_sequences> attend_own{v};
  static tensor<float, batch<8>, token<128>, hidden<256>> xs, ys_by_one, ys_by_all;
  static batch_layer::workspace<token<128>> of_one;
  fill(xs, 1);
  good &= compare(
      "8 sequences, 128 of 256:", world, calls, ys_by_one, ys_by_all,
      [] { attend.into(ys_by_one, xs, all_keys, of_one); },
      [&] { attend_own.into(ys_by_all, xs, all_keys, across(world, of_one)); });
  return good;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const communicator<all> world{MPI_COMM_WORLD};
  if (!world) std::fprintf(stderr, "%s\n", world.error());
  const int calls = count > 1 ? std::atoi(words[1]) : 200;
  if (calls < 1) std::fprintf(stderr, "usage: ranks [CALLS], at least 1\n");
  const bool good = world && calls >= 1 && run(world, calls);
  MPI_Finalize();
  return good ? 0 : 1;
}
