// SPDX-License-Identifier: BSL-1.0
// Mistakes with layers over ranks: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

#include <umbel/mpi.hpp>

using namespace umbel;
using namespace umbel::axes;
using namespace umbel::block_parts;

using attention = multi_head_attention<float, hidden<48>, heads<6>, kv_heads<3>>;
using network =
    feed_forward<float, hidden<48>, intermediate<64>, activation<gelu_exact>, bias<false>>;
using encoder = encoder_layer<float, hidden<48>, heads<6>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<false>>;
using decoder = decoder_layer<float, hidden<48>, heads<6>, intermediate<64>, norm_first<true>,
                              activation<relu>, bias<false>>;
template <class Name, std::size_t Wide>
using network_of =
    feed_forward_network<Name, intermediate<Wide>, activation<gelu_exact>, bias<false>>;
using two_networks =
    residual_block<float, hidden<48>,
                   pre_norm<name::norm1, self_attention<name::attention, heads<6>>>,
                   pre_norm<name::norm2, network_of<name::feed_forward1, 96>>,
                   pre_norm<name::norm3, network_of<name::feed_forward2, 64>>>;
using share = sharded<attention, over<heads, ranks<3>>>;
using sequences = sharded<attention, over<batch, ranks<2>>>;
using gradients = batch_gradient<attention::weights, chains<4>>;
using by_chains = sharded<gradients, over<chains, ranks<2>>>;
using tokens = tensor<float, token<9>, hidden<48>>;
using many = tensor<float, batch<6>, token<9>, hidden<48>>;

