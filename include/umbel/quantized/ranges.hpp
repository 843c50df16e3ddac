// SPDX-License-Identifier: BSL-1.0
// Ranges: the largest magnitude of each tensor of a layer, observed in the float layer. They
// determine the scales of the integers. They are parameters: named, listed, saved and loaded with
// the weights (parameters/parameters.hpp).
//
// A layer's result is the next one's input: chain_ranges makes their ranges equal.
//
//   struct ranges {  // of a model
//     static constexpr const char* part_names[] = {"embed", "layers", "norm"};
//     quantized<embed>::ranges embed;
//     quantized<stack>::ranges layers;
//     quantized<last_norm>::ranges norm;
//   };
//   chain_ranges(seen.embed, seen.layers, seen.norm);
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/quantized/pack.hpp>
#include <umbel/tensor/tensor.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
UMBEL_SAYS(so_write_if_or_print_its_missing_range, "; write if (result) or print missing_range()");
UMBEL_SAYS(is_no_layer_so_call_the_quantized_layer,
           "tells if pack filled the layer; call the quantized layer itself");
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel {

// The result of pack: is the layer packed? If not, missing_range() is the path of the first range
// that is missing or not finite: "layers.0.attention.input" (at most 63 characters); or
// "norm.epsilon" if a norm was calibrated with a different epsilon. Or unchained_part() is the
// first part whose input and the result before it have different ranges: call chain_ranges. If one
// of them has a text, that of the other is "".
class [[nodiscard]] pack_result {
 public:
  UMBEL_SHARED constexpr pack_result() noexcept = default;
  UMBEL_SHARED constexpr explicit pack_result(const char* path) noexcept {
    for (std::size_t i = 0; i + 1 < sizeof(path_) && path[i] != '\0'; ++i) path_[i] = path[i];
  }
  [[nodiscard]] UMBEL_SHARED static constexpr pack_result unchained(const char* part) noexcept {
    pack_result result(part);
    result.is_unchained_ = true;
    return result;
  }
  UMBEL_SHARED constexpr explicit operator bool() const noexcept { return path_[0] == '\0'; }
  [[nodiscard]] UMBEL_SHARED constexpr const char* missing_range() const noexcept {
    return is_unchained_ ? "" : path_;
  }
  [[nodiscard]] UMBEL_SHARED constexpr const char* unchained_part() const noexcept {
    return is_unchained_ ? path_ : "";
  }
  // As a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr operator X() const noexcept {
    return detail::no_conversion<pack_result, detail::say::so_write_if_or_print_its_missing_range,
                                 X>();
  }
  // result(x): refused.
  template <class... X>
  constexpr detail::invalid operator()(const X&...) const noexcept {
    using verdict = detail::verdict<detail::never<X...>, pack_result,
                                    detail::say::is_no_layer_so_call_the_quantized_layer>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }

 private:
  char path_[64]{};
  bool is_unchained_ = false;
};

}  // namespace umbel

namespace umbel::inline UMBEL_TARGET {
namespace detail::integers {

// 0: not observed. A tensor without axes, so that it has a path and can be stored in files.
using range = tensor<float>;

// Widens the range by `count` numbers. NaN is ignored; infinity stays.
template <class T>
constexpr void widen(range& seen, const T* x, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const float size = static_cast<float>(x[i] < 0 ? -x[i] : x[i]);
    if (size > seen()) seen() = size;
  }
}
constexpr void widen(range& seen, float other) noexcept { widen(seen, &other, 1); }

// The argument that calibrate widens: the ranges of a layer, or histograms instead (histogram.hpp).
template <class Seen, class Layer>
concept seen_by = std::is_same_v<Seen, typename Layer::ranges> ||
                  std::is_same_v<Seen, typename Layer::histograms>;

constexpr double int8_unit(const range& r) noexcept {
  return unit_of_int8(static_cast<double>(r()));
}

// Is the range observed and finite?
constexpr bool is_seen(const range& r) noexcept { return r() > 0 && r() <= 3.4028234e38F; }

// ---- are all ranges there?
//
// The name of a range, as a template argument: the errors of compilers print it.
template <std::size_t Size>
struct range_name {
  char chars[Size]{};
  constexpr range_name(const char* name) noexcept {
    for (std::size_t i = 0; i < Size; ++i) chars[i] = name[i];
  }
  template <std::size_t Outer>
  constexpr range_name(const range_name<Outer>& outer,
                       const range_name<Size - Outer>& inner) noexcept {
    for (std::size_t i = 0; i < Size; ++i)
      chars[i] = i < Outer ? outer.chars[i] : inner.chars[i - Outer];
  }
};

// Not constexpr, so that packing without a range is a compile error in a constant expression; the
// error names the range. At run time it does nothing, and the layer is not packed. (Not <range_name
// Name>: from the name of a class template clang 14 crashes with -Wc++98-compat.)
template <auto Name>
void this_range_is_missing() noexcept {}

struct range_path {
  char chars[64]{};
  std::size_t size = 0;

