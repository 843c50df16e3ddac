// SPDX-License-Identifier: BSL-1.0
// What test/unit uses of Boost.Test, for cross builds: there it would be most of the compile time.
// A program a source file; its output is TAP, its exit code 1 where a check failed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <sstream>

namespace emulated {

struct test_case {
  const char* name;
  void (*run)();
  test_case* next = nullptr;
};
inline test_case* first = nullptr;
inline test_case** end = &first;
inline long checks = 0, failures = 0;

struct registered {
  explicit registered(test_case& test) { *end = &test, end = &test.next; }
};

template <class Message>
[[gnu::noinline]] void fail(const char* file, int line, const char* what, Message message) {
  std::ostringstream text;
  message(text);
  std::printf("# %s:%d: %s: %s\n", file, line, what, text.str().c_str());
  ++failures;
}

}  // namespace emulated

#define BOOST_AUTO_TEST_SUITE(name) namespace name {
#define BOOST_AUTO_TEST_SUITE_END() }
#define BOOST_AUTO_TEST_CASE(name)                             \
  static void name();                                          \
  static emulated::test_case name##_test{#name, name};         \
  static const emulated::registered name##_known{name##_test}; \
  static void name()
#define BOOST_TEST(condition, ...)                                                       \
  (++emulated::checks, static_cast<bool>(condition)                                      \
                           ? void()                                                      \
                           : emulated::fail(__FILE__, __LINE__, #condition,              \
                                            [&]([[maybe_unused]] std::ostream& failed) { \
                                              __VA_OPT__(failed << __VA_ARGS__;)         \
                                            }))
#define BOOST_TEST_REQUIRE(condition, ...)                              \
  do {                                                                  \
    const long failures_before = emulated::failures;                    \
    BOOST_TEST(condition __VA_OPT__(, ) __VA_ARGS__);                   \
    if (emulated::failures != failures_before) std::exit(EXIT_FAILURE); \
  } while (false)

int main() {
  int number = 0;
  std::puts("TAP version 13");
  for (const emulated::test_case* test = emulated::first; test != nullptr; test = test->next) {
    const long failures = emulated::failures, checks = emulated::checks;
    test->run();
    std::printf("%sok %d - %s, %ld checks\n", emulated::failures == failures ? "" : "not ",
                ++number, test->name, emulated::checks - checks);
  }
  std::printf("1..%d\n", number);
  return emulated::failures == 0 && emulated::checks != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
