// SPDX-License-Identifier: BSL-1.0
// safetensors_file: a file of named tensors in memory, as Hugging Face's safetensors writes it: 8
// bytes of length, a JSON header, the data (https://github.com/huggingface/safetensors#format). It
// refuses everything that the reference implementation refuses, and also duplicate names and
// unknown keys.
//
// A mapped file may change at any time, even after the check. So each tensor is checked again
// whenever it is parsed, after copying its numbers, and only the copy is used.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/json.hpp>
#include <umbel/file/listing.hpp>
#include <umbel/file/other_formats.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// A safetensors file in memory. The memory must outlive it.
class safetensors_file : public detail::tensor_listing<safetensors_file> {
 public:
  safetensors_file() = default;

  using detail::tensor_listing<safetensors_file>::tensor_listing;
  using detail::tensor_listing<safetensors_file>::in_memory;
  // Reads BOOL U8 I8 I16 I32 I64 F16 BF16 F32 F64 and lists tensors of other types. Refused: a
  // header of more than 100 MB, beyond the end of the file, not in UTF-8, or with anything outside
  // the format; a tensor whose bytes don't match its shape, or with more than
  // stored_tensor::max_rank axes; tensors or metadata texts with equal names; data bytes that
  // belong to two tensors or to none; more than 16384 tensors, or texts.
  [[nodiscard]] static file_result<safetensors_file> in_memory(const void* memory,
                                                               std::size_t bytes) noexcept {
    using detail::failure;
    constexpr std::size_t longest_header = 100'000'000;  // the reference implementation's limit
    const auto* const from = static_cast<const unsigned char*>(memory);
    if (bytes < 8)
      return failure(file_error::truncated, "safetensors: the file has ", std::uint64_t{bytes},
                     " bytes, fewer than the 8 bytes of its header's length");
    if (const char* const other = detail::other_format(from, bytes); other != nullptr)
      return failure(file_error::wrong_format, other);
    const auto length = detail::load_integer<std::uint64_t>(from);
    if (length > longest_header)
      return failure(file_error::too_large, "safetensors: the header claims ", length,
                     " bytes, more than the maximum of 100000000");
    if (length > bytes - 8)
      return failure(file_error::truncated, "safetensors: the header claims ", length,
                     " bytes but only ", std::uint64_t{bytes - 8}, " follow");
    safetensors_file file;
    file.header_ = from + 8;
    file.header_bytes_ = static_cast<std::size_t>(length);
    file.data_bytes_ = bytes - 8 - file.header_bytes_;
    if (const auto wrong = file.check(); wrong.code != file_error::none) return wrong;
    return file;
  }

  // A text of the header's __metadata__, such as "format"; empty if absent.
  [[nodiscard]] tensor_name metadata(const tensor_name& key) const noexcept {
    std::size_t cursor = texts_begin_;
    for (tensor_name name, text; next_text(cursor, name, text);)
      if (name == key) return text;
    return {};
  }

 private:
  friend detail::tensor_iterator<safetensors_file>;
  friend class tensor_file;

  struct step {
    enum kind_of { tensor, metadata, end, wrong } kind = end;
    detail::file_problem problem{};
    std::size_t position = 0;          // of the problem
    std::size_t begin = 0, count = 0;  // of the texts of the metadata
  };
  using range = detail::byte_range<std::uint64_t>;
  // A tensor's byte range, from the end of the header.
  struct offsets {
    std::uint64_t begin = 0, end = 0;
  };

  std::size_t first() const noexcept { return begin_; }
  bool next(std::size_t& cursor, stored_tensor& x) const noexcept {
    offsets data;
    std::uint64_t needed = 0;
    if (walk(cursor, x, data).kind == step::tensor && x.data != nullptr && count(x, needed) &&
        needed == x.bytes)
      return true;
    x = {};
    return false;
  }
  // The bytes that its shape needs, or has if its element size is unknown. False on overflow.
  static bool count(const stored_tensor& x, std::uint64_t& needed) noexcept {
    const bool is_known = x.type != stored_type::other;
    if (!detail::bytes_of_elements(x, is_known ? detail::bytes_of(x.type) : 1, needed))
      return false;
    if (!is_known) needed = x.bytes;
    return true;
  }

