// Filters the page, and opens the target of a link. The page is complete without this script.
(function () {
  "use strict";
  document.documentElement.classList.add("js");
  const form = document.getElementById("_filter");
  const shown = document.getElementById("_shown");
  const fields = ["rules", "clause", "nature", "convention", "impl", "status", "text"];
  const columns = document.head.appendChild(document.createElement("style"));
  const sections = Array.from(document.querySelectorAll("section[data-rules]"), (section) => ({
    element: section,
    rules: section.dataset.rules,
    rows: document.querySelector('.matrix [data-rules="' + section.dataset.rules + '"]'),
    clauses: Array.from(section.querySelectorAll("details.clause"), (clause) => ({
      element: clause,
      clause: clause.dataset.clause,
      row: document.querySelector('.matrix [data-rules="' + section.dataset.rules + '"] [data-clause="'
        + clause.dataset.clause + '"]'),
      list: clause.querySelector(".cases"),
      count: clause.querySelector("summary > .faint"),
      cases: Array.from(clause.querySelectorAll("details.case"), (one) => ({
        element: one,
        letters: one.dataset.s,
        nature: one.dataset.n,
        convention: one.dataset.c || "",
        marks: one.querySelector("summary > .marks"),
        counts: Array.from(one.querySelectorAll("summary > .marks > *")),
        text: one.firstElementChild.textContent.toLowerCase(),
      })),
    })),
  }));
  // The statuses that come first in a list, worst first.
  const FAILURES = "feu";
  // The implementation whose status the cases show and are sorted by; empty for all.
  let judge = "";
  // If a filter leaves at most this many cases, their clauses are opened.
  const FEW = 80;

  function asked() {
    const wanted = {};
    for (const field of fields) wanted[field] = form.elements[field].value;
    wanted.text = wanted.text.trim().toLowerCase();
    return wanted;
  }

  // The letters of the status of a case: for one implementation, or for all.
  function lettersOf(one, impl) {
    return impl === "" ? one.letters : one.letters.charAt(Number(impl));
  }

  function matches(one, wanted) {
    const letters = lettersOf(one, wanted.impl);
    const judged = Array.from(letters).some((letter) => wanted.status.includes(letter));
    return (wanted.nature === "" || wanted.nature === one.nature)
      && (wanted.convention === "" || wanted.convention === one.convention)
      && (wanted.status === "" || judged) && (wanted.text === "" || one.text.includes(wanted.text));
  }

  function urgency(one) {
    const place = Array.from(FAILURES).findIndex((letter) => lettersOf(one, judge).includes(letter));
    return place === -1 ? FAILURES.length : place;
  }

  // Shows the sign and word for one implementation, or the counts over all.
  function showMarks(one) {
    if (judge === "") {
      one.marks.replaceChildren(...one.counts);
      return;
    }
    const letter = lettersOf(one, judge);
    const option = Array.from(form.elements.status.options).find((other) => other.value === letter);
    const mark = document.createElement("span");
    mark.className = option ? letter : "faint";
    mark.textContent = option ? option.textContent : "not judged";
    one.marks.replaceChildren(mark);
  }

  function judgeBy(impl) {
    if (impl === judge) return;
    judge = impl;
    for (const section of sections) {
      for (const clause of section.clauses) {
        clause.cases.forEach(showMarks);
        const sorted = clause.cases.slice().sort((one, other) => urgency(one) - urgency(other));
        clause.list.append(...sorted.map((one) => one.element));
      }
    }
  }

  function apply() {
    const wanted = asked();
    judgeBy(wanted.impl);
    const any = fields.some((field) => wanted[field] !== "");
    let visible = 0;
    let all = 0;
    for (const section of sections) {
      let inSection = 0;
      for (const clause of section.clauses) {
        const here = (wanted.rules === "" || wanted.rules === section.rules)
          && (wanted.clause === "" || wanted.clause === clause.clause);
        let inClause = 0;
        for (const one of clause.cases) {
          const hit = here && matches(one, wanted);
          one.element.hidden = !hit;
          if (hit) inClause += 1;
        }
        all += clause.cases.length;
        inSection += inClause;
        clause.element.hidden = inClause === 0;
        clause.row.hidden = inClause === 0;
        const total = clause.cases.length;
        clause.count.textContent = inClause === total ? "(" + total + ")" : "(" + inClause + " of " + total + ")";
      }
      visible += inSection;
      section.element.hidden = inSection === 0;
      section.rows.hidden = inSection === 0;
    }
    for (const section of sections) {
      for (const clause of section.clauses) {
        if (!clause.element.hidden && any && visible <= FEW) clause.element.open = true;
      }
    }
    columns.textContent = wanted.impl === "" ? ""
      : ".matrix tr > :nth-child(n+2):not(:nth-child(" + (Number(wanted.impl) + 2) + ")) { display: none; }";
    shown.textContent = visible + " of " + all + (all === 1 ? " case" : " cases");
    return any;
  }

  // Stores the filter in the address, so that a view can be shared.
  function remember() {
    const parts = new URLSearchParams();
    for (const field of fields) {
      const value = form.elements[field].value;
      if (value !== "") parts.set(field, value);
    }
    const text = parts.toString();
    history.replaceState(null, "", text === "" ? "#" : "#?" + text);
  }

  function changed() {
    apply();
    remember();
  }

  function set(values) {
    for (const field of fields) form.elements[field].value = values[field] || "";
    // A value that is not an option of a list selects nothing.
    for (const field of fields) if (form.elements[field].selectedIndex === -1) form.elements[field].value = "";
  }

  function open(element) {
    for (let around = element; around; around = around.parentElement) {
      if (around.tagName === "DETAILS") around.open = true;
      if (around.hidden) {
        set({});
        apply();
      }
    }
  }

  // Applies the address: a filter, or the id of a case or clause to open.
  function follow() {
    const hash = location.hash.slice(1);
    if (hash.startsWith("?")) {
      set(Object.fromEntries(new URLSearchParams(hash.slice(1))));
      apply();
      return;
    }
    let id = hash;
    try { id = decodeURIComponent(hash); } catch (error) { /* use it unchanged */ }
    const target = id === "" ? null : document.getElementById(id);
    if (!target) return;
    open(target);
    const inside = target.closest("details");
    (inside || target).scrollIntoView();
    if (inside) inside.firstElementChild.focus({ preventScroll: true });
  }

  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  // The fields are reset after this event.
  form.addEventListener("reset", () => setTimeout(changed));
  window.addEventListener("hashchange", follow);

  // A count in the matrix shows its cases: it sets rule set, clause, implementation and status.
  document.querySelector(".matrix").addEventListener("click", (event) => {
    const link = event.target.closest("td a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const row = link.closest("tr");
    set({
      rules: link.closest("tbody").dataset.rules,
      clause: row.dataset.clause,
      impl: String(link.closest("td").cellIndex - 1),
      status: link.dataset.status,
    });
    changed();
    const target = document.getElementById(link.getAttribute("href").slice(1));
    open(target);
    (target.closest("details") || target).scrollIntoView();
    const first = (target.closest("details") || target.parentElement).querySelector("summary");
    if (first) first.focus({ preventScroll: true });
  });

  apply();
  follow();
})();
