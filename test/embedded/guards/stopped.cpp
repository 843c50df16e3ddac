// SPDX-License-Identifier: BSL-1.0
// What must not get onto a board, a program each; the comments say who stops it and in which words
// (guards.py).
#include <cstddef>
#include <cstdint>

#include "../../bare/semihosting.hpp"

static volatile float number;
static volatile std::size_t count;
static char* volatile somewhere;

#if defined CASE_malloc
// linker: undefined reference to `malloc'
// bounds: heap \(malloc\)
extern "C" void* malloc(std::size_t);
int main() { return malloc(count) == nullptr; }

#elif defined CASE_new
// linker: undefined reference to `operator new\[\]\(unsigned int\)'
// bounds: heap \(_Znaj\)
int main() {
  somewhere = new char[count];
  return 0;
}

#elif defined CASE_throw
// compiler: exception handling disabled
// flags: -fexceptions
// bounds: exceptions \(__cxa_throw\)
int main() {
  if (count == 3) throw 1;
  return 0;
}

#elif defined CASE_typeid
// compiler: cannot use 'typeid' with '-fno-rtti'
// flags: -frtti
// bounds: RTTI \(_ZTI
#include <typeinfo>
struct base {
  virtual int f() const { return 1; }
};
struct derived : base {
  int f() const override { return 2; }
};
static constexpr derived object;
static const base* volatile some;
int main() {
  some = &object;
  return typeid(*some) == typeid(base);
}

#elif defined CASE_dynamic_cast
// compiler: 'dynamic_cast' not permitted with '-fno-rtti'
// flags: -frtti
// bounds: RTTI \(__dynamic_cast\)
struct base {
  virtual int f() const { return 1; }
};
struct derived : base {
  int f() const override { return 2; }
};
static constexpr base object;
static const base* volatile some;
int main() {
  some = &object;
  return dynamic_cast<const derived*>(some) != nullptr;
}

#elif defined CASE_sinf
// linker: undefined reference to `sinf'
// bounds: libm \(sinf\)
extern "C" float sinf(float);
int main() { return sinf(number) > 2; }

#elif defined CASE_expf
// linker: undefined reference to `expf'
// bounds: libm \(expf\)
extern "C" float expf(float);
int main() { return expf(number) < 2; }

#elif defined CASE_printf
// linker: undefined reference to `printf'
// bounds: standard I/O \(printf\)
extern "C" int printf(const char*, ...);
int main() { return printf("%d", 3); }

#elif defined CASE_double
// bounds: double arithmetic \(
int main() { return static_cast<int>(static_cast<double>(number) * 1.1); }

#elif defined CASE_boost
// compiler: boost/version.hpp: No such file
#include <boost/version.hpp>
int main() { return BOOST_VERSION; }

#elif defined CASE_initialised_at_run_time
// linker: a variable is initialized at run time: make it constinit
static const float half = number / 2;
int main() { return half > 1; }

#elif defined CASE_weights_that_are_no_constants
// linker: a variable has a value at the start, which takes flash and RAM: make it constant
static float weights[3] = {1, 2, 3};
int main() {
  for (std::size_t i = 0; i < 3; ++i) weights[i] *= number;
  return weights[1] > 4;
}

#elif defined CASE_too_big_for_the_board
// linker: region `ram' overflowed by \d+ bytes
static volatile float work[40000];
int main() { return work[count] > 1; }

#elif defined CASE_too_many_weights_for_the_board
// linker: region `flash' overflowed by \d+ bytes
static const volatile float weights[300000] = {1, 2, 3};
int main() { return weights[count] > 1; }

#elif defined CASE_recursion
// stack: recursion: .*deeper.* -> .*deeper
[[gnu::noinline]] static std::size_t deeper(std::size_t left) {
  volatile std::size_t here = left;
  return left == 0 ? 0 : deeper(left - 1) + here;
}
int main() { return deeper(count) == 7; }

#elif defined CASE_frame_of_unknown_size
// stack: a frame of unknown size in main
int main() {
  somewhere = static_cast<char*>(__builtin_alloca(count));
  return 0;
}

#elif defined CASE_call_through_a_pointer
// stack: a call through a pointer in main
static int one() { return 1; }
static int (*volatile function)();
int main() {
  function = one;
  return function() - 1;
}

#elif defined CASE_stack_overflow
// run: 70, Bail out! a fault
[[gnu::noinline]] static std::size_t deeper(std::size_t left) {
  volatile std::size_t here = left;
  return left == 0 ? 0 : deeper(left - 1) + here;
}
int main() {
  count = 10000;
  return deeper(count) == 0;
}

#elif defined CASE_stack_used_up
// run: 70, Bail out! a fault
extern "C" std::uint32_t stack_bottom[];
int main() {
  stack_bottom[0] = 1;
  return 0;
}

#elif defined CASE_trap
// run: 70, Bail out! a fault
int main() { __builtin_trap(); }

#elif defined CASE_fails
// run: 3, # stack
int main() { return 3; }

#else
int main() { return 0; }
#endif
