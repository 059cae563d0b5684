"""The assignment strategies that the coordinator itself runs for consumer groups."""
