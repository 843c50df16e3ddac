// SPDX-License-Identifier: BSL-1.0
// The main program of every Boost.Test executable here. Asked with UMBEL_TAP=1 (Meson does), it
// also reports each test case in the Test Anything Protocol on standard output; the log is then on
// standard error. Run by hand it is a plain Boost.Test program.
#define BOOST_TEST_MODULE umbel
#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

namespace ut = boost::unit_test;

class tap_observer final : public ut::test_observer {
 public:
  void test_start(ut::counter_t cases, ut::test_unit_id) override {
    std::printf("TAP version 13\n1..%lu\n", cases);
  }

  void test_unit_finish(ut::test_unit const& unit, unsigned long) override {
    if (unit.p_type == ut::TUT_CASE) say(ut::results_collector.results(unit.p_id).passed(), unit);
  }

  void test_unit_skipped(ut::test_unit const& unit, ut::const_string) override {
    if (unit.p_type == ut::TUT_CASE) say(false, unit);
  }

  // After the collector of results (1) and the log (2), whose verdict is asked here.
  int priority() override { return 4; }

 private:
  void say(bool passed, ut::test_unit const& unit) {
    std::printf("%s %lu - %s\n", passed ? "ok" : "not ok", ++count_, unit.full_name().c_str());
    std::fflush(stdout);
  }

  unsigned long count_ = 0;
};

struct tap {
  tap_observer observer;
  bool on = std::getenv("UMBEL_TAP") != nullptr;

  tap() {
    if (!on) return;
    ut::unit_test_log.set_stream(std::cerr);
    ut::framework::register_observer(observer);
  }
  ~tap() {
    if (on) ut::framework::deregister_observer(observer);
  }
};

}  // namespace

BOOST_TEST_GLOBAL_CONFIGURATION(tap);
