// SPDX-License-Identifier: BSL-1.0
// Elements of tensors and views: by position, by name, in a loop; who may write.
#include <umbel/shape/axes.hpp>
#include <umbel/tensor/arithmetic.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/reshape.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

namespace {

using small = tensor<int, batch<2>, query<3>, hidden<5>>;

small counted() {
  small x;
  std::iota(x.begin(), x.end(), 0);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_access)

BOOST_AUTO_TEST_CASE(by_position) {
  small x = counted();
  const small& only_read = x;
  BOOST_TEST(x(0, 0, 0) == 0);
  BOOST_TEST(x(1, 2, 4) == 29);
  BOOST_TEST(only_read(1, 0, 3) == 18);
  x(1, 0, 3) = -1;
  BOOST_TEST(only_read(1, 0, 3) == -1);
  static_assert(std::is_same_v<decltype(x(0, 0, 0)), int&>);
  static_assert(std::is_same_v<decltype(only_read(0, 0, 0)), const int&>);
  // Any integer will do.
  BOOST_TEST(x(std::uint8_t{1}, 2u, std::size_t{4}) == 29);
  enum place { first, second };
  BOOST_TEST(x(second, first, second) == 16);
}

BOOST_AUTO_TEST_CASE(by_name_in_any_order) {
  small x = counted();
  const small& only_read = x;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t q = 0; q < 3; ++q)
      for (std::size_t h = 0; h < 5; ++h) {
        BOOST_TEST(x(at<batch>(b), at<query>(q), at<hidden>(h)) == x(b, q, h));
        BOOST_TEST(x(at<hidden>(h), at<query>(q), at<batch>(b)) == x(b, q, h));
        BOOST_TEST(only_read(at<query>(q), at<hidden>(h), at<batch>(b)) == x(b, q, h));
      }
  x(at<hidden>(4), at<batch>(1), at<query>(2)) = 7;
  BOOST_TEST(x(1, 2, 4) == 7);
  static_assert(
      std::is_same_v<decltype(only_read(at<hidden>(4), at<batch>(1), at<query>(2))), const int&>);
}

BOOST_AUTO_TEST_CASE(of_a_view) {
  small x = counted();
  const auto v = x | permute<hidden, batch, query>;  // const: the view; its elements are not
  BOOST_TEST(v(4, 1, 2) == 29);
  BOOST_TEST(v(at<batch>(1), at<hidden>(0), at<query>(1)) == 20);
  v(4, 1, 2) = 3;
  BOOST_TEST(x(1, 2, 4) == 3);
  const view<const int, batch<2>, query<3>, hidden<5>> reads = x;
  static_assert(std::is_same_v<decltype(reads(0, 0, 0)), const int&>);
  BOOST_TEST(reads.data() == x.data());
  BOOST_TEST(reads(1, 2, 4) == 3);
}

BOOST_AUTO_TEST_CASE(of_a_single_number) {
  tensor<float> x{2.5f};
  BOOST_TEST(x() == 2.5f);
  x() = 3;
  BOOST_TEST((as_view(x))() == 3);
  BOOST_TEST((counted() | select_at<batch, 1> | select_at<query, 2> | select_at<hidden, 4>)() ==
             29);
}

BOOST_AUTO_TEST_CASE(brace_initialised) {
  const tensor<float, query<2>, key<2>> x{1.f, 2.f, 3, 4.0};
  BOOST_TEST(x(1, 0) == 3);
  BOOST_TEST(x(1, 1) == 4);
  const small zero{};
  BOOST_TEST(std::all_of(zero.begin(), zero.end(), [](int e) { return e == 0; }));
  const tensor<int, batch<1>> one{7}, same = {7};
  BOOST_TEST(one(0) == 7);
  BOOST_TEST((one == same));
  const tensor<float> number = {2};
  BOOST_TEST(number() == 2);
}

