// SPDX-License-Identifier: BSL-1.0
// The parameters of weights by name: what loading, saving, counting and comparing are made of.
//
//   static block::weights w;
//   for_each_parameter(w, [](const parameter_path& path, auto x) {
//     // "attention.q.weight", view<float, in_features<256>, out_features<256>>;
//     // "norm1.gamma", view<float, hidden<256>> ...
//   });
//
// A path is what C++ says, without the first name: w.attention.q.weight. A model's own struct lists
// its members once, in their order (a member cannot have the name of its layer's type):
//
//   struct model_weights {
//     static constexpr const char* part_names[] = {"positions", "encoder", "norm"};
//     position_table::weights positions;
//     block::weights encoder[4];   // "encoder.0.attention.q.weight" ...
//     last_norm::weights norm;
//   };
#pragma once

#include <umbel/config.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/stacked.hpp>
#include <umbel/layer/weights.hpp>
#include <umbel/tensor/interop.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
namespace say {
struct for_each_parameter;
struct members_but_part_names_has;
struct the_struct_has;
struct the_struct_does_not_name_its_members_so_give_it_part_names_in_their_order;
struct the_struct_has_more_than_12_members_so_put_some_of_them_into_a_struct;
struct packed_weights_are_laid_out_for_the_kernels_so_pass_the_weights_that_they_are_made_of;
}  // namespace say
template <>
inline constexpr const char* spoken<say::members_but_part_names_has> =
    "members, but part_names has";
template <>
inline constexpr const char*
    spoken<say::the_struct_does_not_name_its_members_so_give_it_part_names_in_their_order> =
        "the struct does not name its members; give it static constexpr const char* part_names[] = "
        "{...}, in their order";
template <>
inline constexpr const char*
    spoken<say::the_struct_has_more_than_12_members_so_put_some_of_them_into_a_struct> =
        "the struct has more than 12 members; put some of them into a struct of their own";
template <>
inline constexpr const char* spoken<
    say::packed_weights_are_laid_out_for_the_kernels_so_pass_the_weights_that_they_are_made_of> =
    "packed weights are laid out for the kernels; pass the weights that they are made of";

template <class W>
concept names_its_parts = requires { W::part_names[0]; };
// Weights of x W + b, owned or borrowed.
template <class W>
concept map_of_weights = requires(const W& w) {
  typename W::map;
  w.weight;
};
// A vector, borrowed.
template <class W>
concept vector_of_weights = requires(const W& w) {
  typename W::owned::layout;
  w.data();
};
// encoder::weights w[4], std::array<encoder::weights, 4>, layer_stack<encoder, 4>::weights.
template <class W>
concept several_weights = !tensor_like<W> && !vector_of_weights<W> && requires(const W& w) {
  requires std::is_array_v<W> || requires { std::tuple_size<W>::value; } || of_several_layers<W>;
  requires std::is_class_v<std::remove_cvref_t<decltype(w[0])>>;
};
template <class W>
concept packed_parameters = requires { typename W::layer; } || requires(const W& w) { w.panels; };

template <class W>
inline constexpr std::size_t parts_named = 0;
template <names_its_parts W>  // sizeof: to clang 14 the extent is 0 where nothing else has used it
inline constexpr std::size_t parts_named<W> = sizeof(W::part_names) / sizeof(W::part_names[0]);

// How many members a struct has, 13 where there are more; 0 where one of them has no default.
template <class W>
constexpr std::size_t members_in() {
  if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 13;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 12;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 11;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 10;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}, {}}; })
    return 9;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}, {}}; })
    return 8;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}, {}}; })
    return 7;
  else if constexpr (requires { W{{}, {}, {}, {}, {}, {}}; })
    return 6;
  else if constexpr (requires { W{{}, {}, {}, {}, {}}; })
    return 5;
  else if constexpr (requires { W{{}, {}, {}, {}}; })
    return 4;
  else if constexpr (requires { W{{}, {}, {}}; })
    return 3;
  else if constexpr (requires { W{{}, {}}; })
    return 2;
  else if constexpr (requires { W{{}}; })
    return 1;
  else
    return 0;
}
template <class W>
inline constexpr std::size_t members_there = 0;
template <names_its_parts W>
  requires std::is_aggregate_v<W>
inline constexpr std::size_t members_there<W> = members_in<W>();

