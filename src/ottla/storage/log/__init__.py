"""The log of one partition: its segments, who wrote them, and where it begins and ends."""
