// SPDX-License-Identifier: BSL-1.0
// plan_of and describe: what the page says is what the layer does.
#include <boost/test/unit_test.hpp>

#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/footprint.hpp>
#include <umbel/umbel.hpp>

#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace umbel;
using namespace umbel::axes;

using attention = multi_head_attention<float, hidden<100>, heads<5>, bias<true>>;
using grouped = multi_head_attention<double, hidden<64>, heads<4>, kv_heads<2>, head_dim<8>>;

// The shapes are those of the layer.
using of_64 = plan_of<attention, token<64>>;
static_assert(of_64::query.shape.rows == 64 && of_64::query.shape.in == 100);
static_assert(of_64::output.shape.bias && of_64::key.shape.out == 100);
static_assert(of_64::flops == 2.0 * 4 * 64 * 100 * 100 + 4.0 * 64 * 64 * 100);
using of_two = plan_of<grouped, query<3>, key<300>>;
static_assert(of_two::key.shape.rows == 300 && of_two::key.shape.out == 16);
static_assert(of_two::output.shape.in == 32);
static_assert(of_two::attention.shape.keys == 300);

// No estimate promises more than the multiply-adds of a step need, nor ten times less.
template <class Plan>
constexpr bool believable =
    Plan::cycles * 4.0 * Plan::lanes > Plan::flops&& Plan::cycles * 0.4 * Plan::lanes < Plan::flops;
static_assert(believable<of_64> && believable<of_two>);
// More of anything costs more.
static_assert(plan_of<attention, token<65>>::cycles > of_64::cycles);
static_assert(plan_of<attention, query<64>, key<80>>::cycles > of_64::cycles);

constexpr auto page = describe<attention, token<64>>();  // in the compiler
static_assert(page[0] == 'a');

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(description)

BOOST_AUTO_TEST_CASE(the_page_has_each_step_and_all_bytes) {
  const std::string text = page;
  BOOST_TEST(text.find("attention, 64 queries to 64 keys, 5 heads of 20, float") == 0u);
  for (const char* line : {"\nqueries ", "\nkeys ", "\nvalues "})
    BOOST_TEST(count(text, line) == 2u);
  for (const char* line : {"\nattention ", "\noutput ", "\ncontext ", "\nscratch "})
    BOOST_TEST(count(text, line) == 1u);
  using workspace = attention::workspace<token<64>>;
  std::string bytes = std::to_string(sizeof(workspace));
  bytes.insert(bytes.size() - 3, ",");
  BOOST_TEST(text.find(" " + bytes + "\n") != std::string::npos);
  BOOST_TEST(text.back() == '\n');
  for (const char c : text) BOOST_TEST((c == '\n' || (c >= ' ' && c <= '~')));
}

// Text is made of what was planned; nothing is said of a tile that is not there.
BOOST_AUTO_TEST_CASE(tiles_are_those_of_the_plan) {
  const std::string text = describe<grouped, query<3>, key<300>>();
  BOOST_TEST(text.find("keys and values of 2, double") != std::string::npos);
  BOOST_TEST(text.find(" 0 of ") == std::string::npos);
  constexpr auto rows = of_two::key.plan.rows;
  if (!of_two::key.rows_in_lanes && rows.small_count == 0)
    BOOST_TEST(text.find(std::to_string(rows.large_count) + " tiles of " +
                         std::to_string(rows.large) + " rows") != std::string::npos);
  if (detail::plan::lanes<double>(detail::plan::native_target) != 1)
    BOOST_TEST(count(text, "registers of " + std::to_string(of_two::lanes)) == 1u);
}

BOOST_AUTO_TEST_CASE(one_query_has_its_own_form) {
  using one = plan_of<attention, query<1>, key<40>>;
  const std::string text = describe<attention, query<1>, key<40>>();
  // The contexts of two heads, 20 features each, fit half of the registers from 8 lanes on.
  const bool two_heads = detail::plan::lanes<float>(detail::plan::native_target) >= 8;
  BOOST_TEST((one::attention.form == (two_heads ? detail::plan::attend_form::keys_in_lanes
                                                : detail::plan::attend_form::head_by_head)));
  BOOST_TEST(text.find("1 tile of 1 row") != std::string::npos);
}

