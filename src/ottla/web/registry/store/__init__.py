"""The topic that holds everything: made, read, and written with proof that what was written has been read."""
