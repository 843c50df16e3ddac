# SPDX-License-Identifier: BSL-1.0
"""A picture of bars: an SVG that needs nothing but a viewer, in light and dark. curves.py draws curves in the same style."""
import dataclasses
import html
import math

WIDTH, LABELS, ROW, TOP, BEHIND = 860, 250, 24, 64, 190
TICKS = (.1, .2, .3, .5, .7, 1, 1.2, 1.5, 2, 3, 4, 5, 7, 10, 20, 30, 50, 70, 100)  # of an axis of ratios
STYLE = """<style>
  text { font: 13px system-ui, sans-serif; fill: #222 }
  .title { font-size: 14px; font-weight: 600 } .note { fill: #666 } .end { text-anchor: end } .middle { text-anchor: middle }
  .bar { fill: #9aa7b5 } .ours { fill: #2463a8 } .line { stroke: #666; stroke-dasharray: 4 3 }
  .grid { stroke: #999; stroke-opacity: .4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .note { fill: #999 } .bar { fill: #66737f } .ours { fill: #5b9bd8 }
  }
</style>"""


@dataclasses.dataclass
class Panel:
    """rows: (label, value, the text behind the bar, is it ours?).

    A bar starts at `start`, which a dashed line marks, or at 0, and ends at its value. Its length is the difference, so that
    twice as long is twice as much, or with `ratios` the logarithm of the ratio: half and twice are equally long."""
    title: str
    note: str
    rows: list
    start: float | None = None
    ratios: bool = False

    @property
    def height(self):
        return TOP + ROW * len(self.rows) + 12 + 20 * self.ratios

    def on_axis(self, value):
        return math.log(value) if self.ratios else value

    def drawn(self, top):
        start = self.on_axis(self.start if self.start is not None else 1 if self.ratios else 0)
        ends = [self.on_axis(value) for _, value, _, _ in self.rows]
        least, greatest = min([start, *ends]), max([start, *ends])
        labels = max([LABELS] + [round(6.7 * len(label)) + 16 for label, _, _, _ in self.rows])
        scale = (WIDTH - labels - BEHIND) / (greatest - least or 1)

        def across(at):
            return labels + (at - least) * scale
        shown = self.title if len(self.title) <= 110 else self.title[:109] + "\N{HORIZONTAL ELLIPSIS}"
        yield f'<text class="title" x="12" y="{top + 24}">{html.escape(shown)}</text>'
        yield f'<text class="note" x="12" y="{top + 44}">{html.escape(self.note)}</text>'
        bottom = top + TOP + ROW * len(self.rows)
        for tick in TICKS if self.ratios else ():
            if least <= math.log(tick) <= greatest:
                x = across(math.log(tick))
                yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top + TOP - 6}" y2="{bottom + 4}"/>'
                yield f'<text class="note middle" x="{x:.1f}" y="{bottom + 20}">{tick:g}</text>'
        for at, ((label, _, written, ours), end) in enumerate(zip(self.rows, ends)):
            y = top + TOP + ROW * at
            left, long = across(min(start, end)), max(abs(end - start) * scale, 1)
            yield f'<text class="end" x="{labels - 8}" y="{y + 14}">{html.escape(label)}</text>'
            kind = "ours" if ours else "bar"
            yield f'<rect class="{kind}" x="{left:.1f}" y="{y + 2}" width="{long:.1f}" height="{ROW - 7}"/>'
            yield f'<text x="{left + long + 6:.1f}" y="{y + 14}">{html.escape(written)}</text>'
        if self.start is not None:
            yield f'<line class="line" x1="{across(start):.1f}" x2="{across(start):.1f}" y1="{top + TOP - 6}" y2="{bottom + 4}"/>'


def document(title, height, shapes, style=STYLE):
    """An SVG file of these lines."""
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
                      f'role="img" aria-label="{html.escape(title)}">', style, *shapes, "</svg>", ""])


def drawing(*panels):
    """One below the other."""
    shapes, top = [], 0
    for panel in panels:
        shapes += panel.drawn(top)
        top += panel.height
    return document(panels[0].title, top, shapes)


def write(path, *panels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing(*panels))
