"""A whole task: names, config, hooks, positions, and constructions from real files."""

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import Choice, Overrides, build_task
from compiler.model.build_task import build_checked
from compiler.model.builder import Builder
from compiler.source import read_text
from tests.unit.model_documents import built_task, task_findings, task_of


def test_an_empty_task():
    task = task_of("name: t")
    assert (task.name, task.num_nodes, task.resources.choice) == ("t", 1, Choice.ONE)
    (only,) = task.resources.candidates
    assert only.given == frozenset()
    assert (task.envs, task.secrets, task.workdir, task.config) == ({}, {}, None, {})
    assert task.given == {"name"}


def test_keys_without_a_value_count_as_absent():
    assert task_of("name: t\nsetup:\nresources:\nenvs: null\nworkdir:\n").given == {"name"}


def test_plain_fields():
    task = task_of(
        'setup: |\n  a\nrun: |\n  cat <<EOF\n  \\$x "q" ${A[@]/#/p}\n  EOF\n'
        "event_callback: echo\ninputs: {s3://b: 5}\noutputs: {s3://c: 1.5}\n"
        "api_server_access: false\n"
    )
    assert task.setup == "a\n"
    assert task.run == 'cat <<EOF\n\\$x "q" ${A[@]/#/p}\nEOF\n'
    assert (task.event_callback, task.api_server_access) == ("echo", False)
    assert (task.inputs, task.outputs) == ({"s3://b": 5}, {"s3://c": 1.5})


@pytest.mark.parametrize("name", ["a", "a-b", "a_b.c", "a--b", "A1", "1a"])
def test_names(name):
    assert task_of(f"name: {name}").name == name


@pytest.mark.parametrize("name", ["-a", "a-", "a b", "a---b", "a.", "'a\n'", "ä", "''"])
def test_names_refused(name):
    assert task_findings(f"name: {name}") == ["1:7 task-name"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("num_nodes: 0", ["1:12 out-of-range"]),
        ("num_nodes: '2'", ["1:12 wrong-type"]),
        ("num_nodes: 1.5", ["1:12 wrong-type"]),
        ("inputs: {a: 1, b: 2}", ["1:9 out-of-range"]),
        ("run: [a]", ["1:6 wrong-type"]),
        ("num_node: 1", ["1:1 unknown-field"]),
    ],
)
def test_plain_fields_refused(text, expected):
    assert task_findings(text) == expected


def test_all_errors_at_once_each_at_its_place():
    text = (
        "name: my task\nenvs:\n  A-B: x\n  C:\nresources:\n  cpus: 500m\n"
        "  infra: mars\nfile_mounts:\n  /a/: ./b\nvolumes:\n  /v: {name: x, size: 1}\n"
        "config:\n  aws: {vpc_name: x}\n"
    )
    assert task_findings(text) == [
        "1:7 task-name",
        "3:3 env-name",
        "4:3 env-required",
        "6:9 cpus-value",
        "7:10 infra-value",
        "9:3 mount-slash",
        "11:8 volume-keys",
        "13:3 config-aws",
    ]


CONFIG = (
    "{kubernetes: {pod_config: {spec: {hostNetwork: true}}, provision_timeout: 900},"
    " slurm: {sbatch_options: {time: '01:00:00'}}, active_workspace: research,"
    " hooks: [{run: ./save.sh}, {run: ./b, events: [down, stop], timeout: 5}],"
    " triplane: {on_files_change: run, native_script: job.sh}}"
)


def test_config_is_taken_apart():
    task = task_of(f"config: {CONFIG}")
    assert set(task.config) == {"kubernetes", "slurm", "active_workspace"}
    assert task.config["kubernetes"]["provision_timeout"] == 900
    assert [(hook.events, hook.timeout) for hook in task.hooks] == [
        (("stop", "preemption", "down"), 3600),
        (("stop", "down"), 5),
    ]
    assert (task.on_files_change, task.native_script) == ("run", "job.sh")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("{kubernetes: {autoscaler: karpenter}}", ["1:23 config-key"]),
        ("{kubernetes: {container_tools: {type: dind}}}", ["1:23 config-key"]),
        ("{kubernetes: {namespace: ml}}", ["1:23 config-key"]),
        ("{jobs: {bucket: s3://b}}", ["1:10 config-key"]),
        ("{kubernets: {}}", ["1:10 config-key"]),
        ("{aws: {vpc_name: x}}", ["1:10 config-aws"]),
        ("{triplane: {on_file_change: run}}", ["1:21 config-key"]),
        ("{triplane: {on_files_change: never}}", ["1:38 invalid-value"]),
        ("{hooks: [{run: ''}]}", ["1:24 hook-run"]),
        ("{hooks: [{events: [stop]}]}", ["1:18 hook-run"]),
        ("{hooks: [{run: x, events: [preempt]}]}", ["1:36 hook-event"]),
        ("{hooks: [{run: x, timeout: 0}]}", ["1:36 out-of-range"]),
        ("{hooks: {run: x}}", ["1:17 wrong-type"]),
    ],
)
def test_config_refused(config, expected):
    assert task_findings(f"config: {config}") == expected


