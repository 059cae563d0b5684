"""`/config` and `/mode`: settings and modes of the registry, a context or a subject."""

from typing import Final

from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.registry.api.target import Registry, in_all_contexts, scope_of
from ottla.web.registry.api.view import config_shown, config_updated
from ottla.web.registry.decision.configure import (
    delete_config,
    delete_mode,
    parse_config_request,
    parse_mode_request,
    set_config,
    set_mode,
)
from ottla.web.registry.decision.errors import invalid_mode, invalid_subject, no_compatibility, no_mode
from ottla.web.registry.decision.scope import config_in_scope, mode_in_scope, own_config, own_mode
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.subject_name import is_valid


class SettingApi:
    """Handlers of settings and modes."""

    def __init__(self, registry: Registry) -> None:
        self._registry: Final = registry

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        made: list[Route] = []
        for place in ("/config", "/config/{subject}"):
            made += in_all_contexts("GET", place, self.show_config)
            made += in_all_contexts("PUT", place, self.set_config)
            made += in_all_contexts("DELETE", place, self.delete_config)
        for place in ("/mode", "/mode/{subject}"):
            made += in_all_contexts("GET", place, self.show_mode)
            made += in_all_contexts("PUT", place, self.set_mode)
            made += in_all_contexts("DELETE", place, self.delete_mode)
        return made

    async def show_config(self, request: Request) -> Answer:
        """The scope's own settings, or with `defaultToGlobal` those in force."""
        scope, state, level = scope_of(request), self._registry.state, self._registry.rule.default_level
        if request.flag("defaultToGlobal"):
            return json_answer(config_shown(config_in_scope(state, scope, level)))
        found = own_config(state, scope, level)
        if found is None:
            raise no_compatibility(scope or "")
        return json_answer(config_shown(found))

    async def set_config(self, request: Request) -> Answer:
        """Changes settings; those that are not named stay."""
        fields = parse_config_request(await request.json())
        scope = self._checked_scope(request)
        return await self._registry.write(request, lambda state: set_config(state, scope, fields), config_updated)

    async def delete_config(self, request: Request) -> Answer:
        """Removes the scope's settings; what they were."""
        scope, rule = scope_of(request), self._registry.rule
        return await self._registry.write(request, lambda state: delete_config(state, rule, scope), config_shown)

    async def show_mode(self, request: Request) -> Answer:
        """The scope's own mode, or with `defaultToGlobal` the one in force."""
        scope, state = scope_of(request), self._registry.state
        found = mode_in_scope(state, scope) if request.flag("defaultToGlobal") else own_mode(state, scope)
        if found is None:
            raise no_mode(scope or "")
        return json_answer(_mode(found))

    async def set_mode(self, request: Request) -> Answer:
        """Changes the mode."""
        mode = parse_mode_request(await request.json())
        scope, force = self._checked_scope(request), request.flag("force")
        if mode is Mode.FORWARD and scope is not None:
            raise invalid_mode("Forward mode only supported on global level")
        rule = self._registry.rule
        return await self._registry.write(request, lambda state: set_mode(state, rule, scope, mode, force=force), _mode)

    async def delete_mode(self, request: Request) -> Answer:
        """Removes the scope's mode; what it was."""
        scope, recursive, rule = scope_of(request), request.flag("recursive"), self._registry.rule
        return await self._registry.write(
            request, lambda state: delete_mode(state, rule, scope, recursive=recursive), _mode
        )

    def _checked_scope(self, request: Request) -> str | None:
        scope = scope_of(request)
        if scope is not None and not is_valid(scope, for_settings=True):
            raise invalid_subject(scope)
        return scope


def _mode(mode: Mode | None) -> dict[str, object]:
    return {} if mode is None else {"mode": mode.value}
