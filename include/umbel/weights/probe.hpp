// SPDX-License-Identifier: BSL-1.0
// A probe: an input of the exported model and its output, both in the file of its weights
// (tools/export --probe; docs/export.md). replay calls the model in C++ with that input and
// compares the outputs. The first run finds errors that a file can't show, such as the activation.
//
//   static tensor<float, token<5>, hidden<64>> x, wanted;
//   const auto replayed = replay(*file, [](const auto& x) { return encode(x); }, wanted, x);
//   if (!replayed) return report(replayed.error());
//
// The names of its tensors begin with "probe."; load (load.hpp) skips them.
#pragma once

#include <umbel/config.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/layer/rules.hpp>
#include <umbel/parameters/words.hpp>
#include <umbel/tensor/loop.hpp>
#include <umbel/tensor/print.hpp>
#include <umbel/text/writer.hpp>
#include <umbel/weights/probe_differences.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The largest difference from the probe's output: absolute + relative * its largest finite number.
// The default is near float rounding. Right models of torch, Hugging Face and Flax differ by at
// most 6.3e-7 of their largest number (test/golden), gelu_tanh for gelu_exact by 1e-4 or more.
// Weights rounded to 16 bits need {0, 0.01}.
struct probe_tolerance {
  double absolute = 1e-6;
  double relative = 1e-5;
};

namespace detail {
UMBEL_SAYS(probe_input, "probe_input");
UMBEL_SAYS(expects_a_name_and_a_tensor,
           "expects the name in the file and a tensor; write probe_input(name, x)");
UMBEL_SAYS(so_read_its_largest_or_its_error, "; read its largest or its error()");
}  // namespace detail

// Did the model return the output of the probe? If not, one sentence.
class probe_result {
 public:
  constexpr explicit operator bool() const noexcept { return size_ == 0 || warns_; }
  // One line without a line feed, valid as long as this object; empty if the outputs agree.
  [[nodiscard]] constexpr const char* error() const noexcept { return warns_ ? "" : chars_; }
  // The same for outputs that agree, but differ by more than rounding explains: 2e-7 + 2e-6 times
  // the largest number. Empty for all others.
  [[nodiscard]] constexpr const char* warning() const noexcept { return warns_ ? chars_ : ""; }
  // The largest difference, infinity for NaN, and its row-major place; 0 if nothing was compared.
  double largest = 0;
  std::size_t place = 0;

  // As a number or the result of a file: refused.
  template <class X>
    requires(std::is_arithmetic_v<X> || std::is_base_of_v<detail::file_outcome, X>)
  constexpr operator X() const noexcept {
    return detail::no_conversion<probe_result, detail::say::so_read_its_largest_or_its_error, X>();
  }
  // For replay: appends to the sentence; and the sentence is a warning.
  constexpr void operator()(const char* text, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count && size_ + 1 < sizeof(chars_); ++i) chars_[size_++] = text[i];
  }
  constexpr void only_warns() noexcept { warns_ = true; }

 private:
  char chars_[1000]{};
  std::size_t size_ = 0;
  bool warns_ = false;
};