def test_hooks_have_limits():
    long = "x" * 8192 + "ä" * 4097
    assert task_findings(f"config: {{hooks: [{{run: {long}}}]}}") == ["1:24 hook-run"]
    many = ", ".join(["{run: x}"] * 33)
    assert task_findings(f"config: {{hooks: [{many}]}}")[0].split()[1] in (
        "hooks-too-many",
        "out-of-range",
    )


def test_a_key_of_config_gets_a_suggestion():
    _, diagnostics = built_task("config: {kubernetes: {pod_confg: {}}}")
    assert [item.hint for item in diagnostics] == ["did you mean `pod_config`?"]


def test_every_value_can_tell_where_it_was_written():
    text = "name: t\nresources:\n  cpus: 4\nrun: |\n  a\n  b\n"
    task = task_of(text)
    assert task.origin.span("name").location == "task.yaml:1:7"
    assert (task.origin.span("run").line, task.origin.span("run").end_line) == (5, 6)
    assert task.resources.candidates[0].origin_of("cpus").span().location == "task.yaml:3:9"
    assert task.origin.child("resources", "cpus").dotted == "resources.cpus"


@pytest.mark.parametrize(
    "text",
    [
        "resources: []\n",
        "resources: {any_of: 3, accelerators: 7, infra: [], labels: 1, image_id: 3}\n",
        "resources: {any_of: [3, null, {labels: [1]}], ports: {}, autostop: [], cpus: {}}\n",
        "envs: 3\nsecrets: 4\nmanaged_secrets: 5\nworkdir: 6\nfile_mounts: 7\nvolumes: 8\n",
        "service: 3\npool: 4\nconfig: 5\nname: [6]\nnum_nodes: {}\nsetup: 7\ninputs: 8\n",
        "service: {readiness_probe: 3, replica_policy: 4, ports: [], tls: 5, load_balancer: 6}\n",
        "config: {hooks: [3, {run: 4, events: 5}], triplane: 6, kubernetes: 7}\n",
        "file_mounts: {a: 3, b: {source: 4, name: [], config: 5, mode: 6}}\n",
        "volumes: {/a: {size: [], config: 3, labels: 4}, /b: {host_path: 3, mode: 4}}\n",
        "resources: {job_recovery: {strategy: 3, recover_on_exit_codes: {}}, priority: []}\n",
    ],
)
def test_values_of_the_wrong_kind_never_crash(text):
    task, diagnostics = built_task(text)
    assert task is None
    assert diagnostics.has_errors


def test_building_reports_what_no_schema_has_seen():
    (document,) = read_text("num_nodes: two\nsetup: [x]\n", "t.yaml", Diagnostics())
    b = Builder(document, environ={})
    build_checked(b, Diagnostics())
    assert [item.code for item in b.diagnostics] == ["unexpected-value", "unexpected-value"]


def test_a_task_does_not_depend_on_the_order_of_its_keys():
    one = task_of("name: t\nnum_nodes: 2\nenvs: {A: x}\nresources: {cpus: 1, infra: k8s}\n")
    two = task_of("resources: {infra: k8s, cpus: 1}\nenvs: {A: x}\nnum_nodes: 2\nname: t\n")
    assert one == two


def test_building_does_not_change_the_document():
    text = "envs: {A: x}\nfile_mounts: {/d/$A: ./b}\nworkdir: ./$A\n"
    (document,) = read_text(text, "t.yaml", Diagnostics())
    before = repr(document.data)
    build_task(document, Diagnostics(), environ={}, overrides=Overrides(name="n"))
    assert repr(document.data) == before


# Constructions from real files, in our own words.


def test_a_store_given_by_a_variable():
    task = task_of(
        "envs: {BUCKET: demo-data, KIND: s3}\nfile_mounts: {/data: {name: $BUCKET, store: $KIND}}\n"
    )
    assert (task.storage[0].name, task.storage[0].store) == ("demo-data", "S3")


def test_literal_envs_and_shell_text():
    task = task_of(
        "envs: {BUILD: 'make -j$(nproc)', LR: 1e-6}\nrun: |\n  set -o pipefail\n"
        '  eval "${BUILD}"\n  exit 0\n'
    )
    assert task.envs == {"BUILD": "make -j$(nproc)", "LR": "1e-6"}
    assert task.run == 'set -o pipefail\neval "${BUILD}"\nexit 0\n'


def test_accelerators_without_blanks_and_an_empty_secret():
    task = task_of(
        "resources: {accelerators: {H100:8, H200:8}}\nsecrets: {HF_TOKEN: ''}\n"
        "run: echo ${HF_TOKEN:-none}\n"
    )
    assert [str(c.accelerator) for c in task.resources.candidates] == ["H100:8", "H200:8"]
    assert task.secrets["HF_TOKEN"].value == ""
    assert task.run == "echo ${HF_TOKEN:-none}"


