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
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "quantize_part.hpp"

namespace tool {

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

// Whole samples, of a tensor each; none of no_memory.
template <class Sample>
auto samples(const char* path, std::size_t count) {
  if constexpr (std::is_same_v<Sample, no_memory>)
    return std::vector<float>{};
  else
    return read<typename Sample::value_type>(path, count);
}

// Samples, the memory beside each, and their lengths; none where none are given.
template <class Samples, class Memories>
struct given {
  Samples samples;
  Memories memories;
  std::vector<int> lengths, of_memories;
};
template <class Samples, class Memories>
given(Samples, Memories, std::vector<int>, std::vector<int>) -> given<Samples, Memories>;

template <class X, class Y>
double square_of_difference(const X& x, const Y& y, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double d = static_cast<double>(x.data()[i]) - static_cast<double>(y.data()[i]);
    sum += d * d;
  }
  return sum;
}

// Of one part: sums of squares, and how many of the largest results of the model are those of the
// labels, and of the floats. Alone: only the part is in integers; so far: it and all before it.
struct cost {
  double size = 0;
  struct {
    double error = 0;
    std::size_t right = 0, same = 0;
  } alone, so_far;
};

// Input, Memory: a sample of each; no_memory where no part takes one. Length, MemoryLength: int if
// they are padded, or whole. The first OfMemory parts make the memory, the others the result.
template <class Input, class Length, class Memory, class MemoryLength, std::size_t OfMemory,
          class... Parts>
class model {
 public:
  explicit model(std::tuple<Parts...>& parts) : parts_(parts) {}

