// SPDX-License-Identifier: BSL-1.0
// One query of each of many heads, several heads at a time, against plain::attend for every head,
// bit for bit: numbers of heads, shared heads, sizes around the lanes and the softmax's block, runs
// of keys.
#include <boost/test/unit_test.hpp>

#include "kernel_problem.hpp"

#include <umbel/kernel/float/attend_each.hpp>

namespace {

using namespace umbel_test::attending;
using umbel::detail::kernel::attend_each;
using umbel::detail::kernel::each_fits_lanes;

// Registers enough for several heads.
constexpr target each_16{16, 16}, each_32{32, 16}, each_64{64, 16};

// As a cache stores them: keys adjacent, heads of values side by side.
template <std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim, std::size_t Heads,
          std::size_t Share = 1>
struct cached {
  static constexpr std::size_t key_step = Keys + 3, kv_heads = Heads / Share;
  static constexpr attend_shape shape{
      1, Keys,     HeadDim, ValueDim, Heads* HeadDim, 1, 1, key_step, kv_heads* ValueDim + 2,
      1, ValueDim, 1,       1};
  static constexpr heads_shape heads{Heads, Share, HeadDim, HeadDim* key_step, ValueDim, ValueDim};
  static constexpr std::size_t k_size = kv_heads * HeadDim * key_step;
  static constexpr std::size_t v_size = Keys * shape.v_row;
};
// As the projections of a call leave them, or one head after another.
template <std::size_t Keys, std::size_t HeadDim, std::size_t ValueDim, std::size_t Heads>
struct rows {
  static constexpr attend_shape shape{1, Keys,     HeadDim, ValueDim, HeadDim, 1, HeadDim,
                                      1, ValueDim, 1,       ValueDim, 1,       1};
  static constexpr heads_shape heads{Heads, 1, HeadDim, Keys* HeadDim, Keys* ValueDim, ValueDim};
  static constexpr std::size_t k_size = Heads * Keys * HeadDim, v_size = Heads * Keys * ValueDim;
};

template <class Layout, class T = float>
struct each_head {
  static constexpr attend_shape S = Layout::shape;
  static constexpr heads_shape H = Layout::heads;
  static constexpr T scale = static_cast<T>(0.9);
  buffer<T> q{H.heads * H.q_head}, k{Layout::k_size}, v{Layout::v_size};

