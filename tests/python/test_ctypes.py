#!/usr/bin/env python3
"""test_ctypes.py: the Python binding against rmcp.h: every constant, struct, field and function.

What there is to compare is read from the header; what it means comes from a compiled program.
"""
import ctypes
import os
import pathlib
import re
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
from rmcp import _library as binding

INCLUDE = pathlib.Path(__file__).resolve().parent.parent.parent / "include"


def header():
    """rmcp.h without comments."""
    return re.sub(r"/\*.*?\*/", "", (INCLUDE / "rmcp.h").read_text(), flags=re.S)


def constants(text):
    """Names of all enumerators and of all macros that stand for a number."""
    names = []
    for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, flags=re.S):
        names += re.findall(r"\b(RMCP_\w+)\s*=", body)
    names += re.findall(r"^#define (RMCP_\w+) +[\w(].*$", text, flags=re.M)
    return [name for name in names if name not in ("RMCP_H", "RMCP_API")]


def structs(text):
    """{struct: its fields}."""
    found = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, flags=re.S):
        fields = []
        for declaration in filter(str.strip, body.split(";")):
            first, *rest = declaration.split(",")
            fields += [re.sub(r"\[.*", "", part).split()[-1].lstrip("*") for part in (first, *rest)]
        found[name] = fields
    return found


def functions(text):
    return re.findall(r"RMCP_API [^;]*?\b(rmcp_\w+)\(", text)


def compiled(text):
    """{"constant": value, "struct": size, "struct.field": (offset, size)} by a compiled program."""
    lines = [f'printf("{name} %llu\\n", (unsigned long long)({name}));' for name in constants(text)]
    for name, fields in structs(text).items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
                  for field in fields]
    source = "#include <rmcp.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "layouts")
        subprocess.run([*compiler, "-std=c11", f"-I{INCLUDE}", "-x", "c", "-", "-o", str(program)],
                       input=source, text=True, check=True)
        output = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    values = {}
    for line in output.splitlines():
        name, *numbers = line.split()
        values[name] = int(numbers[0]) if len(numbers) == 1 else tuple(map(int, numbers))
    return values


class Header(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = header()
        cls.values = compiled(cls.text)

    def test_constants(self):
        names = constants(self.text)
        self.assertIn("RMCP_E_INTERNAL", names)
        self.assertIn("RMCP_CASE_MAX", names)
        self.assertGreaterEqual(len(names), 30)
        for name in names:
            with self.subTest(constant=name):
                self.assertEqual(getattr(binding, name[len("RMCP_"):]), self.values[name])

    def test_structs(self):
        found = structs(self.text)
        self.assertEqual(len(found["rmcp_conv"]), 20)
        self.assertEqual({struct.C_NAME for struct in binding.STRUCTS}, set(found))
        for struct in binding.STRUCTS:
            name = struct.C_NAME
            with self.subTest(struct=name):
                self.assertEqual([field for field, _type in struct._fields_], found[name])
                self.assertEqual(ctypes.sizeof(struct), self.values[name])
            for field, _type in struct._fields_:
                ours = getattr(struct, field)
                with self.subTest(struct=name, field=field):
                    self.assertEqual((ours.offset, ours.size), self.values[f"{name}.{field}"])

    def test_functions(self):
        names = functions(self.text)
        self.assertGreater(len(names), 20)
        self.assertEqual(set(binding.FUNCTIONS), set(names))
        for name in names:  # as many arguments as there are commas
            arguments = re.search(rf"\b{name}\((.*?)\);", self.text, flags=re.S).group(1)
            count = 0 if arguments.strip() == "void" else arguments.count(",") + 1
            with self.subTest(function=name):
                self.assertEqual(len(binding.FUNCTIONS[name]) - 1, count)

    def test_versions_agree(self):
        version = ".".join(str(self.values[f"RMCP_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertEqual(__import__("rmcp").__version__, version)


class Binding(unittest.TestCase):
    def test_case_string_round_trip(self):
        for text in ("n2c6t5x3h7w9k4r2s3p1-2x0x1u2x1x1g2:f16:nhwc:bwd_data",
                     "n1c3w10k2s3:f32:nchw:fwd:bias:leaky0.25"):
            problem, pass_ = rmcp.parse(text)
            self.assertEqual(rmcp.case_string(problem, pass_), text)

    def test_errors_carry_the_message(self):
        with self.assertRaisesRegex(rmcp.Error, "RMCP_E_ARG.*'c' is missing"):
            rmcp.parse("k1w1")

    def test_devices_are_listed(self):
        from rmcp import devices
        self.assertIn(b"cpu", [info.spec for info in devices()])


if __name__ == "__main__":
    unittest.main()
