// SPDX-License-Identifier: BSL-1.0
// y = x W + b with packed weights, rows x in x out (rows = 1: a matrix times a vector, which is a
// matter of bandwidth). 2 rows in out operations.
#include <umbel/kernel/float/linear.hpp>

#include "../measure.hpp"

namespace {

// Maps of the same rows, one after the other. Stored: what weights are stored as. Note: it, for the
// name of the row.
template <std::size_t Rows, std::size_t In, std::size_t Out, class Stored = float,
          std::size_t Maps = 1,
          umbel::detail::plan::target Target = umbel::detail::plan::native_target>
void add(const std::string& note = "", const char* family = "linear/") {
  static constexpr umbel::detail::kernel::linear_shape shape = {Rows, In, Out, In, 1, Out, 1, true};
  alignas(64) static float x[Rows * In], w[In * Out], b[Out], y[Maps][Rows * Out];
  alignas(64) static Stored panels[Maps][umbel::detail::kernel::packed_size<shape, float, Target>];
  constexpr std::size_t of_outputs = umbel::detail::kernel::numbers_of_output<Stored, true> *
                                     umbel::detail::kernel::padded_features<Out, float, Target>;
  alignas(64) static float biases[Maps][of_outputs];
  bench::fill(x, 1);
  bench::fill(w, 0.1f);
  bench::fill(b, 1);
  for (std::size_t i = 0; i < Maps; ++i)
    umbel::detail::kernel::pack_linear<In, Out, true, float, Target>(w, b, panels[i], biases[i]);
  bench::add_row(
      bench::row_name(family, {Rows, Out, In}, 'x') + note, 2.0 * Rows * In * Out * Maps, [] {
        for (std::size_t i = 0; i < Maps; ++i)
          umbel::detail::kernel::linear_packed<shape, float, Target>(x, panels[i], biases[i], y[i]);
      });
}

// One row, its weights fetched ahead or not, whatever this core prefers (UMBEL_FETCH_AHEAD).
template <std::size_t In, std::size_t Out, class Stored = float>
void add_fetched(const std::string& stored = "") {
  constexpr auto with = [](bool ahead) {
    umbel::detail::plan::target target = umbel::detail::plan::native_target;
    target.fetch_ahead = ahead;
    return target;
  };
  add<1, In, Out, Stored, 1, with(true)>(stored + " ahead", "fetch/");
  add<1, In, Out, Stored, 1, with(false)>(stored + " not ahead", "fetch/");
}

// Query, key and value from the same rows: three maps, as a layer has them, or one of three times
// the width (docs/decisions/007).
template <std::size_t Rows, std::size_t In, std::size_t Out>
void add_projections() {
  add<Rows, In, Out, float, 3>(", three", "projections/");
  add<Rows, In, 3 * Out>(", one", "projections/");
}

// rows, in, out
const bool added = [] {
  add<16, 32, 32>();
  add<4, 100, 100>();
  add<32, 64, 64>();
  add<64, 64, 64>();
  add<32, 128, 128>();
  add<128, 256, 256>();
  add<128, 384, 384>();
  add<197, 192, 192>();
  add<1, 64, 64>();
  add<1, 256, 256>();
  add<1, 256, 256, umbel::bfloat16>(" bfloat16");
  add<1, 256, 256, umbel::float16>(" float16");
  add<1, 256, 256, std::int8_t>(" int8");
  add<1, 384, 384>();
  add<1, 384, 384, umbel::bfloat16>(" bfloat16");
  add<1, 384, 384, umbel::float16>(" float16");
  add<1, 384, 384, std::int8_t>(" int8");
  add<1, 1024, 1024>();
  add<1, 1024, 1024, umbel::bfloat16>(" bfloat16");
  add<1, 1024, 1024, umbel::float16>(" float16");
  add<1, 1024, 1024, std::int8_t>(" int8");
  add_fetched<384, 384>();
  add_fetched<512, 512>();
  add_fetched<1024, 1024>();
  add_fetched<1024, 1024, umbel::bfloat16>(" bfloat16");
  add_projections<16, 32, 32>();
  add_projections<4, 100, 100>();
  add_projections<32, 64, 64>();
  add_projections<49, 32, 32>();
  add_projections<64, 64, 64>();
  add_projections<128, 256, 256>();
  add_projections<128, 384, 384>();
  add_projections<197, 192, 192>();
  add_projections<1, 64, 64>();
  add_projections<1, 256, 256>();
  return true;
}();

}  // namespace
