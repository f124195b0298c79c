"""Runs a comparison: makes the layers' two calls, compares their results, times them, keeps the rows."""
import hashlib
import json
import os
import pathlib
import time

import torch

from compare import clocks, layers, sides
from rmcp import Device, Error
from rmcp import _library as c

HOPELESS = 30  # a candidate that is estimated so many times slower than the cheapest is not timed


def settings_of(options, device, clock):
    """What results of one folder must have in common."""
    info = device.describe()
    library = pathlib.Path(os.environ.get("RMCP_LIBRARY", "librmcp.so"))
    digest = hashlib.sha256(library.read_bytes()).hexdigest()[:16] if library.is_file() else "unknown"
    return {"device": info.name.decode(), "driver": info.driver.decode(), "pytorch": torch.__version__,
            "cudnn": None if options.device == "cpu" else torch.backends.cudnn.version(),
            "library": f"{c.library().rmcp_version().decode()} {digest}", "effort": options.effort,
            "cudnn_limit": options.cudnn_limit, "method": clock.method}


def time_candidates(contest, device, clock, chosen, expected):
    """{algorithm: (seconds, estimated)} of all that apply, the chosen one too, and what went wrong with them."""
    found, wrong = {chosen[0]: (chosen[1], 0.0)}, []
    estimates = sides.candidates(device, contest.problem, contest.pass_)
    for name, estimate in estimates:
        if name == chosen[0]:
            found[name] = (chosen[1], estimate)
            continue
        if estimate > HOPELESS * estimates[0][1]:
            continue
        try:
            plan, call = contest.plan(device, c.ESTIMATE, name)
        except Error as error:
            wrong.append(f"{name}: {error}")
            continue
        with plan:
            if expected is not None:
                difference = contest.difference(call, expected)
                if not contest.close_enough(difference):
                    wrong.append(f"{name}: differs by {difference:.2g} of the largest value")
                    continue
            else:
                call()
            once = clock.once(call)
            found[name] = (once if once > 4 * chosen[1] + 1e-4 else clock.seconds({name: call})[name], estimate)
    return found, wrong


def blank(layer):
    """A row with what is known before anything ran."""
    p = layer.problem
    return {"case": layer.case, "class": layer.kind, "pass": c.PASS_NAMES[layer.pass_], "type": c.TYPE_NAMES[p.type],
            "layout": c.LAYOUT_NAMES[p.layout], "batch": p.n, "tuning": layer.tuning, "status": "ok", "note": "",
            "networks": ";".join(f"{name}*{count}" for name, count in sorted(layer.networks.items()))}


def compare(layer, row, store, device, clock, options):
    """Fills the row of one layer; raises rmcp's Error when ours fails, RuntimeError when the device does."""
    contest = sides.Contest(store, layer)
    row.update(gflop=contest.flops * 1e-9, gbyte=contest.n_bytes * 1e-9)
    start = time.monotonic()
    plan, ours = contest.plan(device, int(options.effort == "measure"))
    row["plan_ms"] = (time.monotonic() - start) * 1e3
    with plan:
        row.update(algorithm=plan.algorithm, workspace=plan.workspace_bytes)
        calls, expected = {"ours": ours}, None
        start = time.monotonic()
        try:
            calls["cudnn"] = contest.theirs()
            expected = calls["cudnn"]()
        except RuntimeError as error:
            calls.pop("cudnn", None)
            row.update(status="alone", note=str(error).splitlines()[0])
            ours()
        row["search_ms"] = (time.monotonic() - start) * 1e3
        if expected is not None:
            difference = contest.difference(ours, expected)
            if not contest.close_enough(difference):
                # Somebody is wrong: f64 says who.
                exact = contest.theirs(torch.float64)()
                theirs, expected = sides.apart(expected, exact), exact
                difference = contest.difference(ours, exact)
                if not contest.close_enough(difference):
                    row.update(status="mismatch", note=f"differs by {difference:.2g} of the largest value")
                    return
                row["note"] = (f"PyTorch's own differs from f64 by {theirs:.2g} of the largest value, "
                               f"ours by {difference:.2g}")
            row["difference"] = difference
        uncaptured = clock.uncaptured
        best = clock.seconds(calls)
        if clock.uncaptured > uncaptured:
            row["note"] += " timed without a graph"
    row["ours_us"] = best["ours"] * 1e6
    if "cudnn" in best:
        row.update(cudnn_us=best["cudnn"] * 1e6, ratio=best["cudnn"] / best["ours"])
    if options.candidates:
        chosen = (row["algorithm"], best["ours"])
        found, wrong = time_candidates(contest, device, clock, chosen, expected)
        least = min(found, key=lambda name: found[name][0])
        row.update(best_algorithm=least, best_us=found[least][0] * 1e6, factor=chosen[1] / found[least][0],
                   candidates=" ".join(f"{name}={seconds * 1e6:.2f}~{estimate * 1e6:.2f}"
                                       for name, (seconds, estimate) in sorted(found.items())))
        if wrong:
            row.update(status="candidate", note="; ".join(wrong))


