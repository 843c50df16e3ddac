// SPDX-License-Identifier: BSL-1.0
// The drawn layers in integers of bits/integer_layers.hpp, packed by the target itself, which takes
// double arithmetic: the hashes of the parts that the cross file names, one set of all targets.
#include "../bits/integer_layers.hpp"
#include "check.hpp"

namespace {

bool is_plain;

constexpr const char* names[integers_test::parts] = {
    "drawn layers: part 0", "drawn layers: part 1", "drawn layers: part 2", "drawn layers: part 3",
    "drawn layers: the largest sums, tables of activations"};

template <int Part>
void check_part() noexcept {
  is_plain = true;
  const std::uint64_t hash = integers_test::hash_of_part<Part>();
  embedded::check(names[Part], is_plain && hash == integers_test::golden[Part]);
}
template <int... Parts>
void check_parts() noexcept {
  (check_part<Parts>(), ...);
}

}  // namespace

void integers_test::report(const char* what, int layer, std::uint64_t, bool same) noexcept {
  if (same) return;
  is_plain = false;
  embedded::print("# not its definition: ");
  embedded::print(what);
  embedded::print(" ");
  embedded::print(static_cast<std::uint32_t>(layer));
  embedded::print("\n");
}

int main() {
  check_parts<DRAWN_PARTS>();
  embedded::print("# packs in double\n");  // for bounds.py
  return embedded::finish();
}
