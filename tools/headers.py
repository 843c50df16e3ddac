# SPDX-License-Identifier: BSL-1.0
"""Reads the public names out of include/umbel, with their declarations and the comments in front of them."""
import pathlib
import re
import shutil
import subprocess

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
ENTRANCES = ["umbel/umbel.hpp", "umbel/inspect/describe.hpp", "umbel/inspect/fits.hpp", "umbel/inspect/footprint.hpp", "umbel/inspect/heat_map.hpp", "umbel/inspect/vector_check.hpp", "umbel/decode/cache_of_formula.hpp", "umbel/formula/row_formula.hpp", "umbel/files.hpp", "umbel/quantized.hpp", "umbel/quantized/cache_of_formula.hpp", "umbel/weights.hpp", "umbel/training.hpp", "umbel/mpi.hpp",
             "umbel/file/mapped_file.hpp", "umbel/file/read_file.hpp"]

# What the compiler needs for umbel/mpi.hpp; None where there is no MPI.
def mpi_flags():
    found = shutil.which("pkg-config") and subprocess.run(["pkg-config", "--variable=includedir", "mpi"],
                                                          capture_output=True, text=True)
    return ["-isystem", found.stdout.strip()] if found and found.returncode == 0 else None


# What a `using namespace` brings in, and how it is written.
OPEN = {("umbel",): "umbel", ("umbel", "axes"): "umbel::axes", ("umbel", "literals"): "umbel::literals"}


def all_headers():
    headers = []
    for entrance in ENTRANCES:
        included(entrance, headers)
    return headers


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
        self.tokens, self.comment, self.after_gap, self.begin, self.text = [], "", True, 0, ""

    def ended(self, text, end):
        self.text = text[self.begin:end]
        return self


def declarations(text):
    """(namespace, Declaration) of a header, without the bodies of classes and functions."""
    text = re.sub(r'\bUMBEL_EXPECTS\((?:\s*"[^"\n]*"\s*)+\)\n?', "", text)  # a sentence, not a part of the declaration
    text = re.sub(r"^UMBEL_REFUSE\w+\((?:[^()]|\([^()]*\))*\)\n", "", text, flags=re.M)  # overloads that are refused
    text = re.sub(r"\bUMBEL_REFUSED_CONVERSION\(\w+\);\n?", "", text)  # nothing to call
    text = re.sub(r"\bauto\((\w+)\)\(", r"auto \1(", text)  # (max)(x), which a macro of that name leaves alone
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
            now.begin = match.start()
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
                initialises = ":" in now.tokens and text[match.end():].lstrip()[:1] in ("{", ",")
                if ends_with_braces(now.tokens) and not initialises:
                    yield tuple(path), now.ended(text, match.end())
                    now = Declaration()
            continue
        if depth:
            continue
        if value == ";":
            if now.tokens:
                yield tuple(path), now.ended(text, match.end())
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


def operator_of(tokens):
    """The operator that a declaration at the scope of a namespace declares, or None."""
    rest = without_template_head(tokens)
    if "operator" not in rest or '""' in rest:
        return None
    begin = rest.index("operator") + 1
    end = rest.index("(", begin + 1) if "(" in rest[begin + 1:] else len(rest)
    return "operator" + "".join(rest[begin:end])


def name_of(tokens):
    """The name that a declaration brings into its namespace, or None."""
    rest = without_template_head(tokens)
    if rest[:1] == ["UMBEL_PART_NAME"]:
        return rest[2]
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
    return rest[last] if i == last + 1 or rest[last + 1] == "[" else None  # x<...>: its name is declared elsewhere


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
