"""How fast the simulator is, beside other simulators: the workloads of `pushout bench` and what they measure."""
