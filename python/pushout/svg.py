"""Drawings as parts of pages."""

import re


def embedded(svg: str, name: str) -> str:
    """An SVG as part of a page: no prologue, no size of its own, and ids that begin with a name."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{identifier(name)}-", svg)


def compact(svg: str) -> str:
    """Write each component of a Matplotlib figure on one line, with coordinates of paths to a hundredth of a point.

    Matplotlib gives each point of a path and each tag a line. Space inside of text has no line break, so it stays.
    """
    rounded = re.sub(r'(?<= d=")[^"]+', lambda path: DECIMALS.sub(_hundredths, " ".join(path[0].split())), svg)
    return re.sub(r"\n {3,}(?! |<g id)|\n {5,}(?! )", " ", rounded)


DECIMALS = re.compile(r"-?\d+\.\d{3,}")


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def identifier(name: str) -> str:
    """A name as the beginning of an id."""
    return re.sub(r"\W+", "-", name.lower())
