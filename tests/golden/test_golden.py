"""Every case renders what its folder says, byte for byte, with nothing more to say."""

import pytest

from tests import golden_harness as harness


@pytest.mark.parametrize("case", harness.cases(), ids=lambda case: case.name)
def test_case(case, tmp_path, request):
    outcome = harness.run_case(case, tmp_path / "out")
    if request.config.getoption("--update-golden"):
        harness.update(case, outcome)
    expected = harness.expected_of(case)
    assert outcome.said == expected.said
    assert sorted(outcome.files) == sorted(expected.files)
    for path, text in expected.files.items():
        assert outcome.files[path] == text, path
    assert outcome.code == expected.code
    assert "Traceback" not in outcome.said


def test_there_are_cases_and_no_stray_folders():
    assert len(harness.cases()) >= 100
    strays = [
        path.name
        for path in harness.FOLDER.iterdir()
        if path.is_dir() and path.name != "__pycache__" and not (path / "args").exists()
    ]
    assert strays == []
    for case in harness.cases():
        known = {"args", "input", "stack.yaml", "expected", "diagnostics.txt"}
        assert {item.name for item in case.iterdir()} <= known, case.name


def test_nothing_expected_is_about_this_machine():
    for case in harness.cases():
        outcome = harness.expected_of(case)
        for text in (outcome.said, *outcome.files.values()):
            assert str(harness.TOP) not in text, case.name
