"""How the log gets from the leader to everybody else: followers pull, the leader tells them where they diverge."""
