// SPDX-License-Identifier: BSL-1.0
// Members that tensors of other libraries have.
#include <misuse/preamble.hpp>

#if defined CASE_view_member
// fact: reshape|split
// fact: view|sizes|axes
auto r = t.view(2, 12, 8, 8);
#elif defined CASE_reshape_member
// fact: reshape
// fact: axes|reshape
auto r = t.reshape(24, 64);
#elif defined CASE_shape_member
// fact: extent|extents|size
// fact: shape
auto r = t.shape;
#elif defined CASE_shape_member_called
// fact: extent|extents|size
// fact: shape
auto r = t.shape();
#elif defined CASE_shape_subscript
// fact: extent|extents|size
// fact: shape
auto r = t.shape[0];
#elif defined CASE_size_of_a_dimension
// fact: extent
// fact: size
auto r = t.size(0);
#elif defined CASE_dim_member
// fact: rank
// fact: dim|rank
auto r = t.dim();
#elif defined CASE_ndim_member
// fact: rank
// fact: ndim|rank
auto r = t.ndim;
#elif defined CASE_rows_member
// fact: extent
// fact: rows|extent
auto r = m.rows();
#elif defined CASE_cols_member
// fact: extent
// fact: cols|extent
auto r = m.cols();
#elif defined CASE_transpose_by_numbers
// fact: permute
// fact: transpose
auto r = t.transpose(1, 2);
#elif defined CASE_transpose_member
// fact: transposed|permute
// fact: transpose
auto r = m.transpose();
#elif defined CASE_t_member
// fact: transposed|permute
// fact: T
auto r = m.T;
#elif defined CASE_permute_member
// fact: permute
// fact: permute
auto r = t.permute(0, 2, 1);
#elif defined CASE_softmax_member
// fact: softmax
// fact: softmax
auto r = scores.softmax(-1);
#elif defined CASE_matmul_member
// fact: contract
// fact: matmul
auto r = m.matmul(m);
#elif defined CASE_mm_member
// fact: contract
// fact: mm
auto r = m.mm(m);
#elif defined CASE_sum_by_number
// fact: mean|contract
// fact: sum
auto r = t.sum(-1);
#elif defined CASE_mean_by_number
// fact: mean
// fact: mean
auto r = t.mean(1);
#elif defined CASE_unsqueeze
// fact: broadcast
// fact: unsqueeze
auto r = m.unsqueeze(0);
#elif defined CASE_squeeze
// fact: select_at
// fact: squeeze
auto r = t.squeeze();
#elif defined CASE_expand
// fact: broadcast
// fact: expand
auto r = m.expand(2, 4, 100);
#elif defined CASE_repeat
// fact: broadcast
// fact: repeat
auto r = m.repeat(2, 1, 1);
#elif defined CASE_contiguous_member
// fact: \| contiguous|contiguous
// fact: contiguous
auto r = x.contiguous();
#elif defined CASE_flatten
// fact: merge|reshape
// fact: flatten
auto r = t.flatten(1);
#elif defined CASE_clone_member
// fact: copy|contiguous|tensor
// fact: clone
auto r = t.clone();
#elif defined CASE_to_member
// fact: tensor|element|double|for_each
// fact: to
auto r = t.to<double>();
#elif defined CASE_cast_member
// fact: tensor|element|double|for_each
// fact: cast
auto r = m.cast<double>();
#elif defined CASE_item_member
// fact: \(\)|index|element
// fact: item
float r = t.item();
#elif defined CASE_fill_member
// fact: std::fill|for \(
// fact: fill
void f(queries& q) { q.fill(1.0f); }
#elif defined CASE_attention_of_maps
// fact: weights
// fact: q
attention r{w.q, w.k, w.v, w.o};
#elif defined CASE_mask_keyword
// fact: keep_mask|drop_mask|mask
// fact: masked_fill
auto r = scores.masked_fill(true, -1e9f);
#elif defined CASE_relu_member
// fact: relu
// fact: \|
auto r = t.relu();
#elif defined CASE_max_of_tensor
// fact: max<
// fact: max
auto r = t.max();
#elif defined CASE_block_member
// fact: slice
// fact: block
auto r = m.block(0, 0, 2, 50);
#elif defined CASE_row_member
// fact: select_at
// fact: row
auto r = m.row(0);
#elif defined CASE_col_member
// fact: select_at
// fact: col
auto r = m.col(1);
#elif defined CASE_select_by_number
// fact: select_at
// fact: select
auto r = x.select(1, 0);
#elif defined CASE_comma_index
// fact: \(
// fact: index|position|axis|3
float r = x.at(0, 1, 2);
#elif defined CASE_eigen_rowwise
// fact: mean<token>
// fact: sum<token>
auto r = t.rowwise().sum();
#elif defined CASE_eigen_left_columns
// fact: slice
// fact: select_at
auto r = x.leftCols<2>();
#elif defined CASE_eigen_block_of_constant_size
// fact: slice
// fact: select_at
auto r = m.block<2, 2>(0, 0);
#elif defined CASE_eigen_array_sqrt
// fact: loop
// fact: element
auto r = x.array().sqrt();
#elif defined CASE_eigen_cwise_product
// fact: element by element
// fact: x . y
auto r = x.cwiseProduct(x);
#elif defined CASE_mdspan_stride
// fact: sizes
// fact: extent<hidden>
auto r = x.stride(0);
#elif defined CASE_mdspan_data_handle
// fact: data_handle
// fact: x.data
auto r = x.data_handle();
#elif defined CASE_view_then_transpose
// fact: names
// fact: split
auto r = x.view(2, 4, 5, 20).transpose(1, 2);
#endif
