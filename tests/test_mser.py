import random
from pathlib import Path

import pytest

import pushout
from conftest import ROOT, command
from pushout.question.mser import WarmupError, truncation, warmup_s


def noise(count: int, seed: int = 1) -> list[float]:
    stream = random.Random(seed)  # noqa: S311
    return [stream.gauss(10, 1) for _ in range(count)]


def test_a_transient_is_cut_off_and_not_much_more() -> None:
    samples = noise(1000)
    transient = [value + 40 * 0.97**index for index, value in enumerate(samples)]
    dropped = 5 * truncation(transient)
    assert 60 <= dropped <= 220


def test_without_a_transient_little_is_dropped() -> None:
    assert sum(truncation(noise(500, seed)) for seed in range(20)) / 20 < 15


def test_a_run_that_never_settles_is_reported() -> None:
    with pytest.raises(WarmupError, match="simulate longer"):
        truncation([float(index) for index in range(500)])
    with pytest.raises(WarmupError, match="MSER-5 needs at least 50 samples over time, not 49"):
        truncation(noise(49))


@pytest.mark.parametrize("batches", [20, 21, 101])
def test_no_more_than_half_of_a_run_is_dropped(batches: int) -> None:
    def settled(dropped: int) -> list[float]:
        """A run that reaches its level exactly after `batches` batches."""
        return [100.0] * 5 * dropped + [0.0] * 5 * (batches - dropped)

    half = batches // 2
    assert truncation(settled(half)) == half
    with pytest.raises(WarmupError, match="simulate longer"):
        truncation(settled(half + 1))


def test_the_minimum_is_that_of_the_definition() -> None:
    samples = [value + (30 if index < 37 else 0) for index, value in enumerate(noise(400))]
    means = [sum(samples[k : k + 5]) / 5 for k in range(0, 400, 5)]

    def error(dropped: int) -> float:
        rest = means[dropped:]
        mean = sum(rest) / len(rest)
        return sum((value - mean) ** 2 for value in rest) / len(rest) ** 2

    assert truncation(samples) == min(range(len(means) - 4), key=error)


@pytest.mark.parametrize("level", [0.1, 149_760_000.123, 1e9 / 3])
def test_a_level_changes_nothing_however_high_it_is(level: float) -> None:
    assert [truncation([level] * count) for count in (50, 100, 400, 1000)] == [0, 0, 0, 0]
    little = [(index % 7) / 7 + (200 if index < 30 else 0) for index in range(400)]
    assert truncation([level + value for value in little]) == truncation(little)


def test_replications_are_averaged_and_time_begins_where_samples_do() -> None:
    step = [[100.0] * 50 + noise(350, seed) for seed in range(4)]
    runs = [{"p.values": values, "p.start_s": 0.5, "p.step_s": 0.01} for values in step]
    assert warmup_s("p.values", runs) == pytest.approx(0.5 + 0.5)
    with pytest.raises(WarmupError, match="must use a figure over time"):
        warmup_s("summary.goodput_bps", runs)


def test_a_sweep_gives_every_point_its_own_warm_up() -> None:
    plan = {
        "scenario": str(ROOT / "scenarios" / "mux-poisson.toml"),
        "set": [
            "duration=0.2 s",
            "sample=0.2 ms",
            "port.bottleneck.buffer=4000 cells",
            "measure.occupancy=['bottleneck']",
        ],
        "reps": 2,
        "grid": {"flows.source.rate": ["5 Mb/s", "14.4 Mb/s"]},
        "warmup": {"method": "mser-5", "figure": "ports.bottleneck.occupancy.values", "reps": 10},
        "figures": ["ports.bottleneck.occupancy_mean"],
    }
    table = pushout.sweep(plan).table
    short, long = (table["warmup_s"][row].as_py() for row in (0, 2))
    assert short < long < 0.1
    assert table.column_names.index("warmup_s") < table.column_names.index("seed")
    sets = {"flows.source.rate": "14.4 Mb/s", "duration": "0.2 s", "sample": "0.2 ms", "warmup": f"{long * 1e6:.0f} us"}
    sets |= {"port.bottleneck.buffer": "4000 cells", "measure.occupancy": ["bottleneck"]}
    again = pushout.run(plan["scenario"], set=sets, seed=1)
    assert table["ports.bottleneck.occupancy_mean"][2].as_py() == again["ports.bottleneck.occupancy_mean"]
    assert long == round(long, 6), "a warm-up is set in whole microseconds"


def test_pilot_runs_are_distinguished_from_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They take the place of a warm-up that the scenario has, and that may be longer than all of a run."""
    file = tmp_path / "pilots.toml"
    scenario = ROOT / "scenarios" / "mux-poisson.toml"
    file.write_text(
        f"""scenario = '{scenario}'
        set = ["duration=90 ms", "sample=0.2 ms", "measure.occupancy=['bottleneck']"]
        grid = {{ "port.bottleneck.buffer" = ["4000 cells"] }}
        reps = 2
        warmup = {{ method = "mser-5", figure = "ports.bottleneck.occupancy.values", reps = 4 }}
        """,
        encoding="utf-8",
    )
    command("sweep", str(file), "--out", str(tmp_path))
    assert "2 runs and 4 pilot runs for the warm-up, 6 of them computed now" in capsys.readouterr().out
