"""The quorum's log, snapshots and votes on a real disk, and formatting the directories that hold them."""
