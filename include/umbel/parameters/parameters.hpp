// SPDX-License-Identifier: BSL-1.0
// The parameters of weights by name, the basis of loading, saving, counting and comparing.
//
//   static block::weights w;
//   for_each_parameter(w, [](const parameter_path& path, auto x) {
//     // "attention.q.weight", view<float, in_features<256>, out_features<256>>;
//     // "norm1.gamma", view<float, hidden<256>> ...
//   });
//
// A path is the C++ expression without the first name: w.attention.q.weight. A model's struct lists
// its members once, in their order (a member can't have the name of its layer's type):
//
//   struct model_weights {
//     static constexpr const char* part_names[] = {"positions", "encoder", "norm"};
//     position_table::weights positions;
//     block::weights encoder[4];   // "encoder.0.attention.q.weight" ...
//     last_norm::weights norm;
//   };
#pragma once

#include <umbel/config.hpp>
#include <umbel/parameters/rules.hpp>
#include <umbel/simd/half.hpp>
#include <umbel/tensor/print.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(has_no_sum_so_write_path_slash_part, "is extended by /, not +; write path / part");
}

// The place of a parameter among the weights: "encoder.0.attention.q.weight", zero-terminated. At
// most `most` characters; weights with longer paths don't compile.
class parameter_path {
 public:
  static constexpr std::size_t most = detail::longest_path_there_may_be;

  constexpr parameter_path() noexcept = default;
  [[nodiscard]] constexpr const char* c_str() const noexcept { return chars_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // path / "q", path / 0: the path extended by a name or number.
  [[nodiscard]] constexpr parameter_path operator/(const char* part) const noexcept {
    parameter_path next = *this;
    if (size_ != 0) next.put('.');
    while (*part) next.put(*part++);
    return next;
  }
  [[nodiscard]] constexpr parameter_path operator/(std::size_t index) const noexcept {
    char digits[21]{};
    char* first = digits + 20;
    do *--first = static_cast<char>('0' + index % 10);
    while (index /= 10);
    return *this / first;
  }
  // path + "weight": refused.
  template <class Part>
    requires(std::is_convertible_v<const Part&, const char*> || std::is_arithmetic_v<Part>)
  friend constexpr parameter_path operator+(const parameter_path& path, const Part&) noexcept {
    using verdict = detail::verdict<detail::never<Part>, parameter_path,
                                    detail::say::has_no_sum_so_write_path_slash_part>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return path;
  }
  [[nodiscard]] friend constexpr bool operator==(const parameter_path& a, const char* b) noexcept {
    for (std::size_t i = 0; i <= a.size_; ++i)
      if (a.chars_[i] != b[i]) return false;
    return true;
  }

 private:
  constexpr void put(char c) noexcept {
    if (size_ < most) chars_[size_++] = c;
  }
  char chars_[most + 1]{};
  std::size_t size_ = 0;
};

namespace detail {

// Replaces a path for callers that need none.
struct no_path {
  template <class Step>
  constexpr no_path operator/(const Step&) const noexcept {
    return {};
  }
};

// For weights that the rules accept. Path: parameter_path or no_path.
template <class Path, class W, class F>
constexpr void visit_parameters(const Path& path, W& w, F& f) {
  using plain = std::remove_const_t<W>;
  if constexpr (tensor_like<plain>) {
    f(path, as_view(w));
  } else if constexpr (vector_of_weights<plain>) {
    f(path, vector_view<plain>(w.data()));
  } else if constexpr (map_of_weights<plain>) {
    f(path / "weight", typename map_views<W>::weight(&w.weight[0]));
    if constexpr (plain::map::has_bias) f(path / "bias", typename map_views<W>::bias(&w.bias[0]));
  } else if constexpr (several_weights<plain>) {
    for (std::size_t i = 0; i < count_of<plain>(); ++i) visit_parameters(path / i, w[i], f);
  } else {
    with_members<parts_named<plain>>(w, [&](auto&... part) {
      std::size_t i = 0;
      // Not in the fold: the paths of all parts would be on the stack at once.
      const auto visit = [&](auto& one) {
        visit_parameters(path / plain::part_names[i++], one, f);
      };
      (visit(part), ...);
    });
  }
}

// Rules of an operation that only reads names, axes and numbers.
template <class Operation>
struct any_parameter {
  using operation = Operation;
  template <class X>
  using of = accepted;
};
// May f be called with the view X?
template <class F>
struct taken_by {
  using operation = say::for_each_parameter;
  template <class X>
  using of = verdict<callable_with<F, const parameter_path&, X>, operation,
                     say::f_must_accept_a_path_and_a_view_const_parameter_path_path_auto_x>;
};

}  // namespace detail

// Calls f(path, x) for each parameter of w in the order of the members. w: the weights of a layer,
// owned or borrowed, a struct with part_names, or arrays of them. x is a view into w, which f may
// write to if w is owned and not const; its axes are in and out for the weight of a linear map, out
// for its bias, otherwise those of the tensor.
//   "umbel: for_each_parameter: the struct does not name its members; ..."
//   "umbel: for_each_parameter: packed weights have no parameters; ..."
//   "umbel: for_each_parameter: f must accept a path and a view, ..."
// and more about structs: docs/errors.md
template <class Weights, class F>
constexpr void for_each_parameter(Weights&& w, F&& f) {
  using verdict = detail::first_error<
      detail::rules::weights_first<std::remove_cvref_t<Weights>, std::remove_cvref_t<F>>,
      detail::rules::parameters<detail::taken_by<std::remove_reference_t<F>>,
                                std::remove_reference_t<Weights>>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) detail::visit_parameters(parameter_path{}, w, f);
}

