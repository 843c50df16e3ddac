// SPDX-License-Identifier: BSL-1.0
// The race of one peer: every workload, its fastest way, checked against float64 and timed, one
// line each on standard output, fields between tabs (run.py makes the table):
//
//   family  workload  us  percent of the FMA peak measured beside it  that peak  ok|WRONG  the way
#pragma once

#include <cmath>
#include <cstdio>

#include "layers.hpp"

namespace race {

template <class Call, class... Pointers>
void report(const char* family, const std::string& workload, double flops, const ways<Call>& all,
            const numbers64& right, const float* result, Pointers... pointers) {
  for (const way<Call>& one : all) {  // a wrong way may not win
    one.run(1, pointers...);
    if (agrees(right, result)) continue;
    std::printf("%s\t%s\t0\t0\t0\tWRONG\t%s\n", family, workload.c_str(), one.name.c_str());
    return;
  }
  const way<Call> best = fastest(all, pointers...);
  // Again when the clock changed under it.
  double taken = 0, before = 0, after = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    before = bench::fma_peak();
    taken = seconds(best.run, 51, 5e-4, pointers...);
    after = bench::fma_peak();
    if (std::abs(before - after) < 0.02 * after) break;
  }
  const double peak = (before + after) / 2;
  std::printf("%s\t%s\t%.5g\t%.4g\t%.1f\tok\t%s\n", family, workload.c_str(), taken * 1e6,
              flops / taken * 1e-7 / peak, peak, best.name.c_str());
  std::fflush(stdout);
}

template <class Peer, linear_shape S>
void run() {
  const memory x = numbers(S.rows * S.in, 1), y = allocate(S.rows * S.out);
  const memory w = numbers(S.out * S.in, 0.1f), b = numbers(S.out, 1);
  const float* const from = x.get();
  report("linear", name(S), flops(S), linears<Peer, S>(w.get(), b.get()),
         reference(S, from, w.get(), b.get()), y.get(), from, y.get());
}

template <class Peer, softmax_shape S>
void run() {
  if constexpr (requires { Peer::template softmaxes<S>(); }) {
    const memory x = numbers(S.rows * S.columns, 4), y = allocate(S.rows * S.columns);
    const float* const from = x.get();
    report("softmax", name(S), flops(S), Peer::template softmaxes<S>(), reference(S, from), y.get(),
           from, y.get());
  }
}

template <class Peer, contract_shape S>
void run() {
  if constexpr (!requires { Peer::few_ways; } && !requires { Peer::template contracts<S>(); }) {
    return;  // has no product of its own
  } else {
    const std::size_t weights = S.heads * S.queries * S.keys, keys = S.keys * S.hidden();
    const std::size_t queries = S.queries * S.hidden();
    const memory x = numbers(S.values ? weights : queries, 1), y = numbers(keys, 1);
    const memory out = allocate(S.values ? queries : weights);
    const float *const of_x = x.get(), *const of_y = y.get();
    report("contract", name(S), flops(S), contracts<Peer, S>(), reference(S, of_x, of_y), out.get(),
           of_x, of_y, out.get());
  }
}

template <class Peer, attention_shape S>
void run() {
  const std::size_t queries = S.batch * S.q.batch, keys = S.batch * S.k.batch;
  const memory q = numbers(queries, 1.5f), k = numbers(keys, 1.5f), v = numbers(keys, 1);
  const memory o = allocate(queries);
  const float *const of_q = q.get(), *const of_k = k.get(), *const of_v = v.get();
  report("attend", name(S), flops(S), attentions<Peer, S>(), reference(S, of_q, of_k, of_v),
         o.get(), of_q, of_k, of_v, o.get());
}

template <class Peer, layer_shape S>
void run() {
  const layer_data d(S);
  const memory y = allocate(S.batch * S.queries * S.hidden);
  const float *const x = d.x.get(), *const z = d.z.get();
  report("mha", name(S), flops(S), layers<Peer, S>(d), reference(S, d), y.get(), x, z, y.get());
}

template <class Peer, const auto& Shapes, std::size_t... I>
void run_all(const std::string& only, std::index_sequence<I...>) {
  ((name(Shapes[I]).find(only) != std::string::npos ? run<Peer, Shapes[I]>() : void()), ...);
}

// only: workloads that have this in their names; all when there is none.
template <class Peer>
int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
#if !defined RACE_LAYER
  run_all<Peer, linears_raced>(only, std::make_index_sequence<std::size(linears_raced)>{});
  run_all<Peer, softmaxes_raced>(only, std::make_index_sequence<std::size(softmaxes_raced)>{});
  run_all<Peer, contracts_raced>(only, std::make_index_sequence<std::size(contracts_raced)>{});
  run_all<Peer, attentions_raced>(only, std::make_index_sequence<std::size(attentions_raced)>{});
#endif
  run_all<Peer, layers_raced>(only, std::make_index_sequence<std::size(layers_raced)>{});
  return 0;
}

}  // namespace race
