// SPDX-License-Identifier: BSL-1.0
// Gradients of attention: the definition against differences of the loss, the fast kernels against
// the definition, bit for bit, on every number of lanes.
#include <boost/test/unit_test.hpp>

#include "kernel_backward_support.hpp"
#include "kernel_support.hpp"

#include <limits>
#include <umbel/kernel/backward/attend.hpp>
#include <umbel/kernel/plain/attend_backward.hpp>

namespace {

using namespace umbel::detail::kernel;
using umbel::detail::plan::target;
using umbel_test::apart;
using umbel_test::buffer;
using umbel_test::seeded;

template <class T>
struct gradients {
  buffer<T> dq, dk, dv, dbias;
  bool same_bits(const gradients& other) const {
    return dq.same_bits(other.dq) && dk.same_bits(other.dk) && dv.same_bits(other.dv) &&
           dbias.same_bits(other.dbias);
  }
  bool same_numbers(gradients& other) {
    return dq.same_numbers(other.dq) && dk.same_numbers(other.dk) && dv.same_numbers(other.dv) &&
           dbias.same_numbers(other.dbias);
  }
};

template <attend_backward_shape S, class T>
struct problem {
  static constexpr attend_shape forward{S.queries, S.keys,  S.head_dim, S.value_dim, S.q_row,
                                        1,         S.k_row, 1,          S.v_row,     1,
                                        S.o_row,   1,       S.queries};
  buffer<T> q{S.queries * S.q_row}, k{S.keys * S.k_row}, v{S.keys * S.v_row};
  buffer<T> d_o{S.queries * S.do_row}, bias{S.queries * S.keys};
  buffer<T> o{S.queries * S.o_row, 16}, maximum{S.queries, 16}, inverse{S.queries, 16};
  T scale = static_cast<T>(0.7);

  explicit problem(double size = 1.5) {
    seeded next{static_cast<std::uint32_t>(S.queries * 131 + S.keys * 31 + S.head_dim)};
    for (buffer<T>* input : {&q, &k, &v, &d_o, &bias}) input->fill(next, size);
  }
  scores::added<T> added() { return {bias.get(), S.keys, 1}; }

  template <class Policy>
  void run_forward(const Policy& policy) {
    plain::attend_kept<forward>::run(q.get(), k.get(), v.get(), scale, policy, o.get(),
                                     maximum.get(), inverse.get());
  }
  // What is there already, for sums that go on and elements that nobody writes.
  static gradients<T> start() {
    gradients<T> to{buffer<T>{S.queries * S.dq_row, 16}, buffer<T>{S.keys * S.dk_row, 16},
                    buffer<T>{S.keys * S.dv_row, 16}, buffer<T>{S.queries * S.keys, 16}};
    seeded next{7};
    for (buffer<T>* output : {&to.dq, &to.dk, &to.dv, &to.dbias}) output->fill(next);
    return to;
  }
  template <class Policy>
  gradients<T> by_plain(const Policy& policy) {
    run_forward(policy);
    gradients<T> to = start();
    plain::attend_backward<S>::run(q.get(), k.get(), v.get(), o.get(), d_o.get(), scale, policy,
                                   maximum.get(), inverse.get(), to.dq.get(), to.dk.get(),
                                   to.dv.get(), to.dbias.get());
    return to;
  }
};

// Once, not for every kernel: the macro's code takes the compiler as long as a small one.
void expect(bool right, const char* what, target on) {
  BOOST_TEST(right, what << ", " << on.vector_bytes << " bytes, " << on.registers << " registers");
}

// Few registers, so small tiles: see kernel_problem.hpp.
constexpr target scalar{0, 6}, vector_16{16, 6}, vector_32{32, 6}, vector_64{64, 8};
constexpr target widest = UMBEL_VECTOR_BYTES < 64 ? target{32, 8} : vector_64;

// A speckled mask.
buffer<unsigned char> flags(std::size_t queries, std::size_t keys) {
  buffer<unsigned char> mask{queries * keys};
  seeded next{17};
  for (std::size_t e = 0; e < mask.size(); ++e) mask[e] = next() > -0.5;
  return mask;
}

template <attend_backward_shape S, class T = float>
struct comparison : problem<S, T> {
  using base = problem<S, T>;
  using base::base;

