// SPDX-License-Identifier: BSL-1.0
// npy_file: one array as numpy.save writes it, versions 1, 2 and 3, in memory.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/listing.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

// The header's text, a Python dictionary with keys descr, fortran_order and shape in any order.
class npy_header {
 public:
  constexpr npy_header(const unsigned char* first, std::size_t bytes) noexcept
      : at_(first), end_(first + bytes) {}

  constexpr file_problem parse(stored_tensor& x) {
    const file_problem no_dictionary = malformed("its header is not a NumPy dictionary");
    bool has_type = false, has_order = false, has_shape = false, comma = true;
    if (!take('{')) return no_dictionary;
    while (!take('}')) {
      tensor_name key;
      if (!comma || !string(key) || !take(':')) return no_dictionary;
      file_problem wrong = malformed(
          "its header has a duplicate key, or one other than descr, fortran_order and shape");
      if (is_new(key, "descr", has_type)) wrong = type(x);
      if (is_new(key, "fortran_order", has_order)) wrong = order(x);
      if (is_new(key, "shape", has_shape)) wrong = shape(x);
      if (wrong) return wrong;
      comma = take(',');
    }
    if (!has_type || !has_order || !has_shape)
      return malformed("its header lacks one of the keys descr, fortran_order and shape");
    skip_space();
    return at_ == end_ ? file_problem{} : no_dictionary;
  }

 private:
  static constexpr file_problem malformed(const char* words) {
    return {file_error::malformed, words};
  }
  constexpr void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n')) ++at_;
  }
  constexpr bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  // In either kind of quotes; numpy writes no escapes.
  constexpr bool string(tensor_name& text) {
    skip_space();
    if (at_ == end_ || (*at_ != '\'' && *at_ != '"')) return false;
    const unsigned char quote = *at_++;
    const unsigned char* const first = at_;
    for (; at_ != end_ && *at_ != quote; ++at_)
      if (*at_ == '\\' || *at_ < 0x20 || *at_ > 0x7e) return false;
    if (at_ == end_) return false;
    text = tensor_name(first, static_cast<std::size_t>(at_++ - first));
    return true;
  }
  constexpr bool word(const char* text) {
    const unsigned char* at = at_;
    for (; *text; ++text, ++at)
      if (at == end_ || *at != *text) return false;
    at_ = at;
    return true;
  }

  constexpr file_problem type(stored_tensor& x) {
    skip_space();
    if (at_ != end_ && *at_ == '[')
      return {file_error::unsupported, "its elements are records, which are not supported"};
    if (!string(x.type_name)) return malformed("its descr is not a type in quotes");
    text_reader from = x.type_name.reader();
    const int byte_order = from.next(), kind = from.next(), digit = from.next();
    const bool known = byte_order == '<' || byte_order == '>' || byte_order == '|';
    // Types with more digits or a different byte order are only listed.
    if (!known || from.next() >= 0) return {};
    x.big_endian = byte_order == '>';
    x.type = type_of(kind, digit);
    const bool lacks_order = byte_order == '|' && bytes_of(x.type) > 1;
    // Two untyped bytes are ml_dtypes' bfloat16, which numpy has no type for.
    if (x.type == stored_type::bfloat16 ? x.big_endian : lacks_order) x.type = stored_type::other;
    return {};
  }
  static constexpr stored_type type_of(int kind, int digit) {
    constexpr struct {
      char kind, digit;
      stored_type type;
    } types[] = {{'b', '1', stored_type::boolean}, {'u', '1', stored_type::uint8},
                 {'i', '1', stored_type::int8},    {'i', '2', stored_type::int16},
                 {'i', '4', stored_type::int32},   {'i', '8', stored_type::int64},
                 {'f', '2', stored_type::float16}, {'V', '2', stored_type::bfloat16},
                 {'f', '4', stored_type::float32}, {'f', '8', stored_type::float64}};
    for (const auto& known : types)
      if (known.kind == kind && known.digit == digit) return known.type;
    return stored_type::other;
  }
  constexpr file_problem order(stored_tensor& x) {
    skip_space();
    x.fortran_order = word("True");
    if (x.fortran_order || word("False")) return {};
    return malformed("its fortran_order is not True or False");
  }
  // (), (3,) and (3, 4), and Python 2's (3L, 4L).
  constexpr file_problem shape(stored_tensor& x) {
    const file_problem no_tuple = malformed("its shape is not a tuple of sizes");
    if (!take('(')) return no_tuple;
    bool comma = true;
    while (!take(')')) {
      std::uint64_t extent = 0;
      if (!comma) return no_tuple;
      if (const auto wrong = number(extent)) return wrong;
      if (x.rank == stored_tensor::max_rank)
        return {file_error::too_large, "it has more than 8 axes"};
      x.extents[x.rank++] = static_cast<std::size_t>(extent);
      comma = take(',');
    }
    return x.rank == 1 && !comma ? no_tuple : file_problem{};
  }
  constexpr file_problem number(std::uint64_t& value) {
    constexpr file_problem too_large{file_error::too_large,
                                     "its shape has a number that overflows"};
    skip_space();
    const unsigned char* const first = at_;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_)
      if (!multiply(value, 10) || !add(value, *at_ - std::uint64_t{'0'})) return too_large;
    if (at_ == first || (*first == '0' && at_ - first > 1))
      return malformed("its shape is not a tuple of sizes");
    if (value > SIZE_MAX) return too_large;
    if (at_ != end_ && *at_ == 'L') ++at_;
    return {};
  }

  const unsigned char *at_, *end_;
};

