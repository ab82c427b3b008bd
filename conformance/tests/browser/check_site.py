"""Opens a site that broadcheck writes in a real browser, from the disk, and uses it as a reader would.

    python3 check_site.py BROADCHECK [DIRECTORY [REPORT...]]

BROADCHECK is the command. The site and pictures of it are left in DIRECTORY (target/site), to be looked at. It is made of
the REPORTs, or of the built-in implementations and a strange one. Needs chromium and chromedriver, and nothing besides
Python's standard library. Exit status: 0 everything passed, 1 something failed, 2 there is no browser.
"""

import json
import pathlib
import subprocess
import sys

import check_pages
from check_pages import DESK, HERE, PHONE, ROOT, expect, failed
from webdriver import Browser, Missing

WIDE = (1280, 900)
# A page with its style, its script and, for the search, the index.
MOST_MILLISECONDS = 1000


def write_site(broadcheck, directory, reports):
    """Writes the site, and returns where it is and the names of its systems."""
    if not reports:
        strange = f"{sys.executable} {HERE / 'strange.py'}"
        names = ["reference", "fast", "ndarray", strange]
        named = [word for name in names for word in ("--impl", name)]
        report = directory / "report.json"
        run = subprocess.run([broadcheck, "check", *named, "--format", "json", "--sample-sweeps", "20", "--out", report],
                             cwd=ROOT, capture_output=True, text=True)
        expect("check with a strange implementation fails", run.returncode, 1)
        reports = [report]
    history = directory / "history.json"
    cases = [f"numpy/zero/case-{n}" for n in range(8)] + ["numpy/zero/one-to-zero-and-one-to-three"]
    releases = [{"version": f"2026.{n}.1-rc", "date": f"2026-0{n + 1}-01", "counts": {"passed": 900 - n, "failed": 40 - 3 * n},
                 "outcomes": f"{n}p{9 - n}f" if n else "9f"} for n in range(8)]
    system = json.loads(reports[0].read_text())["implementations"][0]["name"]
    history.write_text(json.dumps({"system": system, "versions": releases, "cases": cases}))
    site = directory / "site"
    wrote = subprocess.run([broadcheck, "site", *reports, "--out", site, "--history", history], capture_output=True,
                           text=True)
    expect("the site is written", (wrote.returncode, wrote.stderr if wrote.returncode else ""), (0, ""))
    print(f"      {wrote.stdout.strip()}")
    return site


def at(browser, url):
    browser.open("about:blank")
    browser.open(url)


def kinds(site):
    """A page of each kind: the largest, which is the hardest to show."""
    def largest(folder):
        return max(sorted(site.glob(f"{folder}/**/*.html")), key=lambda path: path.stat().st_size)
    folders = ["system", "rules", "clause", "case", "finding"]
    pages = {name: site / f"{name}.html" for name in ("index", "rules", "clauses", "findings", "search")}
    pages = {f"list-{name}" if name == "rules" else name: path for name, path in pages.items()}
    return {**pages, **{folder: largest(folder) for folder in folders}}


OVERFLOW = """
const width = document.documentElement.clientWidth;
const inBox = (one) => one.closest('.wide, pre, .skip') !== null;
return [document.documentElement.scrollWidth <= width,
        Array.from(document.querySelectorAll('main *')).filter((one) =>
          !inBox(one) && one.checkVisibility() && one.getBoundingClientRect().right > width + 1)
          .slice(0, 3).map((one) => one.tagName + ' ' + one.className + ' ' + one.textContent.slice(0, 40))];"""

LOADED = """
const entry = performance.getEntriesByType('navigation')[0];
return [entry.loadEventEnd - entry.startTime, performance.getEntriesByType('resource').map((one) => one.name)];"""