  constexpr void add(const char* part) noexcept {
    if (size != 0) put('.');
    while (*part != '\0') put(*part++);
  }
  constexpr void add(std::size_t index) noexcept {
    char digits[21]{};
    char* first = digits + 20;
    do *--first = static_cast<char>('0' + index % 10);
    while (index /= 10);
    add(first);
  }

 private:
  constexpr void put(char c) noexcept {
    if (size + 1 < sizeof(chars)) chars[size++] = c;
  }
};

// The name of a range within a struct: "attention.input".
template <std::size_t Outer, std::size_t Size>
constexpr auto within(const range_name<Outer>& outer, const range_name<Size>& inner) noexcept {
  if constexpr (Outer == 1) {
    return inner;
  } else {
    constexpr std::size_t size = Outer + Size;
    range_name<size> name{outer, inner};
    name.chars[Outer - 1] = '.';
    return name;
  }
}

template <class Ranges, std::size_t I>
constexpr std::size_t name_size() noexcept {
  std::size_t size = 1;
  while (Ranges::part_names[I][size - 1] != '\0') ++size;
  return size;
}

// Is part I of the ranges of a norm its epsilon?
template <class Ranges, std::size_t I>
inline constexpr bool is_epsilon = false;
template <class Ranges, std::size_t I>
  requires requires { Ranges::ends_with_epsilon; }
inline constexpr bool is_epsilon<Ranges, I> = I + 1 == parts_named<Ranges>;

// Outer: the name of the struct that contains Ranges, or "". epsilon: of norms, or 0.
template <auto Outer, class Ranges>
constexpr void find_missing(pack_result& found, const Ranges& ranges, float epsilon,
                            const range_path& at) noexcept;

// Part I of Ranges: a range, a struct of them, an array of structs.
template <auto Outer, class Ranges, std::size_t I, class Part>
constexpr void find_missing_part(pack_result& found, const Part& part, float epsilon,
                                 range_path at) noexcept {
  at.add(Ranges::part_names[I]);
  constexpr auto name = within(Outer, range_name<name_size<Ranges, I>()>(Ranges::part_names[I]));
  if constexpr (std::is_array_v<Part>) {
    for (std::size_t i = 0; i < std::extent_v<Part>; ++i) {
      range_path part_path = at;
      part_path.add(i);
      find_missing<range_name<1>("")>(found, part[i], epsilon, part_path);
    }
  } else if constexpr (std::is_same_v<Part, range>) {
    const bool is_right =
        is_epsilon<Ranges, I> ? epsilon == 0 || part() == 0 || part() == epsilon : is_seen(part);
    if (is_right || !found) return;
    this_range_is_missing<name>();
    found = pack_result(at.chars);
  } else {
    find_missing<name>(found, part, epsilon, at);
  }
}
template <auto Outer, class Ranges>
constexpr void find_missing(pack_result& found, const Ranges& ranges, float epsilon,
                            const range_path& at) noexcept {
  with_members<parts_named<Ranges>>(ranges, [&](const auto&... part) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (find_missing_part<Outer, Ranges, I>(found, part, epsilon, at), ...);
    }(std::make_index_sequence<sizeof...(part)>{});
  });
}
template <class Ranges>
constexpr pack_result all_seen(const Ranges& ranges, float epsilon = 0) noexcept {
  pack_result found;
  find_missing<range_name<1>("")>(found, ranges, epsilon, {});
  return found;
}

// ---- one unit for results and inputs
struct start_of_part {};
struct end_of_part {};
template <class Where, class Ranges, class F>
constexpr void ranges_at(Ranges& part, const F& f) noexcept {
  constexpr bool starts = std::is_same_v<Where, start_of_part>;
  if constexpr (std::is_same_v<std::remove_const_t<Ranges>, range>)
    f(part);
  else if constexpr (std::is_array_v<Ranges>)
    for (auto& layer : part) ranges_at<Where>(layer, f);
  else if constexpr (requires { part.layers; })
    ranges_at<Where>(part.layers, f);
  else if constexpr (requires { part.residual; })
    f(part.residual);
  else if constexpr (!starts)
    f(part.output);
  else if constexpr (requires { part.queries; })
    f(part.queries), f(part.keys), f(part.values);
  else
    f(part.input);
}
template <class First, class Second>
constexpr float widest_between(const First& first, const Second& second) noexcept {
  float widest = 0;
  const auto see = [&](const range& r) { widest = r() > widest ? r() : widest; };
  ranges_at<end_of_part>(first, see);
  ranges_at<start_of_part>(second, see);
  return widest;
}
template <class First, class Second, class... More>
constexpr bool are_joined(const First& first, const Second& second, const More&... more) noexcept {
  const float widest = widest_between(first, second);
  bool equal = true;
  const auto compare = [&](const range& r) { equal = equal && r() == widest; };
  ranges_at<end_of_part>(first, compare);
  ranges_at<start_of_part>(second, compare);
  if constexpr (sizeof...(More) != 0) equal = equal && are_joined(second, more...);
  return equal;
}
template <class First, class Second, class... More>
constexpr void join(First& first, Second& second, More&... more) noexcept {
  const float widest = widest_between(first, second);
  const auto set = [&](range& r) { r() = widest; };
  ranges_at<end_of_part>(first, set);
  ranges_at<start_of_part>(second, set);
  if constexpr (sizeof...(More) != 0) join(second, more...);
}

