// SPDX-License-Identifier: BSL-1.0
// What a row is meant to reach. Compute is held to a percent of the FMA peak measured beside it;
// what hangs on bandwidth or exponentials too, to microseconds at a peak of 288 GFLOP/s (one core
// with two 512-bit units at 4.5 GHz): a row that took `us` beside a peak of `peak` counts as us *
// peak / 288.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace bench {

enum class unit { percent, us };

struct goal {
  std::string_view row;
  double figure;
  unit in;
};

inline constexpr double goal_peak = 288;

inline constexpr goal goals[] = {
    {"linear/16x32x32", 96, unit::percent},
    {"linear/4x100x100", 94, unit::percent},
    {"linear/32x64x64", 98, unit::percent},
    {"linear/64x64x64", 98, unit::percent},
    {"linear/32x128x128", 98, unit::percent},
    {"linear/128x256x256", 99, unit::percent},
    {"linear/128x384x384", 99, unit::percent},
    {"linear/197x192x192", 99, unit::percent},
    {"linear/1x64x64", 0.040, unit::us},
    {"linear/1x256x256", 1.10, unit::us},
    {"linear/1x384x384", 2.1, unit::us},
    {"linear/1x1024x1024", 32.5, unit::us},
    {"contract/128x32x128 scores, 8 heads", 88, unit::percent},
    {"contract/128x128x32 values, 8 heads", 88, unit::percent},
    {"contract/64x64x64 scores, 4 heads", 88, unit::percent},
    {"contract/64x64x64 values, 4 heads", 88, unit::percent},
    {"contract/16x32x32 scores, 2 heads", 65, unit::percent},
    {"contract/16x32x32 values, 2 heads", 65, unit::percent},
    {"softmax/64x64", 0.45, unit::us},
    {"softmax/128x128", 1.6, unit::us},
    {"softmax/512x512", 24, unit::us},
    {"attend/1,4,16,16,8", 0.24, unit::us},
    {"attend/2,5,4,6,20", 0.20, unit::us},
    {"attend/1,8,32,32,8", 1.50, unit::us},
    {"attend/1,4,64,64,16", 4.70, unit::us},
    {"attend/1,8,128,128,32", 66.5, unit::us},
    {"attend/1,12,128,128,32", 100, unit::us},
    {"attend/1,3,197,197,64", 117, unit::us},
    {"attend/1,8,512,512,64", 2030, unit::us},
    {"attend/1,8,1,512,64", 17, unit::us},
    {"attend/1,12,1,128,32", 1.9, unit::us},
    {"mha/A 1,16,32,2", 90, unit::percent},
    {"mha/B 2,4 to 6,100,5", 86, unit::percent},
    {"mha/C 1,32,64,8", 87, unit::percent},
    {"mha/D 1,64,64,4", 90, unit::percent},
    {"mha/E 1,128,256,8", 96, unit::percent},
    {"mha/F 1,128,384,12", 97, unit::percent},
    {"mha/G 1,197,192,3", 95, unit::percent},
    {"mha/H 8,128,256,8", 95, unit::percent},
    {"decode/I 256,8,8,512", 17.5, unit::us},
    // 1.25 of a floor of 9.02: 2.27 million operations, 25,480 exponentials
    // (bench/layer/fashion.cpp).
    {"fashion/one picture", 11.3, unit::us},
    {"int8/linear/128x384x384", 90, unit::percent},
    {"int8/mha/D 64,64,4", 65, unit::percent},
    {"int8/mha/E 128,256,8", 85, unit::percent},
    {"int8/mha/F 128,384,12", 85, unit::percent},
    {"int8/decode/I 256,8,512", 5, unit::us},
    {"int8/fashion/one picture", 12, unit::us},
};

// The row's goal, or null when it has none.
constexpr const goal* find_goal(std::string_view row) {
  const goal* const found = std::ranges::find(goals, row, &goal::row);
  return found == std::end(goals) ? nullptr : found;
}

// The row in the unit of its goal.
constexpr double figure(const goal& wanted, double percent, double us, double peak) {
  return wanted.in == unit::percent ? percent : us * peak / goal_peak;
}

constexpr bool kept(const goal& wanted, double figure) {
  return wanted.in == unit::percent ? figure >= wanted.figure : figure <= wanted.figure;
}

}  // namespace bench
