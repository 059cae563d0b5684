"""A member of a group of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""
