"""What to run."""

from dataclasses import dataclass
from pathlib import Path

from tests.clients.server import OTTLA


@dataclass(frozen=True)
class Plan:
    """One run."""

    seconds: float
    seed: int
    directory: Path
    kind: str = OTTLA
    nodes: int = 1
    is_secure: bool = False
    """Whether nodes prove to each other who they are."""
    is_own: bool = False
    """Whether the clients are those of `ottla.client` alone."""
    has_old_transactions: bool = False
    """Whether partitions are added to transactions one by one, as before KIP-890."""
