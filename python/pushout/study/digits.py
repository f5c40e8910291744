"""How numbers are written: with the digits that they deserve."""

from decimal import Decimal

from pushout.stats import Interval

NONE = 1e-12
"""Half of an interval that is only rounding."""


def decimals(value: float) -> int:
    """The places after the point with which a value is written."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def before_the_point(value: float) -> int:
    """Digits before the point; for less than one, minus the zeros after it."""
    return Decimal(repr(abs(value))).adjusted() + 1 if value else 1


def grouped(value: float, digits: int) -> str:
    """A number with a true minus; from five digits on in groups of three."""
    text = f"{value:,.{digits}f}" if abs(value) >= 1e4 else f"{value:.{digits}f}"
    return text.replace(",", "\N{NO-BREAK SPACE}").replace("-", "−")


def signed(value: float, digits: int) -> str:
    """A difference with its sign, unless it is zero as written."""
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("−" if value < 0 else "+") + text


def half(measured: Interval) -> float | None:
    """Half of the confidence interval; none of a single replication."""
    return measured["ci95"][1] - measured["mean"] if measured["ci95"] else None


def deserved(measured: Interval, most: int) -> int:
    """The places after the point that a mean has: `most`, fewer if its interval leaves no more.

    None if all replications give the same whole number.
    """
    doubt = half(measured)
    if doubt and doubt > NONE:
        return min(most, max(0, 2 - before_the_point(doubt)))
    return 0 if abs(measured["mean"] - round(measured["mean"])) < 1e-9 else most


def doubt(measured: Interval, digits: int) -> str:
    """± half of the interval; nothing if there is none or if all replications agree."""
    size = half(measured)
    if not size or size < NONE:
        return ""
    text = f"{size:.{digits}f}"
    return f"± {text}" if float(text) else f"± <{10**-digits:.{digits}f}"
