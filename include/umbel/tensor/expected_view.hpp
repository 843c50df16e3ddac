// SPDX-License-Identifier: BSL-1.0
// Run-time shapes: memory whose sizes are known only at run time (a file's header, another
// library's array) becomes a view or an error message. Nothing throws or allocates.
//
//   auto x = view_as<queries>(pointer, extents);   // extents: an array or span of sizes, in order
//   if (!x) report(x.error());   // "umbel: view_as: ... but the memory has [2, 5]"
//   else use(*x);              // or x->size(), x.value()
#pragma once

#include <umbel/config.hpp>
#include <umbel/tensor/interop.hpp>
#include <umbel/tensor/print.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {

namespace detail {
UMBEL_SAYS(gives_a_view_or_the_reason_why_there_is_none_so_write_star,
           "gives a view or, r.error(), the reason why there is none; write *r, here of");

namespace rules {
template <class View, bool Ok = false>
using used_as_a_view =
    verdict<Ok, say::view_as, say::gives_a_view_or_the_reason_why_there_is_none_so_write_star,
            typename layout_of<View>::axes>;
}  // namespace rules
}  // namespace detail

// The result of view_as with run-time sizes: a view or an error message.
template <class View>
class expected_view {
 public:
  constexpr explicit expected_view(View view) noexcept : view_(view) {}
  constexpr explicit expected_view(const detail::sentence_buffer& sentence) noexcept
      : view_(nullptr), sentence_(sentence) {}

  [[nodiscard]] constexpr bool has_value() const noexcept { return view_.data() != nullptr; }
  constexpr explicit operator bool() const noexcept { return has_value(); }

  // *r, r->data(): only if there is a value. Otherwise a view of nothing, or with UMBEL_CHECK=1 the
  // program stops with the message.
  [[nodiscard]] UMBEL_SHARED constexpr View operator*() const noexcept {
    if (UMBEL_CHECK) stop_without_a_value();
    return view_;
  }
  [[nodiscard]] UMBEL_SHARED constexpr const View* operator->() const noexcept UMBEL_LIFETIMEBOUND {
    if (UMBEL_CHECK) stop_without_a_value();
    return &view_;
  }
  // Always checked, since nothing throws: without a value, the handler of check.hpp receives the
  // message and the program stops. Without a handler the message is printed only with
  // UMBEL_CHECK=1, since otherwise <cstdio> isn't included.
  [[nodiscard]] UMBEL_SHARED constexpr View value() const noexcept {
    stop_without_a_value();
    return view_;
  }
  [[nodiscard]] constexpr View value_or(View other) const noexcept {
    return has_value() ? view_ : other;
  }
  // r(0, 1): refused, it is (*r)(0, 1).
  template <class... I>
  constexpr detail::invalid operator()(const I&...) const noexcept {
    static_assert(detail::report<detail::rules::used_as_a_view<View, (sizeof...(I) == npos)>>::ok,
                  "umbel: shapes do not fit");
    return {};
  }
  // One line without a line end, valid as long as this object; empty if there is a value.
  [[nodiscard]] constexpr const char* error() const noexcept { return sentence_.chars; }

 private:
  UMBEL_SHARED constexpr void stop_without_a_value() const noexcept {
    if (!has_value()) detail::stop<(UMBEL_CHECK != 0)>(error());
  }

  View view_;
  detail::sentence_buffer sentence_{};
};

// std::cout << r: refused, it is *r.
template <class Stream, class View>
  requires detail::text_stream<Stream>
Stream& operator<<(Stream& out, const expected_view<View>&) {
  static_assert(detail::report<detail::rules::used_as_a_view<View, sizeof(Stream) == 0>>::ok,
                "umbel: shapes do not fit");
  return out;
}

