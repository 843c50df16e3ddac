// SPDX-License-Identifier: BSL-1.0
// What tensors and views are to the language: plain memory, one pointer, constants. And which type
// each operation gives: a view of what has a name, a tensor of what ends here.
#include <umbel/bare.hpp>

#include <array>
#include <concepts>
#include <span>
#include <type_traits>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using by_head = tensor<float, batch<2>, query<4>, heads<5>, head_dim<20>>;

// ---- plain memory -------------------------------------------------------------------------------
template <class T>
constexpr bool plain =
    std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> &&
    std::is_trivially_destructible_v<T> && std::is_nothrow_copy_constructible_v<T>;

static_assert(plain<queries> && std::is_trivially_default_constructible_v<queries>);
static_assert(plain<tensor<int>> && plain<tensor<double, batch<3>>> &&
              plain<tensor<bool, batch<3>>>);
static_assert(sizeof(queries) == 800 * sizeof(float) && sizeof(tensor<double>) == sizeof(double));

template <class T>
constexpr bool one_pointer = plain<T> && sizeof(T) == sizeof(void*) && alignof(T) == alignof(void*);
static_assert(one_pointer<view<float, batch<2>, query<4>>>);
static_assert(one_pointer<view<const float, strided<batch<2>, 9>, strided<query<4>, 1>>>);
static_assert(one_pointer<view<double>>);
static_assert(one_pointer<decltype(std::declval<queries&>() | split<hidden, heads<5>, head_dim> |
                                   permute<batch, heads, query, head_dim>)>);

// An array and nothing else, on every target: files of elements are files of tensors.
static_assert(alignof(tensor<float, batch<3>>) == alignof(float) &&
              alignof(queries) == alignof(float));
static_assert(sizeof(tensor<float, batch<3>>) == 12 && sizeof(tensor<float, batch<6>>) == 24);
static_assert(sizeof(tensor<char, batch<3>>[5]) == 15 && sizeof(tensor<double, query<7>>) == 56);
static_assert(queries::size() == 800 && queries::rank == 3 && queries::extent<hidden> == 100);
static_assert(view<float, batch<2>, query<4>>::size() == 8 && queries::extent<key> == 0);
// So are weights, with biases and without.
using plain_layer = multi_head_attention<float, hidden<100>, heads<5>>;
using biased_layer = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
static_assert(sizeof(plain_layer::weights) == 4 * 100 * 100 * sizeof(float));
static_assert(sizeof(biased_layer::weights) == 4 * (100 * 100 + 100) * sizeof(float));
static_assert(sizeof(linear<float, hidden<3>, classes<5>, bias<true>>::weights) ==
              20 * sizeof(float));
static_assert(sizeof(linear<float, hidden<3>, classes<5>>::weights) == 15 * sizeof(float));
using encoder = encoder_layer<float, hidden<6>, heads<2>, intermediate<5>, bias<true>,
                              norm_first<true>, activation<relu>>;
static_assert(sizeof(encoder::weights) ==
              sizeof(float) * (2 * 6 + 4 * (36 + 6) + 2 * 6 + (30 + 5) + (30 + 6)));

// ---- constants ----------------------------------------------------------------------------------
static_assert([] {
  constexpr tensor<int, batch<2>, query<3>> x{1, 2, 3, 4, 5, 6};
  int weighted = 0, factor = 1;
  for (int e : x) weighted += e * factor++;
  return x(1, 2) == 6 && x(at<query>(1), at<batch>(1)) == 5 && weighted == 91;
}());
static_assert([] {
  queries x{};
  for (std::size_t i = 0; i < 800; ++i) x.data()[i] = static_cast<float>(i);
  auto h = x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim>;
  h(1, 2, 3, 4) = -1;
  const queries back = h | permute<batch, query, heads, head_dim> | merge<heads, head_dim, hidden>;
  const auto turned = x | transposed<query, hidden>;
  return x(1, 3, 44) == -1 && back == x && turned(1, 44, 3) == -1 && (x + x)(1, 0, 0) == 800 &&
         contiguous(h)(1, 2, 3, 4) == -1;
}());
static_assert(contract<query>(tensor<float, query<3>>{1.f, 2.f, 3.f},
                              tensor<float, query<3>>{4.f, 5.f, 6.f})() == 32);
static_assert(contract<query, key>(tensor<float, query<2>, key<2>>{1.f, 2.f, 3.f, 4.f},
                                   tensor<float, key<2>, query<2>>{5.f, 6.f, 7.f, 8.f})() == 69);