// The page says what the layer does: both ask plan::choose_attend.
BOOST_AUTO_TEST_CASE(the_form_is_that_of_the_layer) {
  const auto check = []<class Queries, class Keys>(Queries, Keys) {
    using layer = multi_head_attention<float, hidden<64>, heads<8>>;
    using plan = plan_of<layer, Queries, Keys>;
    using forward = typename layer::template forward_of<Queries::size, Keys::size>;
    using heads = detail::heads_of_sequence<forward::head, forward::all_heads, float,
                                            typename layer::scoring>;
    using scores = detail::scores_of<float, 0, 8, Queries::size, Keys::size>;
    using every = detail::sequence_mask<scores, detail::every_key>;
    BOOST_TEST((plan::attention.form == heads::template form<every>));
  };
  check(query<1>{}, key<40>{}), check(query<2>{}, key<6>{}), check(query<4>{}, key<6>{});
  check(query<16>{}, key<16>{}), check(query<17>{}, key<40>{}), check(query<64>{}, key<64>{});
}

// Blocks: parts and norms in their order, by their names; steps that are those of the parts.
namespace {
std::string with_comma(std::size_t bytes) {
  std::string digits = std::to_string(bytes);
  if (digits.size() > 3) digits.insert(digits.size() - 3, ",");
  return digits;
}
// Is each text behind the one before it? The end of a line may be its last character and the first
// of the next.
bool in_order(const std::string& page, std::initializer_list<const char*> texts) {
  std::size_t at = 0;
  for (const char* text : texts) {
    at = page.find(text, at);
    if (at == std::string::npos) return false;
    at += std::string(text).size() - 1;
  }
  return true;
}
// The lines of steps, which end in a plan, without the space before those of a part.
std::string steps_of(const std::string& page) {
  std::string steps;
  for (std::size_t at = 0, end = 0; (end = page.find('\n', at)) != std::string::npos;
       at = end + 1) {
    std::string line = page.substr(at, end - at);
    if (line.find(" x ") == std::string::npos) continue;
    if (line[0] == ' ') line = line.substr(1, 9) + " " + line.substr(10);
    steps += line + "\n";
  }
  return steps;
}
template <std::size_t Heads, class Name>
using own_attention = block_parts::self_attention<Name, heads<Heads>, bias<true>>;
template <class Name>
using gated_network = block_parts::feed_forward_network<Name, intermediate<72>, activation<silu>,
                                                        gated<true>, bias<false>>;
using layer = encoder_layer<float, hidden<48>, heads<4>, intermediate<72>, norm_first<true>,
                            activation<silu>, gated<true>, bias<false>>;
}  // namespace

BOOST_AUTO_TEST_CASE(the_page_of_a_block_has_each_part_by_its_name) {
  const std::string page = describe<layer, token<16>>();
  BOOST_TEST(page.find("encoder_layer, 16 positions of 48, float, ") == 0u);
  BOOST_TEST(in_order(
      page, {"\nnorm1: layer_norm\n", "\nattention: 16 queries to 16 keys, 4 heads ", "\n queries ",
             "\n output ", "\nsum: attention is added\n", "\nnorm2: layer_norm\n",
             "\nfeed_forward: 16 positions of 48, by 72 ", "gated\n gate ", "\n up ", "\n down ",
             "\nsum: feed_forward is added\n", "\nall ", "\nworkspace ", "\nnormed ", "\nbranch ",
             "\nattention ", "\nfeed_forward ", "\nall "}));
  // The same steps as those of its parts.
  BOOST_TEST(steps_of(page) == steps_of(describe<layer::attention, token<16>>()) +
                                   steps_of(describe<layer::feed_forward, token<16>>()));
  BOOST_TEST(count(page, " " + with_comma(sizeof(layer::workspace<token<16>>)) + "\n") == 1u);
  BOOST_TEST(count(page, " " + with_comma(sizeof(layer::feed_forward::workspace<token<16>>)) +
                             "\n") == 1u);
  for (const char c : page) BOOST_TEST((c == '\n' || (c >= ' ' && c <= '~')));
  static_assert(describe<layer, token<16>>()[0] == 'e');  // in the compiler
  const std::string stack = describe<layer_stack<layer, 3>, token<16>>();
  BOOST_TEST(stack == "layer_stack, 3 layers, each: " + page);
}

