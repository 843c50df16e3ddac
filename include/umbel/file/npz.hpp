// SPDX-License-Identifier: BSL-1.0
// npz_file: a zip archive of .npy files in memory, as numpy.savez writes it. Stored members only:
// numpy.savez_compressed is refused. Reads the central directory, also of zip64.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (section numbers below)
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/crc32.hpp>
#include <umbel/file/listing.hpp>
#include <umbel/file/npy.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {

// A member: its line in the central directory (4.3.12).
struct zip_member {
  const unsigned char* name = nullptr;
  std::size_t name_bytes = 0;
  unsigned flags = 0, method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t compressed = 0, bytes = 0;  // its compressed size, and its size
  std::uint64_t header = 0;                 // offset of its local header (4.3.7)
};

// An archive: the range of its central directory, and its members.
class zip_archive {
 public:
  zip_archive() = default;
  constexpr zip_archive(const unsigned char* first, std::size_t bytes) noexcept
      : first_(first), bytes_(bytes) {}

  // Finds the central directory by the record at the end (4.3.16), or zip64's (4.3.14).
  constexpr file_problem open() {
    constexpr std::size_t record = 22, longest_comment = 0xffff;
    if (bytes_ < 2 || load<std::uint16_t>(0) != 0x4b50)  // PK
      return {file_error::wrong_format, "the file does not begin like a zip archive"};
    constexpr file_problem no_end{file_error::truncated,
                                  "the file does not end like a zip archive"};
    if (bytes_ < record) return no_end;
    std::size_t at = bytes_ - record;
    const std::size_t last = at > longest_comment ? at - longest_comment : 0;
    while (load<std::uint32_t>(at) != 0x06054b50 ||
           load<std::uint16_t>(at + 20) != bytes_ - record - at)
      if (at-- == last) return no_end;
    std::uint64_t disk = load<std::uint16_t>(at + 4), here = load<std::uint16_t>(at + 8);
    std::uint64_t count = load<std::uint16_t>(at + 10), size = load<std::uint32_t>(at + 12),
                  offset = load<std::uint32_t>(at + 16);
    std::uint64_t end = at;
    // With a zip64 locator (4.3.15), all numbers are in its record.
    if (at >= 20 && load<std::uint32_t>(at - 20) == 0x07064b50) {
      end = load<std::uint64_t>(at - 12);
      if (end > at - 20 || at - 20 - end < 56 || load<std::uint32_t>(end) != 0x06064b50 ||
          load<std::uint64_t>(end + 4) != at - 20 - end - 12)
        return {file_error::malformed, "its zip64 record is in the wrong place"};
      disk = load<std::uint32_t>(end + 16) | load<std::uint32_t>(end + 20);
      here = load<std::uint64_t>(end + 24);
      count = load<std::uint64_t>(end + 32);
      size = load<std::uint64_t>(end + 40);
      offset = load<std::uint64_t>(end + 48);
    }
    if (disk != 0 || here != count)
      return {file_error::unsupported, "it is one part of a multi-part archive"};
    if (count > most_tensors) return {file_error::too_large, "it has more than 16384 members"};
    if (offset > end || size != end - offset)
      return {file_error::malformed, "its central directory is in the wrong place"};
    directory_ = static_cast<std::size_t>(offset);
    end_ = static_cast<std::size_t>(end);
    count_ = static_cast<std::size_t>(count);
    return {};
  }

  [[nodiscard]] constexpr std::size_t count() const { return count_; }
  [[nodiscard]] constexpr std::size_t directory() const { return directory_; }
  [[nodiscard]] constexpr bool ends_at(std::size_t at) const { return at == end_; }
  [[nodiscard]] constexpr std::uint64_t offset_of(const unsigned char* data) const {
    return static_cast<std::uint64_t>(data - first_);
  }

  // Reads the member whose line is at `at` and advances `at`.
  constexpr file_problem member(std::size_t& at, zip_member& m) const {
    constexpr file_problem wrong{file_error::malformed, "its central directory is damaged"};
    constexpr std::size_t line = 46;
    if (end_ - at < line || load<std::uint32_t>(at) != 0x02014b50) return wrong;
    m.flags = load<std::uint16_t>(at + 8);
    m.method = load<std::uint16_t>(at + 10);
    m.crc32 = load<std::uint32_t>(at + 16);
    m.compressed = load<std::uint32_t>(at + 20);
    m.bytes = load<std::uint32_t>(at + 24);
    m.name_bytes = load<std::uint16_t>(at + 28);
    const std::size_t extra = load<std::uint16_t>(at + 30), comment = load<std::uint16_t>(at + 32);
    std::uint64_t disk = load<std::uint16_t>(at + 34);
    m.header = load<std::uint32_t>(at + 42);
    if (end_ - at - line < m.name_bytes + extra + comment) return wrong;
    m.name = first_ + at + line;
    at += line + m.name_bytes;
    if (!zip64_numbers(at, extra, m.bytes, m.compressed, m.header)) return wrong;
    at += extra + comment;
    // (A disk of 0xffff is in the extra field, and must be 0 there.)
    return disk == 0 || disk == 0xffff
               ? file_problem{}
               : file_problem{file_error::unsupported, "it is one part of a multi-part archive"};
  }