  // percent: 100 for the largest values.
  template <class Given>
  void calibrate(const Given& all, double percent) {
    each_sample(all, [&](const Input& x, const Memory& m) {
      percent < 100 ? see<0, true>(x, m) : see<0, false>(x, m);
    });
    std::apply(
        [&](auto&... part) {
          if (percent < 100) (take_percentile(part.seen, part.counted, percent), ...);
          chain();
          (check(part.name, part.pack()), ...);
        },
        parts_);
  }
  template <class Given>
  void compare(const Given& all, const std::vector<int>& labels) {
    labels_ = labels;
    each_sample(all, [&](const Input& x, const Memory& m) {
      ++samples_;
      wanted_ = largest(rest<0>(x, m));
      right_ += right(wanted_);
      if constexpr (OfMemory != 0)
        step<0>(x, m, in_integers<OfMemory>(x), in_integers<0>(m));
      else
        step<0>(x, m, in_integers<0>(x), memory_in_integers(m));
      results_ += wanted_.size();
    });
    if (labels_.empty() || results_ == labels_.size()) return;
    std::fprintf(stderr, "the labels are %zu, but the results of the samples are %zu\n",
                 labels_.size(), results_);
    std::exit(4);
  }
  void print() const {
    std::printf("{\"samples\": %zu, \"results\": %zu, \"right\": %zu,\n \"parts\": [", samples_,
                results_, right_);
    std::size_t i = 0;
    std::apply(
        [&](const auto&... part) {
          const auto put = [&](const char* name) {
            const cost& c = costs_[i];
            std::printf("%s\n  {\"name\": \"%s\"", i == 0 ? "" : ",", name);
            const auto put_one = [&](const char* which, const auto& one) {
              std::printf(", \"%s\": {\"error\": %.6g, \"right\": %zu, \"same\": %zu}", which,
                          c.size > 0 ? std::sqrt(one.error / c.size) : 0, one.right, one.same);
            };
            put_one("alone", c.alone);
            put_one("so_far", c.so_far);
            std::printf("}");
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
  static constexpr std::size_t count = sizeof...(Parts);
  static constexpr bool has_memory = !std::is_same_v<Memory, no_memory>;
  template <class N>
  static constexpr bool is_padded = std::is_same_v<N, int>;
  // The elements of y that are no padding. Sample: it has the axis of positions first.
  template <class Sample, class Y, class N>
  static std::size_t count_of(const Y& y, N length) {
    if constexpr (is_padded<N> && Y::layout::rank > 0) {
      using positions = typename Sample::layout::template axis_at<0>;
      using first = typename Y::layout::template axis_at<0>;
      if constexpr (std::is_same_v<first, positions>)
        return y.size() / first::size * static_cast<std::size_t>(length);
    }
    return y.size();
  }
  template <std::size_t I>
  using part_type = std::tuple_element_t<I, std::tuple<Parts...>>;

  template <class Given, class F>
  void each_sample(const Given& all, const F& f) {
    static Input x;
    static Memory m;
    for (std::size_t i = 0; (i + 1) * x.size() <= all.samples.size(); ++i) {
      std::copy_n(all.samples.data() + i * x.size(), x.size(), x.data());
      if constexpr (has_memory) std::copy_n(all.memories.data() + i * m.size(), m.size(), m.data());
      if constexpr (is_padded<Length>) length_ = all.lengths[i];
      if constexpr (is_padded<MemoryLength>) length_of_memory_ = all.of_memories[i];
      f(x, m);
    }
  }
  static void check(const char* name, const pack_result& result) {
    if (result) return;
    std::fprintf(stderr, "all samples leave %s.%s at 0, or not finite\n", name,
                 result.missing_range());
    std::exit(3);
  }

  // Part I, with the lengths of what it is given.
  template <std::size_t I, class Part, class Seen, class X, class M>
  auto call_floats(const Part& part, Seen& into, const X& x, const M& m) const {
    if constexpr (I < OfMemory)
      return part.floats(into, x, m, length_of_memory_, whole{});
    else
      return part.floats(into, x, m, length_, length_of_memory_);
  }
  template <std::size_t I, class Part, class X, class M>
  auto call_integers(const Part& part, const X& x, const M& m) const {
    if constexpr (I < OfMemory)
      return part.integers(x, m, length_of_memory_, whole{});
    else
      return part.integers(x, m, length_, length_of_memory_);
  }

  // ---- ranges
  // f(part, ...) of parts First to Last - 1.
  template <std::size_t First, std::size_t Last, class F>
  void with_parts(const F& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      f(std::get<First + I>(parts_)...);
    }(std::make_index_sequence<Last - First>{});
  }
  template <std::size_t First, std::size_t Last>
  void chain_parts() {
    if constexpr (Last - First > 1)
      with_parts<First, Last>([](auto&... part) { chain_ranges(part.seen...); });
  }
  // One unit for what is handed on, and for the memory.
  void chain() {
    chain_parts<OfMemory, count>();
    if constexpr (has_memory) {
      const auto each_decoder = [&](const auto& f) {
        with_parts<OfMemory, count>([&](auto&... part) {
          const auto see = [&](auto& one) {
            if constexpr (std::remove_cvref_t<decltype(one)>::takes_memory) f(one.seen.memory);
          };
          (see(part), ...);
        });
      };
      each_decoder(
          [&](tensor<float>& r) { range_of_memory_() = std::max(range_of_memory_(), r()); });
      if constexpr (OfMemory != 0)
        with_parts<0, OfMemory>(
            [&](auto&... part) { chain_ranges(part.seen..., range_of_memory_); });
      each_decoder([&](tensor<float>& r) { r = range_of_memory_; });
    }
  }
  template <std::size_t I, bool Count, class X, class M>
  void see(const X& x, const M& m) {
    if constexpr (I < count) {
      auto& part = std::get<I>(parts_);
      const auto floats = [&](const auto& given) {
        if constexpr (Count)
          return call_floats<I>(part, part.counted, given, m);
        else
          return call_floats<I>(part, part.seen, given, m);
      };
      if constexpr (I < OfMemory)
        see<I + 1, Count>(x, floats(m));
      else
        see<I + 1, Count>(floats(x), m);
    }
  }

  // ---- what integers cost
  // What part I is given.
  template <std::size_t I, class X>
  auto in_integers(const X& x) const {
    if constexpr (std::is_integral_v<typename X::value_type>)
      return x;
    else
      return quantize<typename part_type<I>::in>(
          x, range_of<detail::integers::start_of_part>(std::get<I>(parts_)));
  }
  // The memory as decoder layers take it, and back.
  template <class M>
  auto memory_in_integers(const M& m) const {
    if constexpr (has_memory)
      return quantize<std::int8_t>(m, range_of_memory_);
    else
      return m;
  }
  template <class N>
  auto memory_in_floats(const N& n) const {
    if constexpr (has_memory)
      return dequantize(n, range_of_memory_);
    else
      return n;
  }
  // The result of the parts from I on, in floats.
  template <std::size_t I, class X, class M>
  auto rest(const X& x, const M& m) const {
    if constexpr (I == count) {
      return x;
    } else {
      const auto& part = std::get<I>(parts_);
      auto ignored = part.seen;
      if constexpr (I < OfMemory)
        return rest<I + 1>(x, call_floats<I>(part, ignored, m, m));
      else
        return rest<I + 1>(call_floats<I>(part, ignored, x, m), m);
    }
  }
  // x, m: the sequence and the memory before part I in floats; z, n: in integers.
  template <std::size_t I, class X, class M, class Z, class N>
  void step(const X& x, const M& m, const Z& z, const N& n) {
    if constexpr (I < count) {
      const auto& part = std::get<I>(parts_);
      auto ignored = part.seen;
      const auto range = range_of<detail::integers::end_of_part>(part);
      cost& c = costs_[I];
      if constexpr (I < OfMemory) {
        const auto y = call_floats<I>(part, ignored, m, m);
        const auto w = call_integers<I>(part, n, n);
        const auto alone = dequantize(call_integers<I>(part, in_integers<I>(m), n), range);
        const auto so_far = dequantize(w, range);
        add(c, y, alone, so_far, count_of<Memory>(y, length_of_memory_));
        add(c.alone, rest<I + 1>(x, alone));
        add(c.so_far, rest<I + 1>(x, so_far));
        step<I + 1>(x, y, z, w);
      } else {
        const auto y = call_floats<I>(part, ignored, x, m);
        const auto w = call_integers<I>(part, z, n);
        const auto alone =
            dequantize(call_integers<I>(part, in_integers<I>(x), memory_in_integers(m)), range);
        const auto so_far = dequantize(w, range);
        add(c, y, alone, so_far, count_of<Input>(y, length_));
        add(c.alone, rest<I + 1>(alone, m));
        add(c.so_far, rest<I + 1>(so_far, memory_in_floats(n)));
        step<I + 1>(y, m, w, n);
      }
    }
  }
  template <class Y>
  static void add(cost& c, const Y& y, const Y& alone, const Y& so_far, std::size_t elements) {
    c.alone.error += square_of_difference(alone, y, elements);
    c.so_far.error += square_of_difference(so_far, y, elements);
    for (std::size_t i = 0; i < elements; ++i)
      c.size += static_cast<double>(y.data()[i]) * static_cast<double>(y.data()[i]);
  }
  // Where the largest result is, of each row of the last axis that is no padding.
  template <class Y>
  std::vector<int> largest(const Y& y) const {
    using layout = typename Y::layout;
    constexpr std::size_t wide = layout::extents[layout::rank - 1];
    std::vector<int> places;
    const float* const end = y.data() + count_of<Input>(y, length_);
    for (const float* row = y.data(); row != end; row += wide)
      places.push_back(static_cast<int>(std::max_element(row, row + wide) - row));
    return places;
  }
  std::size_t right(const std::vector<int>& places) const {
    std::size_t found = 0;
    for (std::size_t r = 0; r < places.size() && results_ + r < labels_.size(); ++r)
      found += places[r] == labels_[results_ + r];
    return found;
  }
  template <class One, class Y>
  void add(One& one, const Y& result) const {
    const std::vector<int> places = largest(result);
    one.right += right(places);
    for (std::size_t r = 0; r < places.size(); ++r) one.same += places[r] == wanted_[r];
  }

  std::tuple<Parts...>& parts_;
  Length length_{};  // of this sample
  MemoryLength length_of_memory_{};
  std::array<cost, count> costs_{};
  tensor<float> range_of_memory_{0.0F};
  std::vector<int> labels_, wanted_;  // wanted_: of the floats on this sample
  std::size_t samples_ = 0, results_ = 0, right_ = 0;
};

}  // namespace tool
