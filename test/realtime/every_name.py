#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Is everything that the library computes run under the traps? A new layer must not be forgotten.

    every_name.py FILE...

Every public name (docs/names.md) of the rooms below must stand in the code of the FILEs, which run what they declare; but
for concepts, which run nothing, and for EXEMPT. In the other rooms there are names and sizes, and what is not for a
real-time thread: files, weights by name, descriptions, messages to other processes. With a name of its own that is in no file it must say so.
"""
import pathlib
import re
import sys

TEST = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TEST), str(TEST.parent / "tools")]
sys.dont_write_bytecode = True
from headers import INCLUDE, declarations, public_names, without_template_head  # noqa: E402
from tap import Tap  # noqa: E402

ROOMS = {"tensor", "simd", "layer", "mask", "attention", "decode", "formula", "block", "quantized", "training"}
EXEMPT = {
    "check_handler": "what a failed check calls",
    "set_check_handler": "called before the thread begins",
}


def concepts():
    """Their names, of all headers."""
    for header in INCLUDE.rglob("*.hpp"):
        for _, declaration in declarations(header.read_text()):
            rest = without_template_head(declaration.tokens)
            if rest[:1] == ["concept"]:
                yield rest[1]


def words_of(text):
    """The words of the code, without comments, literals and directives."""
    code = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|^ *#[^\n]*', " ", text, flags=re.M)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def missing(wanted, texts):
    found = set().union(*(words_of(text) for text in texts))
    return sorted(name for name in wanted if name not in found)


def main():
    names, _ = public_names()
    of_rooms = {n.name for n in names if n.header.split("/")[1] in ROOMS}
    wanted = of_rooms - set(concepts()) - set(EXEMPT)
    texts = [pathlib.Path(file).read_text() for file in sys.argv[1:]]
    tap = Tap()
    forgotten = missing(wanted, texts)
    tap.check(f"all of {len(wanted)} names are run", not forgotten, f"in no file: {', '.join(forgotten)}")
    tap.check("what is exempt is public", EXEMPT.keys() <= of_rooms, ", ".join(EXEMPT.keys() - of_rooms))
    self_test = ["// a comment\n#include <new_layer.hpp>\nuse(\"new_layer\"); new_layers();"]
    tap.check("a new name is missed", missing({"new_layer"}, self_test) == ["new_layer"])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