def check_screens(browser, pages, site, directory):
    for name, path in pages.items():
        for dark in (False, True):
            for width, height in (WIDE, PHONE):
                what = f"{name}, {'dark' if dark else 'light'}, {width} wide"
                browser.screen(width, height, dark=dark)
                at(browser, path.as_uri())
                expect(f"{what}: nothing is wider than the screen", browser.run(OVERFLOW), [True, []])
                browser.picture(directory / f"{name}-{width}-{'dark' if dark else 'light'}.png")
        browser.screen(*WIDE)
        at(browser, path.as_uri())
        milliseconds, loaded = browser.run(LOADED)
        expect(f"{name} is loaded in less than a second ({milliseconds:.0f} ms)", milliseconds < MOST_MILLISECONDS)
        expect(f"{name} loads only from the site", [one for one in loaded if not one.startswith(site.as_uri())], [])
        expect(f"{name}: nothing in the console", browser.console(), [])
        ids = "const ids = Array.from(document.querySelectorAll('[id]'), (one) => one.id); return ids.length - new Set(ids).size"
        expect(f"{name}: ids are unique", browser.run(ids), 0)


def check_colours(browser, site):
    for dark in (False, True):
        browser.screen(*WIDE, dark=dark)
        at(browser, (site / "index.html").as_uri())
        cells = browser.run("""
            return Array.from(document.querySelectorAll('.systems td'), (cell) => {
              const style = getComputedStyle(cell);
              return [style.color, style.backgroundColor];
            }).filter((pair) => pair[1].startsWith('color(srgb') || pair[1].startsWith('rgb('));""")
        paper = browser.run("return getComputedStyle(document.body).backgroundColor")
        expect(f"the paper is {'dark' if dark else 'light'}", check_pages.luminance(paper) < 0.2, dark)
        worst = min(check_pages.contrast(as_rgb(ink), as_rgb(back)) for ink, back in cells)
        expect(f"{'dark' if dark else 'light'}: cells are at least 4.5 : 1 ({worst:.1f})", worst >= 4.5)


def as_rgb(colour):
    """`color(srgb 0.1 0.2 0.3)`, as color-mix gives it, as `rgb(26, 51, 77)`."""
    if not colour.startswith("color(srgb"):
        return colour
    parts = colour[len("color(srgb"):-1].split("/")[0].split()
    return "rgb(" + ", ".join(str(round(255 * float(part))) for part in parts) + ")"


SHOWN = "return Array.from(document.querySelectorAll('[data-row]')).filter((row) => row.checkVisibility()).length"


def reset(browser):
    browser.click("form.filter button[type=reset]")
    browser.run("return new Promise((done) => setTimeout(done, 50))")


def check_filters(browser, pages, site):
    browser.screen(*WIDE)
    at(browser, (site / "index.html").as_uri())
    total = browser.run(SHOWN)
    expect("every system is a row", total, len(list(site.glob("system/*.html"))))
    browser.choose("rules", "numpy")
    numpy = browser.run("return document.querySelectorAll('[data-rules~=numpy]').length")
    expect("filter by rule set", (browser.run(SHOWN), numpy > 0), (numpy, True))
    reset(browser)
    first = browser.run("return document.querySelector('.systems tbody th a').textContent")
    browser.type("input[name=text]", first)
    hits = browser.run("return Array.from(document.querySelectorAll('[data-row]')).filter((row) => "
                       "row.textContent.toLowerCase().includes(arguments[0].toLowerCase())).length", first)
    expect("filter by text", browser.run(SHOWN), hits)
    said = browser.run("return document.querySelector('form.filter output').textContent")
    expect("the page says how many", said, f"{hits} of {total}")
    reset(browser)
    expect("all systems come back", browser.run(SHOWN), total)

    at(browser, pages["findings"].as_uri())
    browser.choose("strength", "strong")
    strong = browser.run("return document.querySelectorAll('[data-strength=strong]').length")
    expect("filter findings", (browser.run(SHOWN), strong > 20), (strong, True))
    at(browser, pages["clause"].as_uri())
    browser.choose("differs", "yes")
    some = browser.run("return document.querySelectorAll('[data-differs=yes]').length")
    expect("filter the cases of a clause", browser.run(SHOWN), some)
    at(browser, pages["system"].as_uri())
    browser.type("input[name=text]", "nothing has this text")
    hidden = browser.run("return Array.from(document.querySelectorAll('[data-group]')).every((group) => group.hidden)")
    expect("clauses without a hit are hidden", (browser.run(SHOWN), hidden), (0, True))


