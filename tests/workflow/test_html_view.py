"""The page of a plan, opened from file:// in a real browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from compiler.planning.plan_file import from_json
from compiler.planning.views import html_view
from tests.browser import browser

__all__ = ["browser"]  # a fixture


def changed(project):
    """A plan that creates, updates, deletes and leaves something."""
    project.stack("alpha", "eks", pricing={"alpha": {"cpu": 0.5}})
    project.task("train", envs={"LR": "0.1"}, resources={"cpus": 4, "infra": "slurm"})
    project.task("serve", resources={"cpus": 2, "infra": "k8s"})
    project.task("goes", resources={"cpus": 2, "infra": "k8s"})
    project.task("stays", resources={"cpus": 2, "infra": "k8s"})
    project.applied()
    project.task("train", envs={"LR": "0.2"}, resources={"cpus": 8, "infra": "slurm"})
    project.task("serve", resources={"cpus": 4, "infra": "k8s"})
    project.task("more", resources={"cpus": 2, "infra": "k8s"})
    (project.folder / "tasks/goes.yaml").unlink()


def page_of(project, *words):
    done = project.plan("--format", "html", *words)
    assert done.code == 0, done.text
    return done.out


@pytest.fixture
def opened(project, browser):
    """The page in the browser, which saw no error and fetched nothing."""
    place = project.write("plan.html", _page(project))
    browser.get_log("browser")
    browser.get(place.as_uri())
    yield browser
    assert browser.get_log("browser") == []
    loaded = "return performance.getEntriesByType('resource').map(item => item.name)"
    assert browser.execute_script(loaded) == []


_PAGES = []


def _page(project):
    """The page, made by the first test that wants it."""
    if not _PAGES:
        changed(project)
        _PAGES.append(page_of(project, "--out", "plan.json"))
    return _PAGES[0]


def find(browser, selector):
    return browser.find_element("css selector", selector)


def every(browser, selector):
    return browser.find_elements("css selector", selector)


def shown_works(browser):
    rows = every(browser, ".overview tbody tr")
    return [row.find_element("css selector", "th").text for row in rows if row.is_displayed()]


def test_the_overview_has_every_change(opened):
    assert find(opened, "h1").text == "Plan: 3 to create, 2 to update, 3 to delete, 3 unchanged."
    assert shown_works(opened) == ["goes", "more", "serve", "stays", "train"]
    assert find(opened, "#shown").text == "5 of 5 shown"
    assert "triplane apply plan.json" in find(opened, "header").text


def test_filters_by_action_target_and_text(opened):
    def box(kind, value):
        return find(opened, f'input[data-filter="{kind}"][value="{value}"]')

    box("action", "delete").click()
    assert shown_works(opened) == ["more", "serve", "stays", "train"]
    assert find(opened, "#shown").text == "4 of 5 shown"
    box("target", "eks").click()
    assert shown_works(opened) == ["train"]
    sections = [
        item.get_attribute("data-target") for item in every(opened, ".work") if item.is_displayed()
    ]
    assert sections == ["alpha"]
    box("target", "alpha").click()
    assert shown_works(opened) == []
    assert find(opened, "#nothing").is_displayed()
    box("target", "eks").click()
    find(opened, "#search").send_keys("MORE-1/JOB.yaml")
    assert shown_works(opened) == ["more"]
    assert not find(opened, "#nothing").is_displayed()


def test_before_and_after_stand_side_by_side(opened):
    section = find(opened, '.work[data-target="alpha"]')
    cells = section.find_elements("css selector", "td.remove, td.add")
    # What a screen reader says of a cell (`added: `) comes first, on a line of its own.
    by_text = {cell.text.splitlines()[-1]: cell for cell in cells if cell.text}
    before, after = by_text["export LR='0.1'"], by_text["export LR='0.2'"]
    assert before.location["y"] == after.location["y"]
    assert before.location["x"] + before.size["width"] <= after.location["x"]
    assert after.location["x"] + after.size["width"] <= 1300


def test_user_input_is_all_that_the_keyboard_needs(opened):
    from selenium.webdriver import ActionChains, Keys

    def press(key):
        ActionChains(opened).send_keys(key).perform()

    def focused():
        return opened.switch_to.active_element

    press(Keys.TAB)
    assert focused().text == "Skip to the changes"
    press(Keys.TAB)
    assert focused().get_attribute("value") == "create"
    press(Keys.SPACE)
    assert "more" not in shown_works(opened)
    seen = []
    for _ in range(40):
        press(Keys.TAB)
        seen.append(focused().tag_name)
        if focused().tag_name == "summary" and "serve" in focused().text:
            break
    assert seen[-1] == "summary"
    part = focused().find_element("xpath", "..")
    assert part.get_attribute("open")
    press(Keys.ENTER)
    assert not part.get_attribute("open")
    press(Keys.ENTER)
    assert part.get_attribute("open")


def test_everything_has_a_name_and_a_role(opened):
    tree = opened.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named = {}
    for node in tree:
        if not node.get("ignored"):
            role = node.get("role", {}).get("value", "")
            named.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    for role in ("checkbox", "button", "searchbox", "heading", "link", "group", "columnheader"):
        assert named.get(role), role
        if role != "group":
            assert all(named[role]), role
    assert "Filters" in named["form"]
    assert {"Action", "Target", "Search"} <= set(named["group"])
    assert named["main"]
    assert "train on alpha: update run 1" in [item.strip() for item in named["heading"]]
    # What a colour says is said in words too.
    texts = " ".join(named["StaticText"])
    assert "removed: " in texts
    assert "added: " in texts
    assert opened.execute_script("return document.documentElement.lang") == "en"


def test_text_can_be_told_from_its_background(opened):
    """Contrast of at least 4.5:1 (WCAG AA) wherever there is text, in both colour schemes."""
    for scheme in ("light", "dark"):
        opened.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        assert opened.execute_script(_CONTRASTS) == [], scheme


_CONTRASTS = """
const seen = new Map();
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => {
  const part = [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
};
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const color = numbers(getComputedStyle(at).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return dark ? [18, 18, 18] : [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const poor = [];
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
  if (["SCRIPT", "OPTION", "BUTTON"].includes(element.tagName)) continue;
  const [a, b] = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) poor.push([element.tagName, element.className, ratio.toFixed(2)].join(" "));
}
return [...new Set(poor)];
"""


def test_open_and_close_all(opened):
    find(opened, "#open-all").click()
    assert all(item.get_attribute("open") for item in every(opened, "details"))
    find(opened, "#close-all").click()
    assert not any(item.get_attribute("open") for item in every(opened, "details"))
    find(opened, ".overview a[href='#work-3']").click()
    assert find(opened, "#work-3 details").get_attribute("open")


def test_where_a_line_comes_from_shows_on_hover_and_by_key(project, browser):
    from selenium.webdriver import ActionChains, Keys

    changed(project)
    project.plan("--out", "plan.json")
    plan = from_json((project.folder / "plan.json").read_text())
    (job,) = [
        item
        for work in plan.works
        for item in work.objects
        if item.path.endswith("demo-more-1/job.yaml")
    ]
    sources = {
        job.path: {1: "templates/k8s/job.yaml.j2", 5: "resources.cpus (tasks/more.yaml:3:3)"}
    }
    place = project.write("plan.html", html_view(plan, sources=sources))
    browser.get(place.as_uri())
    find(browser, "#open-all").click()
    said = find(browser, "#because")
    assert not said.is_displayed()
    (section,) = [item for item in every(browser, ".work") if "more on eks" in item.text]
    first, second = section.find_elements("css selector", "tr.traced")
    ActionChains(browser).move_to_element(second).perform()
    assert said.is_displayed()
    assert said.text == "resources.cpus (tasks/more.yaml:3:3)"
    region = first.find_element("xpath", "ancestor::div[@role='region']")
    browser.execute_script("arguments[0].focus()", region)
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    assert not said.is_displayed()
    ActionChains(browser).send_keys(Keys.ARROW_DOWN).perform()
    assert said.text == "templates/k8s/job.yaml.j2"
    ActionChains(browser).send_keys(Keys.ARROW_DOWN).perform()
    assert said.text == "resources.cpus (tasks/more.yaml:3:3)"
    assert said.get_attribute("role") == "status"


def test_new_objects_say_of_each_line_where_it_comes_from(opened):
    section = next(item for item in every(opened, ".work") if "more" in item.text)
    said = {
        row.find_element("css selector", "td.text").get_attribute("textContent"): row.get_attribute(
            "data-because"
        )
        for row in section.find_elements("css selector", "tr.traced")
    }
    assert any("tasks/more.yaml:" in text and "(resources.cpus)" in text for text in said.values())
    assert re.search(r"tasks/more\.yaml:\d+:\d+ \(run\)", said["added:     echo more"])


def test_hostile_text_stays_text_in_the_browser(project, browser):
    hostile = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
    project.stack("alpha", "eks")
    project.task("train", envs={"A": "x"}, run="echo x\n")
    project.applied()
    project.task("train", envs={"A": hostile}, run=f"cat <<'E'\n{hostile}\nE\n")
    place = project.write("plan.html", page_of(project))
    browser.get(place.as_uri())
    assert browser.title.startswith("Plan of set demo")
    assert every(browser, "img") == []
    assert len(every(browser, "script")) == 1
    assert "document.title='taken'" in find(browser, "main").text
    assert browser.get_log("browser") == []


def test_the_page_needs_nothing_else(project):
    changed(project)
    page = page_of(project)
    assert page == page_of(project)
    references = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            references.extend(
                value for name, value in attrs if name in ("src", "href", "action", "srcset")
            )

    Reader().feed(page)
    assert all(value.startswith("#") for value in references)
    assert "url(" not in page
    assert "@import" not in page
    assert re.search("default-src 'none'", page)


def test_a_long_object_is_cut_and_said_to_be(project):
    project.stack("alpha")
    project.task("long", run="".join(f"echo {at}\n" for at in range(5000)))
    page = page_of(project)
    assert "The rest is too long for this page" in page
    assert "echo 4999" not in page