  explicit each_head(double size = 1.5) {
    seeded next{static_cast<std::uint32_t>(S.keys * 31 + H.heads)};
    q.fill(next, size);
    k.fill(next, size);
    v.fill(next);
  }
  // A window of one query is any run of keys.
  buffer<T> plain(std::size_t begin, std::size_t end) {
    buffer<T> o{H.heads * H.o_head, 16};
    const scores::window run{end - begin - 1, 0, static_cast<std::ptrdiff_t>(end) - 1};
    for (std::size_t h = 0; h < H.heads; ++h) {
      const T* const keys = k.get() + h / H.share * H.k_head;
      const T* const values = v.get() + h / H.share * H.v_head;
      if (begin < end)
        plain::attend<S>(q.get() + h * H.q_head, keys, values, scale, run, o.get() + h * H.o_head);
      else
        plain::attend<S>(q.get() + h * H.q_head, keys, values, scale, std::size_t{0},
                         o.get() + h * H.o_head);
    }
    return o;
  }
  template <target Target, class W>
  buffer<T> fast(const W* keys, const W* values, std::size_t begin, std::size_t end) {
    static_assert(each_fits_lanes<S, H, T, Target>);
    buffer<T> o{H.heads * H.o_head, 16}, scratch{attend_scratch<S, T, Target>};
    attend_each<S, H, T, Target>(q.get(), keys, values, scale, begin, end, o.get(), scratch.get());
    return o;
  }
  template <class W>
  void check_all(const W* keys, const W* values, std::size_t begin, std::size_t end) {
    buffer<T> right = plain(begin, end < S.keys ? end : S.keys);
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      if constexpr (each_fits_lanes<S, H, T, Target>) {
        BOOST_TEST((fast<Target>(keys, values, begin, end).same_numbers(right)),
                   Target.vector_bytes << " bytes, " << H.heads << " heads, keys " << begin
                                       << " to " << end);
      }
    };
    if constexpr (!UMBEL_SANITIZED) {  // compile time
      one(std::integral_constant<target, each_16>{});
      one(std::integral_constant<target, each_32>{});
    }
    one(std::integral_constant<target, each_64>{});
  }
  void check(std::size_t begin = 0, std::size_t end = S.keys) {
    static_assert(each_fits_lanes<S, H, T, each_64>);
    check_all(k.get(), v.get(), begin, end);
  }
  template <class W>
  void check_stored() {
    const std::unique_ptr<W[]> keys{new W[Layout::k_size]}, values{new W[Layout::v_size]};
    for (std::size_t i = 0; i < Layout::k_size; ++i) {
      keys[i] = W(k[i]);
      k[i] = static_cast<float>(keys[i]);
    }
    for (std::size_t i = 0; i < Layout::v_size; ++i) {
      values[i] = W(v[i]);
      v[i] = static_cast<float>(values[i]);
    }
    check_all(keys.get(), values.get(), 0, S.keys);
  }
  // In 8 bits: the bits of the plain loops.
  void check_scaled(std::size_t begin, std::size_t end) {
    constexpr std::size_t of_head = S.k_dim, all = of_head * H.heads / H.share;
    const std::unique_ptr<std::int8_t[]> keys{new std::int8_t[Layout::k_size]},
        values{new std::int8_t[Layout::v_size]};
    for (std::size_t i = 0; i < Layout::k_size; ++i) keys[i] = static_cast<std::int8_t>(k[i] * 80);
    for (std::size_t i = 0; i < Layout::v_size; ++i)
      values[i] = static_cast<std::int8_t>(v[i] * 120);
    buffer<T> key_scales{all}, value_scales{all}, o{H.heads * H.o_head, 16};
    seeded next{9};
    key_scales.fill(next, 0.01);
    value_scales.fill(next, 0.01);
    using rows = umbel::detail::kernel::scaled_rows<T, of_head>;
    const rows of_keys{keys.get(), key_scales.get()}, of_values{values.get(), value_scales.get()};
    const scores::window run{end - begin - 1, 0, static_cast<std::ptrdiff_t>(end) - 1};
    for (std::size_t i = 0; i < all; ++i) {
      key_scales[i] = std::fabs(key_scales[i]);
      value_scales[i] = std::fabs(value_scales[i]);
    }
    for (std::size_t h = 0; h < H.heads; ++h)
      plain::attend<S>(q.get() + h * H.q_head, of_head_of(of_keys, h, H.k_head),
                       of_head_of(of_values, h, H.v_head), scale, run, o.get() + h * H.o_head,
                       no_tap{});
    const auto one = [&]<target Target>(std::integral_constant<target, Target>) {
      if constexpr (each_fits_lanes<S, H, T, Target>) {
        buffer<T> y{H.heads * H.o_head, 16}, scratch{attend_scratch<S, T, Target>};
        attend_each<S, H, T, Target>(q.get(), of_keys, of_values, scale, begin, end, y.get(),
                                     scratch.get());
        BOOST_TEST(y.same_numbers(o), Target.vector_bytes << " bytes, in 8 bits");
      }
    };
    if constexpr (!UMBEL_SANITIZED) one(std::integral_constant<target, each_16>{});
    one(std::integral_constant<target, each_64>{});
  }
  template <class K>
  static K of_head_of(K rows, std::size_t h, std::size_t stride) {
    return umbel::detail::kernel::of_head(rows, h / H.share, stride);
  }
};

template <class Layout, target Target, class T = float>
constexpr bool fits = each_fits_lanes<Layout::shape, Layout::heads, T, Target>;

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_each)

BOOST_AUTO_TEST_CASE(what_fits) {
  static_assert(fits<cached<300, 8, 16, 4>, each_64> && fits<cached<300, 8, 16, 4>, each_16>);
  static_assert(fits<cached<9, 8, 16, 4>, each_64, double>);
  static_assert(!fits<cached<9, 8, 16, 1>, each_64>);      // one head
  static_assert(!fits<cached<9, 8, 16 * 9, 4>, each_64>);  // chains enough in one
  static_assert(!fits<cached<9, 8, 16, 4>, scalar_target>);
  static_assert(!each_fits_lanes<columns_out<2, 9>, cached<9, 3, 2, 4>::heads, float, each_64>);
  static_assert(fits<rows<9, 8, 16, 4>, each_64> && !fits<rows<300, 8, 16, 4>, each_64>);
}

BOOST_AUTO_TEST_CASE(any_number_of_heads) {
  each_head<cached<21, 8, 16, 2>>{}.check();
  each_head<cached<21, 5, 19, 7>>{}.check();
  each_head<cached<33, 4, 40, 7>>{}.check();
  each_head<cached<17, 8, 16, 19>>{}.check();
  each_head<rows<21, 8, 19, 5>>{}.check();
  each_head<cached<21, 3, 6, 5>, double>{}.check();
}

