"""Runs the coordinators' state machines: writes records, replays them, answers once they are committed."""
