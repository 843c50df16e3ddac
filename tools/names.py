#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes docs/names.md: every name that `using namespace umbel`, `umbel::axes` and `umbel::literals` bring in.

    names.py            writes the page
    names.py --check    is the page what the headers say? Where clang is there, does it see the same names?
    names.py --list     the names alone, one a line

The names come from the headers, each with the first sentence of the comment in front of it. A public name without
a comment is an error, and so is a name that the page does not have or has no more.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
PAGE = ROOT / "docs" / "names.md"
ENTRANCES = ["umbel/umbel.hpp", "umbel/inspect/describe.hpp", "umbel/inspect/heat_map.hpp"]

# What a `using namespace` brings in, and how it is written.
OPEN = {("umbel",): "umbel", ("umbel", "axes"): "umbel::axes", ("umbel", "literals"): "umbel::literals"}
NAMESPACES = {
    "axes": "the ready-made axes, for `using namespace umbel::axes`",
    "literals": "`5_c`, a size as a constant, for `using namespace umbel::literals`",
    "detail": "not for users: names in it may change in any release",
    "portable": "not for users: what is the same for every target (weights, masks, the words of an error)",
}
TARGET = "the target's (`sse2_...`, `avx_fma_...`, `avx512_fma_...`, `neon_...`)"
ROOMS = {
    "shape": "names and sizes",
    "tensor": "memory with a shape",
    "simd": "numbers of 16 bits",
    "layer": "what all layers share",
    "mask": "which keys a query attends to",
    "attention": "the layers of attention",
    "decode": "a sequence step by step",
    "block": "what stands around attention",
    "inspect": "looking inside; not in `umbel.hpp`",
}

HEAD = """\
<!-- Written by tools/names.py from include/umbel: change the comments there. -->
# Every public name

The {count} names that `using namespace umbel`, `using namespace umbel::axes` and `using namespace umbel::literals` bring in from
`umbel/umbel.hpp`, `umbel/inspect/describe.hpp` and `umbel/inspect/heat_map.hpp`. A name of your own that is not among them is
yours: an axis `frames` or `rule` needs no qualification (`test/static/names.cpp` declares 87 plausible ones, and says
which of them are taken). `umbel/bare.hpp` has the same names but for those of `shape/hana.hpp`.

Operators for tensors, views and masks are found by their operands and need no `using`. All macros begin with `UMBEL_`.

Namespaces in `umbel`:

| | |
|---|---|
"""


def included(header, seen):
    """The headers of Umbel that one includes, itself first, in the order of inclusion."""
    if header in seen:
        return
    seen.append(header)
    for name in re.findall(r'^#include <(umbel/[^>]+)>', (INCLUDE / header).read_text(), re.M):
        included(name, seen)


TOKEN = re.compile(r"""
    (?P<comment>(?:[ \t]*//[^\n]*\n)+)
  | (?P<directive>[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<literal>"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])')
  | \[\[nodiscard\]\]
  | (?P<word>[A-Za-z_0-9][A-Za-z_0-9']*)
  | (?P<symbol>::|[^\sA-Za-z_0-9])
  | (?P<line>\n)
  | [ \t]+
""", re.X)


class Declaration:
    """What stands at the scope of a namespace, up to its ; or through its braces."""

    def __init__(self):
        self.tokens, self.comment, self.after_gap = [], "", True


