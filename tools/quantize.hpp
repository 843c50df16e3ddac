// SPDX-License-Identifier: BSL-1.0
// The program that tools/quantize writes and runs is a list of parts of a model; this is the rest
// of it: runs them in floats and in integers on samples, and prints ranges and errors as JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <umbel/quantized.hpp>
#include <umbel/weights.hpp>

namespace tool {

using namespace umbel;

// ---- weights of any order, as the header has them, to (in, out) --------------------------------
template <class T, class In, class Out, bool Bias>
auto owned(const portable::linear_in_any_order<T, In, Out, Bias>& w) {
  portable::linear_weights<T, In, Out, Bias> made;
  for (std::size_t i = 0; i < In::size; ++i)
    for (std::size_t o = 0; o < Out::size; ++o)
      made.weight[i * Out::size + o] = w.weight[i * w.strides.in + o * w.strides.out];
  if constexpr (Bias) std::copy(w.bias, w.bias + Out::size, made.bias);
  return made;
}
template <class T, class Axis>
auto owned(const portable::vector_view<T, Axis>& w) {
  tensor<T, Axis> made;
  std::copy(w.data(), w.data() + Axis::size, made.data());
  return made;
}
template <class T, class Row, class Feature, bool AnyOrder>
auto owned(const portable::borrowed_table<T, Row, Feature, AnyOrder>& w) {
  tensor<T, Row, Feature> made;
  for (std::size_t i = 0; i < Row::size; ++i)
    for (std::size_t j = 0; j < Feature::size; ++j)
      made(i, j) = w.data()[i * w.row_stride() + j * w.feature_stride()];
  return made;
}
template <template <class...> class Parts, class... View>
auto owned(const portable::weights_view<Parts, View...>& w) {
  return detail::with_parts(w, [](const auto&... part) {
    return typename portable::weights_view<Parts, View...>::owned{owned(part)...};
  });
}

// ---- parts of a model ---------------------------------------------------------------------------
// In, Out: the integers that it takes and gives. Mask: void, or that of an attention. More: the
// epsilon of a norm.
template <class Quantized, class Weights, class In, class Out, class Mask, class... More>
struct part {
  using in = In;
  using out = Out;
  using histograms = typename Quantized::histograms;
  const char* name;
  Weights weights;
  std::tuple<More...> more;
  typename Quantized::ranges seen{};
  histograms counted{};
  Quantized layer{};

  template <class Seen, class X>
  auto floats(Seen& into, const X& x) const {
    return std::apply(
        [&](const auto&... m) {
          if constexpr (std::is_same_v<Weights, std::nullptr_t>)
            return Quantized::observe(into, x, m...);
          else if constexpr (!std::is_void_v<Mask>)
            return Quantized::observe(into, weights, x, Mask{});
          else
            return Quantized::observe(into, weights, x, m...);
        },
        more);
  }
  template <class X>
  auto integers(const X& x) const {
    if constexpr (std::is_void_v<Mask>)
      return layer(x);
    else
      return layer(x, Mask{});
  }
  pack_result pack() {
    return std::apply(
        [&](const auto&... m) {
          if constexpr (std::is_same_v<Weights, std::nullptr_t>)
            return layer.pack(seen, m...);
          else
            return layer.pack(weights, seen, m...);
        },
        more);
  }
};
template <class Quantized, class In, class Out, class Mask = void, class Weights, class... More>
auto make(const char* name, const Weights& weights, More... more) {
  return part<Quantized, Weights, In, Out, Mask, More...>{name, weights,
                                                          std::tuple<More...>{more...}};
}

template <class Where, class Part>
tensor<float> range_of(const Part& p) {
  tensor<float> found{0.0F};
  detail::integers::ranges_at<Where>(p.seen, [&](const tensor<float>& r) { found = r; });
  return found;
}

// ---- samples ------------------------------------------------------------------------------------
template <class T>
std::vector<T> read(const char* path, std::size_t count) {
  std::vector<T> numbers(count);
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr || std::fread(numbers.data(), sizeof(T), count, file) != count) {
    std::fprintf(stderr, "%s cannot be read\n", path);
    std::exit(2);
  }
  std::fclose(file);
  return numbers;
}

struct error {
  double alone = 0, so_far = 0, size = 0;  // sums of squares
};
template <class X, class Y>
double square_of_difference(const X& x, const Y& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(x.data()[i]) - static_cast<double>(y.data()[i]);
    sum += d * d;
  }
  return sum;
}

template <class Input, class... Parts>
class model {
 public:
  explicit model(std::tuple<Parts...>& parts) : parts_(parts) {}

