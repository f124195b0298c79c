#!/usr/bin/env python3
"""check_links.py: documents link to files and headings that exist, name paths that exist, and quote what is there.

usage: check_links.py SOURCE-DIR
"""
import pathlib
import re
import sys
import tempfile

SKIP = re.compile(r"^(build|\.git$|\.cache$)")
LINK = re.compile(r"\[[^\]\n]*\]\(([^()\s]+)\)")
# `src/engine/core/plan.c`, `tests/doctor/machines`: what begins with a folder of ours is a path of ours. A star
# stands for anything.
PATH = re.compile(r"(?<![\w./$-])((?:bench|data|docs|examples|include|python|sim|src|tests|tools)/[\w./*-]*\w\*?)")
CODE = re.compile(r"`([^`\n]+)`")
# From `src/engine/core/plan.c`: and then a block is a quotation.
QUOTE = re.compile(r"From\s`([^`\n]+)`:\n\n```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
# A file that the reader is told to make.
TO_BE_MADE = {"src/engine/ops/conv/algo/pointwise_loops.c", "src/engine/ops/negate/negate.c",
              "src/engine/ops/negate/algo/loops.c", "src/engine/ops/negate/algo/reference.c"}
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def documents(root):
    """All .md files of the source."""
    for path in sorted(root.rglob("*.md")):
        if not SKIP.match(path.relative_to(root).parts[0]):
            yield path


def anchors(text):
    """The names that GitHub gives to headings."""
    for heading in re.findall(r"^#+ +(.+?) *$", FENCE.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def wrong_links(root, path):
    """Links of one document that lead nowhere; the number of those that were looked at."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    wrong, count = [], 0
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        if not goal.is_relative_to(root):
            wrong.append(f"{target} leads out of the project")
        elif not goal.exists():
            wrong.append(f"{target} is not there")
        elif anchor and anchor not in anchors(goal.read_text(encoding="utf-8")):
            wrong.append(f"{target}: no such heading")
    return wrong, count


def wrong_paths(root, path):
    """Paths in `code` of one document that are not in the source; the number of those that were looked at."""
    wrong, count = [], 0
    for code in CODE.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        for name in PATH.findall(code):
            if name in TO_BE_MADE or re.search(r"[/_][A-Z]+(\.[a-z]+)?$", name):  # src/engine/driver/NAME
                continue
            count += 1
            if not any(root.glob(name)) and not any(path.parent.glob(name)):
                wrong.append(f"`{name}` is not there")
    return wrong, count


def wrong_quotes(root, path):
    """Quotations of one document that are not in the file they name."""
    return [f"{name} has no such lines: {text.splitlines()[0].strip()}"
            for name, text in QUOTE.findall(path.read_text(encoding="utf-8"))
            if not (root / name).is_file() or text not in (root / name).read_text(encoding="utf-8")]


def check(root):
    """All complaints, and how many links and paths there are."""
    complaints, links, paths = [], 0, 0
    for path in documents(root):
        bad_links, n_links = wrong_links(root, path)
        bad_paths, n_paths = wrong_paths(root, path)
        complaints += [f"{path.relative_to(root)}: {text}" for text in bad_links + bad_paths + wrong_quotes(root, path)]
        links, paths = links + n_links, paths + n_paths
    return complaints, links, paths


def check_itself():
    """Each kind of fault is seen, and what is right is not one."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / "docs").mkdir()
        (root / "docs" / "a.md").write_text(
            "# One & two\n[b](../b.md) [c](c.md) [h](#one--two) [i](#three) [o](../../etc) [w](https://x/y)\n"
            "`docs/a.md` `docs/*.md` `src/none.c` ~/docs/x\n```\n[d](d.md) `src/d.c`\n```\n"
            "From `b.md`:\n\n```c\nx\n```\nFrom `b.md`:\n\n```c\ny\n```\n", encoding="utf-8")
        (root / "b.md").write_text("x\n", encoding="utf-8")
        found, links, paths = check(root)
    expected = ["docs/a.md: c.md is not there", "docs/a.md: #three: no such heading",
                "docs/a.md: ../../etc leads out of the project", "docs/a.md: `src/none.c` is not there",
                "docs/a.md: b.md has no such lines: y"]
    if found != expected or (links, paths) != (5, 3):
        sys.exit(f"the check itself is wrong: {found}, {links} links, {paths} paths")


def main():
    check_itself()
    complaints, links, paths = check(pathlib.Path(sys.argv[1]).resolve())
    for line in complaints:
        print(line)
    print(f"{links} links and {paths} paths, {len(complaints)} wrong")
    if links < 20 or paths < 20:
        sys.exit("so few cannot be right")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