BOOST_AUTO_TEST_CASE(the_page_of_a_block_with_a_memory) {
  using decoder = decoder_layer<double, hidden<48>, heads<4>, intermediate<72>, norm_first<false>,
                                norm_by<rms_norm>, norm_epsilon<1, 1000>, activation<relu>,
                                bias<true>, query_key_norm<layer_norm>>;
  const std::string page = describe<decoder, token<5>, key<9>>();
  BOOST_TEST(page.find("decoder_layer, 5 positions of 48 and a memory of 9, double, ") == 0u);
  BOOST_TEST(in_order(
      page,
      {"\nself_attention: 5 queries to 5 keys, 4 heads of 12, layer_norm of queries and keys\n",
       "\nsum: self_attention is added\nnorm1: rms_norm\n",
       "\ncross_attention: 5 queries to 9 keys, 4 heads of 12, layer_norm of queries and keys\n",
       "\n keys          9 x ", "\nnorm2: rms_norm\nfeed_forward: ", "\nnorm3: rms_norm\nall "}));
  BOOST_TEST(steps_of(page) ==
             steps_of(describe<decoder::self_attention, token<5>>()) +
                 steps_of(describe<decoder::cross_attention, query<5>, key<9>>()) +
                 steps_of(describe<decoder::feed_forward, token<5>>()));
}

BOOST_AUTO_TEST_CASE(the_pages_of_composed_blocks) {
  namespace name = block_parts::name;
  using parallel =
      residual_block<float, hidden<48>,
                     block_parts::pre_norm<name::norm, own_attention<4, name::attention>,
                                           gated_network<name::feed_forward>>>;
  BOOST_TEST(in_order(
      describe<parallel, token<16>>(),
      {"residual_block, 16 positions of 48, ", "\nnorm: layer_norm\nattention: ",
       "\nsum: attention is added\nfeed_forward: ", "\nsum: feed_forward is added\nall "}));
  using other = residual_block<
      float, hidden<48>,
      block_parts::sandwich_norm<name::norm1, own_attention<3, name::attention>, name::norm2>,
      block_parts::scaled<
          3, 10, block_parts::pre_norm<name::norm3, block_parts::linear_map<name::linear>>>,
      block_parts::no_residual<block_parts::without_norm<gated_network<name::feed_forward>>>,
      block_parts::norm_only<name::final_norm>>;
  const std::string page = describe<other, token<1>>();
  BOOST_TEST(in_order(
      page, {", 1 position of 48, ", "\nnorm1: layer_norm\nattention: 1 query to 1 ",
             "\nnorm2: layer_norm\nsum: attention is added\nnorm3: ",
             "\nlinear: 1 position of 48\n map           1 x    48 to    48 ",
             "\nsum: 3/10 of linear is added\nfeed_forward: ", "\nfinal_norm: layer_norm\nall "}));
  BOOST_TEST(count(page, "sum: ") == 2u);  // feed_forward takes the place of its input
}

// Formulas.
namespace {
using queries = tensor<float, heads<3>, query<40>, head_dim<16>>;
using keys = tensor<float, heads<3>, key<40>, head_dim<16>>;
constexpr formula windowed = [](auto q, auto k, auto v, auto bias) {
  auto scores = contract<head_dim>(q, k) * 0.25f + bias;
  auto far = position<key> > position<query> || position<key> + 7 < position<query>;
  return contract<key>(softmax<key>(hide(scores, far)), v);
};
constexpr formula rows = [](auto x) {
  auto y = silu(x) * 2;
  auto squares = sum<head_dim>(y * y);
  return std::pair{squares, y / (squares + 1)};
};
}  // namespace

