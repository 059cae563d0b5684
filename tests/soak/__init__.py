"""Hours of churn on real nodes, and what they hold before and after: `make soak MINUTES=60`. See docs/TESTING.md."""
