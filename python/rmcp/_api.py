"""Devices and plans as Python objects, over the bare C API of _library."""
import ctypes

from . import _library as c


def version():
    """The version of the librmcp that is loaded."""
    return c.library().rmcp_version().decode()


class Check:
    """What RMCP_CHECK has found in this process so far: .on, and how many executions were .checked,
    .skipped (in the capture of a graph) and .wrong; .first: the first difference, "" without any."""

    def __init__(self, info):
        self.on = bool(info.on)
        self.checked, self.skipped, self.wrong = info.checked, info.skipped, info.wrong
        self.first = info.first.decode(errors="replace")

    def __str__(self):
        if not self.on:
            return "RMCP_CHECK is not set"
        text = (f"RMCP_CHECK: {self.checked} executions compared with the reference, {self.wrong} wrong, "
                f"{self.skipped} skipped")
        return text + (f"; the first: {self.first}" if self.wrong else "")


def check():
    """The Check of this process."""
    info = c.CheckInfo()
    c.library().rmcp_check_describe(info)
    return Check(info)


_listener = None  # the library calls it: it must live


def on_notice(say):
    """Have say(line) called when a first use takes longer than two seconds; None: nobody is told."""
    global _listener
    listener = c.Notice() if say is None else c.Notice(lambda line, _context: say(line.decode(errors="replace")))
    c.library().rmcp_on_notice(listener, None)
    _listener = listener  # the one before is not called any more


def parse(text):
    """The problem of a case string, and its pass: None when it names none."""
    problem, pass_ = c.Problem(), ctypes.c_int()
    c.library().rmcp_conv_parse(text.encode(), problem, pass_)
    return problem, None if pass_.value < 0 else pass_.value


def case_string(problem, pass_=-1):
    """The case string of a problem, such as "n8c64h56w56k64r3s3p1:f32:nchw:fwd"."""
    text = ctypes.create_string_buffer(c.CASE_MAX)
    c.library().rmcp_conv_print(problem, pass_, text, c.CASE_MAX)
    return text.value.decode()


def output_size(problem):
    """The spatial size of y."""
    shape = c.Shape()
    c.library().rmcp_conv_describe(problem, shape)
    return tuple(shape.output[:problem.dims])


def devices():
    """What rmcp_device_list knows: a list of DeviceInfo."""
    count = ctypes.c_size_t()
    c.library().rmcp_device_list(None, count)
    room = (c.DeviceInfo * count.value)()
    if not count.value:
        return []
    room[0].struct_size = ctypes.sizeof(c.DeviceInfo)
    c.library().rmcp_device_list(room, count)
    return list(room)[:count.value]


class Device:
    """An open device; a context manager. Plans keep their device open."""

    def __init__(self, spec="cpu", threads=0):
        self.handle = ctypes.c_void_p()
        self._library = c.library()
        self._library.rmcp_device_open(spec.encode(), c.DeviceOptions(threads=threads), self.handle)

    def describe(self):
        info = c.DeviceInfo()
        self._library.rmcp_device_describe(self.handle, info)
        return info

    def wait(self, stream=None):
        self._library.rmcp_device_wait(self.handle, stream)

    def close(self):
        handle, self.handle = self.handle, None
        if handle:
            self._library.rmcp_device_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class AnyPlan:
    """A problem of an operation on a device; a context manager, destroyed with the last reference."""
    operation = None  # as in the names of the C functions

    def __init__(self, device, problem, algorithm=None, *, more=(), **options):
        self.device = device  # must outlive the plan
        self.handle = ctypes.c_void_p()
        self._library = library = c.library()
        asked = c.PlanOptions(algorithm=algorithm.encode() if algorithm else None, **options)
        getattr(library, f"rmcp_{self.operation}_plan")(device.handle, problem, *more, asked, self.handle)
        self._execute = getattr(library, f"rmcp_{self.operation}_execute", None)
        self.address = self.handle.value
        self.workspace_bytes = library.rmcp_plan_workspace(self.handle)
        self.algorithm = library.rmcp_plan_algorithm(self.handle).decode()

    def execute(self, tensors, stream=None):
        self._execute(self.handle, stream, tensors)

    def execute_timed(self, tensors, stream=None):
        """Execute, wait, and return the seconds that the device took."""
        seconds = ctypes.c_double()
        getattr(self._library, f"rmcp_{self.operation}_execute_timed")(self.handle, stream, tensors, seconds)
        return seconds.value

    def close(self):
        handle, self.handle = self.handle, None
        if handle:
            self._library.rmcp_plan_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "handle", None):
            self.close()


class Plan(AnyPlan):
    """One pass of a convolution."""
    operation = "conv"

    def __init__(self, device, problem, pass_, algorithm=None, **options):
        super().__init__(device, problem, algorithm, more=(pass_,), **options)
