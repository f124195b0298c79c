"""What the rows of a comparison say: means and worst of classes and networks, slow layers, the planner's choices."""
import math

CLASSES = ("1x1", "1x1 strided", "3x3", "3x3 strided", "larger filters", "first layer", "depthwise", "grouped",
           "dilated", "1-D", "3-D")
PASSES = ("fwd", "bwd_data", "bwd_weights")
COLLECTIONS = ("case", "deepbench", "depthwise", "dilated", "grouped", "random", "tcn")  # no networks
SLOW = 0.5        # a ratio below it is listed
CLOSE = 1.1       # a choice within this factor of the best is a good one
BAD_CHOICE = 1.5  # one beyond this is listed


def mean(ratios):
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def figures(rows):
    """Count, geometric mean, worst and best ratio of rows; None without any."""
    ratios = [row["ratio"] for row in rows]
    if not ratios:
        return None
    return {"layers": len(ratios), "mean": mean(ratios), "worst": min(ratios), "best": max(ratios),
            "slower": sum(ratio < 1 for ratio in ratios) / len(ratios)}


def by(rows, *names):
    """Rows in groups of equal values of these columns."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def networks_of(row):
    """{network: how often it has this layer}"""
    return {name: int(count) for name, _, count in (part.rpartition("*") for part in row["networks"].split(";"))}


def whole_networks(rows, known):
    """Sums over networks whose every layer was measured. `known` is {(network, batch, type, layout, pass): layers}."""
    sums = {}
    for row in rows:
        for name, count in networks_of(row).items():
            if name in COLLECTIONS:
                continue
            key = (name, row["batch"], row["type"], row["layout"], row["pass"])
            one = sums.setdefault(key, {"layers": 0, "ours_ms": 0.0, "cudnn_ms": 0.0})
            one["layers"] += 1
            one["ours_ms"] += count * row["ours_us"] * 1e-3
            one["cudnn_ms"] += count * row["cudnn_us"] * 1e-3
    return [{"network": key[0], "batch": key[1], "type": key[2], "layout": key[3], "pass": key[4], **one,
             "ratio": one["cudnn_ms"] / one["ours_ms"]}
            for key, one in sorted(sums.items()) if one["layers"] == known.get("|".join(map(str, key)))]


def estimates(rows):
    """How the cost model's times stand to those measured, {"algorithm, class": figures of measured / estimated}."""
    found = {}
    for row in rows:
        for word in row["candidates"].split():
            name, _, times = word.rpartition("=")
            measured, estimated = map(float, times.split("~"))
            if measured > 0 and estimated > 0:
                found.setdefault((name, row["class"]), []).append({"ratio": measured / estimated})
    return {", ".join(key): figures(group) for key, group in sorted(found.items())}


def planner(rows):
    """How far the planner's choices are from the best candidates; None when those were not timed."""
    rows = [row for row in rows if row["factor"] is not None]
    if not rows:
        return None
    factors = [row["factor"] for row in rows]
    bad = sorted((row for row in rows if row["factor"] > BAD_CHOICE), key=lambda row: -row["factor"])
    return {"layers": len(rows), "within_10_percent": sum(f <= CLOSE for f in factors) / len(rows),
            "mean": mean(factors), "worst": max(factors), "bad": bad, "estimates": estimates(rows)}


def summary(results):
    """Everything that the reports show, as plain data."""
    everything = list(results.rows.values())
    rows = [row for row in everything if row["ratio"]]
    groups = by(rows, "class", "pass")
    return {
        "settings": results.settings,
        "n_rows": len(everything),
        **{name: sum(row[column] or 0 for row in everything) * 1e-3 for name, column in
           (("seconds", "spent_ms"), ("plan_seconds", "plan_ms"), ("search_seconds", "search_ms"))},
        "all": figures(rows),
        "unseen": figures([row for row in rows if row["tuning"] == "unseen"]),
        "passes": {name: figures([row for row in rows if row["pass"] == name]) for name in PASSES},
        "classes": {kind: {name: figures(groups.get((kind, name), [])) for name in PASSES} for kind in CLASSES
                    if any((kind, name) in groups for name in PASSES)},
        "unseen_classes": {kind: figures([row for row in rows if row["class"] == kind and row["tuning"] == "unseen"])
                           for kind in CLASSES},
        "types": {" ".join(key): figures(group) for key, group in sorted(by(rows, "type", "layout").items())},
        "batches": {str(key[0]): figures(group) for key, group in sorted(by(rows, "batch").items())},
        "algorithms": {" ".join(key): figures(group) for key, group in sorted(by(rows, "algorithm", "pass").items())},
        "networks": whole_networks(rows, results.settings.get("networks", {})),
        "slow": sorted((row for row in rows if row["ratio"] < SLOW), key=lambda row: row["ratio"]),
        "failures": [row for row in everything if row["status"] not in ("ok", "alone")],
        "alone": [row for row in everything if row["status"] == "alone"],
        "planner": planner(everything),
    }