def check_search(browser, site):
    browser.screen(*WIDE)
    case = next(iter(sorted(site.glob("case/numpy/zero/*.html"))))
    identity = "numpy/zero/" + case.stem
    at(browser, case.as_uri())
    browser.type("nav input[name=q]", identity)
    browser.follow("nav form button", "#_results")
    links = browser.run("return Array.from(document.querySelectorAll('#_results a'), (link) => link.href)")
    expect("the search of a page deep in the site finds a case by its id", case.as_uri() in links)
    browser.follow("#_results a", "main")
    expect("a result leads to its page", browser.run("return document.querySelector('h1') !== null"))
    for words, kind, page in [("nan maximum", "finding", "finding/"), ("compatible", "clause", "clause/"),
                              ("theano", "rule set", "rules/"), ("reference", "system", "system/")]:
        at(browser, f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
        if kind == "system" and not list(site.glob("system/reference*.html")):
            continue
        browser.choose("kind", kind)
        found = browser.run("return Array.from(document.querySelectorAll('#_results a'), (link) => link.getAttribute('href'))")
        expect(f"search for {words}, {kind}", (len(found) > 0, all(one.startswith(page) for one in found)), (True, True))
    at(browser, f"{(site / 'search.html').as_uri()}?q=%3Cscript%3Ewindow.owned%3D1%3C/script%3E")
    expect("what is searched for is text", browser.run("return window.owned === undefined"))
    expect("and the page says what was found", browser.run("return document.querySelector('main output').textContent !== ''"))
    expect("nothing in the console", browser.console(), [])


def check_links(browser, site):
    """The way of a reader: from a system to a difference, its clause, and its finding."""
    browser.screen(*DESK)
    at(browser, (site / "index.html").as_uri())
    browser.follow(".systems tbody th a", "main")
    title = browser.run("return document.title")
    if browser.run("return document.querySelector('section ul.list li > a') !== null"):
        browser.follow("section ul.list li > a", "main")
        expect("a difference of a system leads to its case", browser.run("return location.pathname.includes('/case/')"))
        expect("which shows what the systems answer", browser.run("return document.querySelector('.outcomes li') !== null"))
        browser.follow("main p > a", "main")
        expect("and leads to its clause", browser.run("return location.pathname.includes('/clause/')"))
    expect("a system has a title of its own", title.endswith(" - broadcheck"))


def check_without_scripts(browser, pages):
    for name, path in pages.items():
        browser.screen(*PHONE, scripts=False)
        at(browser, path.as_uri())
        expect(f"{name}: readable without scripts",
               browser.run("return [document.querySelector('main h1').checkVisibility(), "
                           "Array.from(document.querySelectorAll('form.filter')).some((one) => one.checkVisibility())]"),
               [True, False])
    browser.screen(*DESK)


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    broadcheck = pathlib.Path(sys.argv[1]).resolve()
    directory = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target" / "site").resolve()
    directory.mkdir(parents=True, exist_ok=True)
    site = write_site(broadcheck, directory, [pathlib.Path(path).resolve() for path in sys.argv[3:]])
    pages = kinds(site)
    try:
        browser = Browser()
    except Missing as missing:
        print(f"left out: {missing}", file=sys.stderr)
        return 2
    with browser:
        check_screens(browser, pages, site, directory)
        check_colours(browser, site)
        check_filters(browser, pages, site)
        check_search(browser, site)
        check_links(browser, site)
        check_without_scripts(browser, pages)
    print(f"{len(failed)} failed" if failed else "everything passed", f"(pictures in {directory})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
