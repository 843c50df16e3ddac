// SPDX-License-Identifier: BSL-1.0
// Masks and options of scores over random numbers: scaled_dot_product_attention against the plain
// kernel (bits) and against the formula in long double (tolerance), for one shape and a list of
// masks. The shapes are in test/law/masks_*.cpp. Not here: any test.
#pragma once

#include <umbel/umbel.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "compare.hpp"
#include "random.hpp"
#include "reference.hpp"

namespace umbel_test {

struct mask_sweep_sizes {
  std::size_t batch, heads, kv_heads, queries, keys, head_dim, value_dim;
};

// Which of the eight masks a sweep takes: every second one, or all. Each is an attention of its own
// to compile.
enum class sweep_of { first_half, second_half, all };

// What a mask means: the bias of a pair in natural units, -infinity where it is not seen.
using meaning = std::function<long double(std::size_t batch, std::size_t head, std::size_t query,
                                          std::size_t key)>;

template <class T, mask_sweep_sizes S, class... Options>
struct mask_sweep {
  using q_type = umbel::tensor<T, umbel::axes::batch<S.batch>, umbel::axes::heads<S.heads>,
                               umbel::axes::query<S.queries>, umbel::axes::head_dim<S.head_dim>>;
  using k_type =
      umbel::tensor<T, umbel::axes::batch<S.batch>, umbel::axes::key<S.keys>,
                    umbel::axes::kv_heads<S.kv_heads>, umbel::axes::head_dim<S.head_dim>>;
  using v_type = umbel::tensor<T, umbel::axes::kv_heads<S.kv_heads>, umbel::axes::batch<S.batch>,
                               umbel::axes::key<S.keys>, umbel::axes::value_dim<S.value_dim>>;
  using o_type = umbel::tensor<T, umbel::axes::batch<S.batch>, umbel::axes::heads<S.heads>,
                               umbel::axes::query<S.queries>, umbel::axes::value_dim<S.value_dim>>;
  using call = umbel::detail::dot_product_call<q_type, k_type, v_type>;
  using scoring = umbel::detail::scoring<Options...>;
  static constexpr bool uniform = std::is_same_v<typename scoring::empty, umbel::uniform_weights>;
  static constexpr long double hidden = -std::numeric_limits<long double>::infinity();

  lcg next{static_cast<std::uint32_t>(S.queries * 131 + S.keys)};
  q_type q{};
  k_type k{};
  v_type v{};
  typename call::workspace work;

  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>((next() + 1) / 2 * static_cast<float>(count)) % count;
  }

  // Scores of about +-2, now and then of +-60.
  void draw_all() {
    const double scale = below(4) == 0 ? 8 : 1.5;
    draw(next, q, scale), draw(next, k, scale), draw(next, v);
  }

  o_type plain(const auto& mask) const {
    o_type out{};
    constexpr auto head = call::template head_into<typename o_type::layout>;
    for (std::size_t b = 0; b < S.batch; ++b)
      for (std::size_t h = 0; h < S.heads; ++h) {
        const auto policy =
            scoring::template with<T>(mask.template policy<typename call::scores>({b, h}));
        const std::size_t kv = h / (S.heads / S.kv_heads);
        umbel::detail::kernel::plain::attend<head>(&q(b, h, 0, 0), &k(b, 0, kv, 0), &v(kv, b, 0, 0),
                                                   scoring::template scale<T>(S.head_dim), policy,
                                                   &out(b, h, 0, 0));
        if constexpr (uniform)
          umbel::detail::kernel::plain::mean_where_empty<head>(
              &v(kv, b, 0, 0), policy, umbel::detail::kernel::scores::every_key{},
              &out(b, h, 0, 0));
      }
    return out;
  }

