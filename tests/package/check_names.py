#!/usr/bin/env python3
"""Every rmcp_ name in the comments of rmcp.h and in documents for C programs is one that rmcp.h declares.
usage: check_names.py RMCP.H DOCUMENT..."""
import re
import sys

NAME = re.compile(r"\brmcp_\w+")
COMMENT = re.compile(r"/\*.*?\*/", re.S)

header = open(sys.argv[1], encoding="utf-8").read()
declared = set(NAME.findall(COMMENT.sub(" ", header)))
texts = [(sys.argv[1], " ".join(COMMENT.findall(header)))]
texts += [(path, open(path, encoding="utf-8").read()) for path in sys.argv[2:]]
failures = count = 0
for path, text in texts:
    names = set(NAME.findall(text))
    count += len(names)
    for name in sorted(names - declared):
        print(f"{path}: no {name} in {sys.argv[1]}")
        failures += 1
print(f"{count} names, {failures} that are nowhere")
sys.exit(failures != 0 or not declared or not count)
