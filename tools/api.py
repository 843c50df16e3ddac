# SPDX-License-Identifier: BSL-1.0
"""The pages of docs/api: every public name with its comment, its declaration, its members, an example and its errors.

Used by names.py. The text is that of the comments in include/umbel; the sentences are those of test/reject (errors.py), ranked by
the wrong programs of test/misuse that meet them; the examples are code that the tests compile (api_examples.py).
"""
import collections
import pathlib
import re

import api_examples
import errors
from api_text import closing, declared, prose
from headers import INCLUDE, OPEN, all_headers, declarations, first_sentence, is_specialisation, name_of, without_template_head

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "api"
WRITTEN_BY = "<!-- Written by tools/names.py from include/umbel, test/static/api.cpp and test/reject: change them there. -->\n"
INDEX = """\
# API

These pages describe every public name, by the folder of its header in `include/umbel`: its meaning,
its declaration without internal parts, its members, an example and the errors it reports. They are
made from the comments in the headers, and a test compares them. For a list of the names see
[names.md](../names.md), and for the terms [glossary.md](../glossary.md).

- A declaration that ends with `= /* unspecified */` is an object of an internal type. Its comment
  shows how to use it.
- The tests compile every example. `// x: [batch=2, token=4]` is the shape of the argument `x`, and
  a shape behind an expression is that of its result.
- Errors are in the order of how often they are met: the first one is met by most of the {programs}
  wrong programs in [test/misuse](../../test/misuse), which make the mistakes that users make.

`#include <umbel/umbel.hpp>` has everything except `inspect/`, `file/`, `quantized/`, `training/`,
`weights/`, `parameters/`, `mpi/` and `decode/cache_of_formula.hpp`.
`umbel/bare.hpp` has the same except Boost.Hana.

"""
# Where the sentences of a word stand that is no name: those of lists of axes stand with the axes, and so on.
SENTENCES_WITH = {"shape": "axis", "memory": "tensor", "elementwise": "for_each", "access": "accessible", "x[...]": "tensor", "print": "tensor",
                  "compare": "same_shape", "mask": "mask_like", "x * weights": "projectable", "weights": "multi_head_attention",
                  "workspace": "workspace_for", "read": "stored_tensor", "logits": "embedding", "in_memory": "tensor_file",
                  "put": "write_safetensors"}
# The header of a name that two headers declare for different uses; the sentences are those of the second.
SEPARATE = {("at", "umbel/weights/names.hpp")}
MOST_SENTENCES = 8
MESSAGES = errors.ROOT / "test/misuse/messages.txt"
REFUSAL = "invalid"  # the base of what a refusal returns: its members accept everything
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
        after_colon = False
        for token, after in zip(before, [*before[1:], ""]):
            after_colon = after_colon or token == ":" and depth == 0
            depth += (token == "<") - (token == ">")
            if after_colon and depth == 0 and re.match(r"\w", token) and after in ("<", ",", ""):
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
    if constructor := re.match(r"(borrowing|made_of_weights|tensor|view|prepacked|expected_view)\(", line):
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
        known = base in classes and base not in seen and classes[base] is not declaration and base != REFUSAL
        if known and not base.startswith(("other_", "weights")):
            seen.add(base)
            yield from members_of(classes[base], classes, seen)


class Entry:
    def __init__(self, space, name, header):
        self.space, self.name, self.header = space, name, header
        self.parts = []  # (comment, declarations)
        self.whole = None  # the declaration of a class with its body: itself, or of an operation its type
        self.is_operation = False
        self.forms = []  # specializations of a class that is itself a refusal


def entries_and_classes():
    found, classes, forms = {}, {}, {}
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
            if path in OPEN and name is None and is_class and is_specialisation(rest) and "{}" in one.tokens:
                forms.setdefault(next(token for token in rest if token not in ("struct", "class")), []).append(one)
            if path not in OPEN or name is None or path == ("umbel", "axes"):
                open_name = None
                continue
            key = (path, name, header) if (name, header) in SEPARATE else (path, name)
            entry = found.setdefault(key, Entry(path, name, header))
            if re.search(r"\brefused\b|Any other arguments", one.comment):
                continue
            if one.tokens[0] == "using" and "=" not in one.tokens:  # the same function, in formulas
                continue
            if first_sentence(one.comment):
                entry.parts.append((one.comment, [one]))
            elif open_name is not None and not one.after_gap and (found[open_name].parts and open_name != key):
                entry.parts.append((found[open_name].parts[-1][0], [one]))
            elif entry.parts:
                entry.parts[-1][1].append(one)
            if is_class and entry.whole is None and "{}" in one.tokens:
                entry.whole = one
            if not is_class and "(" not in rest and "detail" in rest and rest[0] not in ("using", "concept"):
                entry.whole, entry.is_operation = classes.get(rest[rest.index("detail") + 2]), True
            open_name = key
    for entry in found.values():
        entry.forms = forms.get(entry.name, []) if entry.whole and REFUSAL in Class(entry.whole).bases else []
    return {key: entry for key, entry in found.items() if entry.parts}, classes


