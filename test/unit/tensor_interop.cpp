// SPDX-License-Identifier: BSL-1.0
// Memory that is not Umbel's: arrays, spans, pointers, flash, device registers, padded rows.
#include <umbel/shape/axes.hpp>
#include <umbel/tensor/contract.hpp>
#include <umbel/tensor/copy.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/reshape.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

using namespace umbel;
using namespace umbel::axes;

BOOST_AUTO_TEST_SUITE(tensor_interop)

BOOST_AUTO_TEST_CASE(a_raw_array_is_viewed_in_place) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  auto v = view_as<query<2>, hidden<3>>(memory);
  BOOST_TEST(v.data() == memory);
  BOOST_TEST(v(1, 0) == 3);
  v(1, 2) = 9;
  BOOST_TEST(memory[5] == 9);
}

BOOST_AUTO_TEST_CASE(an_array_of_arrays_is_viewed_in_place) {
  float memory[2][4][3]{};
  memory[1][2][0] = 5;
  using queries = tensor<float, batch<2>, query<4>, hidden<3>>;
  auto v = view_as<queries>(memory);
  BOOST_TEST(v(1, 2, 0) == 5);
  v(0, 3, 2) = 7;
  BOOST_TEST(memory[0][3][2] == 7);
  const auto& only_read = memory[1];
  BOOST_TEST((view_as<query<4>, hidden<3>>(only_read)(2, 0)) == 5);
}

BOOST_AUTO_TEST_CASE(flash_is_only_read) {
  static constexpr float flash[6] = {0, 1, 2, 3, 4, 5};
  constexpr auto v = view_as<query<2>, hidden<3>>(flash);
  static_assert(v(1, 1) == 4 && std::is_same_v<decltype(v(1, 1)), const float&>);
  constexpr auto h = v | split<hidden, heads<3>, head_dim> | permute<heads, head_dim, query>;
  static_assert(h(2, 0, 1) == 5);
  BOOST_TEST(h.data() == flash);
}

BOOST_AUTO_TEST_CASE(std_array_and_span) {
  std::array<int, 6> memory{0, 1, 2, 3, 4, 5};
  const auto& only_read = memory;
  view_as<query<2>, hidden<3>>(memory)(0, 1) = 7;
  BOOST_TEST(memory[1] == 7);
  BOOST_TEST((view_as<query<2>, hidden<3>>(only_read).data() == memory.data()));
  std::span<int, 6> span(memory);
  view_as<hidden<6>>(span)(5) = 8;
  BOOST_TEST(memory[5] == 8);
  BOOST_TEST(view_as<query<2>>(span.first<2>())(1) == 7);  // a temporary span: it borrows too
  const std::span<const int, 6> reads(memory);
  static_assert(std::is_same_v<decltype(view_as<hidden<6>>(reads)), view<const int, hidden<6>>>);
}

BOOST_AUTO_TEST_CASE(a_pointer_is_taken_at_its_word) {
  std::vector<double> memory(30);
  std::iota(memory.begin(), memory.end(), 0.0);
  auto v = view_as<batch<2>, query<3>, hidden<5>>(memory.data());
  BOOST_TEST(v(1, 2, 4) == 29);
  const double* reads = memory.data() + 15;
  BOOST_TEST((view_as<query<3>, hidden<5>>(reads)(2, 4)) == 29);
}

BOOST_AUTO_TEST_CASE(padded_rows) {
  std::array<float, 4 * 8> memory{};  // rows of 5, padded to 8
  auto v = view_as<strided<query<4>, 8>, strided<hidden<5>, 1>>(memory);
  v(3, 4) = 1;
  BOOST_TEST(memory[28] == 1);
  for_each([](float& element) { element = 2; }, v);
  BOOST_TEST(std::accumulate(memory.begin(), memory.end(), 0.f) == 2 * 4 * 5);
  BOOST_TEST(memory[5] == 0);
  // What is viewed need not have the last gap.
  auto shorter =
      view_as<strided<query<4>, 8>, strided<hidden<5>, 1>>(std::span(memory).first<29>());
  BOOST_TEST(shorter(3, 4) == 2);
}