BOOST_AUTO_TEST_CASE(products_that_would_be_cheaper_in_another_order) {
  using input = tensor<float, token<100>, hidden<64>>;
  using query = tensor<float, head_dim<32>>;
  using matrix = tensor<float, hidden<64>, head_dim<32>>;
  // Pooling: 100 * 64 * 32 + 100 * 32, or 64 * 32 + 100 * 64.
  constexpr formula pooled = [](auto x, auto q, auto k, auto v) {
    auto weights = softmax<token>(contract<head_dim>(q, contract<hidden>(x, k)));
    return contract<token>(weights, contract<hidden>(x, v));
  };
  const std::string pool = describe(pooled, input{}, query{}, matrix{}, matrix{});
  BOOST_TEST(count(pool,
                   "\n  order   argument 3 times argument 2 first would take 8,448 "
                   "multiplications instead of 208,000, with other bits\n") == 1u);
  BOOST_TEST(count(pool, "\n  order   argument 1 times softmax first would take 8,448 ") == 1u);
  BOOST_TEST(count(pool, "  order ") == 2u);
  // The same with the weights of a linear map.
  using map = linear<float, hidden<64>, head_dim<32>>;
  constexpr formula projected = [](auto x, auto q, const auto& w) {
    return contract<head_dim>(q, x * w);
  };
  BOOST_TEST(count(describe(projected, input{}, query{}, map::weights{}),
                   "the weights times argument 2 first would take 8,448 ") == 1u);
  // With factors between the products: numbers, which one argument may be, but no tensors.
  constexpr formula scaled = [](auto x, auto q, auto k, auto by) {
    return contract<head_dim>(q, 0.5f * contract<hidden>(x, k) / 3 * by);
  };
  BOOST_TEST(count(describe(scaled, input{}, query{}, matrix{}, 2.0f),
                   "argument 3 times argument 2 first would take 8,448 ") == 1u);
  BOOST_TEST(count(describe(scaled, input{}, query{}, matrix{}, query{}), "  order ") == 0u);
  // Linear maps one after the other: 100 * 64 * 100 + 100 * 100 * 4, or 64 * 100 * 4 + 100 * 64
  // * 4.
  constexpr formula twice = [](auto x, const auto& a, const auto& b) { return x * a * b; };
  using wider = linear<float, hidden<64>, intermediate<100>>;
  using narrower = linear<float, intermediate<100>, out_features<4>>;
  BOOST_TEST(count(describe(twice, input{}, wider::weights{}, narrower::weights{}),
                   "the weights times the weights first would take 51,200 multiplications instead "
                   "of 680,000, ") == 1u);
  using narrow = linear<float, hidden<64>, intermediate<2>>;
  using back = linear<float, intermediate<2>, hidden<64>>;
  BOOST_TEST(count(describe(twice, input{}, narrow::weights{}, back::weights{}), "  order ") == 0u);
  // A bias is added between the products.
  using biased = linear<float, hidden<64>, head_dim<32>, bias<true>>;
  BOOST_TEST(count(describe(projected, input{}, query{}, biased::weights{}), "  order ") == 0u);
  // Attention without a softmax: all pairs, or the sums of products of keys and values. Renamed.
  constexpr formula pairs = [](auto q, auto k, auto v) {
    auto scores = contract<head_dim>(q, k | rename_axis<token, key>);
    return contract<key>(scores, v | rename_axis<token, key>);
  };
  using row = tensor<float, axes::query<40>, head_dim<4>>;
  using keys_of_a_head = tensor<float, token<80>, head_dim<4>>;
  using values_of_a_head = tensor<float, token<80>, hidden<4>>;
  BOOST_TEST(count(describe(pairs, row{}, keys_of_a_head{}, values_of_a_head{}),
                   "argument 2 times argument 3 first would take 1,920 multiplications instead of "
                   "25,600, ") == 1u);
  // Of what is needed anyway: none.
  constexpr formula needed = [](auto x, auto q, auto k) {
    auto keys = contract<hidden>(x, k);
    return std::pair{contract<head_dim>(q, keys), keys};
  };
  BOOST_TEST(count(describe(needed, input{}, query{}, matrix{}), "  order ") == 0u);
  // Two chains of equal cost, and attention: none.
  using square = tensor<float, hidden<64>, in_features<64>>;
  using other_square = tensor<float, in_features<64>, out_features<64>>;
  constexpr formula chain = [](auto x, auto a, auto b) {
    return contract<in_features>(contract<hidden>(x, a), b);
  };
  BOOST_TEST(
      count(describe(chain, tensor<float, token<64>, hidden<64>>{}, square{}, other_square{}),
            "  order ") == 0u);
  BOOST_TEST(count(describe(windowed, queries{}, keys{}, keys{},
                            tensor<float, heads<3>, axes::query<40>, key<40>>{}),
                   "  order ") == 0u);
}