def measure(results, options):
    """Adds rows for all layers that are wanted and not there yet."""
    on_gpu = options.device != "cpu"
    if on_gpu:
        torch.cuda.set_device(options.device if ":" in options.device else "cuda:0")
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.benchmark_limit = options.cudnn_limit
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
    turn = (options.turn or (0.3 if on_gpu else 2)) * 1e-3
    clock = (clocks.GraphClock if on_gpu else clocks.WallClock)(turn)
    wanted, sizes = layers.choose(options)
    if not wanted:
        raise LookupError("no layer is left by these options")
    with Device(options.device) as device, torch.no_grad():
        settings = settings_of(options, device, clock)
        sizes = {**results.settings.pop("networks", {}), **sizes}
        results.begin(settings)
        results.settings = {**settings, "networks": sizes}
        results.write("settings.json", json.dumps(results.settings, indent=1) + "\n")
        left = [layer for layer in wanted if layer.case not in results.rows
                or options.candidates and results.rows[layer.case]["status"] == "ok"
                and results.rows[layer.case]["factor"] is None]
        print(f"{settings['device']}, {settings['driver']}; PyTorch {settings['pytorch']}, cuDNN {settings['cudnn']}; "
              f"{settings['method']}; {len(wanted)} layers, {len(wanted) - len(left)} of them known", flush=True)
        store = sides.Store("cuda" if on_gpu else "cpu")
        began = said = options.began
        for i, layer in enumerate(left):
            start = time.monotonic()
            if start - began > options.seconds:
                print(f"stopped after {start - began:.0f} s with {len(left) - i} layers left")
                break
            row, lost = blank(layer), False
            try:
                compare(layer, row, store, device, clock, options)
                clock.tidy()
            except (Error, RuntimeError) as error:
                row.update(status="failed", note=str(error).splitlines()[0])
                lost = on_gpu and not alive()
            now = time.monotonic()
            row["spent_ms"] = (now - start) * 1e3
            results.add(row)
            if not options.quiet or now - said > 10 or row["status"] not in ("ok", "alone"):
                said = now
                print(progress(i + 1, len(left), now - began, results.rows[layer.case]), flush=True)
            if lost:
                print("the device is lost: nothing more can be measured in this process")
                break


def alive():
    try:
        torch.cuda.synchronize()
        return True
    except RuntimeError:
        return False


def progress(i, n, seconds, row):
    ratio = f"{row['ratio']:7.3f}" if row["ratio"] else f"{row['status']:>7.7}"
    times = "".join(f"{row[name]:10.1f}" if row[name] else f"{'-':>10}" for name in ("ours_us", "cudnn_us"))
    factor = f" x{row['factor']:.2f} {row['best_algorithm']}" if row["factor"] and row["factor"] > 1.1 else ""
    return (f"{i:5d}/{n} {seconds:4.0f}s {ratio}{times}  {row['algorithm'] or '-':14} {row['case']}{factor}"
            f"{'  ' + row['note'] if row['note'] else ''}")
