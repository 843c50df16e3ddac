// SPDX-License-Identifier: BSL-1.0
// What out << x writes.
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

namespace {

template <class X>
std::string printed(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

// What an embedded program may have: no std::ostream.
struct line {
  std::string text;
  line& operator<<(const char* s) {
    text += s;
    return *this;
  }
  line& operator<<(int value) {
    text += std::to_string(value);
    return *this;
  }
};

// A stream of a type that has to do with Umbel, and that takes no tensor.
template <class T>
struct sink {
  std::size_t written = 0;
  sink& operator<<(const char*) {
    ++written;
    return *this;
  }
  sink& operator<<(double) { return *this; }
};

// With a << of its own, and a float that it would lose digits as.
struct fixed_point {
  int thousandths;
  explicit operator float() const { return static_cast<float>(thousandths / 1000); }
  friend std::ostream& operator<<(std::ostream& out, fixed_point x) {
    return out << x.thousandths << "/1000";
  }
};

template <class Stream, class X>
concept prints = requires(Stream& out, const X& x) { out << x; };

}  // namespace

BOOST_AUTO_TEST_SUITE(print)

BOOST_AUTO_TEST_CASE(rows_are_lines) {
  BOOST_TEST(printed(tensor<float, query<3>>{1, -0.5f, 1e9f}) == "[query=3]\n1 -0.5 1e+09");
  BOOST_TEST(printed(tensor<int, query<1>>{7}) == "[query=1]\n7");
  const tensor<int, query<2>, key<3>> x{1, 2, 3, 4, 5, 6};
  BOOST_TEST(printed(x) == "[query=2, key=3]\n1 2 3\n4 5 6");
}

BOOST_AUTO_TEST_CASE(blocks_are_apart) {
  const tensor<int, batch<2>, query<2>, key<1>> x{1, 2, 3, 4};
  BOOST_TEST(printed(x) == "[batch=2, query=2, key=1]\n1\n2\n\n3\n4");
  const tensor<int, batch<2>, heads<2>, query<1>, key<2>> y{1, 2, 3, 4, 5, 6, 7, 8};
  BOOST_TEST(printed(y) == "[batch=2, heads=2, query=1, key=2]\n1 2\n\n3 4\n\n5 6\n\n7 8");
}

BOOST_AUTO_TEST_CASE(views_as_they_are_seen) {
  const tensor<int, query<2>, key<3>> x{1, 2, 3, 4, 5, 6};
  BOOST_TEST(printed(x | permute<key, query>) == "[key=3, query=2]\n1 4\n2 5\n3 6");
  BOOST_TEST(printed(select_at<query>(x, 1) | broadcast<heads<2>, key<3>>) ==
             "[heads=2, key=3]\n4 5 6\n4 5 6");
}

BOOST_AUTO_TEST_CASE(elements_are_numbers) {
  BOOST_TEST(printed(tensor<unsigned char, key<2>>{65, 0}) == "[key=2]\n65 0");
  BOOST_TEST(printed(tensor<bool, key<2>>{true, false}) == "[key=2]\n1 0");
  tensor<bfloat16, key<1>> stored;
  stored(0) = bfloat16(1.5f);
  BOOST_TEST(printed(stored) == "[key=1]\n1.5");
  tensor<fixed_point, key<1>> prices;
  prices(0) = {1999};
  BOOST_TEST(printed(prices) == "[key=1]\n1999/1000");
}

BOOST_AUTO_TEST_CASE(the_stream_decides) {
  std::ostringstream out;
  out.precision(2);
  out << "x: " << tensor<double, key<1>>{3.14159} << '\n';
  BOOST_TEST(out.str() == "x: [key=1]\n3.1\n");
  line one;
  one << tensor<int, key<2>>{1, 2} << "!";
  BOOST_TEST(one.text == "[key=2]\n1 2!");
  sink<tensor<float, key<2>>> other;
  other << "text";
  BOOST_TEST(other.written == 1u);
  // Operands that are no stream are none of its business.
  static_assert(!prints<int, tensor<int, key<2>>>);
  static_assert(!prints<tensor<int, key<2>>, tensor<int, key<2>>>);
  static_assert(prints<std::ostream, view<const float, key<2>>>);
}

BOOST_AUTO_TEST_SUITE_END()
