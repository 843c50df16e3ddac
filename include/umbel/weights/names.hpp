// SPDX-License-Identifier: BSL-1.0
// The names and axis order of a model's parameters in a file: tables for load (load.hpp). Those of
// frameworks are ready-made (weights/torch.hpp ...); a custom one is an array:
//
//   constexpr parameter_name head[] = {
//       {"head.weight", "classifier.weight", out_in},   // nn.Linear: (out, in)
//       {"head.bias", "classifier.bias"},
//   };
//   load(w, file, at("encoder.*", "layers.*", names::torch_encoder_layer), head);
//
// * stands for a number, the same in both names, and ** at the end of both for any text. If a
// parameter has several rows, the first whose tensor is in the file counts. A row without a
// parameter, {nullptr, "h.*.attn.bias"}, leaves a tensor out on purpose.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <umbel/parameters/words.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(stored_axes, "stored_axes");
UMBEL_SAYS(in_of_and_out_of_expect_a_number_as_in_in_of_8_not,
           "in_of and out_of expect a number, as in in_of(8), not");
UMBEL_SAYS(part_of_expects_the_part_and_the_number_of_parts_so_write_part_of_0_3,
           "part_of expects the part, from 0, and the number of parts; write in_out.part_of(0, 3)");
UMBEL_SAYS(expects_an_array_so_write_constexpr_parameter_name_rows,
           "expects an array; write constexpr parameter_name rows[] = {...}");
}  // namespace detail

// The axes of a parameter in a file's tensor. Axes of size 1 don't count. out_then_in of a tensor
// of other axes: its last axis, the one before, then the others in their order, as PyTorch stores a
// convolution, (out, in, kernel), of kernel_size<3>, hidden<64>, channel<32>. last_first: the last
// axis, then the others, as it stores a depthwise one, (channel, 1, kernel).
struct stored_axes {
  enum orders : unsigned char { same, in_then_out, out_then_in, last_first };
  orders order = same;              // same: those of the parameter; a matrix must name another
  std::size_t in_heads = 0;         // in is split into heads and head_dim; 0: not split
  std::size_t out_heads = 0;        // the same for out
  std::size_t part = 0, parts = 1;  // out is one of this many equal parts of a larger tensor
  std::size_t kernel_rows = 0, kernel_columns = 0;  // in has these positions and, last, channels

  // (in, heads, head_dim), (heads, head_dim, out): as Keras and Flax store projections.
  [[nodiscard]] constexpr stored_axes in_of(std::size_t heads) const noexcept {
    stored_axes axes = *this;
    axes.in_heads = heads;
    return axes;
  }
  template <axis_like Axis>
  static constexpr stored_axes in_of(Axis) noexcept {
    using verdict =
        detail::verdict<detail::never<Axis>, detail::say::stored_axes,
                        detail::say::in_of_and_out_of_expect_a_number_as_in_in_of_8_not, Axis>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return {};
  }
  [[nodiscard]] constexpr stored_axes out_of(std::size_t heads) const noexcept {
    stored_axes axes = *this;
    axes.out_heads = heads;
    return axes;
  }
  template <axis_like Axis>
  static constexpr stored_axes out_of(Axis axis) noexcept {
    return in_of(axis);
  }
  // A linear map of windows of a sequence, kernel_of(3), or of an image, kernel_of(3, 3): (out,
  // channels, rows, columns) as PyTorch and ONNX store convolutions, or (rows, columns, channels,
  // out) as Keras and Flax do. in is merge<kernel_row, kernel_column, channel, in_features>.
  [[nodiscard]] constexpr stored_axes kernel_of(std::size_t rows = 0,
                                                std::size_t columns = 0) const noexcept {
    stored_axes axes = *this;
    axes.kernel_rows = rows;
    axes.kernel_columns = columns;
    return axes;
  }
  // The projections of queries, keys and values in one tensor: part 0, 1 and 2 of 3.
  [[nodiscard]] constexpr stored_axes part_of(std::size_t which, std::size_t of) const noexcept {
    stored_axes axes = *this;
    axes.part = which;
    axes.parts = of;
    return axes;
  }
  // Without the number of parts: refused.
  template <class... X>
    requires(sizeof...(X) != 2)
  constexpr stored_axes part_of(const X&...) const noexcept {
    using verdict = detail::verdict<
        detail::never<X...>, stored_axes,
        detail::say::part_of_expects_the_part_and_the_number_of_parts_so_write_part_of_0_3>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
    return *this;
  }
};
inline constexpr stored_axes as_they_are{};
inline constexpr stored_axes in_out{stored_axes::in_then_out};
inline constexpr stored_axes out_in{stored_axes::out_then_in};