def test_a_pool_and_a_run_in_one_file():
    task = task_of(
        "pool: {workers: 3}\nfile_mounts: {/out: {source: s3://results}}\nrun: |\n"
        "  echo $((SKYPILOT_JOB_RANK * 10 / SKYPILOT_NUM_JOBS))\n"
    )
    assert task.pool.min_workers == 3
    assert task.storage[0].mode == "MOUNT"
    assert "SKYPILOT_JOB_RANK" in task.run


def test_a_large_fractional_task_with_an_unknown_strategy():
    text = (
        "# elastic\n---\nnum_nodes: 1500\nresources:\n  cpus: 0.1\n"
        "  job_recovery: {strategy: DYNAMIC_NODE_SET, min_nodes: 2}\n"
    )
    assert task_findings(text) == ["6:28 job-recovery-strategy", "6:46 job-recovery-key"]
    fixed = text.replace("{strategy: DYNAMIC_NODE_SET, min_nodes: 2}", "failover")
    task = task_of(fixed)
    assert (task.num_nodes, task.resources.candidates[0].cpus.value) == (1500, 0.1)


def test_the_same_device_twice_with_a_probe_that_posts():
    task = task_of(
        "envs: {MODEL: org/m}\nresources: {accelerators: {L4:1, L4:4, A100:1}, ports: [8000]}\n"
        "service:\n  replicas: 1\n  readiness_probe:\n    path: /v1/chat\n"
        "    post_data: {model: $MODEL, messages: [{content: 'Hello! $5?'}], max_tokens: 1}\n"
    )
    assert [str(c.accelerator) for c in task.resources.candidates] == ["L4:1", "L4:4", "A100:1"]
    assert task.service.readiness_probe.post_data == {
        "model": "org/m",
        "messages": [{"content": "Hello! $5?"}],
        "max_tokens": 1,
    }


def test_one_device_times_spot_and_on_demand_refuses_an_unscaled_service():
    text = (
        "resources:\n  accelerators: { A100-80GB:8 }\n  ports: 30000\n"
        "  any_of:\n  - use_spot: true\n  - use_spot: false\n"
    )
    candidates = task_of(text).resources.candidates
    assert [(str(c.accelerator), c.use_spot) for c in candidates] == [
        ("A100-80GB:8", True),
        ("A100-80GB:8", False),
    ]
    service = "service: {readiness_probe: /, replica_policy: {min_replicas: 1, max_replicas: 2}}\n"
    assert task_findings(text + service) == ["7:1 service-mixed-spot", "7:65 scaling-needs-target"]


def test_a_required_variable_with_a_default_in_the_shell():
    text = (
        "envs: {PREFIX: null}\nsecrets: {SKYPILOT_API_SERVER_ENDPOINT: null}\nrun: a ${PREFIX:-b}"
    )
    assert task_findings(text) == ["1:8 env-required"]
    task = task_of(text, overrides=Overrides(env=(("PREFIX", ""),)))
    assert set(task.secrets) == {"SKYPILOT_API_SERVER_ENDPOINT"}


def test_alternatives_that_hold_only_a_region():
    text = "resources: {cloud: aws, ordered: [{region: us-east-1}, {region: us-west-2}]}\n"
    task = task_of(text)
    assert [str(c.infra) for c in task.resources.candidates] == ["aws/us-east-1", "aws/us-west-2"]
    assert task.resources.choice is Choice.ORDERED


def test_a_machine_image_on_one_cloud_of_many():
    task = task_of(
        "resources:\n  accelerators: A100:8\n  image_id: docker:a\n  any_of:\n"
        "  - {cloud: gcp, image_id: projects/p/images/i}\n  - {cloud: aws, image_id: null}\n"
        "  - cloud: kubernetes\n"
        "file_mounts: {~/.cache/huggingface: {name: gpt-data, mode: COPY}}\n"
    )
    images = [c.image for c in task.resources.candidates]
    assert (images[0].machine, images[1], images[2].docker) == ("projects/p/images/i", None, "a")


def test_ordered_accelerators_and_text_that_looks_like_a_number():
    task = task_of(
        "resources:\n  accelerators:\n  - A100:8\n  - A100-80GB:8\n  - H100:8\n"
        "envs: {ACTOR_LR: 1e-6}\n"
    )
    assert [str(c.accelerator) for c in task.resources.candidates] == [
        "A100:8",
        "A100-80GB:8",
        "H100:8",
    ]
    assert task.envs == {"ACTOR_LR": "1e-6"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("resources: {spot_recovery: none}", "1:13 unknown-field"),
        ("resources: {accelerator_args: {tpuvm: true}}", "1:32 unknown-field"),
        ("resources: {hooks: []}", "1:13 unknown-field"),
    ],
)
def test_spellings_of_older_versions(text, expected):
    assert task_findings(text) == [expected]
