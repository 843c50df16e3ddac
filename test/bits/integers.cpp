// SPDX-License-Identifier: BSL-1.0
// The drawn layers of integer_layers.hpp on this machine. check.py builds it in many ways and
// compares the lines, a hash of each layer; ../embedded/drawn_layers.cpp has them on other targets.
#include <cstdio>
#include <cstring>

#include "../support/random.hpp"
#include "integer_layers.hpp"

namespace {

bool prints = true, passes = true;

template <int Part>
void check_part() noexcept {
  const std::uint64_t hash = integers_test::hash_of_part<Part>();
  if (hash == integers_test::golden[Part]) return;
  std::printf("the hash of part %d is %016llx\n", Part, static_cast<unsigned long long>(hash));
  passes = false;
}

// A formula: maps, contractions, tables, sums of two values, a hidden softmax, a gate.
using namespace umbel;
using namespace umbel::axes;
using rows = tensor<float, token<21>, hidden<19>>;
using map = linear<float, hidden<19>, head_dim<10>, bias<true>>;
struct weights_of_formula {
  static constexpr const char* part_names[] = {"q", "k", "v", "o"};
  map::weights q, k, v;
  linear<float, head_dim<10>, hidden<19>, bias<true>>::weights o;
};
constexpr formula gated_attention = [](auto x, const auto& w) {
  const auto scores = tanh(contract<head_dim>(x * w.q, (x * w.k) | rename_axis<token, key>)) * 4;
  const auto v = x * w.v;
  const auto seen = hide(scores, position<key> > position<token>);
  const auto context = contract<key>(softmax<key>(seen), v | rename_axis<token, key>);
  return silu(v) * context * w.o - x;
};
void check_formula() noexcept {
  using layer = quantized<decltype(gated_attention), rows, weights_of_formula>;
  umbel_test::lcg next{91};
  static weights_of_formula w;
  static rows x;
  static layer packed;
  umbel_test::draw(next, x, 2);
  const auto draw = [&](auto& m) {
    umbel_test::draw(next, m.weight, 0.25);
    umbel_test::draw(next, m.bias, 0.125);
  };
  draw(w.q), draw(w.k), draw(w.v), draw(w.o);
  layer::ranges seen{};
  for (auto& range : seen.values) range() = 1.375F + next() / 2;
  passes = static_cast<bool>(packed.pack(w, seen)) && passes;
  std::uint64_t hash = integers_test::hash_of_nothing;
  for (const auto v : packed(quantize<layer::input_type<0>>(x, layer::input_range<0>(seen))))
    integers_test::add(hash, v);
  integers_test::report("formula", 1, hash, hash == 0x6989ee16cc9580b4u);
}

}  // namespace

void integers_test::report(const char* what, int layer, std::uint64_t hash,
                           bool is_plain) noexcept {
  if (!is_plain) std::printf("%s %d is not its definition\n", what, layer);
  passes = passes && is_plain;
  if (prints) std::printf("%s %d: %016llx\n", what, layer, static_cast<unsigned long long>(hash));
}

int main(int count, char** arguments) {
  prints = count == 1 || std::strcmp(arguments[1], "exceptions") != 0;
  if (prints) std::puts("fused: of no concern");
  check_part<0>(), check_part<1>(), check_part<2>(), check_part<3>();
  const bool are_300 = integers_test::layers == 300;
  check_part<4>();
  check_formula();
  return passes && are_300 ? 0 : 1;
}