namespace detail::rules {
template <class Path, class Name, class Order>
using row_of_names = first_error<
    argument<c_string<Path> || std::is_same_v<Path, std::nullptr_t>, say::parameter_name,
             say::expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, 1, Path>,
    argument<c_string<Name>, say::parameter_name,
             say::expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, 2, Name>,
    argument<std::is_convertible_v<Order, stored_axes>, say::parameter_name,
             say::expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, 3, Order>>;
}  // namespace detail::rules

// One row of a table: {"head.weight", "classifier.weight", out_in}.
//   "umbel: parameter_name: expects a path, a name in the file and, for a matrix, in_out or out_in,
//    but argument 2 is a null pointer"
//   "umbel: parameter_name: a row is empty; ..."
struct parameter_name {
  const char* parameter;  // its path; null: the tensor is not needed
  const char* tensor;     // its name in the file
  stored_axes axes{};

  constexpr parameter_name(const char* path, const char* name_in_file,
                           const stored_axes& order = {}) noexcept
      : parameter(path), tensor(name_in_file), axes(order) {}
  // Anything else, also the literal 0, which would be a null pointer: refused.
  template <class Path, class Name, class Order = stored_axes>
    requires(!detail::rules::row_of_names<Path, Name, Order>::ok)
  constexpr parameter_name(const Path&, const Name&, const Order& = {}) noexcept
      : parameter(nullptr), tensor("") {
    static_assert(detail::report<detail::rules::row_of_names<Path, Name, Order>>::ok,
                  "umbel: shapes do not fit");
  }
  // Two orders: refused.
  template <class Path, class Name, class X, class... More>
  constexpr parameter_name(const Path&, const Name&, const stored_axes&, const X&,
                           const More&...) noexcept
      : parameter(nullptr), tensor("") {
    using verdict = detail::rules::argument<
        detail::never<X>, detail::say::parameter_name,
        detail::say::expects_a_path_a_name_in_the_file_and_the_order_there_but_argument, 4, X>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
  template <class... None>
    requires(sizeof...(None) == 0)
  constexpr parameter_name(const None&...) noexcept : parameter(nullptr), tensor("") {
    using verdict =
        detail::verdict<detail::never<None...>, detail::say::parameter_name,
                        detail::say::a_row_is_empty_so_add_a_path_and_a_name_in_the_file>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
};

// A table, and the prefixes of its names.
struct parameter_names {
  const parameter_name* rows;
  std::size_t count;
  const char* parameter_prefix = "";
  const char* tensor_prefix = "";

  template <std::size_t Count>
  constexpr parameter_names(const parameter_name (&table)[Count]) noexcept
      : rows(table), count(Count) {}
  // One row, rows in braces, or a container of them: refused, the table must be an array.
  template <class X = parameter_name>
  constexpr parameter_names(const parameter_name&) noexcept : rows(nullptr), count(0) {
    no_array<X>();
  }
  template <class X = parameter_name>
  constexpr parameter_names(const parameter_name&, const parameter_name&) noexcept
      : rows(nullptr), count(0) {
    no_array<X>();
  }
  template <class Rows>
    requires requires(const Rows& of) { of.data(), of.size(); }
  constexpr explicit parameter_names(const Rows&) noexcept : rows(nullptr), count(0) {
    no_array<Rows>();
  }

 private:
  template <class X>
  static constexpr void no_array() noexcept {
    using verdict =
        detail::verdict<detail::never<X>, parameter_names,
                        detail::say::expects_an_array_so_write_constexpr_parameter_name_rows>;
    static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  }
};

namespace detail {
// The result of at: a table with prefixes.
struct names_of_part : parameter_names {};
template <class X>
concept table_of_names =
    std::is_convertible_v<const X&, parameter_names> && !std::is_same_v<X, parameter_name>;
}  // namespace detail
namespace detail::rules {
template <class... Arguments>
struct place_of_names {
  using type =
      verdict<false, say::at, say::expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_not,
              number<sizeof...(Arguments)>, say::arguments>;
};
template <class Parameter, class Tensor, class Names>
struct place_of_names<Parameter, Tensor, Names> {
  template <bool Ok, std::size_t Number, class X>
  using is = argument<Ok, say::at,
                      say::expects_a_path_in_w_a_path_in_the_file_and_a_table_of_names_but_argument,
                      Number, X>;
  using type = first_error<is<c_string<Parameter>, 1, Parameter>, is<c_string<Tensor>, 2, Tensor>,
                           is<table_of_names<Names>, 3, Names>,
                           verdict<!std::is_same_v<Names, names_of_part>, say::at,
                                   say::argument_3_is_at_so_write_one_at_with_whole_paths>>;
};
}  // namespace detail::rules

// The names of a table for a part of the model: at("encoder.*", "layers.*", table) turns its
// "norm1.gamma" and "norm1.weight" into "encoder.0.norm1.gamma" and "layers.0.norm1.weight". No dot
// follows a slash: at("", "block/attention/", names::keras_attention).
[[nodiscard]] constexpr detail::names_of_part at(const char* parameter, const char* tensor,
                                                 parameter_names names) noexcept {
  names.parameter_prefix = parameter;
  names.tensor_prefix = tensor;
  return {names};
}
// Other arguments are refused, also at(...) and the literal 0, which would be a null pointer:
//   "umbel: at: expects a path in w, a path in the file and a table of names, but argument 2 is
//    int"
template <class... Arguments>
  requires(!detail::rules::place_of_names<Arguments...>::type::ok)
constexpr detail::invalid at(const Arguments&...) noexcept {
  static_assert(detail::report<typename detail::rules::place_of_names<Arguments...>::type>::ok,
                "umbel: shapes do not fit");
  return {};
}

namespace names {
// For a file that save (save.hpp) wrote: the paths, with matrices (in, out).
inline constexpr parameter_name umbel[] = {{"**", "**", in_out}};
}  // namespace names

namespace detail {

// The values of the * in a pattern: numbers; for ** the rest of the text.
struct pattern_values {
  static constexpr std::size_t most = 4;
  std::size_t number[most]{};
  std::size_t count = 0;
  const char* rest = "";
};

// Is there a dot between a prefix and what follows it? Paths with slashes end in one.
constexpr bool needs_dot(const char* prefix, const char* pattern) noexcept {
  if (*prefix == '\0' || *pattern == '\0') return false;
  while (prefix[1] != '\0') ++prefix;
  return *prefix != '/';
}

// Text against a pattern in pieces: prefix, a dot if needed, the rest.
class pattern_match {
 public:
  constexpr explicit pattern_match(const char* text) noexcept : at_(text) {}
  constexpr bool matches(const char* prefix, const char* pattern) noexcept {
    return piece(prefix) && (!needs_dot(prefix, pattern) || piece(".")) && piece(pattern) &&
           *at_ == '\0';
  }
  // The same with ".*" after the prefix, to find out whether it was forgotten.
  constexpr bool matches_numbered(const char* prefix, const char* pattern) noexcept {
    return *prefix != '\0' && piece(prefix) && piece(".*") && (*pattern == '\0' || piece(".")) &&
           piece(pattern) && *at_ == '\0';
  }
  pattern_values values;

 private:
  constexpr bool piece(const char* pattern) noexcept {
    for (; *pattern != '\0'; ++pattern) {
      if (*pattern != '*') {
        if (*at_ != *pattern) return false;
        ++at_;
      } else if (pattern[1] == '*') {
        values.rest = at_;
        while (*at_ != '\0') ++at_;
        return true;
      } else if (!number()) {
        return false;
      }
    }
    return true;
  }
  constexpr bool number() noexcept {
    if (values.count == pattern_values::most || *at_ < '0' || *at_ > '9') return false;
    if (*at_ == '0' && at_[1] >= '0' && at_[1] <= '9') return false;  // "00" is another name
    std::size_t value = 0, digits = 0;
    for (; *at_ >= '0' && *at_ <= '9'; ++at_)
      if (++digits > 9)
        return false;
      else
        value = value * 10 + static_cast<std::size_t>(*at_ - '0');
    values.number[values.count++] = value;
    return true;
  }
  const char* at_;
};

// The name that a pattern makes with these numbers, zero-terminated; longer ones are cut off.
struct name_text {
  static constexpr std::size_t most = 255;
  char chars[most + 1]{};
  std::size_t size = 0;

  constexpr name_text() noexcept = default;
  constexpr name_text(const char* prefix, const char* pattern,
                      const pattern_values& values) noexcept {
    std::size_t used = 0;
    put(prefix, values, used);
    if (needs_dot(prefix, pattern)) put('.');
    put(pattern, values, used);
  }
  // With more text at its end.
  [[nodiscard]] constexpr name_text with(const char* suffix) const noexcept {
    name_text longer = *this;
    for (; *suffix != '\0'; ++suffix) longer.put(*suffix);
    return longer;
  }
  [[nodiscard]] friend constexpr bool operator==(const name_text& a, const char* b) noexcept {
    for (std::size_t i = 0; i <= a.size; ++i)
      if (a.chars[i] != b[i]) return false;
    return true;
  }

 private:
  constexpr void put(char c) noexcept {
    if (size < most) chars[size++] = c;
  }
  constexpr void put(const char* pattern, const pattern_values& values,
                     std::size_t& used) noexcept {
    for (; *pattern != '\0'; ++pattern) {
      if (*pattern != '*') {
        put(*pattern);
        continue;
      }
      if (pattern[1] == '*') {
        for (const char* c = values.rest; *c != '\0'; ++c) put(*c);
        return;
      }
      char digits[10]{};
      std::size_t count = 0, value = used < values.count ? values.number[used] : 0;
      ++used;
      do digits[count++] = static_cast<char>('0' + value % 10);
      while (value /= 10);
      while (count != 0) put(digits[--count]);
    }
  }
};

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
