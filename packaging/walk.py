"""Walk the site of `make site`: its links lead to what is there, and no page loads anything from elsewhere.

Usage: walk.py FOLDER
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LAB = "lab.html"
"""The page of the lab, which writes its own places; behind # it has what it shows."""

WORDS = ("codel", "alpha", "headroom", "incast", "ecn", "sonic", "buffer", "percentil", "cubic", "epd")
"""What the search of the site must find; words as its index has them, by their stems."""

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
"""What a browser fetches by itself."""


class Page(HTMLParser):
    """The places of a page, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element names."""
        found = {name: value or "" for name, value in attrs}
        self.places.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(found[LOADED[tag]])


def main(folder: Path) -> None:
    """Check everything, and say what is wrong."""
    if wrong := list(faults(folder)):
        sys.exit("\n".join(["the site:", *wrong[:40]]))
    print(f"the site: {len(list(folder.rglob('*.html')))} pages, every link leads to a place that is there")


def faults(folder: Path) -> Iterator[str]:
    """Name links without a target, pages that load from elsewhere, and words that the search does not find."""
    folder = folder.resolve()
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.html"))}
    for name in ("index.html", LAB):
        if not (folder / name).is_file():
            yield f"{name} is missing"
    for file, page in pages.items():
        where = file.relative_to(folder)
        yield from (f"{where}: loads {each} from another host" for each in page.loads if _is_elsewhere(each))
        for link in [*page.links, *page.loads]:
            if why := _missing(file, link, pages, folder):
                yield f"{where}: {link}: {why}"
    index = folder / "searchindex.js"
    known = index.read_text(encoding="utf-8") if index.is_file() else ""
    yield from (f"the search does not find {word}" for word in WORDS if not re.search(rf'\b{word}\w*"?:', known))


def _is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _missing(file: Path, link: str, pages: dict[Path, Page], folder: Path) -> str | None:
    """Return why a link leads nowhere; links to other hosts and of other kinds are not followed."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder):
        return "leads out of the site"
    if not target.is_file():
        return "no such page"
    place = unquote(parts.fragment)
    page = pages.get(target)
    if not place or page is None or target.name == LAB or place in page.places:
        return None
    return "no such place on that page"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
