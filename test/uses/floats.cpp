// SPDX-License-Identifier: BSL-1.0
// The uses of every block in floats: calls, weights in each form, workers, formulas, files.
#include "uses.hpp"

#include <umbel/files.hpp>

#include <cstring>
#include <string>

#include "../support/executors.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

struct by_value_and_into {
  static constexpr const char* name = "by value, into a tensor, in place";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    const auto y = p.causal_pass(layer);
    static workspace_of<Layer> work;
    std::memset(static_cast<void*>(&work), 0xff, sizeof work);  // NaN
    BOOST_TEST(same_bits(p.causal_pass(layer, work), y));
    auto in_place = p.x;
    p.causal_pass_into(layer, in_place, in_place, work);
    BOOST_TEST(same_bits(in_place, y));
    // A batch is its sequences; a mask hides.
    const auto second = [](const auto& t) { return t | select_at<batch, 1> | contiguous; };
    BOOST_TEST(same_bits(p.pass(layer, second(p.x), second(p.memory), causal), second(y)));
    BOOST_TEST(!same_bits(p.pass(layer, p.x, p.memory, all_keys), y));
  }
};

struct prepacked_weights {
  static constexpr const char* name = "prepacked";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    static const prepacked<Layer> packed{p.w};
    BOOST_TEST(same_bits(p.causal_pass(packed), p.causal_pass(Layer{p.w})));
  }
};

// The weights of maps, rounded as stored_as<Stored> rounds them.
template <class Stored, class Weights>
Weights rounded(Weights w) {
  for_each_parameter(w, [](const parameter_path& path, auto x) {
    if (ends(path, "weight"))
      for (float& e : x) e = static_cast<float>(static_cast<Stored>(e));
  });
  return w;
}
template <class Stored>
struct weights_in_16_bits {
  static constexpr const char* name = "weights in 16 bits";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    static const prepacked<Layer, stored_as<Stored>> packed{p.w};
    const auto w = rounded<Stored>(p.w);
    BOOST_TEST(same_bits(p.causal_pass(packed), p.causal_pass(Layer{w})));
    BOOST_TEST(!same_bits(p.causal_pass(packed), p.causal_pass(Layer{p.w})));
  }
};
struct weights_in_8_bits {
  static constexpr const char* name = "weights in 8 bits";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    static const prepacked<Layer, stored_as<std::int8_t>> packed{p.w};
    BOOST_TEST(relative_error(p.causal_pass(packed), p.causal_pass(Layer{p.w})) < 0.02);
    BOOST_TEST(!same_bits(p.causal_pass(packed), p.causal_pass(Layer{p.w})));
  }
};

struct several_workers {
  static constexpr const char* name = "several workers";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    static workspace_of<Layer> work[3];
    std::memset(static_cast<void*>(work), 0xff, sizeof work);  // NaN
    shuffled<3> executor;  // two sequences for three workers: each in parts
    auto in_place = p.x;
    p.causal_pass_into(layer, in_place, in_place, parallel(executor, work));
    BOOST_TEST(same_bits(in_place, p.causal_pass(layer)));
    BOOST_TEST(executor.pieces > 6);
  }
};

// The first rows of a sequence, known at run time.
struct rows_left_out {
  static constexpr const char* name = "rows left out, valid_rows(n)";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    static const prepacked<Layer> packed{p.w};
    static workspace_of<Layer> work, of_workers[3];
    for (int n = 0; n <= 12; ++n) {
      const tensor<int, batch<2>> lens{n, 12 - n}, of_memory{7 - n / 2, n / 2};
      const auto wanted = of_rows<Layer>(p, packed, lens & causal, of_memory, work);
      std::memset(static_cast<void*>(&work), 0xff, sizeof work);  // NaN
      const auto y =
          of_rows<Layer>(p, packed, causal & valid_rows(lens), valid_rows(of_memory), work);
      std::memset(static_cast<void*>(of_workers), 0xff, sizeof of_workers);
      shuffled<3> executor;
      BOOST_TEST(
          same_bits(y, of_rows<Layer>(p, packed, causal & valid_rows(lens), valid_rows(of_memory),
                                      parallel(executor, of_workers))));
      for (int b = 0; b < 2; ++b)
        for (int i = 0; i < 12; ++i) {
          const auto row = [&](const auto& t) {
            return t | select_at<batch>(b) | select_at<token>(i) | contiguous;
          };
          BOOST_TEST(same_bits(row(y), i < lens(b) ? row(wanted) : tensor<float, hidden<32>>{}));
        }
    }
  }
  template <class Layer, class Called, class Mask, class OfMemory, class Workspace>
  static auto of_rows(const problem<Layer>& p, const Called& layer, const Mask& mask,
                      const OfMemory& of_memory, Workspace&& work) {
    if constexpr (has_memory<Layer>)
      return layer(p.x, p.memory, of_memory, self_mask(mask), work);
    else
      return layer(p.x, mask, work);
  }
};

