// SPDX-License-Identifier: BSL-1.0
// safetensors_file: a file of named tensors as Hugging Face's safetensors writes it, in memory.
// https://github.com/huggingface/safetensors#format: 8 bytes of length, a header of JSON, the data.
// What the reference implementation refuses is refused here, and what it leaves open: names that
// are there twice, keys that the format does not have.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/json.hpp>
#include <umbel/file/listing.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

// A safetensors file in memory. The memory must outlive it.
class safetensors_file : public detail::tensor_listing<safetensors_file> {
 public:
  safetensors_file() = default;

  using detail::tensor_listing<safetensors_file>::in_memory;
  // BOOL U8 I8 I16 I32 I64 F16 BF16 F32 F64 are read, tensors of other types are listed. Refused:
  // a header of more than 100 MB or beyond the end of the file, not in UTF-8, or with anything that
  // the format does not have; a tensor whose bytes are not those of its shape, of more than
  // stored_tensor::max_rank axes; tensors with one name; bytes of the data that belong to two
  // tensors or to none; more than 16384 tensors.
  [[nodiscard]] static file_result<safetensors_file> in_memory(const void* memory,
                                                               std::size_t bytes) noexcept {
    using detail::failure;
    constexpr std::size_t longest_header = 100'000'000;  // as the reference implementation has it
    const auto* const from = static_cast<const unsigned char*>(memory);
    if (bytes < 8)
      return failure(file_error::truncated, "safetensors: the file has ", std::uint64_t{bytes},
                     " bytes, not even the 8 of the length of its header");
    const auto length = detail::load_integer<std::uint64_t>(from);
    if (length > longest_header)
      return failure(file_error::too_large, "safetensors: the header claims ", length,
                     " bytes, and more than 100000000 are not read");
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

  // A text of the header's __metadata__, "format" or the like; empty where there is none.
  [[nodiscard]] tensor_name metadata(const tensor_name& key) const noexcept {
    tensor_name value;
    if (metadata_end_ == 0) return value;
    detail::json_reader json(header_, header_bytes_, metadata_begin_);
    static_cast<void>(json.take(','));  // not before the first key
    static_cast<void>(json.string(value));
    static_cast<void>(json.take(':'));
    value = {};
    static_cast<void>(texts(json, &key, &value));
    return value;
  }

 private:
  friend detail::tensor_iterator<safetensors_file>;
  friend class tensor_file;

  // What one key of the header is.
  struct step {
    enum kind_of { tensor, metadata, end, wrong } kind = end;
    detail::file_problem problem{};
    std::size_t position = 0;  // of the problem
  };
  // Of a tensor's bytes, from the end of the header.
  struct offsets {
    std::uint64_t begin = 0, end = 0;
  };

  std::size_t first() const noexcept { return begin_; }
  bool next(std::size_t& cursor, stored_tensor& x) const noexcept {
    offsets data;
    return walk(cursor, x, data).kind == step::tensor;
  }

  static constexpr detail::file_problem malformed(const char* words) {
    return {file_error::malformed, words};
  }
  static detail::file_problem expect(detail::json_reader& json, char c, const char* words) {
    return json.take(c) ? detail::file_problem{} : malformed(words);
  }

  // From the cursor, which is before a key, its comma or the last brace, to behind it. The metadata
  // are skipped once it is known where they are. The data of x are null where the file has not all
  // of them.
  step walk(std::size_t& cursor, stored_tensor& x, offsets& data) const noexcept {
    if (header_ == nullptr) return {};
    if (metadata_end_ != 0 && cursor == metadata_begin_) cursor = metadata_end_;
    detail::json_reader json(header_, header_bytes_, cursor);
    if (json.take('}')) {
      if (json.at_end()) return {};
      return {step::wrong, malformed("something follows the last brace"), json.position()};
    }
    x = {};
    detail::file_problem wrong;
    if (cursor != begin_) wrong = expect(json, ',', "a comma or a brace expected");
    if (!wrong) wrong = json.string(x.name);
    if (!wrong) wrong = expect(json, ':', "a colon expected");
    const bool is_metadata = !wrong && x.name == "__metadata__";
    if (!wrong) wrong = is_metadata ? texts(json) : tensor(json, x, data);
    cursor = json.position();
    if (wrong) return {step::wrong, wrong, cursor};
    if (!is_metadata && data.begin <= data.end && data.end <= data_bytes_) {
      x.data = header_ + header_bytes_ + data.begin;
      x.bytes = static_cast<std::size_t>(data.end - data.begin);
    }
    return {is_metadata ? step::metadata : step::tensor, {}, cursor};
  }

  // {"name": "text", ...}; the text of `key` into `value`.
  static detail::file_problem texts(detail::json_reader& json, const tensor_name* key = nullptr,
                                    tensor_name* value = nullptr) {
    if (auto wrong = expect(json, '{', "the metadata are no object")) return wrong;
    for (bool begun = false; !json.take('}'); begun = true) {
      tensor_name name, text;
      detail::file_problem wrong;
      if (begun) wrong = expect(json, ',', "a comma or a brace expected");
      if (!wrong) wrong = json.string(name);
      if (!wrong) wrong = expect(json, ':', "a colon expected");
      if (!wrong) wrong = json.string(text);
      if (wrong) return wrong;
      if (key != nullptr && name == *key) *value = text;
    }
    return {};
  }

  // {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, each key once, in any order.
  static detail::file_problem tensor(detail::json_reader& json, stored_tensor& x, offsets& data) {
    if (auto wrong = expect(json, '{', "what a name stands for is no object")) return wrong;
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
        wrong = malformed("a key twice, or another than dtype, shape and data_offsets");
      if (wrong) return wrong;
    }
    if (!has_type || !has_shape || !has_offsets)
      return malformed("one of the keys dtype, shape and data_offsets is missing");
    x.type = type_of(x.type_name);
    return {};
  }