  template <target Target, class Policy>
  gradients<T> by_lanes(const Policy& policy, const char* what) {
    using kernel = attend_backward<S, T, Target>;
    buffer<T> scratch{kernel::scratch_size, 16};
    gradients<T> to = base::start();
    kernel::run(this->q, this->k, this->v, this->o, this->d_o, this->scale, policy, this->maximum,
                this->inverse, to.dq, to.dk, to.dv, to.dbias, scratch);
    expect(scratch.guards_are_whole(), what, Target);
    return to;
  }
  template <target Target, class Policy>
  void check_on(const Policy& policy, const char* what) {
    gradients<T> right = base::by_plain(policy);
    gradients<T> to = by_lanes<Target>(policy, what);
    expect(to.same_numbers(right), what, Target);
  }
  // The forward pass with the bits of inference, and with those of the definition what it keeps.
  template <target Target, class Policy>
  void check_forward(const Policy& policy, const char* what) {
    using kernel = attend_kept<base::forward, T, Target>;
    base::run_forward(policy);
    buffer<T> context{this->o.size(), 16}, most{S.queries, 16}, factor{S.queries, 16};
    buffer<T> scratch{kernel::scratch_size, 16};
    kernel::run(this->q, this->k, this->v, this->scale, policy, context, most, factor, scratch);
    expect(scratch.guards_are_whole(), what, Target);
    expect(context.same_numbers(this->o), what, Target);
    expect(most.same_numbers(this->maximum), what, Target);
    expect(factor.same_numbers(this->inverse), what, Target);
  }
  template <class Policy>
  void check(const Policy& policy, const char* what) {
    check_on<widest>(policy, what);
    check_forward<widest>(policy, what);
  }
};

// The definition in double against central differences of the sum of do o.
template <attend_backward_shape S>
struct differences : problem<S, double> {
  using base = problem<S, double>;

  template <class Policy>
  double loss(const Policy& policy) {
    base::run_forward(policy);
    double sum = 0;
    for (std::size_t i = 0; i < S.queries; ++i)
      for (std::size_t d = 0; d < S.value_dim; ++d)
        sum += this->d_o[i * S.do_row + d] * this->o[i * S.o_row + d];
    return sum;
  }
  template <class Policy>
  double worst(const Policy& policy, buffer<double>& of, std::size_t row, std::size_t rows,
               std::size_t width, buffer<double>& to, std::size_t to_row) {
    double most = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t d = 0; d < width; ++d) {
        double& x = of[r * row + d];
        const double at = x, step = 1e-4;
        x = at + step;
        const double above = loss(policy);
        x = at - step;
        const double below = loss(policy);
        x = at;
        const double error = std::fabs((above - below) / (2 * step) - to[r * to_row + d]);
        most = error > most ? error : most;
      }
    }
    return most;
  }
  template <class Policy>
  void check(const Policy& policy, const char* what, bool has_bias = false) {
    gradients<double> to = base::by_plain(policy), before = base::start();
    BOOST_TEST(worst(policy, this->q, S.q_row, S.queries, S.head_dim, to.dq, S.dq_row) < 1e-6,
               what);
    BOOST_TEST(worst(policy, this->k, S.k_row, S.keys, S.head_dim, to.dk, S.dk_row) < 1e-6, what);
    BOOST_TEST(worst(policy, this->v, S.v_row, S.keys, S.value_dim, to.dv, S.dv_row) < 1e-6, what);
    if (!has_bias) return;
    for (std::size_t e = 0; e < to.dbias.size(); ++e) to.dbias[e] -= before.dbias[e];
    BOOST_TEST(worst(policy, this->bias, S.keys, S.queries, S.keys, to.dbias, S.keys) < 1e-6, what);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_attend_backward)

