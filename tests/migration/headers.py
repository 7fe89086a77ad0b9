"""Headers made up at random from a seed: options in all spellings, lines of all kinds."""

from __future__ import annotations

import random

# Values that sbatch takes, values that it does not, and values that it takes for something else.
VALUES: dict[str, tuple[str | None, ...]] = {
    "nodes": ("1", "4", "2-4", "1k", "4-2", "0", "x", "-3", "2-", " 3", "03"),
    "ntasks": ("1", "8", "0", "=32", "2 3"),
    "ntasks-per-node": ("1", "4"),
    "cpus-per-task": ("1", "8", "x"),
    "time": ("1", "24:00:00", "1-0", "1-2:3", "UNLIMITED", "0", "1:2:3:4", "5:", "12h", "1-1:1:1"),
    "mem": ("4G", "0", "100", "4gb", "1.5G", "1023K", "4 G", "", "1T", "5Gi"),
    "mem-per-cpu": ("2G", "1500"),
    "mail-type": ("END", "ALL", "NONE", "END,FAIL", "begin,foo", "foo", "TIME_LIMIT_80,ALL", ""),
    "signal": ("USR1@60", "B:USR1@120", "SIGUSR1", "10@1", "BR:2@3", "foo", "USR1@x", "@60"),
    "distribution": ("block", "cyclic:block", "*:*:*", "plane=4", "plane", "block,pack", "a", ""),
    "exclusive": (None, "user", "mcs", "foo", ""),
    "gres": ("gpu:1", "gpu:a100:4,nvme:3", "none", "gpu"),
    "output": ("x", "/a/%j", "none", "%x-%j.out", "a b"),
    "error": ("e",),
    "chdir": ("/tmp", "sub"),
    "hint": ("nomultithread", "foo", "compute_bound,memory_bound"),
    "threads-per-core": ("1",),
    "ntasks-per-core": ("1",),
    "nodelist": ("n[1-3]", "n1,n2", "a[01-03,7],b", "n[3-1]"),
    "open-mode": ("append", "x", "truncate"),
    "nice": (None, "10", "-5", "x", "99999999999"),
    "priority": ("1", "TOP", "x", "-1", "4294967293"),
    "profile": ("all", "none", "task,energy", "foo"),
    "cpu-freq": ("low", "2000", "1000-2000", "low-high:ondemand", "3000-2000", "foo"),
    "mem-bind": ("local", "v,local", "map_mem:0,1", "none", "foo"),
    "gpu-bind": ("closest", "map_gpu:0,1", "single:2", "foo"),
    "switches": ("2", "2@10", "x", "2@1:00:00"),
    "no-kill": (None, "off", "x"),
    "get-user-env": (None, "10", "10L", "x"),
    "begin": ("now", "now+1hour", "16:00", "2030-01-01", "x", "25:00"),
    "requeue": (None,),
    "no-requeue": (None,),
    "oversubscribe": (None,),
    "export": ("ALL", "NONE", "A=b,C"),
    "dependency": ("singleton", "afterok:1:2"),
    "array": ("1-10%2",),
    "constraint": ("a&b", "[a*2&b]"),
    "comment": ("a b", "#c", ""),
    "job-name": ("x", 'a "b', "é"),
    "gpus": ("2", "a100:2"),
    "gpus-per-task": ("1",),
    "ntasks-per-gpu": ("1",),
    "account": ("x",),
    "partition": ("a,b",),
    "parsable": (None,),
    "ignore-pbs": (None,),
    "wait-all-nodes": ("0", "1", "2"),
}
SHORT = {
    "nodes": "N",
    "ntasks": "n",
    "cpus-per-task": "c",
    "time": "t",
    "output": "o",
    "job-name": "J",
    "partition": "p",
    "account": "A",
    "array": "a",
}
_PBS = (
    *("-l nodes=2:ppn=4", "-l walltime=1:00:00", "-N n", "-j oe", "-m abe", "-V", "-Z"),
    *("-l select=2:ncpus=8:mpiprocs=4", "-l mem=4gb", "-l nodes=n1+n2:ppn=2", "-m x", "-h"),
    *("-W depend=afterok:1", "-v A=b", "-l naccelerators=2", "x", "-l file=5GB"),
)
_BSUB = ("-n 4", "-J x", "-W 2:00", "-M 400", "-x", '-R "span[hosts=1]"', "-n 2,4", '-m "a b"')
_TAILS = ("", "", "", "", "", " # c", "#c", " \\", " :", " --", ' ""', " hetjob")


def header(seed: int) -> str:
    """A whole script; the same for the same seed."""
    chance = random.Random(seed)
    lines = ["#!/bin/bash"]
    for _ in range(chance.randint(1, 6)):
        kind = chance.random()
        if kind < 0.8:
            magic = chance.choice(
                ["#SBATCH "] * 8 + ["#SBATCH", "#SLURM ", "# SBATCH ", " #SBATCH "]
            )
            options = " ".join(_option(chance) for _ in range(chance.choice([1, 1, 1, 2, 3])))
            lines.append(magic + options + chance.choice(_TAILS))
        elif kind < 0.87:
            lines.append(chance.choice(["", "# c", "#SBATCH", "#SBATCH #", "#SBATCH hetjob"]))
        elif kind < 0.91:
            lines.append("set -e")
        elif kind < 0.97:
            lines.append(f"#PBS {chance.choice(_PBS)}")
        else:
            lines.append(f"#BSUB {chance.choice(_BSUB)}")
    return "\n".join([*lines, "echo", ""])


def _option(chance: random.Random) -> str:
    name = chance.choice(list(VALUES))
    value = chance.choice(VALUES[name])
    if name in SHORT and chance.random() < 0.4:
        glue = chance.choice(["", " ", " "])
        return f"-{SHORT[name]}{'' if value is None else glue + _quoted(chance, value)}"
    shown = name if chance.random() < 0.9 else name[: chance.randint(2, len(name))]
    if value is None:
        return f"--{shown}"
    return f"--{shown}{chance.choice('=== ')}{_quoted(chance, value)}"


def _quoted(chance: random.Random, value: str) -> str:
    if value and not set(value) & set(" #\"'") and chance.random() > 0.1:
        return value
    forms = (
        "'{}'".format(value.replace("'", "")),
        '"{}"'.format(value.replace('"', '\\"')),
        value,
        value.replace(" ", "\\ ").replace("#", "\\#"),
    )
    return chance.choice(forms)
