// SPDX-License-Identifier: BSL-1.0
// Every legal plan of one shape, timed side by side: how far is the planner's from the best? run.py
// compiles this once a shape and makes the table.
//
//   -DUMBEL_LINEAR=rows,in,out             y = x W + b, packed weights
//   -DUMBEL_ATTEND=heads,queries,keys,head_dim
//
// One line a plan on standard output, fields between tabs: us, us of the estimate (plan/cost.hpp)
// at the same clock, whether the planner chose it, its name. The least of many short turns, plan
// after plan in each round, so that a busy moment falls on none of them; all plans in the same
// memory, for where weights lie in the caches is worth a fifth of a call of one row.
#include <umbel/kernel/float/attend_heads.hpp>
#include <umbel/kernel/float/linear.hpp>
#include <umbel/plan/cost.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core.hpp"

namespace {

namespace kernel = umbel::detail::kernel;
namespace plan = umbel::detail::plan;
constexpr plan::target machine = plan::native_target;

struct candidate {
  std::string name;
  bool chosen;
  double cycles;
  void (*prepare)();
  void (*run)();
  double best = 1e9;
};
std::vector<candidate> candidates;

void time_all() {
  constexpr double turn = 100e-6;  // seconds
  std::vector<int> repetitions;
  for (const candidate& c : candidates) {
    int count = 1;
    c.prepare();
    for (;; count *= 2) {
      const double start = bench::thread_seconds();
      for (int i = 0; i < count; ++i) c.run();
      if (bench::thread_seconds() - start > turn) break;
    }
    repetitions.push_back(count);
  }
  for (int round = 0; round < 60; ++round) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidate& c = candidates[i];
      c.prepare();
      c.run();
      const double start = bench::thread_seconds();
      for (int r = 0; r < repetitions[i]; ++r) c.run();
      const double taken = (bench::thread_seconds() - start) / repetitions[i];
      c.best = taken < c.best ? taken : c.best;
    }
  }
  constexpr double flops_a_cycle = 4.0 * plan::lanes<float>(machine);
  const double clock = bench::fma_peak() / flops_a_cycle * 1e3;  // cycles in a us
  for (const candidate& c : candidates)
    std::printf("%.5g\t%.5g\t%d\t%s\n", c.best * 1e6, c.cycles / clock, c.chosen, c.name.c_str());
}

struct memory {
  explicit memory(std::size_t count)
      : data(static_cast<float*>(
            std::aligned_alloc(64, (count + 16) * sizeof(float) / 64 * 64 + 64))) {
    for (std::size_t i = 0; i < count; ++i)
      data[i] = static_cast<float>(i * 2654435761u % 1000) * 1e-3f - 0.5f;
  }
  float* data;
};

constexpr plan::target with(plan::overrides fixed) {
  plan::target changed = machine;
  changed.fixed = fixed;
  return changed;
}

// Overrides of which no two give the same plan. Plan: of a target.
template <std::size_t Most>
struct choices {
  std::array<plan::overrides, Most> one{};
  std::size_t count = 0;

  template <class Plan>
  constexpr void add(plan::overrides fixed, Plan plan_of) {
    for (std::size_t i = 0; i < count; ++i)
      if (plan_of(with(one[i])) == plan_of(with(fixed))) return;
    one[count++] = fixed;
  }
};

std::string text(plan::split s, const char* of) {
  std::string out = std::to_string(s.large_count) + " x " + std::to_string(s.large);
  if (s.small_count != 0)
    out = std::to_string(s.small_count) + " x " + std::to_string(s.smaller()) + " + " + out;
  return std::string(of) + " " + out;
}

#ifdef UMBEL_LINEAR
constexpr std::array<std::size_t, 3> sizes{UMBEL_LINEAR};
constexpr kernel::linear_shape shape = {sizes[0], sizes[1], sizes[2], sizes[1],
                                        1,        sizes[2], 1,        true};

