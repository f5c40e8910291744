from pushout import policy


@policy.admission(
    params={"gain": policy.number(0.002, low=0, high=1), "limit": policy.level("60 %")},
    state={"average": 0.0},
    trace={"average"},
)
def smooth(x, s):
    s.average = (1 - x.gain) * s.average + x.gain * x.total
    return "random" if s.average > x.limit and x.draw() < 0.1 else False
