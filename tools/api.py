# SPDX-License-Identifier: BSL-1.0
"""The pages of docs/api: every public name with its comment, its declaration, its members and what it refuses.

Used by names.py. The text is that of the comments in include/umbel; the sentences are those of test/reject (errors.py).
"""
import pathlib
import re

import errors
from api_text import closing, declared, prose
from headers import INCLUDE, OPEN, all_headers, declarations, first_sentence, name_of, without_template_head

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "api"
WRITTEN_BY = "<!-- Written by tools/names.py from include/umbel and test/reject: change the comments there. -->\n"
INDEX = """\
# API

These pages describe every public name, by the folder of its header in `include/umbel`: its meaning
and shapes, its declaration without internal parts, its members, and the errors it reports. They are
made from the comments in the headers, and a test compares them. For a list of the names see
[names.md](../names.md), and for the terms [glossary.md](../glossary.md).

`#include <umbel/umbel.hpp>` has everything except `inspect/`, `file/`, `quantized/`, `training/`,
`weights/`, `parameters/`, `mpi/` and `decode/cache_of_formula.hpp`.
`umbel/bare.hpp` has the same except Boost.Hana.

"""
# Where the sentences of a word stand that is no name: those of lists of axes stand with the axes, and so on.
SENTENCES_WITH = {"shape": "axis", "memory": "tensor", "elementwise": "for_each", "access": "accessible", "x[...]": "tensor", "print": "tensor",
                  "compare": "same_shape", "mask": "mask_like", "x * weights": "projectable", "weights": "multi_head_attention",
                  "workspace": "workspace_for", "read": "stored_tensor", "logits": "embedding", "in_memory": "tensor_file",
                  "put": "write_safetensors"}
MOST_SENTENCES = 8
AXES = ["umbel/shape/axes.hpp", "umbel/training/axes.hpp", "umbel/mpi/axes.hpp"]
# Members that layers have for one another.
INTERNAL = {"scratch_for", "encode", "decode", "apply", "feed_rows", "normalise_rows", "write", "rule", "pipe_rule", "result_of",
            "packed_weights"}
OPERATORS = {"tensor": ["umbel/tensor/arithmetic.hpp", "umbel/tensor/print.hpp"]}  # they bring in no name


def class_body(text):
    """What stands in the braces of a class."""
    head = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), text)
    depth, i = 0, 0
    for i, c in enumerate(head):
        depth += (c in "(<") - (c in ")>" and head[i - 1] != "-")
        if c == "{":
            break
    return text[i + 1:text.rindex("}")] if "{" in head else ""


class Class:
    """A class of a header, internal ones too: its bases and its documented public members."""

    def __init__(self, declaration):
        self.text = declaration.text
        rest = without_template_head(declaration.tokens)
        self.public = rest[0] == "struct"
        before = rest[:rest.index("{}")] if "{}" in rest else []
        self.bases, depth = [], 0
        for token, after in zip(before, [*before[1:], ""]):
            depth += (token == "<") - (token == ">")
            if ":" in before and depth == 0 and re.match(r"\w", token) and after in ("<", ",", ""):
                self.bases.append(token)

    def members(self):
        """(comment, declarations) of each documented group."""
        access, groups, open_group = "public" if self.public else "private", [], False
        body = re.sub(r"^ *(public|private|protected):", r"access_\1;", class_body(self.text), flags=re.M)
        for _, one in declarations(body):
            if one.tokens[0].startswith("access_"):
                access, open_group = one.tokens[0][7:], False
                continue
            if access != "public":
                continue
            if first_sentence(one.comment):
                groups.append((one.comment, [one]))
                open_group = True
            elif open_group and not one.after_gap:
                groups[-1][1].append(one)
            else:
                open_group = False
        skipped = re.compile(r"\brefused\b|See workspace_for|^\s*// Also of what")
        return [group for group in groups if not skipped.search(group[0])]


