"""A stretch of a segment's file that stands for its bytes: what a read answers, what `sendfile` takes."""

from ottla.storage.disk.port import File


class FileSlice:
    """Bytes of an open file, not read yet. Holds the file open for as long as it lives."""

    __slots__ = ("file", "length", "position")

    def __init__(self, file: File, position: int, length: int) -> None:
        self.file = file
        self.position = position
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"FileSlice({self.file.path!r}, {self.position}, {self.length})"

    def fileno(self) -> int:
        """The descriptor, for `sendfile`."""
        return self.file.fileno()

    def read(self) -> bytes:
        """The bytes, for those who cannot use `sendfile`: encrypted connections, down to plain callers."""
        return self.file.read(self.position, self.length)