BOOST_AUTO_TEST_CASE(the_definition_is_the_derivative) {
  differences<apart(5, 7, 3, 4)> c;
  const scores::softcap cap{1.5};
  c.check(scores::every_key{}, "every key");
  c.check(scores::all_of(scores::causal{-1}, scores::alibi{-0.25}), "causal, alibi");
  c.check(scores::all_of(cap, scores::dropout(3, 1, 0.3)), "softcap, dropout");
  c.check(c.added(), "bias", true);
  c.check(scores::all_of(cap, c.added(), scores::window{2, 1}), "softcap, then bias", true);
  c.check(scores::all_of(scores::alibi{0.5}, c.added(), cap), "bias, then softcap", true);
  c.check(scores::all_of(c.added(), cap, scores::softcap{1.0}), "two soft caps", true);
  differences<apart(2, 300, 2, 1)> long_rows;
  long_rows.check(scores::every_key{}, "two blocks of keys");
}

BOOST_AUTO_TEST_CASE(a_gate_has_the_derivative_of_the_context) {
  constexpr attend_backward_shape shape = apart(5, 7, 3, 4);
  differences<shape> c;
  const double loss = c.loss(scores::causal{1});
  const double gate = plain::attend_backward<shape>::gate(c.o.get(), c.d_o.get());
  BOOST_TEST(std::fabs(gate - loss) < 1e-14);
  const double by_lanes = attend_backward<shape, double>::gate(c.o.get(), c.d_o.get());
  BOOST_TEST(by_lanes == gate);
}

// Blocks of queries of which the last is partial, several chunks of keys.
constexpr attend_backward_shape usual = apart(54, 163, 5, 3);

BOOST_AUTO_TEST_CASE(every_number_of_lanes) {
  comparison<usual> c;
  c.check_on<scalar>(scores::every_key{}, "every key");
  c.check_on<vector_16>(scores::every_key{}, "every key");
  c.check_on<vector_32>(scores::every_key{}, "every key");
  c.check(scores::every_key{}, "every key");
  comparison<apart(1, 1, 1, 1)>{}.check(scores::every_key{}, "one");
  comparison<apart(19, 9, 8, 20)>{}.check_on<widest>(scores::every_key{}, "wide values");
  comparison<apart(5, 7, 1, 2), double>{}.check_on<vector_32>(scores::every_key{}, "double pairs");
  comparison<apart(21, 300, 17, 2), double> wide;
  wide.check_on<vector_32>(scores::every_key{}, "double");
}

// Counts, ranges and masks vary at run time: each policy is compiled once.
BOOST_AUTO_TEST_CASE(every_policy) {
  for (const double size : {1.5, 30.0}) {
    comparison<usual> c{size};
    int counts[usual.queries];
    for (int i = 0; i < static_cast<int>(usual.queries); ++i) counts[i] = i * 37 % 180 - 10;
    c.check_on<widest>(scores::lengths<int>(counts, 1), "lengths");
    for (const std::ptrdiff_t offset : {-20, 0, 40, 120}) {
      c.check_on<widest>(scores::window{70, 3, offset}, "window");
    }
    c.bias[7] = c.bias[3 * usual.keys + 80] = -std::numeric_limits<float>::infinity();
    c.check_on<widest>(scores::all_of(c.added(), scores::softcap{2.0f}), "bias, softcap");
    c.check(
        scores::all_of(scores::softcap{9.0f}, scores::alibi{-0.1f}, scores::dropout(1, 2, 0.3f)),
        "softcap, alibi, dropout");
    auto mask = flags(usual.queries, usual.keys);
    const auto everything =
        scores::all_of(scores::causal{100}, scores::kept(mask.get(), usual.keys, 1), c.added(),
                       scores::dropout(5, 6, 0.2f));
    c.check_on<vector_16>(everything, "everything");
    c.check_on<widest>(everything, "everything");
  }
}

BOOST_AUTO_TEST_CASE(sums_go_on) {
  constexpr attend_backward_shape shape = [] {
    attend_backward_shape s = apart(23, 40, 3, 4);
    s.go_on = true;
    s.bias_query = 0;
    return s;
  }();
  comparison<shape> c;
  c.check_on<widest>(scores::every_key{}, "go on");
  gradients<float> to = c.by_plain(scores::every_key{}), from = c.start();
  // One more time from there, by hand: the last key's first value.
  float sum = from.dv[39 * shape.dv_row];
  buffer<float> weights{23 * 40}, o{c.o.size()};
  plain::attend<c.forward>(c.q.get(), c.k.get(), c.v.get(), c.scale, scores::every_key{}, o.get(),
                           weights.get());
  for (std::size_t i = 0; i < 23; ++i)
    sum = umbel::detail::simd::fma(weights[i * 40 + 39], c.d_o[i * shape.do_row], sum);
  BOOST_TEST(to.dv[39 * shape.dv_row] == sum);
}

