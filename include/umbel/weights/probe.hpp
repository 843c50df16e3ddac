// SPDX-License-Identifier: BSL-1.0
// A probe: an input of the model that was exported, and its output there, both in the file of its
// weights (tools/export --probe; docs/export.md). replay calls the model in C++ with that input and
// compares: what a file cannot tell, as the pairing of rope or the activation, is caught on the
// first run.
//
//   static tensor<float, token<5>, hidden<64>> x, wanted;
//   const auto replayed = replay(*file, [](const auto& x) { return encode(x); }, wanted, x);
//   if (!replayed) return report(replayed.error());
//
// The names of its tensors begin with "probe."; load (load.hpp) leaves them out.
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/inspect/text_writer.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/tensor/loop.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// How far an output may be from the probe's: absolute + relative * the largest finite output
// there.
// Without arguments the tolerance of the tests against frameworks. Layers in float are usually
// within a hundredth of it, so {1e-6, 1e-6} finds smaller mistakes, as gelu_tanh for gelu_exact;
// weights that were rounded to 16 bits need more.
struct probe_tolerance {
  double absolute = 1e-5;
  double relative = 1e-4;
};

// Did the model give the output of the probe? If not, one sentence.
class probe_result {
 public:
  constexpr explicit operator bool() const noexcept { return size_ == 0; }
  // One line without a line end, valid as long as this object; empty where the outputs agree.
  [[nodiscard]] constexpr const char* error() const noexcept { return chars_; }
  // The largest difference from the output wanted, infinity where it is NaN, and its place there,
  // row-major; 0 where nothing was compared.
  double largest = 0;
  std::size_t place = 0;

  // For replay: more of the sentence.
  constexpr void operator()(const char* text, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count && size_ + 1 < sizeof(chars_); ++i) chars_[size_++] = text[i];
  }

 private:
  char chars_[1000]{};
  std::size_t size_ = 0;
};

// An input of a probe with several: probe_input("mask", mask) is the tensor probe.mask.
template <class X>
struct probe_input {
  constexpr probe_input(const char* name_in_file, X& read_into) noexcept
      : name(name_in_file), x(read_into) {}
  const char* name;
  X& x;
};

namespace detail {
namespace say {
struct compare_with_probe;
}  // namespace say
template <>
struct speak<say::compare_with_probe> : speak_as_written<say::compare_with_probe> {};

// What is known of the differences, for the sentence.
struct probe_differences {
  double largest = 0;  // infinite where the output is NaN and should not be
  double given = 0, wanted = 0;
  std::size_t place = 0;
  double largest_of_first = 0;  // at the first position: all but the last axis
  double largest_wanted = 0;    // that is finite
};

constexpr double probe_distance(double given, double wanted) noexcept {
  if (given == wanted || (given != given && wanted != wanted)) return 0;
  const double apart = given > wanted ? given - wanted : wanted - given;
  return apart == apart ? apart : __builtin_inf();
}

template <class Y, class Wanted>
constexpr probe_differences differences_from_probe(const Y& y, const Wanted& wanted) noexcept {
  using layout = layout_of<Wanted>;
  constexpr std::size_t features = layout::rank == 0 ? 1 : layout::extents[layout::rank - 1];
  probe_differences found;
  std::size_t place = 0;
  for_each(
      [&](const auto& wanted_element, const auto& given_element) {
        const auto w = static_cast<double>(wanted_element);
        const auto g = static_cast<double>(given_element);
        const double size = w < 0 ? -w : w;
        if (size > found.largest_wanted && size < __builtin_inf()) found.largest_wanted = size;
        const double apart = probe_distance(g, w);
        if (place < features && apart > found.largest_of_first) found.largest_of_first = apart;
        if (apart > found.largest) {
          found.largest = apart;
          found.given = g;
          found.wanted = w;
          found.place = place;
        }
        ++place;
      },
      wanted, y);
  return found;
}

// [1, 5] of [token=4, hidden=8]
template <class Wanted, class Out>
constexpr void put_place(Out& out, std::size_t place) noexcept {
  using layout = layout_of<Wanted>;
  std::size_t index[layout::rank + 1]{};
  for (std::size_t i = layout::rank; i-- > 0; place /= layout::extents[i])
    index[i] = place % layout::extents[i];
  out.put('[');
  for (std::size_t i = 0; i < layout::rank; ++i) {
    if (i != 0) out.put(", ");
    out.put(index[i]);
  }
  sentence_buffer axes;
  speak<typename layout::axes>::to(axes);
  out.put("] of ", static_cast<const char*>(axes.chars));
}

// What such differences usually come from.
constexpr const char* probe_cause(const probe_differences& found, double allowed) noexcept {
  if (found.given != found.given)
    return "NaN: a weight of the file may be NaN, or nothing was loaded";
  if (found.largest_of_first <= allowed && found.largest > allowed)
    return "the first position is right and others are not: look at the pairing of rope "
           "(split_halves or adjacent_pairs), its base, the positions and the mask";
  if (found.largest <= 0.02 * found.largest_wanted)
    return "it is near: look at the epsilon of the norms, at gelu_exact or gelu_tanh, and whether "
           "weights were rounded to 16 bits, which needs a larger tolerance";
  return "look for a square matrix that is transposed (in_out or out_in in its row of the names), "
         "norm_first, the activation, heads, the mask, the pairing of rope (split_halves or "
         "adjacent_pairs)";
}

// The input's tensor in the file: probe.input, or of its own name.
template <class File, class X>
file_result<> read_probe(const File& file, probe_input<X>& input) noexcept {
  char name[100] = "probe.";
  std::size_t size = 6;
  for (const char* c = input.name; *c != '\0' && size + 1 < sizeof(name); ++c) name[size++] = *c;
  return file.read(static_cast<const char*>(name), input.x);
}
template <class File, class X>
file_result<> read_probe(const File& file, X& x) noexcept {
  return file.read("probe.input", x);
}
template <class X>
constexpr const X& probe_tensor(const probe_input<X>& input) noexcept {
  return input.x;
}
template <class X>
constexpr const X& probe_tensor(const X& x) noexcept {
  return x;
}

}  // namespace detail