  static constexpr detail::file_problem malformed(const char* words) {
    return {file_error::malformed, words};
  }
  static detail::file_problem expect(detail::json_reader& json, char c, const char* words) {
    return json.take(c) ? detail::file_problem{} : malformed(words);
  }

  // Advances the cursor from before a key, its comma or the last brace to after it. The metadata
  // are skipped once their place is known. The data of x are null if the file lacks some of them.
  step walk(std::size_t& cursor, stored_tensor& x, offsets& data) const noexcept {
    if (header_ == nullptr) return {};
    if (metadata_end_ != 0 && cursor == metadata_begin_) cursor = metadata_end_;
    detail::json_reader json(header_, header_bytes_, cursor);
    if (json.take('}')) {
      if (json.at_end()) return {};
      return {step::wrong, malformed("text follows the last brace"), json.position()};
    }
    x = {};
    detail::file_problem wrong;
    if (cursor != begin_) wrong = expect(json, ',', "a comma or a brace expected");
    if (!wrong) wrong = json.string(x.name);
    if (!wrong) wrong = expect(json, ':', "a colon expected");
    const bool is_metadata = !wrong && x.name == "__metadata__";
    std::size_t begin = 0, count = 0;
    if (!wrong) wrong = is_metadata ? texts(json, begin, count) : tensor(json, x, data);
    cursor = json.position();
    if (wrong) return {step::wrong, wrong, cursor};
    if (!is_metadata && data.begin <= data.end && data.end <= data_bytes_) {
      x.data = header_ + header_bytes_ + data.begin;
      x.bytes = static_cast<std::size_t>(data.end - data.begin);
    }
    return {is_metadata ? step::metadata : step::tensor, {}, cursor, begin, count};
  }

  // {"name": "text", ...}: all of them. begin: the place of the first; count: their number.
  static detail::file_problem texts(detail::json_reader& json, std::size_t& begin,
                                    std::size_t& count) {
    if (auto wrong = expect(json, '{', "the metadata are not an object")) return wrong;
    begin = json.position();
    tensor_name name, text;
    for (count = 0; !json.take('}'); ++count)
      if (const auto wrong = one_text(json, count == 0, name, text)) return wrong;
    return {};
  }
  static detail::file_problem one_text(detail::json_reader& json, bool is_first, tensor_name& name,
                                       tensor_name& text) {
    detail::file_problem wrong;
    if (!is_first) wrong = expect(json, ',', "a comma or a brace expected");
    if (!wrong) wrong = json.string(name);
    if (!wrong) wrong = expect(json, ':', "a colon expected");
    if (!wrong) wrong = json.string(text);
    return wrong;
  }
  // Reads the text at the cursor and advances it; false at the end of the metadata.
  bool next_text(std::size_t& cursor, tensor_name& name, tensor_name& text) const noexcept {
    if (texts_begin_ == 0) return false;
    detail::json_reader json(header_, header_bytes_, cursor);
    if (json.take('}') || one_text(json, cursor == texts_begin_, name, text)) return false;
    cursor = json.position();
    return true;
  }

  // {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, each key once, in any order.
  static detail::file_problem tensor(detail::json_reader& json, stored_tensor& x, offsets& data) {
    if (auto wrong = expect(json, '{', "the value of a name is not an object")) return wrong;
    bool has_type = false, has_shape = false, has_offsets = false;
    for (bool begun = false; !json.take('}'); begun = true) {
      tensor_name key;
      detail::file_problem wrong;
      if (begun) wrong = expect(json, ',', "a comma or a brace expected");
      if (!wrong) wrong = json.string(key);
      if (!wrong) wrong = expect(json, ':', "a colon expected");
      if (wrong) return wrong;
      if (detail::is_new(key, "dtype", has_type))
        wrong = json.string(x.type_name);
      else if (detail::is_new(key, "shape", has_shape))
        wrong = shape(json, x);
      else if (detail::is_new(key, "data_offsets", has_offsets))
        wrong = pair(json, data);
      else
        wrong = malformed("a duplicate key, or one other than dtype, shape and data_offsets");
      if (wrong) return wrong;
    }
    if (!has_type || !has_shape || !has_offsets)
      return malformed("one of the keys dtype, shape and data_offsets is missing");
    x.type = type_of(x.type_name);
    return {};
  }

