"""A quorum that agrees on a log (KRaft): who leads, what is committed, who votes. It knows nothing of topics.

`core.RaftCore` is the state machine: events in (`event`), effects out (`effect`), state behind small ports (`ports`).
Nothing in here keeps time, rolls dice, opens a socket or starts a thread, so one seed replays a whole cluster.
"""
