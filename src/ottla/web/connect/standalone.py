"""A worker whose connectors are those of files: they are created, brought up to date, or deleted when it starts.

Sources go on where `offset.storage.file.filename` says, as with Kafka Connect: the file counts, and is written as often
as offsets are, and at the end. While the worker runs they are in the topic, where its tasks have them from.
"""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.connect.errors import ConnectError
from ottla.connect.worker import decision
from ottla.connect.worker.offset_file import decode_offsets, encode_offsets
from ottla.connect.worker.refusal import RefusedError
from ottla.connect.worker.request import CreateRequest, check_name, read_create
from ottla.web.connect.config import ConnectConfig
from ottla.web.connect.lead.leader import Leader
from ottla.web.connect.service import ConnectService

_log: Final = logging.getLogger(__name__)


class StandaloneService(ConnectService):
    """One worker of its own."""

    def __init__(
        self, config: ConnectConfig, given: Mapping[str, str], connectors: Sequence[Mapping[str, Any]]
    ) -> None:
        super().__init__(config, given)
        self._kept: Final = [self._read(each) for each in connectors]
        path = given.get("offset.storage.file.filename", "").strip()
        self._file: Final = Path(path) if path else None
        self._saved: dict[bytes, bytes | None] | None = None
        self._saving: asyncio.Task[None] | None = None
        self._flush_s: Final = config.settings.integer("offset.flush.interval.ms") / 1000

    async def start(self) -> None:
        """Starts the worker, then its connectors. Raises `OttlaError` for one that is not valid."""
        await super().start()
        for each in self._kept:
            try:
                await self.check(each.config)
            except RefusedError as error:
                raise OttlaError(f"Failed to create connector {each.name}: {error.message}") from None
        async with self.leading() as leader:
            await self._load(leader)
            state = leader.tables.configs
            for name in [each for each in state.connectors if each not in {kept.name for kept in self._kept}]:
                await leader.write("config", decision.delete(state, name))
            for each in self._kept:
                if each.name not in state:
                    await leader.write("config", decision.create(state, each.name, each.config, each.initial_state))
                elif state.config(each.name) != each.config:
                    await leader.write("config", decision.replace(each.name, each.config))
                _log.info("Created connector %s", each.name)
        if self._file is not None:
            self._saving = asyncio.get_running_loop().create_task(self._save_often(self._file))

    async def stop(self) -> None:
        """Ends the worker; tasks have ended, and stored how far they came."""
        if self._saving is not None:
            self._saving.cancel()
            await asyncio.wait({self._saving})
        if self._file is not None and self._saved is not None:
            await self.catch_up()
            self._save(self._file)
        await super().stop()

    async def _load(self, leader: Leader) -> None:
        """Makes the topic say what the file does. Raises `OttlaError` for a file that is none of offsets."""
        if self._file is None:
            return
        try:
            wanted = decode_offsets(self._file.read_bytes()) if self._file.exists() else {}
        except (OSError, ConnectError) as error:
            raise OttlaError(f"offset.storage.file.filename={self._file}: {error}") from error
        there = leader.tables.offsets.records()
        gone: dict[bytes, bytes | None] = dict.fromkeys(there.keys() - wanted.keys())
        changed = {key: value for key, value in wanted.items() if there.get(key) != value}
        await leader.write("offset", [*gone.items(), *changed.items()])
        self._saved = wanted

    async def _save_often(self, file: Path) -> None:
        while True:
            await asyncio.sleep(self._flush_s)
            try:
                self._save(file)
            except OSError as error:
                _log.error("Offsets are not written to %s: %s", file, error)

    def _save(self, file: Path) -> None:
        """A whole file or none: a crash leaves the one before."""
        offsets = self.offsets
        if offsets == self._saved:
            return
        made = file.with_name(f"{file.name}.new")
        made.write_bytes(encode_offsets(offsets))
        os.replace(made, file)
        self._saved = offsets

    @staticmethod
    def _read(body: Mapping[str, Any]) -> CreateRequest:
        try:
            asked = read_create(dict(body))
            check_name(asked.name)
        except RefusedError as error:
            raise OttlaError(f"Failed to create connector {body.get('name')}: {error.message}") from None
        return asked
