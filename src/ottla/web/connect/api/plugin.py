"""Installed connectors, converters, transforms, predicates, their settings, and the check of a configuration."""

from collections.abc import Sequence
from typing import Any, Final

from ottla.connect.connector import SinkConnector
from ottla.connect.errors import ConnectError
from ottla.connect.plugin import Plugins
from ottla.connect.worker.definition_view import key_json
from ottla.connect.worker.refusal import RefusedError, bad
from ottla.connect.worker.request import read_config
from ottla.connect.worker.validation import WorkerFacts, base_definition
from ottla.web.connect.api.connector import validated
from ottla.web.connect.api.edge import route
from ottla.web.connect.context import ConnectContext, body_of
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_OTHERS: Final = ("transformation", "predicate", "converter", "header_converter")


class PluginApi:
    """`/connector-plugins`."""

    def __init__(self, context: ConnectContext) -> None:
        self._context: Final = context

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        one = "/connector-plugins/{plugin}/config"
        return [
            route("GET", "/connector-plugins", self._list),
            route("GET", one, self._config),
            route("PUT", f"{one}/validate", self._validate),
        ]

    async def _list(self, request: Request) -> Answer:
        only = request.query.get("connectorsOnly", "true").strip().lower() == "true"
        return json_answer(await self._context.call(lambda: self._listed(only=only), "The list of plugins"))

    def _listed(self, *, only: bool) -> list[dict[str, str]]:
        plugins = self._context.plugins
        found = []
        for name, make in sorted(plugins.connectors().items()):
            try:
                made = make()
            except Exception:  # noqa: BLE001 - an edge: a broken package must not hide the others
                continue
            kind = "sink" if isinstance(made, SinkConnector) else "source"
            found.append({"class": name, "type": kind, "version": made.version})
        if only:
            return found
        for kind in _OTHERS:
            found += [
                {"class": name, "type": kind, "version": plugin.version}
                for name in plugins.names(kind)
                if (plugin := _made(plugins, kind, name)) is not None
            ]
        return found

    async def _config(self, request: Request) -> Answer:
        name, version = request.parameters["plugin"], request.query.get("version", "latest")
        return json_answer(await self._context.call(lambda: self._keys(name, version), "The plugin's settings"))

    def _keys(self, name: str, version: str) -> list[dict[str, Any]]:
        plugins = self._context.plugins
        try:
            connector = plugins.connector(name)
        except ConnectError:
            made = next((found for kind in _OTHERS if (found := _made(plugins, kind, name)) is not None), None)
            if made is None:
                raise RefusedError(404, f"Unknown plugin {name}.") from None
            _check_version(name, made.version, version)
            keys = list(made.config_def.keys.values())
        else:
            _check_version(_full_name(plugins, name), connector.version, version)
            base = base_definition(connector, WorkerFacts({}), plugins, {})
            keys = [*connector.config_def.keys.values(), *base.keys.values()]
        shown = [key_json(key) for key in keys]
        return [{"order_in_group" if name == "order" else name: each[name] for name in each} for each in shown]

    async def _validate(self, request: Request) -> Answer:
        plugin = request.parameters["plugin"]
        config = read_config(await body_of(request))
        given = config.get("connector.class")
        if given is not None and _simple(given) != _simple(plugin):
            raise bad(f"Included connector type {given} does not match request type {plugin}")
        return json_answer((await validated(self._context, config)).to_json())


def _made(plugins: Plugins, kind: str, name: str) -> Any:
    try:
        if kind == "transformation":
            return plugins.transform(name)
        if kind == "predicate":
            return plugins.predicate(name)
        return plugins.converter(name) if kind == "converter" else plugins.header_converter(name)
    except ConnectError:
        return None


def _check_version(name: str, version: str, asked: str) -> None:
    if asked not in ("latest", version):
        raise bad(
            f"Plugin {name} not found that matches the version range [{asked},{asked}], available versions: [{version}]"
        )


def _full_name(plugins: Plugins, name: str) -> str:
    return next((full for full in plugins.connectors() if _simple(full) == _simple(name)), name)


def _simple(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("Connector")
