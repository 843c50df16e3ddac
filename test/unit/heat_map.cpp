// SPDX-License-Identifier: BSL-1.0
// Heat maps as text: small ones in full, labels that try to break out, sizes and orders of axes.
// That every SVG is XML and every cell has its colour: test/heat_map/check.py.
#include <boost/test/unit_test.hpp>
#include <umbel/umbel.hpp>

#include <umbel/inspect/heat_map.hpp>

#include <limits>
#include <string>

namespace {

using namespace umbel;
using namespace umbel::axes;

template <class X, class... Labels>
std::string drawn(const X& weights, const heat_map_options& options, const Labels&... labels) {
  std::string text;
  const auto sink = [&](const char* piece, std::size_t size) { text.append(piece, size); };
  attention_heat_map(weights, sink, options, labels...);
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
  return found;
}

constexpr auto ascii = heat_map_form::ascii;
constexpr auto terminal = heat_map_form::terminal;

using two_by_two = tensor<float, query<2>, key<2>>;

BOOST_AUTO_TEST_SUITE(heat_map)

BOOST_AUTO_TEST_CASE(ascii_in_full) {
  BOOST_TEST(drawn(two_by_two{0, 1, 0.5f, 0.25f}, {.form = ascii}) ==
             "query down, key across\n"
             "0    @@\n"
             "1  ++::\n"
             "   0 1\n"
             "\n"
             "weight: 0 [ .:-=+*#%@] 1\n");
}

BOOST_AUTO_TEST_CASE(terminal_in_full) {
  // Two queries a line, the upper one in front; colours are said when they change.
  const tensor<double, query<3>, key<2>> x{0, 0, 1, 1, 1, 0};
  BOOST_TEST(drawn(x, {.form = terminal, .legend = false}) ==
             "query down, key across\n"
             "0  \x1b[38;2;0;0;4m\x1b[48;2;252;255;164m\u2580\u2580\x1b[0m\n"
             "2  \x1b[38;2;252;255;164m\u2580\x1b[38;2;0;0;4m\u2580\x1b[0m\n"
             "   0\n"
             "\n");
}

BOOST_AUTO_TEST_CASE(svg_in_full) {
  BOOST_TEST(drawn(two_by_two{0, 1, 1, 1}, {.title = "T", .legend = false}) ==
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"umbel-heat-map\" width=\"93\" "
             "height=\"96\" viewBox=\"0 0 93 96\" role=\"img\" "
             "font-family=\"system-ui,sans-serif\" font-size=\"11\" fill=\"#44444c\">\n"
             "<title>T</title>\n"
             "<style>@media (prefers-color-scheme:dark){.umbel-heat-map{fill:#b8b8c2}"
             ".umbel-heat-map .back{fill:#1e1e23}}</style>\n"
             "<rect class=\"back\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
             "<g transform=\"translate(0 0)\">\n"
             "<g transform=\"translate(33 6) scale(24)\" shape-rendering=\"crispEdges\">\n"
             "<rect width=\"2\" height=\"2\" fill=\"#000004\"/>\n"
             "<path stroke=\"#fcffa4\" d=\"M1 0.5h1M0 1.5h2\"/>\n"
             "</g>\n"
             "<path stroke=\"#808088\" d=\"M29 18h3M29 42h3M45 55v3M69 55v3\"/>\n"
             "<g text-anchor=\"end\">\n"
             "<text x=\"27\" y=\"22\">0</text>\n"
             "<text x=\"27\" y=\"46\">1</text>\n"
             "</g>\n"
             "<g text-anchor=\"middle\">\n"
             "<text x=\"45\" y=\"71\">0</text>\n"
             "<text x=\"69\" y=\"71\">1</text>\n"
             "</g>\n"
             "<g text-anchor=\"middle\">\n"
             "<text x=\"57\" y=\"84\">key</text>\n"
             "<text transform=\"translate(12 30) rotate(-90)\">query</text>\n"
             "</g>\n"
             "</g>\n"
             "</svg>\n");
}

BOOST_AUTO_TEST_CASE(labels_cannot_break_out) {
  // Markup, quotes, an escape sequence, a control character of Latin-1 in UTF-8, bytes that are no
  // UTF-8 (cut short, a surrogate, too long), letters that are.
  const char* const hostile[4] = {"</svg><script>&\"", "\x1b[2J\n\xc2\x9b", "\xe2\x82",
                                  "\xed\xa0\x80\xc0\xafn\u00e4\u20ac\U0001f600"};
  const tensor<float, query<4>, key<4>> x{};
  const std::string svg = drawn(x, {.title = "a<b"}, hostile);
  BOOST_TEST(count(svg, "&lt;/svg&gt;&lt;script&gt;&amp;&quot;") == 2);
  BOOST_TEST(count(svg, "<script") == 0);
  BOOST_TEST(count(svg, "a&lt;b") == 1);
  BOOST_TEST(count(svg, ">\ufffd[2J\ufffd\ufffd<") == 2);
  BOOST_TEST(count(svg, ">\ufffd\ufffd<") == 2);
  BOOST_TEST(count(svg, ">\ufffd\ufffd\ufffd\ufffd\ufffdn\u00e4\u20ac\U0001f600<") == 2);

  const std::string lines = drawn(x, {.form = terminal, .legend = false}, hostile);
  BOOST_TEST(count(lines, "[2J") == 1);
  BOOST_TEST(count(lines, "\x1b[2J") == 0);
  BOOST_TEST(count(lines, "\xc2\x9b") == 0);
  const std::string plain = drawn(x, {.form = ascii}, hostile);
  for (const char c : plain) BOOST_TEST((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

BOOST_AUTO_TEST_CASE(labels_of_both_axes) {
  const char* const words[2] = {"le", nullptr};
  const char* const others[3] = {"the", "black", "c"};
  const tensor<float, query<2>, key<3>> x{1, 0, 0, 0, 1, 1};
  BOOST_TEST(drawn(x, {.form = ascii, .legend = false}, words, others) ==
             "query down, key across\n"
             "le  @@    \n"
             " 1    @@@@\n"
             "    t b c \n"
             "    h l   \n"
             "    e a   \n"
             "      c   \n"
             "      k   \n"
             "\n");
}

// Numbers that stand in for labels go down as labels do: keys from 10 and from 100 on keep their
// columns.
BOOST_AUTO_TEST_CASE(labels_that_are_missing) {
  const char* const words[1] = {"q"};
  const char* none[112] = {};
  none[110] = "ab";
  const tensor<float, query<1>, key<112>> x{};
  const std::string text = drawn(x, {.form = ascii, .legend = false}, words, none);
  const std::string first = "   0 1 2 3 4 5 6 7 8 9 1 1 1", last = " 1 1 a 1 \n";
  BOOST_TEST(count(text, first) == 1);
  BOOST_TEST(count(text, last) == 1);
  std::size_t begin = text.find('\n') + 1;  // after the caption
  for (int line = 0; line < 4; ++line) {
    const std::size_t end = text.find('\n', begin);
    BOOST_TEST(end - begin == 3 + 2 * 112u);
    begin = end + 1;
  }
}

BOOST_AUTO_TEST_CASE(any_order_of_axes_and_any_strides) {
  tensor<float, batch<2>, heads<3>, query<4>, key<5>> x{};
  std::size_t i = 0;
  for (float& f : x) f = static_cast<float>(i++ * 37 % 120) / 120;
  const tensor<float, key<5>, heads<3>, batch<2>, query<4>> turned =
      contiguous(x | permute<key, heads, batch, query>);
  for (const auto form : {heat_map_form::svg, heat_map_form::html, terminal, ascii}) {
    const std::string text = drawn(x, {.form = form});
    BOOST_TEST(text == drawn(turned, {.form = form}));
    BOOST_TEST(text == drawn(x | permute<query, key, batch, heads>, {.form = form}));
    BOOST_TEST(count(text, "batch 1, head 2") == 1);
    BOOST_TEST(count(text, "batch ") == 6);
  }
  const auto one = x | select_at<batch, 1> | select_at<heads, 2>;
  const std::string all = drawn(x, {.form = ascii, .legend = false});
  const std::string last = drawn(one, {.form = ascii, .legend = false});
  BOOST_TEST(all.ends_with(last));
  BOOST_TEST(count(drawn(x | select_at<heads, 0>, {.form = ascii}), "batch 1: query") == 1);
}

BOOST_AUTO_TEST_CASE(the_scale) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const tensor<float, query<1>, key<6>> odd{nan, infinite, -infinite, -1, 2, 0.05f};
  constexpr heat_map_options plain{.form = ascii, .legend = false};
  BOOST_TEST(count(drawn(odd, plain), "0  ??@@    @@  \n") == 1);
  auto changed = plain;
  changed.top = 4;
  BOOST_TEST(count(drawn(odd, changed), "0  ??@@    ++  \n") == 1);
  changed.root = 2;  // sqrt(2 / 4) and sqrt(0.05 / 4)
  BOOST_TEST(count(drawn(odd, changed), "0  ??@@    ##..\n") == 1);
  changed = plain;
  changed.by_row = true;
  const tensor<float, query<3>, key<2>> rows{0.1f, 0.05f, 0, 0, 1, 0.5f};
  BOOST_TEST(count(drawn(rows, changed), "@@++\n") == 2);
  changed.top = nan;  // not used by row; elsewhere 1
  BOOST_TEST(count(drawn(rows, changed), "@@++\n") == 2);
  changed.by_row = false;
  BOOST_TEST(count(drawn(rows, changed), "@@++\n") == 1);

  // Numbers of the legend are values, also where a root chooses the colour.
  const std::string legend = drawn(rows, {.top = 0.5, .root = 3});
  for (const char* number : {">0<", ">0.00781<", ">0.0625<", ">0.211<", ">0.5<"})
    BOOST_TEST(count(legend, number) >= 1);
  BOOST_TEST(count(drawn(rows, {.by_row = true}), "weight, of the largest in its row") == 1);
}

BOOST_AUTO_TEST_CASE(colours_get_lighter) {
  double before = -1;
  for (std::size_t i = 0; i <= 1000; ++i) {
    const detail::heat_rgb c = heat_colour(static_cast<double>(i) / 1000);
    const double light = 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
    BOOST_TEST(light > before - 0.7);  // rounding to whole numbers
    before = light;
  }
  BOOST_TEST(int{heat_colour(-3).blue} == 4);
  BOOST_TEST(int{heat_colour(9).green} == 255);
  BOOST_TEST(int{heat_colour(std::numeric_limits<double>::quiet_NaN()).red} == 0);
}

BOOST_AUTO_TEST_CASE(ticks_of_long_axes) {
  static tensor<float, query<130>, key<1>> x{};
  const std::string svg = drawn(x, {});
  BOOST_TEST(count(svg, ">120</text>") == 1);
  BOOST_TEST(count(svg, ">121</text>") == 0);
  BOOST_TEST(count(drawn(x, {.tick = 7}), ">126</text>") == 1);
  static tensor<float, query<1>, key<1000>> wide{};
  const std::string ones = drawn(wide, {.cell = 1});
  BOOST_TEST(count(ones, ">950</text>") == 1);
  BOOST_TEST(count(ones, ">40</text>") == 0);
}

// Also while compiling.
constexpr std::size_t length_in_the_compiler = [] {
  std::size_t length = 0;
  attention_heat_map(two_by_two{0, 1, 1, 1}, [&](const char*, std::size_t n) { length += n; });
  return length;
}();
BOOST_AUTO_TEST_CASE(in_the_compiler) {
  BOOST_TEST(drawn(two_by_two{0, 1, 1, 1}, {}).size() == length_in_the_compiler);
}

static_assert(heat_mappable<two_by_two>);
static_assert(heat_mappable<tensor<double, key<3>, heads<2>, query<2>, batch<1>>>);
static_assert(!heat_mappable<tensor<float, key<3>, hidden<2>>>);
static_assert(!heat_mappable<tensor<float, key<3>, query<2>, hidden<2>>>);
static_assert(!heat_mappable<tensor<int, key<3>, query<2>>>);
static_assert(!heat_mappable<int>);

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
