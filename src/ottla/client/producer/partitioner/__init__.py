"""Which partition a record goes to: by the hash of its key, a batch to each, in turn, or as the user says."""
