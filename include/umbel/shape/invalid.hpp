// SPDX-License-Identifier: BSL-1.0
// `invalid`: the result of an operation whose check failed (verdict.hpp), so that one bug is one
// error.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <umbel/config.hpp>
#include <umbel/shape/axis.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail {
template <class... Axes>
struct layout;

// The value that `invalid` converts to, also in constant expressions.
template <class T>
inline constexpr T nothing_of{};
template <class T>
T& some_of() noexcept;

// Every operation accepts and returns it, it works as a tensor and as an element, and it converts
// to whatever the rest of your code needs, also in constant expressions. A program that compiles
// never makes one.
struct invalid {
  using is_invalid = invalid;
  // To float by a function that is not a template, and to no other number: std::exp of it is that
  // of float.
  constexpr operator float&() const noexcept { return const_cast<float&>(nothing_of<float>); }
  constexpr explicit operator bool() const noexcept { return true; }
  template <class T>
    requires(!std::is_arithmetic_v<T>)
  constexpr operator T&() const noexcept {
    if constexpr (std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                  !std::is_pointer_v<T>)
      return const_cast<T&>(nothing_of<T>);
    else
      return some_of<T>();
  }
  // With integers, an element: std::min(r(0, 0), 1.0f) needs two floats without conversions.
  template <class... Index>
  constexpr decltype(auto) operator()(Index...) const noexcept {
    if constexpr (sizeof...(Index) > 0 && (std::is_integral_v<Index> && ...))
      return const_cast<float&>(nothing_of<float>);
    else
      return invalid{};
  }
  template <class Index>
  constexpr invalid operator[](const Index&) const noexcept {
    return {};
  }
  template <class Index>
  constexpr invalid operator[](std::initializer_list<Index>) const noexcept {
    return {};
  }
  constexpr invalid operator*() const noexcept { return {}; }
  constexpr const invalid* operator->() const noexcept { return this; }
  constexpr invalid operator++() const noexcept { return {}; }
  constexpr invalid operator--() const noexcept { return {}; }
  constexpr invalid operator++(int) const noexcept { return {}; }
  constexpr invalid operator--(int) const noexcept { return {}; }
  template <class T>
  constexpr void operator=(const T&) const noexcept {}
  // (In formulas a comparison is a condition, not a bool.)
  template <class T>
    requires(!(
        requires { typename T::is_node; } || requires { typename T::is_positional; }))
  friend constexpr int operator<=>(invalid, const T&) noexcept {
    return 1;
  }

