// SPDX-License-Identifier: BSL-1.0
// Initial weights, drawn by a counter: element i of a parameter depends only on the seed, the path
// and i. It has the same bits with every compiler and target, whatever the other parameters are.
//
//   initialize(w, 2026);                                    // by the role of each parameter
//   initialize(w, 2026, [](const parameter_path& path, const auto& x) {
//     return path == "head.weight" ? initializer::constant(0) : initializer::by_role(path, x);
//   });
//
// Two 32-bit words of Philox (simd/philox.hpp) make a uniform number with 53 bits; two of these
// make a pair of normal numbers (Box and Muller 1958). Computed in double, rounded once.
#pragma once

#include <concepts>
#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/simd/math.hpp>
#include <umbel/simd/philox.hpp>
#include <umbel/training/arrays.hpp>
#include <umbel/training/elementary.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct initialize;
}  // namespace say
UMBEL_SAYS(expects_the_weights_and_a_seed_so_write_initialize_of_w_and_2026,
           "expects the weights and a seed; write initialize(w, 2026)");
UMBEL_SAYS(expects_an_initializer_or_a_function_of_a_path_and_a_view_that_returns_one,
           "expects an initializer, initializer::normal(0.02), or a function of a path and a view "
           "that returns one");

// The sizes that a matrix maps from and to: (in, out); for other tensors the product of all axes
// but the last, and the last; for one axis its size and 1.
struct fans {
  double in, out;
};
template <class X>
constexpr fans fans_of() noexcept {
  using layout = layout_of<X>;
  constexpr std::size_t out = layout::rank < 2 ? 1 : layout::extents[layout::rank - 1];
  return {static_cast<double>(layout::count / out), static_cast<double>(out)};
}

constexpr bool is_last_name(const parameter_path& path, const char* name) noexcept {
  const char* last = path.c_str();
  for (const char* c = last; *c != '\0'; ++c)
    if (*c == '.') last = c + 1;
  return is_same_text(last, name);
}

// Pair i of the uniform numbers in [0, 1) of a path.
struct uniform_pair {
  double first, second;
};
constexpr uniform_pair draw_pair(std::uint64_t seed, std::uint64_t path, std::uint64_t i) noexcept {
  std::uint32_t words[4] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32),
                            static_cast<std::uint32_t>(path),
                            static_cast<std::uint32_t>(path >> 32)};
  simd::philox(words, seed);
  const auto number = [](std::uint32_t high, std::uint32_t low) {
    return static_cast<double>(std::uint64_t{high} << 21 | low >> 11) * 0x1p-53;
  };
  return {number(words[0], words[1]), number(words[2], words[3])};
}
// FNV-1a.
constexpr std::uint64_t hash_of(const parameter_path& path) noexcept {
  std::uint64_t hash = 14695981039346656037u;
  for (std::size_t i = 0; i < path.size(); ++i)
    hash = (hash ^ static_cast<unsigned char>(path.c_str()[i])) * 1099511628211u;
  return hash;
}
}  // namespace detail

// How a parameter starts. `in` and `out` are the sizes that its matrix maps from and to.
class initializer {
 public:
  // All numbers are `value`.
  [[nodiscard]] static constexpr initializer constant(double value) noexcept {
    return {kind::constant, scale::none, value};
  }
  // Normal numbers with mean 0.
  [[nodiscard]] static constexpr initializer normal(double deviation) noexcept {
    return {kind::normal, scale::none, deviation};
  }
  // With variance gain^2 2 / (in + out) (Glorot and Bengio 2010), like torch's xavier_uniform_.
  [[nodiscard]] static constexpr initializer xavier_uniform(double gain = 1) noexcept {
    return {kind::uniform, scale::in_and_out, gain};
  }
  [[nodiscard]] static constexpr initializer xavier_normal(double gain = 1) noexcept {
    return {kind::normal, scale::in_and_out, gain};
  }
  // With variance gain^2 / in (He et al. 2015), torch's kaiming_uniform_; gain: sqrt(2) for relu.
  [[nodiscard]] static constexpr initializer kaiming_uniform(
      double gain = 1.4142135623730951) noexcept {
    return {kind::uniform, scale::in, gain};
  }
  [[nodiscard]] static constexpr initializer kaiming_normal(
      double gain = 1.4142135623730951) noexcept {
    return {kind::normal, scale::in, gain};
  }
  // The matrix of a linear map and the score weights of additive attention: xavier_uniform; gammas:
  // 1; betas, biases and other vectors: 0; tables of embeddings and positions, and other tensors
  // with two or more axes: normal(0.02), as in BERT and GPT-2.
  template <class X>
  [[nodiscard]] static constexpr initializer by_role(const parameter_path& path,
                                                     const X&) noexcept {
    using layout = detail::layout_of<X>;
    if (detail::is_last_name(path, "gamma")) return constant(1);
    if (layout::template has<axis_family<axes::in_features>> || detail::is_last_name(path, "score"))
      return xavier_uniform();
    return layout::rank < 2 ? constant(0) : normal(0.02);
  }

