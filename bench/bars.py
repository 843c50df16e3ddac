# SPDX-License-Identifier: BSL-1.0
"""A picture of bars: an SVG that needs nothing but a viewer, in light and dark."""
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


def bars(title, note, rows, line=None):
    """rows: (label, length, what is written behind the bar, is it ours?), lengths from 0; line: a length to mark.

    Lengths are drawn in proportion, so that twice as long is twice as much."""
    longest = max([length for _, length, _, _ in rows] + [line or 0]) or 1
    scale = (WIDTH - LABELS - 190) / longest
    height = TOP + ROW * len(rows) + 12
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           f'role="img" aria-label="{html.escape(title)}">')
    yield STYLE
    shown = title if len(title) <= 110 else title[:109] + "\N{HORIZONTAL ELLIPSIS}"
    yield f'<text class="title" x="12" y="24">{html.escape(shown)}</text>'
    yield f'<text class="note" x="12" y="44">{html.escape(note)}</text>'
    for at, (label, length, written, ours) in enumerate(rows):
        y = TOP + ROW * at
        long = max(length * scale, 1)
        yield f'<text class="label" x="{LABELS - 8}" y="{y + 14}">{html.escape(label)}</text>'
        kind = "ours" if ours else "bar"
        yield f'<rect class="{kind}" x="{LABELS}" y="{y + 2}" width="{long:.1f}" height="{ROW - 7}"/>'
        yield f'<text x="{LABELS + long + 6:.1f}" y="{y + 14}">{html.escape(written)}</text>'
    if line is not None:
        x = LABELS + line * scale
        yield f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 8}"/>'
    yield "</svg>"


def write(path, *arguments, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(bars(*arguments, **options)) + "\n")
