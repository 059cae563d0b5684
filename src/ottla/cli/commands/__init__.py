"""One module per `ottla` command: `add_arguments` declares its options, `run` does the work and gives the exit code."""
