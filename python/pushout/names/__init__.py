"""What names stand for, alike in every verb: places of a scenario, and figures of a report."""