  // percent: 100 for the largest values.
  void observe(const std::vector<typename Input::value_type>& samples, double percent) {
    each_sample(samples,
                [&](const Input& x) { percent < 100 ? see<0, true>(x) : see<0, false>(x); });
    std::apply(
        [&](auto&... part) {
          if (percent < 100) (take_percentile(part.seen, part.counted, percent), ...);
          if constexpr (sizeof...(part) > 1) chain_ranges(part.seen...);
          (check(part.name, part.pack()), ...);
        },
        parts_);
  }
  void compare(const std::vector<typename Input::value_type>& samples,
               const std::vector<int>& labels) {
    labels_ = labels.empty() ? nullptr : labels.data();
    count_of_labels_ = labels.size();
    each_sample(samples, [&](const Input& x) {
      ++samples_;
      if constexpr (std::is_integral_v<typename Input::value_type>)
        step<0>(x, x);
      else
        step<0>(x, quantize<typename first::in>(
                       x, range_of<detail::integers::start_of_part>(std::get<0>(parts_))));
    });
    if (labels_ == nullptr || results_ == count_of_labels_) return;
    std::fprintf(stderr, "the labels are %zu, but the results of the samples are %zu\n",
                 count_of_labels_, results_);
    std::exit(4);
  }
  void print() const {
    std::printf(
        "{\"samples\": %zu, \"results\": %zu, \"right\": %zu, \"integers_right\": %zu, "
        "\"same\": %zu,\n",
        samples_, results_, right_, integers_right_, same_);
    std::printf(" \"parts\": [");
    std::size_t i = 0;
    std::apply(
        [&](const auto&... part) {
          const auto put = [&](const char* name) {
            const error& e = errors_[i];
            std::printf("%s\n  {\"name\": \"%s\", \"alone\": %.6g, \"so_far\": %.6g}",
                        i == 0 ? "" : ",", name, relative(e.alone, e.size),
                        relative(e.so_far, e.size));
            ++i;
          };
          (put(part.name), ...);
        },
        parts_);
    std::printf("],\n \"ranges\": {");
    bool any = false;
    std::apply(
        [&](const auto&... part) {
          const auto put = [&](const char* name, const auto& seen) {
            for_each_parameter(seen, [&](const parameter_path& path, auto r) {
              std::printf("%s\n  \"%s.%s\": %.9g", any ? "," : "", name, path.c_str(),
                          static_cast<double>(r()));
              any = true;
            });
          };
          (put(part.name, part.seen), ...);
        },
        parts_);
    std::printf("}}\n");
  }

 private:
  using first = std::tuple_element_t<0, std::tuple<Parts...>>;

  template <class F>
  void each_sample(const std::vector<typename Input::value_type>& samples, const F& f) {
    static Input x;
    for (std::size_t i = 0; i + x.size() <= samples.size(); i += x.size()) {
      std::copy(samples.data() + i, samples.data() + i + x.size(), x.data());
      f(x);
    }
  }
  static void check(const char* name, const pack_result& result) {
    if (result) return;
    std::fprintf(stderr, "all samples leave %s.%s at 0, or not finite\n", name,
                 result.missing_range());
    std::exit(3);
  }
  template <std::size_t I, bool Count, class X>
  void see(const X& x) {
    auto& part = std::get<I>(parts_);
    const auto y = [&] {
      if constexpr (Count)
        return part.floats(part.counted, x);
      else
        return part.floats(part.seen, x);
    }();
    if constexpr (I + 1 < sizeof...(Parts)) see<I + 1, Count>(y);
  }
  // x, z: what part I is given, in floats and in integers.
  template <std::size_t I, class X, class Z>
  void step(const X& x, const Z& z) {
    const auto& part = std::get<I>(parts_);
    auto ignored = part.seen;
    const auto y = part.floats(ignored, x);
    const auto w = part.integers(z);
    const auto range = range_of<detail::integers::end_of_part>(part);
    const auto alone = [&] {
      if constexpr (std::is_integral_v<typename X::value_type>)
        return part.integers(x);
      else
        return part.integers(quantize<typename std::remove_cvref_t<decltype(part)>::in>(
            x, range_of<detail::integers::start_of_part>(part)));
    }();
    errors_[I].alone += square_of_difference(dequantize(alone, range), y);
    errors_[I].so_far += square_of_difference(dequantize(w, range), y);
    for (const float v : y) errors_[I].size += static_cast<double>(v) * static_cast<double>(v);
    if constexpr (I + 1 < sizeof...(Parts)) {
      step<I + 1>(y, w);
    } else {
      // A result for each row of the last axis.
      using layout = typename std::remove_cvref_t<decltype(y)>::layout;
      constexpr std::size_t wide = layout::extents[layout::rank - 1];
      const auto best = [](const auto* row) {
        return static_cast<int>(std::max_element(row, row + wide) - row);
      };
      for (std::size_t r = 0; r < y.size() / wide; ++r, ++results_) {
        const int floats = best(y.data() + r * wide), integers = best(w.data() + r * wide);
        same_ += floats == integers;
        if (results_ >= count_of_labels_) continue;
        right_ += floats == labels_[results_];
        integers_right_ += integers == labels_[results_];
      }
    }
  }
  static double relative(double difference, double size) {
    return size > 0 ? std::sqrt(difference / size) : 0;
  }

  std::tuple<Parts...>& parts_;
  std::array<error, sizeof...(Parts)> errors_{};
  const int* labels_ = nullptr;
  std::size_t count_of_labels_ = 0, samples_ = 0, results_ = 0, right_ = 0, integers_right_ = 0,
              same_ = 0;
};

}  // namespace tool