// What is stored in a pair that is hidden reaches nothing, whoever else sees the key or is seen.
BOOST_AUTO_TEST_CASE(hidden_pairs_give_nothing) {
  comparison<usual> c;
  auto mask = flags(usual.queries, usual.keys);
  for (std::size_t i = 0; i < usual.queries; ++i) {
    for (std::size_t j = 0; j < usual.keys; ++j) {
      unsigned char& sees = mask[i * usual.keys + j];
      if (i == 20) sees = j > 60;  // will be NaN
      if (j == 90) sees = i == 20;
      if (j == 5 || i == 9) sees = 0;
    }
  }
  const auto policy = scores::all_of(scores::causal{100}, scores::kept(mask.get(), usual.keys, 1),
                                     c.added(), scores::dropout(5, 6, 0.2f));
  gradients<float> clean = c.by_plain(policy);
  for (std::size_t d = 0; d < 3; ++d) {
    c.k[5 * usual.k_row + d] = c.v[5 * usual.v_row + d] = std::nanf("");
    c.k[90 * usual.k_row + d] = c.v[90 * usual.v_row + d] = std::nanf("");
    c.q[9 * usual.q_row + d] = c.d_o[9 * usual.do_row + d] = std::nanf("");
    c.q[20 * usual.q_row + d] = c.d_o[20 * usual.do_row + d] = std::nanf("");
  }
  c.check_on<widest>(policy, "NaN");
  c.check_on<vector_16>(policy, "NaN");
  gradients<float> to = c.by_lanes<widest>(policy, "NaN");
  bool finite = true, zero = true, same = true;
  for (std::size_t j = 0; j <= 60; ++j) {
    for (std::size_t d = 0; d < 3; ++d) {
      const float value = to.dv[j * usual.dv_row + d], key = to.dk[j * usual.dk_row + d];
      finite = finite && std::isfinite(value) && std::isfinite(key);
      if (j == 5) zero = zero && value == 0 && key == 0;
      same = same && value == clean.dv[j * usual.dv_row + d];
    }
  }
  for (std::size_t i = 0; i < usual.queries; ++i) {
    for (std::size_t d = 0; d < 5; ++d) {
      const float query = to.dq[i * usual.dq_row + d];
      finite = finite && (i == 20 || std::isfinite(query));
      if (i == 9) zero = zero && query == 0;
    }
  }
  BOOST_TEST(finite);
  BOOST_TEST(zero);
  BOOST_TEST(same);
  BOOST_TEST(std::isnan(to.dq[20 * usual.dq_row]));
  BOOST_TEST(std::isnan(to.dv[100 * usual.dv_row]));
}

BOOST_AUTO_TEST_CASE(plain_goes_in_constant_expressions) {
  constexpr float sum = [] {
    const float q[4] = {1, 2, 0.5f, -1}, k[4] = {0, 1, 2, -1}, v[2] = {3, 5}, d_o[2] = {1, 1};
    float o[2]{}, maximum[2]{}, inverse[2]{}, dq[4]{}, dk[4]{}, dv[2]{};
    plain::attend_kept<attend_shape{2, 2, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2}>::run(
        q, k, v, 1.0f, scores::causal{}, o, maximum, inverse);
    plain::attend_backward<attend_backward_shape{2, 2, 2, 1, 2, 2, 1, 1, 2, 2, 1, 1}>::run(
        q, k, v, o, d_o, 1.0f, scores::causal{}, maximum, inverse, dq, dk, dv);
    return dv[0] + dv[1];
  }();
  static_assert(sum > 1.999f && sum < 2.001f);
  BOOST_TEST(std::fabs(sum - 2) < 0.001f);
}

BOOST_AUTO_TEST_SUITE_END()
