"""From batches that are ready to their answers: requests, what is in flight, outcomes."""