BOOST_AUTO_TEST_CASE(iteration_is_row_major) {
  small x = counted();
  int expected = 0;
  for (const int& element : std::as_const(x)) BOOST_TEST(element == expected++);
  BOOST_TEST(expected == 30);
  for (int& element : x) element *= 2;
  BOOST_TEST(x(1, 2, 4) == 58);
  // With pointers where the elements lie so.
  auto rows = x | select_at<batch, 1>;
  BOOST_TEST(std::accumulate(rows.begin(), rows.end(), 0) == 2 * (15 + 29) * 15 / 2);
  BOOST_TEST(rows.end() - rows.begin() == 15);
  static_assert(std::is_same_v<decltype(rows.begin()), int*>);
  static_assert(std::is_same_v<decltype(std::as_const(x).end()), const int*>);
}

// In row-major order of their axes, whatever their order in memory.
BOOST_AUTO_TEST_CASE(iteration_of_any_layout) {
  small x = counted();
  const auto turned = x | permute<query, hidden, batch>;
  const small copied = turned | permute<batch, query, hidden>;
  std::vector<int> seen;
  for (int& e : turned) seen.push_back(e), e += 100;
  std::vector<int> expected;
  for (std::size_t q = 0; q < 3; ++q)
    for (std::size_t h = 0; h < 5; ++h)
      for (std::size_t b = 0; b < 2; ++b) expected.push_back(copied(b, q, h));
  BOOST_TEST(seen == expected, boost::test_tools::per_element());
  BOOST_TEST(x(1, 2, 4) == 129);
  using iterator = decltype(turned.begin());
  static_assert(std::forward_iterator<iterator>);
  static_assert(std::is_same_v<decltype(*turned.begin()), int&>);
  // Of a slice, of a repeated row, of a temporary.
  const auto part = std::as_const(x) | slice<hidden, from<1>, extent<2>> | select_at<batch, 0>;
  BOOST_TEST(std::accumulate(part.begin(), part.end(), 0) == 101 + 102 + 106 + 107 + 111 + 112);
  const tensor<int, hidden<2>> row{1, 2};
  int digits = 0;
  for (const int e : row | broadcast<query<2>, hidden<2>>) digits = 10 * digits + e;
  BOOST_TEST(digits == 1212);
  digits = 0;
  for (const int e : tensor<int, query<2>, hidden<2>>{1, 2, 3, 4} | permute<hidden, query>)
    digits = 10 * digits + e;
  BOOST_TEST(digits == 1324);
  auto third = turned.begin();
  BOOST_TEST(*third++ == 100);
  BOOST_TEST(*++third == 101);
}

BOOST_AUTO_TEST_CASE(for_each_of_one) {
  small x = counted();
  std::vector<int> seen;
  for_each([&](int element) { seen.push_back(element); }, x | permute<query, batch, hidden>);
  BOOST_TEST(seen.size() == 30u);
  BOOST_TEST(seen[0] == 0);
  BOOST_TEST(seen[5] == 15);  // query 0, batch 1
  BOOST_TEST(seen[10] == 5);  // query 1, batch 0
  for_each([](int& element) { element = 1; }, x | slice<query, from<1>, extent<1>>);
  BOOST_TEST(x(0, 1, 4) == 1);
  BOOST_TEST(x(0, 0, 4) == 4);
  BOOST_TEST(x(1, 2, 0) == 25);
}

BOOST_AUTO_TEST_CASE(for_each_of_several) {
  const small x = counted();
  auto turned = x | transposed<batch, hidden>;  // hidden, query, batch
  const tensor<double, hidden<5>> weight{1.0, 10.0, 100.0, 1000.0, 10000.0};
  tensor<double, batch<2>, query<3>, hidden<5>> out{};
  int calls = 0;
  for_each(
      [&](double& to, int a, const int& b, double w) {
        BOOST_TEST(a == b);
        to = a * w;
        ++calls;
      },
      out, x, turned | permute<batch, query, hidden>,
      weight | broadcast<batch<2>, query<3>, hidden<5>>);
  BOOST_TEST(calls == 30);
  BOOST_TEST(out(1, 2, 3) == 28000);
  BOOST_TEST(out(0, 1, 4) == 90000);
}