[[maybe_unused]] static void cases(const share& attend, const sequences& each,
                                   const communicator<ranks<3>>& world,
                                   const communicator<ranks<2>>& two, tokens& x, many& xs) {
  static share::workspace<token<9>> work;
  static attention::workspace<token<9>> whole;
  (void)attend, (void)each, (void)world, (void)two, (void)x, (void)xs, (void)work, (void)whole;
#if defined CASE_heads_that_do_not_divide
  // expect-gcc: "umbel: sharded: heads=6 over ranks=4 leaves a remainder of 2"
  // expect-clang: sharded.*heads<6>.*over.*ranks<4>.*leaves_a_remainder_of.*number<2>
  // cause: All ranks need the same number of heads, of heads of keys and values, and of features of the result.
  // cure: Choose a number of ranks that divides them.
  sharded<attention, over<heads, ranks<4>>>::weights w;
#elif defined CASE_heads_of_keys_that_do_not_divide
  // expect-gcc: "umbel: sharded: kv_heads=3 over ranks=2 leaves a remainder of 1"
  // expect-clang: sharded.*kv_heads<3>.*over.*ranks<2>.*leaves_a_remainder_of.*number<1>
  // cause: All ranks need the same number of heads, of heads of keys and values, and of features of the result.
  // cure: Choose a number of ranks that divides them.
  sharded<attention, over<heads, ranks<2>>>::weights w;
#elif defined CASE_a_result_that_does_not_divide
  // expect-gcc: "umbel: sharded: hidden=80 over ranks=3 leaves a remainder of 2"
  // expect-clang: sharded.*hidden<80>.*over.*ranks<3>.*leaves_a_remainder_of.*number<2>
  // cause: All ranks need the same number of heads, of heads of keys and values, and of features of the result.
  // cure: Choose a number of ranks that divides them.
  using to_80 = multi_head_attention<float, hidden<48>, heads<6>, output_to<hidden<80>>>;
  sharded<to_80, over<heads, ranks<3>>>::weights w;
#elif defined CASE_no_ranks
  // expect-gcc: "umbel: shape: ranks=0 has size 0 in \[ranks=0\]"
  // expect-clang: shape.*ranks<0>.*has_size_0_in
  // cause: An axis has size 0.
  // cure: Set every axis to a size of at least 1, or leave the axis out.
  sharded<attention, over<heads, ranks<0>>>::weights w;
#elif defined CASE_ranks_of_another_axis
  // expect-gcc: "umbel: sharded: expected the axis ranks but got heads=3"
  // expect-clang: sharded.*expected_the_axis.*ranks.*but_got.*heads<3>
  // cause: The second argument of `over` is the number of processes.
  // cure: Write `over<heads, ranks<3>>`.
  sharded<attention, over<heads, heads<3>>>::weights w;
#elif defined CASE_another_axis_than_heads_or_batch
  // expect-gcc: "umbel: sharded: expects a layer and over<heads, ranks<4>> or over<batch, ranks<4>>, or a batch_gradient and over<chains, ranks<4>>"
  // expect-clang: sharded.*expects_a_layer_and_over_of_heads_or_batch_and_ranks
  // cause: A layer is divided by its heads or by the sequences of a batch, but the arguments of `sharded` specify neither.
  // cure: Write `sharded<attention, over<heads, ranks<4>>>`, or `over<batch, ranks<4>>`.
  sharded<attention, over<hidden, ranks<3>>> w;
#elif defined CASE_heads_of_a_network
  // expect-gcc: "umbel: sharded: can divide heads only of a multi_head_attention, an encoder_layer, a decoder_layer, a residual_block or a layer_stack"
  // expect-clang: sharded.*can_divide_heads_only_of_attention_a_block_or_a_layer_stack
  // cause: The layer has no heads; networks and linear maps are divided as parts of a block.
  // cure: Divide the block that contains it: `sharded<encoder, over<heads, ranks<4>>>`.
  sharded<network, over<heads, ranks<2>>> w;
#elif defined CASE_a_network_that_does_not_divide
  // expect-gcc: "umbel: sharded: intermediate=64 over ranks=3 leaves a remainder of 1"
  // expect-clang: sharded.*intermediate<64>.*over.*ranks<3>.*leaves_a_remainder_of.*number<1>
  // cause: The network of a block is divided with its heads, so all ranks need the same number of intermediate features.
  // cure: Choose a number of ranks that divides heads, features and intermediate features.
  sharded<encoder, over<heads, ranks<3>>>::weights w;
#elif defined CASE_a_decoder_layer_that_does_not_divide
  // expect-gcc: "umbel: sharded: heads=6 of self_attention over ranks=4 leaves a remainder of 2"
  // expect-clang: sharded.*heads<6>.*of.*self_attention.*over.*ranks<4>.*leaves_a_remainder_of.*number<2>
  // cause: All ranks need the same number of heads in each part of the block; the error names the part.
  // cure: Choose a number of ranks that divides heads, features and intermediate features.
  sharded<decoder, over<heads, ranks<4>>>::weights w;
#elif defined CASE_a_part_that_does_not_divide
  // expect-gcc: "umbel: sharded: intermediate=64 of feed_forward2 over ranks=3 leaves a remainder of 1"
  // expect-clang: sharded.*intermediate<64>.*of.*feed_forward2.*over.*ranks<3>.*leaves_a_remainder_of.*number<1>
  // cause: A block has several networks; the error names the one that the ranks do not divide.
  // cure: Choose a number of ranks that divides heads, features and intermediate features.
  sharded<two_networks, over<heads, ranks<3>>>::weights w;
#elif defined CASE_a_linear_map_that_does_not_divide
  // expect-gcc: "umbel: sharded: hidden=48 over ranks=5 leaves a remainder of 3"
  // expect-clang: sharded.*hidden<48>.*over.*ranks<5>.*leaves_a_remainder_of.*number<3>
  // cause: All ranks need the same number of features of the result.
  // cure: Choose a number of ranks that divides heads, features and intermediate features.
  using map = residual_block<float, hidden<48>, without_norm<linear_map<name::linear>>>;
  sharded<map, over<heads, ranks<5>>>::weights w;
#elif defined CASE_a_stack_that_does_not_divide
  // expect-gcc: "umbel: sharded: intermediate=64 over ranks=3 leaves a remainder of 1"
  // expect-clang: sharded.*intermediate<64>.*over.*ranks<3>.*leaves_a_remainder_of.*number<1>
  // cause: The network of a block is divided with its heads, so all ranks need the same number of intermediate features.
  // cure: Choose a number of ranks that divides heads, features and intermediate features.
  sharded<layer_stack<encoder, 2>, over<heads, ranks<3>>>::weights w;
#elif defined CASE_a_decoder_layer_without_across
  // expect-gcc: "umbel: decoder_layer: is divided among processes; pass across\(communicator, workspace\)"
  // expect-clang: decoder_layer.*is_divided_so_pass_across_of_a_communicator_and_a_workspace
  // cause: The layer is divided among processes, but the call does not specify which.
  // cure: Pass `across(world, work)` instead of a workspace, with a `communicator` and a workspace of the divided layer.
  using by_heads = sharded<decoder, over<heads, ranks<2>>>;
  static const by_heads::weights w{};
  auto out = by_heads{w}(x, x, self_mask(causal));
#elif defined CASE_a_block_over_ranks_in_a_formula
  // expect-gcc: "umbel: encoder_layer: is divided among processes; pass across\(communicator, workspace\)"
  // expect-clang: encoder_layer.*is_divided_so_pass_across_of_a_communicator_and_a_workspace
  // lines-clang: 15
  // cause: A formula runs in one process.
  // cure: Call the divided layer outside the formula, `share{w}(x, causal, across(world, work))`.
  using by_heads = sharded<encoder, over<heads, ranks<2>>>;
  static const by_heads::weights w{};
  constexpr formula doubled = [](auto a, const auto& layer) { return layer(a) + a; };
  auto out = doubled(x, by_heads{w})();
#elif defined CASE_a_cache_of_an_encoder_layer_by_heads
  // expect-gcc: "umbel: key_value_cache: the first argument is not a multi_head_attention, an encoder_layer, a decoder_layer or a layer_stack"
  // expect-clang: key_value_cache.*the_first_argument_is_not_a_multi_head_attention_an_encoder_or_decoder_layer_or_a_layer_stack
  // cause: The first argument is the layer of the cache, one of these four.
  // cure: Put the layer first; for `prepacked<layer>` name the layer itself.
  using by_heads = sharded<encoder, over<heads, ranks<2>>>;
  static key_value_cache<by_heads, key<32>> w;
#elif defined CASE_sequences_of_a_network
  // expect-gcc: "umbel: sharded: can divide sequences only of a layer that accepts parallel\(\.\.\.\): attention, an encoder_layer, a decoder_layer, a residual_block or a layer_stack"
  // expect-clang: sharded.*can_divide_sequences_only_of_a_layer_that_accepts_parallel
  // cause: The sequences are divided as with `parallel`, but this layer does not accept `parallel`.
  // cure: Divide a whole block or stack, or pass different tensors on each rank.
  sharded<network, over<batch, ranks<2>>> w;
#elif defined CASE_a_call_without_across
  // expect-gcc: "umbel: multi_head_attention: is divided among processes; pass across\(communicator, workspace\)"
  // expect-clang: multi_head_attention.*is_divided_so_pass_across_of_a_communicator_and_a_workspace
  // cause: The layer is divided among processes, but the call does not specify which.
  // cure: Pass `across(world, work)` instead of a workspace, with a `communicator` and a workspace of the divided layer.
  auto out = attend(x, causal, work);
#elif defined CASE_a_call_without_a_workspace
  // expect-gcc: "umbel: multi_head_attention: is divided among processes; pass across\(communicator, workspace\)"
  // expect-clang: multi_head_attention.*is_divided_so_pass_across_of_a_communicator_and_a_workspace
  // cause: The layer is divided among processes, but the call does not specify which.
  // cure: Pass `across(world, work)` instead of a workspace, with a `communicator` and a workspace of the divided layer.
  auto out = attend(x);
#elif defined CASE_a_communicator_of_another_size
  // expect-gcc: "umbel: sharded: the layer is divided among ranks=3, but the communicator has ranks=2"
  // expect-clang: sharded.*the_layer_is_divided_among.*ranks<3>.*but_the_communicator_has.*ranks<2>
  // cause: The communicator and the layer have different numbers of ranks.
  // cure: Use one number for both: `using all = ranks<4>;`.
  auto out = attend(x, causal, across(two, work));
#elif defined CASE_a_workspace_of_another_length
  // expect-gcc: "umbel: multi_head_attention: the workspace is for \[token=8\]; pass one for \[token=9\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for.*token<8>.*so_pass_one_for.*token<9>
  // cause: The workspaces were declared for a different type of layer or for different sequence lengths.
  // cure: Declare them with the sizes in the brackets: `attention::workspace<token<9>> work[2]`.
  static share::workspace<token<8>> shorter;
  auto out = attend(x, causal, across(world, shorter));
#elif defined CASE_a_workspace_of_the_whole_layer
  // expect-gcc: "umbel: multi_head_attention: the workspace is for a different layer or other sizes; pass one for \[token=9\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for_a_different_layer_or_other_sizes_so_pass_one_for.*token<9>
  // cause: The workspace was declared for a different type of layer or for different sequence lengths.
  // cure: Declare it with the sizes in the brackets: `attention::workspace<query<4>, key<6>>`.
  auto out = attend(x, causal, across(world, whole));
#elif defined CASE_across_without_a_communicator
  // expect-gcc: "umbel: across: expects a communicator and a workspace of a sharded layer, but argument 1 is [^"]*"
  // expect-clang: across.*expects_a_communicator_and_a_workspace_of_a_sharded_layer
  // cause: An argument is not a `communicator` (an MPI_Comm, for example, has no size in its type), or not a workspace.
  // cure: Create the communicator once, at the start: `const communicator<ranks<4>> world{MPI_COMM_WORLD};`, and check that it is valid.
  auto out = attend(x, causal, across(MPI_COMM_WORLD, work));
#elif defined CASE_a_step_without_across
  // expect-gcc: "umbel: key_value_cache: is divided among processes; pass across\(communicator, workspace\)"
  // expect-clang: key_value_cache.*is_divided_so_pass_across_of_a_communicator_and_a_workspace
  // cause: The layer is divided among processes, but the call does not specify which.
  // cure: Pass `across(world, work)` instead of a workspace, with a `communicator` and a workspace of the divided layer.
  static key_value_cache<share, key<32>> past;
  bool out = past.step(x, attend, x);
#elif defined CASE_sequences_that_do_not_divide
  // expect-gcc: "umbel: sharded: batch=6 over ranks=4 leaves a remainder of 2"
  // expect-clang: sharded.*batch<6>.*over.*ranks<4>.*leaves_a_remainder_of.*number<2>
  // cause: All ranks need the same number of sequences.
  // cure: Use a batch that the ranks divide, if necessary with empty sequences (`lengths`) at its end.
  using by_four = sharded<attention, over<batch, ranks<4>>>;
  const communicator<ranks<4>> four{MPI_COMM_WORLD};
  int out = 0;
  static const attention::weights w{};
  by_four{w}.into(xs, xs, across(four, whole));
#elif defined CASE_sequences_without_a_batch
  // expect-gcc: "umbel: sharded: the sequence needs the axis batch but has \[token=9, hidden=48\]"
  // expect-clang: sharded.*the_sequence.*needs_the_axis.*batch.*but_has.*token<9>.*hidden<48>
  // cause: The sequences of a batch are divided among the ranks, but there is only one sequence.
  // cure: Divide its heads, `over<heads, ranks<4>>`, or pass a batch.
  int out = 0;
  each.into(x, x, across(two, whole));
#elif defined CASE_sequences_into_memory_of_another_order
  // expect-gcc: "umbel: sharded: out must be row-major in memory"
  // expect-clang: sharded.*out_must_be_row_major_in_memory
  // cause: The results of all ranks are gathered in contiguous memory, but this is a permuted or sliced view.
  // cure: Write to a plain tensor, then `copy` it to the view.
  int out = 0;
  auto part = xs | slice<token, from<0>, extent<4>>;
  static attention::workspace<token<4>> shorter;
  each.into(part, part, across(two, shorter));
#elif defined CASE_more_than_a_message_holds
  // expect-gcc: "umbel: sharded: 2160000000 numbers of a rank are more than MPI can count in one message"
  // expect-clang: sharded.*number<2160000000>.*numbers_of_a_rank_are_more_than_MPI_can_count_in_one_message
  // cause: MPI counts the numbers of a message with `int`, up to 2,147,483,647.
  // cure: Pass fewer sequences at a time, or use more ranks.
  int out = 0;
  extern tensor<float, batch<6>, token<15'000'000>, hidden<48>> most;
  each.into(most, most, across(two, whole));
#elif defined CASE_sequences_without_across
  // expect-gcc: "umbel: sharded: expects into\(out, \.\.\.\) with the arguments of its layer, then across\(communicator, workspace\)"
  // expect-clang: sharded.*expects_into_of_the_arguments_of_its_layer_then_across_of_a_communicator_and_a_workspace
  // cause: If sequences are divided, call the layer as `into(out, ...)`, with `across(world, work)` as its last argument.
  // cure: Write `share{w}.into(out, x, causal, across(world, work))`.
  int out = 0;
  each.into(xs, xs, causal, whole);
#elif defined CASE_chains_that_do_not_divide
  // expect-gcc: "umbel: sharded: chains=4 over ranks=3 leaves a remainder of 1"
  // expect-clang: sharded.*chains<4>.*over.*ranks<3>.*leaves_a_remainder_of.*number<1>
  // cause: All ranks need the same number of gradient chains.
  // cure: Use 1, 2 or 4 ranks, or, with different rounding, `chains<8>` for up to 8.
  static sharded<gradients, over<chains, ranks<3>>> of_batch;
#elif defined CASE_chains_of_a_layer
  // expect-gcc: "umbel: sharded: can divide chains only of a batch_gradient"
  // expect-clang: sharded.*can_divide_chains_only_of_a_batch_gradient
  // cause: A layer has no chains; the gradient of a batch has.
  // cure: Write `sharded<batch_gradient<weights, chains<4>>, over<chains, ranks<2>>>`.
  static sharded<attention, over<chains, ranks<2>>> of_batch;
#elif defined CASE_a_batch_without_across
  // expect-gcc: "umbel: batch_gradient: is divided among processes; pass across\(communicator, workspace\)"
  // expect-clang: batch_gradient.*is_divided_so_pass_across_of_a_communicator_and_a_workspace
  // cause: The chains are divided among processes, but the call does not specify which.
  // cure: Write `of_batch.sum(8, serial, across(world, work), sample)`, with a workspace of the divided gradient.
  static by_chains of_batch;
  of_batch.sum(8, serial, [](std::size_t, attention::weights&, std::size_t) { return 0.0f; });
#elif defined CASE_a_batch_across_another_communicator
  // expect-gcc: "umbel: sharded: the layer is divided among ranks=2, but the communicator has ranks=3"
  // expect-clang: sharded.*the_layer_is_divided_among.*ranks<2>.*but_the_communicator_has.*ranks<3>
  // cause: The communicator and the layer have different numbers of ranks.
  // cure: Use one number for both: `using all = ranks<4>;`.
  static by_chains of_batch;
  static by_chains::workspace exchanged;
  of_batch.sum(8, serial, across(world, exchanged),
               [](std::size_t, attention::weights&, std::size_t) { return 0.0f; });
#elif defined CASE_a_batch_in_the_workspace_of_a_layer
  // expect-gcc: "umbel: sharded: needs a workspace of the sharded batch_gradient itself, of its type workspace"
  // expect-clang: sharded.*needs_a_workspace_of_the_sharded_batch_gradient_itself
  // cause: The ranks exchange gradients, so the workspace must have their size.
  // cure: Declare `static share::workspace exchanged;`, with the type of the divided gradient for `share`.
  static by_chains of_batch;
  of_batch.sum(8, serial, across(two, whole),
               [](std::size_t, attention::weights&, std::size_t) { return 0.0f; });
#elif defined CASE_a_formula_across
  // expect-gcc: "umbel: formula: is not divided among processes; pass the workspace itself, without across"
  // expect-clang: formula.*is_not_divided_so_pass_the_workspace_without_across
  // lines-clang: 15
  // cause: The call passes across(...) to a formula, which one process computes alone.
  // cure: Pass the workspace: `f(x, work)`. To divide a layer, declare a `sharded<...>` one.
  constexpr formula twice = [](auto a) { return softmax<hidden>(a) * 2; };
  static workspace_for<decltype(twice), tokens> of_twice;
  auto r = twice(x, across(world, of_twice));
#elif defined CASE_what_decoder_layers_exchange_without_a_memory
  // expect-gcc: "umbel: exchange_of: expects a sharded layer and the axes of its sequences"
  // expect-clang: exchange_of.*expects_a_sharded_layer_and_the_axes_of_its_sequences
  // cause: The layer is not divided, or the axes are not those of a call; a decoder layer also needs the positions of its memory.
  // cure: Write `exchange_of<share, token<512>>`, for decoder layers `exchange_of<share, token<512>, key<48>>`, for divided sequences `exchange_of<share, batch<8>, token<128>>`.
  constexpr auto out = exchange_of<sharded<decoder, over<heads, ranks<2>>>, token<9>>;
#elif defined CASE_what_a_whole_layer_exchanges
  // expect-gcc: "umbel: exchange_of: expects a sharded layer and the axes of its sequences"
  // expect-clang: exchange_of.*expects_a_sharded_layer_and_the_axes_of_its_sequences
  // cause: The layer is not divided, or the axes are not those of a call; a decoder layer also needs the positions of its memory.
  // cure: Write `exchange_of<share, token<512>>`, for decoder layers `exchange_of<share, token<512>, key<48>>`, for divided sequences `exchange_of<share, batch<8>, token<128>>`.
  constexpr auto out = exchange_of<attention, token<9>>;
#elif defined CASE_describe_with_the_network_last
  // expect-gcc: "umbel: describe: expects an interconnect before the type; write describe<interconnect\{\}, share, token<64>>\(\)"
  // expect-clang: umbel: describe: expects an interconnect before the type; write describe<interconnect\{\}, share, token<64>>\(\)
  // cause: The network is the first template argument.
  // cure: Write `describe<interconnect{}, share, token<64>>()`.
  const char* r = describe<share, token<64>, interconnect{}>();
  (void)r;
#else
  static_assert(exchange_of<share, token<9>>.bytes == 2 * 2 * 9 * 16 * sizeof(float));
  static_assert(exchange_of<share, batch<2>, query<9>, key<4>>.messages == 8);
  static_assert(exchange_of<sequences, batch<6>, token<9>>.bytes == 3 * 9 * 48 * sizeof(float));
  static by_chains of_batch;
  static by_chains::workspace exchanged;
  static_assert(exchange_of<by_chains>.bytes == 2 * sizeof(exchanged.sent) / 2);
  of_batch.sum(8, serial, across(two, exchanged),
               [](std::size_t, attention::weights&, std::size_t) { return 0.0f; });
  static key_value_cache<share, key<32>> past;
  static decltype(past)::workspace<token<9>> step;
  bool out =
      past.step(x, attend, attend(x, causal, across(world, work)), all_keys, across(world, step));
  each.into(xs, xs, causal, across(two, whole));
#endif
}
