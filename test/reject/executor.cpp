// SPDX-License-Identifier: BSL-1.0
// Mistakes in calls with an executor: one case each, with the message that the compiler must print
// (check.py).
#include <umbel/umbel.hpp>

using namespace umbel;
using namespace umbel::axes;

struct two_workers {
  static constexpr std::size_t workers = 2;
  template <class Piece>
  void operator()(std::size_t count, const Piece& piece) const noexcept {
    for (std::size_t i = 0; i < count; ++i) piece(i, i % 2);
  }
};
struct no_workers {
  static constexpr std::size_t workers = 0;
  template <class Piece>
  void operator()(std::size_t, const Piece&) const noexcept {}
};

using tokens = tensor<float, token<9>, hidden<32>>;
using attention = multi_head_attention<float, hidden<32>, heads<4>>;
using encoder = encoder_layer<float, hidden<32>, heads<4>, intermediate<64>, norm_first<true>,
                              activation<gelu_exact>, bias<false>>;
using network =
    feed_forward<float, hidden<32>, intermediate<64>, activation<gelu_exact>, bias<false>>;

[[maybe_unused]] static void cases(const attention& attend, const encoder& encode,
                                   const network& feed, two_workers& pool, tokens& x) {
  (void)attend, (void)encode, (void)feed, (void)pool, (void)x;
#if defined CASE_no_executor
  // expect-gcc: "umbel: parallel: the executor needs a static constant workers above 0 and a call operator that accepts a count and a function"
  // expect-clang: parallel.*the_executor_needs_a_static_constant_workers_above_0_and_a_call_operator_that_accepts_a_count_and_a_function
  // cause: The first argument of `parallel` is not an executor (a number, for example), or its number of workers is 0 or not a constant.
  // cure: Pass an object with `static constexpr std::size_t workers`, including the calling thread, that can be called as `executor(count, piece)`.
  static attention::workspace<token<9>> work[2];
  auto out = attend(x, causal, parallel(2, work));
#elif defined CASE_executor_without_workers
  // expect-gcc: "umbel: parallel: the executor needs a static constant workers above 0 and a call operator that accepts a count and a function"
  // expect-clang: parallel.*the_executor_needs_a_static_constant_workers_above_0_and_a_call_operator_that_accepts_a_count_and_a_function
  // cause: The first argument of `parallel` is not an executor (a number, for example), or its number of workers is 0 or not a constant.
  // cure: Pass an object with `static constexpr std::size_t workers`, including the calling thread, that can be called as `executor(count, piece)`.
  static attention::workspace<token<9>> work[2];
  static const no_workers none;
  auto out = attend(x, causal, parallel(none, work));
#elif defined CASE_executor_is_a_temporary
  // expect-gcc: "umbel: parallel: the executor is a temporary; store it in a variable"
  // expect-clang: parallel.*the_executor_is_a_temporary_so_store_it_in_a_variable
  // cause: `parallel` borrows the executor, but this one is destroyed at the end of the statement.
  // cure: Store it in a variable, usually `static`: to start threads costs more than one call of the layer.
  static attention::workspace<token<9>> work[2];
  auto out = attend(x, causal, parallel(two_workers{}, work));
#elif defined CASE_fewer_workspaces_than_workers
  // expect-gcc: "umbel: parallel: the executor has 2 workers but the number of workspaces is 1"
  // expect-clang: parallel.*the_executor_has.*number<2>.*workers.*but_the_number_of_workspaces_is.*number<1>
  // cause: Each worker writes to its own workspace, and there are too few.
  // cure: Declare one for each worker: `static attention::workspace<token<9>> work[2];`.
  static attention::workspace<token<9>> work[1];
  auto out = attend(x, causal, parallel(pool, work));
#elif defined CASE_a_workspace_for_all_workers
  // expect-gcc: "umbel: parallel: expects an executor and an array of workspaces, one for each worker"
  // expect-clang: parallel.*expects_an_executor_and_an_array_of_workspaces_one_for_each_worker
  // cause: `parallel` got one workspace for several workers, or an argument that is not an array of workspaces.
  // cure: Declare an array of them: `static attention::workspace<token<9>> work[2];`.
  static attention::workspace<token<9>> work;
  auto out = attend(x, causal, parallel(pool, work));
#elif defined CASE_workspaces_of_other_sizes
  // expect-gcc: "umbel: multi_head_attention: the workspace is for \[token=8\]; pass one for \[token=9\]"
  // expect-clang: multi_head_attention.*the_workspace_is_for.*token<8>.*so_pass_one_for.*token<9>
  // cause: The workspaces were declared for a different type of layer or for different sequence lengths.
  // cure: Declare them with the sizes in the brackets: `attention::workspace<token<9>> work[2]`.
  static attention::workspace<token<8>> work[2];
  auto out = attend(x, causal, parallel(pool, work));
#elif defined CASE_an_executor_for_a_network
  // expect-gcc: "umbel: feed_forward: expects one workspace, not parallel\(\.\.\.\)"
  // expect-clang: feed_forward.*expects_one_workspace_not_parallel
  // cause: Only `multi_head_attention`, `encoder_layer`, `decoder_layer`, `layer_stack` and formulas can be divided among the workers of an executor.
  // cure: Pass one workspace, `network::workspace<token<9>>`, and call whole layers from several threads.
  static network::workspace<token<9>> work[2];
  auto out = feed(x, parallel(pool, work));
#else
  static attention::workspace<token<9>> work[2];
  static encoder::workspace<token<9>> blocks[2];
  auto out = encode(attend(x, causal, parallel(pool, work)), all_keys, parallel(pool, blocks));
#endif
  (void)out;
}