BOOST_AUTO_TEST_CASE(the_page_of_a_formula_says_what_is_together_and_what_is_stored) {
  const queries q{};
  const keys k{};
  const tensor<float, heads<3>, query<40>, key<40>> bias{};
  const std::string one = describe(windowed, q, k, k, bias);
  BOOST_TEST(one.find("formula of 4 arguments, float") == 0u);
  BOOST_TEST(count(one, "\nstep ") == 1u);
  BOOST_TEST(count(one, "step 1  [heads=3, query=40, head_dim=16]  result\n") == 1u);
  BOOST_TEST(count(one, "argument 1, argument 2, argument 4, argument 3\n") == 1u);
  BOOST_TEST(count(one,
                   "times 0.25, which the queries take; 1 addition; query i reads keys i - 7 "
                   "to i\n") == 1u);

  const std::string two = describe(rows, q);
  BOOST_TEST(count(two, "does    silu, multiply\n") == 1u);
  BOOST_TEST(count(two, "[heads=3, query=40]  result 1, read by step ") == 1u);
  BOOST_TEST(count(two, "[heads=3, query=40, head_dim=16]  result 2\n") == 1u);
  BOOST_TEST(count(two, "does    multiply, sum\n") == 1u);
  // A result is written in the order and by the names that a copy gives it.
  constexpr formula turned = [](auto q, auto k, auto v) {
    auto context = contract<key>(softmax<key>(contract<head_dim>(q, k)), v);
    return context | rename_axis<query, token> | permute<token, heads, head_dim> | contiguous |
           merge<heads, head_dim, hidden>;
  };
  const std::string three = describe(turned, q, k, k);
  BOOST_TEST(count(three, "\nstep ") == 1u);
  BOOST_TEST(count(three, "softmax, context, its order in memory\n") == 1u);
  // Values that the user named.
  constexpr formula called = [](auto x) { return named<"gate">(silu(x)) * x; };
  const std::string four = describe(called, q);
  BOOST_TEST(count(four, "does    silu 'gate', multiply\n") == 1u, four);
  // In the compiler.
  static_assert(describe(rows, queries{})[0] == 'f');
}

