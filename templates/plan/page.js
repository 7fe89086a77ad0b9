"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = document.getElementById("filters");
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");
  const because = document.getElementById("because");
  const works = all(".work");
  const texts = new Map(works.map((work) => [work, work.textContent.toLowerCase()]));
  const rows = new Map(all("tr[data-of]").map((row) => [row.dataset.of, row]));

  function filter() {
    const chosen = (name) => new Set(
      all(`input[data-filter="${name}"]`).filter((box) => box.checked).map((box) => box.value));
    const actions = chosen("action");
    const targets = chosen("target");
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    for (const work of works) {
      const fits = actions.has(work.dataset.action) && targets.has(work.dataset.target)
        && texts.get(work).includes(wanted);
      work.hidden = !fits;
      rows.get(work.id).hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = `${count} of ${works.length} shown`;
    nothing.hidden = count > 0;
  }

  // The line that is pointed at, or that the arrow keys went to, says where it comes from.
  function tell(row) {
    all("tr.current").forEach((other) => other.classList.remove("current"));
    because.hidden = !row;
    because.textContent = row ? row.dataset.because : "";
    if (row) row.classList.add("current");
  }

  function step(region, by) {
    const lines = all("tr.traced", region);
    if (lines.length === 0) return false;
    const at = lines.findIndex((line) => line.classList.contains("current"));
    const next = at < 0 ? (by > 0 ? 0 : lines.length - 1)
      : Math.min(Math.max(at + by, 0), lines.length - 1);
    tell(lines[next]);
    lines[next].scrollIntoView({ block: "nearest" });
    return true;
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  const open = (value) => () => works.filter((work) => !work.hidden)
    .flatMap((work) => all("details", work)).forEach((part) => { part.open = value; });
  document.getElementById("open-all").addEventListener("click", open(true));
  document.getElementById("close-all").addEventListener("click", open(false));
  for (const region of all(".code")) {
    region.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by && step(region, by)) event.preventDefault();
      if (event.key === "Escape") tell(null);
    });
    region.addEventListener("blur", () => tell(null));
  }
  document.addEventListener("mouseover", (event) => {
    const row = event.target.closest("tr.traced");
    if (row) tell(row);
  });
  // A link to a change that is closed opens it.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const place = link && document.getElementById(link.getAttribute("href").slice(1));
    const part = place && place.querySelector("details");
    if (part) part.open = true;
  });
  filter();
})();
