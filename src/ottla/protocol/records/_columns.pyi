from ottla.base.buffer import Buffer
from ottla.protocol.records.columns_layout import COLUMN_BYTES_MAX, NO_START, Columns

class ColumnReader:
    def __init__(
        self,
        wanted: int,
        start_offset: int = NO_START,
        bytes_expected: int = 0,
        limit: int = COLUMN_BYTES_MAX,
    ) -> None: ...
    def append(
        self, data: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None
    ) -> None: ...
    def finish(self) -> Columns: ...