  static detail::file_problem shape(detail::json_reader& json, stored_tensor& x) {
    if (auto wrong = expect(json, '[', "the shape is no list")) return wrong;
    while (!json.take(']')) {
      std::uint64_t extent = 0;
      detail::file_problem wrong;
      if (x.rank != 0) wrong = expect(json, ',', "a comma or a bracket expected");
      if (!wrong) wrong = json.integer(extent);
      if (!wrong && extent > SIZE_MAX) wrong = {file_error::too_large, "a number that overflows"};
      if (!wrong && x.rank == stored_tensor::max_rank)
        wrong = {file_error::too_large, "a tensor of more than 8 axes"};
      if (wrong) return wrong;
      x.extents[x.rank++] = static_cast<std::size_t>(extent);
    }
    return {};
  }
  static detail::file_problem pair(detail::json_reader& json, offsets& data) {
    auto wrong = expect(json, '[', "the data_offsets are no list");
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

  // The whole file, once.
  detail::file_failure check() noexcept {
    using detail::failure;
    const unsigned char* const end = header_ + header_bytes_;
    if (const auto* const wrong = detail::end_of_utf8(header_, end); wrong != end)
      return failure(file_error::malformed, "safetensors: the header is not UTF-8 at its byte ",
                     static_cast<std::uint64_t>(wrong - header_));
    if (header_bytes_ == 0 || *header_ != '{')
      return failure(file_error::wrong_format,
                     "safetensors: the header does not begin with a brace, so this is no "
                     "safetensors file");
    begin_ = 1;
    if (const auto wrong = check_tensors(); wrong.code != file_error::none) return wrong;
    if (const auto wrong = check_offsets(); wrong.code != file_error::none) return wrong;
    tensor_name twice;
    const auto each_name = [&](const auto& f) {
      for (std::size_t cursor = begin_, at = cursor; next_name(cursor, at, twice);)
        f(detail::placed_name{twice, at});
    };
    if (tensor_name name; !detail::names_differ(each_name, name))
      return failure(file_error::duplicate, "safetensors: two tensors have the name ", name);
    return {};
  }
  bool next_name(std::size_t& cursor, std::size_t& at, tensor_name& name) const noexcept {
    stored_tensor x;
    at = cursor;
    if (!next(cursor, x)) return false;
    name = x.name;
    return true;
  }

  // Each for itself.
  detail::file_failure check_tensors() noexcept {
    using detail::failure;
    std::size_t cursor = begin_, count = 0;
    for (;;) {
      const std::size_t at = cursor;
      stored_tensor x;
      offsets data;
      const step what = walk(cursor, x, data);
      if (what.kind == step::end) return {};
      if (what.kind == step::wrong)
        return failure(what.problem.code, "safetensors: the header is wrong at its byte ",
                       std::uint64_t{what.position}, ": ", what.problem.words);
      if (what.kind == step::metadata) {
        if (metadata_end_ != 0)
          return failure(file_error::duplicate, "safetensors: the header has __metadata__ twice");
        metadata_begin_ = at;
        metadata_end_ = cursor;
        continue;
      }
      if (++count > detail::most_tensors)
        return failure(file_error::too_large, "safetensors: the file has more than ",
                       std::uint64_t{detail::most_tensors}, " tensors");
      if (data.begin > data.end)
        return failure(file_error::malformed, "safetensors: the data of ", x.name,
                       " end before they begin");
      if (x.data == nullptr)
        return failure(file_error::truncated, "safetensors: the data of ", x.name, " end at byte ",
                       data.end, " but the file has only ", std::uint64_t{data_bytes_});
      const bool is_known = x.type != stored_type::other;  // else the size of an element is not
      std::uint64_t needed = 0;
      if (!detail::bytes_of_elements(x, is_known ? detail::bytes_of(x.type) : 1, needed))
        return failure(file_error::too_large, "safetensors: the shape of ", x.name, " overflows");
      if (is_known && needed != x.bytes)
        return failure(file_error::malformed, "safetensors: ", x.name, " needs ", needed,
                       " bytes for its shape but its data_offsets have ", std::uint64_t{x.bytes});
    }
  }

  // Every byte of the data belongs to one tensor.
  detail::file_failure check_offsets() const noexcept {
    using detail::failure;
    const auto each_range = [&](const auto& f) {
      std::size_t cursor = begin_;
      for (std::size_t at = cursor;; at = cursor) {
        stored_tensor x;
        if (!next(cursor, x)) return;
        const auto begin = static_cast<std::uint64_t>(x.data - header_) - header_bytes_;
        f(detail::byte_range{begin, begin + x.bytes, at});
      }
    };
    std::uint64_t end = 0;  // of the tensors so far
    detail::byte_range wrong;
    const bool joined = detail::visit_in_order<detail::byte_range>(
        each_range, [](const auto& a, const auto& b) { return a < b; },
        [&](const detail::byte_range& x) {
          wrong = x;
          if (x.begin != end) return false;
          end = x.end;
          return true;
        });
    if (joined && end == data_bytes_) return {};
    if (joined)
      return failure(file_error::overlapping, "safetensors: the last ", data_bytes_ - end,
                     " bytes of the file belong to no tensor");
    stored_tensor x;
    std::size_t cursor = wrong.place;
    static_cast<void>(next(cursor, x));
    return failure(file_error::overlapping, "safetensors: the data of ", x.name, " begin at byte ",
                   wrong.begin, " but those before end at ", end);
  }

  const unsigned char* header_ = nullptr;
  std::size_t header_bytes_ = 0, data_bytes_ = 0, begin_ = 0;
  std::size_t metadata_begin_ = 0, metadata_end_ = 0;  // the end is 0 where there are none
};

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
