"""Golden jobs on the real node: what each rank prints."""

from __future__ import annotations

import pytest

from tests.kubernetes.golden_runs import FAILS, ODD_VALUES, RUNS, GoldenRuns

pytestmark = pytest.mark.kubernetes


@pytest.mark.parametrize("place", RUNS)
def test_it_really_runs(golden_runs: GoldenRuns, place: str):
    found = golden_runs.ended(place)
    assert found.condition == "Complete"
    wanted = {rank: text.replace("IP", found.addresses[0]) for rank, text in enumerate(RUNS[place])}
    assert found.output == wanted


def test_odd_values_arrive_intact(golden_runs: GoldenRuns):
    found = golden_runs.ended(ODD_VALUES)
    assert found.condition == "Complete"
    lines = found.output[0].splitlines()
    for line in (
        "DOLLARS=$HOME ${HOME} $(id) `id` $$",
        "BACKSLASHES=C:\\new\\table\\",
        'QUOTES=it\'s "quoted"',
        "SPACES=  two before, two after  ",
        "JINJA={{ 7 * 7 }} {% raw %}",
        "TAB=a\tb",
        "GLOB=*?[a-z] ~/x {a,b}",
    ):
        assert line in lines


def test_the_first_failure_ends_the_job(golden_runs: GoldenRuns):
    found = golden_runs.ended(FAILS)
    assert found.condition == "Failed"
    assert found.output
    assert all("./infer.sh: No such file" in text for text in found.output.values())
