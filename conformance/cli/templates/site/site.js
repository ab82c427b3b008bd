// Filters the lists of a page, and searches the site. Every page is complete without this script.
(function () {
  "use strict";
  document.documentElement.classList.add("js");

  // A row is shown if it has the text and, for each list of the filter, the chosen word.
  function filterBy(form) {
    const rows = Array.from(document.querySelectorAll("[data-row]"), (row) => ({
      element: row,
      text: row.textContent.toLowerCase(),
    }));
    const groups = Array.from(document.querySelectorAll("[data-group]"));
    const output = form.querySelector("output");
    function apply() {
      const fields = Array.from(form.elements).filter((field) => field.name !== "" && field.value.trim() !== "");
      let shown = 0;
      for (const row of rows) {
        const hit = fields.every((field) => field.name === "text"
          ? row.text.includes(field.value.trim().toLowerCase())
          : (row.element.dataset[field.name] || "").split(" ").includes(field.value));
        row.element.hidden = !hit;
        if (hit) shown += 1;
      }
      for (const group of groups) group.hidden = group.querySelector("[data-row]:not([hidden])") === null;
      output.textContent = shown + " of " + rows.length;
    }
    form.addEventListener("input", apply);
    form.addEventListener("change", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    // The fields are reset after this event.
    form.addEventListener("reset", () => setTimeout(apply));
    apply();
  }

  // The number of results that are shown.
  const MOST = 200;

  function search(form, results) {
    const index = (window.broadcheckIndex || []).map(([kind, title, more, path]) => ({
      kind, title, more,
      path: path === "" ? "case/" + more + ".html" : path,
      text: (kind + " " + title + " " + more).toLowerCase(),
    }));
    const output = form.querySelector("output");
    const words = form.elements.words;
    function item(entry) {
      const row = document.createElement("li");
      const link = row.appendChild(document.createElement("a"));
      link.href = entry.path;
      link.textContent = entry.title;
      const more = row.appendChild(document.createElement("span"));
      more.className = "faint";
      more.textContent = " " + entry.kind + (entry.more === "" ? "" : ", " + entry.more);
      return row;
    }
    function apply() {
      const wanted = words.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      const kind = form.elements.kind.value;
      const found = wanted.length === 0 && kind === "" ? [] : index.filter((entry) =>
        (kind === "" || entry.kind === kind) && wanted.every((word) => entry.text.includes(word)));
      results.replaceChildren(...found.slice(0, MOST).map(item));
      output.textContent = found.length === 0 ? (wanted.length === 0 ? "" : "nothing found")
        : found.length + " found" + (found.length > MOST ? ", the first " + MOST + " are shown" : "");
    }
    words.value = new URLSearchParams(location.search).get("q") || "";
    form.addEventListener("input", apply);
    form.addEventListener("change", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    words.focus();
    apply();
  }

  for (const form of document.querySelectorAll("form[data-filter]")) filterBy(form);
  const form = document.getElementById("_search");
  if (form) search(form, document.getElementById("_results"));
})();