// The number of numbers in all parameters of w. Errors: as for for_each_parameter.
template <class Weights>
[[nodiscard]] constexpr std::size_t count_parameters(const Weights& w) noexcept {
  using verdict = detail::rules::parameters<detail::any_parameter<detail::say::count_parameters>,
                                            const Weights>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  std::size_t count = 0;
  const auto add = [&](const parameter_path&, const auto& x) { count += x.size(); };
  if constexpr (verdict::ok) detail::visit_parameters(parameter_path{}, w, add);
  return count;
}

// Without weights, count_parameters<model>(): refused, since the argument is weights in memory.
template <class Weights>
[[nodiscard]] constexpr std::size_t count_parameters() noexcept {
  using verdict = detail::verdict<detail::never<Weights>, detail::say::count_parameters,
                                  detail::say::expects_the_weights_so_write_count_parameters_of_w>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return 0;
}

namespace detail {
UMBEL_SAYS(so_read_its_largest, "; read its largest");
}

// The largest difference of two parameters with one path, and that path; infinite for NaN.
struct parameter_difference {
  double largest = 0;
  parameter_path path{};

  // As a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  constexpr operator X() const noexcept {
    return detail::no_conversion<parameter_difference, detail::say::so_read_its_largest, X>();
  }
  // Compared with a number: refused.
  template <class X>
    requires std::is_arithmetic_v<X>
  friend constexpr bool operator<(const parameter_difference&, X) noexcept {
    return detail::no_conversion<parameter_difference, detail::say::so_read_its_largest, X>() < X{};
  }
  template <class X>
    requires std::is_arithmetic_v<X>
  friend constexpr bool operator>(const parameter_difference&, X) noexcept {
    return detail::no_conversion<parameter_difference, detail::say::so_read_its_largest, X>() > X{};
  }
};

namespace detail {
constexpr void widen(parameter_difference& found, const parameter_path& path, double p, double q) {
  if (p == q || (p != p && q != q)) return;
  double apart = p > q ? p - q : q - p;
  if (apart != apart) apart = __builtin_inf();
  if (apart > found.largest) found = {apart, path};
}
template <class A, class B>
using comparable =
    first_error<rules::parameters<any_parameter<say::compare_parameters>, const A>,
                rules::parameters<any_parameter<say::compare_parameters>, const B>,
                verdict<std::is_same_v<A, B>, say::compare_parameters,
                        say::the_arguments_have_two_types_so_load_both_into_weights_of_one_type>>;
}  // namespace detail

// Errors: as for for_each_parameter, and
//   "umbel: compare_parameters: the arguments have two types; load both into weights of one type"
template <class A, class B>
[[nodiscard]] constexpr parameter_difference compare_parameters(const A& a, const B& b) noexcept {
  using verdict = detail::comparable<A, B>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  parameter_difference found;
  if constexpr (verdict::ok) {
    std::size_t number = 0;
    const auto compare = [&](const parameter_path& path, const auto& x) {
      std::size_t other = 0;
      const auto with = [&](const parameter_path&, const auto& y) {
        if (other++ != number) return;
        if constexpr (std::is_same_v<decltype(x), decltype(y)>)
          for (std::size_t i = 0; i < x.size(); ++i)
            detail::widen(found, path, detail::to_double(x.data()[i]),
                          detail::to_double(y.data()[i]));
      };
      detail::visit_parameters(parameter_path{}, b, with);
      ++number;
    };
    detail::visit_parameters(parameter_path{}, a, compare);
  }
  return found;
}
template <class... Given>
  requires(sizeof...(Given) != 2)
constexpr parameter_difference compare_parameters(const Given&...) noexcept {
  using verdict =
      detail::verdict<detail::one_is_invalid<Given...>, detail::say::compare_parameters,
                      detail::say::expects_two_weights_so_write_compare_parameters_of_both>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

namespace detail {
template <>
struct print_of<parameter_path> {
  using instead = say::has_no_text_so_print_its_c_str;
};
template <>
struct print_of<parameter_difference> {
  using instead = say::has_no_text_so_print_its_largest;
};
}  // namespace detail

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
