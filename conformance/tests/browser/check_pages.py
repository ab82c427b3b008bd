"""Opens the pages that broadcheck writes in a real browser and uses them as a reader would.

    python3 check_pages.py BROADCHECK [DIRECTORY]

BROADCHECK is the command. Pages and pictures of them are left in DIRECTORY (target/browser), to be looked at. Needs
chromium and chromedriver, and nothing besides Python's standard library. Exit status: 0 everything passed, 1 something
failed, 2 there is no browser.
"""

import json
import pathlib
import subprocess
import sys

from webdriver import ENTER, TAB, Browser, Missing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DESK, PHONE = (1300, 1000), (390, 844)
# The page grows with the suite; what a case takes of it, with four implementations, must not.
BYTES_OF_A_CASE = 3_000
failed = []


def expect(what, found, wanted=True):
    if found == wanted:
        print(f"ok    {what}")
    else:
        failed.append(what)
        print(f"FAILED  {what}: found {found!r}, expected {wanted!r}")


def write_pages(broadcheck, directory):
    """The pages, and the same report as data to judge them by."""
    strange = f"{sys.executable} {HERE / 'strange.py'}"
    names = ["reference", "fast", "ndarray", strange]
    named = [word for name in names for word in ("--impl", name)]
    formats = ["--format", "html,json,badge", "--out", directory]
    run = subprocess.run([broadcheck, "check", *named, *formats], cwd=ROOT, capture_output=True, text=True)
    expect("check with a strange implementation fails", run.returncode, 1)
    subprocess.run([broadcheck, "diverge", "--format", "html", "--out", directory / "map.html"], check=True,
                   capture_output=True)
    return json.loads((directory / "report.json").read_text())


def shown(browser):
    """How many cases the page shows, counted in the page, and what it says."""
    count = browser.run("return document.querySelectorAll('details.case:not([hidden])').length - "
                        "document.querySelectorAll('details.clause[hidden] details.case:not([hidden])').length")
    said = browser.run("return document.getElementById('_shown').textContent")
    return count, said


def luminance(colour):
    def linear(part):
        part = int(part) / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
    red, green, blue = colour[colour.index("(") + 1:-1].split(",")[:3]
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(one, other):
    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOURS = """
const colours = {};
for (const name of ["p", "f", "e", "k", "s", "u", "a", "d", "faint", "x"]) {
  const pre = document.body.appendChild(document.createElement(name === "x" ? "pre" : "p"));
  const probe = pre.appendChild(document.createElement("span"));
  probe.className = name;
  colours[name] = getComputedStyle(probe).color;
  pre.remove();
}
const link = document.querySelector("a[href]:not(.skip)");
return {colours: {...colours, link: getComputedStyle(link).color, ink: getComputedStyle(document.body).color},
        papers: [getComputedStyle(document.body).backgroundColor,
                 getComputedStyle(document.querySelector("pre")).backgroundColor]};
"""


def check_colours(browser, dark):
    found = browser.run(COLOURS)
    for name, colour in found["colours"].items():
        least = min(contrast(colour, paper) for paper in found["papers"])
        expect(f"{'dark' if dark else 'light'}: {name} is at least 4.5 : 1 ({least:.1f})", least >= 4.5)
    expect(f"the paper is {'dark' if dark else 'light'}", luminance(found["papers"][0]) < 0.2, dark)


def fits(browser, what):
    width = browser.run("return document.documentElement.scrollWidth")
    expect(f"{what}: no wider than the screen ({width})", width <= PHONE[0])


def is_open_and_seen(browser, case):
    return browser.run("""
        const body = document.getElementById(arguments[0]);
        const top = body.closest("details").getBoundingClientRect().top;
        return body.checkVisibility() && top > -100 && top < window.innerHeight;""", case)