def declarations(text):
    """(namespace, Declaration) of a header, without the bodies of classes and functions."""
    path, scopes = [], []  # a scope: how many parts of path it opened
    now, comment, lines, gap = Declaration(), "", 0, True
    depth = 0  # of braces within a declaration
    for match in TOKEN.finditer(text):
        kind, value = match.lastgroup, match[0]
        if kind is None or value in ("UMBEL_WARNINGS_PUSH", "UMBEL_WARNINGS_POP"):
            continue
        if kind == "line":
            lines += 1
            if lines > 1 and not now.tokens:
                comment, gap = "", True
            continue
        if kind == "comment":
            if depth == 0 and not now.tokens and value.lstrip() == value.strip(" "):
                own_line = text[:match.start()].rstrip(" \t").endswith("\n") or match.start() == 0
                comment = (comment if lines < 2 else "") + value if own_line else comment
                lines = 1
            continue
        lines = 0
        if kind == "directive":
            comment, gap = "", True
            continue
        if not now.tokens and depth == 0:
            now.comment, now.after_gap, comment, gap = comment, gap, "", False
        if value == "{":
            words = [t for t in now.tokens if t != "::"]
            if depth == 0 and words and words[0] == "namespace":
                parts = [w for w in words[1:] if w not in ("inline", "UMBEL_TARGET")]
                path += parts
                scopes.append(len(parts))
                now, gap = Declaration(), True
                continue
            depth += 1
        elif value == "}":
            if depth == 0:
                for _ in range(scopes.pop()):
                    path.pop()
                now, gap = Declaration(), True
                continue
            depth -= 1
            if depth == 0:
                now.tokens.append("{}")
                if ends_with_braces(now.tokens):
                    yield tuple(path), now
                    now = Declaration()
            continue
        if depth:
            continue
        if value == ";":
            if now.tokens:
                yield tuple(path), now
            now = Declaration()
        elif value != "{":
            now.tokens.append(value)
    assert not scopes and not path, "braces do not match"


def ends_with_braces(tokens):
    """A function's body ends its declaration; after a class or a variable's {} there is a ;."""
    if tokens.count("(") != tokens.count(")"):
        return False
    rest = without_template_head(tokens)
    if "operator" in rest:
        return True
    if any(t in ("struct", "class", "enum") for t in rest[:2]):
        return False
    i = 0
    while i < len(rest) and rest[i] not in ("(", "=", "{}"):
        i = skip(rest, i, "<", ">") if rest[i] == "<" else i + 1
    return i < len(rest) and rest[i] == "("


def skip(tokens, i, opening, closing):
    """Behind the closing one of the opening token at i."""
    depth = round_ones = 0
    while True:
        if opening == "<":  # a > in round brackets compares, one behind a - is an arrow
            round_ones += (tokens[i] == "(") - (tokens[i] == ")")
        if round_ones == 0 and tokens[i - 1:i + 1] != ["-", ">"]:
            depth += (tokens[i] == opening) - (tokens[i] == closing)
        i += 1
        if depth == 0 and round_ones == 0:
            return i


def skip_requires(tokens, i):
    """Behind a requires clause at i: terms joined by && and ||."""
    i += 1
    while True:
        while tokens[i] == "!":
            i += 1
        if tokens[i] == "(":  # a term
            i = skip(tokens, i, "(", ")")
        elif tokens[i] == "requires":  # an expression
            i += 1
            if tokens[i] == "(":
                i = skip(tokens, i, "(", ")")
            i += tokens[i] == "{}"
        else:
            i += 1
            while i < len(tokens) and tokens[i] in ("::", "<"):
                i = skip(tokens, i, "<", ">") if tokens[i] == "<" else i + 2
        if tokens[i:i + 2] in (["&", "&"], ["|", "|"]):
            i += 2
        else:
            return i


def without_template_head(tokens):
    i = 0
    while i < len(tokens) and tokens[i] in ("template", "requires"):
        i = skip(tokens, i + 1, "<", ">") if tokens[i] == "template" else skip_requires(tokens, i)
    return tokens[i:]


def name_of(tokens):
    """The name that a declaration brings into its namespace, or None."""
    rest = without_template_head(tokens)
    if not rest or "static_assert" in rest[:1] or "operator" in rest and '""' not in rest or "namespace" in rest:
        return None
    if "operator" in rest:  # a literal
        return "operator" + rest[rest.index('""')] + rest[rest.index('""') + 1]
    if rest[0] == "using":
        return rest[1] if "=" in rest else rest[-1]
    if rest[0] == "concept":
        return rest[1]
    if any(word in ("struct", "class", "enum") for word in rest[:2]):
        return None if is_specialisation(rest) else next(t for t in rest if t not in ("struct", "class", "enum"))
    i = 0  # a function or a variable: the word before its (, its = or its braces, or the last
    while i < len(rest) and rest[i] not in ("(", "=", "{}"):
        if rest[i] == "<":
            i = skip(rest, i, "<", ">")
        elif rest[i] == "[":
            i = skip(rest, i, "[", "]")
        else:
            last, i = i, i + 1
    return rest[last] if i == last + 1 else None  # x<...>: its name is declared elsewhere


