// SPDX-License-Identifier: BSL-1.0
// The demo: a trained clothing classifier on real pictures. Reads the pictures, runs and measures
// the model, shows what its heads look at, and reports whether every promise was kept.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "files.hpp"
#include "look.hpp"
#include "model.hpp"
#include "options.hpp"
#include "page.hpp"
#include "pictures.hpp"
#include "report.hpp"
#include "terminal.hpp"

namespace fashion {
namespace {

model::workspace workspace;  // all the memory that inference uses

enum exit_code { kept = 0, broken = 1, unusable = 2 };

void print(const std::string& words) { std::fputs(words.c_str(), stdout); }

std::string heading(const picture_set& set) {
  const std::string network =
      text("%zu layers, %zu heads, %zu tokens", model::layers, model::heads, model::tokens);
  const std::string pictures =
      set.whole ? "all " + grouped(set.size()) + " test pictures of Fashion-MNIST"
                : "the " + grouped(set.size()) +
                      " committed pictures only (--data DIR runs the whole test set)";
  return "Umbel, a trained clothing classifier: " + network + "\non " + pictures + "\n\n";
}

std::vector<look> look_at_each(const picture_set& set, const std::vector<std::size_t>& chosen,
                               evaluation& run) {
  std::vector<look> looks;
  for (const std::size_t place : chosen) looks.push_back(look_at(set, place, workspace, run));
  return looks;
}

exit_code demo(const options& wanted) {
  if (wanted.help) {
    print(usage);
    return kept;
  }
  const picture_set set =
      wanted.data ? load_test_set(*wanted.data, wanted.trained) : load_samples();
  const std::filesystem::path out = wanted.out;
  make_writable_folder(out);

  print(heading(set));
  std::fflush(stdout);
  evaluation run = evaluate(set, workspace);
  const auto in_terminal = look_at_each(set, choose(set, run, 4), run);
  const auto in_page = look_at_each(set, choose(set, run, 6), run);
  const named_text page{out / "attention.html", to_page(run, in_page)};
  const named_text report{out / "report.json", to_json(run)};
  write_all({page, report});

  print(terminal::draw_looks(in_terminal, terminal::style_of_stdout()));
  print(to_lines(run));
  print("\n" + line("every head", page.file.string()) + line("figures", report.file.string()));
  if (std::fflush(stdout) != 0) throw input_error{"standard output cannot be written"};
  if (const std::string promise = broken_promise(run); !promise.empty()) {
    std::fprintf(stderr, "fashion: %s\n", promise.c_str());
    return broken;
  }
  return kept;
}

}  // namespace
}  // namespace fashion

int main(int count, char** words) {
  try {
    return fashion::demo(fashion::parse(count, words));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "fashion: %s\n", problem.what());
    return fashion::unusable;
  }
}