  // Writes the numbers for a seed and a path. x: a view of the parameter.
  template <class X>
  constexpr void fill(const X& x, std::uint64_t seed, const parameter_path& path) const noexcept {
    using T = typename X::value_type;
    const std::uint64_t stream = detail::hash_of(path);
    const double size = number_ * root_of_variance(detail::fans_of<X>());
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const auto [first, second] = pair(size, detail::draw_pair(seed, stream, i / 2));
      x.data()[i] = static_cast<T>(first);
      if (i + 1 < x.size()) x.data()[i + 1] = static_cast<T>(second);
    }
  }

 private:
  enum class kind : unsigned char { constant, uniform, normal };
  enum class scale : unsigned char { none, in, in_and_out };
  constexpr initializer(kind k, scale s, double number) noexcept
      : kind_(k), scale_(s), number_(number) {}

  // 1 without a scale; 0 if fans are 0.
  constexpr double root_of_variance(detail::fans f) const noexcept {
    if (scale_ == scale::none) return 1;
    const double sum = scale_ == scale::in ? f.in : f.in + f.out;
    return sum > 0 ? detail::simd::sqrt((scale_ == scale::in ? 1.0 : 2.0) / sum) : 0;
  }
  // Two numbers with that deviation.
  constexpr detail::uniform_pair pair(double deviation, detail::uniform_pair u) const noexcept {
    namespace elementary = detail::elementary;
    if (kind_ == kind::constant) return {deviation, deviation};
    if (kind_ == kind::uniform) {
      const double bound = deviation * 1.7320508075688772;  // the root of 3
      return {(2 * u.first - 1) * bound, (2 * u.second - 1) * bound};
    }
    const double radius = deviation * detail::simd::sqrt(-2 * elementary::logarithm(1 - u.first));
    const elementary::point at = elementary::on_circle(u.second);
    return {radius * at.cosine, radius * at.sine};
  }

  kind kind_;
  scale scale_;
  double number_;
};

namespace detail {
template <class... Given>
inline constexpr bool is_seed_first = false;
template <class Seed, class... Rest>
inline constexpr bool is_seed_first<Seed, Rest...> = std::is_convertible_v<Seed, std::uint64_t>;
}  // namespace detail
namespace detail::rules {
template <class Filler>
inline constexpr bool is_initializer = std::is_same_v<std::remove_cvref_t<Filler>, initializer>;
template <class Filler>
struct chosen_initializer {
  using operation = say::initialize;
  template <class X>
  static constexpr bool gives_one = requires(const Filler& filler, const parameter_path& path) {
    { filler(path, std::declval<const X&>()) } -> std::same_as<initializer>;
  };
  template <class X>
  using of =
      verdict<gives_one<X>, say::initialize,
              say::expects_an_initializer_or_a_function_of_a_path_and_a_view_that_returns_one>;
};
template <class W, class Filler>
constexpr auto initialize_call() {
  using weights = changeable<say::initialize, W>;
  if constexpr (!weights::ok || is_initializer<Filler>)
    return weights{};
  else
    return parameters<chosen_initializer<Filler>, W>{};
}
}  // namespace detail::rules

// Sets initial values for all parameters of w. filler: an initializer, or filler(path, view)
// returns one.
//   "umbel: initialize: the weights are const"
//   "umbel: initialize: expects an initializer, initializer::normal(0.02), or a function of a path
//    and a view that returns one"
// and those of for_each_parameter.
template <class W, class Filler>
constexpr void initialize(W& w, std::uint64_t seed, const Filler& filler) noexcept {
  using verdict = decltype(detail::rules::initialize_call<W, Filler>());
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    const auto fill = [&](const parameter_path& path, const auto& x) {
      if constexpr (detail::rules::is_initializer<Filler>)
        filler.fill(x, seed, path);
      else
        filler(path, x).fill(x, seed, path);
    };
    detail::visit_parameters(parameter_path{}, w, fill);
  }
}
// By the role of each parameter: initializer::by_role.
template <class W>
constexpr void initialize(W& w, std::uint64_t seed) noexcept {
  initialize(w, seed, [](const parameter_path& path, const auto& x) {
    return initializer::by_role(path, x);
  });
}

// Without a seed, or with something before it: refused.
template <class W, class... Given>
  requires(detail::given_weights<W> && !detail::is_seed_first<Given...>)
constexpr void initialize(W&, const Given&...) noexcept {
  using verdict = detail::verdict<
      detail::one_is_invalid<W>, detail::say::initialize,
      detail::say::expects_the_weights_and_a_seed_so_write_initialize_of_w_and_2026>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