def member_line(one, owner):
    """A member as it is called: without its type."""
    tokens = without_template_head(one.tokens)
    if tokens[0] in ("using", "struct", "class"):
        return tokens[1]
    line = declared(tokens).removeprefix("constexpr ")
    if line.startswith("explicit"):
        line = line[closing(line, len("explicit")) or len("explicit"):].strip()
    if constructor := re.match(r"(borrowing|tensor|view|prepacked|expected_view)\(", line):
        return owner + line[constructor.end(1):closing(line, constructor.end(1))]
    if operator := re.search(r"operator *(\(\)|\[\]|[^(]+)", line):
        return line[operator.start():closing(line, operator.end()) or len(line)]
    called = re.match(r"[^(=]*?(\w+)\(", line)
    return line[called.start(1):closing(line, called.end() - 1)] if called else name_of(one.tokens) or ""


def without_refused(lines):
    """Overloads whose arguments have no names are there for their sentence."""
    lines = [line for line in lines if "arguments_of_a_call" not in line]
    named = [line for line in lines if not re.search(r"(?:&|\.\.\.|^\w+\(\w)\)(?: noexcept)?$", line)]
    return named or lines


def members_of(declaration, classes, seen):
    """The documented members of a class and of its internal bases."""
    one = Class(declaration)
    yield from one.members()
    for base in one.bases:
        base = base if base in classes else base.removesuffix("_of")  # an alias: linear_types_of, of linear_types
        known = base in classes and base not in seen and classes[base] is not declaration
        if known and not base.startswith(("other_", "weights")):
            seen.add(base)
            yield from members_of(classes[base], classes, seen)


class Entry:
    def __init__(self, space, name, header):
        self.space, self.name, self.header = space, name, header
        self.parts = []  # (comment, declarations)
        self.whole = None  # the declaration of a class with its body: itself, or of an operation its type
        self.is_operation = False


def entries_and_classes():
    found, classes = {}, {}
    for header in all_headers():
        open_name = None
        text = (INCLUDE / header).read_text()
        text = re.sub(r"detail::(?=tensor_like(?: |[.]{3}))", "", text)  # the same to users
        for path, one in declarations(text):
            name = name_of(one.tokens)
            rest = without_template_head(one.tokens)
            is_class = bool(rest) and rest[0] in ("struct", "class", "enum")
            if is_class and name and "{}" in one.tokens:
                classes.setdefault(name, one)
            if path not in OPEN or name is None or path == ("umbel", "axes"):
                open_name = None
                continue
            entry = found.setdefault((path, name), Entry(path, name, header))
            if re.search(r"\brefused\b|Any other arguments", one.comment):
                continue
            if one.tokens[0] == "using" and "=" not in one.tokens:  # the same function, in formulas
                continue
            if first_sentence(one.comment):
                entry.parts.append((one.comment, [one]))
            elif open_name is not None and not one.after_gap and (found[open_name].parts and open_name != (path, name)):
                entry.parts.append((found[open_name].parts[-1][0], [one]))
            elif entry.parts:
                entry.parts[-1][1].append(one)
            if is_class and entry.whole is None and "{}" in one.tokens:
                entry.whole = one
            if not is_class and "(" not in rest and "detail" in rest and rest[0] not in ("using", "concept"):
                entry.whole, entry.is_operation = classes.get(rest[rest.index("detail") + 2]), True
            open_name = (path, name)
    return {key: entry for key, entry in found.items() if entry.parts}, classes


def refusals():
    """The sentences of each name, one for each mistake, and the word that they begin with."""
    of_name = {}
    seen = set()
    for case in errors.all_cases():
        if (word := case.operation()) and case.mistake() not in seen:
            seen.add(case.mistake())
            name = "tensor" if case.file == "other_libraries" else SENTENCES_WITH.get(word, word)
            of_name.setdefault(name, []).append((word, case.sentence()))
    return of_name


def small_enough_to_show(one):
    """An enumeration, or a struct of plain members."""
    body = class_body(one.text)
    return bool(body) and not re.search(r"\(|using |detail|static|private", re.sub(r"//[^\n]*", "", body))


def options_of(one):
    """What is set by name, of a struct with more: its first members, each with its default and what is said of it."""
    fields = r"(?: *(?:double|bool|float|std::\w+) \w+ = [^;(]*;[^\n]*\n(?: *//[^\n]*\n)*)+"
    found = re.match(rf"\n({fields})", class_body(one.text))
    return f"{one.text[:one.text.index('{')]}{{\n{found[1]}}};" if found else ""


def on_lines(line):
    """A template's head on a line of its own."""
    end = closing(line, len("template ")) if line.startswith("template <") else None
    return f"{line[:end]}\n{line[end:].strip()}" if end else line


