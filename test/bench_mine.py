#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/bench mine: the program that it writes for each layer and block compiles, one is built and run once, and what
a user types wrong is answered by a sentence. No time is looked at.

    bench_mine.py PROJECT_ROOT -- COMPILER...
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tap import Tap, split_command

ATTENTION = "multi_head_attention<float, hidden<8>, heads<%d>>"
LAYERS = [  # what is typed, the axes, the mask; all of them in one program
    (ATTENTION % 2, ["token<3>"], "causal"),
    (ATTENTION % 2, ["batch<2>", "query<3>", "key<5>"], None),
    ("prepacked<multi_head_attention<float, hidden<8>, heads<2>>, stored_as<bfloat16>>", ["token<3>"], None),
    ("additive_attention<float, hidden<8>, score_hidden<4>, keys_from<hidden<6>>>", ["query<3>", "key<5>"], None),
    ("encoder_layer<float, hidden<8>, heads<2>, intermediate<16>, norm_first<true>, activation<relu>, bias<true>>",
     ["token<3>"], None),
    ("decoder_layer<float, hidden<8>, heads<2>, intermediate<16>, norm_first<true>, activation<relu>, bias<true>>",
     ["token<3>", "key<5>"], None),
    ("feed_forward<double, hidden<8>, intermediate<16>, activation<silu>, bias<false>, gated<true>>", ["token<3>"],
     None),
    ("linear<float, hidden<8>, classes<10>, bias<true>>", ["batch<2>", "token<3>"], None),
    ("layer_norm<float, hidden<8>>", ["token<3>"], None),
    ("rms_norm<float, hidden<8>>", ["token<3>"], None),
    ("learned_positions<float, token<3>, hidden<8>>", ["token<3>"], None),
    ("sinusoidal_positions<float, token<4>, hidden<8>, split_halves>", ["token<3>"], None),
    ("softmax<key>", ["query<3>", "key<5>"], None),
    ("mean<token>", ["token<3>", "hidden<8>"], None),
    ("gelu_tanh", ["token<3>", "hidden<8>"], None),
    ("scaled_dot_product_attention", ["heads<2>", "query<3>", "key<5>", "head_dim<4>"], "causal_bottom_right"),
    ("scaled_dot_product_attention_with<softcap<50>>", ["query<3>", "key<5>", "head_dim<4>"], None),
]
MISTAKES = [  # arguments, what must be answered, what clang may answer
    ([ATTENTION % 3, "token<3>"], "hidden=8 into heads=3 leaves a remainder of 2", "leaves_a_remainder_of"),
    ([ATTENTION % 2, "token<3>", "--mask", "causl"], "causl", None),
    ([ATTENTION % 2], "wants the axes of its sequences, such as 'token<20>'", None),
    ([ATTENTION % 2, "3"], "3 is not an axis, a name and a size, such as token<20>", None),
    (["multihead<float>", "token<3>"], "multihead is not one of multi_head_attention,", None),
    (["linear<float, hidden<8>, classes<10>>", "token<3>", "--mask", "causal"], "linear takes no mask", None),
    (["there_is_none.cpp"], "there is no such file", None),
]