// Its workspace is the caller's, which has room for results in any order.
template <class F, class... X>
std::string page_with_its_workspace(const F& f, const X&... x) {
  const std::string page = describe(f, x...);
  std::string bytes = std::to_string(sizeof(workspace_for<F, X...>));
  for (std::size_t i = bytes.size(); i > 3; i -= 3) bytes.insert(i - 3, ",");
  BOOST_TEST(count(page, "\nworkspace  " + bytes + " bytes: ") == 1u, page);
  static_assert(footprint<F, X...>.workspace == sizeof(workspace_for<F, X...>));
  return page;
}
BOOST_AUTO_TEST_CASE(the_page_of_a_formula_says_the_size_of_its_workspace) {
  static const queries q{};
  static const keys k{};
  static const tensor<float, heads<3>, query<40>, key<40>> bias{};
  BOOST_TEST(count(page_with_its_workspace(windowed, q, k, k, bias),
                   " bytes: 0 of what is stored, ") == 1u);
  page_with_its_workspace(rows, q);
  // A concat, softmax or sum that is a result is stored before it is copied.
  const char* more = " more for results that are not row-major, ";
  constexpr formula joined = [](auto q, auto k) {
    auto half = [&](auto part) {
      auto weights = softmax<key>(contract<head_dim>(q | part, k | part));
      return contract<key>(weights, k | part);
    };
    return concat<heads>(half(slice<heads, from<0>, extent<1>>),
                         half(slice<heads, from<1>, extent<2>>));
  };
  BOOST_TEST(count(page_with_its_workspace(joined, q, k), more) == 1u);
  constexpr formula weights = [](auto q, auto k) { return softmax<key>(contract<head_dim>(q, k)); };
  BOOST_TEST(count(page_with_its_workspace(weights, q, k), more) == 1u);
  constexpr formula several = [](auto q, auto k) {
    return std::tuple{sum<key>(tanh(contract<head_dim>(q, k))), q * 2};
  };
  page_with_its_workspace(several, q, k);
  constexpr formula nothing_stored = [](auto q) { return tanh(q) + 1; };
  page_with_its_workspace(nothing_stored, q);
}

// A condition is computed in each step that needs it; its operands are not read by the others.
BOOST_AUTO_TEST_CASE(no_step_of_a_formula_is_read_by_an_earlier_one) {
  const queries q{};
  const keys k{};
  const auto readers_are_later = [](const std::string& page) {
    std::istringstream lines(page);
    std::size_t stored = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("step ") != 0) continue;
      const std::size_t number = std::stoul(line.substr(5));
      for (std::size_t at = line.find("read by step "); at < line.size(); ++at)
        if (line[at] >= '0' && line[at] <= '9' && line[at - 1] == ' ')
          BOOST_TEST(std::stoul(line.substr(at)) > number, page);
      stored += line.find("  stored, ") != std::string::npos;
    }
    return stored;
  };
  // Sparsemax, whose weights are a result as well, so that its steps are apart.
  constexpr formula by_threshold = [](auto q, auto k) {
    auto s = contract<head_dim>(q, k);
    auto t = max<key>(s) - 1;
    for (int i = 0; i < 8; ++i)
      t = (sum<key>(where(s > t, s, 0)) - 1) / sum<key>(where(s > t, 1, 0));
    auto weights = relu(s - t);
    return std::pair{contract<key>(weights, k), weights};
  };
  BOOST_TEST(readers_are_later(describe(by_threshold, q, k)) > 20u);
  // Graph attention.
  constexpr formula leaky = [](auto q, auto k, auto a) {
    auto e = contract<head_dim>(k, a) +
             (contract<head_dim>(q, a) | broadcast<heads<3>, query<40>, key<40>>);
    auto weights = softmax<key>(where(e > 0, e, 0.2f * e));
    return contract<key>(weights, k);
  };
  readers_are_later(describe(leaky, q, k, tensor<float, heads<3>, head_dim<16>>{}));
}

// A program of positions has their axis, and reads nothing.
BOOST_AUTO_TEST_CASE(the_page_of_a_formula_with_stored_positions) {
  constexpr formula by_length = [](auto q, auto k, auto slopes) {
    auto scores = contract<head_dim>(q, k) * (slopes * log(position<query> + 1));
    return contract<key>(softmax<key>(scores), k);
  };
  const std::string page = describe(by_length, queries{}, keys{}, tensor<float, heads<3>>{});
  BOOST_TEST(count(page,
                   "\nstep 1  [query=40]  stored, 160 bytes, read by step 2 (attention): "
                   "read by other axes\n  does    add, log\n") == 1u,
             page);
  BOOST_TEST(count(page, "\n  reads   ") == 1u, page);
}