// An input of a probe with several: probe_input("mask", mask) is the tensor probe.mask.
template <class X>
UMBEL_EXPECTS("probe_input: expects the type of a tensor; write probe_input(name, x)")
struct probe_input {
  constexpr probe_input(const char* name_in_file, X& read_into) noexcept
      : name(name_in_file), x(read_into) {}
  const char* name;
  X& x;
};
// Without a name, or in a different order: refused.
template <>
struct probe_input<detail::invalid> {
  using is_invalid = detail::invalid;
  template <class... Given>
  constexpr explicit probe_input(const Given&...) noexcept {
    using verdict = detail::verdict<detail::one_is_invalid<Given...>, detail::say::probe_input,
                                    detail::say::expects_a_name_and_a_tensor>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
};
template <class... Given>
probe_input(const Given&...) -> probe_input<detail::invalid>;

namespace detail {
UMBEL_SAYS(compare_with_probe, "compare_with_probe");
UMBEL_SAYS(expects_a_tolerance_in_braces_but_argument,
           "expects a tolerance, {.absolute = 1e-5}, but argument");

// An input: the tensor, and its name in the file after "probe.".
template <class X>
constexpr probe_input<X> named_input(const probe_input<X>& input) noexcept {
  return input;
}
template <tensor_like X>
constexpr probe_input<X> named_input(X& x) noexcept {
  return {"input", x};
}
template <class X>
inline constexpr bool is_probe_input = false;
template <class X>
inline constexpr bool is_probe_input<probe_input<X>> = true;

// The type of an input's tensor as passed; no reference if neither tensor nor probe_input.
template <class X>
struct tensor_of_input {
  using type = X;
};
template <class X>
struct tensor_of_input<X&> {
  using type = X&;
};
template <class X>
  requires is_probe_input<std::remove_cvref_t<X>>
struct tensor_of_input<X> {
  using type = decltype((std::declval<X&>().x));
};
template <class X>
using input_type = typename tensor_of_input<X&&>::type;

template <class File, class X>
file_result<> read_probe(const File& file, const probe_input<X>& input) noexcept {
  char name[100] = "probe.";
  std::size_t size = 6;
  for (const char* c = input.name; *c != '\0' && size + 1 < sizeof(name); ++c) name[size++] = *c;
  return file.read(static_cast<const char*>(name), input.x);
}

// Do two of the output and the inputs share a name or memory? The last one read would be in both.
struct probe_target {
  const char* name;
  std::uintptr_t begin, end;
};
template <class X>
probe_target target_of(const char* name, const X& x) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(x.data());
  return {name, begin, begin + layout_of<X>::span * sizeof(typename X::value_type)};
}
template <std::size_t Count>
bool put_collisions(probe_result& out, const probe_target (&targets)[Count]) noexcept {
  for (std::size_t i = 0; i < Count; ++i)
    for (std::size_t j = i + 1; j < Count; ++j) {
      const bool same_name = __builtin_strcmp(targets[i].name, targets[j].name) == 0;
      const bool overlap = targets[j].end > targets[i].begin && targets[i].end > targets[j].begin;
      if (!same_name && !overlap) continue;
      text_writer<probe_result> text(out);
      text.put("umbel: replay: probe.", targets[i].name);
      if (same_name)
        text.put(" is given for two tensors");
      else
        text.put(" and probe.", targets[j].name, " are read into the same memory");
      text.flush();
      return true;
    }
  return false;
}

namespace rules {
template <class Y, class Wanted>
struct probe_shapes {
  template <std::size_t Number, class X>
  using is_tensor =
      argument<tensor_like<X> || one_is_invalid<X>, say::compare_with_probe,
               say::expects_the_output_and_that_of_the_probe_as_tensors_but_argument, Number, X>;
  using type = first_error<is_tensor<1, Y>, is_tensor<2, Wanted>>;
};
template <tensor_like Y, tensor_like Wanted>
struct probe_shapes<Y, Wanted> {
  using type = same_shape<say::compare_with_probe, layout_of<Y>, layout_of<Wanted>>;
};

// Memory to read into. X: a forwarding reference's type; Number: of the argument.
template <std::size_t Number, class X>
using probe_memory =
    argument<tensor_like<std::remove_reference_t<X>>, say::replay,
             say::expects_the_file_the_model_memory_for_the_output_and_for_each_input_but_argument,
             Number, X>;
template <std::size_t First, class F, class Numbers, class Wanted, class... Inputs>
struct replay_rule;
template <std::size_t First, class F, std::size_t... I, class Wanted, class... Inputs>
struct replay_rule<First, F, std::index_sequence<I...>, Wanted, Inputs...> {
  static constexpr std::size_t without_name =
      (std::size_t{0} + ... + !is_probe_input<std::remove_cvref_t<Inputs>>);
  using are_tensors =
      first_error<probe_memory<First, Wanted>, probe_memory<First + 1 + I, input_type<Inputs>>...>;
  // Asked last: it instantiates the model.
  template <bool OfFitInputs>
  static constexpr auto verdict_of_model() {
    if constexpr (!OfFitInputs)
      return accepted{};
    else if constexpr (!callable_with<const F, const std::remove_cvref_t<input_type<Inputs>>&...>)
      return verdict<never<F>, say::replay, say::the_model_cannot_be_called_with_the_inputs>{};
    else
      return verdict<!std::is_void_v<decltype(std::declval<const F&>()(
                         std::declval<const std::remove_cvref_t<input_type<Inputs>>&>()...))>,
                     say::replay, say::the_model_returns_nothing_so_return_the_output>{};
  }
  template <bool AreTensors>
  static constexpr auto verdict_of() {
    if constexpr (!AreTensors)
      return are_tensors{};
    else
      return first_error<
          read_into<Wanted>, read_into<input_type<Inputs>>...,
          verdict<(without_name <= 1), say::replay, number<without_name>,
                  say::inputs_have_no_name_so_write_probe_input_with_a_name_for_all_but_one>,
          decltype(verdict_of_model<without_name <= 1>())>{};
  }
  using type = decltype(verdict_of<are_tensors::ok>());
};
template <std::size_t First, class File, class F, class Wanted, class... Inputs>
using replay = first_error<
    file<say::replay, File>,
    typename replay_rule<First, F, std::index_sequence_for<Inputs...>, Wanted, Inputs...>::type>;
}  // namespace rules

}  // namespace detail

