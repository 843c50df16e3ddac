// SPDX-License-Identifier: BSL-1.0
// Writes files of tensors to a sink, a callable with (const char*, std::size_t): tensors and views
// with any strides, row-major and little-endian in the file.
//
//   write_npy(to_file, weight);
//   write_safetensors(to_file, [&](auto put) {
//     put("q.weight", weight);
//     put("q.bias", bias);
//   });
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <umbel/file/crc32.hpp>
#include <umbel/file/fnv1a.hpp>
#include <umbel/file/result.hpp>
#include <umbel/file/write_names.hpp>
#include <umbel/file/write_rules.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

// Bytes for a sink, some hundred at once, the rest by flush(); counts them.
template <class Sink>
class byte_writer {
 public:
  constexpr explicit byte_writer(Sink& sink) : sink_(sink) {}
  constexpr byte_writer(const byte_writer&) = delete;
  constexpr byte_writer& operator=(const byte_writer&) = delete;

  constexpr void put(char c) {
    if (used_ == sizeof(chars_)) flush();
    chars_[used_++] = c;
    ++count_;
  }
  constexpr void put(const char* s) {
    while (*s) put(*s++);
  }
  template <class U>
  constexpr void integer(U value) {
    for (std::size_t i = 0; i < sizeof(U); ++i)
      put(static_cast<char>(static_cast<unsigned char>(value >> 8 * i)));
  }
  constexpr void decimal(std::uint64_t value) {
    char digits[20]{};
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while (value /= 10);
    while (count != 0) put(digits[--count]);
  }
  template <class X>
  constexpr void elements(const X& x) {
    using T = typename X::value_type;
    for (const T& element : x) {
      if constexpr (half<T>)
        integer(element.bits);
      else if constexpr (sizeof(T) == 8)
        integer(__builtin_bit_cast(std::uint64_t, element));
      else if constexpr (sizeof(T) == 4)
        integer(__builtin_bit_cast(std::uint32_t, element));
      else if constexpr (sizeof(T) == 2)
        integer(__builtin_bit_cast(std::uint16_t, element));
      else
        put(static_cast<char>(element));
    }
  }
  // "2, 3"
  template <class Layout>
  constexpr void extents() {
    for (std::size_t i = 0; i < Layout::rank; ++i) {
      if (i != 0) put(", ");
      decimal(Layout::extents[i]);
    }
  }
  constexpr void repeat(std::uint64_t count, char c) {
    while (count-- != 0) put(c);
  }
  [[nodiscard]] constexpr std::uint64_t count() const { return count_; }
  constexpr void flush() {
    if (used_ != 0) sink_(static_cast<const char*>(chars_), used_);
    used_ = 0;
  }

 private:
  Sink& sink_;
  char chars_[512]{};
  std::size_t used_ = 0;
  std::uint64_t count_ = 0;
};

// Instead of put_each, so that each mistake is one error: the walks are silent.
struct put_asserts {
  template <class... Given>
  constexpr void operator()(const Given&...) const {
    static_assert(report<typename rules::put_rule<Given...>::type>::ok, "umbel: shapes do not fit");
  }
};

struct no_sink {
  constexpr void operator()(const char*, std::size_t) const {}
};
struct crc32_sink {
  std::uint32_t crc = 0;
  void operator()(const char* text, std::size_t size) {
    crc = crc32(reinterpret_cast<const unsigned char*>(text), size, crc);
  }
};
struct fnv1a_sink {
  fnv1a sum;
  constexpr void operator()(const char* text, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) sum.add(static_cast<unsigned char>(text[i]));
  }
};

template <class X, class Out>
constexpr void put_npy_header(Out& out) {
  out.put("{'descr': '");
  out.put(type_names_of<typename X::value_type>().npy);
  out.put("', 'fortran_order': False, 'shape': (");
  out.template extents<layout_of<X>>();
  out.put(X::layout::rank == 1 ? ",), }" : "), }");
}

// Version 1.0; the array begins at a multiple of 64 bytes, as in numpy.
template <class X, class Out>
constexpr void put_npy(Out& out, const X& x) {
  constexpr std::size_t before = 10;
  no_sink nowhere;
  byte_writer<no_sink> counted(nowhere);
  put_npy_header<X>(counted);
  const std::size_t text = static_cast<std::size_t>(counted.count()) + 1;
  const std::size_t spaces = (64 - (before + text) % 64) % 64;
  out.put("\x93NUMPY\x01");
  out.put('\0');
  out.integer(static_cast<std::uint16_t>(text + spaces));
  put_npy_header<X>(out);
  out.repeat(spaces, ' ');
  out.put('\n');
  out.elements(x);
}

