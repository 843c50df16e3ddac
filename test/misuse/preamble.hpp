// SPDX-License-Identifier: BSL-1.0
// What every program of this folder starts with, as a user's file would.
#ifndef UMBEL_MISUSE_PREAMBLE
#define UMBEL_MISUSE_PREAMBLE

#include <umbel/umbel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

template <std::size_t N>
struct frames : umbel::axis<frames, N> {};
template <std::size_t N>
struct patch : umbel::axis<patch, N> {};
template <std::size_t N>
struct patch_row : umbel::axis<patch_row, N> {};
template <std::size_t N>
struct patch_column : umbel::axis<patch_column, N> {};
template <std::size_t N>
struct pixel : umbel::axis<pixel, N> {};
template <std::size_t N>
struct pixel_row : umbel::axis<pixel_row, N> {};
template <std::size_t N>
struct pixel_column : umbel::axis<pixel_column, N> {};
template <std::size_t N>
struct layer_number : umbel::axis<layer_number, N> {};

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
using tokens = tensor<float, batch<2>, token<12>, hidden<64>>;
using row = tensor<float, token<1>, hidden<64>>;
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
using self_attention = multi_head_attention<float, hidden<64>, heads<8>>;
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                              norm_first<true>, activation<gelu_exact>>;

inline const queries x{};
inline const context y{};
inline const tokens t{};
inline const tensor<float, query<4>, hidden<100>> m{};
inline const tensor<float, batch<2>, query<4>, hidden<80>> narrow{};
inline const tensor<float, batch<3>, query<4>, hidden<100>> three{};
inline const tensor<float, batch<2>, heads<5>, query<4>, key<6>> scores{};
inline const tensor<float, frames<24>, hidden<32>> sound{};
inline const tensor<int, batch<2>> lens{3, 2};
inline attention::weights w;
inline self_attention::weights sw;

struct two_workers {
  static constexpr std::size_t workers = 2;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const noexcept {
    for (std::size_t index = 0; index < count; ++index) piece(index, index % 2);
  }
};

#endif
