// SPDX-License-Identifier: BSL-1.0
// Attention inside an audio callback of 64 samples, 1.33 ms at 48 kHz: half a minute of tones in
// noise goes through a noise gate. How long does each callback take, does it allocate, does the
// gate work? (Called without pauses; with a sound card, caches get cold in between.)
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "../fashion/allocations.hpp"
#include "noise_gate.hpp"

using clock_type = std::chrono::steady_clock;

static constinit audio::noise_gate gate{};
static constexpr double deadline_us = 1e6 * audio::block_size / audio::sample_rate;

// The callbacks' times in microseconds, by powers of two.
struct histogram {
  static constexpr int bins = 16;
  std::size_t count[bins]{}, late = 0;

  void add(double us) {
    int bin = 0;
    while (bin + 1 < bins && us >= std::ldexp(1, bin)) ++bin;
    ++count[bin];
    late += us > deadline_us;
  }
  std::size_t all() const {
    std::size_t sum = 0;
    for (const std::size_t of_bin : count) sum += of_bin;
    return sum;
  }
  void print() const {
    std::puts("  below us  callbacks");
    for (int bin = 0; bin < bins; ++bin) {
      if (count[bin] == 0) continue;
      std::printf("%10.0f %10zu  ", std::ldexp(1, bin), count[bin]);
      for (std::size_t star = 0; star * all() < 50 * count[bin]; ++star) std::putchar('#');
      std::putchar('\n');
    }
    std::printf("later than %.0f us: %zu of %zu callbacks\n", deadline_us, late, all());
  }
};

// Power before and after the gate.
struct powers {
  double in = 0, out = 0;
  double decibels() const { return 10 * std::log10(out / in); }
};

int main() {
  constexpr std::size_t seconds = 30, blocks = seconds * 750;
  std::uint32_t state = 1;
  histogram times;
  powers tone, pause;
  if (!fashion::heap::counter_works()) return 1;

  for (std::size_t block = 0; block != blocks; ++block) {
    // Every 0.7 seconds a tone of 0.3 with four overtones, 25 decibels above the noise.
    const std::size_t phase = block % 525;
    const bool on = phase < 225;
    float samples[audio::block_size], before[audio::block_size];
    for (std::size_t i = 0; i != audio::block_size; ++i) {
      state = state * 1664525u + 1013904223u;
      float sample = (static_cast<float>(state >> 8) * 0x1p-23f - 1) * 0.01f;
      const auto time = static_cast<float>((block * audio::block_size + i) % 48'000) / 48'000;
      for (int overtone = 1; on && overtone <= 5; ++overtone)
        sample += 0.1f * std::sin(6.2831853f * 440 * static_cast<float>(overtone) * time);
      before[i] = samples[i] = sample;
    }

    const auto start = clock_type::now();
    {
      const fashion::heap::watch no_allocation;
      gate.process(samples);
    }
    times.add(std::chrono::duration<double, std::micro>(clock_type::now() - start).count());

    // From the second second on, 0.1 seconds after each change.
    powers& here = on ? tone : pause;
    if (block < 1500 || (on ? phase < 75 : phase < 375)) continue;
    for (std::size_t i = 0; i != audio::block_size; ++i) {
      here.in += static_cast<double>(before[i] * before[i]);
      here.out += static_cast<double>(samples[i] * samples[i]);
    }
  }

  times.print();
  const auto allocations = fashion::heap::so_far().allocations;
  std::printf("gain: tones %.1f dB, noise in the pauses %.1f dB\n", tone.decibels(),
              pause.decibels());
  std::printf("allocations in all callbacks: %zu; the gate has %zu bytes\n", allocations,
              sizeof(gate));
  const bool works = tone.decibels() > -1 && pause.decibels() < -15;
  // One late callback may be the machine's fault; half of them would be the gate's.
  return works && allocations == 0 && 2 * times.late < times.all() ? 0 : 1;
}
