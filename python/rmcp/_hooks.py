"""What python -m rmcp installs on request and removes again: the .pth file for RMCP_TORCH, the node for ComfyUI."""
import os
import pathlib
import site
import sysconfig

HERE = pathlib.Path(__file__).resolve().parent
NAME = "rmcp-torch.pth"
MARK = "# RMCP_TORCH=1 lets PyTorch's convolutions run in RMCP; python -m rmcp --remove-hook removes this file"
NODE = "rmcp-comfyui"  # not rmcp: some ComfyUIs know a node by its folder's name alone, and that is the package's


class Failed(Exception):
    """Nothing was changed, or not all; the message says why."""


def _pth():
    """The file's text: a line that looks at one variable, and does the rest only when that is set."""
    code = """
import sys
try:
    if not hasattr(sys, '_rmcp_torch'):  # some Pythons read a .pth file twice
        sys._rmcp_torch = True
        with open({path}, encoding='utf-8') as file: text = file.read()
        names = {{'__name__': 'rmcp_enabling', '__file__': {path}}}
        exec(compile(text, {path}, 'exec'), names)
        names['arm'](os.environ['RMCP_TORCH'])
except Exception as error:
    sys.stderr and sys.stderr.write('rmcp: RMCP_TORCH does nothing: ' + str(error) + '\\n')
""".format(path=ascii(str(HERE / "_enabling.py")))
    return f"{MARK}\nimport os; os.environ.get('RMCP_TORCH') and exec({ascii(code)}, {{'os': os}})\n"


def _folders():
    """Where this Python reads .pth files, the best first; the user's own last."""
    known = [os.path.realpath(folder) for folder in site.getsitepackages()]
    best = [os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    ordered = [folder for folder in best if folder in known] + known
    if site.ENABLE_USER_SITE:
        ordered.append(os.path.realpath(site.getusersitepackages()))
    return list(dict.fromkeys(ordered))


def _is_ours(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace").startswith(MARK)
    except OSError:
        return False


def _write(path, text):
    """All of the file or nothing of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)
    except OSError:
        try:
            beside.unlink()
        except OSError:
            pass
        raise


def install_hook():
    """Write the .pth file; returns its path."""
    tried = []
    for folder in map(pathlib.Path, _folders()):
        path = folder / NAME
        if path.exists() and not _is_ours(path):
            raise Failed(f"{path} is there and not RMCP's")
        try:
            if site.ENABLE_USER_SITE and str(folder) == os.path.realpath(site.getusersitepackages()):
                folder.mkdir(parents=True, exist_ok=True)
            _write(path, _pth())
            return path
        except OSError as error:
            tried.append(f"{folder} ({error.strerror})")
    raise Failed("no folder of this Python can be written: " + ", ".join(tried))


def remove_hook():
    """Remove it wherever this Python reads it; returns the paths."""
    removed = []
    for path in (pathlib.Path(folder, NAME) for folder in _folders()):
        if not _is_ours(path):
            continue
        try:
            path.unlink()
        except OSError as error:
            raise Failed(f"cannot remove {path}: {error.strerror}") from None
        removed.append(path)
    return removed


def _nodes_of(folder):
    """custom_nodes of a ComfyUI, which is given as such or as the folder around it."""
    folder = pathlib.Path(folder)
    for place in (folder / "custom_nodes", folder):
        if place.name == "custom_nodes" and place.is_dir():
            return place
    raise Failed(f"{folder} is no ComfyUI: there is no folder custom_nodes")


def install_comfyui(folder):
    """Write the node into a ComfyUI; returns its folder."""
    place = _nodes_of(folder) / NODE
    source = (HERE / "_comfyui.py").read_text(encoding="utf-8")
    made = not place.exists()
    try:
        place.mkdir(exist_ok=True)
        _write(place / "__init__.py", source)
    except OSError as error:
        if made and place.is_dir():
            place.rmdir()
        raise Failed(f"cannot write {place}: {error.strerror}") from None
    return place


def remove_comfyui(folder):
    """Remove the node; returns its folder, or None where there is none."""
    place = _nodes_of(folder) / NODE
    if not place.is_dir():
        return None
    try:
        for path in [place / "__init__.py", *place.glob("__pycache__/__init__.*.pyc")]:
            path.unlink()
        for empty in (place / "__pycache__", place):
            if empty.is_dir():
                empty.rmdir()  # what somebody else put there stays, and is named
    except OSError as error:
        raise Failed(f"cannot remove {place}: {error.strerror}") from None
    return place
