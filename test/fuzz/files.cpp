// SPDX-License-Identifier: BSL-1.0
// What libFuzzer calls with bytes that may be a file of tensors: whatever they are, nothing is read
// outside of them, what is read is what was listed, and an error changes nothing (check.py).
#include <umbel/file/tensor_file.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

using namespace umbel;

constexpr std::size_t capacity = 1024;

void require(bool holds) {
  if (!holds) std::abort();
}

// Into memory of exactly as many elements, row-major and with the axes in reversed order.
template <class T>
void read_as(const stored_tensor& x) {
  const std::size_t size = x.size();
  if (size > capacity) return;
  const std::unique_ptr<T[]> rows(new T[size]), columns(new T[size]);
  constexpr int untouched = 0x5a;
  std::memset(rows.get(), untouched, size * sizeof(T));
  std::memset(columns.get(), untouched, size * sizeof(T));
  const auto done = x.read(rows.get(), size);
  std::size_t strides[stored_tensor::max_rank]{}, step = 1;
  for (std::size_t i = 0; i < x.rank; ++i) {
    strides[i] = step;
    step *= x.extents[i];
  }
  const auto reversed = x.read(columns.get(), size, strides);
  require(done.code() == reversed.code());
  require((done.code() == file_error::none) == (std::strlen(done.error()) == 0));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(rows.get());
  for (std::size_t i = 0; !done && i < size * sizeof(T); ++i) require(bytes[i] == untouched);
  for (std::size_t i = 0; done && i < size; ++i) {
    std::size_t at = 0, rest = i;
    for (std::size_t axis = x.rank; axis-- > 0; rest /= x.extents[axis])
      at += rest % x.extents[axis] * strides[axis];
    require(std::memcmp(&rows[i], &columns[at], sizeof(T)) == 0);
  }
  if (size != 0) require(!x.read(rows.get(), size - 1));
}

void look_at(const tensor_file& file, const stored_tensor& x, const unsigned char* memory,
             std::size_t bytes) {
  require(x.data >= memory && x.bytes <= bytes - static_cast<std::size_t>(x.data - memory));
  char name[64];
  const std::size_t length = x.name.copy_to(name, sizeof(name));
  require(std::strlen(name) <= length && length == x.name.size());
  const auto found = file.find(x.name);
  require(found && found->data == x.data && found->bytes == x.bytes);  // no name is there twice
  read_as<float>(x);
  read_as<double>(x);
  read_as<bfloat16>(x);
  read_as<float16>(x);
  read_as<std::int8_t>(x);
  read_as<std::int32_t>(x);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = tensor_file::in_memory(data, size);
  require((file.code() == file_error::none) == (std::strlen(file.error()) == 0));
  if (!file) return 0;
  for (const stored_tensor& x : *file) look_at(*file, x, data, size);
  static_cast<void>(file->metadata("format").size());
  return 0;
}
