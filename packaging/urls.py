"""Write the address of the repository into the metadata: pyproject.toml, CITATION.cff and the Cargo.toml files.

Usage: urls.py ADDRESS
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

PROJECT = """[project.urls]
Repository = "{0}"
Issues = "{0}/issues"
Changelog = "{0}/blob/main/CHANGELOG.md"

"""

MEMBER = (r"(?<=\nauthors\.workspace = true\n)(repository.*\n)?", "repository.workspace = true\n")

PLACES = {
    "pyproject.toml": (r"(\[project\.urls\]\n(\w+ = .*\n)+\n)?(?=\[project\.scripts\])", PROJECT),
    "Cargo.toml": (r"(?<=Pushout developers\"\]\n)(repository = .*\n)?", 'repository = "{0}"\n'),
    "crates/core/Cargo.toml": MEMBER,
    "crates/python/Cargo.toml": MEMBER,
    "crates/worst/Cargo.toml": MEMBER,
    "CITATION.cff": (r"(repository-code: .*\n)?(?=license:)", 'repository-code: "{0}"\n'),
}
"""For every file a pattern of where the address goes, or of the lines that name one already, and the lines to write."""


def main(address: str, root: Path = ROOT) -> None:
    """Write them all, or none."""
    if not re.fullmatch(r"https://[\w.-]+/\S*[^/\s]", address):
        sys.exit(f"REPOSITORY must be an address such as https://HOST/OWNER/NAME, not {address!r}")
    texts = {}
    for name, (pattern, lines) in PLACES.items():
        found = re.search(pattern, text := (root / name).read_text(encoding="utf-8"))
        if found is None:
            sys.exit(f"{name}: there is no place for an address")
        texts[name] = text[: found.start()] + lines.format(address) + text[found.end() :]
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
