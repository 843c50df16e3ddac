// SPDX-License-Identifier: BSL-1.0
// Tables of weights, a row per position or token: borrowed, packed. Owned: tensor (Row, Feature).
#pragma once

#include <cstdint>
#include <umbel/config.hpp>
#include <umbel/kernel/plain/scaled.hpp>
#include <umbel/layer/prepacked.hpp>
#include <umbel/layer/weights.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
namespace say {
struct but_must_have;
struct the_table_has;
struct the_table_has_type;
}  // namespace say
UMBEL_SAYS(the_order_of_the_axes_is_unknown_so_write_view_as_with,
           "the order of the axes is unknown; write view_as<...>(memory) with");

// A tensor, a view, or memory with names, with the axes Row and Feature: row-major, or AnyOrder.
template <class T, class Row, class Feature, bool AnyOrder, class W>
concept table_of =
    says_its_axes<W> && !one_is_invalid<W> && named_weights<Row, Feature, W>::by_name &&
    rules::weights_with_names<T, Row, Feature, AnyOrder, W>::type::ok;
}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET

namespace umbel::portable {

// A borrowed table; the memory must outlive the view. Memory needs the order of its axes,
// view_as<token, hidden>(memory). AnyOrder: any strides, for packing; otherwise row-major.
template <class T, class Row, class Feature, bool AnyOrder>
class borrowed_table {
 public:
  using owned = tensor<T, Row, Feature>;

  UMBEL_SHARED constexpr explicit borrowed_table(detail::refused_weights) noexcept
      : data_(nullptr) {}
  template <class W>
    requires detail::table_of<T, Row, Feature, AnyOrder, std::remove_cvref_t<W>>
  UMBEL_SHARED constexpr borrowed_table(W&& w) noexcept : data_(detail::first_of_named(w)) {
    static_assert(detail::report<detail::rules::named_weights_stay<W, AnyOrder>>::ok,
                  "umbel: shapes do not fit");
    strides_.template of<detail::named_weights<Row, Feature, std::remove_cvref_t<W>>>();
  }
  template <class InOrder>
    requires(AnyOrder && std::is_same_v<InOrder, borrowed_table<T, Row, Feature, false>>)
  UMBEL_SHARED constexpr borrowed_table(const InOrder& w) noexcept : data_(w.data()) {}

  [[nodiscard]] UMBEL_SHARED constexpr const T* data() const noexcept { return data_; }
  [[nodiscard]] UMBEL_SHARED constexpr std::size_t row_stride() const noexcept {
    return strides_.in;
  }
  [[nodiscard]] UMBEL_SHARED constexpr std::size_t feature_stride() const noexcept {
    return strides_.out;
  }
  [[nodiscard]] UMBEL_SHARED constexpr view<const T, Row, Feature> rows() const noexcept
    requires(!AnyOrder)
  {
    return view<const T, Row, Feature>(data_);
  }

 private:
  const T* data_;
  UMBEL_NO_UNIQUE_ADDRESS detail::strides_of_map<Feature::size, AnyOrder> strides_{};
};
template <class T, class Row, class Feature>
using table_view = borrowed_table<T, Row, Feature, false>;
template <class T, class Row, class Feature>
using table_in_any_order = borrowed_table<T, Row, Feature, true>;

}  // namespace umbel::portable

namespace umbel::inline UMBEL_TARGET::detail {

template <class T, class Row, class Feature>
struct weights_in_any_order<portable::table_view<T, Row, Feature>> {
  using type = portable::table_in_any_order<T, Row, Feature>;
};

// A copied table, each number stored as Stored; in 8 bits with a scale per row.
template <class T, class Row, class Feature, class Stored>
class packed_table {
 public:
  constexpr void pack(const portable::table_in_any_order<T, Row, Feature>& w) noexcept {
    for (std::size_t i = 0; i < Row::size; ++i)
      for (std::size_t j = 0; j < Feature::size; ++j)
        values_[i * Feature::size + j] =
            static_cast<Stored>(w.data()[i * w.row_stride() + j * w.feature_stride()]);
  }
  [[nodiscard]] constexpr view<const Stored, Row, Feature> rows() const noexcept {
    return view<const Stored, Row, Feature>(values_);
  }

