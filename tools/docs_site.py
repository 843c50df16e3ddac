#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The HTML site of the Markdown pages, by mkdocs: tools/docs calls it.

    docs_site.py ROOT BUILD OUT

The pages are copied into BUILD/pages, in the folders that they have here, so that links between them stay as they are. What Python's
Markdown reads differently from GitHub's is adapted: lists, anchors. A link to a source becomes one to a page of its text, so that it
works without a network. The order of the pages is that of docs/README.md, a section a heading. Exit code 1 if a link leads nowhere.
"""
import html
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
import command_line  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HOME, INDEX = "README.md", "docs/README.md"
PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
COPIED = {".svg", ".png", ".jpg"}
LINK = re.compile(r"(?<!`)(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"(^ *```.*?^ *```[^\n]*$)", re.S | re.M)
SOURCE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>{name}</title></head><body><h1 style="font: 1.2rem sans-serif">{name}</h1>
<pre style="font-size: 0.85rem">{text}</pre></body></html>
"""


def slug(heading, _=None):
    """GitHub's anchor: mkdocs is given this function by name."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


# ---- the pages as mkdocs reads them ---------------------------------------------------------------------------------
def adapted(text):
    """Python's Markdown wants an empty line before a list or table, and each level of a list indented by four."""
    out, levels, fence, before = [], [], False, ""
    for line in text.split("\n"):
        stripped = line.lstrip(" ")
        indent = len(line) - len(stripped)
        item = not fence and re.match(r"(?:[-*]|\d+\.) +", stripped)
        if stripped.startswith("```") and not levels:
            fence = not fence
            if fence and before.strip():
                out.append("")
        elif not fence and stripped:
            while levels and indent < levels[-1]:
                levels.pop()
            starts = item and not (before.startswith("    ") and indent >= 4 and not levels)
            if (starts and not levels or stripped.startswith("|") and not before.lstrip().startswith("|")) and before.strip():
                if not re.match(r"\s*(?:[-*]|\d+\.) ", before):
                    out.append("")
            deep = 4 * len(levels) + indent - (levels[-1] if levels else 0)
            if starts and indent < 4 * (len(levels) + 1):
                levels.append(indent + len(item[0]))
            line = " " * deep + stripped
        out.append(line)
        before = line
    return "\n".join(out)


def fences_in_lists(text):
    """A fence inside a list as indented code: mkdocs' fences begin at the margin."""
    def indented(found):
        lines = found[2].split("\n")
        return "\n" + "\n".join("        " + line.removeprefix(found[1]) for line in lines) + "\n"
    return re.sub(r"^( {2,3})```[^\n]*\n(.*?)\n\1```$", indented, text, flags=re.S | re.M)


class Pages:
    def __init__(self, root, build):
        self.root, self.pages = root, build / "pages"
        self.sources = set()
        known = (HOME, *PROJECT, "docs/**/*.md", "examples/**/*.md")
        self.markdown = [path.relative_to(root).as_posix() for name in known for path in sorted(root.glob(name))]

    def target(self, page, link):
        """A link of a page, as it is in the site; None if it is to a folder that has no page."""
        path, _, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", link):
            return link
        target = os.path.normpath(os.path.join(os.path.dirname(page), urllib.parse.unquote(path)))
        whole = self.root / target
        if whole.is_dir():
            readme = f"{target}/README.md"
            return os.path.join(path, "README.md") if readme in [*self.markdown, "docs/decisions/README.md"] else None
        if whole.is_file() and target not in self.markdown:
            self.sources.add(target)
            return path if whole.suffix in COPIED else f"{path}.html"
        return link

    def linked(self, page, text):
        def replaced(found):
            target = self.target(page, found[2])
            return found[1] if target is None else f"{found[1]}({target})"
        return "".join(part if part.lstrip(" ").startswith("```") else LINK.sub(replaced, part) for part in FENCE.split(text))

    def write(self):
        shutil.rmtree(self.pages, ignore_errors=True)
        for page in self.markdown:
            out = self.pages / page
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(adapted(fences_in_lists(self.linked(page, (self.root / page).read_text()))))
        decisions = [page for page in self.markdown if page.startswith("docs/decisions/")]
        if decisions and "docs/decisions/README.md" not in decisions:
            lines = [f"- [{self.title(page)}]({os.path.basename(page)})" for page in decisions]
            (self.pages / "docs/decisions/README.md").write_text("\n".join(["# Decisions", "", *lines, ""]))
            self.markdown.append("docs/decisions/README.md")
        for source in self.sources:
            out = self.pages / source
            out.parent.mkdir(parents=True, exist_ok=True)
            if out.suffix in COPIED:
                shutil.copy(self.root / source, out)
            else:
                text = html.escape((self.root / source).read_text(errors="replace"))
                out.with_name(f"{out.name}.html").write_text(SOURCE.format(name=source, text=text))
        for kind in ("css", "js"):
            shutil.copy(HERE / f"docs_site.{kind}", self.pages / f"site.{kind}")

    def title(self, page):
        found = re.search(r"^# (.*)$", (self.pages / page).read_text(), re.M)
        return re.sub(r"[`*]|\[|\]\([^)]*\)", "", found[1]) if found else page

    # ---- the list of pages --------------------------------------------------------------------------------------------
    def navigation(self):
        """Nested lists of {title: page}: sections and groups as docs/README.md has them; a page stands where it is first."""
        index = (self.root / INDEX).read_text()
        seen, nav = {HOME, INDEX}, [{"Umbel": HOME}, {"Documentation": INDEX}]

        def fresh(page):
            return page in self.markdown and not (page in seen or seen.add(page))

        for heading, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", index, re.S | re.M):
            items = section = []
            for line in body.split("\n"):
                links = [(text, os.path.normpath(f"docs/{link.partition('#')[0]}")) for text, link in re.findall(r"\[([^\]]*)\]\(([^)]+)\)", line)]
                if line.strip() and not links and re.match(r"(?:### )?[A-Z][^|.:]*:?$", line):
                    section = []
                    items.append({line.strip("# :"): section})
                elif line.startswith("|"):
                    links = links[:1] if not re.match(r"\|[^|]*,", line) else [link for link in links if link[1] not in seen]
                for text, page in links:
                    folder = page if (self.root / page).is_dir() else os.path.dirname(page) if page.endswith("/README.md") else ""
                    if folder.startswith("docs/"):
                        inside = [name for name in self.markdown if name.startswith(f"{folder}/")]
                        inside = [{self.title(name): name} for name in sorted(inside, key=lambda name: (not name.endswith("README.md"), name)) if fresh(name)]
                        section += [{self.title(f"{folder}/README.md"): inside}] if inside else []
                    elif fresh(page):
                        written = re.sub(r"[`*]", "", text)
                        section.append({written[0].upper() + written[1:] if line.lstrip().startswith("-") and " " in text else self.title(page): page})
            items = [item for item in items if list(item.values())[0]]
            nav += [{heading: items}] if items else []
        for heading, pages in (("Project", PROJECT), ("More", self.markdown)):
            items = [{self.title(page): page} for page in pages if fresh(page)]
            nav += [{heading: items}] if items else []
        return nav


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_yaml(nav, depth=1):
    for item in nav:
        (title, value), = item.items()
        yield "  " * depth + f"- {quoted(title)}:" + (f" {quoted(value)}" if isinstance(value, str) else "")
        if not isinstance(value, str):
            yield from as_yaml(value, depth + 1)