def _cell(figure):
    if not figure:
        return f"{'-':>9} {'-':>6} {0:5d}"
    return f"{figure['mean']:9.3f} {figure['worst']:6.2f} {figure['layers']:5d}"


def _line(row):
    return (f"{row['ratio']:6.3f} {row['ours_us']:10.1f} {row['cudnn_us']:10.1f}  {row['class']:14} "
            f"{row['algorithm']:14} {row['case']}  {row['networks']}")


def _listed(title, lines, most):
    if not lines:
        return []
    more = [f"  … and {len(lines) - most} more"] if len(lines) > most else []
    return ["", title, *("  " + line for line in lines[:most]), *more]


def text(s, most=40):
    """The summary as text for a terminal; long lists are cut to `most` lines."""
    if not s["all"]:
        lines = ["no layer was compared"]
    else:
        head = "".join(f"{name:>22}" for name in (*PASSES, "all"))
        lines = ["PyTorch's (cuDNN's) time / ours: geometric mean, worst, layers; above 1 ours is faster",
                 f"{'':14}{head}"]
        for kind, cells in s["classes"].items():
            whole = [cells[name] for name in PASSES if cells[name]]
            every = {"layers": sum(f["layers"] for f in whole), "worst": min(f["worst"] for f in whole)}
            every["mean"] = math.exp(sum(math.log(f["mean"]) * f["layers"] for f in whole) / every["layers"])
            lines.append(f"{kind:14}" + "".join(_cell(cells[name]) for name in PASSES) + _cell(every))
        lines.append(f"{'all':14}" + "".join(_cell(s["passes"][name]) for name in PASSES) + _cell(s["all"]))
        for title, group in (("unseen", {"unseen": s["unseen"]}), ("", s["types"]), ("batch ", s["batches"])):
            lines += [f"{title + name if title != 'unseen' else name:14}{_cell(f)}" for name, f in group.items() if f]
    lines += _listed("whole networks, ms: ours, PyTorch's, ratio", [
        f"{n['ours_ms']:9.3f} {n['cudnn_ms']:9.3f} {n['ratio']:6.3f}  {n['network']} n{n['batch']} {n['type']} "
        f"{n['layout']} {n['pass']}" for n in s["networks"]], most)
    lines += _listed(f"{len(s['slow'])} layers below {SLOW}: ratio, us of ours, of PyTorch's",
                     [_line(r) for r in s["slow"]], most)
    if s["planner"]:
        p = s["planner"]
        lines += ["", f"planner ({s['settings'].get('effort')}): {p['layers']} layers, {p['within_10_percent']:.1%} "
                      f"within 10 % of the best candidate; geometric mean {p['mean']:.3f}, worst {p['worst']:.2f} "
                      "times its time"]
        lines += _listed(f"{len(p['bad'])} choices beyond {BAD_CHOICE} times the best: factor, chosen, best", [
            f"{r['factor']:6.2f} {r['algorithm']:14} {r['best_algorithm']:14} {r['case']}  ({r['candidates']})"
            for r in p["bad"]], most)
        lines += _listed("time / estimate: geometric mean, least, most, layers", [
            f"{f['mean']:8.2f} {f['worst']:8.2f} {f['best']:8.2f} {f['layers']:5d}  {name}" for name, f in
            p["estimates"].items()], 10**6)
    lines += _listed(f"{len(s['alone'])} layers that PyTorch does not do",
                     [f"{r['case']}: {r['note']}" for r in s["alone"]], 5)
    lines += _listed(f"FAILURES: {len(s['failures'])}", [
        f"{r['status']} {r['case']} {r['algorithm'] or ''}: {r['note']}" for r in s["failures"]], most)
    lines += ["", f"{s['n_rows']} layers in {s['seconds']:.0f} s: {s['plan_seconds']:.1f} s for our plans, "
                  f"{s['search_seconds']:.1f} s for PyTorch's first calls"]
    return "\n".join(lines) + "\n"
