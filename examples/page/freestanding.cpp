// SPDX-License-Identifier: BSL-1.0
// The functions of a C library that the compiler expects everywhere, as far as the page's modules
// need them. (memcpy, memmove and memset are WebAssembly instructions.)
#include <cstddef>

extern "C" {

// no_builtin: their loops must not become calls of themselves.
__attribute__((no_builtin)) int memcmp(const void* a, const void* b, std::size_t count) noexcept {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (; count != 0; --count, ++left, ++right)
    if (*left != *right) return *left < *right ? -1 : 1;
  return 0;
}

__attribute__((no_builtin)) std::size_t strlen(const char* text) noexcept {
  std::size_t size = 0;
  while (text[size] != 0) ++size;
  return size;
}
}
