"""Answers of all verbs as tables (`columns`, `frame`) and drawings."""