  // Finds the bytes of a stored member; its local header (4.3.7) must agree with the directory.
  constexpr file_problem stored_bytes(const zip_member& m, const unsigned char*& data) const {
    constexpr file_problem wrong{file_error::malformed,
                                 "differs in its own header and in the central directory"};
    constexpr std::size_t header = 30;
    if (m.header > directory_ || directory_ - m.header < header)
      return {file_error::malformed, "begins after its place in the archive"};
    const auto at = static_cast<std::size_t>(m.header);
    if (load<std::uint32_t>(at) != 0x04034b50 || load<std::uint16_t>(at + 6) != m.flags ||
        load<std::uint16_t>(at + 8) != m.method)
      return wrong;
    const std::size_t name = load<std::uint16_t>(at + 26), extra = load<std::uint16_t>(at + 28);
    if (directory_ - at - header < name + extra)
      return {file_error::malformed, "begins after its place in the archive"};
    const std::size_t start = at + header + name + extra;
    if (directory_ - start < m.bytes)
      return {file_error::truncated, "ends after its place in the archive"};
    if (name != m.name_bytes) return wrong;
    for (std::size_t i = 0; i < name; ++i)
      if (first_[at + header + i] != m.name[i]) return wrong;
    data = first_ + start;
    constexpr unsigned in_a_descriptor =
        8;  // CRC and sizes follow the data: the directory has them
    if ((m.flags & in_a_descriptor) != 0) return {};
    std::uint64_t compressed = load<std::uint32_t>(at + 18), bytes = load<std::uint32_t>(at + 22);
    std::uint64_t none = 0;
    if (!zip64_numbers(at + header + name, extra, bytes, compressed, none)) return wrong;
    return compressed == m.bytes && bytes == m.bytes && load<std::uint32_t>(at + 14) == m.crc32
               ? file_problem{}
               : wrong;
  }

 private:
  template <class U>
  constexpr U load(std::uint64_t at) const {
    return load_integer<U>(first_ + at);
  }

  // Numbers of all ones are in zip64's extra field (4.5.3), in this order.
  constexpr bool zip64_numbers(std::size_t at, std::size_t extra, std::uint64_t& bytes,
                               std::uint64_t& compressed, std::uint64_t& header) const {
    std::uint64_t* const numbers[] = {&bytes, &compressed, &header};
    bool found = false;
    while (extra >= 4) {
      const unsigned id = load<std::uint16_t>(at);
      std::size_t size = load<std::uint16_t>(at + 2);
      at += 4;
      extra -= 4;
      if (size > extra) return false;
      extra -= size;
      const std::size_t next = at + size;
      if (id == 1 && !found) {
        found = true;
        for (std::uint64_t* const number : numbers)
          if (*number == 0xffffffff && size >= 8) {
            *number = load<std::uint64_t>(at);
            at += 8;
            size -= 8;
          }
      }
      at = next;
    }
    return true;
  }

  const unsigned char* first_ = nullptr;
  std::size_t bytes_ = 0, directory_ = 0, end_ = 0, count_ = 0;
};

}  // namespace detail

// A numpy.savez archive in memory; tensors are named by the keyword arguments. The memory must
// outlive it.
class npz_file : public detail::tensor_listing<npz_file> {
 public:
  npz_file() = default;

  using detail::tensor_listing<npz_file>::tensor_listing;
  using detail::tensor_listing<npz_file>::in_memory;
  // Each member is a stored .npy, as for npy_file. Refused: compressed and encrypted members, other
  // files in the archive, two members with one name or the same bytes, members whose local header
  // disagrees with the directory. Bytes between members are not read. A member's CRC-32 is compared
  // when its tensor is read, so opening a file doesn't read all of it.
  [[nodiscard]] static file_result<npz_file> in_memory(const void* memory,
                                                       std::size_t bytes) noexcept {
    using detail::failure;
    npz_file file;
    file.archive_ = detail::zip_archive(static_cast<const unsigned char*>(memory), bytes);
    if (const auto wrong = file.archive_.open()) return failure(wrong.code, "npz: ", wrong.words);
    if (const auto wrong = file.check(); wrong.code != file_error::none) return wrong;
    return file;
  }

