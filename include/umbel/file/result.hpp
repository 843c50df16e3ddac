// SPDX-License-Identifier: BSL-1.0
// The results of functions that read files: a value, or a kind of error and a one-sentence message.
// Nothing throws or allocates.
//
//   const auto file = tensor_file::in_memory(bytes, size);
//   if (!file) return report(file.error());  // "umbel: npz: ... is compressed ..."
//   for (const stored_tensor& x : *file) ...
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/text.hpp>
#include <umbel/shape/words.hpp>
#include <umbel/tensor/check.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// The kinds of error.
enum class file_error : unsigned char {
  none,
  cannot_open,   // by the operating system
  wrong_format,  // its beginning or end doesn't match the format
  truncated,     // shorter than its header promises
  malformed,     // it breaks a rule of its format
  overlapping,   // two tensors share bytes, or bytes belong to none and the format forbids it
  duplicate,     // two tensors have the same name
  too_large,     // a number overflows or exceeds a limit of the reader
  checksum,      // the bytes have changed since they were written
  unsupported,   // valid, but not supported: compression, an element type
  not_found,     // no tensor has this name
  wrong_type,    // the elements can't be read as the requested type
  wrong_shape,   // the output has a different shape
  wrong_value,   // an integer doesn't fit the requested type
};

namespace detail {
namespace say {
struct file_result;
}  // namespace say
UMBEL_SAYS(has_a_code_so_compare_its_code, "has a code(); write result.code() ==");
UMBEL_SAYS(is_not_the_file_so_check_it_and_write_star_of_it,
           "is not the file; check it, if (!result) return, and write *result");
namespace rules {
template <class T>
using tensors_of_a_result =
    verdict<never<T>, say::file_result, say::is_not_the_file_so_check_it_and_write_star_of_it>;
}  // namespace rules

// The kind of an error and its description, for a message.
struct file_problem {
  file_error code = file_error::none;
  const char* words = nullptr;
  constexpr explicit operator bool() const noexcept { return code != file_error::none; }
};

// The kind of an error and its message; converts to any file_result.
struct file_failure {
  file_error code = file_error::none;
  sentence_buffer sentence{};
};

constexpr void put_part(sentence_buffer& out, const char* text) { out.put(text); }
constexpr void put_part(sentence_buffer& out, std::uint64_t value) {
  char digits[20]{};
  std::size_t count = 0;
  do digits[count++] = static_cast<char>('0' + value % 10);
  while (value /= 10);
  while (count != 0) out.put(digits[--count]);
}
// Names come from the file: control characters are replaced, so that no file can control a
// terminal, and long ones are cut.
constexpr void put_part(sentence_buffer& out, const tensor_name& name) {
  constexpr std::size_t most = 120;
  text_reader from = name.reader();
  for (std::size_t size = 0;; ++size) {
    int c = from.next();
    if (c < 0) return size == 0 ? out.put("the tensor without a name") : void();
    if (size >= most && (c & 0xc0) != 0x80) return out.put("...");
    bool control = c < 0x20 || c == 0x7f;
    if (c == 0xc2) {  // U+0080 to U+009F are also control characters
      c = from.next();
      control = c < 0xa0;
      if (!control) out.put('\xc2');
    }
    out.put(control ? '?' : static_cast<char>(c));
  }
}

// From the caller; treated like names.
struct file_path {
  const char* text;
};
constexpr void put_part(sentence_buffer& out, file_path path) {
  if (*path.text == '\0')
    out.put("the empty path");
  else
    put_part(out, tensor_name(path.text));
}

// failure(file_error::truncated, "npy: the file ends after ", size, " bytes")
template <class... Parts>
[[gnu::cold]] constexpr file_failure failure(file_error code, const Parts&... parts) {
  file_failure made;
  made.code = code;
  made.sentence.put("umbel: ");
  (put_part(made.sentence, parts), ...);
  return made;
}

// Members of all results.
class file_outcome {
 public:
  file_outcome() = default;
  constexpr file_outcome(const file_failure& failure) noexcept : failure_(failure) {}

