#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""`import umbel;`: docs/install.md's commands build a program that prints the same with and without the module, and a mistake has
the same message.

    module.py ROOT CLANG       TAP; CLANG: 19 or newer
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Tap  # noqa: E402

PROGRAM = """\
#include <cstdio>
#include <initializer_list>
UMBEL
constexpr auto near = umbel::causal & umbel::sliding_window<2>;
using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;
using namespace umbel::block_parts;

using attention = multi_head_attention<float, hidden<8>, heads<2_c>, bias<true>>;
using block = residual_block<float, hidden<8>, norm_by<layer_norm>,
                             pre_norm<name::norm, self_attention<name::attention, heads<2>, bias<false>>>>;

constexpr formula scores = [](auto q, auto k) {
  return softmax<key>(hide(contract<hidden>(q, k) * rsqrt(8.0f), position<key> > position<query>));
};
constexpr formula loss = [](auto x, auto w) { return sum<token, hidden>(x * w | relu); };

int main() {
  static attention::weights w;
  for (auto* map : {&w.q, &w.k, &w.v, &w.o})
    for (std::size_t i = 0; i < 8; ++i) (*map)(i, i) = 1;
  tensor<float, token<3>, hidden<8>> x{};
  for (float number = 0; float& element : x) element = number++ / 8;
  const attention layer{w};
  auto y = layer(x, near) + 2 * x;
  prepacked<attention> packed{w};
  static key_value_cache<attention, key<4>> cache;
  tensor<float, token<3>, hidden<8>> stepped{};
  if (!cache.step(stepped, layer, x, causal)) return 1;
  linear<float, hidden<8>, classes<3>, bias<false>>::weights u{};
  u(2, 1) = 0.5f;
  WRONG
  for (float element : y) std::printf("%a ", static_cast<double>(element));
  for (float element : packed(stepped, causal)) std::printf("%a ", static_cast<double>(element));
  for (float element : scores(x | rename_axis<token, query>, x | rename_axis<token, key>)) std::printf("%a ", static_cast<double>(element));
  std::printf("%zu %d %zu\\n", argmax(x | select_at<token>(1)), y == x, sizeof(block::weights));
}
"""
MISTAKE = "auto parts = x | split<hidden, heads<3>, head_dim>;"
MESSAGE = re.compile(r"split.*hidden.*8.*heads.*3.*remainder_?of_?.*2")


def main():
    root, clang = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    page, tap = (root / "docs/install.md").read_text(), Tap()
    commands = re.search(r"<!-- module -->\n((?:    .*\n)+)", page)[1].replace("clang++-19", clang).replace("/path/to/umbel", f'"{root}"').splitlines()
    with tempfile.TemporaryDirectory() as folder:
        def run(command):
            return subprocess.run(command, cwd=folder, shell=isinstance(command, str), capture_output=True, text=True)

        def write(umbel, wrong=""):
            (pathlib.Path(folder) / "main.cpp").write_text(PROGRAM.replace("UMBEL", umbel, 1).replace("WRONG", wrong))

        write("import umbel;")
        output = "".join(run(command).stderr for command in commands)
        tap.check("docs/install.md's commands build a program", not output, output)
        imported = run("./main")
        write("#include <umbel/umbel.hpp>")
        built = run([clang, "-std=c++20", "-I", str(root / "include"), "main.cpp", "-o", "included"])
        included = run("./included")
        tap.check("it prints the same as with the headers", imported.stdout and imported.stdout == included.stdout and imported.returncode == 0,
                  f"{imported}\n{included}\n{built.stderr}")
        write("import umbel;", MISTAKE)
        wrong = run(commands[-1])
        lines = [line for line in wrong.stderr.splitlines() if ": error: " in line]
        tap.check("a mistake is one error with its message", len(lines) == 1 and MESSAGE.search(lines[0]), wrong.stderr)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