 private:
  friend detail::tensor_iterator<npz_file>;
  friend class tensor_file;

  std::size_t first() const noexcept { return archive_.directory(); }
  bool next(std::size_t& cursor, stored_tensor& x) const noexcept {
    detail::zip_member m;
    // (The check ensured that the members fill the directory.)
    if (cursor >= last_ || archive_.member(cursor, m)) return false;
    return tensor(m, x).code == file_error::none;
  }

  using range = detail::byte_range<std::uint64_t>;
  static tensor_name full_name(const detail::zip_member& m) { return {m.name, m.name_bytes}; }
  static bool is_npy(const detail::zip_member& m) {
    return m.name_bytes >= 4 && tensor_name(m.name + m.name_bytes - 4, 4) == ".npy";
  }

  detail::file_failure tensor(const detail::zip_member& m, stored_tensor& x) const noexcept {
    using detail::failure;
    const tensor_name name = full_name(m);
    x = {};
    x.name = tensor_name(m.name, m.name_bytes - (is_npy(m) ? 4 : 0));
    if (detail::end_of_utf8(m.name, m.name + m.name_bytes) != m.name + m.name_bytes)
      return failure(file_error::malformed, "npz: the name of a member is not UTF-8");
    if ((m.flags & 1) != 0) return failure(file_error::unsupported, "npz: ", name, " is encrypted");
    if (!is_npy(m))
      return failure(file_error::unsupported, "npz: the archive holds ", name,
                     ", which is not a .npy file; write the archive with np.savez");
    if (m.method == 8)
      return failure(file_error::unsupported, "npz: ", name,
                     " is compressed; write the file with np.savez, not savez_compressed");
    if (m.method != 0 || m.compressed != m.bytes)
      return failure(file_error::unsupported, "npz: ", name, " is not stored but has method ",
                     std::uint64_t{m.method});
    const unsigned char* data = nullptr;
    if (const auto wrong = archive_.stored_bytes(m, data))
      return failure(wrong.code, "npz: ", name, " ", wrong.words);
    const auto bytes = static_cast<std::size_t>(m.bytes);
    const auto wrong = detail::parse_npy("npz: ", data, bytes, x);
    x.checked = data;
    x.checked_bytes = bytes;
    x.checksum_of = [](const unsigned char* first, std::size_t count) {
      return detail::crc32(first, count);
    };
    x.checksum = m.crc32;
    return wrong;
  }

  // The whole directory, once.
  detail::file_failure check() noexcept {
    using detail::failure;
    std::size_t cursor = first();
    std::uint64_t end = 0;
    bool are_sorted = true;  // each member is after the previous one
    for (std::size_t i = 0; i < archive_.count(); ++i) {
      detail::zip_member m;
      stored_tensor x;
      if (const auto wrong = archive_.member(cursor, m))
        return failure(wrong.code, "npz: ", wrong.words);
      if (auto wrong = tensor(m, x); wrong.code != file_error::none) return wrong;
      const range bytes = range_of(m, x.checked);
      are_sorted = are_sorted && bytes.begin >= end;
      end = bytes.end;
    }
    last_ = cursor;
    if (!archive_.ends_at(cursor))
      return failure(file_error::malformed,
                     "npz: its central directory has data after its members");
    const auto next_name = [&](std::size_t& at, tensor_name& name) {
      detail::zip_member m;
      if (at >= last_ || archive_.member(at, m)) return false;
      name = full_name(m);
      return true;
    };
    detail::two_names both;
    if (detail::names_clash(archive_.count(), first(), next_name, both))
      return detail::failure_of(both, "npz", "two members have the name ");
    if (are_sorted) return {};
    const auto next_range = [&](std::size_t& at, range& bytes_of_one) {
      detail::zip_member m;
      const unsigned char* data = nullptr;
      if (at >= last_ || archive_.member(at, m) || archive_.stored_bytes(m, data)) return false;
      bytes_of_one = range_of(m, data);
      return true;
    };
    const auto overlap = detail::find_clash<range>(archive_.count(), first(), next_range);
    if (!overlap.found) return {};
    detail::zip_member m;
    for (std::size_t at = first(); at < last_ && !archive_.member(at, m);)
      if (m.header == overlap.second.begin) break;
    return failure(file_error::overlapping, "npz: ", full_name(m),
                   " begins within the member before it");
  }
  range range_of(const detail::zip_member& m, const unsigned char* data) const {
    return {m.header, archive_.offset_of(data) + m.bytes};
  }

  detail::zip_archive archive_;
  std::size_t last_ = 0;  // end of the central directory
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