  // Did it succeed? Also `if (r)`.
  [[nodiscard]] constexpr bool has_value() const noexcept {
    return failure_.code == file_error::none;
  }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  // The kind of error; file_error::none on success.
  [[nodiscard]] constexpr file_error code() const noexcept { return failure_.code; }
  // One line without a line end, valid as long as this object; empty on success.
  [[nodiscard]] constexpr const char* error() const noexcept { return failure_.sentence.chars; }
  // For a result of a different type: return r.failure();
  [[nodiscard]] constexpr const file_failure& failure() const noexcept { return failure_; }
  // result == file_error::not_found: refused.
  template <class X>
    requires std::is_same_v<X, file_error>
  friend constexpr bool operator==(const file_outcome&, X) noexcept {
    static_assert(report<verdict<never<X>, say::file_result, say::has_a_code_so_compare_its_code,
                                 element<X>>>::ok,
                  "umbel: shapes do not fit");
    return false;
  }

 private:
  file_failure failure_{};
};

}  // namespace detail

// A value of type T or an error; for void, success or an error. After an error, the caller's memory
// is unchanged.
template <class T = void>
class [[nodiscard]] file_result : public detail::file_outcome {
 public:
  constexpr file_result(T value) noexcept : value_(static_cast<T&&>(value)) {}
  constexpr file_result(const detail::file_failure& failure) noexcept
      : detail::file_outcome(failure) {}

  // *r, r->begin(): only on success. Otherwise a file without tensors or a tensor without elements,
  // or with UMBEL_CHECK=1 the program stops with the message.
  [[nodiscard]] constexpr const T& operator*() const& noexcept UMBEL_LIFETIMEBOUND {
    if (UMBEL_CHECK) stop_without_a_value();
    return value_;
  }
  [[nodiscard]] constexpr T operator*() && noexcept {
    if (UMBEL_CHECK) stop_without_a_value();
    return static_cast<T&&>(value_);
  }
  [[nodiscard]] constexpr const T* operator->() const noexcept UMBEL_LIFETIMEBOUND {
    if (UMBEL_CHECK) stop_without_a_value();
    return &value_;
  }
  // Always checked: without a value, the handler (check.hpp) receives the message and the program
  // stops.
  [[nodiscard]] constexpr const T& value() const noexcept UMBEL_LIFETIMEBOUND {
    stop_without_a_value();
    return value_;
  }
  // for (const stored_tensor& x : result): refused, a result is not the file.
  template <class Value = T>
  [[nodiscard]] constexpr auto begin() const noexcept {
    static_assert(detail::report<detail::rules::tensors_of_a_result<Value>>::ok,
                  "umbel: shapes do not fit");
    return nothing_or(value_, [](const auto& x) { return x.begin(); });
  }
  template <class Value = T>
  [[nodiscard]] constexpr auto end() const noexcept {
    return nothing_or(value_, [](const auto& x) { return x.end(); });
  }
  // result.read(...): refused as well. (Not find(), by which load knows a file.)
  template <class Value = T, class... X>
  detail::invalid read(const X&...) const noexcept {
    static_assert(detail::report<detail::rules::tensors_of_a_result<Value>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }

 private:
  template <class Value, class F>
  static constexpr auto nothing_or(const Value& value, const F& f) noexcept {
    if constexpr (requires { value.begin(); })
      return f(value);
    else
      return static_cast<const detail::invalid*>(nullptr);
  }
  constexpr void stop_without_a_value() const noexcept {
    if (!has_value()) detail::stop<(UMBEL_CHECK != 0)>(error());
  }

  T value_{};
};
template <>
class [[nodiscard]] file_result<void> : public detail::file_outcome {
 public:
  using detail::file_outcome::file_outcome;
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
