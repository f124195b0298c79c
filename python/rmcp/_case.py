"""Any operation by its case string ("softmax:8x1000:fwd:log:f16"), over the bare C API of _library."""
import ctypes

from . import _library as c
from ._api import AnyPlan


class CasePlan(AnyPlan):
    """The problem of a case string on a device. slots: the SlotInfo of its tensors by their names, without those
    that the problem does not use. scalars: the ScalarInfo of the numbers that an execution may bring, likewise."""
    operation = "case"

    def __init__(self, device, text, algorithm=None, **options):
        super().__init__(device, text.encode(), algorithm, **options)
        self.slots, self._order = {}, []
        while True:
            info = c.SlotInfo()
            try:
                self._library.rmcp_plan_slot(self.handle, len(self._order), info)
            except c.Error:
                break
            name = info.name.decode()
            self._order.append(name)
            if info.bytes:
                self.slots[name] = info
        self.scalars = {}
        while True:
            scalar = c.ScalarInfo()
            try:
                self._library.rmcp_plan_scalar(self.handle, len(self.scalars), scalar)
            except c.Error:
                break
            self.scalars[scalar.name.decode()] = scalar

    def _bind(self, tensors, workspace, scalars):
        """tensors: the address of each, or a Memory, by name; scalars: numbers by name."""
        scalars = scalars or {}
        for what, given, known in (("tensor", tensors, self._order), ("scalar", scalars, self.scalars)):
            unknown = set(given) - set(known)
            if unknown:
                raise ValueError(f"no {what} {', '.join(sorted(unknown))}; there are {', '.join(known)}")
        values = [scalars.get(name, info.value) for name, info in self.scalars.items()] if scalars else []
        memory = (c.Memory * len(self._order))()
        for place, name in enumerate(self._order):
            given = tensors.get(name)
            if given is not None:
                memory[place] = given if isinstance(given, c.Memory) else c.Memory(base=given, offset=0)
        return c.Slots(count=len(self._order), memory=memory, workspace=workspace or c.Memory(),
                       workspace_bytes=self.workspace_bytes, n_scalars=len(values),
                       scalars=(ctypes.c_double * len(values))(*values))

    def execute(self, tensors, stream=None, workspace=None, scalars=None):
        self._library.rmcp_plan_run(self.handle, stream, self._bind(tensors, workspace, scalars))

    def execute_timed(self, tensors, stream=None, workspace=None, scalars=None):
        """Execute, wait, and return the seconds that the device took."""
        seconds = ctypes.c_double()
        self._library.rmcp_plan_run_timed(self.handle, stream, self._bind(tensors, workspace, scalars), seconds)
        return seconds.value
