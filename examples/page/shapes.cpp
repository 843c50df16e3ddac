// SPDX-License-Identifier: BSL-1.0
#include "shapes.hpp"

#include "exported.hpp"

namespace shapes::page {
namespace {

namespace rules = umbel::detail::rules;
namespace say = umbel::detail::say;
using umbel::npos;

// ---- sentences ----------------------------------------------------------------------------------
void put(text& out, const named_size& axis) noexcept {
  out.put(axis.name);
  out.put('=');
  out.put(axis.size);
}
void put(text& out, const shape& x) noexcept {
  out.put('[');
  for (std::size_t i = 0; i < x.rank; ++i) {
    out.put(i == 0 ? "" : ", ");
    put(out, x.axes[i]);
  }
  out.put(']');
}

// sentence<say::split>{}.word(axis).word<say::into>() ...
template <class Operation>
class sentence {
 public:
  template <class Word>
  sentence& word() noexcept {
    if constexpr (umbel::detail::starts_with_punctuation<Word>())
      umbel::detail::speak<Word>::to(says_);
    else
      umbel::detail::speak<Word>::to(after_space());
    return *this;
  }
  sentence& word(const char* name) noexcept { return after_space().put(name), *this; }
  sentence& word(std::size_t number) noexcept { return after_space().put(number), *this; }
  sentence& word(const named_size& axis) noexcept { return put(after_space(), axis), *this; }
  sentence& word(const shape& x) noexcept { return put(after_space(), x), *this; }
  operator answer() const noexcept { return {false, says_}; }

 private:
  text& after_space() noexcept { return says_.put(' '), says_; }
  text says_ = umbel::detail::compose<Operation>();
};

answer fits(const shape& x) noexcept {
  answer out{true, {}};
  put(out.says, x);
  return out;
}

// ---- conditions ---------------------------------------------------------------------------------
bool same(const char* a, const char* b) noexcept {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
std::size_t position(const shape& x, const char* axis) noexcept {
  for (std::size_t i = 0; i < x.rank; ++i)
    if (same(x.axes[i].name, axis)) return i;
  return npos;
}
bool has(const shape& x, const char* axis) noexcept { return position(x, axis) != npos; }
bool named_twice(const shape& x, const char* axis) noexcept {
  std::size_t times = 0;
  for (std::size_t i = 0; i < x.rank; ++i) times += same(x.axes[i].name, axis);
  return times > 1;
}
// rules::countable
bool countable(const shape& x) noexcept {
  std::size_t room = npos >> (sizeof(std::size_t) > 4 ? 13 : 4);
  for (std::size_t i = 0; i < x.rank; ++i) room /= x.axes[i].size != 0 ? x.axes[i].size : 1;
  return room != 0;
}

template <class Operation>
answer no_axis(const shape& x, const char* axis) noexcept {
  return sentence<Operation>{}
      .template word<rules::there_is_no_axis>()
      .word(axis)
      .template word<say::in>()
      .word(x);
}
template <class Operation>
answer not_new(const shape& x, const char* axis) noexcept {
  return sentence<Operation>{}.word(axis).template word<rules::is_already_an_axis_of>().word(x);
}
template <class Operation>
answer twice(const char* axis, const shape& list) noexcept {
  return sentence<Operation>{}
      .template word<say::the_axis>()
      .word(axis)
      .template word<rules::is_named_twice_in>()
      .word(list);
}

}  // namespace

answer well_formed(const shape& x) noexcept {
  for (std::size_t i = 0; i < x.rank; ++i)
    if (x.axes[i].size == 0)
      return sentence<say::shape>{}.word(x.axes[i]).word<rules::has_size_0_in>().word(x);
  for (std::size_t i = 0; i < x.rank; ++i)
    if (named_twice(x, x.axes[i].name)) return twice<say::shape>(x.axes[i].name, x);
  if (!countable(x))
    return sentence<say::shape>{}.word(x).word<rules::has_more_elements_than_memory_can_hold>();
  return fits(x);
}

answer split(const shape& x, const char* axis, const named_size& outer,
             const char* inner) noexcept {
  const std::size_t at = position(x, axis);
  if (at == npos) return no_axis<say::split>(x, axis);
  const shape parts{{outer}, 1};
  if (const answer given = well_formed(parts); !given.fits) return given;
  const std::size_t rest = x.axes[at].size % outer.size;
  if (rest != 0)
    return sentence<say::split>{}
        .word(x.axes[at])
        .word<say::into>()
        .word(outer)
        .word<say::leaves_a_remainder_of>()
        .word(rest);
  if (same(outer.name, inner)) return twice<say::split>(inner, parts);
  for (const char* added : {outer.name, inner})
    if (has(x, added) && !same(added, axis)) return not_new<say::split>(x, added);

  shape out = x;
  for (std::size_t i = out.rank++; i > at + 1; --i) out.axes[i] = out.axes[i - 1];
  named_size second{{}, x.axes[at].size / outer.size};
  for (std::size_t i = 0; inner[i] != 0; ++i) second.name[i] = inner[i];
  out.axes[at] = outer;
  out.axes[at + 1] = second;
  return fits(out);
}

answer merge(const shape& x, const char (*axes)[longest_name + 1], std::size_t count,
             const char* result) noexcept {
  if (count < 2)
    return sentence<say::merge>{}.word<say::expects_two_or_more_axes_then_the_name_of_the_result>();
  for (std::size_t i = 0; i < count; ++i)
    if (!has(x, axes[i])) return no_axis<say::merge>(x, axes[i]);
  const std::size_t at = position(x, axes[0]);
  shape listed;
  bool neighbours = true, removed = false;
  named_size merged{{}, 1};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = position(x, axes[i]);
    neighbours = neighbours && place == at + i;
    removed = removed || same(axes[i], result);
    listed.axes[listed.rank++] = x.axes[place];
    merged.size *= x.axes[place].size;
  }
  if (!neighbours)
    return sentence<say::merge>{}
        .word(listed)
        .word<rules::are_not_adjacent_in_this_order_in>()
        .word(x)
        .word<say::so_permute_them_together_then_contiguous>();
  if (has(x, result) && !removed) return not_new<say::merge>(x, result);

