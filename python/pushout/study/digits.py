"""Write numbers with their significant digits."""

from decimal import Decimal

from pushout.stats import Interval

NONE = 1e-12
"""Half-width of an interval that is only a rounding error."""


def decimals(value: float) -> int:
    """Count the decimals of a printed value."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def before_the_point(value: float) -> int:
    """Count the digits before the point; for values below one, minus the zeros after it."""
    return Decimal(repr(abs(value))).adjusted() + 1 if value else 1


def grouped(value: float, digits: int) -> str:
    """Write a number with a minus sign; from five digits on in groups of three."""
    text = f"{value:,.{digits}f}" if abs(value) >= 1e4 else f"{value:.{digits}f}"
    return text.replace(",", "\N{NO-BREAK SPACE}").replace("-", "−")


def signed(value: float, digits: int) -> str:
    """Write a difference with its sign, unless it is rounded to zero."""
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("−" if value < 0 else "+") + text


def half(measured: Interval) -> float | None:
    """Return the half-width of the confidence interval; None for a single replication."""
    return measured["ci95"][1] - measured["mean"] if measured["ci95"] else None


def deserved(measured: Interval, most: int) -> int:
    """Count the decimals of a mean: `most`, or fewer if its interval justifies fewer.

    0 if all replications give the same integer.
    """
    doubt = half(measured)
    if doubt and doubt > NONE:
        return min(most, max(0, 2 - before_the_point(doubt)))
    return 0 if abs(measured["mean"] - round(measured["mean"])) < 1e-9 else most


def doubt(measured: Interval, digits: int) -> str:
    """Write ± half of the interval; empty without an interval or if all replications agree."""
    size = half(measured)
    if not size or size < NONE:
        return ""
    text = f"{size:.{digits}f}"
    return f"± {text}" if float(text) else f"± <{10**-digits:.{digits}f}"
