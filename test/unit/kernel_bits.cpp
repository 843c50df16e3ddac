// SPDX-License-Identifier: BSL-1.0
// The bits themselves: hashes of every kernel's output on one seeded case, one set for targets that
// fuse and one for those that do not. They are the same for g++ and clang, any flags, any number of
// lanes; a change of them is a change of the library's numbers and belongs in the changelog.
#include <boost/test/unit_test.hpp>

#include "kernel_support.hpp"

#include <umbel/config.hpp>
#include <umbel/kernel/float/attend.hpp>
#include <umbel/kernel/float/elementwise.hpp>
#include <umbel/kernel/float/linear.hpp>
#include <umbel/kernel/float/norm.hpp>
#include <umbel/kernel/float/reduce.hpp>
#include <umbel/kernel/float/softmax.hpp>

namespace {

using namespace umbel::detail::kernel;
using namespace umbel_test;
using umbel::detail::plan::target;

template <class T>
std::uint64_t hash_of(buffer<T>& values) {
  return hash_bits(values.get(), values.size());
}

using walk = axes_walk<1>;

struct gelu_exact_function {
  template <class V>
  static constexpr V of(V x) noexcept {
    return umbel::detail::simd::gelu(x);
  }
};
struct gelu_tanh_function {
  template <class V>
  static constexpr V of(V x) noexcept {
    return umbel::detail::simd::gelu_tanh(x);
  }
};
struct silu_function {
  template <class V>
  static constexpr V of(V x) noexcept {
    return plain::silu_of(x);
  }
};

struct hashes {
  std::uint64_t linear, attend, norm, rms_norm, gelu_exact, gelu_tanh, silu, gated, mean, softmax;
  bool operator==(const hashes&) const = default;
};

// A little network: 21 rows of 40 features, 270 keys made of them, one head.
template <class T, target Target>
hashes run() {
  constexpr linear_shape projection{21, 40, 24, 40, 1, 24, 1, true};
  constexpr attend_shape head{21, 270, 24, 9, 24, 1, 24, 1, 9, 1, 1, 21, 21};
  seeded next{2026};
  buffer<T> x{21 * 40}, w{40 * 24}, bias{24}, k{270 * 24}, v{270 * 9}, gamma{21}, beta{21};
  x.fill(next);
  w.fill(next);
  bias.fill(next);
  k.fill(next);
  v.fill(next);
  gamma.fill(next);
  beta.fill(next);

  buffer<T> q{21 * 24}, o{9 * 21}, scratch{attend_scratch<head, T, Target>}, norm{9 * 21};
  buffer<T> rms{9 * 21}, exact{9 * 21}, approximate{9 * 21}, swish{9 * 21}, gate{9 * 21}, mean{21};
  buffer<T> probabilities{9 * 21};
  linear<projection, T, Target>(x, w, bias, q);
  attend<head, T, Target>(q.get(), k.get(), v.get(), static_cast<T>(0.25), scores::first_keys(269),
                          o, scratch);
  layer_norm<norm_shape{9, 21, 21, 21}, T, Target>(o, gamma, beta, static_cast<T>(1e-5), norm);
  rms_norm<norm_shape{9, 21, 21, 21}, T, Target>(o, gamma, static_cast<T>(1e-5), rms);
  each<gelu_exact_function, 9 * 21, T, Target>(norm.get(), exact.get());
  each<gelu_tanh_function, 9 * 21, T, Target>(norm.get(), approximate.get());
  each<silu_function, 9 * 21, T, Target>(norm.get(), swish.get());
  gated<silu_function, 9 * 21, T, Target>(norm.get(), rms.get(), gate.get());
  reduce<plain::mean_of, walk{1, {21}, {1}}, walk{1, {9}, {21}}, T, Target>(exact.get(),
                                                                            mean.get());
  softmax<softmax_shape{9, 21, 1}, T, Target>(rms.get(), probabilities.get());
  return {
      hash_of(q),           hash_of(o),     hash_of(norm), hash_of(rms),  hash_of(exact),
      hash_of(approximate), hash_of(swish), hash_of(gate), hash_of(mean), hash_of(probabilities)};
}

std::ostream& operator<<(std::ostream& out, const hashes& h) {
  out << std::hex;
  for (std::uint64_t value : {h.linear, h.attend, h.norm, h.rms_norm, h.gelu_exact, h.gelu_tanh,
                              h.silu, h.gated, h.mean, h.softmax}) {
    out << "0x" << value << ", ";
  }
  return out << std::dec;
}

#if UMBEL_FMA
constexpr hashes expected_float{0x3d8ac58f3cee7e28, 0xc85e92f4b9bef7c8, 0x7a446fc8bf9bddb2,
                                0x3765a01293310a16, 0xb84bb83749cd534c, 0xd71ac38d11e9af55,
                                0xd5acdc0a151c36f9, 0xfa2813c1032d19cd, 0xec1b387c02295e59,
                                0xad2b0f63101e843a};
#else
constexpr hashes expected_float{0xb23ef7ae5fb6a040, 0x35433155aaa2c9ca, 0x99e4ed2aa3c82f47,
                                0x20d481126f49c95e, 0xfce0ee75f20d86c4, 0x82a068df1765c4d1,
                                0x6642c41b336b1ba4, 0x20b7661c846d9161, 0xc0ff3fcabb3938ed,
                                0xb05bd645722b798b};
#endif
#if UMBEL_FMA_DOUBLE
constexpr hashes expected_double{0xc19cd7298cdeda86, 0x617e43faf8877772, 0x390db1da38055b92,
                                 0x48ac5389417f0d8f, 0x2ee14769df44c990, 0xfa81e4dafad8e61b,
                                 0x7ef24da2aef0a489, 0x1ea2d75dd9519f3d, 0x41f8cb1e76301417,
                                 0x3fcfa1cbfb9c3e9c};
#else
constexpr hashes expected_double{0xc19cd7298cdeda86, 0x42c239c099dd5cef, 0x2ae95d0171f7a884,
                                 0xbe0e27c61456f4ea, 0xf7ae1c0f4a9f0c03, 0x17349e8fd095788e,
                                 0x87da21d856f623f5, 0x2827274012da7b9,  0xaaf9700ab6db9fee,
                                 0xcca1f43947954478};
#endif

void check(const hashes& got, const hashes& expected, const char* what) {
  BOOST_TEST((got == expected), what << " gives " << got);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_bits)

BOOST_AUTO_TEST_CASE(of_float) {
  check(run<float, umbel::detail::plan::native_target>(), expected_float, "native float");
  check(run<float, scalar_target>(), expected_float, "one float");
}

BOOST_AUTO_TEST_CASE(of_double) {
  check(run<double, umbel::detail::plan::native_target>(), expected_double, "native double");
  check(run<double, scalar_target>(), expected_double, "one double");
}

BOOST_AUTO_TEST_SUITE_END()
