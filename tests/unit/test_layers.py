"""Data flows one way: a module imports only from its own folder or from an earlier one."""

import ast
from pathlib import Path

import compiler

ROOT = Path(compiler.__file__).parent

# In the order in which data flows; docs/architecture.md has the same list.
ORDER = (
    "diagnostics",
    "resources",
    "source",
    "model",
    "catalog",
    "placement",
    "rendering",
    "planning",
    "targets",
    "migration",
    "workflow",
    "cli",
)
# Inside targets: what two of them share comes first, and no platform imports another.
PLATFORMS = {"directory", "kubernetes", "slurm", "aws"}


def imported(path: Path):
    """(line, dotted name) of every import of our own, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "compiler":
                yield from ((node.lineno, f"compiler.{alias.name}") for alias in node.names)
            elif node.module.startswith("compiler."):
                yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("compiler."):
                    yield node.lineno, alias.name


def parts(path: Path) -> tuple[str, ...]:
    return path.relative_to(ROOT).with_suffix("").parts


def test_every_folder_has_its_place():
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders - {"_data"} == set(ORDER) - {"resources"}


def test_no_import_goes_against_the_flow():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        here = parts(path)
        if here[0] not in ORDER:
            continue
        for line, name in imported(path):
            there = name.split(".")[1]
            if there in ORDER and ORDER.index(there) > ORDER.index(here[0]):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert wrong == []


def test_platforms_do_not_import_each_other():
    wrong = []
    for path in sorted((ROOT / "targets").rglob("*.py")):
        here = parts(path)
        if len(here) < 3 or here[1] not in PLATFORMS:
            continue
        for line, name in imported(path):
            there = name.split(".")
            if there[1] == "targets" and len(there) > 2 and there[2] in PLATFORMS - {here[1]}:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert wrong == []


def test_modules_are_of_a_size_to_be_read():
    long = {
        str(path.relative_to(ROOT)): count
        for path in ROOT.rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_docs_have_the_same_order():
    text = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    positions = [
        text.index(f"`compiler/{name}.py`" if name == "resources" else f"`compiler/{name}/`")
        for name in ORDER
    ]
    assert positions == sorted(positions)
