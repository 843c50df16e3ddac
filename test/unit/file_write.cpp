// SPDX-License-Identifier: BSL-1.0
// What is written is what numpy writes, byte by byte, and what the readers give back.
#include <boost/test/unit_test.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "../golden/data/files.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

// A sink that keeps what it gets.
struct kept {
  std::vector<unsigned char> bytes = {};
  void operator()(const char* text, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<unsigned char>(text[i]));
  }
};

template <class X, std::size_t Size>
bool writes(const X& x, const unsigned char (&file)[Size]) {
  kept out;
  write_npy(out, x);
  return out.bytes == std::vector<unsigned char>(std::begin(file), std::end(file));
}

const tensor<double, query<2>, key<3>> values{0, 1, -2, 3, 100, -128};

template <class T>
tensor<T, query<2>, key<3>> as() {
  tensor<T, query<2>, key<3>> made{};
  for (std::size_t q = 0; q < 2; ++q)
    for (std::size_t k = 0; k < 3; ++k)
      if constexpr (umbel::detail::half<T>)
        made(q, k) = T(static_cast<float>(values(q, k)));
      else
        made(q, k) = static_cast<T>(values(q, k));
  return made;
}

struct weights {
  static constexpr const char* part_names[] = {"x"};
  tensor<float, query<40>, key<4>> x{};
};

BOOST_AUTO_TEST_SUITE(file_write)

BOOST_AUTO_TEST_CASE(npy_as_numpy_writes_it) {
  BOOST_TEST(writes(as<float>(), files::npy_f4));
  BOOST_TEST(writes(as<double>(), files::npy_f8));
  BOOST_TEST(writes(as<float16>(), files::npy_f2));
  BOOST_TEST(writes(as<std::int8_t>(), files::npy_i1));
  BOOST_TEST(writes(as<std::int16_t>(), files::npy_i2));
  BOOST_TEST(writes(as<std::int32_t>(), files::npy_i4));
  BOOST_TEST(writes(as<std::int64_t>(), files::npy_i8));
  BOOST_TEST(writes(tensor<std::uint8_t, query<2>, key<3>>{0, 1, 2, 3, 100, 127}, files::npy_u1));
  BOOST_TEST(
      writes(tensor<bool, query<2>, key<3>>{false, true, true, true, true, true}, files::npy_b1));
  BOOST_TEST(writes(tensor<float, key<3>>{0, 1, 2}, files::npy_vector));
  // Of other strides: row-major in the file.
  const auto by_key = tensor<float, key<3>, query<2>>{0, 3, 1, 100, -2, -128};
  BOOST_TEST(writes(by_key | permute<query, key>, files::npy_f4));
}

const auto each = [](auto put) {
  static const auto floats = as<float>();
  put("w", floats);
  put("w.t", floats | permute<key, query>);
  put("b\"\\\x01\u00f6", as<bfloat16>());
  put("n", tensor<std::int8_t, query<1>>{-5});
};

template <class File>
void check(const std::vector<unsigned char>& bytes) {
  const auto file = File::in_memory(bytes.data(), bytes.size());
  BOOST_TEST(file.error() == "");
  BOOST_TEST(file->size() == 4U);
  tensor<float, query<2>, key<3>> w{};
  BOOST_TEST(!!file->read("w", w));
  BOOST_TEST((w == as<float>()));
  w = {};
  BOOST_TEST(!!file->read("w.t", w | permute<key, query>));
  BOOST_TEST((w == as<float>()));
  w = {};
  BOOST_TEST(!!file->read("b\"\\\x01\u00f6", w));
  BOOST_TEST((w == as<float>()));
  std::int8_t n[1]{};
  BOOST_TEST(!!file->read("n", n));
  BOOST_TEST(n[0] == -5);
}

BOOST_AUTO_TEST_CASE(safetensors_and_back) {
  kept out;
  BOOST_TEST(!!write_safetensors(out, each));
  check<safetensors_file>(out.bytes);
  BOOST_TEST(out.bytes[0] % 8 == 0);
  kept none;
  BOOST_TEST(!!write_safetensors(none, [](auto) {}));
  BOOST_TEST(safetensors_file::in_memory(none.bytes.data(), none.bytes.size())->size() == 0U);
}

