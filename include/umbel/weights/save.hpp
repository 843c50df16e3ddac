// SPDX-License-Identifier: BSL-1.0
// Weights as a safetensors file, by the paths of their parameters, matrices (in, out); names::umbel
// loads them again.
//
//   save([&](const char* bytes, std::size_t count) { std::fwrite(bytes, 1, count, file); }, w);
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/write.hpp>
#include <umbel/weights/parameters.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// sink: a callable that takes (const char*, std::size_t).
template <class Sink, class Weights>
constexpr void save(Sink&& sink, const Weights& w) noexcept {
  write_safetensors(sink, [&](auto put) {
    for_each_parameter(w, [&](const parameter_path& path, const auto& x) { put(path.c_str(), x); });
  });
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