BOOST_AUTO_TEST_CASE(for_each_takes_any_callable) {
  small x = counted();
  struct total {
    int sum = 0;
    void operator()(int element) { sum += element; }
  } count;
  for_each(count, x);
  BOOST_TEST(count.sum == 29 * 30 / 2);
  static int calls = 0;
  void (*function)(int) = [](int) { ++calls; };
  for_each(function, x);
  BOOST_TEST(calls == 30);
}

// A list for each position of the first axis.
BOOST_AUTO_TEST_CASE(lists_in_lists) {
  constexpr tensor<float, query<2>, key<3>> x{{1, 2, 3}, {4, 5.5, 6}};
  static_assert(x == tensor<float, query<2>, key<3>>{1, 2, 3, 4, 5.5f, 6});
  constexpr tensor<float, query<1>, key<2>> one{{1, 2}};
  static_assert(one(0, 1) == 2);
  const float first[3] = {7, 8, 9}, second[3] = {10, 11, 12};
  BOOST_TEST((tensor<float, query<2>, key<3>>(first, second)(1, 2) == 12));
  // Of three axes, lists of such lists.
  constexpr tensor<int, batch<2>, query<3>, key<2>> y{{{1, 2}, {3, 4}, {5, 6}},
                                                      {{7, 8}, {9, 10}, {11, 12}}};
  static_assert(y ==
                tensor<int, batch<2>, query<3>, key<2>>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const tensor<int, batch<1>, query<1>, key<2>> small_one = {{{1, 2}}};
  BOOST_TEST(small_one(0, 0, 1) == 2);
  static_assert(!std::is_convertible_v<float, tensor<float, query<2>>>);
}

// As pointers are: no element moves.
BOOST_AUTO_TEST_CASE(a_view_is_assigned_to_look_elsewhere) {
  small x = counted();
  auto first = x | select_at<batch>(0), second = x | select_at<batch>(1);
  const auto before = x;
  first = second;
  BOOST_TEST(first.data() == second.data());
  BOOST_TEST((x == before));
  static_assert(std::is_trivially_copyable_v<decltype(first)>);
  static_assert(std::is_copy_assignable_v<decltype(first)>);
}

BOOST_AUTO_TEST_CASE(brackets_of_one_axis) {
  tensor<int, query<3>> x{1, 2, 3};
  x[1] = 5;
  BOOST_TEST(x(1) == 5);
  const auto& read = x;
  BOOST_TEST(read[2] == 3);
  const tensor<int, query<2>, key<2>> y{1, 2, 3, 4};
  BOOST_TEST((y | select_at<key>(1))[1] == 4);
}

// An axis by another name, as an alias template.
template <std::size_t N>
using words = query<N>;

BOOST_AUTO_TEST_CASE(an_alias_of_an_axis) {
  const tensor<int, batch<2>, words<3>, hidden<5>> x = counted();
  BOOST_TEST(x(at<words>(2), at<hidden>(4), at<batch>(1)) == 29);
  BOOST_TEST((x | select_at<words>(1) | select_at<batch, 1>)(4) == 24);
  BOOST_TEST((x | permute<words, hidden, batch>)(2, 4, 1) == 29);
  BOOST_TEST((x | slice<words, from<1>, extent<2>> | transposed<words, hidden>)(1, 4, 1) == 29);
  BOOST_TEST((x | rename_axis<hidden, key> | split<words, heads<3>, words>)(1, 2, 0, 4) == 29);
  static_assert(decltype(x)::extent<words> == 3);
}

BOOST_AUTO_TEST_SUITE_END()
