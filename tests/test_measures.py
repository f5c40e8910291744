"""Measures that compare runs."""

import doctest

from pushout import measures


def test_the_examples_in_the_documentation_are_right() -> None:
    assert doctest.testmod(measures).failed == 0


def test_figure_10_of_paper_004_has_a_gain_of_two_without_and_of_none_with_management() -> None:
    assert measures.gain(0.02, 0.01) == 2.0
    assert measures.gain(0.0, 0.01) == 0.0
    assert measures.gain(0.01, 0.0) is None


def test_figure_14_of_paper_004_improves_by_44_percent() -> None:
    assert 0.44 <= measures.improvement(6390, 3520) < 0.45


def test_saturation_must_last() -> None:
    assert measures.saturation_point([(3000, 1.0), (1000, 1.0), (2000, 0.99)]) == 3000
    assert measures.saturation_point([(1000, 0.5)]) is None
    assert measures.saturation_point([(1000, 0.98), (2000, 0.99)], throughput=0.98) == 1000


def test_where_octets_are_counted_the_mean_delay_is_theirs() -> None:
    books = {"occupancy_mean": 2.0, "units_out": 9, "units_given_up": 0, "octets_out": 80, "octets_given_up": 20}
    port = {"name": "a", "occupancy_unit": "bytes", **books}
    assert measures.mean_delay_s({"duration_s": 1.0, "warmup_s": 0.0, "ports": [port]}, "a") == 0.02