template <class Out>
constexpr void put_json(Out& out, const char* text) {
  out.put('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') {
      out.put('\\');
      out.put(*text);
    } else if (static_cast<unsigned char>(*text) < 0x20) {
      constexpr const char* digits = "0123456789abcdef";
      out.put("\\u00");
      out.put(digits[*text >> 4]);
      out.put(digits[*text & 15]);
    } else {
      out.put(*text);
    }
  }
  out.put('"');
}

template <class Each>
constexpr std::uint64_t sum_of_elements(const Each& each) {
  fnv1a_sink sink;
  byte_writer<fnv1a_sink> out(sink);
  for_each_put(each, [&]<class X>(const char*, const X& x) { out.elements(x); });
  out.flush();
  return sink.sum.value();
}

struct no_metadata {
  template <class Out>
  constexpr void operator()(Out&) const {}
};
// more(out): puts further texts of the metadata, each after a comma.
template <class Out, class Each, class More>
constexpr void put_safetensors_header(Out& out, std::uint64_t sum, const Each& each,
                                      const More& more) {
  std::uint64_t begin = 0;
  out.put("{\"__metadata__\":{\"checksum\":\"");
  for (unsigned i = 0; i < 16; ++i) out.put(hexadecimal_digit(sum, i));
  out.put('"');
  more(out);
  out.put('}');
  for_each_put(each, [&]<class X>(const char* name, const X& x) {
    using T = typename X::value_type;
    out.put(',');
    put_json(out, name);
    out.put(":{\"dtype\":\"");
    out.put(type_names_of<T>().safetensors);
    out.put("\",\"shape\":[");
    out.template extents<layout_of<X>>();
    out.put("],\"data_offsets\":[");
    out.decimal(begin);
    begin += std::uint64_t{x.size()} * sizeof(T);
    out.put(',');
    out.decimal(begin);
    out.put("]}");
  });
  out.put('}');
}

// The names have been checked.
template <class Sink, class Each, class More = no_metadata>
constexpr void put_safetensors(Sink& sink, const Each& each, const More& more = {}) {
  const std::uint64_t sum = sum_of_elements(each);
  no_sink nowhere;
  byte_writer<no_sink> counted(nowhere);
  put_safetensors_header(counted, sum, each, more);
  const std::uint64_t spaces = (8 - counted.count() % 8) % 8;  // aligns the data to 8 bytes
  byte_writer<Sink> out(sink);
  out.integer(counted.count() + spaces);
  put_safetensors_header(out, sum, each, more);
  out.repeat(spaces, ' ');
  for_each_put(each, [&]<class X>(const char*, const X& x) { out.elements(x); });
  out.flush();
}

// A member's header (APPNOTE.TXT 4.3.7) or, if central, its line in the directory (4.3.12): both
// have this part; the directory has more before and after it.
template <class Out>
void put_zip_header(Out& out, bool central, const char* name, std::uint32_t crc,
                    std::uint32_t bytes, std::uint32_t offset) {
  constexpr std::uint16_t version = 20, utf_8 = 1 << 11, stored = 0, midnight = 0,
                          first_of_1980 = 1 << 5 | 1;
  out.integer(central ? std::uint32_t{0x02014b50} : std::uint32_t{0x04034b50});
  if (central) out.integer(version);
  out.integer(version);
  out.integer(utf_8);
  out.integer(stored);
  out.integer(midnight);
  out.integer(first_of_1980);
  out.integer(crc);
  out.integer(bytes);
  out.integer(bytes);
  out.integer(static_cast<std::uint16_t>(__builtin_strlen(name) + 4));
  out.integer(std::uint16_t{0});
  if (central) {
    out.repeat(10, '\0');  // no comment, the first disk, no attributes
    out.integer(offset);
  }
  out.put(name);
  out.put(".npy");
}

struct zip_content {
  std::uint32_t crc;
  std::uint64_t bytes;
};
template <class X>
zip_content zip_content_of(const X& x) {
  crc32_sink sum;
  byte_writer<crc32_sink> out(sum);
  put_npy(out, x);
  out.flush();
  return {sum.crc, out.count()};
}

