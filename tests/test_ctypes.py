#!/usr/bin/env python3
"""test_ctypes.py: the structures of rmcp_ctypes.py against those a C compiler sees in rmcp.h."""
import ctypes
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

try:
    import rmcp_ctypes as rmcp
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"


def c_layouts():
    """(struct, field): (offset, size), by a compiled program; field "" is the whole struct."""
    lines = []
    for struct in rmcp.STRUCTS:
        name = struct.C_NAME
        lines.append(f'printf("{name}  0 %zu\\n", sizeof({name}));')
        for field, _type in struct._fields_:
            lines.append(f'printf("{name} {field} %zu %zu\\n", offsetof({name}, {field}), '
                         f"sizeof((({name} *)0)->{field}));")
    source = "#include <rmcp.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "layouts")
        subprocess.run([*compiler, "-std=c11", f"-I{INCLUDE}", "-x", "c", "-", "-o", str(program)],
                       input=source, text=True, check=True)
        output = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    layouts = {}
    for line in output.splitlines():
        name, field, offset, size = line.split(" ")[:2] + line.split()[-2:]
        layouts[name, field] = int(offset), int(size)
    return layouts


class Layouts(unittest.TestCase):
    def test_structs_match_the_header(self):
        layouts = c_layouts()
        for struct in rmcp.STRUCTS:
            name = struct.C_NAME
            with self.subTest(struct=name):
                self.assertEqual(layouts[name, ""], (0, ctypes.sizeof(struct)))
            for field, _type in struct._fields_:
                ours = getattr(struct, field)
                with self.subTest(struct=name, field=field):
                    self.assertEqual(layouts[name, field], (ours.offset, ours.size))

    def test_no_field_is_missing(self):
        # Fields and their padding fill the struct: a field left out would show as a gap.
        for struct in rmcp.STRUCTS:
            end = 0
            for field, _type in struct._fields_:
                gap = getattr(struct, field).offset - end
                with self.subTest(struct=struct.C_NAME, field=field):
                    self.assertEqual(gap, 0)
                end += gap + getattr(struct, field).size
            with self.subTest(struct=struct.C_NAME):
                self.assertEqual(end, ctypes.sizeof(struct))


class Binding(unittest.TestCase):
    def test_case_string_round_trip(self):
        for text in ("n2c6t5x3h7w9k4r2s3p1-2x0x1u2x1x1g2:f16:nhwc:bwd_data",
                     "n1c3w10k2s3:f32:nchw:fwd:bias:leaky0.25"):
            problem, pass_ = rmcp.parse(text)
            self.assertEqual(rmcp.case_string(problem, pass_), text)

    def test_errors_carry_the_message(self):
        with self.assertRaisesRegex(rmcp.Error, "RMCP_E_ARG.*'c' is missing"):
            rmcp.parse("k1w1")


if __name__ == "__main__":
    unittest.main()