  reals formula(const meaning& bias) const {
    reals out;
    for (std::size_t b = 0; b < S.batch; ++b)
      for (std::size_t h = 0; h < S.heads; ++h)
        for (std::size_t i = 0; i < S.queries; ++i) {
          const std::size_t kv = h / (S.heads / S.kv_heads);
          reals p(S.keys);
          long double most = hidden, sum = 0;
          for (std::size_t j = 0; j < S.keys; ++j) {
            for (std::size_t d = 0; d < S.head_dim; ++d)
              p[j] += static_cast<long double>(q(b, h, i, d)) * k(b, j, kv, d);
            p[j] *= scoring::template scale<T>(S.head_dim);
            if constexpr (requires { scoring::softcap_option::numerator; })
              if (scoring::softcap_option::numerator != 0) {
                const long double cap =
                    scoring::template value_of<typename scoring::softcap_option>;
                p[j] = cap * std::tanh(p[j] / cap);
              }
            p[j] += bias(b, h, i, j);
            most = p[j] > most ? p[j] : most;
          }
          const bool empty = most == hidden;
          for (long double& e : p) sum += e = empty ? (uniform ? 1.0L : 0.0L) : std::exp(e - most);
          for (std::size_t d = 0; d < S.value_dim; ++d) {
            long double o = 0;
            for (std::size_t j = 0; j < S.keys; ++j)
              if (p[j] != 0) o += p[j] / sum * v(kv, b, j, d);
            out.push_back(o);
          }
        }
    return out;
  }

