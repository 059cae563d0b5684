"""Groups whose members rebalance among themselves, by JoinGroup and SyncGroup."""
