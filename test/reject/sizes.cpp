// SPDX-License-Identifier: BSL-1.0
// Sizes of 0, and sizes whose product no memory can hold and a std::size_t might not: in layers,
// caches and workspaces. One case each, with the message that the compiler must print (check.py).
// Not here: tensors and views (memory.cpp).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

inline constexpr std::size_t huge = 1ull << 32;
using attention = multi_head_attention<float, hidden<8>, heads<2>>;
using network = feed_forward<float, hidden<8>, intermediate<16>, activation<relu>, bias<true>>;
using encoder = encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                              norm_first<true>, bias<true>>;
using decoder = decoder_layer<float, hidden<8>, heads<2>, intermediate<16>, activation<relu>,
                              norm_first<true>, bias<true>>;

void cases() {
#if defined CASE_layer_wider_than_memory
  // expect-gcc: "umbel: shape: \[hidden=8, heads=4294967296, head_dim=4294967296\] has more elements than memory can hold"
  // expect-clang: shape, .*hidden<8>.*heads<4294967296>.*head_dim<4294967296>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  multi_head_attention<float, hidden<8>, heads<huge>, head_dim<huge>>::weights w;
#elif defined CASE_linear_wider_than_memory
  // expect-gcc: "umbel: shape: \[hidden=4294967296, classes=4294967296\] has more elements than memory can hold"
  // expect-clang: shape, .*hidden<4294967296>.*classes<4294967296>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  linear<float, hidden<huge>, classes<huge>>::weights w;
#elif defined CASE_feed_forward_wider_than_memory
  // expect-gcc: "umbel: shape: \[hidden=4294967296, intermediate=4294967296\] has more elements than memory can hold"
  // expect-clang: shape, .*hidden<4294967296>.*intermediate<4294967296>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  feed_forward<float, hidden<huge>, intermediate<huge>, activation<relu>, bias<true>>::weights w;
#elif defined CASE_additive_wider_than_memory
  // expect-gcc: "umbel: shape: \[hidden=4294967296, heads=1, score_hidden=4294967296\] has more elements than memory can hold"
  // expect-clang: shape, .*hidden<4294967296>.*heads<1>.*score_hidden<4294967296>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  additive_attention<float, hidden<huge>, score_hidden<huge>>::weights w;
#elif defined CASE_cache_longer_than_memory
  // expect-gcc: "umbel: shape: \[key=1152921504606846976\] has more elements than memory can hold"
  // expect-clang: shape, .*key<1152921504606846976>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  key_value_cache<attention, key<(1ull << 60)>> past;
#elif defined CASE_workspace_longer_than_memory
  // expect-gcc: "umbel: shape: \[token=1152921504606846976\] has more elements than memory can hold"
  // expect-clang: shape, .*token<1152921504606846976>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  attention::workspace<token<(1ull << 60)>> work;
#elif defined CASE_workspace_whose_product_wraps
  // expect-gcc: "umbel: shape: \[token=1125899906842624, hidden=8\] has more elements than memory can hold"
  // expect-clang: shape, .*token<1125899906842624>.*hidden<8>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  attention::workspace<token<(1ull << 50)>> work;
#elif defined CASE_workspace_of_a_network_longer_than_memory
  // expect-gcc: "umbel: shape: \[token=1152921504606846976\] has more elements than memory can hold"
  // expect-clang: shape, .*token<1152921504606846976>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  network::workspace<token<(1ull << 60)>> work;
#elif defined CASE_workspace_of_an_encoder_longer_than_memory
  // expect-gcc: "umbel: shape: \[token=1152921504606846976\] has more elements than memory can hold"
  // expect-clang: shape, .*token<1152921504606846976>>.*has_more_elements_than_memory_can_hold
  // cause: The product of the sizes is more than memory can hold: 2^51 elements, or 2^28 with 32-bit pointers.
  // cure: Look for a size with an extra digit or an extra factor.
  encoder::workspace<token<(1ull << 60)>> work;
#elif defined CASE_workspace_of_no_positions
  // expect-gcc: "umbel: shape: token=0 has size 0 in \[token=0\]"
  // expect-clang: shape, .*token<0>, .*has_size_0_in, .*token<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  attention::workspace<token<0>> work;
#elif defined CASE_workspace_of_a_step_of_no_positions
  // expect-gcc: "umbel: shape: token=0 has size 0 in \[token=0\]"
  // expect-clang: shape, .*token<0>, .*has_size_0_in, .*token<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  key_value_cache<attention, key<64>>::workspace<token<0>> work;
#elif defined CASE_workspace_of_an_encoder_of_no_positions
  // expect-gcc: "umbel: shape: token=0 has size 0 in \[token=0\]"
  // expect-clang: shape, .*token<0>, .*has_size_0_in, .*token<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  encoder::workspace<token<0>> work;
#elif defined CASE_workspace_of_a_decoder_of_no_positions
  // expect-gcc: "umbel: shape: token=0 has size 0 in \[token=0\]"
  // expect-clang: shape, .*token<0>, .*has_size_0_in, .*token<0>
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  decoder::workspace<token<0>> work;
#elif defined CASE_workspace_with_a_batch
  // expect-gcc: "umbel: workspace: batch=2 is unnecessary, since sequences share one workspace; leave it out"
  // expect-clang: workspace, .*batch<2>, .*is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out
  // cause: All sequences of a batch share one workspace, so its size does not depend on their number.
  // cure: List only the positions: `workspace<token<9>>`.
  attention::workspace<batch<2>, token<9>> work;
#elif defined CASE_workspace_of_an_encoder_with_a_batch
  // expect-gcc: "umbel: workspace: batch=2 is unnecessary, since sequences share one workspace; leave it out"
  // expect-clang: workspace, .*batch<2>, .*is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out
  // cause: All sequences of a batch share one workspace, so its size does not depend on their number.
  // cure: List only the positions: `workspace<token<9>>`.
  encoder::workspace<batch<2>, token<9>> work;
#elif defined CASE_workspace_of_a_network_with_a_batch
  // expect-gcc: "umbel: workspace: batch=2 is unnecessary, since sequences share one workspace; leave it out"
  // expect-clang: workspace, .*batch<2>, .*is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out
  // cause: All sequences of a batch share one workspace, so its size does not depend on their number.
  // cure: List only the positions: `workspace<token<9>>`.
  network::workspace<batch<2>, token<9>> work;
#elif defined CASE_workspace_of_a_step_with_a_batch
  // expect-gcc: "umbel: workspace: batch=2 is unnecessary, since sequences share one workspace; leave it out"
  // expect-clang: workspace, .*batch<2>, .*is_unnecessary_since_sequences_share_one_workspace_so_leave_it_out
  // cause: All sequences of a batch share one workspace, so its size does not depend on their number.
  // cure: List only the positions: `workspace<token<9>>`.
  key_value_cache<attention, key<64>>::workspace<batch<2>, token<1>> work;
#elif defined CASE_workspace_of_a_tensor
  // expect-gcc: "umbel: workspace: expects axes of positions, workspace<token<12>>; for tensors use workspace_for"
  // expect-clang: workspace, .*expects_axes_of_positions_so_use_workspace_for_with_tensors
  // cause: An argument is not an axis but, for example, a tensor.
  // cure: Name the axis, `encoder::workspace<token<9>>`, or write `workspace_for<encoder, tensor<float, token<9>, hidden<8>>>`.
  encoder::workspace<tensor<float, token<9>, hidden<8>>> work;
#elif defined CASE_workspace_of_a_number_type
  // expect-gcc: "umbel: workspace: expects axes of positions, workspace<token<12>>; for tensors use workspace_for"
  // expect-clang: workspace, .*expects_axes_of_positions_so_use_workspace_for_with_tensors
  // cause: An argument is not an axis but, for example, a tensor.
  // cure: Name the axis, `encoder::workspace<token<9>>`, or write `workspace_for<encoder, tensor<float, token<9>, hidden<8>>>`.
  attention::workspace<query<4>, int> work;
#elif defined CASE_workspace_of_nothing
  // expect-gcc: "umbel: workspace: the number of axes must be at least 1, got 0"
  // expect-clang: workspace, .*the_number_of_axes_must_be_at_least, .*<1>, .*got, .*<0>
  // cause: The size of a workspace depends on the positions: of queries and keys, if they differ, and for additive attention also on the features of the values.
  // cure: Name them: `workspace<token<9>>`, `workspace<query<4>, key<6>>`, `workspace<query<4>, key<6>, value_dim<8>>`.
  attention::workspace<> work;
#elif defined CASE_workspace_of_too_many_axes
  // expect-gcc: "umbel: workspace: the number of axes must be at most 1, got 2"
  // expect-clang: workspace, .*the_number_of_axes_must_be_at_most, .*<1>, .*got, .*<2>
  // cause: The size of a workspace depends on the positions; queries and keys are two axes, a single sequence is one.
  // cure: List only the positions: `workspace<token<9>>`.
  encoder::workspace<token<9>, key<9>> work;
#elif defined CASE_workspace_of_additive_attention_without_values
  // expect-gcc: "umbel: workspace: the number of axes must be at least 3, got 2"
  // expect-clang: workspace, .*the_number_of_axes_must_be_at_least, .*<3>, .*got, .*<2>
  // lines-clang: 18
  // cause: The size of a workspace depends on the positions: of queries and keys, if they differ, and for additive attention also on the features of the values.
  // cure: Name them: `workspace<token<9>>`, `workspace<query<4>, key<6>>`, `workspace<query<4>, key<6>, value_dim<8>>`.
  additive_attention<float, hidden<8>, score_hidden<16>>::workspace<query<4>, key<6>> work;
#else
  static attention::workspace<token<4>> work;
  static encoder::workspace<token<4>> of_encoder;
  static key_value_cache<attention, key<64>> past;
  static_cast<void>(work), static_cast<void>(of_encoder), static_cast<void>(past);
#endif
}