struct in_a_formula {
  static constexpr const char* name = "in a formula";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    const auto y = p.causal_pass(layer) + p.x;
    if constexpr (has_memory<Layer>) {
      const formula f = [](auto x, auto memory, const auto& block) {
        return block(x, memory, self_mask(causal)) + x;
      };
      BOOST_TEST(same_bits(f(p.x, p.memory, layer), y));
    } else {
      const formula f = [](auto x, const auto& block) { return block(x, causal) + x; };
      BOOST_TEST(same_bits(f(p.x, layer), y));
    }
  }
};

struct saved_and_loaded {
  static constexpr const char* name = "saved and loaded by name";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    std::string bytes;
    save([&](const char* from, std::size_t count) { bytes.append(from, count); }, p.w);
    const auto file = tensor_file::in_memory(bytes);
    BOOST_TEST_REQUIRE(static_cast<bool>(file));
    static typename Layer::weights loaded;
    BOOST_TEST(static_cast<bool>(load(loaded, *file, names::umbel)));
    BOOST_TEST(std::memcmp(&p.w, &loaded, sizeof loaded) == 0);
  }
};

struct observed_weights {
  static constexpr const char* name = "observe the attention";
  template <class Layer>
  static void check() {
    const problem<Layer> p;
    const Layer layer{p.w};
    tensor<float, heads<4>, query<12>, key<12>> seen{};
    const auto first = [](const auto& t) { return t | select_at<batch, 0> | contiguous; };
    const auto y = p.pass(layer, first(p.x), first(p.memory), causal & observe(seen));
    BOOST_TEST(same_bits(y, p.pass(layer, first(p.x), first(p.memory), causal)));
    for (std::size_t h = 0; h < 4; ++h)
      for (std::size_t i = 0; i < 12; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < 12; ++j) sum += static_cast<double>(seen(h, i, j));
        BOOST_TEST(std::abs(sum - 1) < 1e-5);
        if (i < 11) BOOST_TEST(seen(h, i, 11) == 0);
      }
  }
};

template <class Layer>
constexpr float last_of_two_rows() {
  lcg next{40};
  typename Layer::weights w{};
  draw_parameters(next, w);
  const auto x = drawn<tensor<float, token<2>, hidden<32>>>(next);
  const auto memory = drawn<tensor<float, key<2>, hidden<32>>>(next);
  return problem<Layer>::pass(Layer{w}, x, memory, causal)(1, 31);
}
struct in_a_constant_expression {
  static constexpr const char* name = "in a constant expression";
  template <class Layer>
  static void check() {
    constexpr float in_the_compiler = last_of_two_rows<Layer>();
    BOOST_TEST(in_the_compiler == last_of_two_rows<Layer>());
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(uses_in_floats)
BOOST_AUTO_TEST_CASE(of_calls) { try_on_all<float, by_value_and_into>(); }
BOOST_AUTO_TEST_CASE(of_prepacked_weights) { try_on_all<float, prepacked_weights>(); }
BOOST_AUTO_TEST_CASE(of_16_bits) { try_on_all<float, weights_in_16_bits<bfloat16>>(); }
BOOST_AUTO_TEST_CASE(of_8_bits) { try_on_all<float, weights_in_8_bits>(); }
BOOST_AUTO_TEST_CASE(of_several_workers) { try_on_all<float, several_workers>(); }
BOOST_AUTO_TEST_CASE(of_rows_left_out) { try_on_all<float, rows_left_out>(); }
BOOST_AUTO_TEST_CASE(of_formulas) { try_on_all<float, in_a_formula>(); }
BOOST_AUTO_TEST_CASE(of_files) { try_on_all<float, saved_and_loaded>(); }
BOOST_AUTO_TEST_CASE(of_observed_attention) { try_on_all<float, observed_weights>(); }
BOOST_AUTO_TEST_CASE(of_the_compiler) { try_on_all<float, in_a_constant_expression>(); }
BOOST_AUTO_TEST_SUITE_END()