def check_filters(browser, url, report):
    cases = {run["name"]: run["cases"] for run in report["implementations"]}
    strange = next(name for name in cases if name.startswith("<script>"))
    reference = cases["reference"]
    total = len(reference)
    browser.open(url)
    expect("all cases are shown at first", shown(browser), (total, f"{total} of {total} cases"))

    browser.choose("rules", "xla")
    xla = [case for case in reference if case["rules"] == "xla"]
    expect("filter by rule set", shown(browser), (len(xla), f"{len(xla)} of {total} cases"))
    browser.run("document.querySelector('select[name=clause]').focus()")
    browser.choose("clause", "XLA-7")
    of_clause = [case for case in xla if case["clause"] == "XLA-7"]
    expect("and by clause", shown(browser)[0], len(of_clause))
    rows = browser.run("return Array.from(document.querySelectorAll('.matrix tr[data-clause]')).filter("
                       "(row) => row.checkVisibility()).map((row) => row.dataset.clause)")
    expect("the matrix follows", rows, ["XLA-7"])
    expect("the address contains the filter", browser.run("return location.hash"), "#?rules=xla&clause=XLA-7")
    address = browser.run("return location.href")
    browser.open("about:blank")
    browser.open(address)
    expect("and comes back with it", shown(browser)[0], len(of_clause))
    browser.click("form button[type=reset]")
    browser.run("return new Promise((done) => setTimeout(done, 50))")
    expect("show all", shown(browser)[0], total)

    browser.choose("nature", "arithmetic")
    arithmetic = [case for case in reference if case["nature"] == "arithmetic"]
    expect("filter by nature", shown(browser)[0], len(arithmetic))
    browser.click("form button[type=reset]")
    browser.run("return new Promise((done) => setTimeout(done, 50))")
    browser.choose("convention", "refusal-order")
    of_convention = [case for case in reference if case.get("convention") == "refusal-order"]
    expect("filter by convention", (shown(browser)[0], len(of_convention) > 0), (len(of_convention), True))
    expect("the address contains the convention", browser.run("return location.hash"), "#?convention=refusal-order")
    browser.click("form button[type=reset]")
    browser.run("return new Promise((done) => setTimeout(done, 50))")

    place = str(list(cases).index(strange))
    browser.choose("impl", place)
    browser.choose("status", "f")
    wrong = [case for case in cases[strange] if case["status"] == "failed"]
    expect("filter by implementation and status", shown(browser)[0], len(wrong))
    columns = browser.run("return Array.from(document.querySelectorAll('.matrix thead th')).filter("
                          "(head) => head.checkVisibility()).length")
    expect("the matrix has one column left", columns, 2)
    browser.click("form button[type=reset]")
    browser.type("input[name=text]", "scalar")
    texts = [case for case in reference if "scalar" in (case["id"] + case["title"]).lower()]
    expect("filter by text", shown(browser)[0], len(texts))
    browser.click("form button[type=reset]")

    cell = "tbody[data-rules=numpy] tr[data-clause=G-2] td:nth-child(2) a"
    browser.click(cell)
    of_cell = [case for case in reference if case["rules"] == "numpy" and case["clause"] == "G-2"]
    expect("a cell of the matrix opens its cases", shown(browser)[0], len(of_cell))
    expect("with the focus on them", browser.run("return document.activeElement.tagName"), "SUMMARY")
    expect("nothing in the console", browser.console(), [])


ROWS = """
return Array.from(document.querySelectorAll('.matrix tr[data-clause]')).filter((row) => row.checkVisibility())
  .map((row) => row.closest('tbody').dataset.rules + ' ' + row.dataset.clause).sort()"""


def clauses_of(cases):
    return sorted({f"{case['rules'] or 'several'} {case['clause']}" for case in cases})


