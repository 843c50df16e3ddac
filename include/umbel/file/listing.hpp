// SPDX-License-Identifier: BSL-1.0
// Common to all formats: a file is a range of its tensors and finds one by name. An open file has
// been checked as a whole, so iterating can't fail.
#pragma once

#include <umbel/config.hpp>

#include <cstddef>
#include <cstdint>
#include <umbel/file/clash.hpp>
#include <umbel/file/name_hash.hpp>
#include <umbel/file/stored_tensor.hpp>
#include <umbel/tensor/elements.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {

namespace say {
struct in_memory;
}  // namespace say
UMBEL_SAYS(expects_bytes_in_a_mapped_file_span_or_vector_or_a_pointer_and_their_number_not,
           "expects bytes in a mapped_file, a std::span or std::vector, or a pointer and their "
           "number, not");
UMBEL_SAYS(expects_memory_not_a_path_so_write_mapped_file_open_path,
           "expects memory, not a path; write mapped_file::open(path)");
UMBEL_SAYS(expects_memory_of_bytes_not_of, "expects memory of bytes, not of");
UMBEL_SAYS(expects_the_value_of_a_file_result_so_check_it_and_write_star_of_it,
           "expects the value of a file_result; check it, if (!memory) return, and write *memory");
UMBEL_SAYS(
    the_memory_is_a_temporary_that_would_be_destroyed_before_the_file_so_store_it_in_a_variable,
    "the memory is a temporary that would be destroyed before the file; store it in a variable");

namespace rules {
// For the memory of a file, without the reference. Temporary: it ends with the statement.
template <class M, bool Temporary>
struct memory_of_a_file_rule {
  using type = first_error<
      verdict<!std::is_same_v<std::remove_cv_t<std::remove_pointer_t<std::decay_t<M>>>, char>,
              say::in_memory, say::expects_memory_not_a_path_so_write_mapped_file_open_path>,
      verdict<!std::is_base_of_v<file_outcome, M>, say::in_memory,
              say::expects_the_value_of_a_file_result_so_check_it_and_write_star_of_it>,
      verdict<one_is_invalid<M>, say::in_memory,
              say::expects_bytes_in_a_mapped_file_span_or_vector_or_a_pointer_and_their_number_not,
              type_of_given<M>>>;
};
template <detail::memory M, bool Temporary>
struct memory_of_a_file_rule<M, Temporary> {
  using T = std::remove_cvref_t<decltype(*std::declval<const M&>().data())>;
  using type = first_error<
      verdict<sizeof(T) == 1, say::in_memory, say::expects_memory_of_bytes_not_of, element<T>>,
      verdict<
          !Temporary || borrowed_memory<M>, say::in_memory,
          say::
              the_memory_is_a_temporary_that_would_be_destroyed_before_the_file_so_store_it_in_a_variable>>;
};
template <class M, bool Temporary>
using memory_of_a_file = typename memory_of_a_file_rule<std::remove_const_t<M>, Temporary>::type;
}  // namespace rules

struct end_of_tensors {};

// File: copied, as small as a view; next(cursor, tensor) reads the tensor at the cursor and
// advances it, false at the end.
template <class File>
class tensor_iterator {
 public:
  using value_type = stored_tensor;
  using difference_type = std::ptrdiff_t;

  tensor_iterator() = default;
  // place: from place() of a tensor; 0 for the first.
  constexpr explicit tensor_iterator(const File& file, std::size_t place = 0) noexcept
      : file_(file), cursor_(file.first() + place) {
    ++*this;
  }
  constexpr const stored_tensor& operator*() const noexcept { return tensor_; }
  constexpr const stored_tensor* operator->() const noexcept { return &tensor_; }
  // The tensor's place in the list, in bytes.
  [[nodiscard]] constexpr std::size_t place() const noexcept { return place_; }
  constexpr tensor_iterator& operator++() noexcept {
    place_ = cursor_ - file_.first();
    more_ = file_.next(cursor_, tensor_);
    return *this;
  }
  constexpr void operator++(int) noexcept { ++*this; }
  friend constexpr bool operator==(const tensor_iterator& i, end_of_tensors) noexcept {
    return !i.more_;
  }

 private:
  File file_{};
  std::size_t cursor_ = 0, place_ = 0;
  stored_tensor tensor_{};
  bool more_ = false;
};

// The members of files of all formats. File: the format, derived from this.
UMBEL_SAYS(is_made_of_bytes_in_memory_so_map_the_file_at_a_path,
           "is made of bytes, not of a path; open it with mapped_file::open(path), then "
           "in_memory(*mapped)");
