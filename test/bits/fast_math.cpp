// SPDX-License-Identifier: BSL-1.0
// Built with -ffast-math: sums may round otherwise, but exp is exp. (Where it rounds by adding a
// number and taking it away again, the flag allows to drop both.) Exit code 0 is passing.
#include <umbel/bare.hpp>

#include <cmath>
#include <cstdio>

using namespace umbel;
using namespace umbel::axes;

namespace {

constexpr double most = 2e-6;

template <class T>
bool check(const char* type) {
  static tensor<T, query<3>, key<37>> x;
  int i = 0;
  for (T& element : x) element = static_cast<T>(i++ % 17) * T{0.25} - T{1.5};
  const auto weights = x | softmax<key>;
  const auto gated = x | silu;
  const auto smooth = x | gelu_tanh;
  double worst = 0;
  for (std::size_t q = 0; q < 3; ++q) {
    double sum = 0;
    for (std::size_t k = 0; k < 37; ++k) sum += std::exp(static_cast<double>(x(q, k)));
    for (std::size_t k = 0; k < 37; ++k) {
      const double at = static_cast<double>(x(q, k));
      const double inner = 0.7978845608028654 * (at + 0.044715 * at * at * at);
      const double off[] = {static_cast<double>(weights(q, k)) - std::exp(at) / sum,
                            static_cast<double>(gated(q, k)) - at / (1 + std::exp(-at)),
                            static_cast<double>(smooth(q, k)) - 0.5 * at * (1 + std::tanh(inner))};
      for (const double difference : off) worst = std::fmax(worst, std::fabs(difference));
    }
  }
  if (worst <= most) return true;
  std::printf("%s: off by %g\n", type, worst);
  return false;
}

}  // namespace

int main() { return check<float>("float") && check<double>("double") ? 0 : 1; }