BOOST_AUTO_TEST_CASE(shared_heads_of_keys) {
  each_head<cached<21, 8, 16, 6, 2>>{}.check();
  each_head<cached<21, 8, 16, 12, 4>>{}.check();
  each_head<cached<21, 8, 40, 6, 6>>{}.check();
  // More than are taken at a time: in equal parts, or by one.
  each_head<cached<21, 5, 16, 40, 20>>{}.check();
  each_head<cached<21, 5, 16, 38, 19>>{}.check();
}

// Values that are a part of a vector: powers of two, from 4 on, in vectors of their own.
BOOST_AUTO_TEST_CASE(values_narrower_than_a_vector) {
  const auto lanes = []<class Layout, target Target, class T = float> {
    return detail::attend_each<Layout::shape, Layout::heads, T, Target>::lanes;
  };
  static_assert(lanes.operator()<cached<530, 8, 8, 8, 2>, each_64>() == 8);
  static_assert(lanes.operator()<cached<530, 8, 8, 8, 2>, each_16>() == 4);
  static_assert(lanes.operator()<cached<21, 5, 4, 8, 2>, each_64>() == 4);
  static_assert(lanes.operator()<cached<21, 3, 4, 6>, each_64, double>() == 4);
  static_assert(lanes.operator()<cached<21, 3, 6, 5>, each_64>() == 16);
  static_assert(lanes.operator()<cached<21, 3, 2, 5>, each_64>() == 16);
  each_head<cached<530, 8, 8, 8, 2>> shared;
  for (std::size_t end : {1u, 16u, 255u, 256u, 257u, 512u, 513u, 530u}) shared.check(0, end);
  shared.check(0, 0);
  shared.check(255, 530);
  each_head<cached<21, 5, 4, 8, 2>>{}.check();
  each_head<cached<21, 8, 8, 36>>{}.check();
  each_head<cached<33, 8, 8, 24, 6>>{}.check(3, 32);
  each_head<cached<21, 3, 4, 6>, double>{}.check();
  each_head<cached<261, 8, 8, 4>>{}.check_stored<umbel::bfloat16>();
  shared.v[9 * shared.S.v_row + 20] = not_a_number;  // spoils the heads that read it
  shared.check(5, 37);
}

BOOST_AUTO_TEST_CASE(keys_and_values_in_8_bits) {
  each_head<cached<261, 8, 8, 4>>{}.check_scaled(0, 261);
  each_head<cached<261, 8, 16, 6, 2>>{}.check_scaled(3, 259);
  each_head<cached<33, 5, 19, 7>>{}.check_scaled(0, 1);
}

BOOST_AUTO_TEST_CASE(any_run_of_keys) {
  each_head<cached<530, 4, 16, 3>> p{4.0};
  for (std::size_t end : {1u, 2u, 16u, 31u, 255u, 256u, 257u, 384u, 512u, 513u, 530u, 700u})
    p.check(0, end);
  p.check(0, 0);
  p.check(3, 4);
  p.check(3, 300);
  p.check(255, 257);
  p.check(256, 530);
  p.check(300, 512);
}

// More keys and values than a second-level cache holds beside weights: the next ones are fetched
// ahead.
BOOST_AUTO_TEST_CASE(far_keys_and_values) {
  using layout = cached<1000, 40, 24, 4>;
  constexpr std::size_t heads = 4;
  static_assert(detail::attend_few<layout::shape, float, each_64, heads>::fetches_keys<float>);
  static_assert(!detail::attend_few<layout::shape, float, each_64, heads / 2>::fetches_keys<float>);
  each_head<layout> p;
  p.check();
  p.check(17, 700);
}

BOOST_AUTO_TEST_CASE(in_16_bits) {
  each_head<cached<261, 8, 16, 3>>{}.check_stored<umbel::bfloat16>();
  each_head<cached<21, 5, 19, 3>>{}.check_stored<umbel::float16>();
}

BOOST_AUTO_TEST_CASE(what_is_not_seen_is_not_read) {
  using layout = cached<40, 4, 16, 3>;
  each_head<layout> p;
  for (std::size_t j = 0; j < 40; ++j) {
    if (j >= 5 && j < 37) continue;
    for (std::size_t d = 0; d < 12; ++d) p.k[d * layout::key_step + j] = not_a_number;
    for (std::size_t d = 0; d < 48; ++d) p.v[j * layout::shape.v_row + d] = not_a_number;
  }
  p.check(5, 37);
  p.v[9 * layout::shape.v_row + 20] = not_a_number;  // in sight, it spoils its own head only
  p.check(5, 37);
}

BOOST_AUTO_TEST_SUITE_END()
