"""Mistakes that users of other tools make, each with what its message must say: the name here, or how it is written.

Beside what is listed, each message has the place and what is allowed. Three were poor when all were read aloud, and
are not here: a delay with jitter as netem has it (`10ms 2ms`), a memory in a scenario without one, and a class of a
queue that no flow has.
"""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import Typed
from pushout import Link, Scenario

LAN = "run lan --set "
CHIP = "run chip --set "

TYPED = {
    "tc": [
        (LAN + "'port.bottleneck.admission=fq_codel'", 'it is the discipline "fq-codel" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"fq_codel\" }'", 'it is the discipline "fq-codel" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"pfifo_fast\" }'", 'it is the scheduler "strict-priority" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"pfifo\" }'", 'it is called "tail-drop" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"sfq\" }'", "not modelled yet, see pushout list limits"),
        (LAN + "'port.bottleneck.admission={ policy = \"cake\" }'", "not modelled yet, see pushout list limits"),
        (LAN + "'port.bottleneck.admission={ policy = \"drr\" }'", 'it is the scheduler "drr" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"netem\" }'", 'it is the table "[[loss]]" here'),
        (LAN + "'port.bottleneck.scheduler={ policy = \"htb\" }'", "not modelled yet, see pushout list limits"),
        (LAN + "'port.bottleneck.scheduler={ policy = \"taprio\" }'", 'it is the key "gates" here'),
        (LAN + "'port.bottleneck.scheduler={ policy = \"cbs\" }'", 'it is the key "queue.NAME.cbs" here'),
        (LAN + "'port.bottleneck.scheduler={ policy = \"etf\" }'", 'it is the key "pacing" here'),
        (LAN + "'port.bottleneck.scheduler={ policy = \"mqprio\" }'", 'it is called "strict-priority" here'),
        (LAN + "'port.bottleneck.scheduler={ policy = \"prio\" }'", 'it is called "strict-priority" here'),
        (LAN + "'port.bottleneck.scheduler={ policy = \"fq\" }'", 'it is the key "pacing" here'),
        (LAN + '\'port.bottleneck.shaper={ policy = "tbf", rate = "10mbit" }\'', 'did you mean "Mb/s"?'),
        (LAN + "'port.bottleneck.shaper={ rate = \"10mbit\" }'", 'did you mean "Mb/s"?'),
        (LAN + "'topology.bottleneck.rate=100mbps'", 'did you mean "Mb/s"?'),
        (LAN + "'topology.bottleneck.rate=100mbit'", 'did you mean "Mb/s"?'),
        (LAN + "'topology.bottleneck.rate=100'", "must be a rate with a unit, as in"),
        (LAN + "'port.bottleneck.admission={ policy = \"codel\", target = 5 }'", "must be a time with a unit, as in"),
        (
            LAN + '\'port.bottleneck.admission={ policy = "codel", target = "5ms", interval = 100 }\'',
            "must be a time with a unit, as in",
        ),
        (LAN + "'port.bottleneck.admission={ policy = \"codel\", limit = 1000 }'", 'unknown key "limit"'),
        (
            LAN + "'port.bottleneck.admission={ policy = \"codel\", ecn = true }'",
            'it is called "action" here, as in action = "mark"',
        ),
        (
            LAN + "'port.bottleneck.admission={ policy = \"red\", min = 30000, max = 90000, probability = 0.02 }'",
            'it is called "min_threshold" here',
        ),
        (LAN + "'port.bottleneck.admission={ policy = \"red\", avpkt = 1000 }'", 'unknown key "avpkt"'),
        (LAN + "'port.bottleneck.buffer=1000p'", 'write "1000 packets"'),
        (LAN + "'port.bottleneck.buffer=100k'", 'write "100 kB"'),
        (LAN + "'port.bottleneck.limit=100'", 'it is called "buffer" here'),
        (LAN + "'port.bottleneck.buffer=100'", "must be a size with a unit, as in"),
        (LAN + '\'police={ rate = "1mbit", burst = "10k" }\'', 'unknown key "police"'),
        (LAN + '\'port.bottleneck.police={ rate = "1 Mb/s", burst = "10 kB" }\'', 'the key "kind" is missing'),
        (LAN + "'port.bottleneck.police={ policy = \"srtcm\" }'", 'it is called "kind" here'),
        ("compare lan --policies codel,fq_codel", 'it is called "fq-codel" here'),
        (
            "compare lan --policies 'codel target=40ms'",
            'parameters are written in a table: \'{policy="codel", target="40ms"}\'',
        ),
        (
            "compare lan --policies 'codel target 5ms interval 100ms'",
            'parameters are written in a table: \'{policy="codel", target="5ms", interval="100ms"}\'',
        ),
        ("compare lan codel pie", "Missing option '--policies'"),
        (LAN + "'topology.bottleneck.loss=1%'", "a link loses or reorders packets by tables of their own"),
        (LAN + "'topology.bottleneck.duplicate=1%'", 'unknown key "duplicate"'),
    ],
    "ns-3": [
        (LAN + "'topology.bottleneck.DataRate=10Mbps'", 'it is called "rate" here'),
        (LAN + "'topology.bottleneck.data_rate=10 Mb/s'", 'it is called "rate" here'),
        (LAN + "'topology.bottleneck.Delay=2ms'", 'did you mean "delay"?'),
        (LAN + "'topology.bottleneck.rate=10Mbps'", 'did you mean "Mb/s"?'),
        (LAN + "'topology.bottleneck.rate=10MBps'", 'rates are in bits, write "80 Mb/s"'),
        (LAN + "'port.bottleneck.MaxSize=100p'", 'it is called "buffer" here'),
        (LAN + "'port.bottleneck.max_queue_size=100'", 'it is called "buffer" here'),
        (LAN + "'port.bottleneck.queue_size=100 packets'", 'it is called "buffer" here'),
        (LAN + "'port.bottleneck.queue=DropTailQueue'", 'it is called "buffer" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"DropTail\" }'", 'it is called "tail-drop" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"RedQueueDisc\" }'", 'it is called "red" here'),
        (LAN + "'port.bottleneck.admission={ policy = \"CoDelQueueDisc\" }'", 'it is called "codel" here'),
        (LAN + "'flows.transport.SocketType=TcpNewReno'", 'it is called "congestion" here'),
        (LAN + "'flows.transport.congestion=TcpNewReno'", 'it is called "new-reno" here'),
        (LAN + "'flows.transport.congestion=TcpCubic'", 'it is called "cubic" here'),
        (LAN + "'flows.transport.congestion=bbr3'", 'it is called "bbr" here'),
        (LAN + "'flows.transport=dctcp'", 'write { kind = "tcp", congestion = "dctcp" }'),
        (LAN + "'flows.transport=tcp'", 'write { kind = "tcp" }'),
        (LAN + "'flows.transport={ kind = \"TcpSocketFactory\" }'", 'it is called "tcp" here'),
        (LAN + "'flows.transport.segment_size=1448'", 'it is called "mss" here'),
        (LAN + "'flows.transport.mss=1210 bytes'", "must be an integer from 0 to 4294967295, not"),
        (LAN + "'flows.transport.initial_cwnd=10'", 'it is called "initial_window" here'),
        (LAN + "'flows.source={ kind = \"OnOff\" }'", 'it is called "on-off" here'),
        (LAN + "'flows.source={ kind = \"BulkSend\" }'", 'it is called "greedy" here'),
        (LAN + "'flows.source={ kind = \"bulk\", MaxBytes = 0 }'", 'it is called "greedy" here'),
        (LAN + "'flows.source={ kind = \"poisson\", lambda = 100 }'", 'it is called "rate" here'),
        (LAN + "'topology.nLeaf=10'", 'it is called "sources" here'),
        (LAN + "'topology.template=PointToPointDumbbell'", 'it is called "dumbbell" here'),
        (LAN + "'stop=10'", 'it is called "duration" here'),
        (LAN + "'simulation_time=10 s'", 'it is called "duration" here'),
        (LAN + "'RngRun=3'", 'it is called "seed" here'),
        (LAN + "'duration=10'", "must be a time with a unit, as in"),
        ("run lan --RngRun=3", "The seed is --seed N"),
        ("run lan --seed abc", "must be an integer, not 'abc'."),
        ("run lan --pcap", "Write every packet with --trace pcapng"),
    ],
    "SONiC": [
        (LAN + "'queue.rdma.dynamic_th=3'", 'it is called "alpha" here'),
        (CHIP + "'queue.bulk.dynamic_th=3'", 'it is called "alpha" here'),
        (CHIP + "'queue.bulk.alpha=-3'", "must be greater than 0 and finite, not -3"),
        (CHIP + "'queue.bulk.pfc=true'", 'it is called "pause" here'),
        (CHIP + "'queue.bulk.pause=true'", "must be a table of keys, not true"),
        (CHIP + "'queue.bulk.xoff=10 kB'", 'did you mean "pause.xoff"?'),
        (CHIP + "'queue.bulk.pause={ xoff = 18432 }'", "must be a size with a unit, as in"),
        (CHIP + "'queue.bulk.pause={ threshold = \"10 kB\" }'", 'the key "xoff" is missing'),
        (CHIP + "'queue.bulk.wred={ green_min_threshold = 250000 }'", 'unknown key "wred"'),
        (CHIP + "'queue.bulk.ecn=on'", 'unknown key "ecn"'),
        (CHIP + "'memory.chip.type=dynamic'", 'it is called "admission" here'),
        (CHIP + "'memory.chip.xoff=2 MB'", 'unknown key "xoff"'),
        (CHIP + "'memory.chip.admission={ policy = \"alpha\" }'", 'it is called "dynamic-threshold" here'),
        (CHIP + "'memory.chip.admission={ policy = \"dt\", alpha = 1 }'", 'it is called "dynamic-threshold" here'),
        (CHIP + "'port.to-store1.memory=chips'", 'did you mean "chip"?'),
        (CHIP + "'port.to-store1.scheduler={ policy = \"DWRR\" }'", 'it is called "drr" here'),
        (CHIP + "'port.to-store1.scheduler={ policy = \"STRICT\" }'", 'it is called "strict-priority" here'),
        ("init --sonic nowhere.json", "Missing argument 'DIR'"),
        ("switch headroom lan", "No such file or directory"),
        ("switch predict trident", 'did you mean "trident-2"?'),
        ("switch headroom --speed 100G --cable 300m", "No such option '--speed'"),
    ],
    "mininet": [
        (LAN + "'topology.bottleneck.bw=100'", 'it is called "rate" here'),
        (LAN + "'topology.bottleneck={ bw = 100, delay = \"5ms\" }'", 'it is called "rate" here'),
        (
            LAN + '\'topology.bottleneck={ rate = "100 Mb/s", delay = "5ms", loss = 2 }\'',
            "a link loses or reorders packets by tables of their own",
        ),
        (LAN + "'topology.bottleneck.max_queue_size=1000'", 'unknown key "max_queue_size"'),
        (LAN + "'topology.switches=2'", 'unknown key "switches"'),
        (LAN + "'topology.hosts=4'", 'it is called "sources" here'),
        (LAN + "'topology.template=linear'", 'it is called "parking-lot" here'),
        (LAN + "'topology.template=tree'", 'it is called "fat-tree" here'),
        ("run --topo=linear,2", "A scenario has its network in it"),
        ("run lan --link tc,bw=10", "Lines are keys of the scenario"),
        ("iperf h1 h2", 'did you mean "import"?'),
        ("ping h1 h2", 'unknown command "ping"'),
        ("run lan --duration 10", "It is a key of the scenario: --set"),
        ("plot lan --what throughput,rtt", 'unknown panel "rtt"'),
        ("plot lan --what bandwidth", 'it is called "throughput" here'),
        ("size lan --goal 'goodput>95%' --over buffer", "did you mean goodput_ratio>=95%?"),
        ("size lan --goal 'goodput_ratio>=95' --over port.bottleneck.buffer", "did you mean goodput_ratio>=95%?"),
        ("size lan --goal 'goodput_ratio>0.9' --over bottleneck.buffer", "did you mean goodput_ratio>=0.9?"),
        ("size lan --goal 'latency<10ms' --over port.bottleneck.buffer", "did you mean latency<=10ms?"),
        ("sweep lan --over port.bottleneck.buffer", "A sweep is a file"),
    ],
}
"""What was typed by users of each tool, and a part of the message."""


def memory_figure(name: str) -> object:
    """Ask for a figure of a switch."""
    return pushout.compare("tomahawk", at="bottleneck", policies=["as-is", "tail-drop"], figures=[name])


PYTHON: list[tuple[Callable[[], Any], str]] = [
    (lambda: pushout.run("lan", duration="2 s"), "keys of the scenario go into set"),
    (lambda: pushout.run("lan", set={"duration": 2}), "must be a time with a unit, as in"),
    (lambda: pushout.run("lan", set="duration=2"), 'set must be {"key": value} or ["key=value"], not a single string'),
    (lambda: pushout.run("lan.tml"), "the name of the shipped scenario is lan"),
    (lambda: pushout.run({"name": "x"}), 'the key "duration" is missing'),
    (lambda: pushout.run("lan", seed="one"), "must be an integer, not 'one'"),
    (lambda: pushout.run("lan", reps=2.5), "must be an integer, not 2.5"),
    (lambda: pushout.compare("lan", policies=["codel", "pei"]), 'did you mean "pie"?'),
    (
        lambda: pushout.compare("lan", policies=pushout.schemes.Codel(target=5)),
        "must be a time with its unit, as in '5 ms', not 5",
    ),
    (lambda: pushout.schemes.Codel(taget="5 ms"), 'did you mean "target"?'),
    (lambda: pushout.schemes.CoDel(), 'did you mean "Codel"?'),
    (lambda: Scenario.dumbbell(sources=4, bottleneck="100 Mb/s"), "must be a line with a rate and a delay, as Link"),
    (
        lambda: Scenario.dumbbell(sources="four", bottleneck=Link("100 Mb/s", "5 ms")),
        "must be an integer from 0 to 4294967295, not",
    ),
    (lambda: Link(100e6, 0.01), "must be a number with b/s, kb/s, Mb/s, Gb/s or Tb/s, not 100000000.0"),
    (lambda: Link("100 Mb/s"), "missing 1 required positional argument: 'delay'"),
    (lambda: Scenario("lan").with_(duraton="2 s"), 'did you mean "duration"?'),
    (lambda: Scenario("lan").with_(duration=2), "must be a time with a unit, as in"),
    (lambda: Scenario("lan").run(set=["duration"]), "an override is written key.path=value"),
    (lambda: pushout.run("lan", set={"duration": "1 s"})["bottleneck.lost"], "one of its ports: ports.bottleneck.lost"),
    (
        lambda: pushout.compare("lan", policies="epd,ppd", reps=2, set={"duration": "0.2 s"})["EPD"],
        'did you mean "epd"?',
    ),
    (lambda: pushout.plot("lan", what="ocupancy"), 'did you mean "occupancy"?'),
    (lambda: pushout.size("lan", goal="loss<1%", over="buffer"), "did you mean loss<=1%?"),
    (lambda: memory_figure("memories.chip.peak"), "did you mean memories.chip/1.occupancy_max?"),
    (lambda: memory_figure("memories.chip.zzz"), "; computed: lost, marks, lossless_drop, lossy_drop"),
    (lambda: memory_figure("ports.bottleneck.pause_time"), "did you mean ports.bottleneck.paused_s"),
    (lambda: memory_figure("pause_time"), "did you mean ports.NAME.paused_s"),
]
"""What was called in Python, and a part of the message."""


@pytest.mark.parametrize(("line", "says"), [each for mistakes in TYPED.values() for each in mistakes])
def test_a_mistake_at_the_command_line_has_a_message_that_helps(
    line: str, says: str, tmp_path: Path, typed: Typed
) -> None:
    ended = typed(tmp_path, *shlex.split(line))
    assert ended.returncode in (1, 2, 3)
    assert says in ended.stderr


@pytest.mark.parametrize(("call", "says"), PYTHON)
def test_a_mistake_in_python_has_a_message_that_helps(call: Callable[[], Any], says: str) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, LookupError, OSError)) as refused:
        call()
    assert says in str(refused.value)


def test_there_are_as_many_mistakes_as_were_collected() -> None:
    assert sum(map(len, TYPED.values())) + len(PYTHON) >= 120