  static detail::file_problem shape(detail::json_reader& json, stored_tensor& x) {
    if (auto wrong = expect(json, '[', "the shape is not a list")) return wrong;
    while (!json.take(']')) {
      std::uint64_t extent = 0;
      detail::file_problem wrong;
      if (x.rank != 0) wrong = expect(json, ',', "a comma or a bracket expected");
      if (!wrong) wrong = json.integer(extent);
      if (!wrong && extent > SIZE_MAX) wrong = {file_error::too_large, "a number that overflows"};
      if (!wrong && x.rank == stored_tensor::max_rank)
        wrong = {file_error::too_large, "a tensor with more than 8 axes"};
      if (wrong) return wrong;
      x.extents[x.rank++] = static_cast<std::size_t>(extent);
    }
    return {};
  }
  static detail::file_problem pair(detail::json_reader& json, offsets& data) {
    auto wrong = expect(json, '[', "the data_offsets are not a list");
    if (!wrong) wrong = json.integer(data.begin);
    if (!wrong) wrong = expect(json, ',', "a comma expected");
    if (!wrong) wrong = json.integer(data.end);
    if (!wrong) wrong = expect(json, ']', "a bracket expected");
    return wrong;
  }

  static stored_type type_of(const tensor_name& name) {
    constexpr struct {
      const char* name;
      stored_type type;
    } types[] = {{"BOOL", stored_type::boolean}, {"U8", stored_type::uint8},
                 {"I8", stored_type::int8},      {"I16", stored_type::int16},
                 {"I32", stored_type::int32},    {"I64", stored_type::int64},
                 {"F16", stored_type::float16},  {"BF16", stored_type::bfloat16},
                 {"F32", stored_type::float32},  {"F64", stored_type::float64}};
    for (const auto& known : types)
      if (name == known.name) return known.type;
    return stored_type::other;
  }

  detail::file_failure check() noexcept {
    using detail::failure;
    const unsigned char* const end = header_ + header_bytes_;
    if (const auto* const wrong = detail::end_of_utf8(header_, end); wrong != end)
      return failure(file_error::malformed, "safetensors: the header is not UTF-8 at byte ",
                     static_cast<std::uint64_t>(wrong - header_));
    if (header_bytes_ == 0 || *header_ != '{')
      return failure(
          file_error::wrong_format,
          "safetensors: the header does not begin with a brace; this is not a safetensors file");
    begin_ = 1;
    order found;
    if (const auto wrong = check_tensors(found); wrong.code != file_error::none) return wrong;
    if (const auto wrong = check_bytes(found); wrong.code != file_error::none) return wrong;
    return check_names(found);
  }

  // The order of the tensors' bytes, as far as one walk can tell.
  struct order {
    std::size_t tensors = 0, texts = 0;
    std::uint64_t bytes = 0;  // of all tensors
    std::uint64_t end = 0;    // of the last one, in the data
    bool is_sorted = true;    // no tensor is before its predecessor
    range before;             // the previous one
    // In sorted data: the first that doesn't begin at the end of its predecessors.
    tensor_name apart;
    std::uint64_t apart_begin = 0, apart_end = 0;
    bool is_apart = false;

    void add(const tensor_name& name, std::uint64_t from, std::uint64_t to) noexcept {
      const range now{from, to};
      is_sorted = is_sorted && !(now < before);
      if (!is_apart && from != end) {
        is_apart = true;
        apart = name;
        apart_begin = from;
        apart_end = end;
      }
      before = now;
      bytes += to - from;  // no overflow: few tensors, each within the data
      end = to > end ? to : end;
      ++tensors;
    }
  };