BOOST_AUTO_TEST_CASE(npz_and_back) {
  kept out;
  BOOST_TEST(!!write_npz(out, each));
  check<npz_file>(out.bytes);
  kept none;
  BOOST_TEST(!!write_npz(none, [](auto) {}));
  const std::vector<unsigned char> numpys(std::begin(files::npz_none), std::end(files::npz_none));
  BOOST_TEST((none.bytes == numpys));
}

// Names that no reader would take: nothing is written.
BOOST_AUTO_TEST_CASE(names_that_cannot_be) {
  static const tensor<std::int8_t, query<1>> x{1};
  const auto error_of = [](const auto& put_all) {
    kept safetensors, npz;
    const auto first = write_safetensors(safetensors, put_all);
    const auto second = write_npz(npz, put_all);
    BOOST_TEST(safetensors.bytes.empty() == !first);
    BOOST_TEST(npz.bytes.empty() == !second);
    return std::string(first.error()) + "\n" + second.error();
  };
  BOOST_TEST(error_of([](auto put) { put("__metadata__", x); }) ==
             "umbel: write_safetensors: a tensor cannot have the name __metadata__, which the "
             "format reserves\n");
  BOOST_TEST(error_of([](auto put) { put("__metadata__ ", x); }) == "\n");
  BOOST_TEST(error_of([](auto put) { put("a", x), put("b\xff", x); }) ==
             "umbel: write_safetensors: the name of tensor 2 is not UTF-8\n"
             "umbel: write_npz: the name of tensor 2 is not UTF-8");
  const auto twice = [](std::size_t count, std::size_t again) {
    return [=](auto put) {
      for (std::size_t i = 0; i < count; ++i)
        put(("tensor " + std::to_string(i == again ? 3 : i)).c_str(), x);
    };
  };
  const std::string error =
      "umbel: write_safetensors: two tensors have the name tensor 3\n"
      "umbel: write_npz: two tensors have the name tensor 3";
  for (const std::size_t again : {4U, 255U, 256U, 599U})
    BOOST_TEST(error_of(twice(600, again)) == error);
  BOOST_TEST(error_of(twice(600, 600)) == "\n");
  BOOST_TEST(error_of(twice(16385, 16385)) ==
             "umbel: write_safetensors: 16385 tensors are more than the 16384 that can be "
             "read\numbel: write_npz: 16385 tensors are more than the 16384 that can be read");
  const std::string longest(65531, 'n');
  BOOST_TEST(error_of([&](auto put) { put(longest.c_str(), x); }) == "\n");
  BOOST_TEST(error_of([&](auto put) { put((longest + "n").c_str(), x); }) ==
             "\numbel: write_npz: the name of tensor 1 has more than 65531 bytes");
}

// What a sink throws, whoever called the writer gets, and the sink is not called again.
BOOST_AUTO_TEST_CASE(a_sink_that_throws) {
  static const tensor<float, query<40>, key<40>> x{};
  const auto writers =
      std::tuple([](auto& sink) { write_npy(sink, x); },
                 [](auto& sink) { (void)write_safetensors(sink, [](auto put) { put("x", x); }); },
                 [](auto& sink) { (void)write_npz(sink, [](auto put) { put("x", x); }); },
                 [](auto& sink) { save(sink, weights{}); });
  const auto try_one = [](const auto& write) {
    std::size_t calls = 0, last = 0;
    auto sink = [&](const char*, std::size_t) {
      ++calls;
      if (calls >= last && last != 0) throw calls;
    };
    write(sink);
    const std::size_t whole = calls;
    BOOST_TEST(whole >= 2U);
    for (last = 1; last <= whole; ++last) {
      calls = 0;
      BOOST_CHECK_THROW(write(sink), std::size_t);
      BOOST_TEST(calls == last);
    }
  };
  std::apply([&](const auto&... write) { (try_one(write), ...); }, writers);
}

// By the compiler, too.
constexpr std::size_t size_of_npy = [] {
  std::size_t bytes = 0;
  write_npy([&](const char*, std::size_t size) { bytes += size; },
            tensor<float, query<2>>{1.0f, 2.0f});
  return bytes;
}();
static_assert(size_of_npy == 128 + 8);

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
