# SPDX-License-Identifier: BSL-1.0
"""A picture of bars: an SVG that needs nothing but a viewer, in light and dark."""
import dataclasses
import html

WIDTH, LABELS, ROW, TOP = 860, 250, 24, 64
STYLE = """<style>
  text { font: 13px system-ui, sans-serif; fill: #222 }
  .title { font-size: 14px; font-weight: 600 } .note { fill: #666 } .label { text-anchor: end }
  .bar { fill: #9aa7b5 } .ours { fill: #2463a8 } .line { stroke: #666; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .note { fill: #999 } .bar { fill: #66737f } .ours { fill: #5b9bd8 }
  }
</style>"""


@dataclasses.dataclass
class Panel:
    """rows: (label, length, what is written behind the bar, is it ours?), lengths from 0; line: a length to mark.

    Lengths are drawn in proportion, so that twice as long is twice as much."""
    title: str
    note: str
    rows: list
    line: float | None = None

    @property
    def height(self):
        return TOP + ROW * len(self.rows) + 12

    def drawn(self, top):
        longest = max([length for _, length, _, _ in self.rows] + [self.line or 0]) or 1
        scale = (WIDTH - LABELS - 190) / longest
        shown = self.title if len(self.title) <= 110 else self.title[:109] + "\N{HORIZONTAL ELLIPSIS}"
        yield f'<text class="title" x="12" y="{top + 24}">{html.escape(shown)}</text>'
        yield f'<text class="note" x="12" y="{top + 44}">{html.escape(self.note)}</text>'
        for at, (label, length, written, ours) in enumerate(self.rows):
            y = top + TOP + ROW * at
            long = max(length * scale, 1)
            yield f'<text class="label" x="{LABELS - 8}" y="{y + 14}">{html.escape(label)}</text>'
            kind = "ours" if ours else "bar"
            yield f'<rect class="{kind}" x="{LABELS}" y="{y + 2}" width="{long:.1f}" height="{ROW - 7}"/>'
            yield f'<text x="{LABELS + long + 6:.1f}" y="{y + 14}">{html.escape(written)}</text>'
        if self.line is not None:
            x = LABELS + self.line * scale
            yield f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{top + TOP - 6}" y2="{top + self.height - 8}"/>'


def lines(panels):
    height = sum(panel.height for panel in panels)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           f'role="img" aria-label="{html.escape(panels[0].title)}">')
    yield STYLE
    top = 0
    for panel in panels:
        yield from panel.drawn(top)
        top += panel.height
    yield "</svg>"


def drawing(*panels):
    """One below the other."""
    return "\n".join(lines(panels)) + "\n"


def write(path, *panels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing(*panels))
