// SPDX-License-Identifier: BSL-1.0
// UMBEL_CHECK=1: every access by a run-time position that is outside of its axis says so, and
// nothing else does. The handler of these tests keeps the sentence and jumps back. What there is
// without a handler, and files without checks in the same program: test/checking.
#define UMBEL_CHECK 1
#include <boost/test/unit_test.hpp>
#include <umbel/bare.hpp>

#include <climits>
#include <csetjmp>
#include <cstring>
#include <string>

namespace {

using namespace umbel;
using namespace umbel::axes;

std::jmp_buf before_access;
char last_sentence[600];

void jump_back(const char* sentence) {
  std::strncpy(last_sentence, sentence, sizeof(last_sentence) - 1);
  std::longjmp(before_access, 1);
}

// What is said of f(): "" where nothing is.
template <class F>
std::string said_of(const F& f) {
  const check_handler before = set_check_handler(jump_back);
  last_sentence[0] = '\0';
  if (setjmp(before_access) == 0) f();
  BOOST_TEST((set_check_handler(before) == jump_back));
  return last_sentence;
}

// Positions that the compiler does not know.
volatile int unknown = 0;
int at_run_time(int position) { return position + unknown; }

template <std::size_t N>
struct frames : axis<frames, N> {};

tensor<float, batch<2>, query<3>, hidden<5>> x{};
const auto& only_read = x;

BOOST_AUTO_TEST_SUITE(checking)

BOOST_AUTO_TEST_CASE(rows_of_a_table) {
  const auto says = [](int id) {
    return said_of([=] { (void)lookup(x, tensor<int, frames<2>>{1, at_run_time(id)}); });
  };
  BOOST_TEST(says(1) == "");
  BOOST_TEST(says(2) == "umbel: lookup: position 2 is outside of batch=2");
  BOOST_TEST(says(-1) == "umbel: lookup: position -1 is outside of batch=2");
  BOOST_TEST(said_of([=] { (void)gather<batch>(x, tensor<int, frames<2>>{1, at_run_time(2)}); }) ==
             "umbel: gather: position 2 is outside of batch=2");
  BOOST_TEST(said_of([] { (void)one_hot<hidden<5>>(tensor<int, frames<1>>{at_run_time(4)}); }) ==
             "");
  BOOST_TEST(said_of([] { (void)one_hot<hidden<5>>(tensor<int, frames<1>>{at_run_time(5)}); }) ==
             "umbel: one_hot: position 5 is outside of hidden=5");
}

BOOST_AUTO_TEST_CASE(every_axis_of_a_tensor) {
  const auto says = [](int b, int q, int h) {
    const std::string said =
        said_of([=] { x(at_run_time(b), at_run_time(q), at_run_time(h)) = 1; });
    BOOST_TEST(said == said_of([=] { (void)only_read(at_run_time(b), q, h); }));
    return said;
  };
  BOOST_TEST(says(2, 0, 0) == "umbel: x(...): position 2 is outside of batch=2");
  BOOST_TEST(says(0, 3, 0) == "umbel: x(...): position 3 is outside of query=3");
  BOOST_TEST(says(0, 0, 5) == "umbel: x(...): position 5 is outside of hidden=5");
  BOOST_TEST(says(0, -1, 0) == "umbel: x(...): position -1 is outside of query=3");
  BOOST_TEST(says(0, 0, INT_MIN) == "umbel: x(...): position -2147483648 is outside of hidden=5");
  BOOST_TEST(says(0, 0, INT_MAX) == "umbel: x(...): position 2147483647 is outside of hidden=5");
  // In memory, and outside of its axis.
  BOOST_TEST(says(0, 0, 7) == "umbel: x(...): position 7 is outside of hidden=5");
  for (const float e : x) BOOST_TEST(e == 0);
}

BOOST_AUTO_TEST_CASE(positions_that_are_there) {
  for (int b = 0; b < 2; ++b)
    for (unsigned char q = 0; q < 3; ++q)
      for (std::size_t h = 0; h < 5; ++h) {
        BOOST_TEST(said_of([=] { (void)x(b, q, h); }) == "");
        BOOST_TEST(said_of([=] { (void)x(at<hidden>(h), at<batch>(b), at<query>(q)); }) == "");
        BOOST_TEST(said_of([=] { (void)(x | permute<hidden, query, batch>)(h, q, b); }) == "");
      }
  tensor<float> number{1.0f};
  BOOST_TEST(said_of([&] { (void)number(); }) == "");
}

BOOST_AUTO_TEST_CASE(positions_by_name) {
  const auto says = [](int b, int q, int h) {
    const std::string said =
        said_of([=] { x(at<query>(at_run_time(q)), at<hidden>(h), at<batch>(b)) = 1; });
    BOOST_TEST(said ==
               said_of([=] { (void)only_read(at<hidden>(h), at<query>(q), at<batch>(b)); }));
    BOOST_TEST(said ==
               said_of([=] { (void)as_view(x)(at<batch>(b), at<query>(q), at<hidden>(h)); }));
    return said;
  };
  BOOST_TEST(says(-3, 0, 0) == "umbel: x(...): position -3 is outside of batch=2");
  BOOST_TEST(says(0, 99, 0) == "umbel: x(...): position 99 is outside of query=3");
  BOOST_TEST(says(0, 0, 5) == "umbel: x(...): position 5 is outside of hidden=5");
}

BOOST_AUTO_TEST_CASE(one_axis_in_brackets) {
  tensor<int, frames<4>> row{1, 2, 3, 4};
  const auto& read = row;
  const view<const int, frames<4>> seen = row;
  BOOST_TEST(said_of([&] { row[at_run_time(4)] = 1; }) ==
             "umbel: x[...]: position 4 is outside of frames=4");
  BOOST_TEST(said_of([&] { (void)read[at_run_time(-1)]; }) ==
             "umbel: x[...]: position -1 is outside of frames=4");
  BOOST_TEST(said_of([&] { (void)seen[std::size_t{7}]; }) ==
             "umbel: x[...]: position 7 is outside of frames=4");
  BOOST_TEST(said_of([&] { row[at_run_time(3)] = 5; }) == "");
}

BOOST_AUTO_TEST_CASE(views_of_any_layout) {
  const auto turned = x | permute<hidden, batch, query>;
  BOOST_TEST(said_of([&] { turned(0, 0, at_run_time(3)) = 1; }) ==
             "umbel: x(...): position 3 is outside of query=3");
  const auto repeated = only_read | broadcast<heads<2>, batch<2>, query<3>, hidden<5>>;
  BOOST_TEST(said_of([&] { (void)repeated(at_run_time(2), 0, 0, 0); }) ==
             "umbel: x(...): position 2 is outside of heads=2");
  const auto part = x | slice<hidden, from<2>, extent<2>>;
  BOOST_TEST(said_of([&] { part(0, 0, at_run_time(2)) = 1; }) ==
             "umbel: x(...): position 2 is outside of hidden=2");
}

BOOST_AUTO_TEST_CASE(selections) {
  BOOST_TEST(said_of([] { (void)select_at<query>(x, at_run_time(3)); }) ==
             "umbel: select_at: position 3 is outside of query=3");
  BOOST_TEST(said_of([] { (void)(x | select_at<batch>(at_run_time(-1))); }) ==
             "umbel: select_at: position -1 is outside of batch=2");
  BOOST_TEST(said_of([] { (void)(x * 2 | select_at<batch>(at_run_time(2))); }) ==
             "umbel: select_at: position 2 is outside of batch=2");
  BOOST_TEST(said_of([] { (void)(x | select_at<batch>(at_run_time(1)) | select_at<query>(2)); }) ==
             "");
}

BOOST_AUTO_TEST_CASE(weights) {
  linear<float, hidden<3>, classes<2>>::weights w{};
  linear<float, hidden<3>, classes<2>, bias<true>>::weights with_bias{};
  const auto& read = w;
  BOOST_TEST(said_of([&] { w(at_run_time(3), 0) = 1; }) ==
             "umbel: w(...): position 3 is outside of hidden=3");
  BOOST_TEST(said_of([&] { (void)read(0, at_run_time(2)); }) ==
             "umbel: w(...): position 2 is outside of classes=2");
  BOOST_TEST(said_of([&] { with_bias(0, at_run_time(2)) = 1; }) ==
             "umbel: w(...): position 2 is outside of classes=2");
  BOOST_TEST(said_of([&] { w(at_run_time(2), 1) = 1; }) == "");
}

BOOST_AUTO_TEST_CASE(a_view_that_is_not_there) {
  float memory[7]{};
  const auto none = view_as<tensor<float, batch<2>, query<4>>>(memory, at_run_time(7));
  BOOST_TEST(said_of([&] { (void)*none; }) ==
             "umbel: view_as: [batch=2, query=4] needs 8 elements but the memory holds 7");
  const auto some = view_as<tensor<float, query<7>>>(memory, at_run_time(7));
  BOOST_TEST(said_of([&] { (void)(*some)(0); }) == "");
}

// An executor of the user's that counts wrong.
struct counts_wrong {
  static constexpr std::size_t workers = 2;
  std::size_t past_pieces, worker;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const {
    for (std::size_t i = 0; i < count + past_pieces; ++i) piece(i, worker);
  }
};

BOOST_AUTO_TEST_CASE(pieces_and_workers) {
  using attention = multi_head_attention<float, hidden<4>, heads<2>>;
  static attention::weights w{};
  static attention::workspace<token<3>> work[2];
  static tensor<float, batch<2>, token<3>, hidden<4>> tokens{}, out;
  const attention attend{w};
  const auto says = [&](const counts_wrong& executor) {
    return said_of([&] { attend.into(out, tokens, all_keys, parallel(executor, work)); });
  };
  BOOST_TEST(says({0, 1}) == "");
  BOOST_TEST(says({1, 0}) == "umbel: parallel: piece 2 is outside of pieces=2");
  BOOST_TEST(says({0, 2}) == "umbel: parallel: worker 2 is outside of workers=2");
  std::vector<attention::workspace<token<3>>> some(1);
  const counts_wrong executor{0, 0};
  const auto says_of_them = [&] {
    return said_of([&] { attend.into(out, tokens, all_keys, parallel(executor, some)); });
  };
  BOOST_TEST(says_of_them() == "umbel: parallel: worker 1 is outside of workspaces=1");
  some.resize(2);
  BOOST_TEST(says_of_them() == "");
}

BOOST_AUTO_TEST_CASE(handlers_are_handed_back) {
  static int called = 0;
  const check_handler first = [](const char*) { ++called; };
  BOOST_TEST((set_check_handler(first) == nullptr));
  BOOST_TEST((set_check_handler(nullptr) == first));
  BOOST_TEST(called == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