namespace detail {
// Run-time sizes, signed or unsigned.
template <class I>
constexpr void put_size(sentence_buffer& out, I size) {
  if (size < I{0}) {
    out.put('-');
    out.put(static_cast<std::size_t>(0) - static_cast<std::size_t>(size));
  } else {
    out.put(static_cast<std::size_t>(size));
  }
}

template <class I>
constexpr bool is_size(I given, std::size_t wanted) {
  return given >= I{0} && static_cast<std::size_t>(given) == wanted;
}

template <class Layout, class Extents>
constexpr bool extents_agree(const Extents& extents) {
  if (extents.size() != Layout::rank) return false;
  for (std::size_t i = 0; i < Layout::rank; ++i)
    if (!is_size(extents.data()[i], Layout::extents[i])) return false;
  return true;
}

// Any integer, clamped to the largest long long, which isn't a valid size either.
struct any_integer {
  long long value;
  template <class I>
    requires std::is_integral_v<I>
  constexpr any_integer(I given) noexcept : value(static_cast<long long>(given)) {
    if constexpr (std::is_unsigned_v<I> && sizeof(I) >= sizeof(value))
      if (given > static_cast<I>(-1) / 2) value = static_cast<long long>(static_cast<I>(-1) / 2);
  }
};
template <class I>
struct sizes {
  const I* first;
  std::size_t count;
  constexpr const I* data() const noexcept { return first; }
  constexpr std::size_t size() const noexcept { return count; }
};

template <class T, class Layout>
constexpr auto no_memory() {
  sentence_buffer out = compose<say::view_as, typename Layout::axes, say::needs>();
  out.put(" memory but the pointer is null");
  return expected_view<view_of<T, Layout>>(out);
}

}  // namespace detail

// Sizes in the order of Tensor's axes (a tensor or view type), for row-major memory.
//   "umbel: view_as: [batch=2, query=4] needs extents [2, 4] but the memory has [2, 5]"
template <class Tensor, class T, class Extents>
  requires(detail::tensor_like<Tensor> && Tensor::layout::contiguous &&
           requires(const Extents& e) {
             e.data();
             e.size();
           })
[[nodiscard]] constexpr auto view_as(T* memory, const Extents& extents) noexcept {
  using layout = typename Tensor::layout;
  using result = expected_view<detail::view_of<T, layout>>;
  static_assert(detail::report<detail::rules::memory_of_type<Tensor, T>>::ok,
                "umbel: shapes do not fit");
  if (memory == nullptr) return detail::no_memory<T, layout>();
  if (detail::extents_agree<layout>(extents)) return result(detail::view_of<T, layout>(memory));
  detail::sentence_buffer out =
      detail::compose<detail::say::view_as, typename layout::axes, detail::say::needs>();
  out.put(" extents [");
  for (std::size_t i = 0; i < layout::rank; ++i) {
    if (i) out.put(", ");
    out.put(layout::extents[i]);
  }
  out.put("] but the memory has [");
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i) out.put(", ");
    detail::put_size(out, extents.data()[i]);
  }
  out.put("]");
  return result(out);
}

// Sizes in a list or an array: view_as<queries>(pointer, {2, 4}).
template <class Tensor, class T, class I, std::size_t Rank>
  requires(detail::tensor_like<Tensor> && Tensor::layout::contiguous && std::is_integral_v<I>)
[[nodiscard]] constexpr auto view_as(T* memory, const I (&extents)[Rank]) noexcept {
  return view_as<Tensor>(memory, detail::sizes<I>{extents, Rank});
}

// A list of mixed integer types, {batch_size, 2}.
template <class Tensor, class T, std::size_t Rank>
  requires(detail::tensor_like<Tensor> && Tensor::layout::contiguous)
[[nodiscard]] constexpr auto view_as(T* memory,
                                     const detail::any_integer (&extents)[Rank]) noexcept {
  long long values[Rank]{};
  for (std::size_t i = 0; i < Rank; ++i) values[i] = extents[i].value;
  return view_as<Tensor>(memory, detail::sizes<long long>{values, Rank});
}

// A number of elements, such as that of a file or buffer.
//   "umbel: view_as: [batch=2, query=4] needs 8 elements but the memory holds 7"
template <class Tensor, class T, class I>
  requires(detail::tensor_like<Tensor> && Tensor::layout::contiguous && std::is_integral_v<I>)
[[nodiscard]] constexpr auto view_as(T* memory, I count) noexcept {
  using layout = typename Tensor::layout;
  using result = expected_view<detail::view_of<T, layout>>;
  static_assert(detail::report<detail::rules::memory_of_type<Tensor, T>>::ok,
                "umbel: shapes do not fit");
  if (memory == nullptr) return detail::no_memory<T, layout>();
  if (detail::is_size(count, layout::count)) return result(detail::view_of<T, layout>(memory));
  detail::sentence_buffer out =
      detail::compose<detail::say::view_as, typename layout::axes, detail::say::needs,
                      detail::number<layout::count>>();
  out.put(" elements but the memory holds ");
  detail::put_size(out, count);
  return result(out);
}

}  // namespace umbel::inline UMBEL_TARGET
UMBEL_WARNINGS_POP
