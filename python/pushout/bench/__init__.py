"""Measure the speed of the simulator and of others: the workloads of `pushout bench` and their measurements."""
