#!/usr/bin/env python3
"""What rmcp plan --explain --json prints, as one line for each case and algorithm.

usage: table.py <JSON
Numbers stay as they are written. The line of algorithm "-" says which one was chosen.
"""
import json
import sys

print("# 2", "case", "algorithm", "place", "chosen", "seconds", "workspace", "error-factor", "refusal", sep="\t")
for plan in json.load(sys.stdin, parse_int=str, parse_float=str)["plans"]:
    print(plan["case"], "-", "", plan["algorithm"], "", "", "", "", sep="\t")
    for place, c in enumerate(plan["candidates"]):
        print(plan["case"], c["algorithm"], place, int(c["chosen"]), c.get("estimated_seconds", ""),
              c.get("workspace_bytes", ""), c["error_factor"], c.get("refusal", ""), sep="\t")
