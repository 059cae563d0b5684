"""Commands about one node: `ottla broker`, its settings (`config`), and its files (`log`)."""