// y, the output of the model, beside that of the probe: tensors or views of the same axes, in the
// same order.
//   "umbel: probe: the output differs by 0.81 at [1, 5] of [token=4, hidden=8]: 0.3 where 1.11 is
//   wanted; at most 0.000265 was allowed; look for a square matrix that is transposed ..."
template <detail::tensor_like Y, detail::tensor_like Wanted>
[[nodiscard]] constexpr probe_result compare_with_probe(
    const Y& y, const Wanted& wanted, const probe_tolerance& tolerance = {}) noexcept {
  using verdict = detail::rules::same_shape<detail::say::compare_with_probe, detail::layout_of<Y>,
                                            detail::layout_of<Wanted>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  probe_result result;
  if constexpr (verdict::ok) {
    const auto found = detail::differences_from_probe(y, wanted);
    const double allowed = tolerance.absolute + tolerance.relative * found.largest_wanted;
    result.largest = found.largest;
    result.place = found.place;
    if (found.largest <= allowed) return result;
    detail::text_writer<probe_result> out(result);
    out.put("umbel: probe: the output differs by ", found.largest, " at ");
    detail::put_place<Wanted>(out, found.place);
    out.put(": ", found.given, " where ", found.wanted, " is wanted; at most ", allowed,
            " was allowed; ", detail::probe_cause(found, allowed));
    out.flush();
  }
  return result;
}

// Reads the probe of a file into `wanted` and the inputs, calls f(inputs...), and compares with
// what it returns. One input, a tensor, is probe.input; several are probe_input("name", x) each.
// The output is probe.output. Memory is the caller's; its axes must have the extents of the file.
//   "umbel: probe: ..."                        as of compare_with_probe
//   "umbel: read: probe.input has the shape [4, 8] but the memory has [token=5, hidden=8]"
//   "umbel: the file has no tensor probe.output"
template <class File, class F, detail::tensor_like Wanted, class... Inputs>
[[nodiscard]] probe_result replay(const File& file, const F& f, const probe_tolerance& tolerance,
                                  Wanted& wanted, Inputs&&... inputs) noexcept {
  file_result<> read = file.read("probe.output", wanted);
  const auto read_next = [&](auto& input) {
    if (read) read = detail::read_probe(file, input);
  };
  (read_next(inputs), ...);
  if (read) return compare_with_probe(f(detail::probe_tensor(inputs)...), wanted, tolerance);
  probe_result failed;
  failed(read.error(), __builtin_strlen(read.error()));
  return failed;
}
template <class File, class F, detail::tensor_like Wanted, class... Inputs>
[[nodiscard]] probe_result replay(const File& file, const F& f, Wanted& wanted,
                                  Inputs&&... inputs) noexcept {
  return replay(file, f, probe_tolerance{}, wanted, static_cast<Inputs&&>(inputs)...);
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