  // NaN where no query of the group looks.
  void plant(const meaning& bias) {
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t b = 0; b < S.batch; ++b)
      for (std::size_t kv = 0; kv < S.kv_heads; ++kv)
        for (std::size_t j = 0; j < S.keys; ++j) {
          bool seen = false;
          for (std::size_t h = 0; h < S.heads; ++h)
            for (std::size_t i = 0; i < S.queries; ++i)
              seen = seen || (h / (S.heads / S.kv_heads) == kv && bias(b, h, i, j) != hidden);
          if (seen) continue;
          for (std::size_t d = 0; d < S.head_dim; ++d) k(b, j, kv, d) = nan;
          for (std::size_t d = 0; d < S.value_dim; ++d) v(kv, b, j, d) = nan;
        }
  }

  void check(const char* what, const auto& mask, const meaning& bias) {
    const auto attend = umbel::scaled_dot_product_attention_with<Options...>;
    const o_type result = attend(q, k, v, mask, work);
    BOOST_TEST(same_bits(result, plain(umbel::detail::as_mask(mask))), what << ": plain");
    const reals wanted = formula(bias);
    const distance d = distance_of(result.data(), wanted.data(), wanted.size());
    BOOST_TEST(d.finite, what << ": not finite");
    BOOST_TEST(d.error <= allowed<T>(d), what << ": error " << d.error);
    if constexpr (!uniform) {
      const k_type kept_k = k;
      const v_type kept_v = v;
      plant(bias);
      BOOST_TEST(same_bits(result, attend(q, k, v, mask, work)), what << ": NaN under the mask");
      k = kept_k, v = kept_v;
    }
  }

  template <sweep_of Masks>
  void run(std::size_t draws) {
    using namespace umbel;
    constexpr bool first = Masks != sweep_of::second_half, second = Masks != sweep_of::first_half;
    using namespace umbel::axes;
    const auto inside = [](bool sees) { return sees ? 0.0L : hidden; };
    const auto position = [](std::size_t at) { return static_cast<std::ptrdiff_t>(at); };
    const std::ptrdiff_t last =
        static_cast<std::ptrdiff_t>(S.keys) - static_cast<std::ptrdiff_t>(S.queries);
    for (std::size_t n = 0; n < draws; ++n) {
      draw_all();
      tensor<int, batch<S.batch>> lens{};
      for (int& l : lens) l = static_cast<int>(below(S.keys + 3)) - 1;
      tensor<unsigned char, query<S.queries>, batch<S.batch>> query_lens{};
      for (auto& l : query_lens) l = static_cast<unsigned char>(below(S.keys + 1));
      tensor<bool, batch<S.batch>, heads<S.heads>, query<S.queries>, key<S.keys>> flags{};
      for (bool& f : flags) f = below(3) != 0;
      tensor<bool, batch<S.batch>, heads<1>, query<1>, key<S.keys>> drops{};
      for (bool& f : drops) f = below(3) == 0;
      tensor<T, heads<S.heads>, key<S.keys>, query<S.queries>> biases{};
      for (T& e : biases) e = below(5) == 0 ? -std::numeric_limits<T>::infinity() : T(next() * 3);
      const std::ptrdiff_t offset =
          static_cast<std::ptrdiff_t>(below(S.keys + 4)) - static_cast<std::ptrdiff_t>(2);
      const auto generator = [](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
        const std::size_t mix = (b * 7 + h * 5 + i * 3 + j) % 11;
        return mix == 0 ? -std::numeric_limits<T>::infinity() : static_cast<T>(mix) / 4;
      };
      const auto length = [&](std::size_t b) {
        return lens(b) < 0 ? 0 : static_cast<std::size_t>(lens(b));
      };

      if constexpr (first)
        check("lengths", lens, [&](auto b, auto, auto, auto j) { return inside(j < length(b)); });
      if constexpr (second)
        check("lengths by query", query_lens,
              [&](auto b, auto, auto i, auto j) { return inside(j < query_lens(i, b)); });
      if constexpr (first)
        check("flags, causal", keep_mask(flags) & causal_bottom_right,
              [&](auto b, auto h, auto i, auto j) {
                return inside(flags(b, h, i, j) && position(j) <= position(i) + last);
              });
      if constexpr (second)
        check("padding, window", drop_mask(drops) & sliding_window_at<3, 1>(offset),
              [&](auto b, auto, auto i, auto j) {
                const std::ptrdiff_t at = position(i) + offset;
                return inside(!drops(b, 0, 0, j) && position(j) >= at - 3 && position(j) <= at + 1);
              });
      if constexpr (first)
        check("bias", score_bias(biases), [&](auto, auto h, auto i, auto j) {
          return static_cast<long double>(biases(h, j, i));
        });
      if constexpr (second)
        check("lengths by query, generated bias, causal",
              query_lens & score_bias(generator) & causal_at(offset),
              [&](auto b, auto h, auto i, auto j) {
                return inside(j < query_lens(i, b) && position(j) <= position(i) + offset) +
                       static_cast<long double>(generator(b, h, i, j));
              });
      if constexpr (first)
        check("alibi, causal", alibi_top_left & causal_top_left, [&](auto, auto h, auto i, auto j) {
          return inside(j <= i) + static_cast<long double>(detail::alibi_slope(h, S.heads)) *
                                      static_cast<long double>(position(j) - position(i));
        });
      if constexpr (second)
        check("lengths, flags, bias, window",
              lens & keep_mask(flags) & score_bias(biases) & sliding_window_at<5, 5>(last),
              [&](auto b, auto h, auto i, auto j) {
                const std::ptrdiff_t at = position(i) + last;
                return inside(j < length(b) && flags(b, h, i, j) && position(j) >= at - 5 &&
                              position(j) <= at + 5) +
                       static_cast<long double>(biases(h, j, i));
              });
    }
  }
};

// draws times eight masks, or four.
template <class T, mask_sweep_sizes S, sweep_of Masks, class... Options>
void sweep_masks(std::size_t draws) {
  BOOST_TEST_CONTEXT(S.batch << " x " << S.heads << " heads (" << S.kv_heads << "), " << S.queries
                             << " queries, " << S.keys << " keys, " << S.head_dim << " and "
                             << S.value_dim << " wide") {
    static mask_sweep<T, S, Options...> sweep;
    sweep.template run<Masks>(draws);
  }
}

}  // namespace umbel_test