 private:
  alignas(64) Stored values_[Row::size * Feature::size]{};
};
template <class T, class Row, class Feature>
class packed_table<T, Row, Feature, std::int8_t> {
 public:
  constexpr void pack(const portable::table_in_any_order<T, Row, Feature>& w) noexcept {
    for (std::size_t i = 0; i < Row::size; ++i) {
      kernel::scale_of_numbers<T> scale;
      const T* const row = w.data() + i * w.row_stride();
      for (std::size_t j = 0; j < Feature::size; ++j) scale.add(row[j * w.feature_stride()]);
      const typename kernel::scale_of_numbers<T>::in_steps in_steps{scale};
      for (std::size_t j = 0; j < Feature::size; ++j)
        steps_[i * Feature::size + j] = in_steps(row[j * w.feature_stride()]);
      scales_[i] = scale.value();
    }
  }
  [[nodiscard]] constexpr view<const std::int8_t, Row, Feature> rows() const noexcept {
    return view<const std::int8_t, Row, Feature>(steps_);
  }
  [[nodiscard]] constexpr view<const T, Row> scales() const noexcept {
    return view<const T, Row>(scales_);
  }

 private:
  alignas(64) std::int8_t steps_[Row::size * Feature::size]{};
  T scales_[Row::size]{};
};
template <class T, class Row, class Feature, class Stored>
constexpr void add_layout(layout_hash& hash, const packed_table<T, Row, Feature, Stored>*) {
  hash.add(5, Row::size, Feature::size, sizeof(Stored), std::is_same_v<Stored, bfloat16>);
}

namespace rules {
// Given to a layer as its table, but not one.
template <class Layer, class T, class Row, class Feature, bool AnyOrder, class Given>
  requires lends<const Given&, T>
struct given_weights_rule<Layer, portable::borrowed_table<T, Row, Feature, AnyOrder>, Given> {
  using type = verdict<false, Layer, say::the_order_of_the_axes_is_unknown_so_write_view_as_with,
                       listed<typename Row::family, typename Feature::family>>;
};
template <class Layer, class T, class Row, class Feature, bool AnyOrder, tensor_like Given>
struct given_weights_rule<Layer, portable::borrowed_table<T, Row, Feature, AnyOrder>, Given> {
  using axes = typename layout_of<Given>::axes;
  using type = first_error<
      verdict<std::is_same_v<axes, shape<Row, Feature>>, Layer, say::the_table_has, axes,
              say::but_must_have, shape<Row, Feature>>,
      verdict<std::is_same_v<typename Given::value_type, T>, Layer, say::the_table_has_type,
              element<typename Given::value_type>, say::but_the_layer_has_type, element<T>>,
      verdict<false, Layer, axes, say::is_not_row_major_in_memory_so_pass_contiguous_of_x>>;
};
template <class Layer, class T, class Row, class Feature, bool AnyOrder, class U, std::size_t Count,
          class... Family>
struct given_weights_rule<Layer, portable::borrowed_table<T, Row, Feature, AnyOrder>,
                          portable::named_memory<U, Count, Family...>> {
  using wanted = shape<typename Row::family, typename Feature::family>;
  using type =
      first_error<verdict<std::is_same_v<shape<Family...>, wanted>, Layer, say::the_table_has,
                          shape<Family...>, say::but_must_have, wanted>,
                  verdict<std::is_same_v<U, T>, Layer, say::the_table_has_type, element<U>,
                          say::but_the_layer_has_type, element<T>>,
                  elements_for<Layer, shape<Row, Feature>, Row::size * Feature::size, Count>>;
};
}  // namespace rules

}  // namespace umbel::inline UMBEL_TARGET::detail
UMBEL_WARNINGS_POP