  for (std::size_t i = 0; result[i] != 0; ++i) merged.name[i] = result[i];
  shape out = x;
  out.axes[at] = merged;
  out.rank -= count - 1;
  for (std::size_t i = at + 1; i < out.rank; ++i) out.axes[i] = x.axes[i + count - 1];
  return fits(out);
}

answer permute(const shape& x, const char (*axes)[longest_name + 1], std::size_t count) noexcept {
  shape out;
  for (std::size_t i = 0; i < count; ++i) {
    if (!has(x, axes[i])) return no_axis<say::permute>(x, axes[i]);
    out.axes[out.rank++] = x.axes[position(x, axes[i])];
  }
  for (std::size_t i = 0; i < count; ++i)
    if (named_twice(out, axes[i])) return twice<say::permute>(axes[i], out);
  if (count != x.rank)
    return sentence<say::permute>{}
        .word<say::lists>()
        .word(count)
        .word<say::of_the>()
        .word(x.rank)
        .word<say::axes_of>()
        .word(x);
  return fits(out);
}

// ---- for JavaScript -----------------------------------------------------------------------------
//
// The page writes zero-terminated names, and sizes: first x's, then, from most_axes on, the
// operation's arguments. It doesn't ask about what doesn't fit.
namespace {

char names[2 * most_axes][longest_name + 1];
std::size_t sizes[2 * most_axes];
answer last;

named_size given(std::size_t i) noexcept {
  named_size axis{{}, sizes[i]};
  for (std::size_t c = 0; c < longest_name; ++c) axis.name[c] = names[i][c];
  return axis;
}

}  // namespace

EXPORTED("names") char* names_memory() noexcept { return names[0]; }
EXPORTED("sizes") std::size_t* sizes_memory() noexcept { return sizes; }
EXPORTED("text") const char* text_memory() noexcept { return last.says.chars; }

// 1: the text is a shape. 0: it is an error message. -1: no operation has that many arguments.
// operation: 0 none, 1 split, 2 merge, 3 permute, for a shape of `rank` axes.
EXPORTED("check")
int check(unsigned operation, std::size_t rank, std::size_t count) noexcept {
  if (operation > 3 || rank > most_axes || count > most_axes) return -1;
  for (auto& name : names) name[longest_name] = 0;
  shape x;
  for (; x.rank < rank; ++x.rank) x.axes[x.rank] = given(x.rank);
  last = well_formed(x);
  if (!last.fits || operation == 0) return last.fits;
  const auto* const arguments = names + most_axes;
  if (operation == 1) {
    if (count != 3) return -1;
    last = split(x, arguments[0], given(most_axes + 1), arguments[2]);
  } else if (operation == 2) {
    if (count == 0) return -1;
    last = merge(x, arguments, count - 1, arguments[count - 1]);
  } else {
    last = permute(x, arguments, count);
  }
  return last.fits;
}

}  // namespace shapes::page
