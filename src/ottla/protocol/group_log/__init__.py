"""The records of `__consumer_offsets`, a module for each kind of group; `log` frames them and finds them by type."""