constexpr auto plan_of(plan::target target) {
  return plan::plan_linear<float>(shape.rows, shape.in, shape.out, target);
}
constexpr auto all = [] {
  choices<512> found;
  found.add({}, plan_of);
  for (std::size_t vectors = 0; vectors <= 8;
       ++vectors) {  // 0: the planner's panels, perhaps in tiles of two
    for (std::size_t rows = 24 / (vectors + 1) + 2; rows >= 1; --rows) {
      for (std::size_t group = 1; group <= 24; ++group) {
        const plan::overrides fixed = {vectors, rows, group, 0};
        const plan::linear_plan p = plan_of(with(fixed));
        const std::size_t sums = p.rows.large * p.tile * p.group;
        const std::size_t weights = shape.rows == 1 ? 1 : p.tile * p.group;
        if (sums + weights + 1 <= machine.registers) found.add(fixed, plan_of);
      }
    }
  }
  return found;
}();

const memory x(shape.rows* shape.in), y(shape.rows* shape.out), w(shape.in* shape.out),
    b(shape.out + 64), panels(kernel::packed_size<shape, float>), biases(shape.out + 64);

template <plan::target Target>
void add() {
  constexpr plan::linear_plan p = plan_of(Target);
  static_assert(kernel::packed_size<shape, float, Target> == kernel::packed_size<shape, float>);
  const std::string tile = p.tile == p.panels.large ? "" : ", tiles " + std::to_string(p.tile);
  candidates.push_back({text(p.panels, "panels") + tile + text(p.rows, ", rows") + ", group " +
                            std::to_string(p.group),
                        p == plan_of(machine), plan::cycles<float>(p, shape.in),
                        [] {
                          kernel::pack_linear<shape.in, shape.out, true, float, Target>(
                              w.data, b.data, panels.data, biases.data);
                        },
                        [] {
                          kernel::linear_packed<shape, float, Target>(x.data, panels.data,
                                                                      biases.data, y.data);
                        }});
}
#else
constexpr std::array<std::size_t, 4> sizes{UMBEL_ATTEND};
constexpr kernel::attend_shape shape = {sizes[1], sizes[2], sizes[3], sizes[3], sizes[3],
                                        1,        sizes[3], 1,        sizes[3], 1,
                                        sizes[3], 1,        sizes[1]};

constexpr auto plan_of(plan::target target) {
  return plan::plan_attend<float>(
      shape.queries, shape.keys, target,
      plan::queries_alone<float>(shape.queries, shape.keys, shape.head_dim, shape.value_dim,
                                 target));
}
constexpr auto all = [] {
  choices<64> found;
  found.add({}, plan_of);
  for (std::size_t vectors = 1; vectors <= 4; ++vectors) {
    for (std::size_t rows = 24 / vectors + 2; rows >= 1; --rows) {
      const plan::overrides fixed = {0, rows, 0, vectors};
      found.add(fixed, plan_of);
    }
  }
  return found;
}();

constexpr std::size_t of_queries = shape.queries * shape.head_dim,
                      of_keys = shape.keys * shape.head_dim;
constexpr std::size_t most_scratch = [] {
  std::size_t most = 0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((most = std::max(most, kernel::attend_scratch<shape, float, with(all.one[I])>)), ...);
  }(std::make_index_sequence<all.count>{});
  return most;
}();
const memory q(sizes[0] * of_queries), k(sizes[0] * of_keys), v(sizes[0] * of_keys),
    o(sizes[0] * of_queries), scratch(most_scratch);

template <plan::target Target>
void add() {
  constexpr plan::attend_plan p = plan_of(Target);
  candidates.push_back(
      {text(p.queries, "queries") + text(p.keys, ", keys"), p == plan_of(machine),
       static_cast<double>(sizes[0]) *
           plan::cycles<float>(p, Target, shape.keys, shape.head_dim, shape.head_dim),
       [] {},
       [] {
         for (std::size_t h = 0; h < sizes[0]; ++h)
           kernel::attend<shape, float, Target>(
               q.data + h * of_queries, k.data + h * of_keys, v.data + h * of_keys, 0.25f,
               kernel::scores::every_key{}, o.data + h * of_queries, scratch.data);
       }});
}
#endif

template <std::size_t... I>
void add_all(std::index_sequence<I...>) {
  (add<with(all.one[I])>(), ...);
}

}  // namespace

int main() {
  add_all(std::make_index_sequence<all.count>{});
  time_all();
  return 0;
}