static_assert(tensor<int, batch<2>>(std::array{3, 2})(1) == 2);

// ---- a view of what has a name, a tensor of what ends here --------------------------------------
template <class X, class Operation>
using result = decltype(std::declval<X>() | std::declval<const Operation&>());
using split_hidden = decltype(split<hidden, heads<5>, head_dim>);

static_assert(std::same_as<result<queries&, split_hidden>,
                           view<float, batch<2>, query<4>, heads<5>, head_dim<20>>>);
static_assert(std::same_as<result<const queries&, split_hidden>,
                           view<const float, batch<2>, query<4>, heads<5>, head_dim<20>>>);
static_assert(std::same_as<result<queries, split_hidden>, by_head>);
static_assert(std::same_as<result<const queries, split_hidden>, by_head>);
static_assert(std::same_as<result<view<float, hidden<100>>, split_hidden>,
                           view<float, heads<5>, head_dim<20>>>);
static_assert(std::same_as<result<const view<float, hidden<100>>&, split_hidden>,
                           view<float, heads<5>, head_dim<20>>>);

template <auto operation>
constexpr bool reads_again =
    sizeof(std::declval<by_head&>() | operation) == sizeof(void*) &&
    std::is_pointer_v<decltype((std::declval<by_head&>() | operation).data())> &&
    std::is_const_v<
        std::remove_pointer_t<decltype((std::declval<const by_head&>() | operation).data())>> &&
    !std::is_same_v<decltype(std::declval<by_head>() | operation),
                    decltype(std::declval<by_head&>() | operation)>;
static_assert(reads_again<split<head_dim, key<4>, hidden>>);
static_assert(reads_again<split_into<head_dim, key<4>, hidden<5>>>);
static_assert(reads_again<merge<heads, head_dim, hidden>>);
static_assert(reads_again<permute<head_dim, heads, query, batch>>);
static_assert(reads_again<rename_axis<query, key>>);
static_assert(reads_again<reshape<token<8>, hidden<100>>>);
static_assert(reads_again<select_at<heads, 4>>);
static_assert(reads_again<slice<query, from<1>, extent<2>>>);
static_assert(reads_again<broadcast<batch<2>, query<4>, key<3>, heads<5>, head_dim<20>>>);

// contiguous and transposed copy; arithmetic and contract compute: tensors, row-major.
static_assert(std::same_as<decltype(std::declval<by_head&>() |
                                    permute<query, batch, heads, head_dim> | contiguous),
                           tensor<float, query<4>, batch<2>, heads<5>, head_dim<20>>>);
static_assert(std::same_as<decltype(std::declval<const queries&>() | transposed<batch, hidden>),
                           tensor<float, hidden<100>, query<4>, batch<2>>>);
static_assert(std::same_as<decltype(-(std::declval<queries&>() | permute<query, batch, hidden>)),
                           tensor<float, query<4>, batch<2>, hidden<100>>>);
static_assert(std::same_as<decltype(2 * std::declval<const queries&>() / 3 + 1), queries>);
static_assert(std::same_as<decltype(contract<hidden>(
                               std::declval<const queries&>() | permute<hidden, query, batch>,
                               std::declval<tensor<float, key<6>, hidden<100>>>())),
                           tensor<float, query<4>, batch<2>, key<6>>>);

// ---- memory of others ---------------------------------------------------------------------------
static_assert(std::same_as<decltype(view_as<queries>(std::declval<float (&)[2][4][100]>())),
                           view<float, batch<2>, query<4>, hidden<100>>>);
static_assert(
    std::same_as<decltype(view_as<query<2>, hidden<3>>(std::declval<const int (&)[2][3]>())),
                 view<const int, query<2>, hidden<3>>>);
template <class M>
using seen = decltype(view_as<query<4>, hidden<2>>(std::declval<M>()));
static_assert(std::same_as<seen<float (&)[8]>, view<float, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<const float (&)[8]>, view<const float, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<std::array<int, 8>&>, view<int, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<const std::array<int, 8>&>, view<const int, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<std::span<float, 8>>, view<float, query<4>, hidden<2>>>);
static_assert(
    std::same_as<seen<const std::span<const float, 8>&>, view<const float, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<float*>, view<float, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<const float*&>, view<const float, query<4>, hidden<2>>>);
static_assert(std::same_as<seen<volatile int*>::value_type, int>);

// ---- conversions --------------------------------------------------------------------------------
static_assert(std::is_convertible_v<queries&, view<float, batch<2>, query<4>, hidden<100>>>);
static_assert(
    std::is_convertible_v<const queries&, view<const float, batch<2>, query<4>, hidden<100>>>);
