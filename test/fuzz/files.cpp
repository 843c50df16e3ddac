// SPDX-License-Identifier: BSL-1.0
// What libFuzzer calls with bytes that may be a file of tensors: whatever they are, nothing is read
// outside of them, what is read is what was listed, an error changes nothing, weights are loaded
// whole or not at all (check.py). With UMBEL_FUZZ_RECIPES the bytes are the recipe of a long file,
// which is to cost no more steps than its length allows.
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include "steps.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>

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

using map = linear<float, axes::hidden<2>, axes::classes<2>, bias<true>>;
struct model {
  static constexpr const char* part_names[] = {"w", "n", "m"};
  using part_layers = std::tuple<void, void, map>;
  tensor<float, axes::query<2>, axes::key<3>> w;
  tensor<std::int32_t, axes::key<3>> n;
  map::weights m;
};
constexpr parameter_name rows[] = {{"w", "w"},
                                   {"w", "double"},
                                   {"n", "n"},
                                   {"m.weight", "m.*.x", out_in},
                                   {"m.**", "m.**", in_out},
                                   {nullptr, "t"}};
constexpr parameter_name of_map[] = {{nullptr, "left_out"}};  // makes m a layer of the file

// All parameters or none.
void load_from(const tensor_file& file) {
  static model w;
  std::memset(static_cast<void*>(&w), 0x5a, sizeof(w));
  const auto loaded = load(w, file, rows, at("m", "m", of_map));
  require(static_cast<bool>(loaded) == (std::strlen(loaded.error()) == 0));
  const auto* const memory = reinterpret_cast<const unsigned char*>(&w);
  bool changed = false;
  for (std::size_t i = 0; i < sizeof(w); ++i) changed = changed || memory[i] != 0x5a;
  if (!loaded) require(!changed);
}

// A file of up to 300 kB by a recipe of a few bytes: how many tensors, in which order, what their
// names begin with and how often, what stands between them.
std::string file_by(const std::uint8_t* recipe, std::size_t size) {
  const auto at = [&](std::size_t i) { return i < size ? recipe[i] : std::uint8_t{0}; };
  constexpr const char* pieces[] = {"a",        "\\u0061",        "\\\"",
                                    "\xc3\xb6", "\\ud83d\\ude00", "layers.1."};
  constexpr const char* spaces[] = {"", " ", "\n", " \t"};
  const std::size_t count = 1 + (at(0) | at(1) << 8) % 2048, step = 2u * at(2) + 1;
  std::string begin, between;
  const std::size_t share = 280'000 / count > 110 ? 280'000 / count - 110 : 0;
  const std::size_t of_name = share * (at(3) % 8) / 7;
  for (std::size_t i = 0; begin.size() + 12 < of_name; ++i)
    begin += pieces[at(size > 6 ? 6 + i % (size - 6) : 0) % std::size(pieces)];
  while (between.size() + 2 < share - of_name && at(4) % 4 != 0) between += spaces[at(4) % 4];
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t number = i * step % count;
    header += (i == 0 ? "\"" : ",\"") + begin + std::to_string(at(5) % 2 == 0 ? i : number) +
              "\":" + between + "{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[" +
              std::to_string(number) + "," + std::to_string(number + 1) + "]}";
  }
  header += "}";
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(std::uint64_t{header.size()} >> 8 * i);
  return file + header + std::string(count, '\0');
}

// The file's length bounds the cost: about three times what the most expensive recipes need.
void costs_steps_for(const std::string& bytes) {
  const std::uint64_t steps = steps_of([&] {
    if (const auto file = tensor_file::in_memory(bytes.data(), bytes.size())) load_from(*file);
  });
  require(steps <= 20'000 + 200 * std::uint64_t{bytes.size()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool is_recipe = std::getenv("UMBEL_FUZZ_RECIPES") != nullptr;
  if (is_recipe) return costs_steps_for(file_by(data, size)), 0;
  const auto file = tensor_file::in_memory(data, size);
  require((file.code() == file_error::none) == (std::strlen(file.error()) == 0));
  if (!file) return 0;
  for (const stored_tensor& x : *file) look_at(*file, x, data, size);
  static_cast<void>(file->metadata("format").size());
  static_cast<void>(verify_checksum(*file));
  load_from(*file);
  return 0;
}