namespace rules {
template <class File, class Path>
using not_of_a_path =
    verdict<never<Path>, File, say::is_made_of_bytes_in_memory_so_map_the_file_at_a_path>;
}  // namespace rules
template <class File>
class tensor_listing {
 public:
  tensor_listing() = default;
  // Of a path: refused.
  template <class Path>
    requires std::is_convertible_v<const Path&, const char*>
  explicit tensor_listing(const Path&) noexcept {
    static_assert(report<rules::not_of_a_path<File, Path>>::ok, "umbel: shapes do not fit");
  }

  // The file in any object with data() and size() in bytes: a mapped_file, std::span or
  // std::vector. It must outlive the result, so a temporary is refused.
  template <class Memory>
  [[nodiscard]] static file_result<File> in_memory(Memory& memory UMBEL_LIFETIMEBOUND) noexcept {
    return opened<false>(memory);
  }
  template <class Memory>
    requires(!std::is_lvalue_reference_v<Memory>)
  [[nodiscard]] static file_result<File> in_memory(Memory&& memory) noexcept {
    return opened<true>(memory);
  }

  // The tensors in file order: for (const stored_tensor& x : file).
  [[nodiscard]] constexpr tensor_iterator<File> begin() const noexcept {
    return tensor_iterator<File>(self());
  }
  [[nodiscard]] constexpr end_of_tensors end() const noexcept { return {}; }

  // The number of tensors. Walks over them.
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    std::size_t count = 0;
    for (auto i = begin(); i != end(); ++i) ++count;
    return count;
  }

  // The tensor with this name, or file_error::not_found. Walks from the first one.
  [[nodiscard]] constexpr file_result<stored_tensor> find(const tensor_name& name) const noexcept {
    for (const stored_tensor& x : self())
      if (x.name == name) return x;
    return failure(file_error::not_found, "the file has no tensor ", name);
  }

  // Reads the tensor with this name, as stored_tensor::read does: into an array, a tensor or view,
  // or elements at a pointer.
  template <class Out>
  file_result<> read(const tensor_name& name, Out&& out) const noexcept {
    using verdict = rules::read_into<Out>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok) {
      const auto found = find(name);
      if (!found) return found.failure();
      return found->read(static_cast<Out&&>(out));
    } else {
      return {};
    }
  }
  template <readable_as T>
  file_result<> read(const tensor_name& name, T* out, std::size_t count) const noexcept {
    const auto found = find(name);
    if (!found) return found.failure();
    return found->read(out, count);
  }
  template <readable_as T>
  file_result<> read(const tensor_name& name, T* out, std::size_t count,
                     const std::size_t* strides) const noexcept {
    const auto found = find(name);
    if (!found) return found.failure();
    return found->read(out, count, strides);
  }

 private:
  template <bool Temporary, class Memory>
  static file_result<File> opened(const Memory& memory) noexcept {
    using verdict = rules::memory_of_a_file<Memory, Temporary>;
    static_assert(report<verdict>::ok, "umbel: shapes do not fit");
    if constexpr (verdict::ok && detail::memory<Memory>)
      return File::in_memory(static_cast<const void*>(memory.data()), memory.size());
    else
      return File{};
  }
  constexpr const File& self() const noexcept { return static_cast<const File&>(*this); }
};

// The bytes of all elements of `element` bytes each. False if memory can't hold them.
constexpr bool bytes_of_elements(const stored_tensor& x, std::uint64_t element,
                                 std::uint64_t& bytes) {
  bytes = element;
  for (std::size_t i = 0; i < x.rank; ++i)
    if (!multiply(bytes, x.extents[i])) return false;
  return bytes <= SIZE_MAX;
}

// Is it this key of a header, for the first time?
inline bool is_new(const tensor_name& key, const char* text, bool& seen) {
  if (seen || !(key == text)) return false;
  return seen = true;
}

// Do two of `count` names clash? next(cursor, name): reads the name at the cursor and advances it;
// false at the end. Two that clash are in `first` and `second`; they differ only if someone made
// names with equal hashes.
struct two_names {
  tensor_name first, second;
};
template <class Next>
bool names_clash(std::size_t count, std::size_t begin, const Next& next, two_names& both) noexcept {
  const auto found = find_clash<name_hash>(count, begin, [&](std::size_t& cursor, name_hash& item) {
    tensor_name name;
    if (!next(cursor, name)) return false;
    item = hash_of(name);
    return true;
  });
  if (!found.found) return false;
  bool begun = false;
  tensor_name name;
  for (std::size_t cursor = begin; next(cursor, name);) {
    if (!hash_of(name).clashes_with(found.first)) continue;
    (begun ? both.second : both.first) = name;
    if (begun) break;
    begun = true;
  }
  return true;
}
// Its message. twice: "safetensors: two tensors have the name ".
inline file_failure failure_of(const two_names& names, const char* format, const char* twice) {
  if (names.first == names.second)
    return failure(file_error::duplicate, format, ": ", twice, names.first);
  return failure(file_error::unsupported, format, ": ", names.first, " and ", names.second,
                 " are names with the same hash, as only in a hostile file");
}

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
