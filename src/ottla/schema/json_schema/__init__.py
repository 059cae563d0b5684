"""JSON Schemas of drafts 4 to 2020-12: loaded into one model, compared by Confluent's rules."""
