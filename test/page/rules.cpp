// SPDX-License-Identifier: BSL-1.0
// The conditions of the page's shapes (examples/page/shapes.cpp) against the library's rules: the
// same verdict, the same shape or the same sentence, of every combination here.
#include <cstdio>
#include <cstring>
#include <string>
#include <umbel/bare.hpp>
#include <utility>

#include "../../examples/page/shapes.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
namespace rules = umbel::detail::rules;
namespace algebra = umbel::detail::algebra;
using shapes::page::answer;
using shapes::page::named_size;

std::size_t compared = 0, refused = 0, wrong = 0;

template <class Axis>
named_size named() {
  named_size out{{}, Axis::size};
  umbel::detail::sentence_buffer name;
  umbel::detail::speak<typename Axis::family>::to(name);
  std::memcpy(out.name, name.chars, name.size);
  return out;
}
template <class... Axes>
shapes::page::shape as_values(umbel::detail::shape<Axes...>) {
  return {{named<Axes>()...}, sizeof...(Axes)};
}
template <class Shape>
std::string spoken() {
  umbel::detail::sentence_buffer out;
  umbel::detail::speak<Shape>::to(out);
  return {out.chars, out.size};
}

// Rule: the verdict. Result: a function that gives the shape's text, asked where it is accepted.
template <class Rule, class Result>
void compare(const answer& found, Result result) {
  std::string wanted;
  if constexpr (Rule::ok)
    wanted = result();
  else
    wanted = std::string{Rule::message.data(), Rule::message.size()};
  const std::string says{found.says.chars, found.says.size};
  ++compared;
  refused += !Rule::ok;
  if (found.fits == Rule::ok && says == wanted) return;
  if (++wrong <= 10) std::printf("# wanted: %s\n# found:  %s\n", wanted.c_str(), says.c_str());
}

template <class... Axes>
void form() {
  using rule = rules::well_formed<Axes...>;
  using axes = umbel::detail::shape<Axes...>;
  compare<rule>(well_formed(as_values(axes{})), [] { return spoken<axes>(); });
}

template <class Layout, template <std::size_t> class Axis, class Outer,
          template <std::size_t> class Inner>
void split_one() {
  using family = axis_family<Axis>;
  using rule = rules::split<Layout, family, Outer, Inner>;
  compare<rule>(
      shapes::page::split(as_values(typename Layout::axes{}), named<Axis<1>>().name, named<Outer>(),
                          named<Inner<1>>().name),
      [] {
        if constexpr (rule::ok) {
          constexpr std::size_t rest = Layout::template size_of<family> / Outer::size;
          return spoken<typename algebra::split<Layout, family, Outer, Inner<rest>>::axes>();
        } else {
          return std::string{};
        }
      });
}
// Sizes of the axis and of the outer part, each from the least.
template <std::size_t... N>
void split_all(std::index_sequence<N...>) {
  const auto into = []<std::size_t Size, std::size_t... Part>(std::index_sequence<Part...>) {
    using layout =
        umbel::detail::layout_with_axes<umbel::detail::shape<batch<2>, hidden<Size>, query<3>>>;
    (split_one<layout, hidden, heads<Part>, head_dim>(), ...);
    (split_one<layout, hidden, batch<Part>, head_dim>(), ...);
  };
  (into.template operator()<N + 1>(std::make_index_sequence<8>{}), ...);
}

template <class Layout, template <std::size_t> class... Axis>
void permute_one() {
  using rule = rules::permute<Layout, axis_family<Axis>...>;
  char names[sizeof...(Axis)][shapes::page::longest_name + 1];
  std::size_t n = 0;
  (std::strcpy(names[n++], named<Axis<1>>().name), ...);
  compare<rule>(shapes::page::permute(as_values(typename Layout::axes{}), names, n), [] {
    if constexpr (rule::ok)
      return spoken<typename algebra::permute<Layout, axis_family<Axis>...>::axes>();
    else
      return std::string{};
  });
}
// The last is the result.
template <class Layout, template <std::size_t> class... Axis>
void merge_one() {
  using rule = rules::merge_into_last<Layout, axis_family<Axis>...>;
  char names[sizeof...(Axis)][shapes::page::longest_name + 1];
  std::size_t n = 0;
  (std::strcpy(names[n++], named<Axis<1>>().name), ...);
  compare<rule>(
      shapes::page::merge(as_values(typename Layout::axes{}), names, n - 1, names[n - 1]), [] {
        if constexpr (rule::ok)
          return spoken<typename algebra::merge_into_last<Layout, axis_family<Axis>...>::axes>();
        else
          return std::string{};
      });
}

}  // namespace

int main() {
  form<batch<2>, key<6>>();
  form<batch<0>, key<6>>();
  form<batch<2>, key<6>, batch<3>>();
  form<batch<2>, key<0>, batch<3>>();
  form<hidden<npos / 2>, key<6>>();
  form<hidden<1>>();
  split_all(std::make_index_sequence<24>{});
  using three =
      umbel::detail::layout_with_axes<umbel::detail::shape<batch<2>, query<4>, hidden<6>>>;
  split_one<three, key, heads<2>, head_dim>();
  split_one<three, hidden, heads<2>, heads>();
  split_one<three, hidden, heads<2>, query>();
  split_one<three, hidden, hidden<2>, head_dim>();
  split_one<three, hidden, heads<2>, hidden>();
  split_one<three, hidden, heads<npos>, head_dim>();
  permute_one<three, batch, query, hidden>();
  permute_one<three, hidden, batch, query>();
  permute_one<three, hidden, batch>();
  permute_one<three, hidden, batch, hidden>();
  permute_one<three, hidden, batch, key>();
  permute_one<three, hidden, hidden>();
  permute_one<three, hidden, batch, query, hidden>();
  merge_one<three, batch, query, token>();
  merge_one<three, batch, query, hidden>();
  merge_one<three, batch, query, batch>();
  merge_one<three, query, batch, token>();
  merge_one<three, batch, hidden, token>();
  merge_one<three, batch, query, hidden, token>();
  merge_one<three, batch, key, token>();
  merge_one<three, batch, token>();
  merge_one<three, batch, batch, token>();
  merge_one<three, token>();

  std::printf(
      "TAP version 13\n%s 1 - %zu shapes, %zu of them refused: the verdict and the text of the "
      "library\n1..1\n",
      wrong == 0 ? "ok" : "not ok", compared, refused);
  return wrong == 0 ? 0 : 1;
}
