#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The section "Three bugs" of docs/comparison.md: three mistakes in Umbel, PyTorch and Eigen, and what each of them says.

    tools/three_bugs            installs what it needs; prints the section's text, made by compiling and running here
    tools/three_bugs --check    exit code 1 where the page says something else
"""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import command_line  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "comparison.md"
FLAGS = ["-std=c++20", "-fsyntax-only", "-fno-diagnostics-color"]

UMBEL = """\
#include <umbel/umbel.hpp>
using namespace umbel;
using namespace umbel::axes;
using queries = tensor<float, batch<2>, query<4>, hidden<100>>;
using context = tensor<float, batch<2>, key<6>, hidden<100>>;
"""
EIGEN = """\
#include <eigen3/Eigen/Dense>
using queries = Eigen::Matrix<float, 4, 100>;
using context = Eigen::Matrix<float, 6, 100>;
"""
TORCH = """\
import torch
from torch.nn import Linear, MultiheadAttention
x, y = torch.zeros(2, 4, 100), torch.zeros(2, 6, 100)
"""

HEADS_UMBEL = "using attention = multi_head_attention<float, hidden<100>, heads<7>>;\nattention::weights w;\n"
HEADS_TORCH = "MultiheadAttention(100, 7)\n"
HEADS_EIGEN = "auto split(const queries& x) { return x.reshaped(Eigen::fix<28>, Eigen::fix<14>).eval(); }\n"

SWAPPED_UMBEL = """\
using attention = multi_head_attention<float, hidden<100>, heads<5>>;
auto swap(const attention& attend, const queries& x, const context& y) { return attend(y, x, x); }
"""
SWAPPED_TORCH = """\
attend = MultiheadAttention(100, 5, batch_first=True)
result, _ = attend(y, x, x)
print(list(result.shape), list(attend(x, y, y)[0].shape))
result + x
"""
SWAPPED_EIGEN = """\
template <class X, class Y>
X attend(const X& x, const Y& y, const Y& z) {
  auto p = (x * y.transpose() / 10).array().exp().eval();
  return (p.colwise() / p.rowwise().sum()).matrix() * z;
}
queries swap(const queries& x, const context& y) { return attend(y, x, x) + x; }
"""

WIDTH_UMBEL = "using weight = linear<float, hidden<80>, hidden<100>>::weights;\n" \
              "auto project(const queries& x, const weight& w) { return x * w; }\n"
WIDTH_TORCH = "Linear(80, 100)(x)\n"
WIDTH_EIGEN = "using weight = Eigen::Matrix<float, 80, 100>;\n" \
              "auto project(const queries& x, const weight& w) { return (x * w).eval(); }\n"

NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven"]


def compiled(text):
    """What g++ prints when it compiles a program."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "bug.cpp"
        source.write_text(text)
        run = subprocess.run(["g++", *FLAGS, "-I", ROOT / "include", source], capture_output=True, text=True)
    return run.stderr


def error_lines(output):
    return [line for line in output.splitlines() if re.search(r"\berror: ", line)]


def umbel(bug):
    """The sentence; it is the only error, in few lines."""
    output = compiled(UMBEL + bug)
    if len(error_lines(output)) != 1 or len(output.splitlines()) > 12:
        sys.exit(f"not one error in 12 lines:\n{output}")
    return re.search(r'"(umbel: [^"]*)"', output)[1]


def torch(bug):
    """What a Python program prints, and the last line of its traceback."""
    run = subprocess.run([sys.executable, "-c", TORCH + bug], capture_output=True, text=True)
    return run.stdout.strip(), (run.stderr.strip().splitlines() or [""])[-1]


def eigen(bug):
    """None where it compiles; else the first assertion that fails, how many errors more, and how many lines."""
    output = compiled(EIGEN + bug)
    errors = error_lines(output)
    if not errors:
        return None
    word = next(found[1] for line in errors if (found := re.search(r"static assertion failed: (\w+)", line)))
    more = len(errors) - 1
    also = f"and {NUMBERS[more]} more error{'s' * (more > 1)}, " if more else ""
    return f"error: static assertion failed: {word} ({also}{len(output.splitlines())} lines)"


def versions():
    gcc = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True).stdout.split(".")[0].strip()
    pytorch = torch("print(torch.__version__)")[0]
    macros = subprocess.run(["g++", "-E", "-dM", "-x", "c++", "-"], input="#include <eigen3/Eigen/Core>\n",
                            capture_output=True, text=True).stdout
    parts = (re.search(rf"#define EIGEN_{part}_VERSION (\d+)", macros)[1] for part in ("WORLD", "MAJOR", "MINOR"))
    return f"g++ {gcc}, torch {'.'.join(pytorch.split('.')[:2])}, Eigen {'.'.join(parts)}"


def rows(of_umbel, of_torch, of_eigen):
    lines = [f"Umbel, compiling   {of_umbel}", f"PyTorch, running   {of_torch}", f"Eigen, compiling   {of_eigen}"]
    return "".join(f"    {line}\n" for line in "\n".join(lines).split("\n"))


def section():
    if eigen(HEADS_EIGEN):
        sys.exit("Eigen refuses the reshape")
    (shapes, added) = torch(SWAPPED_TORCH)
    got, meant = shapes.replace("] [", "]|[").split("|")
    later = f"nothing: it returns {got} instead of {meant}; a line later, adding x:\n{' ' * 19}{added}"
    return f"""\
**100 features into 7 heads**

{rows(umbel(HEADS_UMBEL), torch(HEADS_TORCH)[1], "nothing: a 4x100 matrix .reshaped(fix<28>, fix<14>) compiles")}
**Queries and keys swapped**, `attend(y, x, x)`

{rows(umbel(SWAPPED_UMBEL), later, eigen(SWAPPED_EIGEN))}
**A weight of the wrong width**, 100 features times a weight of 80

{rows(umbel(WIDTH_UMBEL), torch(WIDTH_TORCH)[1], eigen(WIDTH_EIGEN))}
Umbel prints one error, in at most 12 lines. `tools/three_bugs` compiles and runs all nine programs
({versions()}).
"""


def main():
    chosen = command_line.one_of("tools/three_bugs", __doc__, "--check")
    text = section()
    if chosen == "--check":
        if text not in PAGE.read_text():
            said = PAGE.read_text().partition("## Three bugs in Umbel, PyTorch and Eigen\n\n")[2].partition("\n[errors.md]")[0]
            sys.exit("docs/comparison.md says something else:\n" + "".join(difflib.unified_diff(
                said.splitlines(True), text.splitlines(True), "docs/comparison.md", "here")))
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
