// SPDX-License-Identifier: BSL-1.0
// The example that writes text (examples/tiny_language_model): its trained weights give PyTorch's
// greedy text, step by step the bits of the whole pass, and for a seed the same text whatever the
// target.
#include "../../examples/tiny_language_model/load.hpp"
#include "../../examples/tiny_language_model/writer.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

namespace {

using namespace umbel;
using namespace tiny;

std::string weights_file() {
  const char* const data = std::getenv("UMBEL_GOLDEN_DATA");  // as golden/weights.hpp
  return std::string{data ? data : "test/golden/data"} +
         "/../../../examples/tiny_language_model/trained/weights.safetensors";
}

const weights& trained() {
  static weights w;
  static const std::string wrong = load_weights(w, weights_file().c_str());
  BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  return w;
}

// What PyTorch wrote after the prompt, which tools/train_text.py put into the file.
const tokens<context>& greedy_text() {
  static tokens<context> text;
  const auto memory = mapped_file::open(weights_file().c_str());
  BOOST_REQUIRE(memory);
  const auto file = tensor_file::in_memory(*memory);
  BOOST_REQUIRE(file && file->read("probe.greedy", text));
  return text;
}

constexpr std::size_t prompt = std::string_view{"In the beginning "}.size();

std::string letters_of(const int* text, std::size_t count) {
  std::string letters;
  for (std::size_t i = 0; i < count; ++i) letters += letter_of(static_cast<std::size_t>(text[i]));
  return letters;
}
template <class Stored>
std::string written_by(writer<Stored>& out, std::size_t count, const sampling& how,
                       float penalty = 1) {
  std::string letters;
  for (std::size_t i = 0; i < count; ++i) letters += letter_of(out.write(how, penalty));
  return letters;
}
template <std::size_t Count>
std::size_t rows_that_differ(const logits<Count>& a, const logits<Count>& b) {
  std::size_t differ = 0;
  for (std::size_t i = 0; i < Count; ++i)
    differ += __builtin_memcmp(&a(i, 0), &b(i, 0), characters * sizeof(float)) != 0;
  return differ;
}

constexpr sampling greedy{.temperature = 0};

}  // namespace

BOOST_AUTO_TEST_SUITE(tiny_language_model)

BOOST_AUTO_TEST_CASE(writes_the_greedy_text_of_pytorch) {
  const auto& wanted = greedy_text();
  static writer<> out{trained(), 1};
  BOOST_REQUIRE(out.begin(wanted.data(), prompt));
  BOOST_TEST(written_by(out, context - prompt, greedy) ==
             letters_of(wanted.data() + prompt, context - prompt));
}

BOOST_AUTO_TEST_CASE(steps_have_the_bits_of_the_whole_pass) {
  const auto& text = greedy_text();
  static const logits<context> whole = whole_pass(trained(), text);
  static logits<context> steps;
  static reader<> model{trained()};
  for (std::size_t i = 0; i < context; ++i) {
    BOOST_REQUIRE(model.read(text.data() + i, 1));
    const auto next = model.next();
    std::copy_n(next.data(), characters, &steps(i, 0));
  }
  BOOST_TEST(rows_that_differ(steps, whole) == 0u);
  BOOST_TEST(!model.read(text.data(), 1));  // the context is full
  BOOST_TEST(model.size() == context);

  for (const std::size_t count : {1u, 15u, 16u, 17u, 255u, 256u}) {  // a prompt, read by sixteen
    model.forget();
    BOOST_REQUIRE(model.read(text.data(), count));
    const auto next = model.next();
    BOOST_TEST(__builtin_memcmp(next.data(), &whole(count - 1, 0), sizeof next) == 0, count);
  }
}

// The file has 16 bits a number, so packing them in 16 bits loses nothing.
BOOST_AUTO_TEST_CASE(weights_of_16_bits_are_the_same_weights) {
  static const prepacked<block_stack, stored_as<bfloat16>> packed{trained().blocks};
  const auto& text = greedy_text();
  static block_stack::workspace<token<context>> work;
  static states<context> x = words{trained().embedding}(text);
  packed.into(x, x, causal, work);
  BOOST_TEST(rows_that_differ(logits_of(trained(), x), whole_pass(trained(), text)) == 0u);
}

BOOST_AUTO_TEST_CASE(writes_the_same_text_for_a_seed) {
  static writer<> out{trained(), 1}, cut{trained(), 2};
  BOOST_REQUIRE(out.begin(greedy_text().data(), prompt));
  BOOST_TEST(written_by(out, 80, {.temperature = 0.7F}) ==
             "of the disciples, and for me their fathers, the sword of the house of his land i");
  BOOST_REQUIRE(cut.begin(greedy_text().data(), prompt));
  BOOST_TEST(written_by(cut, 80, {.temperature = 0.9F, .top_k = 10, .top_p = 0.9F}, 1.1F) ==
             "of Jesus.\nBut Jeremiah was their stones, and speak blood to death, from the fath");
}

BOOST_AUTO_TEST_CASE(goes_on_where_the_context_is_full) {
  static writer<> long_text{trained(), 1}, second_half{trained(), 1};
  const auto& text = greedy_text();
  BOOST_TEST(!long_text.begin(text.data(), 0));
  BOOST_TEST(!long_text.begin(text.data(), context));
  BOOST_REQUIRE(long_text.begin(text.data(), context - 1));
  (void)long_text.write(greedy);  // the last that there is room for
  const std::string next = written_by(long_text, 1, greedy);
  BOOST_REQUIRE(second_half.begin(text.data() + context / 2, context / 2));
  const int first = static_cast<int>(token_of(next[0]));
  tokens<context / 2 + 1> rest;
  std::copy_n(text.data() + context / 2, context / 2, rest.data());
  rest(context / 2) = first;
  BOOST_REQUIRE(second_half.begin(rest.data(), context / 2 + 1));
  BOOST_TEST(written_by(long_text, 400, greedy) == written_by(second_half, 400, greedy));
}

BOOST_AUTO_TEST_SUITE_END()
