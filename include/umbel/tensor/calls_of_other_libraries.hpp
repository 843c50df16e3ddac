// SPDX-License-Identifier: BSL-1.0
// What tensors of other libraries have: x.view(2, 4, 100), x.shape, matmul(x, y). Each is refused
// with a sentence that says how Umbel writes it. The functions are found by their first argument
// only, so that their names stay free, and any function of yours that fits is preferred.
#pragma once

#include <umbel/config.hpp>
#include <umbel/shape/verdict.hpp>

UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET::detail {
namespace say {
// The calls.
struct adjoint;
struct amax;
struct append;
struct argmax;
struct as_type;
struct astype;
struct at;
struct backward;
struct block;
struct bmm;
struct broadcast_to;
struct cast;
struct cat;
struct chunk;
struct clone;
struct coeff;
struct col;
struct cols;
struct concat;
struct concatenate;
struct copy;
struct copy_;
struct cpu;
struct cuda;
struct detach;
struct device;
struct dim;
struct dimension;
struct dimensions;
struct dims;
struct dot;
struct einsum;
struct eval;
struct exp;
struct expand;
struct expand_as;
struct expand_dims;
struct fill;
struct fill_;
struct flatten;
struct gelu;
struct grad;
struct half;
struct head;
struct hstack;
struct index;
struct index_select;
struct inner_product;
struct item;
struct length;
struct log_softmax;
struct masked_fill;
struct masked_fill_;
struct matmul;
struct max;
struct mean;
struct min;
struct mm;
struct moveaxis;
struct movedim;
struct narrow;
struct nelement;
struct noalias;
struct norm;
struct normal_;
struct numel;
struct numpy;
struct permute;
struct prod;
struct push_back;
struct ravel;
struct rearrange;
struct relu;
struct repeat;
struct requires_grad_;
struct reserve;
struct reshape;
struct reshaped;
struct resize;
struct resize_;
struct row;
struct rows;
struct select;
struct setConstant;
struct setRandom;
struct setZero;
struct sigmoid;
struct sizes;
struct slice;
struct softmax;
struct split;
struct squeeze;
struct stack;
struct submdspan;
struct sum;
struct swapaxes;
struct swapdims;
struct t;
struct tail;
struct tanh;
struct tile;
struct to;
struct transpose;
struct tril;
struct triu;
struct type;
struct unflatten;
struct uniform_;
struct unsqueeze;
struct var;
struct view;
struct view_as;
struct vstack;
struct where;
struct zero_;
struct dtype;
struct ndim;
struct shape;
struct contiguous;
struct sqrt;
struct log;
struct abs;
struct zeros;
struct ones;
struct Zero;
struct Ones;
struct Constant;
struct Random;
struct randn;
struct full;
struct size;
struct T;
// What to write instead.
struct axes_have_names_so_list_them_in_their_new_order_with_permute;
struct axes_have_names_so_write_reshape_or_split_or_merge;
struct axes_have_names_so_write_broadcast_of_the_added_axes;
struct axes_have_names_so_write_select_at_or_slice;
struct axes_have_names_so_write_contract_or_multiply_by_weights;
struct axes_have_names_so_write_softmax_of_one;
struct axes_have_names_so_write_mean_of_one_or_a_loop_over_elements;
struct sizes_are_in_the_type_so_write_extent_or_size_or_rank;
struct sizes_are_in_the_type_so_declare_another_tensor;
struct the_element_type_is_in_the_type_so_declare_another_tensor;
struct tensors_are_values_so_write_a_copy_as_of_a_number;
struct tensors_start_at_zero_with_braces_so_write_a_loop_for_other_values;
struct one_position_for_each_axis_so_write_x_of_i_and_j;
struct activations_are_operations_so_write_x_or_relu;
struct masks_are_arguments_of_attention_so_pass_causal_or_keep_mask_or_drop_mask;
struct sizes_are_in_the_type_so_copy_each_part_into_a_slice;
struct functions_of_elements_are_loops_so_write_a_loop;
struct name_the_operation_after_a_bar_so_write_x_or_contiguous;
struct there_is_one_device_and_nothing_is_trained;
}  // namespace say

template <>
inline constexpr const char*
    spoken<say::axes_have_names_so_list_them_in_their_new_order_with_permute> =
        "axes have names; list them in their new order, x | permute<heads, query, head_dim>";
template <>
inline constexpr const char* spoken<say::axes_have_names_so_write_reshape_or_split_or_merge> =
    "axes have names; write x | reshape<token<8>, hidden<100>>, x | split<hidden, heads<5>, "
    "head_dim> or x | merge<heads, head_dim, hidden>";
template <>
inline constexpr const char* spoken<say::axes_have_names_so_write_broadcast_of_the_added_axes> =
    "axes have names; add axes with x | broadcast<batch<2>>";
template <>
inline constexpr const char* spoken<say::axes_have_names_so_write_select_at_or_slice> =
    "axes have names; write x | select_at<batch, 0> or x | slice<token, from<2>, extent<3>>";
template <>
inline constexpr const char* spoken<say::axes_have_names_so_write_contract_or_multiply_by_weights> =
    "axes have names; contract<hidden>(x, y) sums over hidden, x * weights is a projection";
template <>
inline constexpr const char* spoken<say::axes_have_names_so_write_softmax_of_one> =
    "axes have names; write x | softmax<key>";
template <>
inline constexpr const char* spoken<
    say::axes_have_names_so_write_mean_of_one_or_a_loop_over_elements> =
    "axes have names; write x | mean<token>, or a loop over the elements, for (float element : x)";
template <>
inline constexpr const char* spoken<say::sizes_are_in_the_type_so_write_extent_or_size_or_rank> =
    "sizes are part of the type; write x.extent<hidden>, x.size() or x.rank";
template <>
inline constexpr const char* spoken<say::sizes_are_in_the_type_so_declare_another_tensor> =
    "sizes are part of the type; declare another tensor";
template <>
inline constexpr const char*
    spoken<say::the_element_type_is_in_the_type_so_declare_another_tensor> =
        "the element type is part of the type; declare another tensor and convert each element";
template <>
inline constexpr const char* spoken<say::tensors_are_values_so_write_a_copy_as_of_a_number> =
    "tensors are values; write auto y = x, or copy(x, y) into memory that is there";
template <>
inline constexpr const char*
    spoken<say::tensors_start_at_zero_with_braces_so_write_a_loop_for_other_values> =
        "tensor<...> x{} is zero; set other values in a loop, for (float& element : x)";
template <>
inline constexpr const char* spoken<say::one_position_for_each_axis_so_write_x_of_i_and_j> =
    "write x(i, j), one position for each axis, or x(at<query>(i), at<hidden>(j))";
template <>
inline constexpr const char* spoken<say::activations_are_operations_so_write_x_or_relu> =
    "activations are operations; write x | relu";
template <>
inline constexpr const char*
    spoken<say::masks_are_arguments_of_attention_so_pass_causal_or_keep_mask_or_drop_mask> =
        "masks are arguments of attention; write attention{w}(x, causal) or attention{w}(x, "
        "keep_mask(mask))";
template <>
inline constexpr const char* spoken<say::sizes_are_in_the_type_so_copy_each_part_into_a_slice> =
    "declare a tensor for both, and copy each part into a slice of it";
template <>
inline constexpr const char* spoken<say::functions_of_elements_are_loops_so_write_a_loop> =
    "write a loop over the elements, for (float& element : x) element = f(element)";
template <>
inline constexpr const char* spoken<say::name_the_operation_after_a_bar_so_write_x_or_contiguous> =
    "write x | contiguous";
template <>
inline constexpr const char* spoken<say::there_is_one_device_and_nothing_is_trained> =
    "Umbel computes on the processor and does not train";

namespace rules {
// Never holds. Arguments, Tensor: so that it is asked only where there is such a call or member.
template <class Call, class Instead, class... Arguments>
using call_of_another_library = verdict<(sizeof...(Arguments) == npos), Call, Instead>;
template <class Member, class Instead, class Tensor>
using member_of_another_library = verdict<(sizeof(Tensor*) == 0), Member, Instead>;
template <class Number>
using size_by_number =
    member_of_another_library<say::size, say::sizes_are_in_the_type_so_write_extent_or_size_or_rank,
                              Number>;
}  // namespace rules
}  // namespace umbel::inline UMBEL_TARGET::detail

