#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tools/release in a copy of the repository: it makes a tag where all agrees, and says each thing that does not. And CITATION.cff.

    release.py PROJECT_ROOT
"""
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

try:
    import yaml
except ImportError:
    yaml = None

TODAY = str(datetime.date.today())
WRAP = "docs/umbel.wrap"


class Copy:
    """The files of the repository as they are now, in a repository of its own: no tag is made in this one."""

    def __init__(self, root, folder):
        self.root = folder
        # Neither the repository around nor the settings of who runs the test.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@localhost"}
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=True, env=self.environment).stdout
        for name in listed.decode().split("\0"):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)
        self.git("init", "-q", "-b", "main")
        self.commit("a copy")

    def git(self, *words):
        return subprocess.run(["git", "-C", self.root, *words], capture_output=True, text=True, check=True, env=self.environment).stdout.strip()

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def change(self, name, pattern, text):
        path = self.root / name
        content, count = re.subn(pattern, text, path.read_text(), count=1, flags=re.M)
        assert count == 1, (name, pattern)
        path.write_text(content)

    def write_wrap(self):
        self.change(WRAP, r"^revision = .*", f"revision = {self.git('rev-parse', 'HEAD')}")
        self.commit("wrap")

    def release(self, *words):
        done = subprocess.run([sys.executable, self.root / "tools/release", *words], capture_output=True, text=True, cwd="/", env=self.environment)
        return done.returncode, done.stdout, done.stderr

    def again(self, state):
        self.git("reset", "-q", "--hard", state)
        self.git("clean", "-q", "-f", "-d")


def check_release(tap, copy):
    head = copy.git("rev-parse", "HEAD")
    version = copy.release("--help")
    tap.check("--help", version[0] == 0 and "--check" in version[1] and version[2] == "", str(version))
    tap.check("a wrong option", copy.release("--force")[0] == 2)
    number = subprocess.run([sys.executable, copy.root / "tools/version.py"], capture_output=True, text=True).stdout.strip()
    code, out, err = copy.release()
    tap.check("today nothing is released: no date, no public address, no hash", code == 1 and out == "" and
              f'the first heading is "{number} (unreleased)"' in err and "url is file:///path/to/umbel" in err and "revision is HEAD" in err and
              copy.git("tag") == "", out + err)

    # As it is before a release.
    copy.change("CHANGELOG.md", r"^## .*", f"## {number} ({TODAY})")
    copy.change("CITATION.cff", r"^(version: .*)", rf"\1\ndate-released: {TODAY}")
    copy.change(WRAP, r"^url = .*", "url = https://umbel.invalid/umbel.git")
    copy.commit("release: the date")
    copy.write_wrap()
    ready = copy.git("rev-parse", "HEAD")
    code, out, err = copy.release("--check")
    tap.check("--check: all agrees, and no tag is made", code == 0 and number in out and err == "" and copy.git("tag") == "", out + err)

    def refused(name, wanted, *, commit=True, wrap=True):
        if commit:
            copy.commit(name)
        if wrap:
            copy.write_wrap()
        for words in ([], ["--check"]):
            code, out, err = copy.release(*words)
            tap.check(f"{name} {''.join(words)}", code == 1 and out == "" and wanted in err and err.count("\n") == 1, out + err)
        copy.again(ready)
    other = f"{number}9"
    copy.change("CHANGELOG.md", r"^## .*", f"## {other} ({TODAY})")
    refused("the changelog is of another version", f'the first heading is "{other} ({TODAY})"')
    copy.change("CHANGELOG.md", r"^## .*", f"## {number} (2026-02-30)")
    refused("a day that is none", "2026-02-30")
    tomorrow = datetime.date.today() + datetime.timedelta(2)
    copy.change("CHANGELOG.md", r"^## .*", f"## {number} ({tomorrow})")
    copy.change("CITATION.cff", r"^date-released: .*", f"date-released: {tomorrow}")
    refused("a day that comes", "is not yet")
    with (copy.root / "CHANGELOG.md").open("a") as file:
        file.write(f"\n## {number} (2020-01-01)\n")
    refused("two headings", "two headings")
    copy.change("CITATION.cff", r"^date-released: .*", "date-released: 2020-01-01")
    refused("another date in CITATION.cff", "date-released is 2020-01-01")
    copy.change("CITATION.cff", r"^version: .*", "version: 9.9.9")
    refused("another version in CITATION.cff", "CITATION.cff has version 9.9.9")
    copy.change("library.json", r'"version": "[^"]*"', '"version": "9.9.9"')
    refused("another version in library.json", "library.json has version 9.9.9")
    copy.change("README.md", r"\A", "x")
    refused("a changed file", "the tree is not clean: M README.md", commit=False, wrap=False)
    (copy.root / "new").write_text("x")
    refused("a new file", "the tree is not clean: ?? new", commit=False, wrap=False)
    copy.change("README.md", r"\A", "x")
    refused("a commit behind that of the wrap", "the commit before the last one", wrap=False)
    copy.change(WRAP, r"^revision = .*", f"revision = {head}")
    refused("the hash of another commit", f"revision is {head}", wrap=False)
    copy.change("README.md", r"\A", "x")
    copy.change(WRAP, r"^revision = .*", f"revision = {copy.git('rev-parse', 'HEAD')}")
    refused("the commit of the wrap changes more", f"changes more than {WRAP}", wrap=False)
    copy.change(WRAP, r"^url = .*", "url = file:///path/to/umbel")
    refused("no public address", "without a public address")

    code, out, err = copy.release()
    tap.check("the tag is made, annotated, of the last commit", code == 0 and err == "" and copy.git("tag") == f"v{number}" and
              copy.git("cat-file", "-t", f"v{number}") == "tag" and copy.git("rev-parse", f"v{number}^{{commit}}") == ready and
              f"git push origin v{number}" in out, out + err)
    fetched = re.search(r"^revision = (.*)", copy.git("show", f"v{number}:{WRAP}"), re.M)[1]
    tap.check("what the wrap fetches is the release", copy.git("diff", "--name-only", fetched, f"v{number}") == WRAP)
    refused("the same version again", f"the tag v{number} is there", commit=False, wrap=False)
    (copy.root / "include/umbel/version.hpp").unlink()
    refused("no version.hpp", "version.hpp: No such file or directory", commit=False, wrap=False)


def check_citation(tap, root):
    text = (root / "CITATION.cff").read_text()
    if yaml is None:
        return tap.skip("CITATION.cff: YAML", "no PyYAML (python3-yaml)")
    said = yaml.safe_load(text)
    tap.check("CITATION.cff: what the format wants", {"cff-version", "message", "title", "authors"} <= said.keys() and
              said["cff-version"] == "1.2.0" and all("name" in one for one in said["authors"]) and said["license"] == "BSL-1.0", str(said))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tap = Tap()
    check_citation(tap, root)
    if shutil.which("git") is None or not (root / ".git").exists():
        tap.skip("tools/release", "no git repository here")
        return tap.finish()
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made) / "um bel ü"
        folder.mkdir()
        check_release(tap, Copy(root, folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
