"""Who votes: voter sets, their history in the log, and how one voter at a time comes, goes or moves (KIP-853)."""
