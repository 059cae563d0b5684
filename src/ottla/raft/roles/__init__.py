"""One class for each role a replica can have in an epoch. An observer is an unattached replica or a follower that
does not vote; it has no class of its own because only the voter set says who is one."""
