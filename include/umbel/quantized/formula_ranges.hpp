// SPDX-License-Identifier: BSL-1.0
// The ranges of a formula's values, by name.
#pragma once

#include <cstddef>
#include <umbel/config.hpp>
#include <umbel/formula/named.hpp>
#include <umbel/formula/word_names.hpp>
#include <umbel/quantized/formula_plan.hpp>
#include <umbel/quantized/ranges.hpp>
#include <umbel/quantized/rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail::integers {

// The ranges, or histograms, of the values of a formula. Model: its integer_formula.
template <class Model>
struct names_of_values {
  static constexpr int count = Model::plan.ranges;
  struct text {
    char chars[64]{};
    std::size_t size = 0;
  };
  // The user's name, or the operation and its number: contraction_2.
  static constexpr auto texts = [] {
    struct {
      text of[static_cast<std::size_t>(count == 0 ? 1 : count)];
    } all{};
    constexpr const auto& plan = Model::plan;
    int numbers[256]{};
    for (int n = 0; n < plan.g.count; ++n) {
      const auto what = static_cast<std::size_t>(plan.at(n).what);
      const bool counted = plan.group[n] == n && plan.observed[n] != no_node;
      if (counted || plan.at(n).what == word::argument) ++numbers[what];
      if (plan.range[n] < 0) continue;
      text& to = all.of[plan.range[n]];
      const auto put = [&](const char* from) {
        for (; *from != '\0' && to.size + 1 < sizeof(to.chars); ++from)
          to.chars[to.size++] = *from == ' ' ? '_' : *from;
      };
      if (plan.at(n).has_label) {
        put(plan.at(n).label);
        continue;
      }
      put(plan.at(n).norm != norm_form::none ? "norm" : formulas::name_of(plan.at(n).what));
      char digits[8] = "_";
      int d = 1;
      if (numbers[what] > 9) digits[d++] = static_cast<char>('0' + numbers[what] / 10 % 10);
      digits[d++] = static_cast<char>('0' + numbers[what] % 10);
      put(digits);
    }
    return all;
  }();
  template <class Sequence>
  struct pointers;
  template <std::size_t... I>
  struct pointers<std::index_sequence<I...>> {
    static constexpr const char* all[] = {texts.of[I].chars...};
  };
  using all = pointers<std::make_index_sequence<static_cast<std::size_t>(count)>>;
  static constexpr bool is_same(const char* a, const char* b) noexcept {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  }
  static constexpr int find(const char* name) noexcept {
    int i = 0;
    while (i < count && !is_same(texts.of[i].chars, name)) ++i;
    return i;
  }
  static constexpr bool are_unique = [] {
    for (int i = 0; i < count; ++i)
      if (find(texts.of[i].chars) != i) return false;
    return true;
  }();
};
template <class Model, formulas::value_name Name>
struct no_value_of_the_formula_has_this_name;
template <class Model, formulas::value_name Name>
using no_such_value =
    verdict<false, say::quantized, no_value_of_the_formula_has_this_name<Model, Name>>;

template <class Model, class Range>
struct formula_ranges {
  using layer_name = say::quantized;
  using members_by_name = formula_ranges;
  using names = names_of_values<Model>;
  static constexpr std::size_t members = names::count;
  static constexpr const char* const (&part_names)[members] = names::all::all;
  template <std::size_t>
  using part = Range;
  Range values[members];

  template <std::size_t I>
  [[nodiscard]] constexpr Range& get() noexcept {
    return values[I];
  }
  template <std::size_t I>
  [[nodiscard]] constexpr const Range& get() const noexcept {
    return values[I];
  }
  // By name: seen.get<"scores">().
  template <formulas::value_name Name>
    requires(names::find(Name.chars) < names::count)
  [[nodiscard]] constexpr Range& get() noexcept {
    return values[names::find(Name.chars)];
  }
  template <formulas::value_name Name>
    requires(names::find(Name.chars) < names::count)
  [[nodiscard]] constexpr const Range& get() const noexcept {
    return values[names::find(Name.chars)];
  }
  template <formulas::value_name Name>
    requires(names::find(Name.chars) == names::count)
  [[nodiscard]] constexpr auto get() const noexcept {
    static_assert(report<no_such_value<Model, Name>>::ok, "umbel: shapes do not fit");
    return invalid{};
  }
  template <class F>
  constexpr auto with_all_members(F f) noexcept {
    return with_all(*this, f);
  }
  template <class F>
  constexpr auto with_all_members(F f) const noexcept {
    return with_all(*this, f);
  }

 private:
  template <class Self, class F>
  static constexpr auto with_all(Self& self, F& f) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(self.values[I]...);
    }(std::make_index_sequence<members>{});
  }
};

}  // namespace umbel::inline UMBEL_TARGET::detail::integers

namespace umbel::inline UMBEL_TARGET::detail {
template <class Model, formulas::value_name Name>
struct speak<integers::no_value_of_the_formula_has_this_name<Model, Name>> {
  static constexpr void to(sentence_buffer& out) {
    out.put("no value of the formula is named ");
    out.put(Name.chars);
    out.put("; the names are");
    const char* between = " ";
    for (const auto& name : integers::names_of_values<Model>::texts.of) {
      out.put(between);
      out.put(name.chars);
      between = ", ";
    }
  }
};
}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
