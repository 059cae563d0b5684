"""A worker whose connectors are those of files: they are created, brought up to date, or deleted when it starts."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.connect.worker import decision
from ottla.connect.worker.refusal import RefusedError
from ottla.connect.worker.request import CreateRequest, check_name, read_create
from ottla.web.connect.config import ConnectConfig
from ottla.web.connect.service import ConnectService

_log: Final = logging.getLogger(__name__)


class StandaloneService(ConnectService):
    """One worker of its own."""

    def __init__(
        self, config: ConnectConfig, given: Mapping[str, str], connectors: Sequence[Mapping[str, Any]]
    ) -> None:
        super().__init__(config, given)
        self._kept: Final = [self._read(each) for each in connectors]

    async def start(self) -> None:
        """Starts the worker, then its connectors. Raises `OttlaError` for one that is not valid."""
        await super().start()
        for each in self._kept:
            try:
                await self.check(each.config)
            except RefusedError as error:
                raise OttlaError(f"Failed to create connector {each.name}: {error.message}") from None
        async with self.leading() as leader:
            state = leader.tables.configs
            for name in [each for each in state.connectors if each not in {kept.name for kept in self._kept}]:
                await leader.write("config", decision.delete(state, name))
            for each in self._kept:
                if each.name not in state:
                    await leader.write("config", decision.create(state, each.name, each.config, each.initial_state))
                elif state.config(each.name) != each.config:
                    await leader.write("config", decision.replace(each.name, each.config))
                _log.info("Created connector %s", each.name)

    @staticmethod
    def _read(body: Mapping[str, Any]) -> CreateRequest:
        try:
            asked = read_create(dict(body))
            check_name(asked.name)
        except RefusedError as error:
            raise OttlaError(f"Failed to create connector {body.get('name')}: {error.message}") from None
        return asked