class Bench:
    def __init__(self, tap, root, folder, compiler):
        self.tap, self.root, self.folder, self.compiler = tap, root, folder, compiler

    def run(self, *arguments):
        """(exit code, output) of tools/bench mine, without its installing."""
        run = subprocess.run([sys.executable, self.root / "bench/mine/run.py", "--once", "--march", "none", "--svg",
                              self.folder / "picture.svg", *arguments], capture_output=True, text=True, cwd=self.folder,
                             stdin=subprocess.DEVNULL, env={**os.environ, "CXX": " ".join(self.compiler)})
        return run.returncode, run.stdout + run.stderr

    def check_programs(self, program):
        """Each in a namespace of its own, so that the library is parsed once."""
        text = "#include <umbel/umbel.hpp>\n#include <umbel/inspect/describe.hpp>\n#include <umbel/inspect/footprint.hpp>\n#include \"subject.hpp\"\n"
        for at, (layer, axes, mask) in enumerate(LAYERS):
            files = program.program(layer, axes, mask)
            lines = "".join(files[name] for name in ("mine.hpp", "get.cpp", "call.cpp")).splitlines()
            own = [line for line in lines if not line.startswith("#")]
            text += "\n".join(own).replace("namespace mine {", f"namespace mine_{at} {{ using namespace mine;") + "\n"
        source = self.folder / "all.cpp"
        source.write_text(text)
        run = subprocess.run([*self.compiler, "-std=c++20", "-fsyntax-only", "-I", self.root / "include", "-I",
                              self.root / "bench/mine", source], capture_output=True, text=True)
        self.tap.check("the programs of all layers and blocks compile", run.returncode == 0, run.stderr)

    def check_layer(self):
        code, output = self.run(ATTENTION % 2, "batch<2>", "token<3>", "--mask", "causal")
        wanted = ["warm", "% of the FMA peak", "p99.9", "cold", "code", "workspace", "compiled in",
                  "attention, 3 queries"]
        self.tap.check("a layer, run once", code == 0 and all(one in output for one in wanted), output)
        try:
            root = xml.etree.ElementTree.parse(self.folder / "picture.svg").getroot()
            bars = [one for one in root if one.tag.endswith("rect")]
            self.tap.check("its picture has a bar warm and one cold", len(bars) == 2, str(len(bars)))
        except (OSError, xml.etree.ElementTree.ParseError) as problem:
            self.tap.check("its picture has a bar warm and one cold", False, str(problem))

    def check_ratios(self, bars):
        rows = [("half", 0.5, "", False), ("the same", 1, "", True), ("twice", 2, "", True), ("four times", 4, "", True)]
        root = xml.etree.ElementTree.fromstring(bars.drawing(bars.Panel("", "", rows, start=1, ratios=True)))
        half, _, twice, four = [(float(one.get("x")), float(one.get("width"))) for one in root if one.tag.endswith("rect")]
        self.tap.check("bars of ratios: half and twice are equally long, on the two sides of 1; four times is twice as long",
                       abs(half[1] - twice[1]) < 0.2 and abs(half[0] + half[1] - twice[0]) < 0.2 and abs(four[1] - 2 * twice[1]) < 0.2,
                       f"{half} {twice} {four}")

    def check_race(self, peers):
        names = {"1,20,20,48,6": "M 1,20,48,6", "2,4,6,100,5": "M 2,4 to 6,100,5"}
        given = {layer: peers.workload(layer) for layer in names}
        self.tap.check("a layer's name in the race", given == names, str(given))
        run = subprocess.run([*self.compiler, "-std=c++20", "-fsyntax-only", "-w", "-DRACE_LAYER=2,3,5,8,2",
                              "-I", self.root / "include", self.root / "bench/peers/umbel.cpp"],
                             capture_output=True, text=True)
        self.tap.check("the race of one layer compiles", run.returncode == 0, run.stderr)

    def check_file(self):
        (self.folder / "mine.cpp").write_text("static float x;\nvoid run();\nvoid run() { x += 1; }\n")
        code, output = self.run("mine.cpp")
        self.tap.check("a file, run once", code == 0 and "everything out of the caches" in output, output)
        code, output = self.run("mine.cpp", "--svg", self.folder)
        self.tap.check("a picture that cannot be written", code == 1 and output.endswith(f"{self.folder}: Is a directory\n") and
                       "Traceback" not in output, output)
        (self.folder / "nothing.cpp").write_text("int x;\n")
        code, output = self.run("nothing.cpp")
        self.tap.check("a file without run", code == 1 and "no function `void run()`" in output, output)
        (self.folder / "prints.cpp").write_text('#include <cstdio>\nvoid run();\nvoid run() { std::puts("a\\tb c\\td"); }\n')
        code, output = self.run("prints.cpp")
        self.tap.check("a file that prints", code == 0 and "everything out of the caches" in output, output)
        (self.folder / "exits.cpp").write_text("#include <cstdlib>\nvoid run();\nvoid run() { std::exit(0); }\n")
        code, output = self.run("exits.cpp")
        self.tap.check("a file that exits", code == 1 and "run() has to return" in output, output)

    def check_mistakes(self):
        for arguments, wanted, by_clang in MISTAKES:
            code, output = self.run(*arguments)
            answered = wanted in output or (by_clang is not None and by_clang in output)
            self.tap.check(f"mistake: {' '.join(arguments)}", code == 1 and answered and "Traceback" not in output
                           and len(output.splitlines()) <= 12, output)


def main():
    (root,), compiler = split_command(sys.argv[1:])
    root, tap = pathlib.Path(root), Tap()
    sys.path.insert(0, str(root / "bench/mine"))
    import peers  # their folder is known only now
    import program
    sys.path.insert(0, str(root / "bench"))
    import bars
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(tap, root, pathlib.Path(folder), compiler)
        bench.check_programs(program)
        bench.check_layer()
        bench.check_ratios(bars)
        bench.check_race(peers)
        bench.check_file()
        bench.check_mistakes()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
