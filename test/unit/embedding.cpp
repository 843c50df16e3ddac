// SPDX-License-Identifier: BSL-1.0
// embedding: rows of its table and logits from it, beside lookup and contract, to the bit; owned,
// borrowed, packed, in 16 bits; integers outside of the vocabulary; loaded by name.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <umbel/file/write.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>
#include <vector>

#include "../support/compare.hpp"
#include "../support/random.hpp"

namespace {

using namespace umbel;
using namespace umbel::axes;
using namespace umbel_test;

template <class X>
X random(unsigned seed) {
  lcg next{seed};
  return drawn<X>(next);
}

// Sizes: of one row, of tails of vectors, of one feature, of several panels.
template <class T, std::size_t Words, std::size_t Width>
void check() {
  using layer = embedding<T, vocabulary<Words>, hidden<Width>>;
  static const auto w = random<typename layer::weights>(Words);
  const layer words{w};
  const prepacked<layer> packed{w};
  tensor<std::int64_t, batch<2>, token<5>> ids{};
  for (std::size_t i = 0; i < 10; ++i) ids.data()[i] = static_cast<std::int64_t>(i * 7 % Words);
  ids(1, 4) = Words - 1;
  BOOST_TEST(same_bits(words(ids), lookup(w, ids)));
  BOOST_TEST(same_bits(packed(ids), lookup(w, ids)));
  BOOST_TEST(same_bits(ids | words, lookup(w, ids)));
  const auto some = ids | slice<token, from<1>, extent<3>>;
  BOOST_TEST(same_bits(packed(some), lookup(w, some)));
  tensor<T, batch<2>, token<5>, hidden<Width>> rows;
  packed.into(rows, ids);
  BOOST_TEST(same_bits(rows, lookup(w, ids)));

  const auto y = contract<hidden>(rows, w);
  BOOST_TEST(same_bits(words.logits(rows), y));
  BOOST_TEST(same_bits(packed.logits(rows), y));
  tensor<T, batch<2>, token<5>, vocabulary<Words>> out;
  words.logits_into(out, rows);
  BOOST_TEST(same_bits(out, y));
  packed.logits_into(out, rows);
  BOOST_TEST(same_bits(out, y));
  const auto one = rows | select_at<batch, 1> | select_at<token, 4>;
  BOOST_TEST(same_bits(words.logits(one), contract<hidden>(one, w)));
  BOOST_TEST(same_bits(packed.logits(one), contract<hidden>(one, w)));
  const auto columns = rows | permute<batch, hidden, token>;  // hidden becomes vocabulary
  BOOST_TEST(same_bits(words.logits(columns) | permute<batch, token, vocabulary> | contiguous, y));
  BOOST_TEST(same_bits(packed.logits(columns) | permute<batch, token, vocabulary> | contiguous, y));
}

using words_of = embedding<float, vocabulary<11>, hidden<6>>;
constexpr words_of::weights numbers = [] {
  words_of::weights w{};
  for (std::size_t i = 0; i < w.size(); ++i) w.data()[i] = static_cast<float>(i) - 30;
  return w;
}();

// As torch names them, and as C++ does.
struct table_of_torch {
  static constexpr const char* part_names[] = {"weight"};
  words_of::weights weight;
};
struct model_of_torch {
  static constexpr const char* part_names[] = {"wte"};
  table_of_torch wte;
};
struct model {
  static constexpr const char* part_names[] = {"words"};
  words_of::weights words;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(embeddings)

BOOST_AUTO_TEST_CASE(rows_and_logits) {
  check<float, 11, 6>();
  check<float, 1, 1>();
  check<float, 70, 33>();
  check<double, 37, 16>();
}

BOOST_AUTO_TEST_CASE(in_the_compiler) {
  constexpr words_of words{numbers};
  constexpr tensor<int, token<2>> ids{10, 0};
  static_assert(words(ids)(0, 5) == 35 && words(ids)(1, 0) == -30);
  static_assert(words.logits(words(ids))(1, 10) == contract<hidden>(words(ids), numbers)(1, 10));
  static constexpr prepacked<words_of> packed{numbers};
  static_assert(packed(ids)(0, 5) == 35 && packed(ids)(1, 0) == -30);
  BOOST_TEST(same_bits(packed.logits(words(ids)), words.logits(words(ids))));
}

BOOST_AUTO_TEST_CASE(outside_of_the_vocabulary) {
  const prepacked<words_of> packed{numbers};
  for (const int id : {-1, 11, 1 << 30}) {
    const tensor<int, token<2>> ids{3, id};
    const auto rows = words_of{numbers}(ids);
    BOOST_TEST(rows(0, 0) == numbers(3, 0));
    for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(rows(1, i) == 0);
    BOOST_TEST(same_bits(packed(ids), rows));
  }
}

BOOST_AUTO_TEST_CASE(in_16_bits) {
  using wide = embedding<float, vocabulary<70>, hidden<33>>;
  static const auto w = random<wide::weights>(3);
  wide::weights rounded = w;
  const auto check = [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < w.size(); ++i)
      rounded.data()[i] = static_cast<float>(static_cast<Stored>(w.data()[i]));
    const prepacked<wide, stored_as<Stored>> packed{w};
    tensor<int, token<70>> ids;
    for (int i = 0; i < 70; ++i) ids(i) = 69 - i;
    const auto rows = packed(ids);
    BOOST_TEST(same_bits(rows, wide{rounded}(ids)));
    BOOST_TEST(same_bits(packed.logits(rows), wide{rounded}.logits(rows)));
  };
  check(bfloat16{});
  check(float16{});
}

// A word has a scale, its logit is a product with steps; of scales that are powers of two it is one
// with the rounded row.
BOOST_AUTO_TEST_CASE(in_8_bits) {
  using wide = embedding<float, vocabulary<70>, hidden<33>>;
  static auto w = random<wide::weights>(3);
  for (std::size_t i = 0; i < 70; ++i) w(i, 5) = 127.0f / static_cast<float>(16 << i % 3);
  wide::weights rounded;
  const prepacked<wide, stored_as<std::int8_t>> packed{w};
  tensor<int, token<70>> ids;
  for (int i = 0; i < 70; ++i) ids(i) = 69 - i;
  for (std::size_t i = 0; i < 70; ++i) {
    const float scale = 1.0f / static_cast<float>(16 << i % 3);
    for (std::size_t j = 0; j < 33; ++j)
      rounded(i, j) = std::nearbyint(w(i, j) / scale) * scale + 0.0f;
  }
  const auto rows = packed(ids);
  BOOST_TEST(same_bits(rows, wide{rounded}(ids)));
  BOOST_TEST(same_bits(packed.logits(rows), wide{rounded}.logits(rows)));
  // Of other scales: rounded once.
  w(2, 5) = 3;
  const prepacked<wide, stored_as<std::int8_t>> other{w};
  detail::kernel::scale_of_numbers<float> scale;
  for (std::size_t j = 0; j < 33; ++j) scale.add(w(2, j));
  const detail::kernel::scale_of_numbers<float>::in_steps in_steps{scale};
  for (std::size_t j = 0; j < 33; ++j)
    BOOST_TEST(other(tensor<int, token<1>>{2})(0, j) ==
               static_cast<float>(in_steps(w(2, j))) * scale.value());
}

BOOST_AUTO_TEST_CASE(memory_in_either_order) {
  const tensor<int, token<3>> ids{4, 0, 10};
  static tensor<float, hidden<6>, vocabulary<11>> columns;
  copy(numbers | permute<hidden, vocabulary>, columns);
  const auto y = words_of{numbers}(ids);
  BOOST_TEST(same_bits(words_of{view_as<vocabulary, hidden>(numbers.data())}(ids), y));
  BOOST_TEST(same_bits(prepacked<words_of>{{view_as<hidden, vocabulary>(columns.data())}}(ids), y));
  BOOST_TEST(same_bits(prepacked<words_of>{{columns}}(ids), y));
  prepacked<words_of> later;
  BOOST_TEST(later(ids)(0, 0) == 0);
  later.pack(numbers);
  BOOST_TEST(same_bits(later(ids), y));
  const prepacked<words_of>* const found = prepacked<words_of>::in_memory(&later, sizeof(later));
  BOOST_TEST(found == &later);
}

BOOST_AUTO_TEST_CASE(loaded_by_name) {
  static const model_of_torch saved{{numbers}};
  std::vector<char> bytes;
  save([&](const char* from, std::size_t count) { bytes.insert(bytes.end(), from, from + count); },
       saved);
  static model loaded;
  const auto file = tensor_file::in_memory(bytes.data(), bytes.size());
  BOOST_REQUIRE(file);
  const auto result = load(loaded, *file, at("words", "wte", names::torch_embedding));
  BOOST_TEST(static_cast<bool>(result));
  BOOST_TEST(same_bits(loaded.words, numbers));
}

BOOST_AUTO_TEST_SUITE_END()
