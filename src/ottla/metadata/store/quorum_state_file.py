"""The file `quorum-state`: one line of JSON with epoch, leader and vote, replaced as a whole.

It is on the disk before `write` returns, because a vote that a crash forgets may be given twice. A missing file is a
node that never voted; one that cannot be read stops the node, for the same reason.
"""

from typing import Final

from ottla.raft.errors import QuorumStateError
from ottla.raft.quorum_state import decode
from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError

QUORUM_STATE_FILE: Final = "quorum-state"
_WITHOUT_IT: Final = (
    "a controller that is alone starts without this file; one of several may then vote twice in an epoch, so remove it "
    "from the quorum, format its metadata directory anew and add it again"
)
"""What an operator decides on who moves the file away."""


class QuorumStateFile:
    """A `QuorumStatePort`."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self.path = f"{directory}/{QUORUM_STATE_FILE}"

    def read(self) -> str | None:
        data = read_whole(self._disk, self.path)
        if data is None:
            return None
        try:
            text = data.decode()
            decode(text)
        except (UnicodeDecodeError, QuorumStateError) as error:
            raise CorruptFileError(f"{error}; {_WITHOUT_IT}", self.path) from error
        return text

    def write(self, text: str) -> None:
        write_atomically(self._disk, self.path, text.encode())
