# SPDX-License-Identifier: BSL-1.0
"""A picture of curves with both axes logarithmic, two panels a row, in the style of bars.py."""
import dataclasses
import html
import math

import bars

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = bars.WIDTH // 2, 290, 56, 14, 36, 58
STYLE = bars.STYLE.replace("</style>", """  path { fill: none } .curve { stroke-width: 2 } .dashed { stroke-dasharray: 5 4 }
  .c0 { stroke: #2463a8 } .c1 { stroke: #c8590a } .c2 { stroke: #1c8a63 }
  circle.c0 { fill: #2463a8 } circle.c1 { fill: #c8590a } .note { font-size: 12px }
  @media (prefers-color-scheme: dark) {
    .c0 { stroke: #5b9bd8 } .c1 { stroke: #ff8c42 } .c2 { stroke: #3fbf8f }
    circle.c0 { fill: #5b9bd8 } circle.c1 { fill: #ff8c42 }
  }
</style>""")


@dataclasses.dataclass
class Curve:
    """points: (across, up), both above 0. A dashed curve shows no points."""
    name: str
    points: list
    dashed: bool = False


@dataclasses.dataclass
class Panel:
    title: str
    across: str
    up: str
    curves: list


def short(value):
    """100000 as 100 k."""
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def ticks_up(least, greatest):
    """Powers of ten, with their doubles and halves if there are few."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(greatest)) + 1)
    for digits in (1,), (1, 2, 5):
        found = [digit * 10.0 ** power for power in powers for digit in digits if least <= digit * 10.0 ** power <= greatest]
        if len(found) >= 3:
            break
    return found


def drawn(panel, left, top):
    sizes = sorted({x for curve in panel.curves for x, _ in curve.points})
    values = [y for curve in panel.curves for _, y in curve.points]
    least, greatest = min(values), max(values)
    right, bottom = left + WIDE - RIGHT, top + HIGH - BOTTOM
    begin = left + LEFT

    def across(x):
        return begin + 8 + math.log(x / sizes[0]) / math.log(sizes[-1] / sizes[0]) * (right - begin - 16)

    def up(y):
        return bottom - 6 - math.log(y / least) / math.log(greatest / least) * (bottom - top - TOP - 12)
    yield f'<text class="title" x="{begin}" y="{top + 20}">{html.escape(panel.title)}</text>'
    names = [f"{curve.name}, {panel.up}" if number == 0 else curve.name for number, curve in enumerate(panel.curves)]
    below, beside = top + TOP + 17 * len(names), begin + 50 + 6.4 * max(map(len, names))  # the legend
    for tick in ticks_up(least, greatest):
        yield f'<path class="grid" d="M{beside if up(tick) < below + 4 else begin:.0f} {up(tick):.1f}H{right}"/>'
        yield f'<text class="note end" x="{begin - 6}" y="{up(tick) + 4:.1f}">{short(tick)}</text>'
    for size in sizes:
        yield f'<text class="note middle" x="{across(size):.1f}" y="{bottom + 18}">{size}</text>'
    yield f'<text class="note end" x="{right}" y="{bottom + 36}">{html.escape(panel.across)}</text>'
    for number, (name, curve) in enumerate(zip(names, panel.curves)):
        points = [(across(x), up(y)) for x, y in curve.points]
        dashed = " dashed" if curve.dashed else ""
        yield f'<path class="curve c{number}{dashed}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'
        for x, y in () if curve.dashed else points:
            yield f'<circle class="c{number}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'
        y = top + TOP + 14 + 17 * number
        yield f'<path class="curve c{number}{dashed}" d="M{begin + 10} {y - 4}h26"/>'
        yield f'<text class="note" x="{begin + 42}" y="{y}">{html.escape(name)}</text>'


def drawing(title, panels):
    shapes = []
    for at, panel in enumerate(panels):
        shapes += drawn(panel, at % 2 * WIDE, at // 2 * HIGH)
    return bars.document(title, (len(panels) + 1) // 2 * HIGH, shapes, STYLE)
