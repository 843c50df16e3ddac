// SPDX-License-Identifier: BSL-1.0
// Gradients of attention with additive scores: the fast kernels against the definition, bit for
// bit, on every number of lanes; what they keep. (The definition against differences:
// gradient_additive.cpp.)
#include <boost/test/unit_test.hpp>

#include "kernel_backward_support.hpp"
#include "kernel_support.hpp"

#include <umbel/kernel/backward/attend_additive.hpp>

namespace {

using namespace umbel::detail::kernel;
using umbel::detail::plan::target;
using umbel_test::apart;
using umbel_test::buffer;
using umbel_test::seeded;

constexpr target scalar{0, 6}, vector_16{16, 6}, vector_32{32, 6}, vector_64{64, 8};
constexpr target widest = UMBEL_VECTOR_BYTES < 64 ? target{32, 8} : vector_64;

template <attend_backward_shape S, class T = float>
struct problem {
  static constexpr attend_shape forward = plain::detail::forward_of(S);
  buffer<T> q{S.queries * S.q_row}, k{S.keys * S.k_row}, w{S.head_dim}, v{S.keys * S.v_row};
  buffer<T> d_o{S.queries * S.do_row}, bias{S.queries * S.keys};
  buffer<T> o{S.queries * S.o_row, 16}, maximum{S.queries, 16}, inverse{S.queries, 16};

  problem() {
    seeded next{static_cast<std::uint32_t>(S.queries * 131 + S.keys * 31 + S.head_dim)};
    for (buffer<T>* input : {&q, &k, &w, &v, &d_o, &bias}) input->fill(next, 1.5);
  }
  // What is there already, for sums that go on and elements that nobody writes.
  struct gradients {
    buffer<T> dq{S.queries * S.dq_row, 16}, dk{S.keys * S.dk_row, 16}, dw{S.head_dim, 16},
        dv{S.keys * S.dv_row, 16}, dbias{S.queries * S.keys, 16};
    gradients() {
      seeded next{7};
      for (buffer<T>* output : {&dq, &dk, &dw, &dv, &dbias}) output->fill(next);
    }
    bool same_bits(const gradients& other) const {
      return dq.same_bits(other.dq) && dk.same_bits(other.dk) && dw.same_bits(other.dw) &&
             dv.same_bits(other.dv) && dbias.same_bits(other.dbias);
    }
  };
  template <target Target, class Policy>
  void check_on(const Policy& policy, const gradients& right) {
    using kept = attend_additive_kept<forward, T, Target>;
    using backward = attend_additive_backward<S, T, Target>;
    buffer<T> context{o.size(), 16}, most{S.queries, 16}, factor{S.queries, 16};
    buffer<T> scratch{kept::scratch_size, 16}, more{backward::scratch_size, 16};
    kept::run(q, k, w, v, policy, context, most, factor, scratch);
    BOOST_TEST(context.same_bits(o));
    BOOST_TEST(most.same_bits(maximum));
    BOOST_TEST(factor.same_bits(inverse));
    gradients to;
    backward::run(q, k, w, v, o, d_o, policy, maximum, inverse, to.dq, to.dk, to.dw, to.dv,
                  to.dbias, more);
    BOOST_TEST(to.same_bits(right), S.head_dim << " features, " << Target.vector_bytes);
    BOOST_TEST((scratch.guards_are_whole() && more.guards_are_whole()));
  }
  template <class Policy>
  gradients by_plain(const Policy& policy) {
    plain::attend_additive_kept<forward>::run(q.get(), k.get(), w.get(), v.get(), policy, o.get(),
                                              maximum.get(), inverse.get());
    gradients right;
    plain::attend_additive_backward<S>::run(q.get(), k.get(), w.get(), v.get(), o.get(), d_o.get(),
                                            policy, maximum.get(), inverse.get(), right.dq.get(),
                                            right.dk.get(), right.dw.get(), right.dv.get(),
                                            right.dbias.get());
    return right;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_additive_backward)

BOOST_AUTO_TEST_CASE(every_number_of_lanes) {
  problem<apart(19, 261, 21, 5)> p;  // more keys than a block of the softmax has
  const scores::all_of policy(scores::softcap{1.5f}, scores::added<float>{p.bias.get(), 261, 1},
                              scores::causal{245}, scores::dropout(1, 2, 0.2f));
  const auto right = p.by_plain(policy);
  p.check_on<scalar>(policy, right);
  p.check_on<vector_16>(policy, right);
  p.check_on<vector_32>(policy, right);
  p.check_on<widest>(policy, right);
}

BOOST_AUTO_TEST_CASE(sizes) {
  problem<apart(1, 1, 1, 1)> one;
  one.check_on<widest>(scores::every_key{}, one.by_plain(scores::every_key{}));
  problem<apart(3, 5, 16, 33), double> whole;
  const scores::first_keys none(0), some(4);
  whole.check_on<widest>(none, whole.by_plain(none));  // no query sees a key
  whole.check_on<widest>(some, whole.by_plain(some));
}

// What is stored at a hidden key is not read.
BOOST_AUTO_TEST_CASE(hidden_keys) {
  problem<apart(4, 6, 7, 3)> p;
  const scores::first_keys some(4);
  const auto right = p.by_plain(some);
  for (std::size_t e = 4 * 9; e < p.k.size(); ++e) p.k[e] = NAN;
  for (std::size_t e = 4 * 6; e < p.v.size(); ++e) p.v[e] = NAN;
  p.check_on<widest>(some, right);
}

BOOST_AUTO_TEST_SUITE_END()
