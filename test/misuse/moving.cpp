// SPDX-License-Identifier: BSL-1.0
// Splits, permutations, merges, slices: what reads the same memory in another way.
#include <misuse/preamble.hpp>

#if defined CASE_split_into_eight
// fact: hidden=100
// fact: heads=8
auto r = x | split<hidden, heads<8>, head_dim>;
#elif defined CASE_split_an_axis_of_the_keys
// fact: key
// fact: query=4
auto r = x | split<key, heads<2>, head_dim>;
#elif defined CASE_split_both_sizes
// fact: hidden=100
// fact: head_dim=25|125
auto r = x | split<hidden, heads<5>, head_dim<25>>;
#elif defined CASE_split_by_nothing
// fact: heads=0
// fact: size 0
auto r = x | split<hidden, heads<0>, head_dim>;
#elif defined CASE_split_a_second_time
// fact: hidden
// fact: head_dim=20
auto r = x | split<hidden, heads<5>, head_dim> | split<hidden, heads<5>, head_dim>;
#elif defined CASE_split_into_a_name_that_is_there
// fact: batch
// fact: hidden=100
auto r = x | split<hidden, batch<5>, head_dim>;
#elif defined CASE_split_into_one_name_twice
// fact: heads
// fact: twice|same|once
auto r = x | split<hidden, heads<5>, heads>;
#elif defined CASE_split_into_more_than_there_is
// fact: hidden=100
// fact: heads=200
auto r = x | split<hidden, heads<200>, head_dim>;
#elif defined CASE_split_the_batch_unevenly
// fact: batch=2
// fact: heads=3
auto r = x | split<batch, heads<3>, token>;
#elif defined CASE_split_own_axis_unevenly
// fact: frames=24
// fact: 7
auto r = sound | split<frames, heads<7>, head_dim>;
#elif defined CASE_split_into_three_wrong
// fact: hidden=100
// fact: 5.*7|35|heads=5
auto r = x | split_into<hidden, heads<5>, kv_heads<7>, head_dim>;
#elif defined CASE_permute_forgets_hidden
// fact: hidden
// fact: query
auto r = x | permute<query, batch>;
#elif defined CASE_permute_names_query_twice
// fact: query
// fact: hidden|twice
auto r = x | permute<batch, query, query>;
#elif defined CASE_permute_names_key_for_query
// fact: key
// fact: query=4
auto r = x | permute<batch, key, hidden>;
#elif defined CASE_permute_before_the_split
// fact: heads
// fact: hidden=100
auto r = x | permute<batch, heads, query, head_dim>;
#elif defined CASE_permute_one_too_many
// fact: heads
// fact: hidden=100
auto r = x | permute<batch, query, hidden, heads>;
#elif defined CASE_permute_nothing
// fact: batch=2
// fact: hidden=100
auto r = x | permute<>;
#elif defined CASE_merge_over_an_axis_between
// fact: batch=2
// fact: hidden=100
auto r = x | merge<batch, hidden, hidden>;
#elif defined CASE_merge_after_permute
// fact: heads=5
// fact: query=4
auto r = x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim> |
         merge<heads, query, token>;
#elif defined CASE_merge_in_the_wrong_order
// fact: head_dim=20
// fact: heads=5
auto r = x | split<hidden, heads<5>, head_dim> | merge<head_dim, heads, hidden>;
#elif defined CASE_merge_what_was_never_split
// fact: heads
// fact: hidden=100
auto r = x | merge<heads, head_dim, hidden>;
#elif defined CASE_merge_into_a_name_that_is_there
// fact: query
// fact: heads
auto r = x | split<hidden, heads<5>, head_dim> | merge<heads, head_dim, query>;
#elif defined CASE_merge_an_axis_with_itself
// fact: query
// fact: twice|itself|once|adjacent|same
auto r = x | merge<query, query, token>;
#elif defined CASE_merge_transposed_heads
// fact: heads=5
// fact: head_dim=20
auto r = x | split<hidden, heads<5>, head_dim> | permute<batch, heads, query, head_dim> |
         merge<heads, head_dim, hidden>;
#elif defined CASE_rename_what_is_not_there
// fact: token
// fact: query=4
auto r = x | rename_axis<token, key>;
#elif defined CASE_rename_onto_another
// fact: query
// fact: batch
auto r = x | rename_axis<query, batch>;
#elif defined CASE_rename_into_another_size
// fact: query=4
// fact: key=6
auto r = x | rename_axis<query, key<6>>;
#elif defined CASE_reshape_to_more
// fact: 800
// fact: 1000
auto r = x | reshape<batch<2>, query<4>, heads<5>, head_dim<25>>;
#elif defined CASE_reshape_to_less
// fact: 800
// fact: 700
auto r = x | reshape<token<7>, hidden<100>>;
#elif defined CASE_reshape_drops_the_batch
// fact: 800
// fact: 400
auto r = x | reshape<query<4>, hidden<100>>;
#elif defined CASE_reshape_into_one_axis_twice
// fact: query
// fact: twice|once|same
auto r = x | reshape<query<8>, query<100>>;
#elif defined CASE_reshape_a_permuted_view
// fact: query
// fact: contiguous|order|adjacent
auto r = x | permute<query, batch, hidden> | reshape<query<8>, hidden<100>>;
#elif defined CASE_select_past_the_end
// fact: query=4
// fact: 9
auto r = x | select_at<query, 9>;
#elif defined CASE_select_at_the_size
// fact: key=6
// fact: \b6\b
auto r = y | select_at<key, 6>;
#elif defined CASE_select_what_is_not_there
// fact: key
// fact: query=4
auto r = x | select_at<key, 0>;
#elif defined CASE_select_twice
// fact: query
// fact: hidden=100
auto r = x | select_at<query, 0> | select_at<query, 1>;
#elif defined CASE_slice_past_the_end
// fact: key=6
// fact: from.?4|from=4|positions_from, .*<4>
auto r = y | slice<key, from<4>, extent<3>>;
#elif defined CASE_slice_what_is_not_there
// fact: key
// fact: query=4
auto r = x | slice<key, from<0>, extent<2>>;
#elif defined CASE_slice_of_nothing
// fact: key=6
// fact: none
auto r = y | slice<key, from<2>, extent<0>>;
#elif defined CASE_slice_from_past_the_end
// fact: key=6
// fact: 8
auto r = y | slice<key, from<8>, extent<1>>;
#elif defined CASE_broadcast_to_another_size
// fact: query=4
// fact: query=8
auto r = m | broadcast<batch<2>, query<8>, hidden<100>>;
#elif defined CASE_broadcast_loses_an_axis
// fact: hidden=100
// fact: batch|query
auto r = x | broadcast<batch<2>, query<4>>;
#elif defined CASE_broadcast_an_axis_to_two
// fact: batch=2
// fact: batch=4
auto r = x | broadcast<batch<4>, query<4>, hidden<100>>;
#endif
