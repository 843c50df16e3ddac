// SPDX-License-Identifier: BSL-1.0
// Members and functions of tensors in other libraries: one case for each message
// (calls_of_other_libraries.hpp).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

using queries = tensor<float, batch<2>, query<4>, hidden<100>>;

[[maybe_unused]] static void cases(queries& x) {
  (void)x;
#if defined CASE_transpose
  // expect-gcc: "umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>"
  // expect-clang: umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>
  // cause: Axes have names here, not numbers.
  // cure: List all axes in their new order: `x | permute<batch, hidden, query>`.
  auto r = x.transpose(1, 2);
#elif defined CASE_function_transpose
  // expect-gcc: "umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>"
  // expect-clang: umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>
  // cause: Axes have names here, not numbers.
  // cure: List all axes in their new order: `x | permute<batch, hidden, query>`.
  auto r = transpose(x, 1, 2);
#elif defined CASE_permute_by_a_list
  // expect-gcc: "umbel: permute: axes have names; list them in their new order, x \| permute<heads, query, head_dim>"
  // expect-clang: umbel: permute: axes have names; list them in their new order, x \| permute<heads, query, head_dim>
  // cause: Axes have names here, not numbers.
  // cure: List all axes in their new order: `x | permute<batch, hidden, query>`.
  auto r = x.permute({0, 2, 1});
#elif defined CASE_product_with_the_transposed
  // expect-gcc: "umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>"
  // expect-clang: umbel: transpose: axes have names; list them in their new order, x \| permute<heads, query, head_dim>
  // cause: Axes have names here, not numbers.
  // cure: List all axes in their new order: `x | permute<batch, hidden, query>`.
  auto r = matmul(x, x.transpose(1, 2));
#elif defined CASE_shape_decomposed
  // expect-gcc: "umbel: shape: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank"
  // expect-clang: umbel: shape: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank
  // cause: Sizes are part of the type.
  // cure: Write `x.extent<hidden>`, `x.size()` or `x.rank`, all constants.
  auto [rows, columns] = x.shape;
#elif defined CASE_view
  // expect-gcc: "umbel: view: axes have names; write x \| reshape<token<8>, hidden<100>>, x \| split<hidden, heads<5>, head_dim> or x \| merge<heads, head_dim, hidden>"
  // expect-clang: umbel: view: axes have names; write x \| reshape<token<8>, hidden<100>>, x \| split<hidden, heads<5>, head_dim> or x \| merge<heads, head_dim, hidden>
  // cause: Axes have names here, so a list of sizes is ambiguous.
  // cure: Name the new axes: `x | merge<batch, query, token>` or `x | reshape<token<8>, hidden<100>>`.
  auto r = x.view(8, 100);
#elif defined CASE_unsqueeze
  // expect-gcc: "umbel: unsqueeze: axes have names; list all axes of the result, x \| broadcast<batch<2>, token<8>, hidden<100>>"
  // expect-clang: umbel: unsqueeze: axes have names; list all axes of the result, x \| broadcast<batch<2>, token<8>, hidden<100>>
  // cause: An axis is added by name.
  // cure: Write `x | broadcast<heads<5>>`, which adds an axis without copying; most operations broadcast by themselves.
  auto r = x.unsqueeze(0);
#elif defined CASE_squeeze
  // expect-gcc: "umbel: squeeze: axes have names; write x \| select_at<batch, 0> or x \| slice<token, from<2>, extent<3>>"
  // expect-clang: umbel: squeeze: axes have names; write x \| select_at<batch, 0> or x \| slice<token, from<2>, extent<3>>
  // cause: An axis is removed by name.
  // cure: Write `x | select_at<batch, 0>`; for a part of an axis, write `x | slice<query, from<2>, extent<2>>`.
  auto r = x.squeeze(0);
#elif defined CASE_matmul
  // expect-gcc: "umbel: matmul: axes have names; write contract<hidden>\(x, y\) to sum over hidden, x \* weights to project"
  // expect-clang: umbel: matmul: axes have names; write contract<hidden>\(x, y\) to sum over hidden, x \* weights to project
  // cause: A product sums over a named axis.
  // cure: Write `contract<hidden>(x, y)`; to multiply by the weights of a layer, write `x * w.q`.
  auto r = matmul(x, x);
#elif defined CASE_einsum
  // expect-gcc: "umbel: einsum: axes have names; write contract<hidden>\(x, y\) to sum over hidden, x \* weights to project"
  // expect-clang: umbel: einsum: axes have names; write contract<hidden>\(x, y\) to sum over hidden, x \* weights to project
  // cause: A product sums over a named axis.
  // cure: Write `contract<hidden>(x, y)`; to multiply by the weights of a layer, write `x * w.q`.
  auto r = einsum("bqd,bkd->bqk", x, x);
#elif defined CASE_softmax_of_an_axis_by_number
  // expect-gcc: "umbel: softmax: axes have names; write x \| softmax<key>"
  // expect-clang: umbel: softmax: axes have names; write x \| softmax<key>
  // cause: A softmax needs a named axis.
  // cure: Write `x | softmax<hidden>`.
  auto r = x.softmax(-1);
#elif defined CASE_sum
  // expect-gcc: "umbel: sum: axes have names; write sum<token>\(x\), max<token>\(x\), min<token>\(x\) or mean<token>\(x\)"
  // expect-clang: umbel: sum: axes have names; write sum<token>\(x\), max<token>\(x\), min<token>\(x\) or mean<token>\(x\)
  // cause: A reduction is over named axes.
  // cure: Write `sum<query>(x)`; for several axes, write `sum<query, hidden>(x)`.
  auto r = x.sum(1);
#elif defined CASE_argmax
  // expect-gcc: "umbel: argmax: axes have names; write argmax<key>\(x\)"
  // expect-clang: umbel: argmax: axes have names; write argmax<key>\(x\)
  // cause: The position of the largest element is found along a named axis.
  // cure: Write `argmax<hidden>(x)`, the position of the first one of equal elements.
  auto r = x.argmax();
#elif defined CASE_argmax_of_an_axis_by_number
  // expect-gcc: "umbel: argmax: axes have names; write argmax<key>\(x\)"
  // expect-clang: umbel: argmax: axes have names; write argmax<key>\(x\)
  // lines-gcc-14: 15
  // cause: The position of the largest element is found along a named axis.
  // cure: Write `argmax<hidden>(x)`, the position of the first one of equal elements.
  auto r = argmax(x, -1);
#elif defined CASE_argmin_as_a_member
  // expect-gcc: "umbel: argmin: axes have names; write argmax<key>\(-x\)"
  // expect-clang: umbel: argmin: axes have names; write argmax<key>\(-x\)
  // cause: Umbel finds the position of the largest element only.
  // cure: Change the sign: `argmax<hidden>(-x)`.
  auto r = x.argmin(-1);
#elif defined CASE_argmin_along_an_axis
  // expect-gcc: "umbel: argmin: axes have names; write argmax<key>\(-x\)"
  // expect-clang: umbel: argmin: axes have names; write argmax<key>\(-x\)
  // lines-gcc-14: 15
  // cause: Umbel finds the position of the largest element only.
  // cure: Change the sign: `argmax<hidden>(-x)`.
  auto r = argmin<hidden>(x);
#elif defined CASE_variance
  // expect-gcc: "umbel: var: axes have names; write variance<token>\(x\)"
  // expect-clang: umbel: var: axes have names; write variance<token>\(x\)
  // cause: A reduction is over named axes.
  // cure: Write `variance<hidden>(x)`, which divides by the number of elements; for several axes, write `variance<query, hidden>(x)`.
  auto r = x.var(-1);
#elif defined CASE_norm_of_a_tensor
  // expect-gcc: "umbel: norm: axes have names; write sqrt\(sum<token>\(x \* x\)\)"
  // expect-clang: umbel: norm: axes have names; write sqrt\(sum<token>\(x \* x\)\)
  // cause: A norm is a sum over named axes.
  // cure: Write `sqrt(sum<hidden>(x * x))`.
  auto r = x.norm();
#elif defined CASE_squared_norm
  // expect-gcc: "umbel: squaredNorm: axes have names; write sum<token>\(x \* x\)"
  // expect-clang: umbel: squaredNorm: axes have names; write sum<token>\(x \* x\)
  // cause: A norm is a sum over named axes.
  // cure: Write `sum<hidden>(x * x)`.
  auto r = x.squaredNorm();
#elif defined CASE_cumulative_sum_along_an_axis_by_number
  // expect-gcc: "umbel: cumsum: axes have names; write cumulative_sum<token>\(x\)"
  // expect-clang: umbel: cumsum: axes have names; write cumulative_sum<token>\(x\)
  // cause: Axes have names here, not numbers.
  // cure: Name the axis: `cumulative_sum<query>(x)`.
  auto r = x.cumsum(1);
#elif defined CASE_cumulative_sum_as_a_member
  // expect-gcc: "umbel: cumulative_sum: axes have names; write cumulative_sum<token>\(x\)"
  // expect-clang: umbel: cumulative_sum: axes have names; write cumulative_sum<token>\(x\)
  // cause: Operations are not members, and axes have names.
  // cure: Name the axis: `cumulative_sum<query>(x)`.
  auto r = x.cumulative_sum(1);
#elif defined CASE_padding
  // expect-gcc: "umbel: pad: axes have names; write padded<token, before<1>, after<1>>\(x\)"
  // expect-clang: umbel: pad: axes have names; write padded<token, before<1>, after<1>>\(x\)
  // lines-gcc-14: 15
  // cause: Axes have names here, not numbers.
  // cure: Name the axis: `padded<query, before<1>, after<1>>(x)`.
  auto r = pad(x, 1);
#elif defined CASE_unfolding
  // expect-gcc: "umbel: unfold: axes have names; write x \| windows<token, kernel_size<3>>"
  // expect-clang: umbel: unfold: axes have names; write x \| windows<token, kernel_size<3>>
  // cause: Axes have names here, not numbers.
  // cure: Name the axis and its windows: `x | windows<query, kernel_size<3>, stride<2>>`.
  auto r = x.unfold(1, 3, 2);
#elif defined CASE_convolution
  // expect-gcc: "umbel: conv1d: a convolution is a product of windows; write contract<kernel_size, hidden>\(x \| windows<token, kernel_size<3>>, w\)"
  // expect-clang: umbel: conv1d: a convolution is a product of windows; write contract<kernel_size, hidden>\(x \| windows<token, kernel_size<3>>, w\)
  // lines-gcc-14: 15
  // cause: Umbel has windows of an axis and products, but no separate convolution.
  // cure: Write the product of windows and a kernel; `padded` adds positions at the ends. See docs/how-to/convolutions.md.
  auto r = conv1d(x, x);
#elif defined CASE_pool
  // expect-gcc: "umbel: max_pool2d: a pool is a maximum or mean of windows; write max<kernel_row, kernel_column>\(x \| patches<row, column, kernel_row<2>, kernel_column<2>>\)"
  // expect-clang: umbel: max_pool2d: a pool is a maximum or mean of windows; write max<kernel_row, kernel_column>\(x \| patches<row, column, kernel_row<2>, kernel_column<2>>\)
  // lines-gcc-14: 15
  // cause: Umbel has windows of an axis, patches of two and reductions, but no separate pools.
  // cure: Reduce over the axes of the patches or windows.
  auto r = max_pool2d(x, 2);
#elif defined CASE_batch_norm_called
  // expect-gcc: "umbel: batch_norm: it scales and shifts, x \* scale \+ shift; or write fold_batch_norm of umbel/weights/batch_norm\.hpp"
  // expect-clang: umbel: batch_norm: it scales and shifts, x \* scale \+ shift; or write fold_batch_norm of umbel/weights/batch_norm\.hpp
  // lines-gcc-14: 15
  // cause: At inference it is a scale and a shift by channel, which belong into the map before it.
  // cure: Fold it into that map, or multiply and add.
  auto r = batch_norm(x);
#elif defined CASE_running_maximum
  // expect-gcc: "umbel: cummax: Umbel has none; write a loop over the positions, x \| select_at<token>\(i\)"
  // expect-clang: umbel: cummax: Umbel has none; write a loop over the positions, x \| select_at<token>\(i\)
  // lines-gcc-14: 15
  // cause: Along an axis, only sums run.
  // cure: Write a loop with the positions of the axis, `x | select_at<query>(i)`.
  auto r = cummax(x, 1);
#elif defined CASE_running_maximum_along_an_axis
  // expect-gcc: "umbel: cummax: Umbel has none; write a loop over the positions, x \| select_at<token>\(i\)"
  // expect-clang: umbel: cummax: Umbel has none; write a loop over the positions, x \| select_at<token>\(i\)
  // lines-gcc-14: 15
  // cause: Along an axis, only sums run.
  // cure: Write a loop with the positions of the axis, `x | select_at<query>(i)`.
  auto r = cummax<query>(x);
#elif defined CASE_topk_as_a_member
  // expect-gcc: "umbel: topk: axes have names; write kth_largest<8, key>\(x\), the 8th largest along key"
  // expect-clang: umbel: topk: axes have names; write kth_largest<8, key>\(x\), the 8th largest along key
  // cause: Umbel finds one element by its rank along a named axis.
  // cure: Write `kth_largest<8, hidden>(x)`; the 8 largest are those that are not below it.
  auto r = x.topk(8);
#elif defined CASE_topk_of_a_named_axis
  // expect-gcc: "umbel: topk: axes have names; write kth_largest<8, key>\(x\), the 8th largest along key"
  // expect-clang: umbel: topk: axes have names; write kth_largest<8, key>\(x\), the 8th largest along key
  // lines-gcc-14: 15
  // cause: Umbel finds one element by its rank along a named axis.
  // cure: Write `kth_largest<8, hidden>(x)`; the 8 largest are those that are not below it.
  auto r = topk<8, hidden>(x);
#elif defined CASE_sort_of_an_axis_by_number
  // expect-gcc: "umbel: sort: Umbel has none; write kth_largest<8, key>\(x\), the 8th largest along key"
  // expect-clang: umbel: sort: Umbel has none; write kth_largest<8, key>\(x\), the 8th largest along key
  // lines-gcc-14: 15
  // cause: Umbel does not sort along an axis.
  // cure: For one element by its rank, write `kth_largest<8, hidden>(x)`; sort all elements with `std::sort(x.begin(), x.end())`.
  auto r = sort(x, -1);
#elif defined CASE_sort_of_a_named_axis
  // expect-gcc: "umbel: sort: Umbel has none; write kth_largest<8, key>\(x\), the 8th largest along key"
  // expect-clang: umbel: sort: Umbel has none; write kth_largest<8, key>\(x\), the 8th largest along key
  // lines-gcc-14: 15
  // cause: Umbel does not sort along an axis.
  // cure: For one element by its rank, write `kth_largest<8, hidden>(x)`; sort all elements with `std::sort(x.begin(), x.end())`.
  auto r = sort<hidden>(x);
#elif defined CASE_flip_of_an_axis_by_number
  // expect-gcc: "umbel: flip: axes have names; write x \| flip<token>"
  // expect-clang: umbel: flip: axes have names; write x \| flip<token>
  // cause: Axes have names here, not numbers.
  // cure: Name the axis: `x | flip<query>`.
  auto r = x.flip(1);
#elif defined CASE_flip_from_left_to_right
  // expect-gcc: "umbel: fliplr: axes have names; write x \| flip<token>"
  // expect-clang: umbel: fliplr: axes have names; write x \| flip<token>
  // cause: Axes have names here, not numbers.
  // cure: Name the axis: `x | flip<hidden>`.
  auto r = fliplr(x);
#elif defined CASE_product_of_all
  // expect-gcc: "umbel: prod: write a loop over the elements, for \(float element : x\)"
  // expect-clang: umbel: prod: write a loop over the elements, for \(float element : x\)
  // cause: There is no such reduction.
  // cure: Write a loop over the elements.
  auto r = x.prod();
#elif defined CASE_shape
  // expect-gcc: "umbel: shape: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank"
  // expect-clang: umbel: shape: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank
  // cause: Sizes are part of the type.
  // cure: Write `x.extent<hidden>`, `x.size()` or `x.rank`, all constants.
  auto r = x.shape[0];
#elif defined CASE_dim
  // expect-gcc: "umbel: dim: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank"
  // expect-clang: umbel: dim: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank
  // cause: Sizes are part of the type.
  // cure: Write `x.extent<hidden>`, `x.size()` or `x.rank`, all constants.
  auto r = x.dim();
#elif defined CASE_resize
  // expect-gcc: "umbel: resize: sizes are part of the type; declare another tensor"
  // expect-clang: umbel: resize: sizes are part of the type; declare another tensor
  // cause: Sizes are part of the type and cannot change.
  // cure: Declare a tensor with the other sizes; to view a part, write `x | slice<...>`.
  auto r = x.resize(2, 4, 50);
#elif defined CASE_element_type
  // expect-gcc: "umbel: to: the element type is part of the type; declare another tensor y and write copy\(x, y\)"
  // expect-clang: umbel: to: the element type is part of the type; declare another tensor y and write copy\(x, y\)
  // cause: The element type is part of the tensor's type.
  // cure: Declare a tensor with the other type and write `copy(x, y)`, which converts each element.
  auto r = x.to<double>();
#elif defined CASE_clone
  // expect-gcc: "umbel: clone: tensors are values; write auto y = x, or copy\(x, y\) into existing memory"
  // expect-clang: umbel: clone: tensors are values; write auto y = x, or copy\(x, y\) into existing memory
  // cause: Tensors are copied like numbers.
  // cure: Write `auto y = x;`, or `copy(x, y)` into an existing tensor or view.
  auto r = x.clone();
#elif defined CASE_fill
  // expect-gcc: "umbel: fill: tensor<\.\.\.> x\{\} is all zeros; set other values in a loop, for \(float& element : x\)"
  // expect-clang: umbel: fill: tensor<\.\.\.> x\{\} is all zeros; set other values in a loop, for \(float& element : x\)
  // cause: Elements are set in a loop.
  // cure: Write `tensor<...> x{}` for zeros, `for (float& element : x) element = 1;` for other values.
  auto r = x.fill(1);
#elif defined CASE_element_at
  // expect-gcc: "umbel: at: for one element write x\(i, j\), with all positions, or x\(at<query>\(i\), at<hidden>\(j\)\)"
  // expect-clang: umbel: at: for one element write x\(i, j\), with all positions, or x\(at<query>\(i\), at<hidden>\(j\)\)
  // cause: An element is accessed with a call.
  // cure: Write `x(0, 3, 7)`, or named positions, `x(at<hidden>(7), at<batch>(0), at<query>(3))`.
  auto r = x.at(0, 3, 7);
#elif defined CASE_relu
  // expect-gcc: "umbel: relu: activations are operations; write x \| relu"
  // expect-clang: umbel: relu: activations are operations; write x \| relu
  // cause: An activation is an operation, not a member.
  // cure: Write `x | relu`.
  auto r = x.relu();
#elif defined CASE_masked_fill
  // expect-gcc: "umbel: masked_fill: write where\(condition, a, b\), or hide\(scores, condition\) before a softmax; pass attention a mask, attention\{w\}\(x, keep_mask\(mask\)\)"
  // expect-clang: umbel: masked_fill: write where\(condition, a, b\), or hide\(scores, condition\) before a softmax; pass attention a mask, attention\{w\}\(x, keep_mask\(mask\)\)
  // cause: Elements are chosen by a function of the condition.
  // cure: Write `where(condition, a, b)`; before a softmax, write `hide(scores, condition)`.
  auto r = x.masked_fill(x, 0);
#elif defined CASE_triu
  // expect-gcc: "umbel: triu: masks are arguments of attention; write attention\{w\}\(x, causal\) or attention\{w\}\(x, keep_mask\(mask\)\)"
  // expect-clang: umbel: triu: masks are arguments of attention; write attention\{w\}\(x, causal\) or attention\{w\}\(x, keep_mask\(mask\)\)
  // cause: A mask is an argument of attention.
  // cure: Write `attention{w}(x, causal)`; see docs/masks.md for all masks.
  auto r = x.triu();
#elif defined CASE_concat
  // expect-gcc: "umbel: concat: axes have names; write concat<token>\(a, b\) along an axis, stack<batch>\(a, b\) along a new one"
  // expect-clang: umbel: concat: axes have names; write concat<token>\(a, b\) along an axis, stack<batch>\(a, b\) along a new one
  // lines-gcc-14: 15
  // cause: Tensors are concatenated along a named axis.
  // cure: Write `concat<query>(x, y)`; along a new axis, write `stack<batch>(x, y)`.
  auto r = concat(x, x);
#elif defined CASE_device
  // expect-gcc: "umbel: cuda: Umbel runs on the CPU only; leave it out"
  // expect-clang: umbel: cuda: Umbel runs on the CPU only; leave it out
  // cause: There is one device.
  // cure: Leave the call out.
  auto r = x.cuda();
#elif defined CASE_backward_of_a_tensor
  // expect-gcc: "umbel: backward: only formulas have gradients; include umbel/training\.hpp and write gradient\(loss\)\(x, with_gradient\(w, g\)\)"
  // expect-clang: umbel: backward: only formulas have gradients; include umbel/training\.hpp and write gradient\(loss\)\(x, with_gradient\(w, g\)\)
  // cause: A tensor does not know how it was computed, but a formula does.
  // cure: Write `#include <umbel/training.hpp>`, `constexpr formula loss = [](auto x, const auto& w) { ... };`, and `gradient(loss)(x, with_gradient(w, g))`, which adds to `g` (docs/learning.md).
  auto r = x.backward();
#elif defined CASE_gradient_as_a_member
  // expect-gcc: "umbel: grad: only formulas have gradients; include umbel/training\.hpp and write gradient\(loss\)\(x, with_gradient\(w, g\)\)"
  // expect-clang: umbel: grad: only formulas have gradients; include umbel/training\.hpp and write gradient\(loss\)\(x, with_gradient\(w, g\)\)
  // cause: A gradient is a separate object with the type of its tensor or weights.
  // cure: Declare `layer::weights g{};`, to which `gradient(loss)(x, with_gradient(w, g))` adds (docs/learning.md).
  auto r = x.grad();
#elif defined CASE_power_of_each_element
  // expect-gcc: "umbel: pow: elementwise functions are not members; write pow\(x, 3\)"
  // expect-clang: umbel: pow: elementwise functions are not members; write pow\(x, 3\)
  // cause: An elementwise function is not a member.
  // cure: Write `pow(x, 3)`.
  auto r = x.pow(3);
#elif defined CASE_clamp_as_a_member
  // expect-gcc: "umbel: clamp: elementwise functions are not members; write clamp\(x, low, high\)"
  // expect-clang: umbel: clamp: elementwise functions are not members; write clamp\(x, low, high\)
  // cause: An elementwise function is not a member.
  // cure: Write `clamp(x, 0, 1)`; for one bound, `maximum(x, 0)` or `minimum(x, 1)`.
  auto r = x.clamp(0, 1);
#elif defined CASE_clip
  // expect-gcc: "umbel: clip: write clamp\(x, low, high\)"
  // expect-clang: umbel: clip: write clamp\(x, low, high\)
  // cause: Umbel has one name for it.
  // cure: Write `clamp(x, 0, 1)`; for one bound, `maximum(x, 0)` or `minimum(x, 1)`.
  auto r = clip(x, 0, 1);
#elif defined CASE_remainder_as_a_member
  // expect-gcc: "umbel: remainder: arithmetic is element by element; write x % y"
  // expect-clang: umbel: remainder: arithmetic is element by element; write x % y
  // cause: Arithmetic is written with operators.
  // cure: Write `x % 2`, which has the sign of the divisor, as in numpy and torch.
  auto r = x.remainder(2);
#elif defined CASE_function_as_a_member
  // expect-gcc: "umbel: exp: elementwise functions are not members; write exp\(x\)"
  // expect-clang: umbel: exp: elementwise functions are not members; write exp\(x\)
  // cause: An elementwise function is not a member.
  // cure: Write `exp(x)`; likewise `log`, `sqrt`, `rsqrt`, `tanh`, `sigmoid`, `abs`, `sin`, `cos`, `erf` and `floor`.
  auto r = x.exp();
#elif defined CASE_contiguous
  // expect-gcc: "umbel: contiguous: write x \| contiguous"
  // expect-clang: umbel: contiguous: write x \| contiguous
  // cause: An operation is not a member.
  // cure: Write `x | contiguous`, or `contiguous(x)`.
  auto r = x.contiguous();
#elif defined CASE_size_of_an_axis_by_number
  // expect-gcc: "umbel: size: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank"
  // expect-clang: umbel: size: sizes are part of the type; write x\.extent<hidden>, x\.size\(\) or x\.rank
  // lines-gcc-14: 15
  // cause: Sizes are part of the type.
  // cure: Write `x.extent<hidden>`, `x.size()` or `x.rank`, all constants.
  auto r = x.size(0);
#elif defined CASE_layer_forward
  // expect-gcc: "umbel: forward: a layer is called like a function; write layer\(x\) or layer\.into\(out, x\)"
  // expect-clang: umbel: forward: a layer is called like a function; write layer\(x\) or layer\.into\(out, x\)
  // cause: A layer is called like a function.
  // cure: Write `attend(x, lens)`, or `attend.into(out, x, lens)` to write into your memory.
  relu.forward(x);
#elif defined CASE_layer_step
  // expect-gcc: "umbel: step: a cache makes the steps; write key_value_cache<layer, key<1024>> cache and cache\.step\(out, layer, x\)"
  // expect-clang: umbel: step: a cache makes the steps; write key_value_cache<layer, key<1024>> cache and cache\.step\(out, layer, x\)
  // cause: A cache stores the keys and values of earlier positions; a layer does not.
  // cure: Write `key_value_cache<attention, key<1024>> cache;` and `cache.step(out, attend, x)`.
  softmax<hidden>.step(x);
#elif defined CASE_layer_parameters
  // expect-gcc: "umbel: parameters: a layer borrows its weights; set them in your own object, layer::weights w\{\}"
  // expect-clang: umbel: parameters: a layer borrows its weights; set them in your own object, layer::weights w\{\}
  // cause: A layer does not own its weights.
  // cure: Declare `attention::weights w`, fill it, and construct `attention{w}`.
  relu.parameters();
#elif defined CASE_layer_eval
  // expect-gcc: "umbel: eval: a layer has no training mode; leave it out, and pass the mask dropout\(0\.1, seed\) for dropout"
  // expect-clang: umbel: eval: a layer has no training mode; leave it out, and pass the mask dropout\(0\.1, seed\) for dropout
  // cause: Layers have no training mode; the gradient of a formula calls them as inference does.
  // cure: Leave the line out; for dropout, pass the mask `dropout(0.1, seed)`.
  relu.eval();
#elif defined CASE_layer_backward
  // expect-gcc: "umbel: backward: only formulas have gradients; include umbel/training\.hpp and write gradient\(loss\)\(x, with_gradient\(w, g\)\)"
  // expect-clang: umbel: backward: only formulas have gradients; include umbel/training\.hpp and write gradient\(loss\)\(x, with_gradient\(w, g\)\)
  // cause: A tensor does not know how it was computed, but a formula does.
  // cure: Write `#include <umbel/training.hpp>`, `constexpr formula loss = [](auto x, const auto& w) { ... };`, and `gradient(loss)(x, with_gradient(w, g))`, which adds to `g` (docs/learning.md).
  relu.backward();
#elif defined CASE_layer_to_a_device
  // expect-gcc: "umbel: to: Umbel runs on the CPU only; leave it out"
  // expect-clang: umbel: to: Umbel runs on the CPU only; leave it out
  // cause: There is one device.
  // cure: Leave the call out.
  relu.to(0);
#elif defined CASE_reduction_of_rows
  // expect-gcc: "umbel: rowwise: axes have names; write sum<token>\(x\), max<token>\(x\), min<token>\(x\) or mean<token>\(x\)"
  // expect-clang: umbel: rowwise: axes have names; write sum<token>\(x\), max<token>\(x\), min<token>\(x\) or mean<token>\(x\)
  // cause: A tensor has named axes, not rows and columns.
  // cure: Write `sum<hidden>(x)`.
  auto r = x.rowwise().sum();
#elif defined CASE_columns_by_number
  // expect-gcc: "umbel: leftCols: axes have names; write x \| select_at<batch, 0> or x \| slice<token, from<2>, extent<3>>"
  // expect-clang: umbel: leftCols: axes have names; write x \| select_at<batch, 0> or x \| slice<token, from<2>, extent<3>>
  // cause: A tensor has named axes, not rows and columns.
  // cure: Write `x | slice<hidden, from<0>, extent<2>>`.
  auto r = x.leftCols<2>();
#elif defined CASE_first_element_of_a_span
  // expect-gcc: "umbel: data_handle: the first element is at x\.data\(\)"
  // expect-clang: umbel: data_handle: the first element is at x\.data\(\)
  // cause: This is a member of std::mdspan.
  // cure: Write `x.data()`.
  auto r = x.data_handle();
#elif defined CASE_product_of_elements
  // expect-gcc: "umbel: cwiseProduct: arithmetic is element by element; write x \+ y, x - y, x \* y or x / y"
  // expect-clang: umbel: cwiseProduct: arithmetic is element by element; write x \+ y, x - y, x \* y or x / y
  // cause: This is a member of Eigen.
  // cure: Write `x * y`, with the same axes.
  auto r = x.cwiseProduct(x);
#else
  auto turned = x | permute<batch, hidden, query>;
  auto part = x | slice<query, from<0>, extent<4>> | select_at<batch, 0>;
  const std::size_t sizes = x.extent<hidden> + x.size() + x.rank;
  auto positive = x | relu;
  for (float& element : positive) element = 1;
  (void)turned, (void)part, (void)sizes;
#endif
}
