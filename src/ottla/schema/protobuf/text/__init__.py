""".proto text: read into elements, and printed as Confluent's registry does."""