def check_matrix(browser, url, report):
    """The rows of the matrix follow every filter, and its heads stay in view."""
    cases = {run["name"]: run["cases"] for run in report["implementations"]}
    strange = next(name for name in cases if name.startswith("<script>"))
    browser.open("about:blank")
    browser.open(f"{url}#?status=f")
    failed_ones = [case for run in cases.values() for case in run if case["status"] == "failed"]
    expect("only rows with a hit stay under a status", browser.run(ROWS), clauses_of(failed_ones))
    browser.open("about:blank")
    browser.open(f"{url}#?text=scalar")
    texts = [case for case in cases["reference"] if "scalar" in (case["id"] + case["title"]).lower()]
    expect("and under a text", browser.run(ROWS), clauses_of(texts))
    browser.click("form button[type=reset]")
    browser.run("return new Promise((done) => setTimeout(done, 50))")
    expect("all rows come back", browser.run(ROWS), clauses_of(cases["reference"]))

    for width, height in (DESK, PHONE):
        browser.screen(width, height)
        heads = browser.run("""
            const box = document.querySelector('.matrix').parentElement;
            window.scrollTo(0, box.getBoundingClientRect().top + window.scrollY - 20);
            box.scrollTop = 600;
            if (box.scrollTop === 0) window.scrollBy(0, 600);
            box.scrollLeft = 60;
            const edge = box.getBoundingClientRect();
            const last = document.querySelectorAll('.matrix tbody tr.set th');
            const column = document.querySelector('.matrix thead th:nth-child(2)').getBoundingClientRect();
            const row = last[last.length - 1].getBoundingClientRect();
            return [column.top >= 0 && column.bottom < window.innerHeight, Math.abs(row.left - edge.left) < 3];""")
        expect(f"column and row heads stay in view, {width} wide", heads, [True, True])
    browser.screen(*DESK)

    place = list(cases).index(strange)
    counted = {}
    for case in cases[strange]:
        counted.setdefault((case["rules"], case["clause"]), []).append(case)
    rules, clause = next(key for key, some in counted.items()
                         if key[0] and {"failed", "skipped"} <= {case["status"] for case in some})
    wrong = [case["id"] for case in counted[rules, clause] if case["status"] == "failed"]
    browser.open("about:blank")
    browser.open(url)
    browser.click(f"tbody[data-rules={rules}] tr[data-clause={clause}] td:nth-child({place + 2}) .f")
    expect("a click on what failed leads to it", shown(browser)[0], len(wrong))
    expect("and to the status in the address", browser.run("return location.hash"),
           f"#?rules={rules}&clause={clause}&impl={place}&status=f")
    signs = """return [...new Set(Array.from(document.querySelectorAll('details.case:not([hidden]) > summary .marks'),
                                             (marks) => marks.textContent))]"""
    expect("each row has the sign of the implementation", browser.run(signs), ["✗ failed"])
    browser.choose("status", "")
    order = browser.run(f"""
        return Array.from(document.querySelectorAll('section[data-rules="{rules}"] [data-clause="{clause}"] .case'),
                          (one) => one.dataset.s.charAt({place}))""")
    ranks = ["fe".find(letter) if letter in "fe" else 2 for letter in order]
    expect("what failed and broke comes first", (len(order), ranks), (len(counted[rules, clause]), sorted(ranks)))
    browser.click("form button[type=reset]")
    browser.run("return new Promise((done) => setTimeout(done, 50))")
    expect("the counts over all come back", "✗ failed" not in browser.run(signs))
    browser.open("about:blank")
    browser.open(url)
    first = browser.run("""
        return Array.from(document.querySelectorAll('details.clause'), (clause) =>
          Array.from(clause.querySelectorAll('.case'), (one) => /[feu]/.test(one.dataset.s)))""")
    expect("and so without a filter", all(sorted(some, reverse=True) == some for some in first))


def check_prose(browser, url, selector):
    """On a phone the columns of a drawing may scroll; all else of it wraps."""
    browser.screen(*PHONE)
    browser.open("about:blank")
    browser.open(url)
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    cut = browser.run("""
        return Array.from(document.querySelectorAll(arguments[0])).filter((pre) => {
          const cut = pre.scrollWidth > pre.clientWidth + 1;
          return cut && /^ *(accepted|refused): |^[A-Z]+-[0-9]+: |  [*] a 1 that/m.test(pre.textContent);
        }).length""", selector)
    expect("no prose of a drawing is cut on a phone", cut, 0)
    expect("and the drawings are there", browser.run("return document.querySelectorAll('.drawing').length > 9"))
    browser.screen(*DESK)


def check_anchors(browser, url, case):
    for scripts in (True, False):
        with_or_without = "with" if scripts else "without"
        browser.screen(*DESK, scripts=scripts)
        browser.open("about:blank")
        browser.open(f"{url}#{case}")
        expect(f"a link to a case opens it, {with_or_without} scripts", is_open_and_seen(browser, case))
    expect("without scripts there is no filter",
           browser.run("return document.getElementById('_filter').checkVisibility()"), False)
    expect("without scripts the matrix is there",
           browser.run("return document.querySelector('.matrix').checkVisibility()"))
    browser.screen(*DESK)


def check_keyboard(browser, url):
    browser.open("about:blank")
    browser.open(url)
    browser.press(TAB)
    expect("the first stop is the way to the cases", browser.run("return document.activeElement.className"), "skip")
    browser.run("document.querySelector('details.clause > summary').focus()")
    browser.press(ENTER, TAB, ENTER)
    opened = browser.run("return Array.from(document.querySelectorAll('details[open]'), (one) => one.className)")
    expect("a clause and a case open by keys", opened, ["clause", "case"])