  // Members of a tensor.
  using layout = detail::layout<no_axis<1>>;
  using value_type = float;
  using element_type = float;
  static constexpr std::size_t rank = 1;
  template <template <std::size_t> class Axis>
  static constexpr std::size_t extent = 1;
  template <class... Dimension>
  static constexpr std::size_t size(const Dimension&...) noexcept {
    return 1;
  }
  constexpr float* data() const noexcept { return nullptr; }
  constexpr float* begin() const noexcept { return nullptr; }
  constexpr float* end() const noexcept { return nullptr; }

#define UMBEL_TAKEN(name)                                                               \
  template <class... Arguments>                                                         \
  static constexpr auto(name)(const Arguments&...) noexcept -> invalid {                \
    return {};                                                                          \
  }                                                                                     \
  template <class... Arguments>                                                         \
  static constexpr auto(name)(std::initializer_list<int>, const Arguments&...) noexcept \
      -> invalid {                                                                      \
    return {};                                                                          \
  }
  // Members of expected_view, of layers, and of other libraries' tensors and layers (all of
  // calls_of_other_libraries.hpp).
  UMBEL_TAKEN(has_value)
  UMBEL_TAKEN(value)
  UMBEL_TAKEN(value_or)
  UMBEL_TAKEN(error)
  UMBEL_TAKEN(into)
  UMBEL_TAKEN(transpose)
  UMBEL_TAKEN(t)
  UMBEL_TAKEN(swapaxes)
  UMBEL_TAKEN(swapdims)
  UMBEL_TAKEN(permute)
  UMBEL_TAKEN(movedim)
  UMBEL_TAKEN(moveaxis)
  UMBEL_TAKEN(adjoint)
  UMBEL_TAKEN(view)
  UMBEL_TAKEN(reshape)
  UMBEL_TAKEN(reshaped)
  UMBEL_TAKEN(view_as)
  UMBEL_TAKEN(flatten)
  UMBEL_TAKEN(ravel)
  UMBEL_TAKEN(unflatten)
  UMBEL_TAKEN(chunk)
  UMBEL_TAKEN(split)
  UMBEL_TAKEN(unsqueeze)
  UMBEL_TAKEN(expand)
  UMBEL_TAKEN(expand_as)
  UMBEL_TAKEN(repeat)
  UMBEL_TAKEN(tile)
  UMBEL_TAKEN(broadcast_to)
  UMBEL_TAKEN(squeeze)
  UMBEL_TAKEN(select)
  UMBEL_TAKEN(narrow)
  UMBEL_TAKEN(slice)
  UMBEL_TAKEN(index_select)
  UMBEL_TAKEN(gather)
  UMBEL_TAKEN(take_along_axis)
  UMBEL_TAKEN(row)
  UMBEL_TAKEN(col)
  UMBEL_TAKEN(block)
  UMBEL_TAKEN(head)
  UMBEL_TAKEN(tail)
  UMBEL_TAKEN(matmul)
  UMBEL_TAKEN(mm)
  UMBEL_TAKEN(bmm)
  UMBEL_TAKEN(dot)
  UMBEL_TAKEN(softmax)
  UMBEL_TAKEN(log_softmax)
  UMBEL_TAKEN(sum)
  UMBEL_TAKEN(mean)
  UMBEL_TAKEN(max)
  UMBEL_TAKEN(min)
  UMBEL_TAKEN(amax)
  UMBEL_TAKEN(amin)
  UMBEL_TAKEN(argmax)
  UMBEL_TAKEN(argmin)
  UMBEL_TAKEN(conv1d)
  UMBEL_TAKEN(conv2d)
  UMBEL_TAKEN(cumsum)
  UMBEL_TAKEN(cumulative_sum)
  UMBEL_TAKEN(cumprod)
  UMBEL_TAKEN(cummax)
  UMBEL_TAKEN(cummin)
  UMBEL_TAKEN(kth_largest)
  UMBEL_TAKEN(kthvalue)
  UMBEL_TAKEN(pad)
  UMBEL_TAKEN(topk)
  UMBEL_TAKEN(unfold)
  UMBEL_TAKEN(sort)
  UMBEL_TAKEN(argsort)
  UMBEL_TAKEN(median)
  UMBEL_TAKEN(flip)
  UMBEL_TAKEN(fliplr)
  UMBEL_TAKEN(flipud)
  UMBEL_TAKEN(norm)
  UMBEL_TAKEN(rsqrt)
  UMBEL_TAKEN(var)
  UMBEL_TAKEN(prod)
  UMBEL_TAKEN(dim)
  UMBEL_TAKEN(dims)
  UMBEL_TAKEN(numel)
  UMBEL_TAKEN(rows)
  UMBEL_TAKEN(cols)
  UMBEL_TAKEN(dimension)
  UMBEL_TAKEN(dimensions)
  UMBEL_TAKEN(sizes)
  UMBEL_TAKEN(nelement)
  UMBEL_TAKEN(length)
  UMBEL_TAKEN(resize)
  UMBEL_TAKEN(resize_)
  UMBEL_TAKEN(push_back)
  UMBEL_TAKEN(reserve)
  UMBEL_TAKEN(to)
  UMBEL_TAKEN(cast)
  UMBEL_TAKEN(astype)
  UMBEL_TAKEN(type)
  UMBEL_TAKEN(half)
  UMBEL_TAKEN(clone)
  UMBEL_TAKEN(copy)
  UMBEL_TAKEN(copy_)
  UMBEL_TAKEN(detach)
  UMBEL_TAKEN(eval)
  UMBEL_TAKEN(noalias)
  UMBEL_TAKEN(numpy)
  UMBEL_TAKEN(fill)
  UMBEL_TAKEN(fill_)
  UMBEL_TAKEN(zeros)
  UMBEL_TAKEN(ones)
  UMBEL_TAKEN(Zero)
  UMBEL_TAKEN(Ones)
  UMBEL_TAKEN(Constant)
  UMBEL_TAKEN(Random)
  UMBEL_TAKEN(randn)
  UMBEL_TAKEN(full)
  UMBEL_TAKEN(zero_)
  UMBEL_TAKEN(setZero)
  UMBEL_TAKEN(setConstant)
  UMBEL_TAKEN(setRandom)
  UMBEL_TAKEN(uniform_)
  UMBEL_TAKEN(normal_)
  UMBEL_TAKEN(at)
  UMBEL_TAKEN(item)
  UMBEL_TAKEN(index)
  UMBEL_TAKEN(coeff)
  UMBEL_TAKEN(pow)
  UMBEL_TAKEN(unaryExpr)
  UMBEL_TAKEN(cwiseProduct)
  UMBEL_TAKEN(contiguous)
  UMBEL_TAKEN(relu)
  UMBEL_TAKEN(gelu)
  UMBEL_TAKEN(sigmoid)
  UMBEL_TAKEN(masked_fill)
  UMBEL_TAKEN(masked_fill_)
  UMBEL_TAKEN(where)
  UMBEL_TAKEN(tril)
  UMBEL_TAKEN(triu)
  UMBEL_TAKEN(cat)
  UMBEL_TAKEN(concat)
  UMBEL_TAKEN(concatenate)
  UMBEL_TAKEN(stack)
  UMBEL_TAKEN(hstack)
  UMBEL_TAKEN(vstack)
  UMBEL_TAKEN(append)
  UMBEL_TAKEN(cuda)
  UMBEL_TAKEN(cpu)
  UMBEL_TAKEN(device)
  UMBEL_TAKEN(backward)
  UMBEL_TAKEN(requires_grad_)
  UMBEL_TAKEN(grad)
  UMBEL_TAKEN(forward)
  UMBEL_TAKEN(predict)
  UMBEL_TAKEN(step)
  UMBEL_TAKEN(generate)
  UMBEL_TAKEN(parameters)
  UMBEL_TAKEN(load_state_dict)
  UMBEL_TAKEN(train)
  UMBEL_TAKEN(segment)
  UMBEL_TAKEN(leftCols)
  UMBEL_TAKEN(rightCols)
  UMBEL_TAKEN(topRows)
  UMBEL_TAKEN(bottomRows)
  UMBEL_TAKEN(rowwise)
  UMBEL_TAKEN(colwise)
  UMBEL_TAKEN(maxCoeff)
  UMBEL_TAKEN(minCoeff)
  UMBEL_TAKEN(squaredNorm)
  UMBEL_TAKEN(extents)
  UMBEL_TAKEN(static_extent)
  UMBEL_TAKEN(stride)
  UMBEL_TAKEN(strides)
  UMBEL_TAKEN(mapping)
  UMBEL_TAKEN(array)
  UMBEL_TAKEN(cwiseQuotient)
  UMBEL_TAKEN(add)
  UMBEL_TAKEN(sub)
  UMBEL_TAKEN(mul)
  UMBEL_TAKEN(div)
  UMBEL_TAKEN(data_handle)
  UMBEL_TAKEN(data_ptr)
  UMBEL_TAKEN(exp)
  UMBEL_TAKEN(log)
  UMBEL_TAKEN(sqrt)
  UMBEL_TAKEN(abs)
  UMBEL_TAKEN(tanh)
  UMBEL_TAKEN(sin)
  UMBEL_TAKEN(cos)
  UMBEL_TAKEN(erf)
  UMBEL_TAKEN(floor)
  UMBEL_TAKEN(clamp)
  UMBEL_TAKEN(clip)
  UMBEL_TAKEN(remainder)
  UMBEL_TAKEN(fmod)
#undef UMBEL_TAKEN
  static const invalid shape, ndim, dtype, weight;
};
inline constexpr invalid invalid::shape{};
inline constexpr invalid invalid::ndim{};
inline constexpr invalid invalid::dtype{};
inline constexpr invalid invalid::weight{};

template <std::size_t>
constexpr invalid get(invalid) noexcept {
  return {};
}

template <class... X>
concept one_is_invalid = (requires { typename std::remove_cvref_t<X>::is_invalid; } || ...);

}  // namespace detail
}  // namespace umbel::inline UMBEL_TARGET

// auto [out, weights] = r;
template <>
struct std::tuple_size<umbel::detail::invalid> : std::integral_constant<std::size_t, 2> {};
template <std::size_t Index>
struct std::tuple_element<Index, umbel::detail::invalid> {
  using type = umbel::detail::invalid;
};
UMBEL_WARNINGS_POP
