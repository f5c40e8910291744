"""An example for every command; its help shows it."""

EXAMPLES = {
    "bench": "pushout bench --workloads W1-packet --peers '' --reps 3",
    "compare": "pushout compare lan --policies tail-drop,ppd,epd --set 'duration=5 s'",
    "explain": "pushout explain two-routers",
    "import": "pushout import topology.txt flow.txt --out fabric.toml",
    "init": "pushout init my-lab",
    "lab": "pushout lab lan --policies tail-drop,epd --out lab.html",
    "list": "pushout list schemes epd",
    "mcp": "pushout mcp --folder my-lab",
    "plot": "pushout plot lan --what queue,drops,cwnd --set 'duration=5 s' --out queue.svg",
    "reproduce": "pushout reproduce 004 --details",
    "run": "pushout run lan --set 'duration=5 s' --reps 10",
    "size": "pushout size lan --goal 'goodput_ratio>=0.9' --over port.bottleneck.buffer --set 'duration=5 s'",
    "sweep": "pushout sweep sweep-small",
    "switch": "pushout switch predict tomahawk",
    "why": "pushout why two-routers --loss 3 --policies codel,red",
    "worst": "pushout worst ratio dynamic-threshold --set alpha=2 --ports 2 --memory 12",
}
