// SPDX-License-Identifier: BSL-1.0
// Formulas of large batches: all steps for one sequence, then for the next, in memory for one, have
// the bits of plain, also if several workers take whole sequences, or share the last ones.
#include <boost/test/unit_test.hpp>

#include <umbel/inspect/describe.hpp>
#include <umbel/umbel.hpp>

#include <cstring>
#include <string_view>
#include <utility>

#include "../support/executors.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using umbel_test::draw;
using umbel_test::lcg;

constexpr std::size_t sequences = 7, tokens = 67, width = 192;
using attention = multi_head_attention<float, hidden<width>, heads<4>>;
using queries = tensor<float, batch<sequences>, query<tokens>, hidden<width>>;
using keys = tensor<float, batch<sequences>, key<tokens>, hidden<width>>;

template <class Formula, class... X>
constexpr bool is_one_by_one = false;
template <class F, class... X>
constexpr bool is_one_by_one<const formula<F>, X...> = detail::formulas::chosen_run<
    F, detail::formulas::row_major_layouts<detail::formulas::traced_result<F, X...>>, true,
    typename detail::formulas::argument_of<X>::type...>::one_by_one;

constexpr auto heads_of = [](auto x, const auto& w) {
  return x * w | split<hidden, heads<4>, head_dim>;
};
constexpr formula attend = [](auto to, auto from, const auto& w, auto bias, auto lens) {
  auto q = heads_of(to, w.q) | permute<batch, heads, query, head_dim>;
  auto k = heads_of(from, w.k) | permute<batch, heads, key, head_dim>;
  auto v = heads_of(from, w.v) | permute<batch, heads, key, head_dim>;
  auto scores = contract<head_dim>(q, k) * rsqrt(48.0f) + bias;
  auto weights = softmax<key>(hide(scores, position<key> >= lens));
  auto context = contract<key>(weights, v) | permute<batch, query, heads, head_dim>;
  return to + (context | contiguous | merge<heads, head_dim, hidden>)*w.o;
};
constexpr formula with_gates = [](auto to, auto from, const auto& w, auto gates) {
  auto q = heads_of(to, w.q) | permute<batch, heads, query, head_dim>;
  auto k = heads_of(from, w.k) | permute<batch, heads, key, head_dim>;
  auto v = heads_of(from, w.v) | permute<batch, heads, key, head_dim>;
  auto weights = sigmoid(contract<head_dim>(q, k)) * gates;
  auto context = contract<key>(weights, v) | permute<batch, query, heads, head_dim>;
  return std::pair{(context | contiguous | merge<heads, head_dim, hidden>)*w.o, to * w.q};
};
// Products by distance, as in DeBERTa, of one sequence: one head at a time.
template <std::size_t N>
struct distance : umbel::axis<distance, N> {};
constexpr formula by_distance = [](auto q, auto k, auto v, auto of_q, auto of_k) {
  auto at = clamp(position<query> - position<key> + 32, 0, 63);
  auto scores = contract<head_dim>(q, k) + gather<distance>(contract<head_dim>(q, of_k), at) +
                gather<distance>(contract<head_dim>(k, of_q), at);
  return contract<key>(softmax<key>(scores), v);
};
template <std::size_t N, template <std::size_t> class Positions>
using of_heads = tensor<float, batch<1>, heads<5>, Positions<N>, head_dim<8>>;
using by_distances = tensor<float, heads<5>, distance<64>, head_dim<8>>;
// A softmax and a maximum along the queries, and a sum of stored weights.
constexpr formula by_queries = [](auto q, auto k, auto v) {
  auto scores = contract<head_dim>(q, k);
  auto shares = softmax<query>(scores) * (1 + max<query>(scores)) + 1e-6f;
  return contract<key>(shares / sum<key>(shares), v);
};
// A sum over the batch mixes its sequences.
constexpr formula mixed = [](auto to, const auto& w) {
  auto y = to * w.q;
  return (y * w.k) + sum<batch>(y * w.o);
};

