"""A real browser for pages that the program writes: headless Chromium, driven by selenium.

    python -m tests.browser install     # Debian's chromium and chromium-driver, as root

It installs the shells whose completion is tested as well. Where something is missing the tests are
skipped and say so; with CI=true they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.needs import give_up

PACKAGES = {
    "chromium": "chromium",
    "chromedriver": "chromium-driver",
    # tests/cli/test_completion.py
    "zsh": "zsh",
    "fish": "fish",
}


def missing() -> str | None:
    """What a page cannot be opened for, None if it can."""
    lost = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        lost.append("selenium")
    return f"no {', '.join(lost)}: python -m tests.browser install" if lost else None


def install() -> None:
    """Install Debian's packages where they are not there (root)."""
    lost = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if not lost:
        return
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *lost],
    ):
        subprocess.run(words, check=True, env=environ)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A `selenium.webdriver.Chrome`, one for all tests of a session."""
    lost = missing()
    if lost is not None:
        give_up(lost)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.add_argument("--window-size=1300,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        raise SystemExit("usage: python -m tests.browser install")
    install()
