// SPDX-License-Identifier: BSL-1.0
// The dispatcher: makes inputs, masks and results, asks the processor, and runs every table that
// was linked and can run. A line a result: "<file> <what>: <hash>". Exit code 1 where weights of
// one file make another one's result differ, or sizes are not the same everywhere.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "shared.hpp"

namespace dispatch_test {

// Those that are not linked are null.
#define TABLES(X) \
  X(gcc_sse2)     \
  X(gcc_avx2) X(gcc_avx512) X(clang_sse2) X(clang_avx2) X(clang_avx512) X(haswell_avx2) X(native)
#define DECLARE(name) [[gnu::weak]] extern const table name;
TABLES(DECLARE)

namespace {

struct entry {
  const char* name;
  const table* made;
};
const entry entries[] = {
#define ENTRY(name) {#name, &name},
    TABLES(ENTRY)};

// By the end of its name: that of x86-64, x86-64-v3, x86-64-v4 or this machine.
bool supported(const char* name) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (std::strstr(name, "avx512") != nullptr) return avx512;
  if (std::strstr(name, "avx2") != nullptr) return avx2;
  return true;
}

// FNV-1a.
template <class X>
void print(const char* name, const char* what, const X& x) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : x) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  std::printf("%s %s: %016llx\n", name, what, static_cast<unsigned long long>(hash));
}

float by_distance(std::size_t b, std::size_t h, std::size_t query, std::size_t key) {
  return 0.125f * (static_cast<float>(query) - static_cast<float>(key)) +
         0.25f * static_cast<float>(b + h);
}

bool same_sizes(const table& a) {
  std::size_t i = 0;
  while (sizes_here[i] != 0 && a.sizes[i] == sizes_here[i]) ++i;
  return sizes_here[i] == a.sizes[i];
}

int failed(const char* name, const char* what) {
  std::printf("%s: %s\n", name, what);
  return 1;
}

void run(const table& with, const weights& w, const inputs& in, const masks& mask, results& r) {
  std::memset(&r, 0, sizeof r);
  r.plain = with.attend(w, in.x, causal);
  with.attend_views(w.attend, in.x, r.window, sliding_window<3>);
  const attention::weights& a = w.attend;
  with.attend_views(
      attention::weights_view{{view_as<in_features, out_features>(a.q.weight), a.q.bias},
                              {view_as<in_features, out_features>(a.k.weight), a.k.bias},
                              {view_as<in_features, out_features>(a.v.weight), a.v.bias},
                              {view_as<in_features, out_features>(a.o.weight), a.o.bias}},
      in.x, r.borrowed, sliding_window<3>);
  with.rest(w, in, mask, r);
}

int main_program() {
  static inputs in;
  std::uint32_t state = 7;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) * 0x1p-23f - 1;
  };
  for (float& e : in.x) e = 2 * next();
  for (float& e : in.y) e = next();
  for (float& e : in.q) e = next();
  for (float& e : in.bias) e = next();
  for (bool& e : in.keep) e = next() > -0.5f;
  in.lens = lengths{8, 5};

  static results r, again;
  static weights made[sizeof entries / sizeof *entries], none;
  static flags drop;
  for (std::size_t i = 0; i < B * N * N; ++i) drop.data()[i] = !in.keep.data()[i];
  const joint_mask joint =
      in.lens & causal_top_left & keep_mask(in.keep) & score_bias(in.bias) & dropout(0.25, 3);
  const owning_mask owning = causal_bottom_right(lengths{9, 4}) & alibi_bottom_right;
  const looking_mask looking = drop_mask(drop) & observe(r.seen);
  const looking_mask looking_again = drop_mask(drop) & observe(again.seen);
  const function_mask function = score_bias(&by_distance);
  const masks mask{joint, owning, looking, function},
      mask_again{joint, owning, looking_again, function};

  std::size_t count = 0;
  for (const auto& [name, with] : entries) {
    if (with == nullptr) continue;
    if (!same_sizes(*with)) return failed(name, "a type has another size than here");
    if (!supported(name)) {
      std::printf("%s is not for this processor\n", name);
      continue;
    }
    with->draw(made[count++]);
    if (std::memcmp(&made[count - 1], &made[0], sizeof none) != 0)
      return failed(name, "the weights that it draws differ");
  }
  if (count == 0 || std::memcmp(&made[0], &none, sizeof none) == 0)
    return failed("main", "nothing drawn");

  for (const auto& [name, with] : entries) {
    if (with == nullptr || !supported(name)) continue;
    run(*with, made[0], in, mask, r);
    for (std::size_t i = 1; i < count; ++i) {
      run(*with, made[i], in, mask_again, again);
      if (std::memcmp(&r, &again, sizeof r) != 0)
        return failed(name, "other results with the weights of another file");
    }
    std::printf("%s fused: %d, of %s\n", name, with->fused, with->target);
    print(name, "plain", r.plain);
    print(name, "joint mask", r.joint);
    print(name, "owning mask", r.owning);
    print(name, "window", r.window);
    print(name, "borrowed weights", r.borrowed);
    print(name, "observed", r.looking);
    print(name, "seen", r.seen);
    print(name, "bias by a function", r.function);
    print(name, "prepacked", r.packed);
    print(name, "additive", r.looked);
    print(name, "layer_norm", r.normed);
    print(name, "encoder_layer", r.blocks);
    print(name, "cache", r.steps);
    print(name, "linear", r.out);
    print(name, "softmax", r.weighed);
    if (std::memcmp(&r.joint, &r.packed, sizeof r.joint) != 0)
      return failed(name, "prepacked differs");
  }
  return 0;
}

}  // namespace
}  // namespace dispatch_test

int main() { return dispatch_test::main_program(); }
