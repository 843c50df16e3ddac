// SPDX-License-Identifier: BSL-1.0
// vector_check() tells whether the vectors of this core have the length that the file was compiled
// for: those of SVE and RISC-V have as many bits as the core likes. See docs/targets.md.
#pragma once

// clang-format off: all that this needs, in order; bare.hpp explains (test/layering.py --lists).
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>
#include <umbel/shape/invalid.hpp>
#include <umbel/shape/verdict.hpp>
// clang-format on

#include <cstddef>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>
#include <umbel/simd/vector_length.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(so_write_fit_compiled_or_core_of_vector_check,
           "; write vector_check().fit, .compiled or .core");
UMBEL_SAYS(has_no_template_arguments_so_compare_its_vector_bits,
           "has no template arguments; compare the compiled and core of its vector_bits");
UMBEL_SAYS(vector_check, "vector_check");
}  // namespace detail

// Bits of a vector register.
//
// compiled: those that the file was compiled for (-msve-vector-bits; zvl256b in -march)
// core: those that the core has, or that its operating system has set
// fit: does code of this file compute right? SVE: if both are equal. RISC-V: if the core has as
// many, or more (equal with -mrvv-vector-bits). Other targets: always.
struct vector_bits {
  std::size_t compiled, core;
  bool fit;

  // As a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr operator X() const noexcept {
    return detail::no_conversion<vector_bits,
                                 detail::say::so_write_fit_compiled_or_core_of_vector_check, X>();
  }
};

// Compares the core's vectors with the compiled ones. Call it on bare metal before the first layer,
// with vectors switched on: if the bits do not fit, layers compute wrong numbers. A core without
// such vectors stops here, at an illegal instruction.
//
// Under an operating system a program does it before main, and stops with "umbel: compiled for
// 256-bit vectors, but this core's have 128". Files of which a program chooses one are compiled
// with -DUMBEL_VECTOR_CHECK=0 (docs/dispatch.md).
inline vector_bits vector_check() noexcept {
  const detail::simd::vector_lengths here = detail::simd::vector_lengths_here();
  return {here.compiled, here.core, here.fit};
}
// vector_check<float>(): refused.
template <class... X>
  requires(sizeof...(X) > 0)
constexpr vector_bits vector_check() noexcept {
  using verdict =
      detail::verdict<detail::never<X...>, detail::say::vector_check,
                      detail::say::has_no_template_arguments_so_compare_its_vector_bits>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
