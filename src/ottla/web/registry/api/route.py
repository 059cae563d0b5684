"""All routes of the registry."""

from ottla.web.http.route import Route
from ottla.web.registry.api.association import AssociationApi
from ottla.web.registry.api.compatibility import CompatibilityApi
from ottla.web.registry.api.schema import SchemaApi
from ottla.web.registry.api.server import ServerApi
from ottla.web.registry.api.setting import SettingApi
from ottla.web.registry.api.subject import SubjectApi
from ottla.web.registry.api.target import Registry
from ottla.web.registry.api.version import VersionApi


def registry_routes(registry: Registry) -> list[Route]:
    """Method, path and handler of each."""
    return [
        *ServerApi(registry).routes(),
        *SubjectApi(registry).routes(),
        *VersionApi(registry).routes(),
        *SchemaApi(registry).routes(),
        *CompatibilityApi(registry).routes(),
        *SettingApi(registry).routes(),
        *AssociationApi(registry).routes(),
    ]
