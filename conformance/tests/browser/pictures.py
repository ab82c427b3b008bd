"""Takes the pictures of a site that the documentation shows: a page of each kind, as wide as a desk and as a phone.

    python3 pictures.py SITE [DIRECTORY]

SITE is a directory that `broadcheck site` wrote. The pictures are WebP files in DIRECTORY (conformance/pictures). Needs chromium and
chromedriver, and nothing besides Python's standard library.
"""

import base64
import pathlib
import sys

from check_pages import PHONE, ROOT
from webdriver import Browser, Missing

QUALITY = 70
PAGES = {
    "systems": "index.html",
    "system": "system/openvino-*.html",
    "rules": "rules/numpy.html",
    "clause": "clause/NUMPY-3.html",
    "case": "case/numpy/zero/one-with-zero-on-the-first-axis.html",
    "findings": "findings.html",
    "finding": "finding/57.html",
    "search": "search.html?q=zero",
}
WIDTHS = {1280: (1280, 900), 390: PHONE}


def main(site, directory):
    directory.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        for name, pattern in PAGES.items():
            path, mark, query = pattern.partition("?")
            found = sorted(site.glob(path))
            if not found:
                sys.exit(f"{site}: found no page {path}, expected a site of the reports of README.md")
            for width, screen in WIDTHS.items():
                browser.screen(*screen, dark=False)
                browser.open("about:blank")
                browser.open(found[0].as_uri() + mark + query)
                picture = browser.devtools("Page.captureScreenshot", format="webp", quality=QUALITY)
                (directory / f"{name}-{width}.webp").write_bytes(base64.b64decode(picture["data"]))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(*sys.argv[2:]) if sys.argv[2:] else ROOT / "conformance" / "pictures")
    except Missing as missing:
        sys.exit(str(missing))
