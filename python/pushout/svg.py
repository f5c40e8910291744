"""Drawings as parts of pages."""

import re


def embedded(svg: str, name: str) -> str:
    """An SVG as part of a page: no prologue, no size of its own, and ids that begin with a name."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{identifier(name)}-", svg)


def identifier(name: str) -> str:
    """A name as the beginning of an id."""
    return re.sub(r"\W+", "-", name.lower())
