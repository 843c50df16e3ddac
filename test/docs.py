#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The HTML site of tools/docs: all pages are in it, and no link leads nowhere; and a link that does is found. The pictures of the
pages are for light and dark windows, and the names in docs/race.svg are those of the README.

    docs.py ROOT       TAP; the site is not tried where there is no mkdocs
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tap import Tap  # noqa: E402

# Links of a page docs/one.md that has a heading "A heading: `x`", next to docs/two.md. mkdocs itself finds the first bad ones.
GOOD = ["two.md", "#a-heading-x", "two.md#two-two", "../source.hpp", "../README.md"]
BAD = [["three.md", "../nothing.hpp"], ["#nothing", "two.md#nothing"]]


def build(root, project, folder):
    return subprocess.run([sys.executable, root / "tools/docs_site.py", project, folder / "build", folder / "out"], capture_output=True, text=True)


def check_pictures(root, tap):
    light = [picture.name for picture in (root / "docs").rglob("*.svg") if "prefers-color-scheme: dark" not in picture.read_text()]
    tap.check("every drawing has colors for dark windows", not light, " ".join(light))
    table = (root / "README.md").read_text().split("<!-- race: begin")[1].split("<!-- race: end")[0]
    names, race = re.findall(r"^\| (\w[^|]*) \| [\d.]+ \|", table, re.M), (root / "docs/race.svg").read_text()
    tap.check("docs/race.svg has the names of the README's rows", len(names) == 5 and all(f">{name}<" in race for name in names), str(names))


def main():
    root, tap = pathlib.Path(sys.argv[1]).resolve(), Tap()
    check_pictures(root, tap)
    if not shutil.which("mkdocs"):
        tap.skip("the site", "no mkdocs")
        return tap.finish()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        done = build(root, root, folder)
        tap.check("the site is built, and no link leads nowhere", done.returncode == 0, done.stdout + done.stderr)
        pages = [page.relative_to(root) for page in (root / "docs").rglob("*.md")]
        missing = [str(page) for page in pages if not (folder / "out" / page.with_name("index.html" if page.name == "README.md" else f"{page.stem}.html")).exists()]
        tap.check("every page is in it", pages and not missing, " ".join(missing))
        project = folder / "ein Projekt für alle"
        (project / "docs").mkdir(parents=True)
        (project / "source.hpp").write_text("int x;\n")
        for name, text in {"README": "# One\n", "docs/README": "# Index\n\n## Learn\n\n- [one](one.md)\n", "docs/two": "# Two: two\n"}.items():
            (project / f"{name}.md").write_text(text)
        for links in [GOOD, *BAD]:
            (project / "docs/one.md").write_text("# A heading: `x`\n\n" + "".join(f"[link]({link})\n" for link in links))
            done = build(root, project, folder)
            said = done.stdout + done.stderr
            good = done.returncode == 0 if links is GOOD else done.returncode != 0 and all(link.removeprefix("../").replace(".md", "") in said.replace(".html", "").replace(".md", "") for link in links)
            tap.check(f"links {', '.join(links)} are {'taken' if links is GOOD else 'refused'}", good, said)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
