// SPDX-License-Identifier: BSL-1.0
// The verdict on a forward pass, and how it is said.
#include "pass.hpp"

#include <cstdio>

namespace realtime {
namespace {

int lines = 0, failures = 0;
const char* group_name = "";

}  // namespace

findings look_at(const pass& run, threads used) {
  run();  // the first call of memcpy goes through the dynamic linker
  arm();
  for (int i = 0; i < 3; ++i) run();
  const counts seen = disarm();
  const auto calls = used == threads::one ? system_calls_of(run) : system_calls::unknown;
  return {seen, calls, stack_of(run)};
}

bool is_real_time(const findings& found, std::size_t bytes) {
  const counts& seen = found.seen;
  if (trapped && seen.allocations + seen.releases + seen.locks != 0) return false;
  if (found.calls == system_calls::some) return false;
  return !stack_is_meant || found.stack <= bytes + (optimized ? frames : unoptimized_frames);
}

void group(const char* name) { group_name = name; }

void report(const char* name, bool right, const char* why) {
  if (lines == 0) std::printf("TAP version 13\n");
  std::printf("%sok %d - %s: %s\n", right ? "" : "not ", ++lines, group_name, name);
  if (right) return;
  ++failures;
  std::fprintf(stderr, "%s: %s: %s\n", group_name, name, why);
}
void report_skipped(const char* name, const char* why) {
  if (lines == 0) std::printf("TAP version 13\n");
  std::printf("ok %d - %s: %s # SKIP %s\n", ++lines, group_name, name, why);
}
int finish() {
  std::printf("1..%d\n", lines);
  return failures == 0 && lines != 0 ? 0 : 1;
}

void check(const char* name, std::size_t bytes, const pass& run, threads used) {
  const findings found = look_at(run, used);
  char text[200];
  std::snprintf(text, sizeof text,
                "allocations %zu, releases %zu, locks %zu, system calls %s, stack %zu, of which "
                "workspace and results %zu",
                found.seen.allocations, found.seen.releases, found.seen.locks,
                found.calls == system_calls::some ? "some" : "none", found.stack, bytes);
  report(name, is_real_time(found, bytes), text);
  std::printf("# %s\n", text);
}

}  // namespace realtime