namespace rules {
template <class W>
using parameters = first_error<
    verdict<
        !packed_parameters<W>, say::for_each_parameter,
        say::packed_weights_are_laid_out_for_the_kernels_so_pass_the_weights_that_they_are_made_of>,
    verdict<names_its_parts<W> || map_of_weights<W> || vector_of_weights<W> || tensor_like<W> ||
                several_weights<W>,
            say::for_each_parameter,
            say::the_struct_does_not_name_its_members_so_give_it_part_names_in_their_order>,
    verdict<(parts_named<W> <= 12), say::for_each_parameter,
            say::the_struct_has_more_than_12_members_so_put_some_of_them_into_a_struct>,
    verdict<members_there<W> == 0 || members_there<W> == parts_named<W>, say::for_each_parameter,
            say::the_struct_has, number<members_there<W>>, say::members_but_part_names_has,
            number<parts_named<W>>>>;
}  // namespace rules
}  // namespace detail

// Where a parameter is among the weights: "encoder.0.attention.q.weight", ended by a zero. What is
// longer than `most` characters is cut.
class parameter_path {
 public:
  static constexpr std::size_t most = 127;

  constexpr parameter_path() noexcept = default;
  [[nodiscard]] constexpr const char* c_str() const noexcept { return chars_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  // path / "q", path / 0: one step further.
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

template <class W>
constexpr std::size_t elements_of(const W& w) noexcept {
  if constexpr (std::is_array_v<W>)
    return std::extent_v<W>;
  else
    return w.size();
}

// T: that of the elements, const where the weights are.
template <class W, class T>
using as_const_as = std::conditional_t<std::is_const_v<W>, const T, T>;

template <class W, class F>
constexpr void visit_parameters(const parameter_path& path, W& w, F& f) noexcept {
  using plain = std::remove_const_t<W>;
  using rule = rules::parameters<plain>;
  static_assert(report<rule>::ok, "umbel: shapes do not fit");
  if constexpr (!rule::ok) {
    return;
  } else if constexpr (tensor_like<plain>) {
    f(path, as_view(w));
  } else if constexpr (vector_of_weights<plain>) {
    f(path,
      view_of<const typename plain::owned::value_type, typename plain::owned::layout>(w.data()));
  } else if constexpr (map_of_weights<plain>) {
    using map = typename plain::map;
    using in = axes::in_features<map::in::size>;
    using out = axes::out_features<map::out::size>;
    using T = std::remove_reference_t<decltype(w.weight[0])>;
    using element = std::conditional_t<std::is_pointer_v<decltype(w.weight)>, T, as_const_as<W, T>>;
    f(path / "weight", view<element, in, out>(&w.weight[0]));
    if constexpr (map::has_bias) f(path / "bias", view<element, out>(&w.bias[0]));
  } else if constexpr (several_weights<plain>) {
    for (std::size_t i = 0; i < elements_of(w); ++i) visit_parameters(path / i, w[i], f);
  } else {
    with_members<parts_named<plain>>(w, [&](auto&... part) {
      std::size_t i = 0;
      (visit_parameters(path / plain::part_names[i++], part, f), ...);
    });
  }
}

}  // namespace detail

// f(path, x) for each parameter of w, in the order of the members: weights of a layer, owned or
// borrowed, a struct with part_names, arrays of them. x is a view into w, which f may write to
// where w is owned and not const; its axes are in and out for the weight of a linear map, out for
// its bias, else those of the tensor.
//   "umbel: for_each_parameter: the struct does not name its members; ..."
//   "umbel: for_each_parameter: packed weights are laid out for the kernels; ..."
template <class Weights, class F>
constexpr void for_each_parameter(Weights& w, F&& f) noexcept {
  detail::visit_parameters(parameter_path{}, w, f);
}

// How many numbers all parameters of Weights are together.
template <class Weights>
[[nodiscard]] constexpr std::size_t count_parameters(const Weights& w) noexcept {
  std::size_t count = 0;
  for_each_parameter(w, [&](const parameter_path&, const auto& x) { count += x.size(); });
  return count;
}

// The largest difference between two parameters of the same path, and that path. NaN is as far as
// can be from what is not NaN.
struct parameter_difference {
  double largest = 0;
  parameter_path path{};
};
template <class Weights>
[[nodiscard]] constexpr parameter_difference compare_parameters(const Weights& a,
                                                                const Weights& b) noexcept {
  parameter_difference found;
  std::size_t number = 0;
  for_each_parameter(a, [&](const parameter_path& path, const auto& x) {
    std::size_t other = 0;
    for_each_parameter(b, [&](const parameter_path&, const auto& y) {
      if (other++ != number) return;
      if constexpr (std::is_same_v<decltype(x), decltype(y)>) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto p = static_cast<double>(x.data()[i]), q = static_cast<double>(y.data()[i]);
          if (p == q || (p != p && q != q)) continue;
          double apart = p > q ? p - q : q - p;
          if (apart != apart) apart = __builtin_inf();
          if (apart > found.largest) found = {apart, path};
        }
      }
    });
    ++number;
  });
  return found;
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
