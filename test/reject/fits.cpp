// SPDX-License-Identifier: BSL-1.0
// Models that are too big for a board (check.py).
#include <umbel/bare.hpp>

#include <umbel/inspect/fits.hpp>

using namespace umbel;
using namespace umbel::axes;

using layer = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, bias<true>,
                            norm_first<true>, activation<relu>>;
using small = linear<float, hidden<32>, classes<10>>;
using table = linear<float, hidden<64>, classes<1024>>;

struct needs_it_said {
  static constexpr call_footprint footprint =
      umbel::footprint<small, token<40>> + umbel::footprint<small, token<100>>;
};
struct no_board {
  static constexpr std::size_t ram = 1024;
};
struct board_of_an_object {
  std::size_t flash = 1024 * 1024, ram = 1024 * 1024;
};
struct board_half_of_an_object {
  static constexpr std::size_t flash = 1024 * 1024;
  std::size_t ram = 1024 * 1024;
};
struct board_of_variables {
  static std::size_t flash, ram;
};

#if defined CASE_fits_too_little_ram
// expect-gcc: "umbel: fits: the model needs 16800 bytes of RAM but the board microbit has 16384"
// expect-clang: fits, .*the_model_needs, .*<16800>, .*bytes_of_ram_but_the_board, .*microbit>, .*has, .*<16384>
// cause: The workspace, caches, arguments and results of the call need more RAM than the board has.
// cure: Use fewer positions, a narrower model or a larger board; `footprint` lists the parts of the sum. The stack also needs RAM.
constexpr bool ok = fits<board::microbit, small, token<100>>;
#elif defined CASE_fits_too_little_ram_for_all
// expect-gcc: "umbel: fits: the model needs 16800 bytes of RAM but the board microbit has 16384"
// expect-clang: fits, .*the_model_needs, .*<16800>, .*bytes_of_ram_but_the_board, .*microbit>, .*has, .*<16384>
// cause: The workspace, caches, arguments and results of the call need more RAM than the board has.
// cure: Use fewer positions, a narrower model or a larger board; `footprint` lists the parts of the sum. The stack also needs RAM.
constexpr bool ok = fits<board::microbit, needs_it_said>;
#elif defined CASE_fits_too_little_flash
// expect-gcc: "umbel: fits: the model needs 262144 bytes of flash but the board blue_pill has 65536"
// expect-clang: fits, .*the_model_needs, .*<262144>, .*bytes_of_flash_but_the_board, .*blue_pill>, .*has, .*<65536>
// cause: The weights and tables need more flash than the board has. The code also needs flash.
// cure: Store packed weights in 16 or 8 bits, `prepacked<layer, stored_as<bfloat16>>` or `stored_as<std::int8_t>`, or use a smaller model or a larger board.
constexpr bool ok = fits<board::blue_pill, table, token<1>>;
#elif defined CASE_fits_no_board
// expect-gcc: "umbel: fits: expects a board, with the constants flash and ram; then the arguments of footprint"
// expect-clang: fits, .*expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint
// cause: The first argument lacks `flash` and `ram`, or they are not constants.
// cure: Write `struct my_board { static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024; };`, or use one of `umbel::board`.
constexpr bool ok = fits<no_board, layer, token<12>>;
#elif defined CASE_fits_members_that_are_not_static
// expect-gcc: "umbel: fits: expects a board, with the constants flash and ram; then the arguments of footprint"
// expect-clang: fits, .*expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint
// cause: The first argument lacks `flash` and `ram`, or they are not constants.
// cure: Write `struct my_board { static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024; };`, or use one of `umbel::board`.
constexpr bool ok = fits<board_of_an_object, layer, token<12>>;
#elif defined CASE_fits_a_member_that_is_not_static
// expect-gcc: "umbel: fits: expects a board, with the constants flash and ram; then the arguments of footprint"
// expect-clang: fits, .*expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint
// cause: The first argument lacks `flash` and `ram`, or they are not constants.
// cure: Write `struct my_board { static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024; };`, or use one of `umbel::board`.
constexpr bool ok = fits<board_half_of_an_object, layer, token<12>>;
#elif defined CASE_fits_members_that_are_no_constants
// expect-gcc: "umbel: fits: expects a board, with the constants flash and ram; then the arguments of footprint"
// expect-clang: fits, .*expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint
// cause: The first argument lacks `flash` and `ram`, or they are not constants.
// cure: Write `struct my_board { static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024; };`, or use one of `umbel::board`.
constexpr bool ok = fits<board_of_variables, layer, token<12>>;
#elif defined CASE_fits_nothing
// expect-gcc: "umbel: fits: expects a board, with the constants flash and ram; then the arguments of footprint"
// expect-clang: fits, .*expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint
// cause: The first argument lacks `flash` and `ram`, or they are not constants.
// cure: Write `struct my_board { static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024; };`, or use one of `umbel::board`.
constexpr bool ok = fits<>;
#elif defined CASE_fits_no_model
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr bool ok = fits<board::microbit>;
#elif defined CASE_fits_a_board_as_model
// expect-gcc: "umbel: footprint: expects a layer, a cache or a formula; then the axes of a call, such as token<64>, or the types of its arguments"
// expect-clang: footprint.*expects_a_layer_a_cache_or_a_formula_then_the_axes_of_a_call_or_the_types_of_its_arguments
// cause: A footprint is that of a call: of a layer, of a formula, or of a step of a cache.
// cure: Name the layer, then the axes or the tensors of its call: `footprint<encoder, token<64>>`.
constexpr bool ok = fits<board::microbit, board::microbit_v2, layer, token<12>>;
#elif defined CASE_fits_the_board_last
// expect-gcc: "umbel: fits: expects a board, with the constants flash and ram; then the arguments of footprint"
// expect-clang: fits, .*expects_a_board_with_flash_and_ram_then_the_arguments_of_footprint
// cause: The first argument lacks `flash` and `ram`, or they are not constants.
// cure: Write `struct my_board { static constexpr std::size_t flash = 256 * 1024, ram = 16 * 1024; };`, or use one of `umbel::board`.
constexpr bool ok = fits<layer, board::microbit, token<12>>;
#elif defined CASE_fits_no_call
// expect-gcc: "umbel: shape: the axis hidden is named twice in \[hidden=32, hidden=32\]"
// expect-clang: shape, .*the_axis, .*hidden>, .*is_named_twice_in
// cause: An axis of the call is the feature axis of the layer, which the layer already knows.
// cure: Write the number of positions: `fits<board::microbit, layer, token<12>>`.
constexpr bool ok = fits<board::microbit, layer, hidden<32>>;
#else
struct part_of_it {
  static constexpr std::size_t flash = board::microbit::flash - 40 * 1024,
                               ram = board::microbit::ram - 1024;
};
struct by_enumerators {
  enum : std::size_t { flash = 64 * 1024, ram = 20 * 1024 };
};
constexpr bool ok = fits<by_enumerators, layer, token<12>> && fits<part_of_it, layer, token<12>> &&
                    fits<part_of_it, small, token<90>> && fits<board::microbit_v2, needs_it_said> &&
                    fits<board::arduino_zero, table, token<1>>;
#endif
static_assert(ok);