  // Each by itself.
  detail::file_failure check_tensors(order& found) noexcept {
    using detail::failure;
    for (std::size_t cursor = begin_;;) {
      const std::size_t at = cursor;
      stored_tensor x;
      offsets data;
      const step what = walk(cursor, x, data);
      if (what.kind == step::end) return {};
      if (what.kind == step::wrong)
        return failure(what.problem.code, "safetensors: the header is malformed at byte ",
                       std::uint64_t{what.position}, ": ", what.problem.words);
      if (what.kind == step::metadata) {
        if (metadata_end_ != 0)
          return failure(file_error::duplicate, "safetensors: the header has __metadata__ twice");
        if (what.count > detail::most_tensors)
          return failure(file_error::too_large, "safetensors: the metadata have more than ",
                         std::uint64_t{detail::most_tensors}, " texts");
        metadata_begin_ = at;
        metadata_end_ = cursor;
        texts_begin_ = what.begin;
        found.texts = what.count;
        continue;
      }
      if (found.tensors == detail::most_tensors)
        return failure(file_error::too_large, "safetensors: the file has more than ",
                       std::uint64_t{detail::most_tensors}, " tensors");
      if (data.begin > data.end)
        return failure(file_error::malformed, "safetensors: the data of ", x.name,
                       " end before they begin");
      if (x.data == nullptr)
        return failure(file_error::truncated, "safetensors: the data of ", x.name, " end at byte ",
                       data.end, " but the file has only ", std::uint64_t{data_bytes_});
      std::uint64_t needed = 0;
      if (!count(x, needed))
        return failure(file_error::too_large, "safetensors: the shape of ", x.name, " overflows");
      if (needed != x.bytes)
        return failure(file_error::malformed, "safetensors: ", x.name, " needs ", needed,
                       " bytes for its shape but its data_offsets have ", std::uint64_t{x.bytes});
      found.add(x.name, data.begin, data.end);
    }
  }

  detail::file_failure check_bytes(const order& found) const noexcept {
    using detail::failure;
    const auto begins_apart = [](const tensor_name& name, std::uint64_t at, std::uint64_t end) {
      return failure(file_error::overlapping, "safetensors: the data of ", name, " begin at byte ",
                     at, " but those before end at ", end);
    };
    if (found.is_sorted && found.is_apart)
      return begins_apart(found.apart, found.apart_begin, found.apart_end);
    if (!found.is_sorted) {
      const auto both = !UMBEL_SMALL_CODE && data_bytes_ <= 0xffffffff
                            ? overlap<std::uint32_t>(found.tensors)
                            : overlap<std::size_t>(found.tensors);
      if (both.found) {
        tensor_name one, name;
        range of_one;
        for (std::size_t cursor = begin_; next_of(cursor, one, of_one);)
          if (of_one.begin == both.second.begin && of_one.end == both.second.end) name = one;
        return begins_apart(name, both.second.begin, both.first.end);
      }
    }
    if (found.bytes == data_bytes_) return {};
    if (found.bytes == found.end)
      return failure(file_error::overlapping, "safetensors: the last ", data_bytes_ - found.end,
                     " bytes of the file belong to no tensor");
    return failure(file_error::overlapping, "safetensors: ", data_bytes_ - found.bytes,
                   " bytes of the data belong to no tensor");
  }
  // Two ranges that share a byte.
  template <class U>
  detail::clash_found<range> overlap(std::size_t tensors) const noexcept {
    const auto found = detail::find_clash<detail::byte_range<U>>(
        tensors, begin_, [&](std::size_t& cursor, detail::byte_range<U>& item) {
          tensor_name name;
          range it;
          const bool more = next_of(cursor, name, it);
          item = {static_cast<U>(it.begin), static_cast<U>(it.end)};
          return more;
        });
    return {
        found.found, {found.first.begin, found.first.end}, {found.second.begin, found.second.end}};
  }
  bool next_of(std::size_t& cursor, tensor_name& name, range& bytes) const noexcept {
    stored_tensor x;
    if (!next(cursor, x)) return false;
    const auto begin = static_cast<std::uint64_t>(x.data - header_) - header_bytes_;
    name = x.name;
    bytes = {begin, begin + x.bytes};
    return true;
  }

  detail::file_failure check_names(const order& found) const noexcept {
    bool of_texts = false;
    const auto next_name = [&](std::size_t& cursor, tensor_name& name) {
      tensor_name text;
      range bytes;
      return of_texts ? next_text(cursor, name, text) : next_of(cursor, name, bytes);
    };
    detail::two_names both;
    if (detail::names_clash(found.tensors, begin_, next_name, both))
      return detail::failure_of(both, "safetensors", "two tensors have the name ");
    of_texts = true;
    if (detail::names_clash(found.texts, texts_begin_, next_name, both))
      return detail::failure_of(both, "safetensors", "two strings of the metadata have the name ");
    return {};
  }

  const unsigned char* header_ = nullptr;
  std::size_t header_bytes_ = 0, data_bytes_ = 0, begin_ = 0;
  std::size_t metadata_begin_ = 0, metadata_end_ = 0;  // the end is 0 if there are none
  std::size_t texts_begin_ = 0;                        // after their brace; 0 if there are none
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
