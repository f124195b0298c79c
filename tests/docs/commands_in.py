"""commands_in.py: the command lines and programs in a document, and whether the options of rmcp that it names exist."""
import re
import subprocess

# What a line of a block that is not marked as sh begins with, when it is a command and no output.
WORDS = re.compile(r"(\./setup\.sh|(\S*/)?rmcp|python3?|(\S*/)?pip|pipx|apt(-get)?|meson|ninja|tar|clang-\d+|hipcc|cc|"
                   r"git|docker|podman|unset|export|dmesg|journalctl|rocminfo|torchrun|jupyter|build/\S+|"
                   r"(bench|tests|tools)/\S+|rm|cp|gzip|mkdir)$")
BLOCK = re.compile(r"^ *```(.*)$")
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")
# rmcp where a command may stand: first, behind a pipe, as the program that another one starts.
CALL = re.compile(r"(?:^|[|;&] |(?<!\S)-- |sudo |timeout \d+ |[A-Z_]=\S* )"
                  r"(?:\S*/)?rmcp ([a-z]+)(?=\s|$)((?: [^|;&]*)?)")
CODE = re.compile(r"`([^`]+)`")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def documents(root):
    """What outsiders read."""
    yield from [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md")),
                root / "tests/README.md"]


def blocks(text):
    """Blocks of code: number of the first line, language ("" for none, None for an indented one), lines."""
    lines, i = text.split("\n"), 0
    while i < len(lines):
        fence = BLOCK.match(lines[i])
        if fence:
            end = next((j for j in range(i + 1, len(lines)) if BLOCK.match(lines[j])), len(lines))
            yield i + 2, fence.group(1).strip(), lines[i + 1:end]
            i = end + 1
        elif re.match(r"    +\S", lines[i]) and (i == 0 or not lines[i - 1].strip()):
            end = next((j for j in range(i, len(lines)) if lines[j].strip() and not lines[j].startswith("    ")),
                       len(lines))
            yield i + 1, None, lines[i:end]
            i = end
        else:
            i += 1


def is_command(line):
    """Of a block that may also have output: does the line begin as a command does?"""
    words = re.sub(r"^(([A-Z_]+=(\$\([^)]*\)|\S*)|sudo) )+", "", line).split()
    if words and words[0] == "timeout":
        words = words[2:]
    if not words or not WORDS.match(words[0]):
        return False
    # "rmcp sim: simulated …" and "rmcp-VERSION/bin/rmcp   the command" are no commands.
    is_output = len(words) > 1 and (words[1].endswith(":") or re.match(r"\S+ {2,}[a-z]", line))
    return not is_output or words[0].endswith(".sh")


def commands(text):
    """Line numbers and command lines of a document, without comments; lines that end in a backslash are joined."""
    for first, language, lines in blocks(text):
        if language not in (None, "", "sh", "console"):
            continue
        prompts = any(line.strip().startswith("$ ") for line in lines)
        mixed = prompts and language is None  # commands, a blank line, then a session with its output
        i = 0
        while i < len(lines):
            number, line = first + i, lines[i].strip()
            while line.endswith("\\") and i + 1 < len(lines):
                i += 1
                line = line[:-1].rstrip() + " " + lines[i].strip()
            i += 1
            asked = line.startswith("$ ")
            line = re.sub(r"\s+#(\s.*)?$", "", line[2:] if asked else line)
            if not line or line.startswith("#"):
                continue
            if asked or language == "sh" or ((not prompts or mixed) and is_command(line)):
                yield number, line


def inline(text):
    """The same of `code` in sentences and tables, of more than one word."""
    text = FENCE.sub(lambda fence: "\n" * fence.group().count("\n"), text)
    for code in CODE.finditer(text):
        command = " ".join(code.group(1).split())
        if " " in command and is_command(command):
            yield text.count("\n", 0, code.start()) + 1, command


def programs(text):
    """Names and texts of the Python programs that a document tells to save: their first line is a name."""
    found = []
    for _, language, lines in blocks(text):
        if language == "python" and re.match(r"# \w+\.py$", lines[0]):
            found.append((lines[0][2:], "\n".join(lines) + "\n"))
    return found


class Help:
    """What rmcp --help, python -m rmcp --help and setup.sh say there is."""

    def __init__(self, rmcp, source):
        self.n_options = 0
        top = self.ask(rmcp, "--help")
        names = re.findall(r"^  ([a-z]+) ", top.partition("commands:")[2].partition("\n\n")[0], re.MULTILINE)
        self.options = {name: set(OPTION.findall(self.ask(rmcp, name, "--help"))) for name in names}
        self.options["sim"] |= set(OPTION.findall(self.ask(rmcp, "sim", "--kernel", "x", "--help")))
        self.package = set()
        for path in (source / "python/rmcp").glob("*.py"):
            self.package |= set(OPTION.findall(path.read_text(encoding="utf-8")))
        self.setup = set(re.findall(r"^  ([a-z]+) ", (source / "setup.sh").read_text(encoding="utf-8"), re.MULTILINE))

    @staticmethod
    def ask(*words):
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    def wrong(self, text):
        """Commands and options that a document names, in code of any kind, and that do not exist."""
        named = [" ".join(code.split()) for code in CODE.findall(FENCE.sub("", text))]
        for code in named + [command for _, command in commands(text)]:
            for name, rest in CALL.findall(code):
                if name not in self.options:
                    yield f"there is no command rmcp {name}: `{code}`"
                    continue
                own = rest.split(" -- ")[0]
                for option in OPTION.findall(own):
                    self.n_options += 1
                    if option.rstrip("-") not in self.options[name] | {"--help"}:
                        yield f"rmcp {name} has no {option}: `{code}`"
            for rest in re.findall(r"python3? -m rmcp ((?:--\S+ ?(?:[\w:~/]+ )?)+)", code + " "):
                for option in OPTION.findall(rest):
                    self.n_options += 1
                    if option not in self.package | {"--help", "--version"}:
                        yield f"python -m rmcp has no {option}: `{code}`"
            for word in re.findall(r"\./setup\.sh ([a-z]+)", code):
                if word not in self.setup:
                    yield f"there is no ./setup.sh {word}: `{code}`"


def check_itself():
    """What is a command is found, and what is none is not."""
    text = ("# A\n\n    rmcp version   # what\n    sudo dmesg | rmcp explain -\n    rmcp sim: simulated x\n"
            "    rmcp: first use\n"
            "    X=1 python3 a.py \\\n        --b\n\n```\n$ rmcp check\nrmcp check is fine\n```\n\n"
            "```sh\nanything goes\n# not this\n```\n\n"
            "```c\nrmcp version\n```\n\n    rmcp-1/bin/rmcp       the command\n\n"
            "```python\n# a.py\nx = 1\n```\n\ntext `rmcp\nplan x` `rmcp` `a b`\n    rmcp no\n")
    found = [command for _, command in commands(text)]
    expected = ["rmcp version", "sudo dmesg | rmcp explain -", "X=1 python3 a.py --b", "rmcp check", "anything goes"]
    if (found != expected or programs(text) != [("a.py", "# a.py\nx = 1\n")]
            or list(inline(text)) != [(31, "rmcp plan x")]):
        raise SystemExit(f"the check itself is wrong: {found}, {programs(text)}, {list(inline(text))}")
