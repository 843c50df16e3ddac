# SPDX-License-Identifier: BSL-1.0
"""The command line of the tools: --help prints, a wrong argument is one sentence and exit code 2, before anything is built or
installed. It needs nothing but Python, so that tools parse before they import what may be missing.

    python3 tools/command_line.py HEADER COMMAND GIVEN ARGUMENT...

holds arguments against the usage text of a C++ program (a HEADER of examples/ with `usage = "..."`). COMMAND is the tool's, GIVEN
are the options that it gives by itself.

With UMBEL_CHECK_ARGUMENTS in the environment nothing follows: the exit code is CHECKED when all is right. tools/setup.sh asks so.
"""
import argparse
import difflib
import errno
import os
import pathlib
import re
import signal
import sys

CHECKED = 100
HIDDEN = argparse.SUPPRESS  # help of what the tool gives, and not its user


class Refused(Exception):
    """Why a file or an option is not taken: one sentence."""


def print_lines(lines):
    """Onto standard output. What is wrong with that, or nothing: nobody has to read all of it, as head does."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name may have what a terminal has not
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python tries again at its end, and says so
        return "" if problem.errno == errno.EPIPE else f"standard output: {problem.strerror}"
    return ""


def ends_by_interrupt(said=""):
    """Ctrl-C, or kill: what is temporary is removed. What is said is how to go on; of a script that a shell tool calls,
    tools/setup.sh says it."""
    def end(number, _):
        if said:
            print(f"\n{said}", file=sys.stderr)
        sys.exit(128 + number)
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, end)


def positive(text):
    number = int(text) if re.fullmatch(r"[0-9]+", text) else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on, not {text}")
    return number


def refuse(command, sentence):
    print(f"{command}: {sentence} (--help says more)", file=sys.stderr)
    sys.exit(2)


def checked(interrupted=""):
    if os.environ.get("UMBEL_CHECK_ARGUMENTS"):
        sys.exit(CHECKED)
    ends_by_interrupt(interrupted)


class Parser(argparse.ArgumentParser):
    def __init__(self, command, text, **more):
        super().__init__(prog=command, description=text, formatter_class=argparse.RawDescriptionHelpFormatter,
                         allow_abbrev=False, **more)

    def error(self, message):
        refuse(self.prog, message)

    def parse(self, *complaints, intermixed=False, arguments=None, interrupted=""):
        """The options. Each of the complaints takes them, and gives a sentence where they are wrong. Ctrl-C says `interrupted`."""
        options = self.parse_intermixed_args(arguments) if intermixed else self.parse_args(arguments)
        for complaint in complaints:
            if sentence := complaint(options):
                self.error(sentence)
        checked(interrupted)
        return options


def one_of(command, text, *allowed):
    """The only argument of a script, one of these or nothing."""
    parser = Parser(command, text)
    group = parser.add_mutually_exclusive_group() if allowed else parser
    for word in allowed:
        group.add_argument(word, dest="chosen", action="store_const", const=word)
    return getattr(parser.parse(), "chosen", None) or ""


# ---- a C++ program that has its usage as a string --------------------------------------------------
def usage_of(header):
    literal = re.search(r'usage =\s*((?:"(?:[^"\\]|\\.)*"\s*)+);', pathlib.Path(header).read_text())[1]
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal)).replace('\\"', '"').replace("\\n", "\n")


def wrong(kind, value, text):
    """What is wrong with a value, as far as the usage says what is right: "1 to 1000 (32)", "1, 2 or 4"."""
    if kind in ("FILE", "DIR"):
        return None if value else "needs a path"
    whole = kind in ("N", "K")
    good = re.fullmatch(r"[0-9]+" if whole else r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", value)
    number = float(value) if good else -1
    if found := re.search(r"([\d.]+) to ([\d.]+)", text):
        if not float(found[1]) <= number <= float(found[2]):
            return f"needs a number from {found[1]} to {found[2]}, not '{value}'"
    elif (found := re.search(r"((?:[\d.]+, )+)([\d.]+) or ([\d.]+)", text)) and value not in re.findall(r"[\d.]+", found[0]):
        return f"needs {found[0]}, not '{value}'"
    return None if good else f"needs a {'whole ' * whole}number from 0 on, not '{value}'"


def check(header, command, given, *arguments):
    first, _, rest = usage_of(header).partition("\n")
    options = dict(re.findall(r"(--[\w-]+)(?: ([A-Z]+))?", first))
    texts = {}
    for name, kind, text in re.findall(r"^  (--[\w-]+)(?: ([A-Z]+))?  +(.*(?:\n {8,}.*)*)", rest, re.M):
        options[name], texts[name] = kind, text
    most = len(re.findall(r"\[[A-Z]+\]", first))  # words that are no options
    if {"-h", "--help"} & set(arguments):
        print(f"usage: {command} {' '.join(first.split()[2:])}\n{rest}" + (f"\n({command} gives {given} by itself.)" if given else ""))
        sys.exit(0)
    words = list(arguments)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name in options:
            if options[name]:
                if not equals and not words:
                    refuse(command, f"option {name} needs a value")
                if complaint := wrong(options[name], value if equals else words.pop(0), texts.get(name, "")):
                    refuse(command, f"option {name} {complaint}")
        elif word.startswith("-") or not re.search(r"\[[A-Z]+\]", first):
            close = difflib.get_close_matches(name, options, n=1)
            refuse(command, f"there is no option {word}" + (f"; did you mean {close[0]}?" if close else ""))
        elif (most := most - 1) < 0:
            refuse(command, "one text only: put it in quotes")
    checked()


if __name__ == "__main__":
    check(*sys.argv[1:])
