# SPDX-License-Identifier: BSL-1.0
"""Programs by a table: a case that stands for one of each row.

    // table of functions: NAME | GIVEN
    // row: log | lens
    // row: erf | 3
    #if defined CASE_NAME_of_something
    // each of: functions                 or several tables with the same columns, by their names
    auto r = NAME(GIVEN);

is, for every row, the case with the words of the first line replaced by those of the row, in its name, too. ROW is replaced by
a number that no other row of the case has, from 101: with equal errors in several programs compilers tell only of the first, and
the others would have to be compiled by themselves (reject/together.py).
"""
import re

TABLE = re.compile(r"^// table of (\w+): (.*)\n((?:// row:.*\n)*)", re.M)
EACH = re.compile(r"^// each of: (.*)\n", re.M)
CASE = re.compile(r"^#(?:el)?if defined CASE_\w+\n", re.M)


def cells(line):
    return [cell.strip() for cell in re.split(r" \|(?: |$)", line.rstrip())]


def expanded(text):
    """The text of a file with every case written out."""
    tables = {name: [dict(zip(cells(head), cells(row.removeprefix("// row:")), strict=True)) for row in rows.splitlines()]
              for name, head, rows in TABLE.findall(text)}
    starts = [found.start() for found in CASE.finditer(text)]
    if not tables or not starts:
        return text
    end = text.index("\n#endif", starts[-1]) + 1 if "\n#endif" in text[starts[-1]:] else len(text)
    parts = []
    for start, stop in zip(starts, [*starts[1:], end]):
        case = text[start:stop].replace("#if ", "#elif ", 1)
        each = EACH.search(case)
        case = EACH.sub("", case)
        rows = [row for name in each[1].split() for row in tables[name]] if each else []
        for number, row in enumerate(rows, 101):
            row = {**row, "ROW": str(number)}
            parts.append(re.sub("|".join(row), lambda found: row[found[0]], case))
        if not each:
            parts.append(case)
    return text[:starts[0]] + "".join(parts).replace("#elif ", "#if ", 1) + text[end:]
