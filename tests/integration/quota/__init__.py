"""What quotas come to with clients that we did not write."""
