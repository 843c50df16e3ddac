# SPDX-License-Identifier: BSL-1.0
"""C++ for readers, for docs/api: declarations without what is internal, comments as Markdown."""
import re

from headers import skip_requires, without_template_head

JOINED = {("&", "&"): "&&", ("|", "|"): "||", ("-", ">"): "->", ("=", "="): "==", ("<", "="): "<=", (">", "="): ">=",
          ("!", "="): "!="}


def joined(tokens):
    """The tokens of a declaration as a line."""
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) in JOINED:
            merged[-1] = JOINED[merged[-1], token]
        elif token == "." and merged and set(merged[-1]) == {"."} and len(merged[-1]) < 3:
            merged[-1] += "."
        else:
            merged.append(token)
    line = ""
    for before, token in zip(["", *merged], merged):
        name = re.match(r"[\w'\"]", token)
        in_list = line.count("(") > line.count(")")
        apart = (before in ("=", "==", "||", "->", ">=", "<=", "!=", "template", ",")
                 or token in ("=", "==", "||", "->", ">=", "<=", "!=")
                 or name and re.search(r"[\w'\">*&)]$|[.]{3}$", before) and (before != "&&" or in_list))
        line += " " * bool(apart and line) + token
    return line


NOT_SHOWN = {"UMBEL_INLINE", "UMBEL_SHARED", "UMBEL_NOINLINE", "inline", "static", "friend"}


def end_of_signature(tokens):
    """Where a function's body or the initialisers of a constructor begin."""
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token in "([") - (token in ")]")
        if depth == 0 and (token == "{}" and i > 0 or token == ":"):
            return i
    return len(tokens)


def declared(tokens):
    """A declaration as a reader needs it: without its body, attributes, clauses and types that are internal; or ""."""
    shown, i = [], 0
    while i < len(tokens):
        token = tokens[i]
        if token == "requires":
            i = skip_requires(tokens, i)
        elif tokens[i:i + 2] == ["[", "["]:
            i = tokens.index("]", i) + 2
        elif token in NOT_SHOWN or token.startswith("UMBEL_"):
            i += 1
            if i < len(tokens) and tokens[i] == "(" and token.startswith("UMBEL_"):
                i = tokens.index(")", i) + 1
        else:
            shown.append(token)
            i += 1
    rest = without_template_head(shown)
    head = shown[:len(shown) - len(rest)]
    if rest[0] in ("struct", "class"):
        end = next((i for i, t in enumerate(rest) if t in (":", "{}", "final")), len(rest))
        return re.sub(r" = detail::\w+", "", joined(head + rest[:end]))
    if rest[0] == "using" or rest[0] == "concept":
        end = rest.index("=") if "=" in rest and ({"detail", "portable"} & set(rest) or rest[0] == "concept") else len(rest)
        return joined(head + rest[:end]) if "=" in rest or rest[0] == "concept" else ""
    end = end_of_signature(rest)
    if "(" not in rest[:end] or "=" in rest[:rest.index("(")]:  # a variable
        end = next((i for i, token in enumerate(rest) if token in ("=", "{}")), len(rest))
        if {"detail", "portable", "auto"} & set(rest[:end]):
            return without_internal(joined([*head, "inline", "constexpr", "auto", rest[end - 1]])) + " = /* unspecified */"
        return without_internal(joined(head + (rest[:end] if "detail" in rest else rest)))
    line = without_internal(joined(head + rest[:end]))
    line = re.sub(r"^((?:template <.*> )?constexpr) detail::(?!invalid\b)[\w:]+(?:<[^()]*>)? (?=\w+\()", r"\1 auto ", line)
    return "" if "detail::" in line else line


def without_internal(line):
    """Without defaults and constraints of template parameters that are internal."""
    line = re.sub(r" = detail::\w+", "", line)
    return re.sub(r"(?<=[<,(] )detail::[\w:]+ (?=\w+[,>])|(?<=<)detail::[\w:]+ (?=\w+[,>])", "class ", line)


def code(text):
    """What looks like code in prose, in back-quotes: calls, templates, files, names with underscores."""
    parts = text.split("`")
    return "`".join(part if i % 2 else code_outside(part) for i, part in enumerate(parts))


def code_outside(text):
    out, i = "", 0
    for match in re.finditer(r"(?<![\w.])(?:[\w/]+\.[hc]pp|(?:x \| )?[A-Za-z]\w*(?:(?:::|\.)\w+)*)", text):
        if match.start() < i:
            continue
        end = match.end()
        while tail := closing(text, end) or tail_name(text, end):
            end = tail
        word = text[match.start():end]
        if end == match.end() and not re.search(r"\w_\w|::|\.[hc]pp$|^x \| ", word):
            continue
        out += plain(text[i:match.start()]) + f"`{word}`"
        i = end
    return out + plain(text[i:])


def plain(text):
    return text.replace("<", "&lt;")


def tail_name(text, i):
    found = re.compile(r"::\w+").match(text, i)
    return found.end() if found else None


def closing(text, i):
    """Behind the bracket that closes the one at i; None where there is none."""
    pairs = {"<": ">", "(": ")", "{": "}", "[": "]"}
    waiting = []
    for at in range(i, len(text)):
        if text[at] in pairs:
            waiting.append(pairs[text[at]])
        elif waiting and text[at] == waiting[-1] and text[at - 1] != "-":
            waiting.pop()
        if not waiting:
            return at + 1 if at > i else None
    return None


def prose(comment, indent=""):
    """A comment as Markdown: indented lines are shown as they are."""
    lines = [re.sub(r"^\s*// ?", "", line) for line in comment.splitlines()]
    lines = [line for line in lines if not line.startswith(("SPDX", "clang-format"))]
    out, paragraph, shown = [], [], []

    def end_paragraph():
        if paragraph:
            out.append(code(" ".join(paragraph)) + "\n")
            paragraph.clear()

    def end_shown():
        while shown and not shown[-1].strip():
            shown.pop()
        if shown:
            out.extend(["```text", *(line[2:] for line in shown), "```", ""])
            shown.clear()

    for line in lines:
        if line.startswith("  ") or shown and not line.strip():
            end_paragraph()
            shown.append(line)
        elif line.strip():
            end_shown()
            paragraph.append(line.strip())
        else:
            end_paragraph()
    end_paragraph()
    end_shown()
    return "\n".join(indent + line if line else "" for block in out for line in block.split("\n"))
