// SPDX-License-Identifier: BSL-1.0
// Two files of one program, this one compiled twice: with -DUMBEL_CHECK=1 it is `checked`, without
// it is `unchecked`, and has the main program. They pass each other what a program passes between
// its files; check.py links them in both orders and runs them.
#include <umbel/bare.hpp>

#include <cstdio>
#include <cstring>

using namespace umbel;
using namespace umbel::axes;

using rows = tensor<float, query<2>, hidden<3>>;
using attention = multi_head_attention<float, hidden<4>, heads<2>>;
using tokens = tensor<float, batch<2>, token<3>, hidden<4>>;
using workspace = attention::workspace<token<3>>;

// Every use of an inline function of the library that depends on UMBEL_CHECK. Position 4 is outside
// of hidden=3 and inside of the memory.
struct calls {
  float (*element)(const rows& x, int position);
  float (*by_name)(const view<const float, query<2>, hidden<3>>& x, int position);
  float (*selected)(const rows& x, int position);
  float (*looked_up)(const rows& x, int position);
  float (*attended)(const attention& attend, const tokens& x, workspace (&work)[2], int more);
};

extern const calls checked, unchecked;

#if UMBEL_CHECK
#define UMBEL_TEST_FILE checked
#else
#define UMBEL_TEST_FILE unchecked
#endif

// With more != 0, hands out one piece more than there are; for checked files only.
struct executor {
  static constexpr std::size_t workers = 2;
  int more;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const {
    for (std::size_t i = 0; i < count; ++i) piece(i, i % 2);
    if (more != 0) piece(count, std::size_t{0});
  }
};

const calls UMBEL_TEST_FILE = {
    [](const rows& x, int position) { return x(0, position); },
    [](const view<const float, query<2>, hidden<3>>& x, int position) {
      return x(at<hidden>(position), at<query>(0));
    },
    [](const rows& x, int position) { return (x | select_at<hidden>(position))(0); },
    // Unchecked, 4 reads nothing.
    [](const rows& x, int position) {
      const tensor<int, key<1>> ids{position};
      return lookup(x | select_at<query, 0>, ids)(0) + one_hot<hidden<3>>(ids)(0, 0) +
             static_cast<float>(position / 4 * 4);
    },
    [](const attention& attend, const tokens& x, workspace (&work)[2], int more) {
      tokens out;
      const executor two{more};
      attend.into(out, x, all_keys, parallel(two, work));
      return out(1, 2, 3);
    }};

#if !UMBEL_CHECK
// files WHICH WHAT POSITION
int main(int, char** arguments) {
  static attention::weights w{};
  static workspace work[2];
  const rows x{{0, 1, 2}, {3, 4, 5}};
  const tokens t{};
  const calls& file = std::strcmp(arguments[1], "checked") == 0 ? checked : unchecked;
  const int position = arguments[3][0] - '0';
  float result = -1;
  switch (arguments[2][0]) {
    case 'e':
      result = file.element(x, position);
      break;
    case 'n':
      result = file.by_name(x, position);
      break;
    case 's':
      result = file.selected(x, position);
      break;
    case 'l':
      result = file.looked_up(x, position);
      break;
    case 'a':
      result = file.attended(attention{w}, t, work, position);
      break;
    case 'h':
      set_check_handler([](const char* sentence) { std::printf("told: %s\n", sentence); });
      std::setvbuf(stdout, nullptr, _IONBF, 0);
      result = file.element(x, position);
      break;
  }
  std::printf("%g\n", static_cast<double>(result));
}
#endif
