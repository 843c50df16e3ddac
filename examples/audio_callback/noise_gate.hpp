// SPDX-License-Identifier: BSL-1.0
// A noise gate in eight bands. It opens or closes by comparing each band with its noise floor, and
// attention over the last 0.7 seconds estimates the floor: one head per band, whose weights prefer
// quiet blocks, a smooth minimum (minimum statistics, Martin 2001).
//
//   64 samples -> 8 bands -> logarithms of their power, a token -> attention -> floor -> gain
//
// The task is simple enough for handwritten weights. A trained model is called the same way.
#pragma once

#include <cstddef>
#include <span>
#include <umbel/umbel.hpp>

namespace audio {

using namespace umbel;
using namespace umbel::axes;

inline constexpr std::size_t block_size = 64, bands = 8;
inline constexpr float sample_rate = 48'000;

using attention = multi_head_attention<float, hidden<bands>, heads<bands>, bias<true>>;
using levels = tensor<float, token<1>, hidden<bands>>;

// Head b: query 1.5 for any input, key minus the level, value the level of band b.
inline constexpr prepacked<attention> floor_of = [] {
  attention::weights w{};
  for (std::size_t band = 0; band != bands; ++band) {
    w.q.bias[band] = 1.5f;
    w.k(band, band) = -1;
    w.v(band, band) = w.o(band, band) = 1;
  }
  return prepacked<attention>{w};
}();

class noise_gate {
 public:
  // The callback: processes samples in place. No allocation, lock or system call.
  void process(std::span<float, block_size> samples) noexcept {
    split(samples);
    const levels level = log(power_ + 1e-9f);
    levels floor;
    // Full after 15 days; then the past starts again.
    while (!past_.step(floor, floor_of, level, all_keys, work_)) past_.reset();
    constexpr float threshold = 3, slope = 4;  // e^3: 13 decibels above the floor
    mix(sigmoid((level - floor - threshold) * slope), samples);
  }

 private:
  // Octaves from 250 Hz up, with one-pole low-pass filters; the bands are their differences, so
  // they sum to the signal.
  void split(std::span<const float, block_size> samples) noexcept {
    constexpr float two_pi = 6.2831853f, of_power = 0.05f;
    for (std::size_t i = 0; i != block_size; ++i) {
      float below = 0, corner = 250 * two_pi / sample_rate;
      for (std::size_t band = 0; band + 1 != bands; ++band, corner *= 2) {
        low_[band] += corner / (1 + corner) * (samples[i] - low_[band]);
        band_[band][i] = low_[band] - below;
        below = low_[band];
      }
      band_[bands - 1][i] = samples[i] - below;
    }
    for (std::size_t band = 0; band != bands; ++band) {
      float sum = 0;
      for (const float sample : band_[band]) sum += sample * sample;
      power_(0, band) += of_power * (sum / block_size - power_(0, band));
    }
  }

  // Opens within a block, closes by 1 decibel in 5 blocks.
  void mix(const levels& open, std::span<float, block_size> samples) noexcept {
    for (float& sample : samples) sample = 0;
    for (std::size_t band = 0; band != bands; ++band) {
      const float now = open(0, band), closing = gain_[band] * 0.977f;
      const float step = ((now > closing ? now : closing) - gain_[band]) / block_size;
      for (std::size_t i = 0; i != block_size; ++i)
        samples[i] += (gain_[band] += step) * band_[band][i];
    }
  }

  float low_[bands]{}, gain_[bands]{}, band_[bands][block_size]{};
  levels power_{};
  using past = key_value_cache<attention, key<512>, longest_sequence<1'000'000'000>>;
  past past_{};
  past::workspace<token<1>> work_{};
};

}  // namespace audio
