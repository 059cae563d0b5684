"""Classic groups: every rule with its code, and what members see over a rebalance."""
