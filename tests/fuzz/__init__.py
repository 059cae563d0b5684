"""Coverage-guided fuzzing: `make fuzz` gives every target its ten minutes."""
