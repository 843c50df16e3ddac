# SPDX-License-Identifier: BSL-1.0
"""An example for each public name, from code that the tests compile: test/static/api.cpp, which has shapes before and after; a
block of the pages; a program of examples/; a test. Used by api.py."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITTEN = ROOT / "test/static/api.cpp"
MOST_LINES = 4
WIDTH = 100
BLOCK = re.compile(r"^<!-- (?:compile|run)[^>]*-->\n```cpp\n(.*?)^```", re.M | re.S)


class Example:
    def __init__(self, code, path, title):
        self.code, self.path, self.title = code, path, title

    def text(self):
        """Markdown, for a page of docs/api."""
        link = pathlib.Path("../..", self.path) if not self.path.startswith("docs/") else pathlib.Path("..", self.path.removeprefix("docs/"))
        return f"Example, from [{self.title}]({link}):\n\n```cpp\n{self.code}\n```\n\n"


# ---- test/static/api.cpp --------------------------------------------------------------------------------------------
def shape(axes):
    return "[" + re.sub(r"<(\d+)>", r"=\1", axes) + "]" + " (a scalar)" * (not axes)


DEFINES = re.compile(r"(?:using (\w+) =|(?!return|copy)(?:[\w:<>, ']+) (\w+)(?:\[\d*\])?(?:\{| =|;))")


def with_definitions(code, earlier):
    """The code behind those statements of earlier examples that define what it uses. earlier: {name: statement}."""
    needed, known, todo = set(), dict(earlier), [code]
    defined = {name for line in code.splitlines() if (one := DEFINES.match(line)) for name in one.groups()}
    while todo:
        text = re.sub(r'"[^"]*"', "", todo.pop())
        for name in [name for name in known if name not in defined and re.search(rf"(?<![\w.:]){name}\b(?! =)", text)]:
            todo.append(known.pop(name))
            needed.add(todo[-1])
    return "\n".join([*(one for one in dict.fromkeys(earlier.values()) if one in needed), code])


@functools.cache
def written():
    """{name: code}: what stands behind a line "// api: name, room/name", with the shapes of arguments and results as comments."""
    text = WRITTEN.read_text()
    tensors = r"^(?:const )?tensor<([\w:]+), ([^;]*)> (\w+)\{\};$"
    arguments = {name: f"{'' if element == 'float' else element + ' '}{shape(axes)}" for element, axes, name in re.findall(tensors, text, re.M)}
    found, earlier = {}, {}
    example = r"^ *// api: (.*)\n((?:.+\n)*?)(?=\n|\}| *// api:)"
    for block in re.finditer(example + r"|^(?:using|\w+::)[^;]*;$", re.sub(tensors, "", text, flags=re.M), re.M):
        names, body = (block[1] or "").split(", "), block[2] or block[0] + "\n"
        lines = body.splitlines()
        indent = min(len(line) - len(line.lstrip()) for line in lines)
        code = "\n".join(line[indent:] for line in lines)
        shown = re.sub(r"^becomes<(.*?)>\((.*?)\);$", lambda m: f"{' '.join(m[2].split())}  // {shape(m[1])}", code, flags=re.M | re.S)
        shown = with_definitions(shown, earlier)
        used = [name for name in arguments if re.search(rf"(?<![\w.]){name}\b(?![<:])", re.sub(r"""'\w'|"[^"]*"|//.*""", "", shown))]
        before = "".join(f"// {name}: {arguments[name]}\n" for name in used)
        for one in statements(code):
            if name := DEFINES.match(one):
                earlier.pop(name[1] or name[2], None)
                earlier[name[1] or name[2]] = one
        for name in filter(None, names):
            assert name not in found, f"test/static/api.cpp has two examples of {name}"
            found[name] = before + shown
    return found


# ---- statements of other code ---------------------------------------------------------------------------------------
def statements(text):
    """Whole statements and declarations of at most MOST_LINES lines."""
    lines, start = text.splitlines(), 0
    for i, line in enumerate(lines):
        code = re.sub(r"//.*", "", line).rstrip()
        if not code or code.lstrip().startswith(("#", "using namespace", "namespace", "return", "///")):
            start = i + 1
            continue
        one = lines[start:i + 1]
        joined = re.sub(r"//[^\n]*", "", "\n".join(one))
        balanced = all(joined.count(a) == joined.count(b) for a, b in ("()", "[]", "{}"))
        if code.endswith(";") and balanced:
            if len(one) <= MOST_LINES:
                indent = min(len(line) - len(line.lstrip()) for line in one)
                yield "\n".join(line[indent:] for line in one)
            start = i + 1
        elif code.endswith(("{", "}", ":")) and not (code.endswith("{") and len(one) == 1 and re.search(r"[=(]|struct", code)):
            start = i + 1


def sources():
    """(rank, path, title, text) of all code that tests compile, the best to read first."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/how-to").glob("*.md"))]
    for page in pages:
        title = re.sub(r"<!--.*?-->\n", "", page.read_text()).splitlines()[0].lstrip("# ")
        for block in BLOCK.findall(page.read_text()):
            yield 0, str(page.relative_to(ROOT)), title, block
    for rank, folder in (1, "examples"), (2, "test/unit"), (3, "test/static"), (4, "test"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            if not any(part in ("reject", "misuse", "fuzz") for part in path.parts) and path != WRITTEN:
                name = str(path.relative_to(ROOT))
                yield rank, name, name, path.read_text()


@functools.cache
def all_statements():
    """(rank, path, title, statement)"""
    found = {}
    for rank, path, title, text in sources():
        for one in statements(text):
            if max(map(len, one.splitlines())) <= WIDTH:
                found.setdefault(one, (rank, path, title, one))
    return sorted(found.values(), key=lambda s: (s[0], s[3].count("\n"), len(s[3])))


def of(name, room, is_called):
    """The example of a name; None if no code uses it."""
    if code := written().get(f"{room}/{name}", written().get(name)):
        return Example(code, str(WRITTEN.relative_to(ROOT)), str(WRITTEN.relative_to(ROOT)))
    behind = r"(?: *[(]|<)" if is_called else r"\b(?! =)(?![:(/]{2})"
    use = re.compile(r'(?<![\w.>"/])(?<!std::)(?<!detail::)' + re.escape(name) + behind)
    for _, path, title, one in all_statements():
        if use.search(re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", one)):
            return Example(one, path, title)
    return None