// Does Part have ranges to chain: a range, ranges of a layer, or an array of those?
template <class Part>
constexpr bool has_ranges_to_chain() noexcept {
  if constexpr (std::is_array_v<Part>)
    return has_ranges_to_chain<std::remove_extent_t<Part>>();
  else if constexpr (requires(Part& p) { p.layers; })
    return has_ranges_to_chain<std::remove_reference_t<decltype(std::declval<Part&>().layers)>>();
  else
    return std::is_same_v<Part, range> || requires(Part& p) {
      requires std::is_same_v<decltype(p.residual), range>;
    } || requires(Part& p) { requires std::is_same_v<decltype(p.output), range>; };
}
template <class... Parts>
inline constexpr bool can_be_chained = sizeof...(Parts) > 1 &&
                                       (has_ranges_to_chain<Parts>() && ...);
template <class... Range>
inline constexpr bool are_ranges = sizeof...(Range) > 1 && (std::is_same_v<Range, range> && ...);

}  // namespace detail::integers

namespace detail {
namespace say {
struct are_chained;
struct chain_ranges;
struct pack_model;
struct same_range;
}  // namespace say
UMBEL_SAYS(expects_the_ranges_of_two_or_more_parts_of_a_model_such_as_quantized_layer_ranges,
           "expects the ranges of two or more parts of a model, such as quantized<layer>::ranges");
UMBEL_SAYS(
    expects_the_non_const_ranges_of_two_or_more_parts_of_a_model_such_as_quantized_layer_ranges,
    "expects the non-const ranges of two or more parts of a model, such as "
    "quantized<layer>::ranges");
UMBEL_SAYS(expects_two_or_more_non_const_ranges_such_as_seen_input_and_seen_output,
           "expects two or more non-const ranges, such as seen.input and seen.output");
}  // namespace detail

// Makes the ranges of tensors that share a unit equal: all become the largest of them.
template <class... Range>
  requires detail::integers::are_ranges<Range...>
constexpr void same_range(Range&... ranges) noexcept {
  float widest = 0;
  ((widest = ranges() > widest ? ranges() : widest), ...);
  ((ranges() = widest), ...);
}
template <class... Given>
  requires(!detail::integers::are_ranges<std::remove_reference_t<Given>...>)
constexpr detail::invalid same_range(Given&&...) noexcept {
  using namespace detail;
  using verdict =
      verdict<(one_is_invalid<Given> || ...), say::same_range,
              say::expects_two_or_more_non_const_ranges_such_as_seen_input_and_seen_output>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

// Makes the ranges of the result of each part of a model and the input of the next one equal, to
// the larger, so that both use one unit. Parts: the ranges of the layers in the order of the
// forward pass; a part may be a single range, or an array of the ranges of encoder layers. A
// residual sum that passes through several parts gets one range.
template <class... Parts>
  requires(detail::integers::can_be_chained<Parts...> && !(std::is_const_v<Parts> || ...))
constexpr void chain_ranges(Parts&... parts) noexcept {
  // A range that passes through parts moves back one part at a time.
  while (!detail::integers::are_joined(parts...)) detail::integers::join(parts...);
}
template <class... Given>
  requires(!detail::integers::can_be_chained<std::remove_reference_t<Given>...> ||
           (std::is_const_v<std::remove_reference_t<Given>> || ...))
constexpr detail::invalid chain_ranges(Given&&...) noexcept {
  using namespace detail;
  using verdict = verdict<
      (one_is_invalid<Given> || ...), say::chain_ranges,
      say::
          expects_the_non_const_ranges_of_two_or_more_parts_of_a_model_such_as_quantized_layer_ranges>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}
// Are they chained? For a static_assert on constant ranges, or after loading.
template <class... Parts>
  requires detail::integers::can_be_chained<Parts...>
[[nodiscard]] constexpr bool are_chained(const Parts&... parts) noexcept {
  return detail::integers::are_joined(parts...);
}
template <class... Given>
  requires(!detail::integers::can_be_chained<Given...>)
constexpr bool are_chained(const Given&...) noexcept {
  using namespace detail;
  using verdict = verdict<
      (one_is_invalid<Given> || ...), say::are_chained,
      say::expects_the_ranges_of_two_or_more_parts_of_a_model_such_as_quantized_layer_ranges>;
  static_assert(report<verdict>::ok, "umbel: shapes do not fit");
  return true;
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