// Visible pairs are counted without a loop over them, which a constant expression has no room for.
BOOST_AUTO_TEST_CASE(the_page_of_a_formula_of_long_sequences) {
  constexpr formula causal = [](auto q, auto k) {
    auto scores = hide(contract<head_dim>(q, k), position<key> > position<query>);
    return contract<key>(softmax<key>(scores), k);
  };
  static const tensor<float, query<4096>, head_dim<16>> q{};
  static const tensor<float, key<4096>, head_dim<16>> k{};
  BOOST_TEST(count(describe(causal, q, k), "query i reads keys up to i\n") == 1u);
  static_assert(footprint<decltype(causal), decltype(q), decltype(k)>.flops ==
                4096 * 4097 / 2 * (16 + 16) * 2);
}

// More than the 256 expressions of a fold that clang accepts.
template <int N, class X>
constexpr auto many_times(const X& x) {
  if constexpr (N == 0)
    return x;
  else
    return many_times<N - 1>(x | softmax<token>);
}
BOOST_AUTO_TEST_CASE(a_formula_of_260_steps) {
  constexpr formula f = [](auto a) { return many_times<130>(many_times<130>(a)); };
  const tensor<float, token<2>> x{1, 2};
  BOOST_TEST(f(x)(0) + f(x)(1) == 1);
  static_assert(footprint<decltype(f), decltype(x)>.flops == 0);
}

