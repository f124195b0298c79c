#!/usr/bin/env python3
"""Files are laid out as .clang-format and .editorconfig say: C by clang-format 14, others by their width and blanks.

usage: check_layout.py SOURCE-ROOT

Exit status 77 (skip) after the other checks when there is no clang-format 14.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys

CHECKED = ("*.c", "*.h", "*.cl", "*.sh", "*.py", "meson.build", "meson_options.txt")
SCRIPT = re.compile(rb"#!.*\b(sh|bash|python3)\b")


def sections(path):
    """[(pattern, {option: value})] of an .editorconfig"""
    found = []
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith("["):
            found.append((line[1:-1], {}))
        elif "=" in line and not line.startswith("#") and found:
            name, value = (part.strip() for part in line.split("=", 1))
            found[-1][1][name] = value
    return found


def alternatives(pattern):
    """The patterns that one with braces stands for; braces may hold braces."""
    start = pattern.find("{")
    if start < 0:
        return [pattern]
    depth, parts, part = 0, [], start + 1
    for i in range(start, len(pattern)):
        depth += {"{": 1, "}": -1}.get(pattern[i], 0)
        if depth == 1 and pattern[i] == ",":
            parts.append(pattern[part:i])
            part = i + 1
        if depth == 0:
            parts.append(pattern[part:i])
            return [whole for middle in parts for whole in alternatives(pattern[:start] + middle + pattern[i + 1:])]
    return [pattern]


def matches(name, pattern):
    for one in alternatives(pattern):
        if fnmatch.fnmatch(name, one) if "/" in one else fnmatch.fnmatch(os.path.basename(name), one):
            return True
    return False


def options_of(name, rules):
    options = {}
    for pattern, values in rules:
        if matches(name, pattern):
            options.update(values)
    return options


def is_checked(root, name):
    if any(fnmatch.fnmatch(os.path.basename(name), pattern) for pattern in CHECKED):
        return True
    with open(os.path.join(root, name), "rb") as file:
        return "." not in os.path.basename(name) and bool(SCRIPT.match(file.read(80)))


def complaints(name, text, options):
    """What is wrong with a file's lines."""
    width = options.get("max_line_length", "off")
    for number, line in enumerate(text.split("\n"), 1):
        if width != "off" and len(line) > int(width):
            yield f"{name}:{number}: {len(line)} columns, {width} are allowed"
        if options.get("trim_trailing_whitespace") == "true" and line != line.rstrip():
            yield f"{name}:{number}: blanks at its end"
        if options.get("indent_style") == "space" and line.startswith("\t"):
            yield f"{name}:{number}: begins with a tab"
    if text and not text.endswith("\n"):
        yield f"{name}: does not end with a newline"


def tracked(root):
    listing = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    return [name for name in listing.stdout.split("\n") if name] if listing.returncode == 0 else []


def clang_format(root, names):
    """What clang-format 14 would change; None without it."""
    for program in ("clang-format-14", "clang-format"):
        path = shutil.which(program)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            break
    else:
        return None
    run = subprocess.run([path, "--dry-run", "--ferror-limit=1", *names], cwd=root, capture_output=True, text=True)
    return sorted({line.split(":")[0] for line in run.stderr.split("\n") if "clang-format-violations" in line})


def main():
    root = os.path.abspath(sys.argv[1])
    rules = sections(os.path.join(root, ".editorconfig"))
    names = [name for name in tracked(root) if os.path.isfile(os.path.join(root, name)) and is_checked(root, name)]
    if not names:
        print("skipped: this is no checkout of git")
        return 77
    wrong = []
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            wrong += complaints(name, file.read(), options_of(name, rules))
    # The check itself: a line too long, a tab, and braces within braces are seen.
    planted = list(complaints("x.c", "\tint i;" + 100 * " ", options_of("x.c", rules)))
    assert len(planted) == 4, planted
    assert options_of(".ci/run", rules)["max_line_length"] == "120"
    in_c = [name for name in names if name.endswith((".c", ".h"))]
    laid_out = clang_format(root, in_c)
    wrong += [f"{name}: not as clang-format 14 lays it out" for name in laid_out or []]
    for line in wrong:
        print(line)
    print(f"{len(names)} files, {len(in_c)} of them C: {len(wrong)} complaints")
    if wrong:
        return 1
    if laid_out is None:
        print("skipped: clang-format 14 is not installed; the other checks passed")
        return 77
    return 0


sys.exit(main())
