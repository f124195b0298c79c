"""Plots as SVG text, drawn here so that a page needs nothing from elsewhere."""
import html
import math

OURS, THEIRS, GRID, INK = "#1f6fb4", "#d9731a", "#dddddd", "#333333"
WIDTH = 1080


class Axis:
    """A logarithmic axis from one pixel to another."""

    def __init__(self, values, start, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max(0.05, 0.04 * (high - low))
        self.low, self.high, self.start, self.end = low - margin, high + margin, start, end

    def __call__(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        """Powers of ten, with 2 and 5 where there is room for them."""
        steps = (1, 2, 5) if self.high - self.low < 3 else (1,)
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for step in steps:
                value = step * 10.0 ** power
                if self.low <= math.log10(value) <= self.high:
                    yield value


def _svg(height, parts, title):
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">'
            + "".join(parts) + "</svg>")


def _text(x, y, text, anchor="middle", turn=None, color=INK, size=12):
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn is not None else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{color}"{turned}>'
            f"{html.escape(text)}</text>")


def _line(x1, y1, x2, y2, color=GRID, width=1, dash=""):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"'
            f"{dashed}/>")


def _dot(x, y, color, label, radius=2.6):
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}" fill-opacity="0.65">'
            f"<title>{html.escape(label)}</title></circle>")


def ratios(rows, classes):
    """One dot a layer: classes beside each other, in each the ratios in order; the bar is the geometric mean."""
    height, left, right, top, bottom = 340, 60, WIDTH - 10, 15, 340 - 75
    kinds = [kind for kind in classes if any(row["class"] == kind for row in rows)]
    axis = Axis([row["ratio"] for row in rows] + [0.5, 2], bottom, top)
    parts = []
    for tick in axis.ticks():
        parts += [_line(left, axis(tick), right, axis(tick)), _text(left - 6, axis(tick) + 4, f"{tick:g}", "end")]
    parts.append(_line(left, axis(1), right, axis(1), INK, 1.2))
    # Wider for more layers, but every class can be read.
    counts = [sum(row["class"] == kind for row in rows) for kind in kinds]
    shares = [0.5 / len(kinds) + 0.5 * count / len(rows) for count in counts]
    x = left
    for kind, share in zip(kinds, shares):
        width = share * (right - left)
        group = sorted((row for row in rows if row["class"] == kind), key=lambda row: row["ratio"])
        middle = math.exp(sum(math.log(row["ratio"]) for row in group) / len(group))
        for i, row in enumerate(group):
            at = x + 4 + (i + 0.5) / len(group) * (width - 8)
            parts.append(_dot(at, axis(row["ratio"]), OURS if row["ratio"] >= 1 else THEIRS,
                              f"{row['ratio']:.3f}  {row['case']}  {row['algorithm']}  "
                              f"{row['ours_us']:.1f} us, PyTorch {row['cudnn_us']:.1f} us"))
        parts.append(_line(x + 2, axis(middle), x + width - 2, axis(middle), INK, 2.5))
        parts.append(_line(x + width, top, x + width, bottom))
        parts.append(_text(x + width / 2, bottom + 16, kind, "end", -28))
        parts.append(_text(x + width / 2, top + 8, f"{middle:.2f}", color=INK, size=11))
        x += width
    parts.append(_text(16, (top + bottom) / 2, "PyTorch's time / ours", turn=-90))
    return _svg(height, parts, "ratios of layers by class")


def roofline(rows):
    """Rates over intensity, ours and PyTorch's; the roof is the highest rate and bandwidth that were seen."""
    height, left, right, top, bottom = 400, 70, WIDTH - 10, 15, 350
    points = []
    for row in rows:
        for name, color in (("cudnn_us", THEIRS), ("ours_us", OURS)):
            points.append((row["gflop"] / row["gbyte"], row["gflop"] / row[name] * 1e6, color, name, row))
    across, up = Axis([p[0] for p in points], left, right), Axis([p[1] for p in points], bottom, top)
    parts = []
    for tick in across.ticks():
        parts += [_line(across(tick), top, across(tick), bottom), _text(across(tick), bottom + 18, f"{tick:g}")]
    for tick in up.ticks():
        parts += [_line(left, up(tick), right, up(tick)), _text(left - 6, up(tick) + 4, f"{tick:g}", "end")]
    for x, y, color, name, row in points:
        who = "ours" if name == "ours_us" else "PyTorch"
        parts.append(_dot(across(x), up(y), color, f"{who}: {y:.0f} GFLOP/s, "
                          f"{row['gbyte'] / row[name] * 1e6:.0f} GB/s  {row['case']}"))
    rate = max(p[1] for p in points)
    bandwidth = max(row["gbyte"] / row[name] * 1e6 for row in rows for name in ("ours_us", "cudnn_us"))
    edge, first, last = rate / bandwidth, 10 ** across.low, 10 ** across.high
    steep = max(first, 10 ** up.low / bandwidth)
    if edge > steep:
        end = min(edge, last)
        parts.append(_line(across(steep), up(bandwidth * steep), across(end), up(bandwidth * end), INK, 1.5, "5 4"))
    if edge < last:
        parts.append(_line(across(max(edge, first)), up(rate), right, up(rate), INK, 1.5, "5 4"))
    parts += [_text((left + right) / 2, height - 10, "FLOP / byte (each tensor once); dashed: the highest seen, "
                    f"{rate:.0f} GFLOP/s and {bandwidth:.0f} GB/s"),
              _text(16, (top + bottom) / 2, "GFLOP/s", turn=-90),
              _dot(left + 20, top + 14, OURS, "", 5), _text(left + 30, top + 18, "ours", "start"),
              _dot(left + 80, top + 14, THEIRS, "", 5), _text(left + 90, top + 18, "PyTorch (cuDNN)", "start")]
    return _svg(height, parts, "rates over intensity")


def choices(rows):
    """Factors of the planner's choices over the best candidate, in order."""
    height, left, right, top, bottom = 240, 60, WIDTH - 10, 15, 205
    rows = sorted(rows, key=lambda row: row["factor"])
    axis = Axis([row["factor"] for row in rows] + [1, 2], bottom, top)
    parts = []
    for tick in axis.ticks():
        parts += [_line(left, axis(tick), right, axis(tick)), _text(left - 6, axis(tick) + 4, f"{tick:g}", "end")]
    for i, row in enumerate(rows):
        parts.append(_dot(left + (i + 0.5) / len(rows) * (right - left), axis(row["factor"]),
                          THEIRS if row["factor"] > 1.1 else OURS,
                          f"{row['factor']:.2f}  {row['case']}  {row['algorithm']}, best {row['best_algorithm']}"))
    parts += [_text((left + right) / 2, height - 10, f"{len(rows)} layers in order"),
              _text(16, (top + bottom) / 2, "time / best candidate's", turn=-90)]
    return _svg(height, parts, "the planner's choices")
