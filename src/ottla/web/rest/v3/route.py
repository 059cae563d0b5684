"""All routes of version 3."""

from ottla.web.http.route import Route
from ottla.web.rest.parts import RestParts
from ottla.web.rest.v3.acl import AclApi
from ottla.web.rest.v3.cluster import ClusterApi
from ottla.web.rest.v3.config import ConfigApi
from ottla.web.rest.v3.group import GroupApi
from ottla.web.rest.v3.partition import PartitionApi
from ottla.web.rest.v3.record import RecordApi
from ottla.web.rest.v3.topic import TopicApi


def v3_routes(parts: RestParts) -> list[Route]:
    """Method, path and handler of each."""
    return [
        *ClusterApi(parts).routes(),
        *TopicApi(parts).routes(),
        *PartitionApi(parts).routes(),
        *ConfigApi(parts).routes(),
        *AclApi(parts).routes(),
        *GroupApi(parts).routes(),
        *RecordApi(parts).routes(),
    ]