// As counted one by one.
BOOST_AUTO_TEST_CASE(pairs_inside_a_window) {
  for (const std::int64_t queries : {1, 5, 8})
    for (const std::int64_t keys : {1, 3, 8})
      for (std::int64_t high = -12; high <= 12; ++high) {
        std::int64_t seen = 0;
        for (std::int64_t i = 0; i < queries; ++i)
          for (std::int64_t j = 0; j < keys; ++j) seen += j <= i + high;
        BOOST_TEST(detail::formulas::pairs_up_to(high, queries, keys) == seen);
      }
  static_assert(detail::formulas::pairs_up_to(1'000'000'000, 4, 3) == 12);
  static_assert(detail::formulas::pairs_up_to(-1'000'000'001, 4, 3) == 0);
}

BOOST_AUTO_TEST_CASE(the_page_of_a_formula_says_why_a_step_is_stored) {
  using network =
      feed_forward<float, hidden<16>, intermediate<33>, bias<false>, activation<silu>, gated<true>>;
  const queries q{};
  const keys k{};
  static const network::weights w{};
  const auto says = [](const std::string& page, const char* why) {
    BOOST_TEST(count(page, std::string("): ") + why + "\n") == 1u, page);
    BOOST_TEST(count(page, "]  stored, ") == 1u, page);
  };
  constexpr formula of_a_product = [](auto a, auto b) { return contract<head_dim>(tanh(a), b); };
  says(describe(of_a_product, q, k), "an operand of a product");
  constexpr formula two_products = [](auto a, const auto& of) {
    return (a * of.gate | silu) * (a * of.up);
  };
  says(describe(two_products, tensor<float, query<40>, hidden<16>>{}, w), "a second product");
  constexpr formula several = [](auto a, auto b) {
    auto y = tanh(a);
    return std::pair{y + b, sum<heads>(y)};
  };
  says(describe(several, q, 2.0f), "read by several steps");
  constexpr formula of_a_call = [](auto a) { return softmax<query>(tanh(a)); };
  says(describe(of_a_call, q), "an operand of a call");
  constexpr formula turned = [](auto a, auto b) {
    return exp(b) + (tanh(a) | select_at<heads, 1>);
  };
  says(describe(turned, q, tensor<float, query<40>, head_dim<16>>{}), "read by other axes");
  constexpr formula on_its_own = [](auto a) { return softmax<head_dim>(a) * 2; };
  says(describe(on_its_own, q), "a step of its own");
}

// The estimate in the last line of a page.
double cycles_of(const std::string& page) {
  return std::stod(page.substr(page.rfind("\ncycles") + 7));
}
// Text is made of what was planned.
BOOST_AUTO_TEST_CASE(the_page_of_a_formula_says_its_tiles) {
  namespace plan = detail::plan;
  const queries q{};
  const keys k{};
  using map = linear<float, head_dim<16>, intermediate<48>>;
  static const map::weights w{};
  const auto tiles_of = [](plan::split rows) {
    return rows.small_count != 0 ? std::string()
                                 : std::to_string(rows.large_count) +
                                       (rows.large_count == 1 ? " tile of " : " tiles of ") +
                                       std::to_string(rows.large);
  };
  constexpr formula projected = [](auto a, const auto& of) { return relu(a * of); };
  const std::string one = describe(projected, q, w);
  BOOST_TEST(count(one, "\n  tiles   ") == 1u);
  constexpr auto p = plan::plan_linear<float>(120, 16, 48, plan::native_target);
  BOOST_TEST(one.find(tiles_of(p.rows)) != std::string::npos);
  constexpr formula scores = [](auto a, auto b) { return contract<head_dim>(a, b) * 2; };
  const std::string two = describe(scores, q, k);
  BOOST_TEST(count(two, "\n  tiles   3 products of 40 x 16 by 16 x 40, ") == 1u, two);
  const std::string three =
      describe(windowed, q, k, k, tensor<float, heads<3>, query<40>, key<40>>{});
  BOOST_TEST(count(three, "\n  tiles   ") == 1u);
  // Functions have names and costs: those of sin are more than those of floor.
  constexpr formula waves = [](auto a) { return sin(pow(a, 2)) + softplus(a); };
  const std::string of_waves = describe(waves, q);
  BOOST_TEST(count(of_waves, "  does    pow, sin, softplus, add\n") == 1u, of_waves);
  constexpr formula steps = [](auto a) { return floor(a) % 7 + clamp(a, 0, 1); };
  const std::string of_steps = describe(steps, q);
  BOOST_TEST(count(of_steps, "  does    floor, remainder, clamp, add\n") == 1u, of_steps);
  BOOST_TEST(cycles_of(of_waves) > 4 * cycles_of(of_steps));
  constexpr formula by_sigmoid = [](auto a, auto b, auto c) {
    return contract<key>(sigmoid(contract<head_dim>(a, b)), c);
  };
  const std::string four = describe(by_sigmoid, q, k, k);
  BOOST_TEST(count(four, "\n  tiles   1 product of ") == 2u, four);
  // As many queries as are a block, in both.
  const std::size_t at = four.find("blocks  ") + 8;
  const std::string queries = four.substr(at, four.find(' ', at) - at);
  BOOST_TEST(four.find("product of " + queries + " x ") != std::string::npos, four);
}

// Functions along the keys are parts of a step by blocks of queries, with a cost.
BOOST_AUTO_TEST_CASE(the_page_of_a_formula_with_functions_of_rows) {
  const auto page_of = [](auto weights) {
    static constexpr decltype(weights) of{};
    constexpr formula f = [](auto q, auto k) {
      return contract<key>(of(contract<head_dim>(q, k)), k | rename_axis<head_dim, value_dim>);
    };
    return std::string(describe(f, queries{}, keys{}));
  };
  const std::string none = page_of([](auto s) { return s * 0.5f; });
  const std::string sums = page_of([](auto s) { return cumulative_sum<key>(s) * 0.5f; });
  const std::string first = page_of([](auto s) { return s * kth_largest<1, key>(s); });
  const std::string ninth = page_of([](auto s) { return s * kth_largest<9, key>(s); });
  BOOST_TEST(count(sums, "step 2") + count(ninth, "step 2") == 0u, sums + ninth);
  BOOST_TEST(count(sums, "0 of what is stored") == 1u, sums);
  BOOST_TEST(cycles_of(none) < cycles_of(sums));
  const std::string causal = page_of([](auto s) {
    auto shown = where(position<key> > position<query>, 0, s);
    return shown * sum<key>(shown);
  });
  const std::string all = page_of([](auto s) { return s * sum<key>(s); });
  BOOST_TEST(cycles_of(causal) < 0.7 * cycles_of(all));
  BOOST_TEST(cycles_of(first) < cycles_of(ninth));
}

BOOST_AUTO_TEST_SUITE_END()
