// SPDX-License-Identifier: BSL-1.0
// Loops over elements with a stride, as compilers make vectors of them: for MVE clang 19 takes the
// stride four times (LLVM issue 120993), in the simplest of loops. config.hpp refuses it where it
// is not told not to; that the flag it asks for suffices is seen here.
#include "check.hpp"
#include "draw.hpp"

constexpr int count = 100;
// Room for four times each stride, so that a wrong address is another element.
static constinit umbel::tensor<float, umbel::axes::token<count * 20>> x{}, y{};

[[gnu::noinline]] void store_strided(const float* from, float* to, int n) {
  for (int i = 0; i < n; ++i) to[2 * i] = from[i] * 2;
}
[[gnu::noinline]] void load_strided(const float* from, float* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = from[5 * i] * 2;
}
[[gnu::noinline]] void copy_strided(const float* __restrict from, float* __restrict to) {
  for (int i = 0; i < count; ++i) to[3 * i] = from[i];
}
// Two rows, of which `rows` are read, in turns: the loop of ours that was wrong.
[[gnu::noinline]] void interleave(const float* from, unsigned rows, float factor, float* to) {
  for (unsigned r = 0; r < 2; ++r) {
    const unsigned rest = rows > r ? rows - r : 0;
    const float* const row = from + (rest != 0 ? r * count : 0);
    for (unsigned c = 0; c < 20; ++c) to[r + c * 2] = (rest != 0 ? row[c] : 0.0f) * factor;
  }
}

// to[stride * i] is right for each i < n, and no other element was touched.
template <class Right>
bool holds(int n, int stride, Right right) {
  bool all = true;
  int i = 0, at = 0;
  for (const float value : y) {
    const bool written = i < n && at == i * stride;
    all = all && value == (written ? right(i) : -1.0f);
    if (written) ++i;
    ++at;
  }
  for (float& value : y) value = -1;
  return all && i == n;
}

int main() {
  embedded::lcg next{4};
  embedded::draw(next, x);
  (void)holds(0, 1, [](int) { return 0.0f; });  // y is -1
  const float* const from = x.data();
  store_strided(from, y.data(), count);
  embedded::check("stores", holds(count, 2, [&](int i) { return from[i] * 2; }));
  load_strided(from, y.data(), count);
  embedded::check("loads", holds(count, 1, [&](int i) { return from[5 * i] * 2; }));
  copy_strided(from, y.data());
  embedded::check("copies", holds(count, 3, [&](int i) { return from[i]; }));
  interleave(from, 2, 0.5f, y.data());
  embedded::check("two rows in turns",
                  holds(40, 1, [&](int i) { return from[i % 2 * count + i / 2] * 0.5f; }));
  return embedded::finish();
}
