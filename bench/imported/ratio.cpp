// SPDX-License-Identifier: BSL-1.0
// tools/bench imported: each model as tools/import wrote it and as by_hand.hpp has it, in turn. A
// line each: name, microseconds of the imported and of the other (thread CPU time, medians of
// rounds), the median of the rounds' ratios, the largest difference of their outputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <umbel/weights.hpp>

#include "../core.hpp"
#include "by_hand.hpp"

namespace {

constexpr std::size_t rounds = 201;
constexpr double seconds_of_a_round = 2e-3;

double median(std::array<double, rounds> x) {
  std::nth_element(x.begin(), x.begin() + rounds / 2, x.end());
  return x[rounds / 2];
}

template <class F>
double seconds(int calls, const F& f) {
  const double begin = bench::thread_seconds();
  for (int i = 0; i < calls; ++i) {
    f();
    __asm__ volatile("" : : : "memory");
  }
  return (bench::thread_seconds() - begin) / calls;
}

template <class Result, class Imported, class Written>
void race(const char* name, const Imported& imported, const Written& written) {
  static Result by_import, by_hand;
  imported(by_import);
  written(by_hand);
  const double apart = umbel::compare_parameters(by_import, by_hand).largest;
  const int calls =
      std::max(1, static_cast<int>(seconds_of_a_round / seconds(3, [&] { written(by_hand); })));
  std::array<double, rounds> first{}, second{}, ratio{};
  for (std::size_t i = 0; i < rounds; ++i) {
    first[i] = seconds(calls, [&] { imported(by_import); });
    second[i] = seconds(calls, [&] { written(by_hand); });
    ratio[i] = first[i] / second[i];
  }
  std::printf("%s\t%.2f\t%.2f\t%.3f\t%.2g\n", name, median(first) * 1e6, median(second) * 1e6,
              median(ratio), apart);
}

template <class Weights, class Packed>
void prepare(Packed& packed) {
  static Weights w;
  umbel::for_each_parameter(w, [](const umbel::parameter_path&, auto x) { bench::fill(x, 0.2F); });
  pack(packed, w);
}

template <class Tensor>
const Tensor& input() {
  static const Tensor filled = [] {
    static Tensor x;
    if constexpr (std::is_same_v<typename Tensor::value_type, float>)
      bench::fill(x, 1.0F);
    else
      for (std::size_t i = 0; i < Tensor::size(); ++i)
        x.data()[i] = static_cast<typename Tensor::value_type>(i % 2 == 0);
    return x;
  }();
  return filled;
}

#define RACE(model, ...)                                                                \
  {                                                                                     \
    static model::packed packed;                                                        \
    static model::workspace work;                                                       \
    prepare<model::weights>(packed);                                                    \
    race<model::result_tensor>(                                                         \
        #model, [](auto& out) { model::forward.into(out, __VA_ARGS__, packed, work); }, \
        [](auto& out) { by_hand::run(out, __VA_ARGS__, packed); });                     \
  }

}  // namespace

int main() {
  RACE(Encoder, input<Encoder::x_tensor>())
  RACE(VisionTransformer, input<VisionTransformer::x_tensor>())
  RACE(KeywordTransformer, input<KeywordTransformer::x_tensor>())
  RACE(Bert, input<Bert::ids_tensor>(), input<Bert::attention_mask_tensor>())
  RACE(Whisper, input<Whisper::x_tensor>())
  RACE(Llama, input<Llama::ids_tensor>())
  RACE(Conformer, input<Conformer::x_tensor>())
}
