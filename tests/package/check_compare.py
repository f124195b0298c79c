#!/usr/bin/env python3
"""check_compare.py: bench/compare_cudnn on the CPU device: rows, tables, files, going on, options that make no sense.

usage: check_compare.py SOURCE-DIR    (RMCP_LIBRARY names librmcp.so; exit status 77 without PyTorch)
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(sys.argv.pop(1))
SCRIPT = ROOT / "bench" / "compare_cudnn.py"
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "python")]
CASES = ("n2c8h9w9k8r3s3p1", "n1c8h9w9k16r1s1:nhwc", "n2c8h8w8k8r1s1u2", "n1c3h12w12k8r7s7p3u2",
         "n2c8h10w10k8r3s3p1g8", "n1c8h9w9k8r3s3p1g2:nhwc", "n1c5h12w12k4r3s3p2d2", "n2c4w40k8s5p2",
         "n1c4t6x3h6w6k4r3s3p1", "n1c8h9w9k8r3s3p1u2", "n1c8h9w9k8r1s7p0x3", "n1c6w20k6s3p1g6:nhwc")
CLASSES = {"3x3", "1x1", "1x1 strided", "first layer", "depthwise", "grouped", "dilated", "1-D", "3-D", "3x3 strided",
           "larger filters"}


def run(*options, status=0):
    done = subprocess.run([sys.executable, SCRIPT, "--device", "cpu", "--turn", "0.01", *map(str, options)],
                          capture_output=True, text=True)
    assert done.returncode == status, f"{options}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def cases(texts):
    return [word for text in texts for word in ("--case", text)]


def rows(folder):
    with open(folder / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


class FakeCuda:
    """As much of torch.cuda as the clock uses, with a time of its own."""

    def __init__(self):
        self.now, self.longest, self.emptied, self.graph = 0.0, 0, 0, None
        fake = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                self.at = fake.now

            def synchronize(self):
                assert fake.graph is None

            def elapsed_time(self, other):
                return (other.at - self.at) * 1e3

        class CUDAGraph:
            def capture_begin(self, pool):
                assert pool == "pool" and fake.graph is None
                self.length, self.calls, self.spoiled, fake.graph = 0.0, 0, False, self

            def capture_end(self):
                fake.graph = None
                fake.longest = max(fake.longest, self.calls)
                if self.spoiled:
                    raise RuntimeError("the capture failed")

            def replay(self):
                fake.now += self.length

        self.Event, self.CUDAGraph, self.Stream = Event, CUDAGraph, object

    def kernel(self, seconds, captured=True):
        def call():
            if not self.graph:
                self.now += seconds + 50e-6
            elif not captured:
                self.graph.spoiled = True
                raise RuntimeError("not while a stream is captured")
            else:
                self.graph.length += seconds
                self.graph.calls += 1
        return call

    def set_stream(self, stream):
        assert stream

    def zeros(self, _count, device):
        assert device == "cuda"
        return types.SimpleNamespace(zero_=self.kernel(1e-6))

    def empty_cache(self):
        self.emptied += 1

    def graph_pool_handle(self):
        return "pool"

    def memory_reserved(self):
        return 1 << 40


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.scratch.name) / "out"
        cls.said = run("--out", cls.out, "--candidates", *cases(CASES))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_rows(self):
        found = rows(self.out)
        self.assertEqual(len(found), 3 * len(CASES))
        self.assertEqual(len({row["case"] for row in found}), 3 * len(CASES))
        self.assertEqual({row["class"] for row in found}, CLASSES)
        for row in found:
            self.assertEqual((row["status"], row["note"]), ("ok", ""), row)
            ours, theirs = float(row["ours_us"]), float(row["cudnn_us"])
            self.assertGreater(min(ours, theirs), 0)
            self.assertAlmostEqual(float(row["ratio"]) * ours / theirs, 1, places=5)
            self.assertLess(float(row["difference"]), 1e-4)
            self.assertGreaterEqual(float(row["factor"]), 1)
            self.assertIn(f"{row['algorithm']}=", row["candidates"])
            self.assertIn(f"{row['best_algorithm']}=", row["candidates"])
        one = next(row for row in found if row["case"].startswith("n2c8h9w9k8r3s3p1:") and row["pass"] == "fwd")
        self.assertAlmostEqual(float(one["gflop"]), 2 * 2 * 8 * 81 * 8 * 9 * 1e-9, places=12)
        self.assertAlmostEqual(float(one["gbyte"]), 4 * (2 * 2 * 8 * 81 + 8 * 8 * 9) * 1e-9, places=12)

    def test_summary(self):
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["all"]["layers"], 3 * len(CASES))
        self.assertEqual(set(summary["classes"]), CLASSES)
        self.assertEqual(summary["failures"], [])
        self.assertEqual(summary["planner"]["layers"], 3 * len(CASES))
        self.assertEqual({name.split(", ")[1] for name in summary["planner"]["estimates"]}, CLASSES)
        ratios = [float(row["ratio"]) for row in rows(self.out)]
        self.assertAlmostEqual(summary["all"]["worst"], min(ratios))
        self.assertEqual(len(summary["slow"]), sum(ratio < 0.5 for ratio in ratios))
        text = (self.out / "summary.txt").read_text()
        for kind in CLASSES:
            self.assertRegex(text, rf"(?m)^{re.escape(kind)} +\d+\.\d")
        self.assertIn("within 10 % of the best candidate", text)

    def test_page(self):
        """Plots are well-formed, inside their frame, and show every layer; nothing is fetched from elsewhere."""
        page = (self.out / "report.html").read_text()
        self.assertNotRegex(page, r"(?:src|href)=|https?:|@import")
        plots = [xml.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
        self.assertEqual(len(plots), 3 + 1 + 1)  # passes, one type, the planner
        dots = [list(plot.iter("circle")) for plot in plots]
        self.assertEqual([len(found) for found in dots[:3]], [len(CASES)] * 3)
        self.assertEqual(len(dots[3]), 2 * 3 * len(CASES) + 2)  # and the legend
        self.assertEqual(len(dots[4]), 3 * len(CASES))
        for plot in plots:
            _, _, width, height = map(float, plot.get("viewBox").split())
            for dot in plot.iter("circle"):
                self.assertTrue(0 <= float(dot.get("cx")) <= width and 0 <= float(dot.get("cy")) <= height)
            for line in plot.iter("line"):
                self.assertTrue(all(0 <= float(line.get(at)) <= width for at in ("x1", "x2", "y1", "y2")))
        for row in rows(self.out):
            self.assertIn(f">{row['case']}<", page)

    def test_goes_on(self):
        """A run that stopped, or was killed in the middle of a line, is completed and not repeated."""
        out = pathlib.Path(self.scratch.name) / "again"
        said = run("--out", out, "--seconds", 0, *cases(CASES[:3]))
        self.assertIn("9 layers left", said)
        run("--out", out, *cases(CASES[:2]))
        with open(out / "results.csv", "a") as file:
            file.write("n9c9,half a li")
        before = {row["case"]: row["ours_us"] for row in rows(out)[:6]}
        said = run("--out", out, *cases(CASES[:3]))
        self.assertIn("9 layers, 6 of them known", said)
        after = {row["case"]: row["ours_us"] for row in rows(out)}
        self.assertEqual(len(after), 9)
        self.assertEqual({case: after[case] for case in before}, before)
        self.assertIn("another effort", run("--out", out, "--effort", "measure", *cases(CASES[:1]), status=2))
        self.assertIn("all", run("--out", out, "--report"))

    def test_lists(self):
        """Lists, filters and random draws give problems that our parser takes, equal ones once."""
        import compare_cudnn
        from compare import layers

        def choose(*words):
            sys.argv[1:], kept = words, sys.argv[1:]
            try:
                return layers.choose(compare_cudnn.arguments())[0]
            finally:
                sys.argv[1:] = kept

        every = choose("--type", "all", "--layout", "all", "--max-gflop", "1e9")
        self.assertEqual(len({layer.case for layer in every}), len(every))
        self.assertEqual({layer.kind for layer in every}, CLASSES)
        self.assertEqual(len({layer.kind for layer in every[:33]}), 11)  # dealt in turn
        resnet = choose("--network", "resnet50v1.5", "--batch", "32", "--pass", "fwd")
        self.assertEqual(len(resnet), 23)
        self.assertEqual(sum(layer.networks["resnet50v1.5"] for layer in resnet), 53)
        unseen = {layer.case for layer in choose("--tuning", "unseen")}
        seen = {layer.case for layer in choose("--tuning", "seen")}
        self.assertTrue(unseen and seen and not unseen & seen)
        self.assertEqual([layer.case for layer in choose("--random", "50", "--seed", "3")],
                         [layer.case for layer in choose("--random", "50", "--seed", "3")])
        self.assertTrue(all(layer.kind in ("1-D", "3-D") for layer in choose("--class", "1-D,3-D")))
        self.assertEqual(len(choose("--sample", "40")), 40)

    def test_wrong_results(self):
        """A result that is wrong in one place, or not written there, is a difference that is seen."""
        import torch
        from compare import layers, sides
        from rmcp import parse
        for case, bound in (("n2c8h9w9k8r3s3p1:fwd", sides.BOUNDS[0]), ("n2c4w40k8s5p2:bwd_weights", sides.BOUNDS[0])):
            problem, pass_ = parse(case)
            contest = sides.Contest(sides.Store("cpu"), layers.Layer(case, problem, pass_, "", "", {}))
            theirs = contest.theirs()
            expected = theirs()

            def right():
                contest.out.copy_(expected)

            def wrong():
                right()
                contest.out.view(-1)[-1] += 4 * bound * expected.abs().max()

            def silent():
                contest.out[:1] = expected[:1]
            self.assertEqual(contest.difference(right, expected), 0)
            self.assertFalse(contest.close_enough(contest.difference(wrong, expected)))
            self.assertFalse(contest.close_enough(contest.difference(silent, expected)))
            self.assertFalse(torch.isnan(expected).any())

    def test_graphs(self):
        """The GPU's clock on a fake of torch.cuda whose time only calls take: launches 50 us of the host each, but
        none in a graph. A turn is filled, what cannot be captured is still timed, memory is given back."""
        import torch
        from compare import clocks
        fake = FakeCuda()
        kept = {name: getattr(fake, name) for name in ("Stream", "Event", "CUDAGraph", "set_stream", "empty_cache",
                                                       "graph_pool_handle", "memory_reserved")}
        with unittest.mock.patch.multiple(torch.cuda, **kept), unittest.mock.patch.object(torch, "zeros", fake.zeros):
            clock = clocks.GraphClock(0.3e-3)
            found = clock.seconds({"ours": fake.kernel(5e-6), "cudnn": fake.kernel(1e-4), "slow": fake.kernel(0.02)})
            self.assertAlmostEqual(found["ours"], 5e-6)
            self.assertAlmostEqual(found["cudnn"], 1e-4)
            self.assertAlmostEqual(found["slow"], 0.02 + 50e-6)  # not captured: the host's share does not matter
            self.assertEqual(clock.uncaptured, 0)
            self.assertGreaterEqual(fake.longest, 60)
            self.assertAlmostEqual(clock.seconds({"loop": fake.kernel(1e-4, captured=False)})["loop"], 150e-6)
            self.assertEqual((clock.uncaptured, fake.emptied), (1, 0))
            clock.tidy()
            self.assertEqual(fake.emptied, 1)
            self.assertAlmostEqual(clock.seconds({"ours": fake.kernel(5e-6)})["ours"], 5e-6)

    def test_unusual(self):
        """What PyTorch cannot do is said and not counted; wrong options have status 2."""
        said = run(*cases(["n1c4h8w8k4r3s3p0-1:fwd"]))
        self.assertIn("PyTorch has no unequal padding", said)
        self.assertIn("no layer was compared", said)
        self.assertIn("is none of f32", run("--type", "f64", status=2))
        self.assertIn("no batch sizes", run("--batch", "0", status=2))
        self.assertIn("needs --out", run("--report", status=2))
        self.assertIn("no layer is left", run("--network", "resnet5000", status=2))
        self.assertIn("RMCP_E_ARG", run(*cases(["n1c4q"]), status=2))
        self.assertIn("not found", run("--library", "/nonexistent.so", *cases(CASES[:1]), status=2))


if __name__ == "__main__":
    try:
        import torch  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main()