def entry_text(entry, classes, refused):
    out = [f"### `{entry.name}`\n\n"]
    for comment, parts in entry.parts:
        out += [prose(comment), "\n"]
        lines = without_refused(list(dict.fromkeys(filter(None, (declared(one.tokens) for one in parts)))))
        if entry.whole in parts and small_enough_to_show(entry.whole):
            lines = [entry.whole.text]
        elif entry.whole in parts and options_of(entry.whole):
            lines = [options_of(entry.whole)]
        if lines:
            out += ["```cpp\n", *(f"{on_lines(line)}\n" for line in lines), "```\n\n"]
    if entry.whole is not None and not small_enough_to_show(entry.whole):
        groups = list(members_of(entry.whole, classes, set()))
        if entry.is_operation:  # its calls; not those that only operations of the same type have
            groups = [(comment, calls) for comment, parts in groups
                      if (calls := [one for one in parts if "requires" not in one.tokens
                                    and {"operator", "into"} & set(one.tokens)])]
        if groups:
            out += ["Members:\n\n"]
        for comment, parts in groups:
            lines = [line for line in dict.fromkeys(member_line(one, entry.name) for one in parts)
                     if line and re.match(r"\w+", line)[0] not in INTERNAL]
            if not lines:
                continue
            lines = without_refused([line for line in lines if f"{line}()" not in lines])
            out += ["- ", ", ".join(f"`{line}`" for line in lines), ": ", prose(comment, "  ").strip(), "\n"]
        out += ["\n"] * bool(groups)
    words = list(dict.fromkeys(word for word, _ in refused))
    if refused:
        links = ", ".join(f"[`{word}`](../errors.md#{errors.anchor(word)})" for word in words)
        more = len(refused) - MOST_SENTENCES
        out += [f"Refuses, with cause and cure in {links}{f', and {more} more' if more > 0 else ''}:\n\n```text\n",
                *(f"{sentence}\n" for _, sentence in refused[:MOST_SENTENCES]), "```\n\n"]
    return "".join(out)


def axes(header):
    """(name, what lies along it) of the ready-made axes."""
    return re.findall(r"^struct (\w+) : axis<.*};  // (.*)$", (INCLUDE / header).read_text(), re.M)


def pages(rooms):
    """{path in docs/api: text}. rooms: what each folder of include/umbel is for."""
    entries, classes = entries_and_classes()
    refused = refusals()
    no_name = set(refused) - {entry.name for entry in entries.values()}
    assert not no_name, f"sentences that begin with no public name: {no_name} (SENTENCES_WITH in tools/api.py)"
    index, written = [WRITTEN_BY, INDEX], {}
    for room, what in rooms.items():
        in_room = {}
        for entry in entries.values():
            if entry.header.split("/")[1] == room:
                in_room.setdefault(entry.header, []).append(entry)
        for header in OPERATORS.get(room, []):
            in_room[header] = []
        out = [WRITTEN_BY, f"# {room}/: {what}\n\n"]
        index += [f"## [{room}/: {what}]({room}.md)\n\n"]
        for header in (header for header in AXES if header.split("/")[1] == room):
            out += [f"## {header}\n\n", "In `umbel::axes`:\n\n| | |\n|---|---|\n",
                    *(f"| `{name}` | {what} |\n" for name, what in axes(header)), "\n"]
        for header in sorted(in_room):
            first = re.match(r"(?://[^\n]*\n)+", (INCLUDE / header).read_text())[0]
            out += [f"## {header}\n\n", f"[Source](../../include/{header}). ", prose(first), "\n"]
            for entry in in_room[header]:
                out += [entry_text(entry, classes, refused.get(entry.name, []))]
            if not in_room[header]:
                index += [f"`{header}`: [operators]({room}.md#{errors.anchor(header)})", "\\\n"]
                continue
            links = (f"[`{entry.name}`]({room}.md#{errors.anchor(entry.name)})" for entry in in_room[header])
            index += [f"`{header}`: ", ", ".join(links), "\\\n"]
        index[-1] = "\n\n"
        written[f"{room}.md"] = re.sub(r"\n{3,}", "\n\n", "".join(out)).rstrip() + "\n"
    return written | {"README.md": "".join(index).rstrip() + "\n"}
