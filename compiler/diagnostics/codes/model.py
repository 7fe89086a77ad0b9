"""Codes for the parts of a task that no other module of codes covers: names, variables, config."""

from compiler.diagnostics.code import Code, Severity

UNEXPECTED_VALUE = Code(
    "unexpected-value",
    Severity.ERROR,
    "A value is of a kind that the field cannot hold.",
    "The field would mean nothing.",
    "Write a value of the kind that the message names; `triplane explain FIELD` says more.",
    example="num_nodes: two",
)
TASK_NAME = Code(
    "task-name",
    Severity.ERROR,
    "The task's name cannot be used.",
    "Names of jobs, pods and hosts are made from it.",
    "Use letters and digits, with at most two of `.`, `_`, `-` in a row between them, none first "
    "or last.",
    example="name: my task",
)
SETUP_GOES_ON = Code(
    "setup-goes-on",
    Severity.NOTE,
    "`setup` has several commands, and one that fails does not end it.",
    "The shell runs without `-e`, as in SkyPilot: a failed installation is noticed only in `run`.",
    "Begin `setup` with `set -e`, or leave it if the last command is the one that counts.",
    example="setup: |\n  pip install torch\n  pip list\nrun: python train.py",
)
ENV_NAME = Code(
    "env-name",
    Severity.ERROR,
    "The key of a variable is no name of an environment variable.",
    "A shell could not set it.",
    "Use letters, digits and `_`, no digit first.",
    example="envs: {MY-VAR: x}",
)
ENV_VALUE = Code(
    "env-value",
    Severity.ERROR,
    "The value of a variable is a map or a list.",
    "A variable holds text; SkyPilot would pass on the Python spelling of the list.",
    "Put the value in quotes, or use one variable for each part.",
    example="envs: {PORTS: [80, 81]}",
)
ENV_REQUIRED = Code(
    "env-required",
    Severity.ERROR,
    "A variable without a value was not given one.",
    "A null in `envs` means that whoever starts the task must give the value.",
    "Give it with `--env NAME=VALUE` (or `--env NAME` to take it from the environment), or write "
    '"" for an empty value.',
    example="envs: {HF_HOME: null}",
)
SECRET_NAME = Code(
    "secret-name",
    Severity.ERROR,
    "The name of a secret is not in a form that the dialect has.",
    "A secret becomes an environment variable, or names one that is kept elsewhere.",
    "Write `NAME: null` or `NAME: value` in a map, `secrets:NAME` in a list.",
    example="secrets: [HF_TOKEN]",
)
SECRET_REFERENCE = Code(
    "secret-reference",
    Severity.ERROR,
    "A secret that is kept elsewhere has a value in the file.",
    "`secrets:NAME` refers to a store, so the value would not be used.",
    "Drop the prefix to use the value, or the value to use the store.",
    example="secrets: {'secrets:HF_TOKEN': abc}",
)
SECRET_SUBSTITUTED = Code(
    "secret-substituted",
    Severity.ERROR,
    "A secret is used where text is rendered into files.",
    "What is rendered never holds the value of a secret.",
    "Use a variable of `envs` for what is not secret. Inside `setup` and `run` the shell has the "
    "secret; the headers and the body of a readiness probe may name it.",
    example="file_mounts: {/data: 's3://$BUCKET'}  # BUCKET under secrets",
)
DOCKER_LOGIN_INCOMPLETE = Code(
    "docker-login-incomplete",
    Severity.ERROR,
    "Only part of a registry login is given.",
    "A login needs user, password and server.",
    "Give SKYPILOT_DOCKER_USERNAME, SKYPILOT_DOCKER_PASSWORD and SKYPILOT_DOCKER_SERVER.",
    example="secrets: {SKYPILOT_DOCKER_PASSWORD: null}",
)
DOCKER_LOGIN_SPLIT = Code(
    "docker-login-split",
    Severity.ERROR,
    "A registry login is split between `envs` and `secrets`.",
    "The three variables are taken from one place.",
    "Put all three into `secrets`.",
)
DOCKER_LOGIN_UNUSED = Code(
    "docker-login-unused",
    Severity.WARNING,
    "A registry login is given, but no alternative runs an image.",
    "The login does nothing.",
    "Name the image in `image_id`, or leave the login out.",
)
SUBSTITUTION_DEFAULT = Code(
    "substitution-default",
    Severity.ERROR,
    "A variable in braces is followed by shell syntax, such as `:-`.",
    "`workdir`, `file_mounts`, `volumes` and `service` know `$NAME` and `${NAME}` only; SkyPilot "
    "mangles anything else.",
    "Give the default as a value in `envs`; `--env` replaces it.",
    example="file_mounts: {/data: 's3://${BUCKET:-my-bucket}'}",
)
SUBSTITUTION_DUPLICATE = Code(
    "substitution-duplicate",
    Severity.ERROR,
    "Two keys of a map are the same after substitution.",
    "One entry would hide the other.",
    "Change one of the keys, or the variables in them.",
    example="file_mounts: {/data: ./a, $DIR: ./b}  # DIR is /data",
)
CONFIG_KEY = Code(
    "config-key",
    Severity.ERROR,
    "The task's `config` has a key that a task cannot set.",
    "SkyPilot drops or refuses it only when the task is launched.",
    "Set it in the stack's `config`, or use a key that the message names.",
    example="config: {kubernetes: {autoscaler: karpenter}}",
)
CONFIG_AWS = Code(
    "config-aws",
    Severity.ERROR,
    "The task's `config` has an `aws` key.",
    "Accounts, networks and identities on AWS are not a task's choice.",
    "Set it under `config.aws` of the stack.",
    example="config: {aws: {vpc_name: my-vpc}}",
)
HOOKS_TOO_MANY = Code(
    "hooks-too-many",
    Severity.ERROR,
    "There are more hooks than a task may have.",
    "Every hook delays the end of the nodes.",
    "Put several commands into one hook.",
)
HOOK_RUN = Code(
    "hook-run",
    Severity.ERROR,
    "The text of a hook is empty or too long.",
    "A hook has 1 to 16384 bytes of bash.",
    "Put a long script into a file of the workdir and call it.",
    example="config: {hooks: [{run: ''}]}",
)
HOOK_EVENT = Code(
    "hook-event",
    Severity.ERROR,
    "A hook names an event that there is not.",
    "The hook would never run.",
    "Use stop, preemption or down.",
    example="config: {hooks: [{run: ./save.sh, events: [preempt]}]}",
)
SECRET_INLINE = Code(
    "secret-inline",
    Severity.WARNING,
    "The value of a secret is written in the file.",
    "What is committed to git is no secret any more. The value is masked and never rendered.",
    "Write `NAME: null` and hand the value over, or name its place in the stack.",
    example="secrets: {HF_TOKEN: hf_abc}",
)
SECRET_REPEATED = Code(
    "secret-repeated",
    Severity.WARNING,
    "The value of a secret stands once more in the file, outside of `secrets`.",
    "There it is a text like any other: rendered into files, shown in plans, kept in records.",
    "Name the secret (`$NAME` in `setup` and `run`) instead of repeating its value.",
    example="secrets: {HF_TOKEN: hf_abc}\nrun: huggingface-cli login --token hf_abc",
)
ENV_TOO_LONG = Code(
    "env-too-long",
    Severity.ERROR,
    "The value of a variable is longer than Linux hands to a program.",
    "One `NAME=value` may have 128 KiB; every command of `setup` and `run` would fail to start.",
    "Put the text into a file of the workdir, or mount it with `file_mounts`.",
)
ENV_HOLDS_SECRET = Code(
    "env-holds-secret",
    Severity.WARNING,
    "A password stands among the variables.",
    "Variables are rendered into files, shown in plans and kept in records; secrets are not.",
    "Move it, with the rest of the login, to `secrets`.",
    example="envs: {SKYPILOT_DOCKER_PASSWORD: hunter2}",
)
URL_HOLDS_SECRET = Code(
    "url-holds-secret",
    Severity.ERROR,
    "The URL of a repository has a password or a token in it.",
    "The URL is rendered into files, shown in plans and kept in records.",
    "Leave it out of the URL and hand it over as the secret GIT_TOKEN.",
    example="workdir: {url: 'https://me:token@git.example.com/team/repo.git'}",
)
