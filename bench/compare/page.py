"""The report as one HTML page that needs no other file: tables, plots, and all layers to be sorted and searched."""
import html
import math

from compare import plots, tables

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1120px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em } svg { width: 100%; height: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
td, th { padding: 2px 8px; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap }
td.t, th.t { text-align: left } .wide { overflow-x: auto; max-height: 70vh } small { color: #666 }
#all th { cursor: pointer; position: sticky; top: 0; background: #fff } .bad { color: #a00 } input { width: 24em }
"""
SCRIPT = """
const body = document.querySelector('#all tbody'), rows = [...body.rows];
document.querySelectorAll('#all th').forEach((head, i) => head.onclick = () => {
  const up = head.dataset.up = head.dataset.up === '1' ? '' : '1';
  const key = row => {
    const text = row.cells[i].textContent;
    return head.className === 't' ? text : text === '' ? -1 : parseFloat(text);
  };
  rows.sort((a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * (up ? 1 : -1));
  body.append(...rows);
});
document.querySelector('#find').oninput = event => {
  const words = event.target.value.split(' ');
  for (const row of rows) row.hidden = !words.every(word => row.textContent.includes(word));
};
"""


def _shade(ratio):
    """Red below 1, green above it; white at 1, full at a factor of 2.5."""
    strength = min(1.0, abs(math.log(ratio)) / 0.92)
    hue = 130 if ratio >= 1 else 10
    return f"background: hsl({hue} 70% {100 - 32 * strength:.0f}%)"


def _cell(figure, key="mean"):
    if not figure:
        return "<td></td>"
    hint = f"{figure['layers']} layers, {figure['worst']:.3f} to {figure['best']:.3f}, {figure['slower']:.0%} slower"
    return f'<td style="{_shade(figure[key])}" title="{hint}">{figure[key]:.2f}</td>'


def _table(heads, rows, attributes=""):
    """heads: (title, whether it is text); rows: lists of cells, each a text or a whole td."""
    top = "".join(f'<th class="{"t" if text else ""}">{html.escape(title)}</th>' for title, text in heads)
    lines = []
    for row in rows:
        cells = (cell if cell.startswith("<td") else f'<td class="{"t" if text else ""}">{html.escape(cell)}</td>'
                 for cell, (_, text) in zip(row, heads))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (f'<div class="wide"><table{attributes}><thead><tr>{top}</tr></thead>'
            f'<tbody>{"".join(lines)}</tbody></table></div>')


def _classes(s):
    heads = [("class", True)]
    for name in tables.PASSES:
        heads += [(name, False), ("worst", False), ("layers", False)]
    heads += [("unseen", False)]
    lines = []
    for kind, cells in [*s["classes"].items(), ("all", s["passes"])]:
        line = [kind]
        for name in tables.PASSES:
            figure = cells[name]
            line += [_cell(figure), _cell(figure, "worst"), str(figure["layers"]) if figure else ""]
        lines.append([*line, _cell(s["unseen"] if kind == "all" else s["unseen_classes"].get(kind))])
    return _table(heads, lines)


def _groups(title, groups):
    heads = [(title, True), ("mean", False), ("worst", False), ("best", False), ("layers", False)]
    return _table(heads, [[name, _cell(f), f"{f['worst']:.3f}", f"{f['best']:.3f}", str(f["layers"])]
                          for name, f in groups.items() if f])


def _number(value, form):
    return format(value, form) if value is not None else ""


def _layers(rows):
    heads = [("ratio", False), ("ours us", False), ("PyTorch us", False), ("class", True), ("algorithm", True),
             ("case", True), ("networks", True), ("GFLOP", False), ("MB", False), ("workspace MB", False),
             ("to best", False), ("candidates us~estimated", True), ("status", True)]
    lines = []
    for row in sorted(rows, key=lambda row: row["ratio"] or 0):
        ratio = f'<td style="{_shade(row["ratio"])}">{row["ratio"]:.3f}</td>' if row["ratio"] else ""
        lines.append([ratio, _number(row["ours_us"], ".1f"), _number(row["cudnn_us"], ".1f"), row["class"] or "",
                      row["algorithm"] or "", row["case"], row["networks"] or "", _number(row["gflop"], ".3f"),
                      _number(row["gbyte"] and row["gbyte"] * 1e3, ".2f"),
                      _number(row["workspace"] and row["workspace"] * 1e-6, ".1f"), _number(row["factor"], ".2f"),
                      row["candidates"] or "", row["status"] + (f": {row['note']}" if row["note"] else "")])
    return _table(heads, lines, ' id="all"')


def _plots(rows):
    parts = []
    for name in tables.PASSES:
        chosen = [row for row in rows if row["pass"] == name]
        if chosen:
            parts += [f"<h2>Ratio of each layer: {name}</h2>", plots.ratios(chosen, tables.CLASSES)]
    for (type_,), group in sorted(tables.by(rows, "type").items()):
        parts += [f"<h2>Rates: {type_}</h2>", plots.roofline(group)]
    return parts


def page(s, rows):
    """The whole text of the page."""
    good = [row for row in rows if row["ratio"]]
    settings = ", ".join(f"{name} {value}" for name, value in s["settings"].items() if name != "networks" and value)
    parts = ["<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>RMCP and cuDNN</title>",
             f"<style>{STYLE}</style></head><body><h1>RMCP's convolutions and PyTorch's (cuDNN)</h1>",
             f"<p>{html.escape(settings)}; {s['n_rows']} layers in {s['seconds']:.0f} s.</p>",
             "<p>PyTorch's time divided by ours: above 1 (green) ours is faster. Means are geometric.</p>"]
    if s["failures"]:
        lines = [[row["status"], row["case"], row["algorithm"] or "", row["note"] or ""] for row in s["failures"]]
        parts += ['<h2 class="bad">Failures</h2>',
                  _table([(name, True) for name in ("status", "case", "algorithm", "note")], lines)]
    if good:
        parts += ["<h2>Classes</h2>", _classes(s), *_plots(good),
                  "<h2>Types and layouts</h2>", _groups("type, layout", s["types"]),
                  "<h2>Batches</h2>", _groups("batch", s["batches"]), "<h2>Our algorithms</h2>",
                  _groups("algorithm, pass", s["algorithms"])]
    if s["networks"]:
        heads = [("network", True), ("ours ms", False), ("PyTorch ms", False), ("ratio", False)]
        parts += ["<h2>Whole networks</h2>", _table(heads, [
            [f"{n['network']} n{n['batch']} {n['type']} {n['layout']} {n['pass']}", f"{n['ours_ms']:.3f}",
             f"{n['cudnn_ms']:.3f}", f'<td style="{_shade(n["ratio"])}">{n["ratio"]:.3f}</td>']
            for n in s["networks"]])]
    if s["planner"]:
        p = s["planner"]
        parts += ["<h2>The planner's choices</h2>",
                  f"<p>{p['layers']} layers: {p['within_10_percent']:.1%} within 10 % of the best candidate, geometric "
                  f"mean {p['mean']:.3f}, worst {p['worst']:.2f} times the best's time.</p>",
                  plots.choices([row for row in rows if row["factor"] is not None]),
                  "<h2>Measured time / estimated time</h2>", _groups("algorithm, class", p["estimates"])]
    parts += ["<h2>All layers</h2><p><input id=find placeholder='words that must be there'> "
              "<small>click on a column to sort</small></p>", _layers(rows), f"<script>{SCRIPT}</script></body></html>"]
    return "\n".join(parts) + "\n"
