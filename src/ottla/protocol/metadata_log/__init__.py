"""The records of the metadata log, a module for each subject; `log` frames them and finds them by type."""