// Compares y, the model's output, with the probe's: tensors or views with the same axes, in order.
//   "umbel: probe: the output differs by 0.81 at [1, 5] of [token=4, hidden=8]: 0.3 instead of
//    1.11; at most 0.0000132 is allowed; check for a transposed square matrix ..."
//
// If it agrees, the warning begins "umbel: probe: the output agrees, but differs by 7e-06 at".
template <class Y, class Wanted>
[[nodiscard]] constexpr probe_result compare_with_probe(
    const Y& y, const Wanted& wanted, const probe_tolerance& tolerance = {}) noexcept {
  using verdict = typename detail::rules::probe_shapes<Y, Wanted>::type;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  probe_result result;
  if constexpr (verdict::ok && !detail::one_is_invalid<Y, Wanted>) {
    const auto found = detail::differences_from_probe(y, wanted);
    const double allowed = tolerance.absolute + tolerance.relative * found.largest_wanted;
    result.largest = found.largest;
    result.place = found.place;
    const double rounding = 2e-7 + 2e-6 * found.largest_wanted;
    const bool agrees = found.largest <= allowed;
    if (agrees && found.largest <= rounding) return result;
    if (agrees) result.only_warns();
    detail::text_writer<probe_result> out(result);
    out.put("umbel: probe: the output ", agrees ? "agrees, but " : "", "differs by ", found.largest,
            " at ");
    detail::put_place<Wanted>(out, found.place);
    const double size = (found.wanted) < 0 ? -found.wanted : found.wanted;
    if (found.largest <= 0.01 * size)  // would print the same digits
      out.put(": the probe has ", found.wanted, "; ");
    else
      out.put(": ", found.given, " instead of ", found.wanted, "; ");
    if (agrees)
      out.put("rounding explains ", rounding);
    else
      out.put("at most ", allowed, " is allowed");
    out.put("; ", detail::probe_cause(found, rounding));
    out.flush();
  }
  return result;
}

// Other tolerances: refused.
template <class Y, class Wanted, class Tolerance>
  requires(!std::is_convertible_v<const Tolerance&, probe_tolerance>)
constexpr probe_result compare_with_probe(const Y&, const Wanted&, const Tolerance&) noexcept {
  using verdict = detail::first_error<
      typename detail::rules::probe_shapes<Y, Wanted>::type,
      detail::rules::argument<detail::never<Tolerance>, detail::say::compare_with_probe,
                              detail::say::expects_a_tolerance_in_braces_but_argument, 3,
                              Tolerance>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

namespace detail {
template <class File, class F, class Wanted, class... Xs>
probe_result replay_probe(const File& file, const F& f, const probe_tolerance& tolerance,
                          Wanted& wanted, const probe_input<Xs>&... inputs) noexcept {
  probe_result result;
  if (put_collisions(result, {target_of("output", wanted), target_of(inputs.name, inputs.x)...}))
    return result;
  if (!file.find("probe.output")) {
    constexpr char no_probe[] =
        "umbel: replay: the file has no probe, the tensors probe.input and probe.output; write "
        "them "
        "with tools/export --probe; nothing else finds a square matrix that is transposed, wrong "
        "heads, or another activation, norm or rope";
    result(no_probe, sizeof(no_probe) - 1);
    return result;
  }
  file_result<> read = file.read("probe.output", wanted);
  const auto read_next = [&](const auto& input) {
    if (read) read = read_probe(file, input);
  };
  (read_next(inputs), ...);
  if (read) return compare_with_probe(f(static_cast<const Xs&>(inputs.x)...), wanted, tolerance);
  result(read.error(), __builtin_strlen(read.error()));
  return result;
}
template <std::size_t First, class File, class F, class Wanted, class... Inputs>
probe_result replay_call(const File& file, const F& f, const probe_tolerance& tolerance,
                         Wanted&& wanted, Inputs&&... inputs) noexcept {
  if constexpr (!one_is_invalid<File, F, Wanted, Inputs...>) {
    using verdict = rules::replay<First, File, F, Wanted, Inputs...>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok)
      return replay_probe(file, f, tolerance, wanted, named_input(inputs)...);
  }
  return {};
}
}  // namespace detail

// Reads the probe of a file into `wanted` and the inputs, calls f(inputs...), and compares the
// result. A single input, a tensor, is probe.input; several are probe_input("name", x) each. The
// output is probe.output; a file without one is an error. The memory is the caller's; its axes
// must have the extents of the file.
//   "umbel: probe: ..."                        as for compare_with_probe
//   "umbel: read: probe.input has the shape [4, 8] but the memory has [token=5, hidden=8]"
//   "umbel: the file has no tensor probe.input"
//   "umbel: replay: probe.input and probe.output are read into the same memory"
//   "umbel: replay: probe.mask is given for two tensors"
// Compile errors: two inputs without a name, not a tensor, a model with other arguments.
template <class File, class F, class Wanted, class... Inputs>
[[nodiscard]] probe_result replay(const File& file, const F& f, const probe_tolerance& tolerance,
                                  Wanted&& wanted, Inputs&&... inputs) noexcept {
  return detail::replay_call<4>(file, f, tolerance, static_cast<Wanted&&>(wanted),
                                static_cast<Inputs&&>(inputs)...);
}
template <class File, class F, class Wanted, class... Inputs>
  requires(!std::is_same_v<std::remove_cvref_t<Wanted>, probe_tolerance>)
[[nodiscard]] probe_result replay(const File& file, const F& f, Wanted&& wanted,
                                  Inputs&&... inputs) noexcept {
  return detail::replay_call<3>(file, f, probe_tolerance{}, static_cast<Wanted&&>(wanted),
                                static_cast<Inputs&&>(inputs)...);
}

namespace detail {
template <>
struct print_of<probe_result> {
  using instead = say::has_no_text_so_print_its_error;
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
