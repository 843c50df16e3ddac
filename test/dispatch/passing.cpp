// SPDX-License-Identifier: BSL-1.0
// Code of a user who passes the shared types around, in all the ways that there are: what files for
// several targets have in common. check.py compiles it without optimisation, where the compiler
// emits every function that it does not have to inline, and looks at what it emitted: nothing that
// another file could take.
#include "shared.hpp"

namespace dispatch_test {
namespace {

// The values that masks are made of are not constants here.
volatile int position = 3;

void take(tokens& x, const queries& q, flags& some, bias_values& add, lengths& lens) {
  // tensors
  const tensor<float, classes<4>> list{1, 2, 3, 4};
  const tensor<float, classes<2>, hidden<2>> lists{{1, 2}, {3, 4}};
  const float array[4] = {1, 2, 3, static_cast<float>(position)};
  const tensor<float, classes<4>> from_array(array);
  tensor<float, batch<1>> one(static_cast<float>(position));
  tensor<double, classes<4>> widened(list);
  one[0] += one(0) + one(at<batch>(0)) + list[1] + list(2) + list(at<classes>(3)) + lists(1, 1);
  for (float& e : x) e += *one.begin() + *list.begin() + *(list.end() - 1);
  one[0] += list == from_array ? 1.0f : 2.0f;
  one[0] += static_cast<float>(widened.data()[0]);
  const tokens copied = x;
  tokens assigned{};
  assigned = copied;
  x(0, 1, 2) = assigned.data()[3] + q(1, 2, 3);

  // views
  view<float, batch<B>, token<N>, hidden<M>> all = x;
  view<const float, batch<B>, token<N>, hidden<M>> reading = all, read_copied = copied;
  reading = read_copied;
  view<float, classes<2>> row(x.data());
  row[1] = row(0) + row(at<classes>(1)) + *row.begin() + *(row.end() - 1) + reading(0, 0, 0);
  all(0, 0, 0) = all == reading ? 1.0f : 0.0f;

  view deduced = one;
  for (float& e : all | permute<hidden, token, batch>) e += *deduced.begin();
  auto turned = (copied | permute<token, hidden, batch>).begin();
  row[0] += *turned++ + *++turned + (turned == turned ? 1.0f : 0.0f);
  const tensor<float, batch<1>, classes<1>, hidden<2>> blocks{{{1, static_cast<float>(position)}}};
  row[0] += blocks(0, 0, position - 2) + (list | select_at<classes>(position))();
  const tensor<float, batch<1>> listed = {row[0]};
  row[0] = listed[0];

  // 16 bits
  tensor<bfloat16, classes<4>> half{};
  half[0] = bfloat16(row[1]);
  tensor<float16, classes<4>> other_half{};
  other_half[0] = float16(row[1]);
  row[0] = static_cast<float>(half[0]) + static_cast<float>(other_half[0]);

  // re-read, copied, computed
  row[0] +=
      (x | split<hidden, heads<H>, head_dim> | permute<heads, batch, token, head_dim>)(1, 1, 1, 1);
  row[0] += (x | select_at<batch, 1> | slice<token, from<2>, extent<3>> | contiguous)(1, 1);
  row[0] += (list * 2.0f + list)(1);
  copy(copied, x);

  // masks
  const auto at = static_cast<std::ptrdiff_t>(position);
  const auto many = lens & keep_mask(some) & score_bias(add) & causal_at(at) &
                    dropout(0.125 * position, 7) & alibi_at(at);
  const auto others = drop_mask(some) & sliding_window_at<3>(at) & causal_bottom_right(lens);
  const auto owned = causal_at(lengths{1, position}) & sliding_window_bottom_right<4>(lens) &
                     keep_mask(flags{}) & alibi_at(lengths{1, 2}) & lengths{1, 2};
  const auto windows =
      sliding_window_at<2, 1>(lengths{1, position}) &
      score_bias(+[](std::size_t, std::size_t, std::size_t, std::size_t) { return 0.5f; });
  scores seen;
  const auto looking = all_keys & observe<observed::scores>(seen);
  auto many_copied = many;
  many_copied = many;
  row[1] += static_cast<float>(sizeof many_copied + sizeof others + sizeof owned + sizeof windows +
                               sizeof looking);
}

// weights
float lend(attention::weights& w, cross::weights& c, map::weights& l, norm::weights& n,
           encoder::weights& e) {
  w.q(1, 2) = w.q(2, 1) + static_cast<const attention::weights&>(w).k(1, 1);
  const attention::weights_view whole(w);
  const attention::weights_view by_part{{view_as<in_features, out_features>(w.q.weight), w.q.bias},
                                        {view_as<in_features, out_features>(w.k.weight), w.k.bias},
                                        {view_as<in_features, out_features>(w.v.weight), w.v.bias},
                                        {view_as<in_features, out_features>(w.o.weight), w.o.bias}};
  attention::weights_view some = by_part;
  some.q = whole.q;
  decltype(some.q) empty{};
  some.k = empty;
  const rotary::weights r{};
  const rotary::weights_view without_bias(r);
  const rotary::weights_view from_pointers{view_as<in_features, out_features>(w.q.weight),
                                           view_as<in_features, out_features>(w.k.weight),
                                           view_as<in_features, out_features>(w.v.weight),
                                           view_as<in_features, out_features>(w.o.weight)};
  const cross::weights_view additive(c);
  const map::weights_view linear_view(l);
  const norm::weights_view norm_view(n);
  const norm::weights_view norm_by_part{n.gamma, n.beta};
  const norm::weights_view norm_by_pointers{n.gamma.data(), n.beta.data()};
  const layer_norm<float, hidden<M>, bias<false>>::weights_view norm_without_beta(n.gamma);
  const norm::weights_view norm_by_names{view_as<hidden>(n.gamma.data()), n.beta};
  const encoder::weights_view block(e);
  static const tensor<float, token<N>, hidden<M>> rows{};
  const portable::table_view<float, token<N>, hidden<M>> table(rows);
  const portable::table_in_any_order<float, token<N>, hidden<M>> any_order(table);
  const portable::table_in_any_order<float, token<N>, hidden<M>> turned(
      view_as<hidden, token>(rows.data()));
  const attention::weights copied = w;
  return some.q.weight[0] + whole.o.bias[1] + without_bias.k.weight[2] + additive.q.weight[0] +
         linear_view.weight[0] + norm_view.gamma.data()[0] + norm_by_part.beta.data()[0] +
         norm_by_pointers.gamma.data()[0] + norm_without_beta.gamma.data()[0] +
         block.norm1.gamma.data()[0] + copied.q(0, 0) + from_pointers.q.weight[0] +
         norm_by_names.gamma.data()[0] + table.rows()(0, 0) +
         any_order.data()[any_order.row_stride()] + turned.data()[turned.feature_stride()];
}

}  // namespace

// Passed on to another file, and back.
extern tokens elsewhere(const tokens&, view<const float, batch<B>, token<N>>, const plain_mask&,
                        joint_mask, const attention::weights&, encoder::weights_view);
extern attention::weights made_elsewhere();
extern tokens pass(tokens& x, queries& q, inputs& in, weights& w, const joint_mask& mask);
tokens pass(tokens& x, queries& q, inputs& in, weights& w, const joint_mask& mask) {
  take(x, q, in.keep, in.bias, in.lens);
  x(0, 0, 0) = lend(w.attend, w.look, w.out, w.scale, w.block);
  w.attend = made_elsewhere();
  return elsewhere(x, view<const float, batch<B>, token<N>>(x.data()), causal, mask, w.attend,
                   w.block);
}

}  // namespace dispatch_test