template <class Out, class Each>
file_result<> put_npz(Out& out, const Each& each) {
  std::uint64_t largest = 0, count = 0;
  for_each_put(each, [&]<class X>(const char* name, const X& x) {
    const zip_content content = zip_content_of(x);
    put_zip_header(out, false, name, content.crc, static_cast<std::uint32_t>(content.bytes), 0);
    put_npy(out, x);
    largest = out.count();
    ++count;
  });
  constexpr std::uint64_t limit = 0xffffffff;
  if (largest >= limit)
    return failure(file_error::too_large, "write_npz: the archive would reach 4 GiB");
  const std::uint64_t directory = out.count();
  std::uint64_t offset = 0;
  for_each_put(each, [&]<class X>(const char* name, const X& x) {
    const zip_content content = zip_content_of(x);
    put_zip_header(out, true, name, content.crc, static_cast<std::uint32_t>(content.bytes),
                   static_cast<std::uint32_t>(offset));
    offset += 30 + __builtin_strlen(name) + 4 + content.bytes;
  });
  const std::uint64_t end = out.count();
  out.integer(std::uint32_t{0x06054b50});
  out.integer(std::uint32_t{0});
  out.integer(static_cast<std::uint16_t>(count));
  out.integer(static_cast<std::uint16_t>(count));
  out.integer(static_cast<std::uint32_t>(end - directory));
  out.integer(static_cast<std::uint32_t>(directory));
  out.integer(std::uint16_t{0});
  return {};
}

}  // namespace detail

// One array, as numpy.save writes it: version 1.0. Exceptions of a sink, here and below, pass
// through; its return value is ignored. X: a tensor or view of float, double, float16, bfloat16
// (V2, as ml_dtypes writes it), bool, std::uint8_t, std::int8_t to std::int64_t.
template <class Sink, class X>
constexpr void write_npy(Sink&& sink, const X& x) {
  using word = detail::say::write_npy;
  using verdict =
      detail::first_error<detail::rules::sink_of_bytes<word, std::remove_reference_t<Sink>>,
                          detail::rules::written<word, X>>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok && detail::tensor_like<X>) {
    detail::byte_writer<std::remove_reference_t<Sink>> out(sink);
    detail::put_npy(out, x);
    out.flush();
  }
}

// Named tensors as safetensors, with the checksum of their bytes that verify_checksum compares.
// each(put) calls put("name", x) for every tensor, with the types of write_npy; it is called
// several times and must do the same each time. Names are UTF-8 and unique, and not "__metadata__".
// With other names, or more than 16384 tensors, nothing is written and the result has the reason.
// (In constant expressions names aren't checked.)
//   "umbel: write_safetensors: two tensors have the name q.weight"
//   "umbel: write_safetensors: a tensor cannot have the name __metadata__, which the format
//   reserves"
template <class Sink, class Each>
constexpr file_result<> write_safetensors(Sink&& sink, const Each& each) {
  using verdict = detail::rules::written_by<detail::say::write_safetensors,
                                            std::remove_reference_t<Sink>, Each>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    if (false) each(detail::put_asserts{});
    if (!__builtin_is_constant_evaluated())
      if (const auto wrong = detail::wrong_names({"write_safetensors", "__metadata__"}, each);
          wrong.code != file_error::none)
        return wrong;
    detail::put_safetensors(sink, each);
  }
  return {};
}

// Named tensors, as numpy.savez writes them; each as for write_safetensors, names of at most 65531
// bytes. If the archive would have 4 GiB: file_error::too_large and an incomplete archive.
template <class Sink, class Each>
file_result<> write_npz(Sink&& sink, const Each& each) {
  using verdict =
      detail::rules::written_by<detail::say::write_npz, std::remove_reference_t<Sink>, Each>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  if constexpr (verdict::ok) {
    if (false) each(detail::put_asserts{});
    if (const auto wrong = detail::wrong_names({"write_npz", nullptr, 0xffff - 4}, each);
        wrong.code != file_error::none)
      return wrong;
    detail::byte_writer<std::remove_reference_t<Sink>> out(sink);
    const file_result<> done = detail::put_npz(out, each);
    out.flush();
    return done;
  } else {
    return {};
  }
}
// write_npz(sink, "x", x): refused.
template <class Sink, class X, class... Given>
  requires(sizeof...(Given) > 0)
file_result<> write_npz(Sink&&, const X&, const Given&...) noexcept {
  using verdict = detail::rules::each_that_puts<detail::say::write_npz, X>;
  static_assert(detail::report<verdict>::ok, "umbel: shapes do not fit");
  return {};
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
