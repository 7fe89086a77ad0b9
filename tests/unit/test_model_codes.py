"""The codes of the model: each is documented, used, and provoked by its own example."""

import re
from pathlib import Path

import pytest

import compiler.model
from compiler.diagnostics import Code
from compiler.diagnostics.codes import (
    model,
    model_mounts,
    model_resources,
    model_serving,
    stack,
)
from tests.unit.model_documents import built_file

MODULES = (model, model_mounts, model_resources, model_serving, stack)
CODES = {
    name: code
    for module in MODULES
    for name, code in vars(module).items()
    if isinstance(code, Code)
}


_OF_FILES = (
    "workdir-missing",
    "mount-source-missing",
    "native-script-missing",
    "storage-single-file",
)


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.name)
def test_texts(code):
    assert re.fullmatch(r"[a-z]+(?:-[a-z]+)*", code.name)
    for text in (code.what, code.why, code.fix):
        assert text[0].isupper() or text[0] in '`"', text
        assert text.endswith("."), text


def test_every_code_is_used():
    folder = Path(compiler.model.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    assert [name for name in CODES if not re.search(rf"\b{name}\b", source)] == []


@pytest.mark.parametrize(
    "code",
    [code for code in CODES.values() if code.example and "#" not in code.example],
    ids=lambda code: code.name,
)
def test_the_example_provokes_the_code(code):
    found = built_file(code.example)[1]
    # Examples of files that must be missing are about paths, which this does not look at.
    if code.name in _OF_FILES:
        assert found == []
    elif code is model.UNEXPECTED_VALUE:
        assert found
    else:
        assert code.name in [item.split()[-1] for item in found]
