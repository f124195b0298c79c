#!/usr/bin/python3
"""generated.py: generated programs compiled for gfx1030, repaired, executed on a simulated gfx1010 with its bugs acted
out.

usage: generated.py RUNNER RMCP [--programs N] [--first SEED] [--batch N] [--log FILE] [--jobs N] [--originals EVERY]

Each batch of programs (tests/sim/generate.py) is compiled by clang for the host and for gfx1030, at a level of
optimisation (-O0 to -O3, -Os) and a wave size that take turns, and repaired: no kernel may be refused, the audit may
find nothing, results must be the host's, bit by bit, and nothing may be reported. Every EVERY-th batch is also
executed as it was: on a simulated gfx1030, where it must be right, and on the gfx1010, where something must go wrong,
or acting out shows nothing. With --log batches that the file has are not run again: start it again to go on.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
import check_programs  # noqa: E402
import generate  # noqa: E402

# -O0 makes eight times as much code: it comes once in nine.
CONFIGS = (list(itertools.product("1s32", ("32", "64")))
           + [("0", "32"), *itertools.product("1s32", ("64", "32")), ("0", "64")])


def call(command, wanted=0):
    """Runs a command; returns its output, and the trouble when it does not end as wanted."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == wanted:
        return done.stdout, None
    text = (done.stdout + done.stderr)[-2000:]
    return done.stdout, f"{' '.join(command)}: exit {done.returncode}\n{text}\n"


def prepare(arguments, base, first, level, wave):
    """Compiles a batch for both and repairs it; returns the repair's report, or the trouble."""
    include = ["-I", check_programs.HERE]
    with open(base + ".c", "w") as file:
        file.write(generate.write_programs(range(first, first + arguments.batch)))
    options = check_programs.gpu_options(first, level, wave, "gfx1030")
    for command in (check_programs.HOST + include + [base + ".c", "-o", base + ".so", "-lm"],
                    check_programs.GPU + include + options + [base + ".c", "-o", base + ".co"]):
        trouble = call(command)[1]
        if trouble:
            return None, trouble
    text, trouble = call([arguments.rmcp, "repair", "--json", base + ".co", "--out", base + ".fixed.co"])
    report = None if trouble else json.loads(text)
    if report and (report["kernels"], report["kernels_refused"]) != (arguments.batch, 0):
        trouble = f"{report['kernels']} kernels, {report['kernels_refused']} refused\n"
    return report, trouble or call([arguments.rmcp, "audit", base + ".fixed.co"])[1]


def run_batch(arguments, folder, number):
    """One batch; returns its line of the log."""
    first = arguments.first + number * arguments.batch
    level, wave = CONFIGS[number % len(CONFIGS)]
    base = os.path.join(folder, f"b{first}")
    line = {"first": first, "programs": arguments.batch, "level": level, "wave": wave, "trouble": ""}
    report, trouble = prepare(arguments, base, first, level, wave)
    if not trouble:
        trouble = call([arguments.runner, "--act-out", base + ".fixed.co", base + ".so", "gfx1010"])[1]
        line["patterns"] = sum(row["found"] for row in report["patterns"].values())
        line["replaced"] = report["instructions_replaced"]
    if not trouble and number % arguments.originals == 0:
        trouble = call([arguments.runner, base + ".co", base + ".so", "gfx1030"])[1]
        text, right = call([arguments.runner, "--act-out", base + ".co", base + ".so", "gfx1010"], wanted=1)
        trouble = trouble or right
        line["originals"] = arguments.batch
        line["originals_wrong"] = sum(row.startswith("FAIL ") for row in text.splitlines())
    line["trouble"] = trouble or ""
    for name in os.listdir(folder):
        if name.startswith(f"b{first}."):
            os.remove(os.path.join(folder, name))
    return line


def read_log(path):
    if not path or not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(row) for row in file if row.endswith("\n")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runner")
    parser.add_argument("rmcp")
    parser.add_argument("--programs", type=int, default=10000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--originals", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log")
    arguments = parser.parse_args()
    if not shutil.which(check_programs.CLANG):
        print(f"{check_programs.CLANG} is not installed")
        return 77
    lines = read_log(arguments.log)
    done = {(line["first"], line["programs"]) for line in lines if not line["trouble"]}
    lines = [line for line in lines if not line["trouble"]]
    wanted = [i for i in range((arguments.programs + arguments.batch - 1) // arguments.batch)
              if (arguments.first + i * arguments.batch, arguments.batch) not in done]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for job in concurrent.futures.as_completed([pool.submit(run_batch, arguments, folder, i) for i in wanted]):
            line = job.result()
            lines.append(line)
            if line["trouble"]:
                print(f"FAIL programs {line['first']} …, -O{line['level']}, wave{line['wave']}: {line['trouble']}",
                      flush=True)
            if arguments.log:
                with open(arguments.log, "a") as file:
                    file.write(json.dumps(line) + "\n")
    failed = [line for line in lines if line["trouble"]]
    print(f"{sum(line['programs'] for line in lines)} programs, "
          f"{sum(line.get('patterns', 0) for line in lines)} patterns cured, "
          f"{sum(line.get('replaced', 0) for line in lines)} instructions replaced, {len(failed)} batches failed; "
          f"of {sum(line.get('originals', 0) for line in lines)} programs as they were "
          f"{sum(line.get('originals_wrong', 0) for line in lines)} go wrong")
    return 1 if failed or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
