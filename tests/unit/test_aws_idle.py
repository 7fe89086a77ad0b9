"""Nodes that are only kept, until nobody was on them for a while."""

from __future__ import annotations

import json
import time

from compiler.model import Autostop
from tests.aws.builders import job, resources
from tests.aws.nodes import Cluster
from tests.aws.projects import run, scripts


def kept(**autostop: object):
    asked = resources(autostop=Autostop(0, down=True, **autostop))
    return job(asked, num_nodes=2, script=None, setup="true\n")


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_nodes_end_when_nobody_is_on_them_any_more(tmp_path):
    cluster = Cluster(tmp_path, kept())
    first, second = cluster.nodes
    (second.folder / "session").touch()  # somebody is on one: the other waits, too
    busy = cluster.run_folder / "state/1.busy"
    for node in cluster.nodes:
        script = node.folder / "triplane/scripts/job.env"
        script.write_text(script.read_text().replace("IDLE_MINUTES=0", "IDLE_MINUTES=1"))
        idle = node.folder / "triplane/scripts/idle.sh"
        idle.write_text(idle.read_text().replace("IDLE_MINUTES * 60", "IDLE_MINUTES * 2"))
        idle.write_text(idle.read_text().replace("-ge 30", "-ge 0"))
        cluster.start(node)
    wait_for(busy.exists)
    since = time.monotonic()
    while time.monotonic() - since < 5:
        assert first.process.poll() is None
        assert second.process.poll() is None
        time.sleep(0.5)
    (second.folder / "session").unlink()
    assert cluster.wait() == [0, 0]
    assert "nobody was here" in first.log()
    assert cluster.state("0.end") == "0 idle"
    assert json.loads(cluster.state("outcome.json"))["outcome"] == "succeeded"
    assert first.was_shut_down
    assert second.was_shut_down


def test_sessions_do_not_count_where_nobody_waits_for_them(tmp_path):
    cluster = Cluster(tmp_path, kept(wait_for="jobs"))
    (cluster.nodes[0].folder / "session").touch()
    assert cluster.run() == [0, 0]


def test_kept_nodes_that_end_by_themselves_are_terminated(tmp_path):
    project = run(tmp_path, kept())
    template = project.one("LaunchTemplate").inputs
    assert template["instanceInitiatedShutdownBehavior"] == "terminate"
    assert "ENDS=0\nIDLE_MINUTES=0\nIDLE_SESSIONS=1\n" in scripts(project)["job.env"]
