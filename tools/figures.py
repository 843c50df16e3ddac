#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Numbers in the prose of Markdown come from the files that measure them. A page names the source in a comment before a number:

    an instruction count of <!--= costs cortex-m4f clothing -O2 instructions as million -->3.2<!--=--> million

    figures.py            writes what the sources say between the comments, on every page
    figures.py --check    exit code 1 where a page says something else; also tries itself on a page with mistakes

Sources:

    costs TARGET PROGRAM BUILD COLUMN    a cell of test/embedded/costs.txt, which `tools/test embedded` compares
    each TARGET,... PROGRAM BUILD        instructions for a multiply-accumulate by that file: the least and the most of the targets
    small TARGET BUILD COLUMN            how much of -O2's text BUILD needs, or how many more instructions: the least and the
                                         most of the programs that have both
    page MODULE                          bytes of a module of the page, by test/page/sizes.txt, which `tools/test page` compares
    bytes FILE                           the size of a file of the repository
    in FILE REGEX                        what the regex's group matches there: the least and the most where they are several
    count FILE REGEX                     how often the regex matches there

Behind it: `as kB`, `as million`, in two digits or more. In tables the regex has no |, which ends a cell: a dot stands for it.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/embedded"))
import command_line  # noqa: E402
import costs  # noqa: E402

FIGURE = re.compile(r"(<!--= (?P<source>.*?) -->)(?P<says>.*?)(?P<end><!--=-->)", re.S)
UNITS = {"bytes": 1, "kB": 1e3, "million": 1e6}


class Unknown(Exception):
    """A source that does not exist, or says nothing."""


def rounded(value):
    """Two digits, three from 100 on."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def number(value, unit):
    return f"{value:,.0f}" if unit in ("", "bytes") else rounded(value / UNITS[unit])


def from_to(least, most):
    return least if least == most else f"{least} to {most}"


def cell(target, program, build, column):
    try:
        value = costs.read()[target][1][program, build][column]
    except KeyError as missing:
        raise Unknown(f"costs.txt has no {missing}") from None
    if value is None:
        raise Unknown(f"costs.txt has a dash for {target} {program} {build} {column}")
    return value


def of_each(targets, program, build):
    """196, 1.6 to 1.7"""
    each = sorted(cell(target, program, build, "instructions") / cell(target, program, build, "multiply-accumulates")
                  for target in targets.split(","))
    return from_to(*(f"{one:.0f}" if one >= 9.95 else f"{one:.1f}" for one in (each[0], each[-1])))


def of_small(target, build, column):
    """15 to 23 %, 34 to 90 % more, 0.4 to 0.7 % fewer, 3 % fewer to 11 % more"""
    rows = costs.read()[target][1]
    ratios = sorted(rows[program, build][column] / rows[program, "-O2"][column] for program, other in rows
                    if other == build and not program.startswith("integer_"))
    if column == "text":
        return from_to(*(f"{100 * ratio:.0f}" for ratio in (ratios[0], ratios[-1]))) + " %"
    changes = [100 * (ratio - 1) for ratio in ratios]
    if changes[-1] <= 0:
        changes = [changes[-1], changes[0]]
    texts = [f"{abs(change):.{int(abs(change) < 1)}f}" for change in (changes[0], changes[-1])]
    signs = ["fewer" if change < 0 else "more" for change in (changes[0], changes[-1])]
    if signs[0] == signs[1]:
        return f"{from_to(*texts)} % {signs[0]}"
    return f"{texts[0]} % {signs[0]} to {texts[1]} % {signs[1]}"


def text_of(name):
    """A file without the comments of this script, so that one page may quote another."""
    path = ROOT / name
    if not path.is_file():
        raise Unknown(f"there is no {name}")
    return re.sub(r"<!--=.*?-->", "", path.read_text())


def found(name, regex, unit):
    values = dict.fromkeys(re.findall(regex, text_of(name), re.M))
    if not values:
        raise Unknown(f"{name} has nothing that matches {regex}")
    numbers = sorted(values, key=lambda value: float(re.sub("[,']", "", value)))
    if unit:
        return from_to(*(number(float(re.sub("[,']", "", value)), unit) for value in (numbers[0], numbers[-1])))
    return from_to(numbers[0].replace("'", ","), numbers[-1].replace("'", ","))


def figure(source):
    """What a source says, as it is written."""
    source, _, unit = source.partition(" as ")
    kind, *words = source.split()
    if unit and unit not in UNITS:
        raise Unknown(f"{unit} is no unit")
    if kind == "costs" and len(words) == 4:
        return number(cell(*words), unit)
    if kind == "each" and len(words) == 3:
        return of_each(*words)
    if kind == "small" and len(words) == 3:
        return of_small(*words)
    if kind == "page" and len(words) == 1:
        return found("test/page/sizes.txt", rf"^{words[0]}\.wasm (\d+)", unit or "bytes")
    if kind == "bytes" and len(words) == 1 and (ROOT / words[0]).is_file():
        return number((ROOT / words[0]).stat().st_size, unit)
    if kind in ("in", "count") and len(words) >= 2:
        regex = source.split(maxsplit=2)[2]
        return found(words[0], regex, unit) if kind == "in" else number(len(re.findall(regex, text_of(words[0]), re.M)), unit)
    raise Unknown(f"{source} is no source")


def filled(text):
    """(the page as it should be, what is wrong with it)"""
    wrong = []

    def fill(match):
        try:
            now = figure(match["source"])
        except (Unknown, KeyError, IndexError) as problem:
            wrong.append(str(problem))
            return match[0]
        if now != match["says"]:
            wrong.append(f"{match['says']}, but {match['source']} is {now}")
        return f"{match[1]}{now}{match['end']}"

    new = FIGURE.sub(fill, text)
    loose = FIGURE.sub("", text).count("<!--=")
    if loose:
        wrong.append(f"{loose} comments <!--= that do not come in twos")
    return new, wrong


def pages():
    return [path for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "test/**/*.md") for path in sorted(ROOT.glob(pattern))]


def self_test():
    size = f"{(ROOT / 'LICENSE').stat().st_size:,}"
    good = f"<!--= bytes LICENSE -->{size}<!--=-->"
    assert filled(good) == (good, []), filled(good)
    for bad, mended in ((good.replace(size, "7"), good), (good.replace("LICENSE", "NONE"), None), (good[:-9], None),
                        ("<!--= costs cortex-m4f clothing -O9 text -->1<!--=-->", None),
                        ("<!--= in LICENSE (never there) -->1<!--=-->", None)):
        new, wrong = filled(bad)
        assert wrong and (mended is None or new == mended), bad
    assert [rounded(x) for x in (0.655, 0.999, 9.6, 283.07, 1664.5)] == ["0.66", "1.0", "9.6", "283", "1,664"]


def write():
    """Was a page another?"""
    changed = False
    for path in pages():
        new = filled(path.read_text())[0]
        if new != path.read_text():
            changed = True
            path.write_text(new)
    return changed


def main():
    chosen = command_line.one_of("tools/figures.py", __doc__, "--check")
    self_test()
    if chosen != "--check":
        write() and write()  # a page may quote another
    problems = [f"{path.relative_to(ROOT)}: {problem}" for path in pages() for problem in filled(path.read_text())[1]]
    if not any(FIGURE.search(path.read_text()) for path in pages()):
        problems.append("no page has a figure")
    if problems:
        sys.exit("\n".join([*problems, "tools/figures.py writes what the sources say"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
