"""An example for every command; its help shows it."""

EXAMPLES = {
    "bench": "pushout bench --workloads W1-packet --peers '' --reps 3",
    "check": "pushout check my_epd.py",
    "chip": "pushout chip predict tomahawk",
    "compare": "pushout compare lan --policies tail-drop,ppd,epd --set 'duration=5 s'",
    "explain": "pushout explain two-routers",
    "headroom": "pushout headroom lines.csv",
    "init": "pushout init my-lab",
    "lab": "pushout lab lan --policies tail-drop,epd --out lab.html",
    "mcp": "pushout mcp --folder my-lab",
    "merge": "pushout merge part-1 part-2 --out whole",
    "plot": "pushout plot lan --what queue,drops,cwnd --set 'duration=5 s' --out queue.svg",
    "policies": "pushout policies epd",
    "reproduce": "pushout reproduce 004 --details",
    "run": "pushout run lan --set 'duration=5 s' --reps 10",
    "scenarios": "pushout scenarios lan > my-lan.toml",
    "schema": "pushout schema > scenario.schema.json",
    "size": "pushout size lan --goal 'goodput_ratio>=0.9' --over port.bottleneck.buffer --set 'duration=5 s'",
    "sweep": "pushout sweep sweep-small",
    "why": "pushout why two-routers --loss 3 --policies codel,red",
    "validate": "pushout validate lan sweep-small",
}
