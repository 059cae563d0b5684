"""A follower's side: fetching from leaders, truncating to what they have."""
