"""The worst case of a policy: its ratio, what never happens, the longest delay, and inputs as scenarios."""