def messages_met():
    """{mistake: how many wrong programs of test/misuse meet it}, and how many programs there are."""
    lines = [line for line in MESSAGES.read_text().splitlines() if not line.startswith("#")]
    return collections.Counter(errors.mistake_of(line.split(": ", 1)[1]) for line in lines), len(lines)


def refusals():
    """The sentences of each name, one for each mistake, and the word that they begin with; those that are met most often first,
    by programs of test/misuse, then by cases of test/reject."""
    met, _ = messages_met()
    cases = [case for case in errors.all_cases() if case.operation()]
    held = collections.Counter(case.mistake() for case in cases)
    first = {}
    for case in cases:
        first.setdefault(case.mistake(), case)

    def rank(mistake):  # a message may have more behind it: ", but argument 1 is a pointer"
        return -sum(n for other, n in met.items() if re.match(re.escape(mistake) + r"(?:[,;] |$)", other)), -held[mistake]

    of_name = {}
    for mistake, case in sorted(first.items(), key=lambda item: rank(item[0])):
        word = case.operation()
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
        groups = list(members_of(entry.forms[0] if entry.forms else entry.whole, classes, set()))
        if entry.is_operation:  # its calls; not those that only operations of the same type have
            groups = [(comment, calls) for comment, parts in groups
                      if (calls := [one for one in parts if "requires" not in one.tokens
                                    and {"operator", "into"} & set(one.tokens)])]
        if groups:
            form = entry.forms and re.search(r"\b" + entry.name + r"<\w+", entry.forms[0].text)[0]
            out += [f"Members of `{form}<...>>`:\n\n" if form else "Members:\n\n"]
        for comment, parts in groups:
            lines = [line for line in dict.fromkeys(member_line(one, entry.name) for one in parts)
                     if line and re.match(r"\w+", line)[0] not in INTERNAL]
            if not lines:
                continue
            lines = without_refused([line for line in lines if f"{line}()" not in lines])
            out += ["- ", ", ".join(f"`{line}`" for line in lines), ": ", prose(comment, "  ").strip(), "\n"]
        out += ["\n"] * bool(groups)
    if example := api_examples.of(entry.name, entry.header.split("/")[1], any(f"{entry.name}(" in line for line in out)):
        out += [example.text()]
    words = list(dict.fromkeys(word for word, _ in refused[:MOST_SENTENCES]))
    if refused:
        links = ", ".join(f"[`{word}`](../errors.md#{errors.anchor(word)})" for word in words)
        most = f" The {MOST_SENTENCES} most frequent of {len(refused)}:" if len(refused) > MOST_SENTENCES else ""
        out += [f"Errors, with cause and cure in {links}{'.' + most if most else ':'}\n\n```text\n",
                *(f"{sentence}\n" for _, sentence in refused[:MOST_SENTENCES]), "```\n\n"]
    return "".join(out)


def axes(header):
    """(name, what lies along it) of the ready-made axes."""
    return re.findall(r"^struct (\w+) : axis<.*};  // (.*)$", (INCLUDE / header).read_text(), re.M)


def pages(rooms):
    """{path in docs/api: text}. rooms: what each folder of include/umbel is for."""
    entries, classes = entries_and_classes()
    refused = refusals()
    separate = {key[:2] for key in entries if len(key) > 2}
    no_name = set(refused) - {entry.name for entry in entries.values()}
    assert not no_name, f"sentences that begin with no public name: {no_name} (SENTENCES_WITH in tools/api.py)"
    index, written = [WRITTEN_BY, INDEX.format(programs=messages_met()[1])], {}
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
                out += [entry_text(entry, classes, [] if (entry.space, entry.name) in separate and entry.header not in {header for _, header in SEPARATE} else refused.get(entry.name, []))]
            if not in_room[header]:
                index += [f"`{header}`: [operators]({room}.md#{errors.anchor(header)})", "\\\n"]
                continue
            links = (f"[`{entry.name}`]({room}.md#{errors.anchor(entry.name)})" for entry in in_room[header])
            index += [f"`{header}`: ", ", ".join(links), "\\\n"]
        index[-1] = "\n\n"
        written[f"{room}.md"] = re.sub(r"\n{3,}", "\n\n", "".join(out)).rstrip() + "\n"
    return written | {"README.md": "".join(index).rstrip() + "\n"}


def problems(pages_of_rooms):
    """Entries without a declaration or an example."""
    for page, text in pages_of_rooms.items():
        for entry in re.findall(r"^### .*?(?=^###? |\Z)", text, re.M | re.S) if page != "README.md" else []:
            name = re.match(r"### `(.*?)`", entry)[1]
            if not re.search(r"^```cpp\n", entry.split("\nExample, from ")[0], re.M):
                yield f"docs/api/{page}: {name} has no declaration (declared in tools/api_text.py)"
            if "\nExample, from " not in entry:
                yield f"docs/api/{page}: {name} has no example: add one to test/static/api.cpp"