BOOST_AUTO_TEST_CASE(columns_first) {
  const int fortran[] = {1, 4, 2, 5, 3, 6};
  const auto v = view_as<strided<query<2>, 1>, strided<hidden<3>, 2>>(fortran);
  BOOST_TEST((tensor<int, query<2>, hidden<3>>{1, 2, 3, 4, 5, 6} == contiguous(v)));
  BOOST_TEST((v | permute<hidden, query>).begin() == fortran);
  BOOST_TEST((contract<hidden>(v, v | rename_axis<query, key>)(0, 1)) == 32);
  BOOST_TEST((contract<hidden>(v, v)(1)) == 77);  // query with query: paired up
}

BOOST_AUTO_TEST_CASE(interleaved_channels) {
  std::array<std::int16_t, 8> samples{1, -1, 2, -2, 3, -3, 4, -4};
  const auto v = view_as<strided<heads<2>, 1>, strided<token<4>, 2>>(samples);
  const auto second = v | select_at<heads, 1>;
  const tensor<std::int16_t, token<4>> moved = second;
  BOOST_TEST(moved(3) == -4);
  BOOST_TEST((second | slice<token, from<1>, extent<2>>)(1) == -3);
}

BOOST_AUTO_TEST_CASE(volatile_memory_is_read_as_it_is) {
  volatile int device[4] = {1, 2, 3, 4};
  auto v = view_as<query<4>>(device);
  v(2) = 30;
  const tensor<int, query<4>> snapshot = v;
  const auto moved = contiguous(v);
  static_assert(std::is_same_v<decltype(moved), const tensor<int, query<4>>>);
  BOOST_TEST(snapshot(2) == 30);
  BOOST_TEST(moved(3) == 4);
}

BOOST_AUTO_TEST_CASE(tensors_take_copies) {
  float raw[4] = {1, 2, 3, 4};
  std::array<float, 4> array{5, 6, 7, 8};
  const tensor<float, query<2>, key<2>> of_raw(raw), of_array(array), of_span(std::span{array}),
      of_const_span{std::span<const float, 4>(raw)};
  raw[3] = 0;
  array[3] = 0;
  BOOST_TEST(of_raw(1, 1) == 4);
  BOOST_TEST(of_array(1, 1) == 8);
  BOOST_TEST(of_span(1, 0) == 7);
  BOOST_TEST(of_const_span(0, 1) == 2);
}

BOOST_AUTO_TEST_CASE(a_tensor_is_its_bytes) {
  const tensor<float, query<2>, hidden<2>> x{1.f, 2.f, 3.f, 4.f};
  float bytes[4];
  std::memcpy(bytes, &x, sizeof bytes);
  BOOST_TEST(bytes[3] == 4);
  tensor<float, query<2>, hidden<2>> y;
  std::memcpy(&y, bytes, sizeof bytes);
  BOOST_TEST((x == y));
}

BOOST_AUTO_TEST_CASE(alignment_of_objects) {
  static tensor<float, hidden<100>> in_static_storage;
  tensor<float, hidden<100>> on_the_stack;
  for (const float* data : {in_static_storage.data(), on_the_stack.data()})
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(data) % alignof(decltype(on_the_stack)) == 0);
}

// A type that has the axes names them, too.
BOOST_AUTO_TEST_CASE(as_a_tensor_type) {
  using queries = tensor<float, query<2>, hidden<3>>;
  float memory[6] = {0, 1, 2, 3, 4, 5};
  std::array<float, 6> array{};
  const float* const flash = memory;
  static_assert(
      std::is_same_v<decltype(view_as<queries>(memory)), view<float, query<2>, hidden<3>>>);
  static_assert(
      std::is_same_v<decltype(view_as<queries>(flash)), view<const float, query<2>, hidden<3>>>);
  BOOST_TEST(view_as<queries>(memory)(1, 2) == 5);
  BOOST_TEST(view_as<queries>(flash)(1, 0) == 3);
  BOOST_TEST(view_as<queries>(std::span<float, 6>(array)).data() == array.data());
  using turned = decltype(std::declval<queries&>() | permute<hidden, query>);
  BOOST_TEST(view_as<turned>(memory)(2, 1) == 5);
}

BOOST_AUTO_TEST_SUITE_END()
