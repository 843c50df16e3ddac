// SPDX-License-Identifier: BSL-1.0
// Every layer once, for the target that this file is compiled for. Nothing of this file's own is
// shared: but for TABLE all is of internal linkage, and no function of the standard library is
// used.
#include "shared.hpp"

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

namespace dispatch_test {
namespace {

// Numbers in [-1, 1), the same in every file.
struct generator {
  unsigned state = 1;
  float operator()() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
};
template <class T>
void draw_all(generator& next, T& x, float scale) {
  static_assert(sizeof(T) % sizeof(float) == 0 && alignof(T) == alignof(float));
  auto* const to = reinterpret_cast<float*>(&x);
  for (std::size_t i = 0; i < sizeof(T) / sizeof(float); ++i) to[i] = scale * next();
}

void draw(weights& w) {
  generator next;
  draw_all(next, w, 0.375f);
}

tokens attend(const weights& w, const tokens& x, plain_mask mask) {
  return attention{w.attend}(x, mask);
}

void attend_views(attention::weights_view w, view<const float, batch<B>, token<N>, hidden<M>> x,
                  view<float, batch<B>, token<N>, hidden<M>> out, window_mask mask) {
  static attention::workspace<token<N>> work;
  attention{w}.into(out, x, mask, work);
}

void rest(const weights& w, const inputs& in, const masks& mask, results& r) {
  const attention layer{w.attend};
  r.joint = layer(in.x, mask.joint);
  r.owning = layer(in.x, mask.owning);
  r.looking = layer(in.x, mask.looking);
  r.function = layer(in.x, mask.function);

  static prepacked<attention> packed{w.attend};
  packed = prepacked<attention>{w.attend};
  static attention::workspace<token<N>> work;
  packed.into(r.packed, in.x, mask.joint, work);

  r.looked = cross{w.look}(in.q, in.y, in.y, in.lens);
  r.normed = norm{w.scale}(in.x);
  r.blocks = prepacked<encoder>{w.block}(in.x, in.lens);
  r.out = map{w.out}(in.x);
  r.weighed = softmax<classes>(r.out * 2.0f);

  static key_value_cache<rotary, key<N>, batch<B>, stored_as<bfloat16>> past;
  past.reset();
  const prepacked<rotary, stored_as<float16>> step{w.step};
  for (std::size_t t = 0; t < N; ++t) {
    tensor<float, batch<B>, token<1>, hidden<M>> now, out;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < M; ++i) now(b, 0, i) = in.x(b, t, i);
    if (!past.step(out, step, now)) return;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < M; ++i) r.steps(b, t, i) = out(b, 0, i);
  }
}

}  // namespace

extern const table TABLE;
const table TABLE{TEXT(UMBEL_TARGET), UMBEL_FMA == 1, sizes_here, draw, attend, attend_views, rest};

}  // namespace dispatch_test
