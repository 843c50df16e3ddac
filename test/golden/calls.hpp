// SPDX-License-Identifier: BSL-1.0
// The calls of tools/golden_calls.py, drawn again: a case is a type of data/*.hpp, its masks are
// drawn one after the other by the test, in the case's order, and check() compares. Not here: any
// test.
#pragma once

#include <iterator>
#include <umbel/umbel.hpp>
#include <vector>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace umbel_test {

// Of a case's name: its axis of a family.
template <class G, template <std::size_t> class Axis>
using golden_axis = Axis<std::is_same_v<Axis<1>, umbel::axes::batch<1>>   ? G::batch
                         : std::is_same_v<Axis<1>, umbel::axes::heads<1>> ? G::heads
                         : std::is_same_v<Axis<1>, umbel::axes::query<1>> ? G::queries
                                                                          : G::keys>;

// Every Step-th element, around the result until Count are there, against what is stored.
template <std::size_t Step, class Result, class T, std::size_t Count>
void check_part(const char* what, const Result& result, const T (&stored)[Count]) {
  std::vector<T> part(Count);
  for (std::size_t i = 0; i < Count; ++i) part[i] = result.data()[i * Step % Result::layout::count];
  check_near(what, part.data(), stored, Count);
}

// The masks of a case. Their order is that of the draws.
template <class G>
struct golden_masks {
  using T = std::remove_cvref_t<decltype(G::output[0])>;
  lcg next{G::seed};

  // True where a query attends: a draw below -1/4 drops, but never key 0. Axis before key.
  template <template <std::size_t> class... Axis>
  auto keep() {
    umbel::tensor<bool, golden_axis<G, Axis>..., umbel::axes::key<G::keys>> flags{};
    return drawn_flags(flags);
  }
  // The same with one query for all.
  auto keep_for_all_queries() {
    umbel::tensor<bool, umbel::axes::batch<G::batch>, umbel::axes::query<1>,
                  umbel::axes::key<G::keys>>
        flags{};
    return drawn_flags(flags);
  }
  // True where a query does not attend.
  template <template <std::size_t> class... Axis>
  auto drop() {
    auto flags = keep<Axis...>();
    for (bool& flag : flags) flag = !flag;
    return flags;
  }
  template <template <std::size_t> class... Axis>
  auto bias() {
    return drawn<umbel::tensor<T, golden_axis<G, Axis>..., umbel::axes::key<G::keys>>>(next, 2);
  }
  // A bias of -infinity where it would be below -1/2, but never at key 0.
  template <template <std::size_t> class... Axis>
  auto hide() {
    auto hidden = bias<Axis...>();
    std::size_t i = 0;
    for (T& e : hidden)
      if (i++ % G::keys != 0 && e < T(-0.5)) e = -std::numeric_limits<T>::infinity();
    return hidden;
  }
  template <template <std::size_t> class... Axis>
  static auto lengths() {
    return umbel::tensor<int, golden_axis<G, Axis>...>(G::lengths);
  }

 private:
  template <class X>
  X drawn_flags(X& flags) {
    std::size_t i = 0;
    for (bool& flag : flags) flag = next() >= -0.25f || i % G::keys == 0, ++i;
    return flags;
  }
};

// A layer with the case's sizes and more options.
template <class G, class... Options>
struct golden_layer : golden_masks<G> {
  using typename golden_masks<G>::T;
  using attention = umbel::multi_head_attention<
      T, umbel::axes::hidden<G::hidden>, umbel::axes::heads<G::heads>,
      umbel::axes::kv_heads<G::kv_heads>, umbel::axes::head_dim<G::head_dim>,
      umbel::axes::value_dim<G::value_dim>, umbel::keys_from<umbel::axes::hidden<G::key_hidden>>,
      umbel::values_from<umbel::axes::hidden<G::value_hidden>>,
      umbel::output_to<umbel::axes::hidden<G::output_hidden>>, umbel::bias<G::has_bias>,
      Options...>;
  template <class Position, std::size_t Width>
  using input =
      umbel::tensor<T, umbel::axes::batch<G::batch>, Position, umbel::axes::hidden<Width>>;

  input<umbel::axes::query<G::queries>, G::hidden> x{};
  input<umbel::axes::key<G::keys>, G::key_hidden> y{};
  input<umbel::axes::key<G::keys>, G::value_hidden> z{};
  typename attention::weights w{};

  golden_layer() {
    draw(this->next, x, static_cast<double>(G::input_scale));
    if constexpr (G::inputs == 1)
      y = x | umbel::rename_axis<umbel::axes::query, umbel::axes::key>;
    else
      draw(this->next, y, static_cast<double>(G::input_scale));
    if constexpr (G::inputs == 3)
      draw(this->next, z, static_cast<double>(G::input_scale));
    else
      z = y;
    draw_attention(this->next, w, static_cast<double>(G::weight_scale),
                   static_cast<double>(G::bias_scale));
  }

  template <class Mask = umbel::detail::every_key>
  void check(const Mask& mask = {}) const {
    static typename attention::template workspace<umbel::axes::query<G::queries>,
                                                  umbel::axes::key<G::keys>>
        work;
    const auto result = attention{w}(x, y, z, mask, work);
    check_part<G::step>("layer", result, G::output);
    if constexpr (G::inputs == 1) BOOST_TEST(same_bits(result, attention{w}(x, mask, work)));
    if constexpr (requires { G::weights_step; }) check_weights(mask, work, result);
  }

 private:
  using scores = umbel::tensor<T, umbel::axes::batch<G::batch>, umbel::axes::heads<G::heads>,
                               umbel::axes::query<G::queries>, umbel::axes::key<G::keys>>;
  static constexpr bool averages_weights = requires { G::average_weights; };

  template <class Mask, class Work, class Result>
  void check_weights(const Mask& mask, Work& work, const Result& unobserved) const {
    scores by_head{};
    constexpr auto what = G::drops ? umbel::observed::kept_weights : umbel::observed::weights;
    BOOST_TEST(
        same_bits(unobserved, attention{w}(x, y, z, mask & umbel::observe<what>(by_head), work)));
    if constexpr (averages_weights)
      check_part<G::weights_step>("average weights", by_head | umbel::mean<umbel::axes::heads>,
                                  G::average_weights);
    else
      check_part<G::weights_step>("weights", by_head, G::weights);
  }
};

// Attention without projections.
template <class G>
struct golden_heads : golden_masks<G> {
  using typename golden_masks<G>::T;
  using queries = umbel::tensor<T, umbel::axes::batch<G::batch>, umbel::axes::heads<G::heads>,
                                umbel::axes::query<G::queries>, umbel::axes::head_dim<G::head_dim>>;
  template <template <std::size_t> class Width, std::size_t Size>
  using keys = umbel::tensor<T, umbel::axes::batch<G::batch>, umbel::axes::kv_heads<G::kv_heads>,
                             umbel::axes::key<G::keys>, Width<Size>>;

  queries q = drawn<queries>(this->next);
  keys<umbel::axes::head_dim, G::head_dim> k = drawn<decltype(k)>(this->next);
  keys<umbel::axes::value_dim, G::value_dim> v = drawn<decltype(v)>(this->next);

  template <class Mask = umbel::detail::every_key>
  void check(const Mask& mask = {}) const {
    check_part<G::step>("context", umbel::scaled_dot_product_attention(q, k, v, mask), G::output);
  }
};

}  // namespace umbel_test