def check_safety(browser, url, directory):
    browser.open("about:blank")
    browser.open(url)
    expect("nothing that an implementation says is run", browser.run("return window.owned === undefined"))
    inventory = "return ['script', 'img', 'iframe', 'object', '[onclick]', '[onerror]'].map((one) => " \
                "document.querySelectorAll(one).length)"
    expect("one script, and no element of theirs", browser.run(inventory), [1, 0, 0, 0, 0, 0])
    expect("nothing is loaded", browser.run("return performance.getEntriesByType('resource').length"), 0)
    expect("names appear as text", "<script>window.owned=1</script>\\u{1b}[31m&\"'" in
           browser.run("return document.querySelector('.matrix thead').textContent"))
    ids = "const ids = Array.from(document.querySelectorAll('[id]'), (one) => one.id); return ids.length - new Set(ids).size"
    expect("ids are unique", browser.run(ids), 0)
    expect("nothing in the console", browser.console(), [])
    for badge in sorted(directory.glob("badge-*.svg")):
        browser.open(badge.as_uri())
        root = browser.run("return [document.documentElement.tagName, document.querySelectorAll('parsererror, script').length]")
        expect(f"{badge.name} is an image", root, ["svg", 0])


def check_map(browser, url, directory):
    browser.screen(*DESK)
    browser.open(url)
    browser.click("table tbody tr:nth-child(2) td:nth-child(6) a")
    expect("a cell of the map opens its pair",
           browser.run("return document.querySelector('details[open] .drawing').checkVisibility()"))
    dead = browser.run("""
        return Array.from(document.querySelectorAll('table td:not(.faint)')).filter((cell) => {
          const link = cell.querySelector('a');
          return !link || !document.getElementById(link.getAttribute('href').slice(1));
        }).length""")
    expect("every cell of the map leads to its pair", dead, 0)
    browser.picture(directory / "map.png")
    browser.screen(*PHONE)
    fits(browser, "the map on a phone")
    browser.picture(directory / "map-phone.png")
    expect("nothing in the console", browser.console(), [])


def check_screens(browser, url, case, directory):
    for dark in (False, True):
        browser.screen(*DESK, dark=dark)
        browser.open("about:blank")
        browser.open(url)
        check_colours(browser, dark)
        browser.picture(directory / f"report-{'dark' if dark else 'light'}.png")
        browser.open("about:blank")
        browser.open(f"{url}#{case}")
        browser.picture(directory / f"case-{'dark' if dark else 'light'}.png")
        browser.screen(*PHONE, dark=dark)
        fits(browser, "a case on a phone")
        browser.picture(directory / f"case-phone-{'dark' if dark else 'light'}.png")
    browser.screen(*PHONE)
    browser.open("about:blank")
    browser.open(url)
    fits(browser, "the report on a phone")
    browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
    fits(browser, "everything opened on a phone")
    browser.run("window.scrollTo(0, document.querySelector('.matrix').getBoundingClientRect().top - 20)")
    browser.picture(directory / "report-phone.png")
    browser.screen(*DESK)
    browser.open("about:blank")
    browser.open(f"{url}#?status=f")
    browser.picture(directory / "failed.png")
    browser.screen(*DESK)


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    broadcheck = pathlib.Path(sys.argv[1]).resolve()
    directory = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else ROOT / "target" / "browser").resolve()
    directory.mkdir(parents=True, exist_ok=True)
    report = write_pages(broadcheck, directory)
    page = directory / "report.html"
    entries = report["suite"]["cases"] + report["suite"]["sweeps"]
    size = page.stat().st_size
    expect(f"the page has at most {BYTES_OF_A_CASE} bytes per case or sweep ({size} for {entries})",
           size <= BYTES_OF_A_CASE * entries)
    wrong = next(case["id"] for case in report["implementations"][3]["cases"] if case["status"] == "failed")
    try:
        browser = Browser()
    except Missing as missing:
        print(f"left out: {missing}", file=sys.stderr)
        return 2
    with browser:
        browser.screen(*DESK)
        browser.open(page.as_uri())
        browser.console()
        browser.run("console.error('a deliberate error')")
        expect("an error in the console would be seen", len(browser.console()), 1)
        check_filters(browser, page.as_uri(), report)
        check_matrix(browser, page.as_uri(), report)
        check_prose(browser, page.as_uri(), "pre")
        check_anchors(browser, page.as_uri(), wrong)
        check_keyboard(browser, page.as_uri())
        check_safety(browser, page.as_uri(), directory)
        check_screens(browser, page.as_uri(), wrong, directory)
        check_map(browser, (directory / "map.html").as_uri(), directory)
    print(f"{len(failed)} failed" if failed else "everything passed", f"(pictures in {directory})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