def is_specialisation(rest):
    """struct x<...> or a variable x<...>: its name is declared elsewhere."""
    if any(t in ("struct", "class") for t in rest[:2]):
        i = next(i for i, t in enumerate(rest) if t in ("struct", "class"))
        return i + 2 < len(rest) and rest[i + 2] == "<"
    return False


def first_sentence(comment):
    lines = [re.sub(r"^\s*// ?", "", line) for line in comment.splitlines()]
    if lines and lines[0].startswith("SPDX"):
        return ""
    said = []
    for line in lines:
        if not line.strip() or line.startswith("  ") and said:  # a blank line, a table, an example
            break
        said.append(line.strip())
    text = " ".join(said)
    if not text or text.startswith("----") or text.startswith("clang-format"):
        return ""
    end = re.search(r"(?<!\bal)(?<![ .])[.](?= |$)", text)
    text = text[:end.start()] if end else text.rstrip(":")
    return text


def escaped(text):
    """For a table: in code `<` stays, elsewhere it would begin a tag."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(parts))


class Name:
    def __init__(self, space, name, header, sentence):
        self.space, self.name, self.header, self.sentence = space, name, header, sentence


def public_names():
    found, problems = {}, []
    for header in all_headers():
        group = ""  # of declarations without a line between them, the first one's comment is for all
        last_path = None
        for path, declaration in declarations((INCLUDE / header).read_text()):
            sentence = first_sentence(declaration.comment)
            if sentence or declaration.after_gap or path != last_path:
                group = sentence
            last_path = path
            if path not in OPEN:
                continue
            name = name_of(declaration.tokens)
            if name is None:
                continue
            known = found.setdefault((path, name), Name(path, name, header, ""))
            known.sentence = known.sentence or sentence or group
    for known in found.values():
        if not known.sentence and known.space != ("umbel", "axes"):
            problems.append(f"include/{known.header}: {known.name} is public and has no comment in front of it")
    return list(found.values()), problems


SELF_TEST = """\
#pragma once
UMBEL_WARNINGS_PUSH
namespace umbel::inline UMBEL_TARGET {
namespace detail { struct hidden_one; }
// A class. And more of it.
template <class T, std::size_t N = (2 > 1)>
class a_class : public detail::hidden_one {
  int inner(int x) { return x < 1 ? '{' : "}"[0]; }
};
template <class T>
class a_class<T, 3>;
// A function.
template <class X>
  requires(!detail::is_odd<X> && requires(X& x) { x.data(); })
constexpr auto a_function(X&& x) noexcept -> decltype(x) {
  return x;
}
constexpr bool operator==(int, a_class<int>) noexcept { return true; }

// Values.
inline constexpr detail::operation<1, (3 > 2)> a_value{};
inline constexpr std::size_t a_number = sizeof(int) > 2 ? 1 : 2;
// An alias.
template <class T>
using an_alias = typename detail::x<T>::type;
// A concept.
template <class T>
concept a_concept = requires(T t) { t(); };
// An enumeration.
enum class an_enum { one, two };  // not a comment of the next
static_assert(a_number > 0);
using detail::given_name;
}  // namespace umbel::inline UMBEL_TARGET
namespace umbel::axes {
template <std::size_t N>
struct an_axis : axis<an_axis, N> {};
}
UMBEL_WARNINGS_POP
"""
SELF_TEST_NAMES = {
    "a_class": "A class", "a_function": "A function", "a_value": "Values", "a_number": "", "an_alias": "An alias",
    "a_concept": "A concept", "an_enum": "An enumeration", "given_name": "", "an_axis": "",
}


def self_test():
    found = {}
    for path, declaration in declarations(SELF_TEST):
        if path in OPEN and (name := name_of(declaration.tokens)):
            found.setdefault(name, first_sentence(declaration.comment))
    if found != SELF_TEST_NAMES:
        yield f"self-test: found {found}"


def seen_by_clang(compiler):
    """The public names as the compiler lists them; template parameters are listed too."""
    text = "".join(f"#include <{header}>\n" for header in ENTRANCES)
    run = subprocess.run([compiler, "-std=c++20", "-I", str(INCLUDE), "-fsyntax-only", "-w", "-x", "c++", "-Xclang",
                          "-ast-list", "-"], input=text, capture_output=True, text=True)
    if run.returncode != 0:
        return None
    names = set()
    for line in run.stdout.splitlines():
        parts = line.split("::")
        if parts[0] != "umbel":
            continue
        if len(parts) > 1 and re.fullmatch(r"\w+_[0-9a-f]{8,}", parts[1]):
            del parts[1]
        space = ("umbel", parts[1]) if len(parts) > 2 and parts[1] in ("axes", "literals") else ("umbel",)
        rest = parts[len(space):]
        if len(rest) == 1 and re.fullmatch(r'[A-Za-z_]\w*|operator""\w+', rest[0]):
            names.add((space, rest[0]))
    return names


def against_clang(names):
    compiler = shutil.which("clang++") or shutil.which("clang++-14")
    listed = seen_by_clang(compiler) if compiler else None
    if listed is None:
        return
    ours = {(n.space, n.name) for n in names}
    parameters = re.compile(r"[A-Z]")  # PascalCase: template parameters
    arguments = arguments_of_functions()
    for space, name in sorted(listed - ours):
        if parameters.match(name) or name in NAMESPACES or name in arguments:
            continue
        yield f"clang sees {'::'.join(space)}::{name}, which tools/names.py does not"
    for space, name in sorted(ours - listed):
        yield f"tools/names.py sees {'::'.join(space)}::{name}, which clang does not"


def all_headers():
    headers = []
    for entrance in ENTRANCES:
        included(entrance, headers)
    return headers


def arguments_of_functions():
    """Names of parameters, which clang lists as if they were declared beside the function."""
    text = "".join((INCLUDE / header).read_text() for header in all_headers())
    return set(re.findall(r"[&\w>] &?(\w+)(?= = |[,)])", text))


def page(names):
    out = [HEAD.format(count=len(names))]
    out += [f"| `umbel::{name}` | {what} |\n" for name, what in NAMESPACES.items()]
    out += [f"| {TARGET} | inline: never written. It keeps code for several instruction sets apart "
            "([dispatch.md](dispatch.md)) |\n"]
    rooms = {}
    for name in names:
        rooms.setdefault(name.header.split("/")[1], []).append(name)
    for room, what in ROOMS.items():
        if room not in rooms:
            continue
        out += [f"\n## {room}/: {what}\n"]
        headers = {}
        for name in rooms[room]:
            headers.setdefault(name.header, []).append(name)
        for header in sorted(headers):
            of_one = headers[header]
            if of_one[0].space == ("umbel", "axes"):
                out += [f"\n`{header}`, in `umbel::axes`: ", ", ".join(f"`{n.name}`" for n in of_one), ".\n"]
                continue
            inner = f", in `{OPEN[of_one[0].space]}`" if of_one[0].space != ("umbel",) else ""
            out += [f"\n`{header}`{inner}\n\n| | |\n|---|---|\n"]
            out += [f"| `{n.name}` | {escaped(n.sentence)} |\n" for n in of_one]
    missing = set(rooms) - set(ROOMS)
    assert not missing, f"rooms without a line in tools/names.py: {missing}"
    return "".join(out)


def changes(old, new):
    """The names that one page has and the other has not."""
    had, has = ({name for line in text.splitlines() if not line.startswith("| `umbel::")
                 for name in re.findall(r"^\| `(\w+)`|(?<=[ :,]) `(\w+)`(?=[,.])", line) for name in name if name}
                for text in (old, new))
    yield from (f"{name} is new" for name in sorted(has - had))
    yield from (f"{name} is gone" for name in sorted(had - has))


def main():
    names, problems = public_names()
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        print("\n".join(n.name for n in names))
        return 0
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    problems += [*self_test(), *against_clang(names)]
    text = page(names)
    if arguments == ["--check"]:
        if not PAGE.is_file() or PAGE.read_text() != text:
            problems += changes(PAGE.read_text() if PAGE.is_file() else "", text)
            problems.append(f"{PAGE.relative_to(ROOT)} is not what the headers say: run tools/names.py")
    else:
        PAGE.write_text(text)
    if problems:
        sys.exit("\n".join(problems))
    return 0


if __name__ == "__main__":
    sys.exit(main())
