"""Plans for people: the markdown comment stays below its limit and harmless."""

import re

import pytest

from compiler.planning.plan_file import from_json
from compiler.planning.views import markdown_view, text_view

LIMIT = 65_536


def markdown(project, *words):
    done = project.plan("--format", "markdown", *words)
    assert done.code == 0, done.text
    return done.out


def test_a_comment_has_summary_reasons_details_and_the_next_command(project):
    project.stack("alpha", "eks")
    project.task("train", envs={"LR": "0.1"})
    project.applied()
    project.task("train", envs={"LR": "0.2"})
    project.task("new", secrets={"TOKEN": None})
    text = markdown(project, "--out", "plan.json")
    assert text.startswith("### triplane: Plan: 1 to create, 1 to update.\n")
    assert "Set `demo`, stack `stack.yaml`" in text
    assert "<details><summary>~ train on alpha: update run 1</summary>" in text
    assert "because envs.LR changed (tasks/train.yaml:" in text.replace("\\", "")
    assert "\n-     export LR='0.1'\n+     export LR='0.2'\n" in text
    assert "must exist on alpha: secret TOKEN" in text.replace("\\", "")
    assert text.rstrip().endswith("Next: `triplane apply plan.json`")
    without = markdown(project)
    assert without.rstrip().endswith("Next: `triplane apply --stack stack.yaml`")


def test_a_plan_without_changes_says_so(project):
    project.stack("alpha")
    project.task("train")
    project.applied()
    text = markdown(project)
    assert text.startswith("### triplane: No changes (1 unchanged).")
    assert "Next:" not in text


def test_a_long_difference_is_cut_and_said_to_be(project):
    project.stack("alpha")
    project.task("long", run="echo first\n")
    project.task("short")
    project.applied()
    project.task("long", run="".join(f"echo {at} {'x' * 60}\n" for at in range(2000)))
    project.task("short", envs={"A": "1"})
    text = markdown(project, "--out", "plan.json")
    assert len(text) < LIMIT
    assert "long on alpha: update run 1" in text
    assert "The differences of 1 change are too long for a comment and left out (`long`)" in text
    assert "all of it is in the saved plan" in text
    assert "`triplane plan` shows all of it" in markdown(project)
    assert "+     export A='1'" in text  # what fits is whole
    assert "because run changed" in text


def test_many_changes_are_cut_and_counted(project):
    project.stack("alpha")
    for at in range(3):
        project.task(f"task-{at}")
    project.plan("--out", "plan.json")
    plan = from_json((project.folder / "plan.json").read_text())
    works = tuple(
        change.__class__(**{**_members(change), "work": f"work-{at:05}"})
        for at in range(400)
        for change in plan.works
    )
    text = markdown_view(plan.__class__(**{**_members(plan), "works": works}))
    assert len(text) < LIMIT
    shown = text.count("<details>")
    left_out = int(text.split("*and ")[1].split(" more changes")[0])
    listed = text.count("\n- `+` work-")
    assert shown + listed + left_out == len(works)
    assert text.count("<details>") == text.count("</details>")
    assert text.count("```") % 2 == 0


def _members(item):
    return {name: getattr(item, name) for name in item.__dataclass_fields__}


HOSTILE = [
    "</details><script>alert(1)</script>",
    "```\n</details>\n# heading",
    "````` five",
    "\x1b[31mred\x1b]8;;http://example.com\x07link",
    "| a | b |\n*bold* _it_ [link](http://x) ~~s~~ @somebody #1",
    "\u202egnitirw \u2066",
    "\r\n\r<b>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_user_text_stays_text_in_every_view(project, text):
    project.stack("alpha", "eks")
    project.task("train", envs={"A": "x"}, run="echo x\n")
    project.applied()
    project.task("train", envs={"A": text.replace("\x1b", "^")}, run=f"cat <<'E'\n{text}\nE\n")
    shown = project.plan()
    assert shown.code in (0, 1)
    if shown.code == 1:  # a control character that no script can carry
        assert "control" in shown.err
        assert "\x1b[31m" not in shown.err
        return
    for view in (shown.out, markdown(project)):
        assert "\x1b" not in view
        assert "\u202e" not in view
        assert "\r" not in view
    lines = markdown(project).splitlines()
    fences = [line for line in lines if line.startswith("```")]
    assert len(fences) == 2
    opening = fences[0].removesuffix("diff")
    assert fences[1] == opening
    inside = lines[lines.index(fences[0]) + 1 : lines.index(fences[1])]
    assert all(opening not in line for line in inside)
    outside = [line for line in lines if line not in inside]
    assert "<script>" not in "\n".join(outside)
    assert sum("</details>" in line for line in outside) == 1


def test_names_in_running_text_are_escaped(project):
    project.write(
        "st`ack_<b>.yaml",
        project.stack("alpha", set={"name": "demo", "inputs": ["tasks/"]}).read_text(),
    )
    project.task("train", folder="tasks/_a_ *b*", envs={"A_B": "1"})
    project.run("apply", "--stack", "st`ack_<b>.yaml", "--auto-approve", "-q")
    project.task("train", folder="tasks/_a_ *b*", envs={"A_B": "2"})
    done = project.run("plan", "--stack", "st`ack_<b>.yaml", "--format", "markdown")
    assert done.code == 0, done.text
    assert "``st`ack_<b>.yaml``" in done.out
    assert "tasks/\\_a\\_ \\*b\\*/train.yaml" in done.out
    assert "Next: ``triplane apply --stack 'st`ack_<b>.yaml'``" in done.out


def test_text_is_plain_when_piped_and_in_colour_only_on_a_terminal(project):
    project.stack("alpha")
    project.task("train")
    text = project.plan().out
    assert "\x1b" not in text
    project.plan("--out", "plan.json")
    plan = from_json((project.folder / "plan.json").read_text())
    coloured = text_view(plan, color=True)
    assert "\x1b[32m+ train on alpha: create run 1\x1b[0m" in coloured
    assert text_view(plan) == text


def test_the_summary_comes_first_and_again_where_it_left_the_screen(project):
    project.stack("alpha")
    project.task("train")
    lines = project.plan().out.splitlines()
    assert lines[0] == "Plan: 1 to create."
    assert lines[1] == "Set demo, stack stack.yaml"
    assert lines.count("Plan: 1 to create.") == 1
    for at in range(20):
        project.task(f"task-{at}")
    lines = project.plan().out.splitlines()
    assert lines[0] == lines[-1] == "Plan: 21 to create."


def test_text_is_folded_to_the_width_of_a_terminal_and_whole_elsewhere(project):
    project.stack("alpha")
    project.task("train", envs={"A": "short"})
    project.applied()
    project.task("train", envs={"A": "a long value with words " * 6})
    project.plan("--out", "plan.json")
    plan = from_json((project.folder / "plan.json").read_text())
    folded = text_view(plan, width=60, color=True)
    plain = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in folded.splitlines()]
    assert max(map(len, plain)) <= 60
    assert max(map(len, text_view(plan).splitlines())) > 100
    squeezed = "".join("".join(plain).split())
    assert squeezed == "".join(text_view(plan).split())


def test_a_comment_calls_nobody(project):
    project.stack("alpha")
    project.task("train", folder="tasks/@everybody", envs={"A": "1"})
    project.applied()
    project.task("train", folder="tasks/@everybody", envs={"A": "2"})
    text = markdown(project)
    assert "tasks/@<!-- -->everybody/train.yaml" in text
    assert "tasks/@everybody" not in text
