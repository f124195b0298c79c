"""How long calls take: on a GPU replayed from CUDA graphs, by its own clock; on a CPU by the wall clock."""
import math
import time

import torch

ROUNDS = 5      # the best of them counts
MOST = 500      # repetitions in one turn
PATIENCE = 0.1  # seconds after which a slow layer gets no further round


def _loop(call, repeats):
    def loop():
        for _ in range(repeats):
            call()
    return loop


class Clock:
    """What both clocks share. One that is derived has prepare(call): (a call that fills a turn, its repetitions)."""

    uncaptured = 0  # calls that had to be timed with what the host needs to make them

    def once(self, call):
        """Seconds of one call, with what the host needs to make it."""
        raise NotImplementedError

    def tidy(self):
        """Called between layers."""

    def seconds(self, calls):
        """{name: best seconds of one call}, the calls taking turns."""
        runs = {name: self.prepare(call) for name, call in calls.items()}
        best = dict.fromkeys(calls, math.inf)
        started = time.perf_counter()
        for _ in range(ROUNDS):
            for name, (run, repeats) in runs.items():
                best[name] = min(best[name], self.once(run) / repeats)
            if time.perf_counter() - started > PATIENCE:
                break
        return best


class GraphClock(Clock):
    """A turn is one replay of a graph that holds as many repetitions as fill it. All graphs share one pool of memory,
    so that an operator which allocates its result gets the same memory again and again."""

    def __init__(self, turn, reserve=48 << 30):
        self.turn, self.reserve = turn, reserve
        torch.cuda.set_stream(torch.cuda.Stream())  # the default stream cannot be captured
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.method = f"CUDA graphs of at least {turn * 1e3:g} ms in turn, best of {ROUNDS}"
        self._new_pool()

    def _new_pool(self):
        self.pool = torch.cuda.graph_pool_handle()
        scrap = torch.zeros(1, device="cuda")
        self.keeper = self._capture(scrap.zero_, 1)  # a pool lives as long as a graph that uses it

    def _capture(self, call, repeats):
        graph = torch.cuda.CUDAGraph()
        # Not torch.cuda.graph: it empties the cache of memory each time.
        graph.capture_begin(pool=self.pool)
        try:
            for _ in range(repeats):
                call()
        finally:
            graph.capture_end()
        return graph

    def once(self, call):
        start, end = self.events
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3

    def prepare(self, call):
        once = self.once(call)
        if once >= 10 * self.turn:
            return call, 1  # the host's share does not show
        repeats = min(MOST, math.ceil(self.turn / once))
        try:
            graph = self._capture(call, repeats)
        except RuntimeError:  # an operator that waits or copies cannot be captured
            self._new_pool()
            self.uncaptured += 1
            return _loop(call, repeats), repeats
        graph.replay()  # the first one uploads it
        each = self.once(graph.replay) / repeats
        if each * repeats < self.turn / 1.5 and repeats < MOST:
            repeats = min(MOST, math.ceil(self.turn / each))
            graph = self._capture(call, repeats)
            graph.replay()
        return graph.replay, repeats

    def tidy(self):
        """Between layers: memory that only other sizes could use is given back."""
        if torch.cuda.memory_reserved() > self.reserve:
            self.keeper = None
            torch.cuda.empty_cache()
            self._new_pool()


class WallClock(Clock):
    """The same on a CPU: a turn is a loop."""

    def __init__(self, turn):
        self.turn = turn
        self.method = f"wall clock, loops of at least {turn * 1e3:g} ms in turn, best of {ROUNDS}"

    def once(self, call):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    def prepare(self, call):
        repeats = max(1, min(MOST, math.ceil(self.turn / max(1e-7, self.once(call)))))
        return _loop(call, repeats), repeats
