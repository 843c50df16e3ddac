// SPDX-License-Identifier: BSL-1.0
// Calls of other libraries' tensors: x.view(2, 4, 100), x.shape, matmul(x, y). Each is refused with
// a message that shows Umbel's form. None exists for a program that asks: requires { x.resize(1); }
// is false. The functions are found by their first argument only, so their names stay free, and any
// function you define that fits is preferred.
#pragma once

#include <initializer_list>
#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::portable {

// An argument of a refused member: anything, also a braced list.
struct any_argument {
  constexpr any_argument() noexcept = default;
  template <class T>
  constexpr any_argument(const T&) noexcept {}
  template <class T>
  constexpr any_argument(std::initializer_list<T>) noexcept {}
};
#define UMBEL_ANY_ARGUMENTS                                                                      \
  any_argument = {}, any_argument = {}, any_argument = {}, any_argument = {}, any_argument = {}, \
  any_argument = {}, any_argument = {}, any_argument = {}

// Each use is one error with the message in it, and editors with clangd don't offer these names.
// g++ prints the type of a private member and the whole signature of a deleted function, so the
// message is part of these. clang prints the text of `diagnose_if` and `unavailable`, and clangd
// hides `unavailable` names. clang reports an `unavailable` template twice (see
// templates_of_other_libraries), so for clang a member is a template only if other libraries call
// it with template arguments. Both kinds of member are invisible to debuggers, which would list
// them with each tensor.
#if UMBEL_CLANG
#pragma clang diagnostic ignored "-Wgcc-compat"  // diagnose_if is clang's
struct refused_member {
  constexpr detail::invalid operator()(UMBEL_ANY_ARGUMENTS) const noexcept { return {}; }
};
#define UMBEL_REFUSED_PROPERTY(name)                              \
  __attribute__((unavailable("umbel: " #name ": " UMBEL_INSTEAD), \
                 nodebug)) static constexpr detail::invalid name{};
#define UMBEL_REFUSED_MEMBER(name)                                \
  __attribute__((unavailable("umbel: " #name ": " UMBEL_INSTEAD), \
                 nodebug)) static constexpr refused_member name{};
#define UMBEL_REFUSED_TEMPLATE(kind, name)                                                         \
  template <kind... Argument>                                                                      \
  __attribute__((unavailable(                                                                      \
      "umbel: " #name                                                                              \
      ": " UMBEL_INSTEAD))) static constexpr detail::invalid(name)(UMBEL_ANY_ARGUMENTS) noexcept { \
    return {};                                                                                     \
  }
#define UMBEL_REFUSED_FUNCTION(name)                                                     \
  template <class... Arguments>                                                          \
  __attribute__((diagnose_if(                                                            \
      !detail::one_is_invalid<Arguments...>, "umbel: " #name ": " UMBEL_INSTEAD,         \
      "error"))) friend constexpr detail::invalid(name)(const calls_of_other_libraries&, \
                                                        const Arguments&...) noexcept {  \
    return {};                                                                           \
  }
#define UMBEL_REFUSED_ALONG_AXES(name)                                                           \
  template <template <std::size_t> class Axis, template <std::size_t> class... Rest>             \
  __attribute__((                                                                                \
      diagnose_if(true, "umbel: " #name ": " UMBEL_INSTEAD, "error"))) friend constexpr detail:: \
      invalid(name)(const calls_of_other_libraries&) noexcept {                                  \
    return {};                                                                                   \
  }
#define UMBEL_REFUSED_OF_RANK(name)                                                              \
  template <int K, template <std::size_t> class... Axes>                                         \
  __attribute__((                                                                                \
      diagnose_if(true, "umbel: " #name ": " UMBEL_INSTEAD, "error"))) friend constexpr detail:: \
      invalid(name)(const calls_of_other_libraries&) noexcept {                                  \
    return {};                                                                                   \
  }
#define UMBEL_REFUSED_FUNCTION_OF_TEXT(name)                                             \
  template <class Text, class... Arguments>                                              \
  __attribute__((diagnose_if(                                                            \
      !detail::one_is_invalid<Arguments...>, "umbel: " #name ": " UMBEL_INSTEAD,         \
      "error"))) friend constexpr detail::invalid(name)(const Text&,                     \
                                                        const calls_of_other_libraries&, \
                                                        const Arguments&...) noexcept {  \
    return {};                                                                           \
  }
#else
template <text Sentence>
struct refused : detail::invalid {};
#define UMBEL_REFUSED(name) \
  refused<text<sizeof("umbel: " #name ": " UMBEL_INSTEAD)>{"umbel: " #name ": " UMBEL_INSTEAD}>
#define UMBEL_REFUSED_PROPERTY(name)           \
 private:                                      \
  static constexpr UMBEL_REFUSED(name) name{}; \
                                               \
 public:
#define UMBEL_REFUSED_MEMBER(name) \
  template <class... Argument>     \
  static constexpr UMBEL_REFUSED(name)(name)(UMBEL_ANY_ARGUMENTS) = delete;
#define UMBEL_REFUSED_TEMPLATE(kind, name) \
  template <kind... Argument>              \
  static constexpr UMBEL_REFUSED(name)(name)(UMBEL_ANY_ARGUMENTS) = delete;
#define UMBEL_REFUSED_FUNCTION(name)                                          \
  template <class... Arguments>                                               \
  friend constexpr UMBEL_REFUSED(name)(name)(const calls_of_other_libraries&, \
                                             const Arguments&...) = delete;
#define UMBEL_REFUSED_ALONG_AXES(name)                                               \
  template <template <std::size_t> class Axis, template <std::size_t> class... Rest> \
  friend constexpr UMBEL_REFUSED(name)(name)(const calls_of_other_libraries&) = delete;
#define UMBEL_REFUSED_OF_RANK(name)                      \
  template <int K, template <std::size_t> class... Axes> \
  friend constexpr UMBEL_REFUSED(name)(name)(const calls_of_other_libraries&) = delete;
#define UMBEL_REFUSED_FUNCTION_OF_TEXT(name)                                               \
  template <class Text, class... Arguments>                                                \
  friend constexpr UMBEL_REFUSED(name)(name)(const Text&, const calls_of_other_libraries&, \
                                             const Arguments&...) = delete;
#endif

// ALONG_AXES: sort<key>(x). OF_RANK: topk<2, key>(x).
// (A function's name in brackets isn't expanded: windows.h has a macro max.)
struct calls_of_other_libraries {
#define UMBEL_INSTEAD \
  "axes have names; list them in their new order, x | permute<heads, query, head_dim>"
  UMBEL_REFUSED_MEMBER(transpose)
  UMBEL_REFUSED_MEMBER(t)
  UMBEL_REFUSED_MEMBER(swapaxes)
  UMBEL_REFUSED_MEMBER(swapdims)
  UMBEL_REFUSED_MEMBER(permute)
  UMBEL_REFUSED_MEMBER(movedim)
  UMBEL_REFUSED_MEMBER(moveaxis)
  UMBEL_REFUSED_MEMBER(adjoint)
  UMBEL_REFUSED_FUNCTION(transpose)
  UMBEL_REFUSED_FUNCTION(swapaxes)
  UMBEL_REFUSED_FUNCTION(moveaxis)
  UMBEL_REFUSED_FUNCTION(rearrange)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                       \
  "axes have names; write x | reshape<token<8>, hidden<100>>, x | split<hidden, heads<5>, " \
  "head_dim> or x | merge<heads, head_dim, hidden>"
  UMBEL_REFUSED_MEMBER(view)
  UMBEL_REFUSED_MEMBER(reshape)
  UMBEL_REFUSED_MEMBER(reshaped)
  UMBEL_REFUSED_MEMBER(view_as)
  UMBEL_REFUSED_MEMBER(flatten)
  UMBEL_REFUSED_MEMBER(ravel)
  UMBEL_REFUSED_MEMBER(unflatten)
  UMBEL_REFUSED_MEMBER(chunk)
  UMBEL_REFUSED_MEMBER(split)
  UMBEL_REFUSED_FUNCTION(flatten)
  UMBEL_REFUSED_FUNCTION(unflatten)
  UMBEL_REFUSED_FUNCTION(chunk)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "axes have names; list all axes of the result, x | broadcast<batch<2>, token<8>, hidden<100>>"
  UMBEL_REFUSED_MEMBER(unsqueeze)
  UMBEL_REFUSED_MEMBER(expand)
  UMBEL_REFUSED_MEMBER(expand_as)
  UMBEL_REFUSED_MEMBER(repeat)
  UMBEL_REFUSED_MEMBER(tile)
  UMBEL_REFUSED_MEMBER(broadcast_to)
  UMBEL_REFUSED_FUNCTION(unsqueeze)
  UMBEL_REFUSED_FUNCTION(expand_dims)
  UMBEL_REFUSED_FUNCTION(broadcast_to)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "axes have names; write x | select_at<batch, 0> or x | slice<token, from<2>, extent<3>>"
  UMBEL_REFUSED_MEMBER(squeeze)
  UMBEL_REFUSED_MEMBER(select)
  UMBEL_REFUSED_MEMBER(narrow)
  UMBEL_REFUSED_MEMBER(slice)
  UMBEL_REFUSED_MEMBER(row)
  UMBEL_REFUSED_MEMBER(col)
  UMBEL_REFUSED_TEMPLATE(auto, block)
  UMBEL_REFUSED_TEMPLATE(auto, head)
  UMBEL_REFUSED_TEMPLATE(auto, tail)
  UMBEL_REFUSED_TEMPLATE(auto, segment)
  UMBEL_REFUSED_TEMPLATE(auto, leftCols)
  UMBEL_REFUSED_TEMPLATE(auto, rightCols)
  UMBEL_REFUSED_TEMPLATE(auto, topRows)
  UMBEL_REFUSED_TEMPLATE(auto, bottomRows)
  UMBEL_REFUSED_FUNCTION(squeeze)
  UMBEL_REFUSED_FUNCTION(narrow)
  UMBEL_REFUSED_FUNCTION(row)
  UMBEL_REFUSED_FUNCTION(submdspan)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "axes have names; write contract<hidden>(x, y) to sum over hidden, x * weights to project"
  UMBEL_REFUSED_MEMBER(matmul)
  UMBEL_REFUSED_MEMBER(mm)
  UMBEL_REFUSED_MEMBER(bmm)
  UMBEL_REFUSED_MEMBER(dot)
  UMBEL_REFUSED_FUNCTION(matmul)
  UMBEL_REFUSED_FUNCTION(mm)
  UMBEL_REFUSED_FUNCTION(bmm)
  UMBEL_REFUSED_FUNCTION(dot)
  UMBEL_REFUSED_FUNCTION(inner_product)
  UMBEL_REFUSED_FUNCTION_OF_TEXT(einsum)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write x | softmax<key>"
  UMBEL_REFUSED_MEMBER(softmax)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write x | log_softmax<key>"
  UMBEL_REFUSED_MEMBER(log_softmax)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "axes have names; write sum<token>(x), max<token>(x), min<token>(x) or mean<token>(x)"
  UMBEL_REFUSED_MEMBER(sum)
  UMBEL_REFUSED_MEMBER(mean)
  UMBEL_REFUSED_MEMBER(max)
  UMBEL_REFUSED_MEMBER(min)
  UMBEL_REFUSED_MEMBER(amax)
  UMBEL_REFUSED_MEMBER(amin)
  UMBEL_REFUSED_MEMBER(rowwise)
  UMBEL_REFUSED_MEMBER(colwise)
  UMBEL_REFUSED_MEMBER(maxCoeff)
  UMBEL_REFUSED_MEMBER(minCoeff)
  UMBEL_REFUSED_FUNCTION(amax)
  UMBEL_REFUSED_FUNCTION(amin)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write argmax<key>(x)"
  UMBEL_REFUSED_MEMBER(argmax)
  UMBEL_REFUSED_FUNCTION(argmax)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write argmax<key>(-x)"
  UMBEL_REFUSED_MEMBER(argmin)
  UMBEL_REFUSED_FUNCTION(argmin)
  UMBEL_REFUSED_ALONG_AXES(argmin)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write variance<token>(x)"
  UMBEL_REFUSED_MEMBER(var)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write sqrt(sum<token>(x * x))"
  UMBEL_REFUSED_MEMBER(norm)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write sum<token>(x * x)"
  UMBEL_REFUSED_MEMBER(squaredNorm)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write cumulative_sum<token>(x)"
  UMBEL_REFUSED_MEMBER(cumsum)
  UMBEL_REFUSED_MEMBER(cumulative_sum)
  UMBEL_REFUSED_FUNCTION(cumsum)
  UMBEL_REFUSED_ALONG_AXES(cumsum)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "Umbel has none; write a loop over the positions, x | select_at<token>(i)"
  UMBEL_REFUSED_MEMBER(cumprod)
  UMBEL_REFUSED_MEMBER(cummax)
  UMBEL_REFUSED_MEMBER(cummin)
  UMBEL_REFUSED_FUNCTION(cumprod)
  UMBEL_REFUSED_ALONG_AXES(cumprod)
  UMBEL_REFUSED_FUNCTION(cummax)
  UMBEL_REFUSED_ALONG_AXES(cummax)
  UMBEL_REFUSED_FUNCTION(cummin)
  UMBEL_REFUSED_ALONG_AXES(cummin)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write kth_largest<8, key>(x), the 8th largest along key"
  UMBEL_REFUSED_MEMBER(kth_largest)
  UMBEL_REFUSED_MEMBER(kthvalue)
  UMBEL_REFUSED_MEMBER(topk)
  UMBEL_REFUSED_FUNCTION(kthvalue)
  UMBEL_REFUSED_ALONG_AXES(kthvalue)
  UMBEL_REFUSED_OF_RANK(kthvalue)
  UMBEL_REFUSED_FUNCTION(topk)
  UMBEL_REFUSED_ALONG_AXES(topk)
  UMBEL_REFUSED_OF_RANK(topk)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "Umbel has none; write kth_largest<8, key>(x), the 8th largest along key"
  UMBEL_REFUSED_MEMBER(sort)
  UMBEL_REFUSED_MEMBER(argsort)
  UMBEL_REFUSED_MEMBER(median)
  UMBEL_REFUSED_FUNCTION(sort)
  UMBEL_REFUSED_ALONG_AXES(sort)
  UMBEL_REFUSED_FUNCTION(argsort)
  UMBEL_REFUSED_ALONG_AXES(argsort)
  UMBEL_REFUSED_FUNCTION(median)
  UMBEL_REFUSED_ALONG_AXES(median)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write x | flip<token>"
  UMBEL_REFUSED_MEMBER(flip)
  UMBEL_REFUSED_MEMBER(fliplr)
  UMBEL_REFUSED_MEMBER(flipud)
  UMBEL_REFUSED_FUNCTION(fliplr)
  UMBEL_REFUSED_FUNCTION(flipud)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "write a loop over the elements, for (float element : x)"
  UMBEL_REFUSED_MEMBER(prod)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "sizes are part of the type; write x.extent<hidden>, x.size() or x.rank"
  UMBEL_REFUSED_PROPERTY(shape)
  UMBEL_REFUSED_PROPERTY(ndim)
  UMBEL_REFUSED_PROPERTY(dtype)
  UMBEL_REFUSED_TEMPLATE(class, size)
  UMBEL_REFUSED_MEMBER(dim)
  UMBEL_REFUSED_MEMBER(dims)
  UMBEL_REFUSED_MEMBER(numel)
  UMBEL_REFUSED_MEMBER(rows)
  UMBEL_REFUSED_MEMBER(cols)
  UMBEL_REFUSED_MEMBER(dimension)
  UMBEL_REFUSED_MEMBER(dimensions)
  UMBEL_REFUSED_MEMBER(sizes)
  UMBEL_REFUSED_MEMBER(nelement)
  UMBEL_REFUSED_MEMBER(length)
  UMBEL_REFUSED_MEMBER(extents)
  UMBEL_REFUSED_MEMBER(static_extent)
  UMBEL_REFUSED_MEMBER(stride)
  UMBEL_REFUSED_MEMBER(strides)
  UMBEL_REFUSED_MEMBER(mapping)
  UMBEL_REFUSED_FUNCTION(numel)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "sizes are part of the type; declare another tensor"
  UMBEL_REFUSED_MEMBER(resize)
  UMBEL_REFUSED_MEMBER(resize_)
  UMBEL_REFUSED_MEMBER(push_back)
  UMBEL_REFUSED_MEMBER(reserve)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "the element type is part of the type; declare another tensor y and write copy(x, y)"
  UMBEL_REFUSED_TEMPLATE(class, to)
  UMBEL_REFUSED_TEMPLATE(class, cast)
  UMBEL_REFUSED_MEMBER(astype)
  UMBEL_REFUSED_MEMBER(type)
  UMBEL_REFUSED_MEMBER(half)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "tensors are values; write auto y = x, or copy(x, y) into existing memory"
  UMBEL_REFUSED_MEMBER(clone)
  UMBEL_REFUSED_MEMBER(copy)
  UMBEL_REFUSED_MEMBER(copy_)
  UMBEL_REFUSED_MEMBER(detach)
  UMBEL_REFUSED_MEMBER(eval)
  UMBEL_REFUSED_MEMBER(noalias)
  UMBEL_REFUSED_MEMBER(numpy)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "tensor<...> x{} is all zeros; set other values in a loop, for (float& element : x)"
  UMBEL_REFUSED_MEMBER(fill)
  UMBEL_REFUSED_MEMBER(fill_)
  UMBEL_REFUSED_MEMBER(zeros)
  UMBEL_REFUSED_MEMBER(ones)
  UMBEL_REFUSED_MEMBER(Zero)
  UMBEL_REFUSED_MEMBER(Ones)
  UMBEL_REFUSED_MEMBER(Constant)
  UMBEL_REFUSED_MEMBER(Random)
  UMBEL_REFUSED_MEMBER(randn)
  UMBEL_REFUSED_MEMBER(full)
  UMBEL_REFUSED_MEMBER(zero_)
  UMBEL_REFUSED_MEMBER(setZero)
  UMBEL_REFUSED_MEMBER(setConstant)
  UMBEL_REFUSED_MEMBER(setRandom)
  UMBEL_REFUSED_MEMBER(uniform_)
  UMBEL_REFUSED_MEMBER(normal_)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "for one element write x(i, j), with all positions, or x(at<query>(i), at<hidden>(j))"
  UMBEL_REFUSED_TEMPLATE(class, at)
  UMBEL_REFUSED_TEMPLATE(class, item)
  UMBEL_REFUSED_MEMBER(index)
  UMBEL_REFUSED_MEMBER(coeff)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "write a loop over the elements, for (float& element : x) element = f(element)"
  UMBEL_REFUSED_MEMBER(unaryExpr)
  UMBEL_REFUSED_MEMBER(array)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "elementwise functions are not members; write exp(x)"
  UMBEL_REFUSED_MEMBER(exp)
  UMBEL_REFUSED_MEMBER(log)
  UMBEL_REFUSED_MEMBER(sqrt)
  UMBEL_REFUSED_MEMBER(rsqrt)
  UMBEL_REFUSED_MEMBER(tanh)
  UMBEL_REFUSED_MEMBER(sigmoid)
  UMBEL_REFUSED_MEMBER(abs)
  UMBEL_REFUSED_MEMBER(sin)
  UMBEL_REFUSED_MEMBER(cos)
  UMBEL_REFUSED_MEMBER(erf)
  UMBEL_REFUSED_MEMBER(floor)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "elementwise functions are not members; write pow(x, 3)"
  UMBEL_REFUSED_MEMBER(pow)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "elementwise functions are not members; write clamp(x, low, high)"
  UMBEL_REFUSED_MEMBER(clamp)
  UMBEL_REFUSED_MEMBER(clip)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "write clamp(x, low, high)"
  UMBEL_REFUSED_FUNCTION(clip)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "arithmetic is element by element; write x % y"
  UMBEL_REFUSED_MEMBER(remainder)
  UMBEL_REFUSED_MEMBER(fmod)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "arithmetic is element by element; write x + y, x - y, x * y or x / y"
  UMBEL_REFUSED_MEMBER(cwiseProduct)
  UMBEL_REFUSED_MEMBER(cwiseQuotient)
  UMBEL_REFUSED_MEMBER(add)
  UMBEL_REFUSED_MEMBER(sub)
  UMBEL_REFUSED_MEMBER(mul)
  UMBEL_REFUSED_MEMBER(div)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "the first element is at x.data()"
  UMBEL_REFUSED_MEMBER(data_handle)
  UMBEL_REFUSED_TEMPLATE(class, data_ptr)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "write x | contiguous"
  UMBEL_REFUSED_MEMBER(contiguous)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "activations are operations; write x | relu"
  UMBEL_REFUSED_MEMBER(relu)
  UMBEL_REFUSED_MEMBER(gelu)
  UMBEL_REFUSED_FUNCTION(gelu)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                            \
  "write where(condition, a, b), or hide(scores, condition) before a softmax; pass attention a " \
  "mask, attention{w}(x, keep_mask(mask))"
  UMBEL_REFUSED_MEMBER(masked_fill)
  UMBEL_REFUSED_MEMBER(masked_fill_)
  UMBEL_REFUSED_MEMBER(where)
  UMBEL_REFUSED_FUNCTION(masked_fill)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                   \
  "masks are arguments of attention; write attention{w}(x, causal) or attention{w}(x, " \
  "keep_mask(mask))"
  UMBEL_REFUSED_MEMBER(tril)
  UMBEL_REFUSED_MEMBER(triu)
  UMBEL_REFUSED_FUNCTION(tril)
  UMBEL_REFUSED_FUNCTION(triu)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "axes have names; write concat<token>(a, b) along an axis, stack<batch>(a, b) along a new one"
  UMBEL_REFUSED_MEMBER(cat)
  UMBEL_REFUSED_MEMBER(concat)
  UMBEL_REFUSED_MEMBER(concatenate)
  UMBEL_REFUSED_MEMBER(stack)
  UMBEL_REFUSED_MEMBER(hstack)
  UMBEL_REFUSED_MEMBER(vstack)
  UMBEL_REFUSED_MEMBER(append)
  UMBEL_REFUSED_FUNCTION(cat)
  UMBEL_REFUSED_FUNCTION(concat)
  UMBEL_REFUSED_FUNCTION(concatenate)
  UMBEL_REFUSED_FUNCTION(stack)
  UMBEL_REFUSED_FUNCTION(hstack)
  UMBEL_REFUSED_FUNCTION(vstack)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "write lookup(table, ids) for rows of a table"
  UMBEL_REFUSED_MEMBER(index_select)
  UMBEL_REFUSED_FUNCTION(index_select)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write gather<bucket>(x, ids)"
  UMBEL_REFUSED_MEMBER(gather)
  UMBEL_REFUSED_MEMBER(take_along_axis)
  UMBEL_REFUSED_FUNCTION(take_along_axis)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write padded<token, before<1>, after<1>>(x)"
  UMBEL_REFUSED_MEMBER(pad)
  UMBEL_REFUSED_FUNCTION(pad)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "axes have names; write x | windows<token, kernel_size<3>>"
  UMBEL_REFUSED_MEMBER(unfold)
  UMBEL_REFUSED_FUNCTION(unfold)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                               \
  "a convolution is a product of windows; write contract<kernel_size, hidden>(x | " \
  "windows<token, kernel_size<3>>, w)"
  UMBEL_REFUSED_FUNCTION(conv1d)
  UMBEL_REFUSED_FUNCTION(conv2d)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                              \
  "a pool is a maximum or mean of windows; write max<kernel_row, kernel_column>(x | patches<row, " \
  "column, kernel_row<2>, kernel_column<2>>)"
  UMBEL_REFUSED_FUNCTION(max_pool1d)
  UMBEL_REFUSED_FUNCTION(max_pool2d)
  UMBEL_REFUSED_FUNCTION(avg_pool1d)
  UMBEL_REFUSED_FUNCTION(avg_pool2d)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                     \
  "it scales and shifts, x * scale + shift; or write fold_batch_norm of " \
  "umbel/weights/batch_norm.hpp"
  UMBEL_REFUSED_FUNCTION(batch_norm)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "Umbel runs on the CPU only; leave it out"
  UMBEL_REFUSED_MEMBER(cuda)
  UMBEL_REFUSED_MEMBER(cpu)
  UMBEL_REFUSED_MEMBER(device)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                     \
  "only formulas have gradients; include umbel/training.hpp and write gradient(loss)(x, " \
  "with_gradient(w, g))"
  UMBEL_REFUSED_MEMBER(backward)
  UMBEL_REFUSED_MEMBER(requires_grad_)
  UMBEL_REFUSED_MEMBER(grad)
  UMBEL_REFUSED_FUNCTION(backward)
#undef UMBEL_INSTEAD
};
// clang reports an `unavailable` template once only if it is found through a using-declaration.
struct templates_of_other_libraries : calls_of_other_libraries {
  using calls_of_other_libraries::at;
  using calls_of_other_libraries::block;
  using calls_of_other_libraries::bottomRows;
  using calls_of_other_libraries::cast;
  using calls_of_other_libraries::data_ptr;
  using calls_of_other_libraries::head;
  using calls_of_other_libraries::item;
  using calls_of_other_libraries::leftCols;
  using calls_of_other_libraries::rightCols;
  using calls_of_other_libraries::segment;
  using calls_of_other_libraries::tail;
  using calls_of_other_libraries::to;
  using calls_of_other_libraries::topRows;
};
// Base of tensor and view. It depends on them so that these names hide no others inside them.
template <class Tensor>
struct members_of_other_libraries : templates_of_other_libraries {};

// Base of operations and layers: members of other libraries' layers.
struct calls_of_other_layers {
#define UMBEL_INSTEAD "a layer is called like a function; write layer(x) or layer.into(out, x)"
  UMBEL_REFUSED_MEMBER(forward)
  UMBEL_REFUSED_MEMBER(predict)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                           \
  "a cache makes the steps; write key_value_cache<layer, key<1024>> cache and cache.step(out, " \
  "layer, x)"
  UMBEL_REFUSED_MEMBER(step)
  UMBEL_REFUSED_MEMBER(generate)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "a layer borrows its weights; set them in your own object, layer::weights w{}"
  UMBEL_REFUSED_MEMBER(parameters)
  UMBEL_REFUSED_MEMBER(load_state_dict)
  UMBEL_REFUSED_PROPERTY(weight)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD \
  "a layer has no training mode; leave it out, and pass the mask dropout(0.1, seed) for dropout"
  UMBEL_REFUSED_MEMBER(train)
  UMBEL_REFUSED_MEMBER(eval)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD                                                                     \
  "only formulas have gradients; include umbel/training.hpp and write gradient(loss)(x, " \
  "with_gradient(w, g))"
  UMBEL_REFUSED_MEMBER(backward)
#undef UMBEL_INSTEAD

#define UMBEL_INSTEAD "Umbel runs on the CPU only; leave it out"
  UMBEL_REFUSED_MEMBER(to)
#undef UMBEL_INSTEAD
};
#undef UMBEL_ANY_ARGUMENTS
#undef UMBEL_REFUSED
#undef UMBEL_REFUSED_PROPERTY
#undef UMBEL_REFUSED_MEMBER
#undef UMBEL_REFUSED_TEMPLATE
#undef UMBEL_REFUSED_FUNCTION
#undef UMBEL_REFUSED_ALONG_AXES
#undef UMBEL_REFUSED_OF_RANK
#undef UMBEL_REFUSED_FUNCTION_OF_TEXT

}  // namespace umbel::portable
#if !UMBEL_CLANG
// auto [rows, columns] = x.shape;
template <umbel::portable::text Sentence>
struct std::tuple_size<umbel::portable::refused<Sentence>>
    : std::tuple_size<umbel::detail::invalid> {};
template <std::size_t Index, umbel::portable::text Sentence>
struct std::tuple_element<Index, umbel::portable::refused<Sentence>>
    : std::tuple_element<Index, umbel::detail::invalid> {};
#endif
UMBEL_WARNINGS_POP