template <class A, class B>
bool same_bits(const A& a, const B& b) {
  static_assert(std::is_same_v<A, B>);
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

template <class A, class B>
bool same_results(const A& a, const B& b) {
  if constexpr (requires { a.first; })
    return same_bits(a.first, b.first) && same_bits(a.second, b.second);
  else
    return same_bits(a, b);
}
template <std::size_t Workers, class F, class Result, class... X>
void check_workers(const F& f, const Result& expected, const X&... x) {
  static workspace_for<F, X...> works[Workers];
  static Result found;
  const auto fill = [](auto& result) { std::memset(result.data(), 0x55, sizeof result); };
  if constexpr (requires { found.first; })
    fill(found.first), fill(found.second);
  else
    fill(found);
  umbel_test::shuffled<Workers> pool;
  f.into(found, x..., parallel(pool, works));
  BOOST_TEST(same_results(found, expected));
}
template <class F, class... X>
void check(const F& f, const X&... x) {
  static workspace_for<F, X...> work;
  static const auto one_by_one = f(x..., work);
  BOOST_TEST(same_results(plain(f)(x..., work), one_by_one));
  check_workers<2>(f, one_by_one, x...);
  check_workers<4>(f, one_by_one, x...);
}

struct inputs {
  queries x;
  keys y;
  attention::weights w;
  tensor<float, heads<4>, query<tokens>, key<tokens>> bias;
  tensor<float, batch<sequences>, heads<4>, query<tokens>, key<tokens>> gates;
  tensor<int, batch<sequences>> lens{67, 0, 1, 40, 66, 16, 64};
};
inputs& given() {
  static inputs made;
  lcg next{11};
  draw(next, made.x), draw(next, made.y), draw(next, made.bias), draw(next, made.gates);
  umbel_test::draw_attention(next, made.w, 0.2, 0.1);
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unit_formula_sequences)

static_assert(is_one_by_one<decltype(attend), queries, keys, attention::weights,
                            decltype(inputs::bias), decltype(inputs::lens)>);
static_assert(is_one_by_one<decltype(with_gates), queries, keys, attention::weights,
                            decltype(inputs::gates)>);
static_assert(!is_one_by_one<decltype(mixed), queries, attention::weights>);
static_assert(is_one_by_one<decltype(by_distance), of_heads<450, query>, of_heads<390, key>,
                            of_heads<390, key>, by_distances, by_distances>);

// The workspace is for one of them.
template <std::size_t Sequences>
constexpr std::size_t workspace_of = sizeof(
    workspace_for<decltype(with_gates),
                  tensor<float, batch<Sequences>, query<tokens>, hidden<width>>,
                  tensor<float, batch<Sequences>, key<tokens>, hidden<width>>, attention::weights,
                  tensor<float, batch<Sequences>, heads<4>, query<tokens>, key<tokens>>>);
static_assert(workspace_of<14> == workspace_of<sequences>);

BOOST_AUTO_TEST_CASE(attention_with_what_all_sequences_share) {
  auto& [x, y, w, bias, gates, lens] = given();
  check(attend, x, y, w, bias, lens);
}
BOOST_AUTO_TEST_CASE(several_results_and_rows) {
  auto& [x, y, w, bias, gates, lens] = given();
  check(with_gates, x, y, w, gates);
}
static_assert(is_one_by_one<decltype(by_queries), of_heads<450, query>, of_heads<390, key>,
                            of_heads<390, key>>);

BOOST_AUTO_TEST_CASE(heads_of_one_sequence) {
  static of_heads<450, query> q;
  static of_heads<390, key> k, v;
  static by_distances of_q, of_k;
  lcg next{12};
  draw(next, q), draw(next, k), draw(next, v), draw(next, of_q), draw(next, of_k);
  check(by_distance, q, k, v, of_q, of_k);
  check(by_queries, q, k, v);
  const auto head = [](const auto& x) { return x | select_at<heads, 3>; };
  static workspace_for<decltype(by_queries), decltype(q), decltype(k), decltype(v)> work;
  static const auto all = by_queries(q, k, v, work);
  static const auto of_head = contiguous(head(all));
  static workspace_for<decltype(by_queries), decltype(head(q)), decltype(head(k)),
                       decltype(head(v))>
      one;
  BOOST_TEST(same_bits(by_queries(head(q), head(k), head(v), one), of_head));
}

// Arguments and results with strides of their own.
BOOST_AUTO_TEST_CASE(in_any_order) {
  auto& [x, y, w, bias, gates, lens] = given();
  static tensor<float, query<tokens>, batch<sequences>, hidden<width>> turned =
      x | permute<query, batch, hidden>;
  static const auto seen = turned | permute<batch, query, hidden>;
  static workspace_for<decltype(attend), decltype(seen), keys, attention::weights, decltype(bias),
                       decltype(lens)>
      work;
  static const queries expected = attend(seen, y, w, bias, lens, work);
  static tensor<float, hidden<width>, batch<sequences>, query<tokens>> written;
  attend.into(written | permute<batch, query, hidden>, seen, y, w, bias, lens, work);
  static const queries read = written | permute<batch, query, hidden>;
  BOOST_TEST(same_bits(read, expected));
  static workspace_for<decltype(attend), queries, keys, attention::weights, decltype(bias),
                       decltype(lens)>
      as_it_is;
  BOOST_TEST(same_bits(queries(attend(x, y, w, bias, lens, as_it_is)), expected));
}

BOOST_AUTO_TEST_CASE(describe_says_so) {
  auto& [x, y, w, bias, gates, lens] = given();
  const std::string_view page = describe(attend, x, y, w, bias, lens);
  BOOST_TEST(page.find("all steps for one of 7 sequences, then for the next") != page.npos);
}

BOOST_AUTO_TEST_SUITE_END()
