"""Questions that new users had: each is answered by one command or two."""

import json
from pathlib import Path

import pytest

import pushout
from conftest import ROOT, Typed

POLICY = """from pushout import policy

@policy.admission(params={"limit": policy.level("2 %")})
def fair(x):
    return x.total >= x.limit and x.own * x.active > x.total
"""

LINES = "name,rate,cable,mtu,cell\nport,100 Gb/s,300 m,4096 bytes,192 bytes\n"


def scenario(page: str) -> str:
    """The first scenario that a page says to save."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return text.partition("```toml\n")[2].partition("```")[0]


def test_which_threshold_of_marks_keeps_a_line_of_100_gigabits_full(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "ecn.toml").write_text(scenario("ecn.md"), encoding="utf-8")
    over = ["--over", "port.bottleneck.admission.threshold", "--from", "10 kB", "--to", "200 kB"]
    found = typed(tmp_path, "size", "ecn.toml", "--goal", "goodput_ratio>=0.99", *over, "--least", "2", "--most", "4",
                  "--set", "duration=14 ms", "--resolution", "0.5", "--json")  # fmt: skip
    (answer,) = json.loads(found.stdout)["answers"]
    assert 10_000 < answer["sizes"]["bytes"] < 100_000


def test_which_alpha_of_a_shipped_chip_loses_less() -> None:
    """A small α of the lossy class loses in the traffic that is shipped, a large one less."""
    grid = {"queue.lossy.alpha": [0.125, 8.0]}
    lossy = "memories.chip/1.lossy_drop"
    swept = pushout.sweep({"scenario": "tomahawk", "reps": 2, "figures": [lossy], "grid": grid})
    lost = [mean["mean"] for mean in swept.means(lossy) if mean]
    assert lost[0] > 2 * lost[1]


def test_what_fq_codel_does_for_a_call_on_my_uplink_is_in_the_picture() -> None:
    call = "flows.call.delivery_time_p99_s"
    found = (
        pushout.Scenario("home-uplink").with_(duration="9 s").compare("tail-drop,codel,fq-codel", reps=2, figures=call)
    )
    waits = [found[name][call]["mean"] for name in ("tail-drop", "codel", "fq-codel")]  # type: ignore[index]
    assert waits == sorted(waits, reverse=True)
    assert found.plot().axes[0].get_xlabel().startswith("delivery time, 99th percentile of call")


def test_how_much_headroom_300_metres_need(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "lines.csv").write_text(LINES, encoding="utf-8")
    (row,) = json.loads(typed(tmp_path, "switch", "headroom", "lines.csv", "--json").stdout)["rows"]
    assert 50_000 < row["need_bytes"] < 150_000
    assert row.get("verdict") in (None, "need")


def test_my_own_policy_stands_beside_codel(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "fair.py").write_text(POLICY, encoding="utf-8")
    short = ["--reps", "2", "--set", "duration=6 s"]
    found = json.loads(
        typed(tmp_path, "compare", "home-uplink", "--policies", "codel,fair.py", *short, "--json").stdout
    )
    assert [each["label"] for each in found["policies"]] == ["codel", "fair, limit 2 %"]


def test_a_buffer_is_sized_in_products_of_rate_and_round_trip(tmp_path: Path, typed: Typed) -> None:
    buffers = ["--over", "port.bottleneck.buffer", "--from", "0.06 BDP", "--to", "2 BDP", "--resolution", "0.5"]
    short = ["--least", "2", "--most", "2", "--set", "duration=8 s", "--json"]
    done = typed(tmp_path, "size", "home-uplink", "--goal", "goodput_ratio>=0.8", *buffers, *short)
    assert json.loads(done.stdout)["answers"][0]["value"].endswith("BDP"), done.stderr


@pytest.mark.parametrize("count", ["lossy.drop", "lossless.xoff.2", "lossless.headroom"])
def test_every_count_of_a_switch_says_why(count: str) -> None:
    found = {each["name"]: each["why"] for each in pushout.chip_predict("tomahawk").document["expected"]}
    assert found[count]


AIMD = """from pushout import policy

