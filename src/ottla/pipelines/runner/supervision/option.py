"""The timeouts of the supervision, and the number of pipelines that a runner hosts."""

from ottla.base.frozen import frozen


@frozen(kw_only=True)
class SupervisionOptions:
    """All times are milliseconds."""

    runner_pipelines_max: int = 20
    """How many small pipelines share a runner."""
    restarts_max: int = 10
    """Failures in a row after which a pipeline is given up; -1 never."""
    backoff_ms: int = 1_000
    backoff_ms_max: int = 60_000
    healthy_ms: int = 60_000
    """After so long without a failure, earlier ones are forgotten."""
    busy_ms: int = 1_000
    """How long to wait for a checkpoint that another runner still holds."""
    start_timeout_ms: int = 180_000
    """How long a query may take to start, and a runner to connect."""
    stop_timeout_ms: int = 30_000
    """How long a query may take to end its micro-batch."""
    heartbeat_timeout_ms: int = 30_000
    """Silence of a runner after which it is killed."""
    takeover_ms: int = 0
    """How long a gained pipeline waits for the runner that had it to end by itself: 0 where checkpoints are locked."""
    empty_ms: int = 30_000
    """How long a runner without pipelines is kept."""
    progress_ms: int = 5_000
    """How often progress alone is worth a record."""