// Parses an array of `bytes` bytes into x without its name. `subject` and name begin messages.
constexpr file_failure parse_npy(const char* subject, const unsigned char* from, std::size_t bytes,
                                 stored_tensor& x) {
  constexpr unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  const auto fail = [&](file_error code, const auto&... parts) {
    file_failure made = failure(code, subject);
    if (x.name.size() != 0) put_part(made.sentence, x.name);
    (put_part(made.sentence, parts), ...);
    return made;
  };
  for (std::size_t i = 0; i < sizeof(magic) && i < bytes; ++i)
    if (from[i] != magic[i])
      return fail(file_error::wrong_format, " does not begin like a .npy file");
  if (bytes < 12) return fail(file_error::truncated, " ends before the length of its header");
  const unsigned version = from[6];
  if (version < 1 || version > 3 || from[7] != 0)
    return fail(file_error::unsupported, " has version ", std::uint64_t{version}, ".",
                std::uint64_t{from[7]}, " of the format, not 1.0, 2.0 or 3.0");
  const std::size_t start = version == 1 ? 10 : 12;
  const std::size_t length =
      version == 1 ? load_integer<std::uint16_t>(from + 8) : load_integer<std::uint32_t>(from + 8);
  if (length > bytes - start)
    return fail(file_error::truncated, " declares a header of ", std::uint64_t{length},
                " bytes but only ", std::uint64_t{bytes - start}, " follow");
  if (const auto wrong = npy_header(from + start, length).parse(x))
    return fail(wrong.code, " cannot be read: ", wrong.words);
  x.data = from + start + length;
  x.bytes = bytes - start - length;
  const bool is_known = x.type != stored_type::other;  // else the element size is unknown
  std::uint64_t needed = 0;
  if (!bytes_of_elements(x, is_known ? bytes_of(x.type) : 1, needed))
    return fail(file_error::too_large, " cannot be read: its shape overflows");
  if (is_known && needed != x.bytes)
    return fail(needed > x.bytes ? file_error::truncated : file_error::malformed, " needs ", needed,
                " bytes for its shape but ", std::uint64_t{x.bytes}, " follow the header");
  return {};
}

}  // namespace detail

// A .npy file in memory: one unnamed array. The memory must outlive it.
class npy_file : public detail::tensor_listing<npy_file> {
 public:
  npy_file() = default;

  using detail::tensor_listing<npy_file>::tensor_listing;
  using detail::tensor_listing<npy_file>::in_memory;
  // Reads both element orders and byte orders, f2 f4 f8 i1 i2 i4 i8 u1 b1, and V2 as ml_dtypes'
  // bfloat16; at most stored_tensor::max_rank axes, and nothing after the array. Other element
  // types are listed but not read.
  [[nodiscard]] static file_result<npy_file> in_memory(const void* memory,
                                                       std::size_t bytes) noexcept {
    npy_file file;
    const auto failure = detail::parse_npy(
        "npy: the file", static_cast<const unsigned char*>(memory), bytes, file.tensor_);
    if (failure.code != file_error::none) return failure;
    return file;
  }

  [[nodiscard]] constexpr const stored_tensor& tensor() const noexcept UMBEL_LIFETIMEBOUND {
    return tensor_;
  }

 private:
  friend detail::tensor_iterator<npy_file>;
  friend class tensor_file;
  static constexpr std::size_t first() noexcept { return 0; }
  constexpr bool next(std::size_t& cursor, stored_tensor& x) const noexcept {
    if (cursor != 0 || tensor_.data == nullptr) return false;
    x = tensor_;
    cursor = 1;
    return true;
  }

  stored_tensor tensor_{};
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