def on_loss(x, s):
    s.window = s.window // 2

@policy.congestion(on_loss=on_loss)
def aimd(x, s):
    s.window += x.mss if s.window <= s.threshold else x.mss * x.acked // s.window
"""


def test_what_my_congestion_control_gets_from_a_shallow_buffer(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "aimd.py").write_text(AIMD, encoding="utf-8")
    shallow = ["--set", "port.bottleneck.buffer=0.2 BDP", "--set", "duration=9 s", "--reps", "2", "--json"]
    found = json.loads(typed(tmp_path, "compare", "home-uplink", "--policies", "cubic,aimd.py", *shallow).stdout)
    goodput = {each["label"]: each["figures"]["goodput_ratio"]["mean"] for each in found["policies"]}
    assert goodput.keys() == {"cubic", "aimd"}
    assert all(0.5 < share <= 1.01 for share in goodput.values())


def test_what_half_the_buffer_would_have_lost_of_my_capture(tmp_path: Path, typed: Typed) -> None:
    packets = "".join(f"{number * 1e-4:.4f},1500\n" for number in range(100))
    (tmp_path / "capture.csv").write_text(f"time,bytes\n{packets}", encoding="utf-8")
    read = typed(tmp_path, "import", "capture.csv", "--rate", "60 Mb/s", "--out", "capture.toml", "--json")
    whole = json.loads(read.stdout)["buffer_bytes"]
    lost = []
    for buffer in (whole, whole // 2):
        buffered = ("--set", f"port.line.buffer={buffer} bytes")
        document = json.loads(typed(tmp_path, "run", "capture.toml", *buffered, "--json").stdout)
        lost.append(sum(sum(port["lost"].values()) for port in document["ports"]))
    assert lost[0] == 0 < lost[1] < 100


def test_what_bbr_with_pacing_does_to_a_call_beside_cubic(tmp_path: Path, typed: Typed) -> None:
    call = ["--figures", "flows.call.delay_p99,flows.call.loss", "--reps", "2", "--set", "duration=10 s", "--json"]
    found = json.loads(typed(tmp_path, "compare", "home-uplink", "--policies", "cubic,bbr", *call).stdout)
    cubic, bbr = (each["figures"]["flows.call.delivery_time_p99_s"]["mean"] for each in found["policies"])
    assert bbr < 0.5 * cubic, "BBR keeps the queue short"


def test_three_quarters_of_an_hour_on_bufferbloat_need_no_installation() -> None:
    """The course has a notebook about a home with its outputs, and the lab a preset beside it, both as pages."""
    page = (ROOT / "docs" / "course" / "index.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("|") and "7-home.ipynb" in line)
    assert '<a href="../lab.html#' in row
    cells = json.loads((ROOT / "docs" / "course" / "7-home.ipynb").read_text(encoding="utf-8"))["cells"]
    assert any(cell.get("outputs") for cell in cells)


def test_what_my_green_thresholds_do_in_their_queue(tmp_path: Path, typed: Typed) -> None:
    text = (ROOT / "docs" / "how-to" / "switch.md").read_text(encoding="utf-8")
    (tmp_path / "config_db.json").write_text(text.partition("```json\n")[2].partition("```")[0], encoding="utf-8")
    typed(tmp_path, "init", "mine", "--sonic", "config_db.json", "--cell", "208", "--queue", "3", "--senders", "2")
    policies = ["--policies", "as-is,tail-drop", "--at", "Ethernet8", "--reps", "2", "--json"]
    found = json.loads(typed(tmp_path, "compare", "mine/switch.toml", *policies).stdout)
    marked, filled = (each["figures"]["occupancy_mean"]["mean"] for each in found["policies"])
    assert marked < filled
