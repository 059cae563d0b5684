"""The world of a quorum that agrees on a log."""