namespace umbel::portable {

// Base of tensor and view.
struct calls_of_other_libraries {
// (In brackets, a name is not expanded: windows.h has a macro max.)
#define UMBEL_REFUSED_MEMBER(call, instead)                                                        \
  template <class... Arguments>                                                                    \
  UMBEL_SHARED static constexpr detail::invalid(call)(const Arguments&...) noexcept {              \
    using rule = detail::rules::call_of_another_library<detail::say::call, instead, Arguments...>; \
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");                           \
    return {};                                                                                     \
  }
#define UMBEL_REFUSED_FUNCTION(call, instead)                                                      \
  template <class... Arguments>                                                                    \
  UMBEL_SHARED friend constexpr detail::invalid(call)(const calls_of_other_libraries&,             \
                                                      const Arguments&...) noexcept {              \
    using rule = detail::rules::call_of_another_library<detail::say::call, instead, Arguments...>; \
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");                           \
    return {};                                                                                     \
  }

  using permute_instead = detail::say::axes_have_names_so_list_them_in_their_new_order_with_permute;
  UMBEL_REFUSED_MEMBER(transpose, permute_instead)
  UMBEL_REFUSED_MEMBER(t, permute_instead)
  UMBEL_REFUSED_MEMBER(swapaxes, permute_instead)
  UMBEL_REFUSED_MEMBER(swapdims, permute_instead)
  UMBEL_REFUSED_MEMBER(permute, permute_instead)
  UMBEL_REFUSED_MEMBER(movedim, permute_instead)
  UMBEL_REFUSED_MEMBER(moveaxis, permute_instead)
  UMBEL_REFUSED_MEMBER(adjoint, permute_instead)
  UMBEL_REFUSED_FUNCTION(transpose, permute_instead)
  UMBEL_REFUSED_FUNCTION(swapaxes, permute_instead)
  UMBEL_REFUSED_FUNCTION(moveaxis, permute_instead)
  UMBEL_REFUSED_FUNCTION(rearrange, permute_instead)

  using reshape_instead = detail::say::axes_have_names_so_write_reshape_or_split_or_merge;
  UMBEL_REFUSED_MEMBER(view, reshape_instead)
  UMBEL_REFUSED_MEMBER(reshape, reshape_instead)
  UMBEL_REFUSED_MEMBER(reshaped, reshape_instead)
  UMBEL_REFUSED_MEMBER(view_as, reshape_instead)
  UMBEL_REFUSED_MEMBER(flatten, reshape_instead)
  UMBEL_REFUSED_MEMBER(ravel, reshape_instead)
  UMBEL_REFUSED_MEMBER(unflatten, reshape_instead)
  UMBEL_REFUSED_MEMBER(chunk, reshape_instead)
  UMBEL_REFUSED_MEMBER(split, reshape_instead)
  UMBEL_REFUSED_FUNCTION(flatten, reshape_instead)
  UMBEL_REFUSED_FUNCTION(unflatten, reshape_instead)
  UMBEL_REFUSED_FUNCTION(chunk, reshape_instead)

  using broadcast_instead = detail::say::axes_have_names_so_write_broadcast_of_the_added_axes;
  UMBEL_REFUSED_MEMBER(unsqueeze, broadcast_instead)
  UMBEL_REFUSED_MEMBER(expand, broadcast_instead)
  UMBEL_REFUSED_MEMBER(expand_as, broadcast_instead)
  UMBEL_REFUSED_MEMBER(repeat, broadcast_instead)
  UMBEL_REFUSED_MEMBER(tile, broadcast_instead)
  UMBEL_REFUSED_MEMBER(broadcast_to, broadcast_instead)
  UMBEL_REFUSED_FUNCTION(unsqueeze, broadcast_instead)
  UMBEL_REFUSED_FUNCTION(expand_dims, broadcast_instead)
  UMBEL_REFUSED_FUNCTION(broadcast_to, broadcast_instead)

  using select_instead = detail::say::axes_have_names_so_write_select_at_or_slice;
  UMBEL_REFUSED_MEMBER(squeeze, select_instead)
  UMBEL_REFUSED_MEMBER(select, select_instead)
  UMBEL_REFUSED_MEMBER(narrow, select_instead)
  UMBEL_REFUSED_MEMBER(slice, select_instead)
  UMBEL_REFUSED_MEMBER(index_select, select_instead)
  UMBEL_REFUSED_MEMBER(row, select_instead)
  UMBEL_REFUSED_MEMBER(col, select_instead)
  UMBEL_REFUSED_MEMBER(block, select_instead)
  UMBEL_REFUSED_MEMBER(head, select_instead)
  UMBEL_REFUSED_MEMBER(tail, select_instead)
  UMBEL_REFUSED_FUNCTION(squeeze, select_instead)
  UMBEL_REFUSED_FUNCTION(narrow, select_instead)
  UMBEL_REFUSED_FUNCTION(index_select, select_instead)
  UMBEL_REFUSED_FUNCTION(row, select_instead)
  UMBEL_REFUSED_FUNCTION(submdspan, select_instead)

  using contract_instead = detail::say::axes_have_names_so_write_contract_or_multiply_by_weights;
  UMBEL_REFUSED_MEMBER(matmul, contract_instead)
  UMBEL_REFUSED_MEMBER(mm, contract_instead)
  UMBEL_REFUSED_MEMBER(bmm, contract_instead)
  UMBEL_REFUSED_MEMBER(dot, contract_instead)
  UMBEL_REFUSED_FUNCTION(matmul, contract_instead)
  UMBEL_REFUSED_FUNCTION(mm, contract_instead)
  UMBEL_REFUSED_FUNCTION(bmm, contract_instead)
  UMBEL_REFUSED_FUNCTION(dot, contract_instead)
  template <class Text, class... Arguments>
  UMBEL_SHARED friend constexpr detail::invalid einsum(const Text&, const calls_of_other_libraries&,
                                                       const Arguments&...) noexcept {
    using rule =
        detail::rules::call_of_another_library<detail::say::einsum, contract_instead, Arguments...>;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    return {};
  }
  UMBEL_REFUSED_FUNCTION(inner_product, contract_instead)

  using softmax_instead = detail::say::axes_have_names_so_write_softmax_of_one;
  UMBEL_REFUSED_MEMBER(softmax, softmax_instead)
  UMBEL_REFUSED_MEMBER(log_softmax, softmax_instead)
  UMBEL_REFUSED_FUNCTION(log_softmax, softmax_instead)

  using reduce_instead = detail::say::axes_have_names_so_write_mean_of_one_or_a_loop_over_elements;
  UMBEL_REFUSED_MEMBER(sum, reduce_instead)
  UMBEL_REFUSED_MEMBER(mean, reduce_instead)
  UMBEL_REFUSED_MEMBER(max, reduce_instead)
  UMBEL_REFUSED_MEMBER(min, reduce_instead)
  UMBEL_REFUSED_MEMBER(amax, reduce_instead)
  UMBEL_REFUSED_MEMBER(argmax, reduce_instead)
  UMBEL_REFUSED_MEMBER(norm, reduce_instead)
  UMBEL_REFUSED_MEMBER(var, reduce_instead)
  UMBEL_REFUSED_MEMBER(prod, reduce_instead)
  UMBEL_REFUSED_FUNCTION(argmax, reduce_instead)
  UMBEL_REFUSED_FUNCTION(amax, reduce_instead)

  using size_instead = detail::say::sizes_are_in_the_type_so_write_extent_or_size_or_rank;
  UMBEL_REFUSED_MEMBER(dim, size_instead)
  UMBEL_REFUSED_MEMBER(dims, size_instead)
  UMBEL_REFUSED_MEMBER(numel, size_instead)
  UMBEL_REFUSED_MEMBER(rows, size_instead)
  UMBEL_REFUSED_MEMBER(cols, size_instead)
  UMBEL_REFUSED_MEMBER(dimension, size_instead)
  UMBEL_REFUSED_MEMBER(dimensions, size_instead)
  UMBEL_REFUSED_MEMBER(sizes, size_instead)
  UMBEL_REFUSED_MEMBER(nelement, size_instead)
  UMBEL_REFUSED_MEMBER(length, size_instead)
  UMBEL_REFUSED_FUNCTION(numel, size_instead)

  using resize_instead = detail::say::sizes_are_in_the_type_so_declare_another_tensor;
  UMBEL_REFUSED_MEMBER(resize, resize_instead)
  UMBEL_REFUSED_MEMBER(resize_, resize_instead)
  UMBEL_REFUSED_MEMBER(push_back, resize_instead)
  UMBEL_REFUSED_MEMBER(reserve, resize_instead)

  using element_instead = detail::say::the_element_type_is_in_the_type_so_declare_another_tensor;
  template <class... Element, class... Arguments>
  UMBEL_SHARED static constexpr detail::invalid to(const Arguments&...) noexcept {
    using rule = detail::rules::call_of_another_library<detail::say::to, element_instead,
                                                        Element..., Arguments...>;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    return {};
  }
  template <class... Element, class... Arguments>
  UMBEL_SHARED static constexpr detail::invalid cast(const Arguments&...) noexcept {
    using rule = detail::rules::call_of_another_library<detail::say::cast, element_instead,
                                                        Element..., Arguments...>;
    static_assert(detail::report<rule>::ok, "umbel: shapes do not fit");
    return {};
  }
  UMBEL_REFUSED_MEMBER(astype, element_instead)
  UMBEL_REFUSED_MEMBER(type, element_instead)
  UMBEL_REFUSED_MEMBER(half, element_instead)

  using copy_instead = detail::say::tensors_are_values_so_write_a_copy_as_of_a_number;
  UMBEL_REFUSED_MEMBER(clone, copy_instead)
  UMBEL_REFUSED_MEMBER(copy, copy_instead)
  UMBEL_REFUSED_MEMBER(copy_, copy_instead)
  UMBEL_REFUSED_MEMBER(detach, copy_instead)
  UMBEL_REFUSED_MEMBER(eval, copy_instead)
  UMBEL_REFUSED_MEMBER(noalias, copy_instead)
  UMBEL_REFUSED_MEMBER(numpy, copy_instead)

  using fill_instead =
      detail::say::tensors_start_at_zero_with_braces_so_write_a_loop_for_other_values;
  UMBEL_REFUSED_MEMBER(fill, fill_instead)
  UMBEL_REFUSED_MEMBER(fill_, fill_instead)
  UMBEL_REFUSED_MEMBER(zeros, fill_instead)
  UMBEL_REFUSED_MEMBER(ones, fill_instead)
  UMBEL_REFUSED_MEMBER(Zero, fill_instead)
  UMBEL_REFUSED_MEMBER(Ones, fill_instead)
  UMBEL_REFUSED_MEMBER(Constant, fill_instead)
  UMBEL_REFUSED_MEMBER(Random, fill_instead)
  UMBEL_REFUSED_MEMBER(randn, fill_instead)
  UMBEL_REFUSED_MEMBER(full, fill_instead)
  UMBEL_REFUSED_MEMBER(zero_, fill_instead)
  UMBEL_REFUSED_MEMBER(setZero, fill_instead)
  UMBEL_REFUSED_MEMBER(setConstant, fill_instead)
  UMBEL_REFUSED_MEMBER(setRandom, fill_instead)
  UMBEL_REFUSED_MEMBER(uniform_, fill_instead)
  UMBEL_REFUSED_MEMBER(normal_, fill_instead)

  using access_instead = detail::say::one_position_for_each_axis_so_write_x_of_i_and_j;
  UMBEL_REFUSED_MEMBER(at, access_instead)
  UMBEL_REFUSED_MEMBER(item, access_instead)
  UMBEL_REFUSED_MEMBER(index, access_instead)
  UMBEL_REFUSED_MEMBER(coeff, access_instead)

  using loop_instead = detail::say::functions_of_elements_are_loops_so_write_a_loop;
  UMBEL_REFUSED_MEMBER(exp, loop_instead)
  UMBEL_REFUSED_MEMBER(log, loop_instead)
  UMBEL_REFUSED_MEMBER(sqrt, loop_instead)
  UMBEL_REFUSED_MEMBER(abs, loop_instead)
  UMBEL_REFUSED_FUNCTION(exp, loop_instead)
  UMBEL_REFUSED_FUNCTION(log, loop_instead)
  UMBEL_REFUSED_FUNCTION(sqrt, loop_instead)
  UMBEL_REFUSED_FUNCTION(abs, loop_instead)
  UMBEL_REFUSED_FUNCTION(tanh, loop_instead)
  UMBEL_REFUSED_FUNCTION(sigmoid, loop_instead)

  using bar_instead = detail::say::name_the_operation_after_a_bar_so_write_x_or_contiguous;
  UMBEL_REFUSED_MEMBER(contiguous, bar_instead)

  using activation_instead = detail::say::activations_are_operations_so_write_x_or_relu;
  UMBEL_REFUSED_MEMBER(relu, activation_instead)
  UMBEL_REFUSED_MEMBER(gelu, activation_instead)
  UMBEL_REFUSED_MEMBER(tanh, activation_instead)
  UMBEL_REFUSED_MEMBER(sigmoid, activation_instead)
  UMBEL_REFUSED_FUNCTION(gelu, activation_instead)

  using mask_instead =
      detail::say::masks_are_arguments_of_attention_so_pass_causal_or_keep_mask_or_drop_mask;
  UMBEL_REFUSED_MEMBER(masked_fill, mask_instead)
  UMBEL_REFUSED_MEMBER(masked_fill_, mask_instead)
  UMBEL_REFUSED_MEMBER(where, mask_instead)
  UMBEL_REFUSED_MEMBER(tril, mask_instead)
  UMBEL_REFUSED_MEMBER(triu, mask_instead)
  UMBEL_REFUSED_FUNCTION(masked_fill, mask_instead)
  UMBEL_REFUSED_FUNCTION(tril, mask_instead)
  UMBEL_REFUSED_FUNCTION(triu, mask_instead)

  using join_instead = detail::say::sizes_are_in_the_type_so_copy_each_part_into_a_slice;
  UMBEL_REFUSED_MEMBER(cat, join_instead)
  UMBEL_REFUSED_MEMBER(concat, join_instead)
  UMBEL_REFUSED_MEMBER(concatenate, join_instead)
  UMBEL_REFUSED_MEMBER(stack, join_instead)
  UMBEL_REFUSED_MEMBER(hstack, join_instead)
  UMBEL_REFUSED_MEMBER(vstack, join_instead)
  UMBEL_REFUSED_MEMBER(append, join_instead)
  UMBEL_REFUSED_FUNCTION(cat, join_instead)
  UMBEL_REFUSED_FUNCTION(concat, join_instead)
  UMBEL_REFUSED_FUNCTION(concatenate, join_instead)
  UMBEL_REFUSED_FUNCTION(stack, join_instead)
  UMBEL_REFUSED_FUNCTION(hstack, join_instead)
  UMBEL_REFUSED_FUNCTION(vstack, join_instead)

  using device_instead = detail::say::there_is_one_device_and_nothing_is_trained;
  UMBEL_REFUSED_MEMBER(cuda, device_instead)
  UMBEL_REFUSED_MEMBER(cpu, device_instead)
  UMBEL_REFUSED_MEMBER(device, device_instead)
  UMBEL_REFUSED_MEMBER(backward, device_instead)
  UMBEL_REFUSED_MEMBER(requires_grad_, device_instead)
  UMBEL_REFUSED_MEMBER(grad, device_instead)
  UMBEL_REFUSED_FUNCTION(backward, device_instead)
#undef UMBEL_REFUSED_MEMBER
#undef UMBEL_REFUSED_FUNCTION
};

// The same with what is not called, as x.shape[0].
template <class Tensor>
struct members_of_other_libraries : calls_of_other_libraries {
  static constexpr detail::invalid shape = detail::refused<
      detail::rules::member_of_another_library<detail::say::shape, size_instead, Tensor>>;
  static constexpr detail::invalid T = detail::refused<
      detail::rules::member_of_another_library<detail::say::T, permute_instead, Tensor>>;
  static constexpr detail::invalid ndim = detail::refused<
      detail::rules::member_of_another_library<detail::say::ndim, size_instead, Tensor>>;
  static constexpr detail::invalid dtype = detail::refused<
      detail::rules::member_of_another_library<detail::say::dtype, size_instead, Tensor>>;
};

}  // namespace umbel::portable
UMBEL_WARNINGS_POP
