// SPDX-License-Identifier: BSL-1.0
// The drawn layers of integer_layers.hpp on this machine. check.py builds it in many ways and
// compares the lines, a hash of each layer; ../embedded/drawn_layers.cpp has them on other targets.
#include <cstdio>
#include <cstring>

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
  return passes && are_300 ? 0 : 1;
}
