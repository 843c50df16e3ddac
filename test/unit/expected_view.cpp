// SPDX-License-Identifier: BSL-1.0
// Sizes known only at run time: a view where they are the type's, else the sentence that says
// which they are and should be.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <array>
#include <csetjmp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>>;

BOOST_AUTO_TEST_SUITE(expected_views)

BOOST_AUTO_TEST_CASE(extents_that_are_the_types) {
  float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto x = view_as<queries>(memory, std::array<std::size_t, 2>{2, 4});
  BOOST_TEST_REQUIRE(x.has_value());
  BOOST_TEST(static_cast<bool>(x));
  BOOST_TEST((*x)(1, 2) == 6);
  BOOST_TEST(std::string_view(x.error()).empty());
  (*x)(0, 0) = 9;
  BOOST_TEST(memory[0] == 9);
  // Of any integers, in anything that has data and size.
  const std::int64_t signed_sizes[] = {2, 4};
  BOOST_TEST(view_as<queries>(memory, std::span(signed_sizes)).has_value());
  const std::vector<unsigned char> bytes{2, 4};
  const float* const only_read = memory;
  const auto y = view_as<queries>(only_read, bytes);
  static_assert(std::is_same_v<decltype(*y), view<const float, batch<2>, query<4>>>);
  BOOST_TEST((*y).data() == only_read);
}

// Through ->, and by value(), which is checked in every program: it stops with the sentence.
std::jmp_buf stopped;
std::string said;
BOOST_AUTO_TEST_CASE(the_view_in_it) {
  float memory[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto x = view_as<queries>(memory, {2, 4});
  BOOST_TEST(x->data() == memory);
  BOOST_TEST(x->size() == 8U);
  BOOST_TEST(x.value()(1, 2) == 6);
  static_assert(std::is_same_v<decltype(x.value()), view<float, batch<2>, query<4>>>);
  constexpr static float constants[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  static_assert(view_as<queries>(constants, {2, 4}).value()(1, 3) == 7);
  static_assert(view_as<queries>(constants, {2, 4})->size() == 8);

  static const auto none = view_as<queries>(memory, {2, 5});
  const check_handler before = set_check_handler([](const char* sentence) {
    said = sentence;
    std::longjmp(stopped, 1);
  });
  if (setjmp(stopped) == 0) static_cast<void>(none.value());
  set_check_handler(before);
  BOOST_TEST(said ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [2, 5]");
}

BOOST_AUTO_TEST_CASE(other_extents_are_a_sentence) {
  float memory[8]{};
  const auto says = [&](const auto& extents) {
    const auto x = view_as<queries>(memory, extents);
    BOOST_TEST(!x.has_value());
    BOOST_TEST((x.value_or(view<float, batch<2>, query<4>>(memory)).data() == memory));
    return std::string(x.error());
  };
  BOOST_TEST(says(std::array<int, 2>{2, 5}) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [2, 5]");
  BOOST_TEST(says(std::array<int, 2>{4, 2}) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [4, 2]");
  BOOST_TEST(says(std::array<int, 1>{8}) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [8]");
  BOOST_TEST(
      says(std::array<int, 3>{1, 2, 4}) ==
      "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [1, 2, 4]");
  BOOST_TEST(says(std::array<int, 2>{2, -4}) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [2, -4]");
  BOOST_TEST(says(std::array<std::int64_t, 2>{INT64_MIN, INT64_MAX}) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has "
             "[-9223372036854775808, 9223372036854775807]");
  BOOST_TEST(says(std::vector<std::size_t>{}) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has []");
}

// A file may claim any number of axes: what does not fit the sentence is cut off.
BOOST_AUTO_TEST_CASE(a_long_sentence_is_cut) {
  float memory[8]{};
  const std::vector<std::size_t> many(1000, 123456789);
  const auto x = view_as<queries>(memory, many);
  BOOST_TEST(!x.has_value());
  const std::string_view sentence = x.error();
  BOOST_TEST(sentence.size() < 600u);
  BOOST_TEST(sentence.substr(0, 32) == "umbel: view_as: [batch=2, query=");
}

BOOST_AUTO_TEST_CASE(a_number_of_elements) {
  float memory[8]{};
  BOOST_TEST(view_as<queries>(memory, std::size_t{8}).has_value());
  const auto x = view_as<queries>(memory, std::size_t{7});
  BOOST_TEST(!x);
  BOOST_TEST(std::string_view(x.error()) ==
             "umbel: view_as: [batch=2, query=4] needs 8 elements but the memory holds 7");
}

BOOST_AUTO_TEST_CASE(no_memory) {
  float* const none = nullptr;
  BOOST_TEST(!view_as<queries>(none, std::size_t{8}));
  const auto x = view_as<queries>(none, std::array<int, 2>{2, 4});
  BOOST_TEST(!x);
  BOOST_TEST(std::string_view(x.error()) ==
             "umbel: view_as: [batch=2, query=4] needs memory but the pointer is null");
}

BOOST_AUTO_TEST_CASE(sizes_in_a_list_or_an_array) {
  float memory[8]{};
  const int sizes[] = {2, 4};
  BOOST_TEST(view_as<queries>(memory, {2, 4}).has_value());
  BOOST_TEST(view_as<queries>(memory, sizes).has_value());
  const std::size_t four = 4;
  BOOST_TEST((view_as<tensor<float, query<4>>>(memory, {four}).has_value()));
  BOOST_TEST(view_as<queries>(memory, {2, four}).has_value());
  const auto of_several_types = view_as<queries>(memory, {-1, ~four, 4u});
  BOOST_TEST(std::string_view(of_several_types.error()) ==
             "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has "
             "[-1, 9223372036854775807, 4]");
  BOOST_TEST(std::string_view(view_as<queries>(memory, -8).error()) ==
             "umbel: view_as: [batch=2, query=4] needs 8 elements but the memory holds -8");
  const auto x = view_as<queries>(memory, {2, -4, 1});
  BOOST_TEST(
      std::string_view(x.error()) ==
      "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [2, -4, 1]");
}

// Also where the compiler computes.
constexpr float flash[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static_assert((*view_as<queries>(flash, std::array<int, 2>{2, 4}))(1, 3) == 7);
static_assert(!view_as<queries>(flash, std::array<int, 2>{4, 2}));

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
