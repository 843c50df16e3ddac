// SPDX-License-Identifier: BSL-1.0
// Values for check.py to print in a debugger, which stops at `stop`.
#include <umbel/bare.hpp>

using namespace umbel;
using namespace umbel::axes;

namespace {
template <std::size_t N>
struct frames : axis<frames, N> {};
}  // namespace

[[gnu::noinline]] void stop(const void*) {}

struct state {
  tensor<int, classes<2>> counts;
  view<const int, classes<2>> seen;
};

int main() {
  tensor<float, batch<2>, query<2>, hidden<3>> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const tensor<double, frames<4>> half{0.5, 1.5, 2.5, -1.0};
  tensor<int, query<2>, key<2>> numbers{1, -2, 3, -4};
  tensor<signed char, classes<3>> bytes{65, -1, 7};
  tensor<bool, classes<2>> flags{true, false};
  tensor<bfloat16, classes<2>> halves{};
  halves[0] = bfloat16(1.5f);
  tensor<float16, classes<2>> other_halves{};
  other_halves[1] = float16(-0.25f);
  const tensor<float> number{2.5f};
  tensor<float, batch<4>, query<20>, hidden<10>> large{};
  for (std::size_t i = 0; i < large.size(); ++i) large.data()[i] = static_cast<float>(i);
  auto turned = x | permute<hidden, batch, query>;
  const view<const float, batch<2>, query<2>, hidden<3>> reads = x;
  const auto part = x | select_at<batch, 1> | slice<hidden, from<1>, extent<2>>;
  view<float, query<2>, hidden<3>> nowhere(static_cast<float*>(nullptr));
  view<double, hidden<3>> far_away(reinterpret_cast<double*>(16));
  const tensor<int, query<2>, key<2>>* pointer = &numbers;
  tensor<int, key<9>>* only_named = nullptr;
  linear<float, hidden<2>, classes<3>, bias<true>>::weights map{{1, 2, 3, 4, 5, 6}, {7, 8, 9}};
  multi_head_attention<double, hidden<2>, heads<1>>::weights w{};
  w.q(0, 1) = 3;
  multi_head_attention<double, hidden<2>, heads<1>>::weights_view borrowed(w);
  state both{{1, 2}, numbers | select_at<query, 1> | rename_axis<key, classes>};
  const tensor<float, hidden<2>> gammas{1.5f, 2.0f};
  const rms_norm<float, hidden<2>>::weights_view norm(gammas);
  const void* const all[] = {
      &x,       &half,       &numbers, &bytes, &flags,    &halves,  &other_halves,
      &number,  &large,      &turned,  &reads, &part,     &nowhere, &far_away,
      &pointer, &only_named, &map,     &w,     &borrowed, &both,    &norm};
  stop(all);
}
