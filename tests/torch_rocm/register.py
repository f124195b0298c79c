#!/usr/bin/env python3
"""Cuts the registration of all operators down to those of a list: register.py REGISTER-FILE LIST OUT.

The whole, 3 MB of generated C++, takes minutes; this is for a build that is under way. The file is a head and one piece
for each operator, each piece a namespace with the calls that register it."""
import re
import sys

text, wanted = open(sys.argv[1]).read(), set(open(sys.argv[2]).read().split())
head, first, *pieces = re.split(r"(?m)^namespace at \{\n", text)
kept, names = [first], {"as_strided", "empty", "empty_strided"}
for piece in pieces:
    registered = {name.split(".")[0] for name in re.findall(r'm\.impl\("([^"]+)"', piece)}
    if registered & wanted:
        kept.append(piece)
        names |= registered | set(re.findall(r"at::(?:native::|meta::)?(?:structured_)?(\w+?)(?:_cuda|_out)?\b", piece))


def needed(line):
    header = re.match(r"#include <ATen/ops/(\w+?)_(native|cuda_dispatch)\.h>", line)
    return not header or header[1] in names or header[1].rstrip("_") in names or header[1] + "_" in names


head = "\n".join(line for line in head.split("\n") if needed(line))
with open(sys.argv[3], "w") as out:
    out.write(head + "".join("namespace at {\n" + piece for piece in kept))
print(f"{len(kept) - 1} of {len(pieces)} operators")