static_assert(!std::is_convertible_v<const queries&, view<float, batch<2>, query<4>, hidden<100>>>);
static_assert(!std::is_convertible_v<queries, view<float, batch<2>, query<4>, hidden<100>>>);
static_assert(std::is_convertible_v<view<float, query<4>>, view<const float, query<4>>>);
static_assert(!std::is_convertible_v<view<const float, query<4>>, view<float, query<4>>>);
static_assert(!std::is_convertible_v<view<float, query<4>>, view<float, key<4>>>);
static_assert(!std::is_convertible_v<float*, view<float, query<4>>>);
static_assert(!std::is_convertible_v<float, tensor<float, query<1>>>);
// Without axes there is one element; with axes nothing converts.
static_assert(std::is_convertible_v<tensor<float>, float> &&
              std::is_convertible_v<view<const float>, double>);
static_assert(!std::is_convertible_v<tensor<float, query<1>>, float> &&
              !std::is_convertible_v<view<const int, query<1>>, int> &&
              !std::is_convertible_v<tensor<float, query<1>>, bool>);
static_assert(float{tensor<float>{3}} == 3 && !accessible<tensor<float, query<4>>, tensor<int>>);
constexpr tensor<int, query<3>> three_integers{1, 2, 4};
constexpr int their_sum = sum<query>(three_integers);
static_assert(their_sum == 7);
// A tensor chooses the function of a view, not that of a number.
constexpr int kind_of(double) { return 0; }
constexpr int kind_of(view<const int, query<3>>) { return 1; }
static_assert(kind_of(three_integers) == 1);
static_assert(std::is_constructible_v<tensor<float, query<1>>, float>);

// ---- views that are deduced ---------------------------------------------------------------------
static_assert([] {
  queries x{};
  const queries& reads = x;
  view v = x;
  view u(x);
  view again = v;
  view w = reads;
  static_assert(std::same_as<decltype(v), view<float, batch<2>, query<4>, hidden<100>>>);
  static_assert(std::same_as<decltype(u), decltype(v)> &&
                std::same_as<decltype(again), decltype(v)>);
  static_assert(std::same_as<decltype(w), view<const float, batch<2>, query<4>, hidden<100>>>);
  v(1, 2, 3) = 7;
  return u(1, 2, 3) == 7 && again(1, 2, 3) == 7 && w(1, 2, 3) == 7;
}());

// ---- elements, one by one -----------------------------------------------------------------------
static_assert(std::is_constructible_v<tensor<float, query<3>>, float, float, float>);
static_assert(!accessible<queries&, double, double, double>);
static_assert(!accessible<queries, int, int> && !accessible<queries, int, int, int, int>);
static_assert(accessible<queries&, int, unsigned char, std::size_t>);
static_assert(
    accessible<queries, decltype(at<query>(1)), decltype(at<batch>(0)), decltype(at<hidden>(5))>);
static_assert(!accessible<queries, decltype(at<query>(1)), decltype(at<batch>(0)), int>);
static_assert(
    !accessible<queries, decltype(at<query>(1)), decltype(at<key>(0)), decltype(at<hidden>(5))>);

// ---- deduction ----------------------------------------------------------------------------------
// A tensor that is deduced from a view is a row-major copy of what the view shows.
constexpr tensor<float, query<2>, hidden<3>> by_query{1, 2, 3, 4, 5, 6};
constexpr tensor by_hidden = by_query | permute<hidden, query>;
static_assert(std::same_as<decltype(by_hidden), const tensor<float, hidden<3>, query<2>>>);
static_assert(by_hidden(2, 1) == 6 && by_hidden.data()[1] == 4);

// ---- derived classes ----------------------------------------------------------------------------
// Objects of a class derived from a tensor are tensors for every operation; temporary ones keep
// their memory.
struct embedded : queries {};
static_assert(std::same_as<decltype(std::declval<embedded&>() | split<hidden, heads<5>, head_dim>),
                           view<float, batch<2>, query<4>, heads<5>, head_dim<20>>>);
static_assert(
    std::same_as<decltype(std::declval<embedded>() | split<hidden, heads<5>, head_dim>), by_head>);
static_assert(std::same_as<decltype(std::declval<embedded>() | mean<query>),
                           tensor<float, batch<2>, hidden<100>>>);
static_assert(std::is_convertible_v<embedded&, view<const float, batch<2>, query<4>, hidden<100>>>);
