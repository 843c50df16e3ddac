// SPDX-License-Identifier: BSL-1.0
// Files of weights as frameworks write them, loaded and compared with what the framework answers;
// and proof that each row of a table is needed. Not here: any test.
#pragma once

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <tuple>
#include <umbel/file/mapped_file.hpp>
#include <umbel/files.hpp>
#include <umbel/umbel.hpp>
#include <umbel/weights.hpp>
#include <vector>

#include "../support/compare.hpp"

namespace umbel_test {

// A file of test/golden/data/weights (tools/golden_weights.py). UMBEL_GOLDEN_DATA: where
// test/golden/data is, if not below the working directory.
class golden_file {
 public:
  explicit golden_file(const std::string& name)
      : memory_(umbel::mapped_file::open(path_of(name).c_str())) {
    BOOST_REQUIRE_MESSAGE(memory_, memory_.error());
    const auto file = umbel::tensor_file::in_memory(*memory_);
    BOOST_REQUIRE_MESSAGE(file, name << ": " << file.error());
    file_ = *file;
  }
  const umbel::tensor_file& operator*() const { return file_; }

 private:
  static std::string path_of(const std::string& name) {
    const char* const data = std::getenv("UMBEL_GOLDEN_DATA");
    return (data ? data : "test/golden/data") + ("/weights/" + name);
  }
  umbel::file_result<umbel::mapped_file> memory_;
  umbel::tensor_file file_;
};

// An input, or the answer of the framework.
template <class X>
X golden_answer(const std::string& name) {
  static const golden_file answers("answers.safetensors");
  static X x;
  const auto stored = (*answers).find(name.c_str());
  BOOST_REQUIRE_MESSAGE(stored, stored.error());
  const auto read = stored->read(x.data(), X::layout::count);
  BOOST_REQUIRE_MESSAGE(read, read.error());
  return x;
}

template <std::size_t Count>
using name_tables = std::array<umbel::parameter_names, Count>;
template <class... Tables>
name_tables<sizeof...(Tables)> tables(const Tables&... table) {
  return {umbel::parameter_names(table)...};
}

template <class Weights, std::size_t Count>
umbel::load_result load_all(Weights& w, const umbel::tensor_file& file,
                            const name_tables<Count>& names) {
  return std::apply([&](const auto&... table) { return umbel::load(w, file, table...); }, names);
}

// What becomes of a table with a mistake in it.
enum class fate { refused, wrong_numbers, unnoticed };

// Run: weights -> tensor.
template <class Weights, std::size_t Count, class Run, class Y>
fate fate_of(const umbel::tensor_file& file, const name_tables<Count>& names, const Run& run,
             const Y& wanted) {
  static Weights w;
  if (!load_all(w, file, names)) return fate::refused;
  const auto y = run(w);
  const distance d = distance_of(y.data(), wanted.data(), Y::layout::count);
  return d.finite && d.error <= 10 * allowed<float>(d) ? fate::unnoticed : fate::wrong_numbers;
}

// Each row of each table that the file needs, with each mistake that can be made in it: the other
// order of a matrix, another part, the tensor of another row. None may pass for the right one. In a
// file of square matrices none has another shape either, so the numbers tell. `silent`: a parameter
// on which no number depends.
template <class Weights, std::size_t Count, class Run, class Y>
void check_mistakes(const umbel::tensor_file& file, const name_tables<Count>& names, const Run& run,
                    const Y& wanted, const std::string& silent) {
  using umbel::stored_axes;
  std::size_t mistakes = 0, refused = 0;
  for (std::size_t t = 0; t < Count; ++t) {
    std::vector<umbel::parameter_name> rows(names[t].rows, names[t].rows + names[t].count);
    name_tables<Count> changed = names;
    changed[t].rows = rows.data();
    const auto answer = [&] { return fate_of<Weights>(file, changed, run, wanted); };
    const auto check = [&](const umbel::parameter_name& row, const char* what) {
      const fate found = answer();
      ++mistakes;
      refused += found == fate::refused;
      BOOST_TEST((found != fate::unnoticed), row.parameter << " " << what << ": nobody notices");
    };
    const auto is_needed = [&](std::size_t i) {
      if (rows[i].parameter == nullptr) return false;
      const umbel::parameter_name row = std::exchange(rows[i], {"-", "-"});
      const bool needed = answer() == fate::refused;
      rows[i] = row;
      return needed && (silent.empty() || !std::string(row.parameter).ends_with(silent));
    };
    std::vector<std::size_t> needed;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (is_needed(i)) needed.push_back(i);
    for (const std::size_t i : needed) {
      const umbel::parameter_name row = rows[i];
      if (row.axes.order != stored_axes::same) {
        rows[i].axes.order = row.axes.order == stored_axes::in_then_out ? stored_axes::out_then_in
                                                                        : stored_axes::in_then_out;
        check(row, "transposed");
        rows[i] = row;
      }
      if (row.axes.parts > 1) {
        rows[i].axes.part = (row.axes.part + 1) % row.axes.parts;
        check(row, "of another part");
        rows[i] = row;
      }
      for (const std::size_t j : needed) {
        if (j <= i) continue;
        const auto swap = [&] {
          std::swap(rows[i].tensor, rows[j].tensor);
          std::swap(rows[i].axes, rows[j].axes);
        };
        swap();
        check(row, ("and " + std::string(rows[j].parameter) + " exchanged").c_str());
        swap();
      }
    }
  }
  BOOST_TEST_MESSAGE(mistakes << " mistakes, " << refused << " refused by load, the others wrong");
  BOOST_TEST(mistakes > refused);
}

// The weights of `name`.safetensors or .npz give what the framework answers, and no mistake in the
// tables goes unnoticed.
template <class Weights, std::size_t Count, class Run, class Y>
void check_adopted(const std::string& file_name, const name_tables<Count>& names, const Run& run,
                   const Y& wanted, const std::string& silent = "k.bias") {
  const golden_file file(file_name);
  static Weights w;
  const umbel::load_result loaded = load_all(w, *file, names);
  BOOST_REQUIRE_MESSAGE(loaded, loaded.error());
  const auto y = run(w);
  static_assert(decltype(y)::layout::count == Y::layout::count);
  check_near(file_name.c_str(), y.data(), wanted.data(), Y::layout::count);
  check_mistakes<Weights>(*file, names, run, wanted, silent);
}

}  // namespace umbel_test