def configuration(pages, out):
    return "\n".join([
        "site_name: Umbel", "strict: true", "use_directory_urls: false", f"docs_dir: {quoted(str(pages.pages))}", f"site_dir: {quoted(str(out))}",
        "theme: {name: readthedocs, highlightjs: false, navigation_depth: 3, collapse_navigation: true, include_homepage_in_sidebar: false}",
        "extra_css: [site.css]", "extra_javascript: [site.js]", "plugins: [search]",
        "markdown_extensions: [tables, fenced_code, {toc: {slugify: !!python/name:docs_site.slug , toc_depth: 3}}]",
        "nav:", *as_yaml(pages.navigation()), ""])


# ---- no link leads nowhere ------------------------------------------------------------------------------------------
class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.update(filter(None, (given.get("id"), given.get("name"))))
        if link := given.get("href") or given.get("src"):
            self.links.append(link)


def broken(out):
    """Links of the site to what it does not have."""
    read = {path: Reader(path.read_text(errors="replace")) for path in out.rglob("*.html")}
    for path, page in sorted(read.items()):
        for link in page.links:
            address, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|//", link) or path.name == "404.html":
                continue
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(address.partition("?")[0]))) if address else path
            if not target.exists() or (anchor and target in read and urllib.parse.unquote(anchor) not in read[target].ids):
                yield f"{path.relative_to(out)}: the link {link} leads nowhere"


def complete(out):
    """Debian's theme names two scripts that its package lacks: jQuery, which it has by the name of an older version, and theme_extra.js, whose
    work docs_site.js does."""
    for link in Reader((out / "index.html").read_text()).links:
        script = out / link.partition("?")[0]
        if script.parent == out / "js" and not script.exists():
            others = sorted(script.parent.glob("jquery-*.js")) if script.name.startswith("jquery") else []
            script.write_text(others[0].read_text() if others else "")


def main():
    parser = command_line.Parser("tools/docs", __doc__)
    for name in ("root", "build", "out"):
        parser.add_argument(name, type=pathlib.Path)
    given = parser.parse()
    build, out = given.build.resolve(), given.out.resolve()
    build.mkdir(parents=True, exist_ok=True)
    pages = Pages(given.root.resolve(), build)
    pages.write()
    (build / "mkdocs.yml").write_text(configuration(pages, out))
    # --quiet would hide the warnings that --strict counts.
    done = subprocess.run(["mkdocs", "build", "--strict", "--clean", "-f", build / "mkdocs.yml"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode:
        print("\n".join(line for line in done.stdout.splitlines() if not line.startswith("INFO")), file=sys.stderr)
        return 1
    complete(out)
    wrong = list(broken(out))
    print("\n".join(wrong), end="\n" * bool(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
