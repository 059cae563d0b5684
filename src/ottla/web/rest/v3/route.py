"""All routes of version 3."""

from ottla.web.http.route import Route
from ottla.web.rest.context import RestContext
from ottla.web.rest.v3.acl import AclApi
from ottla.web.rest.v3.cluster import ClusterApi
from ottla.web.rest.v3.config import ConfigApi
from ottla.web.rest.v3.group import GroupApi
from ottla.web.rest.v3.partition import PartitionApi
from ottla.web.rest.v3.record import RecordApi
from ottla.web.rest.v3.topic import TopicApi


def v3_routes(context: RestContext) -> list[Route]:
    """Method, path and handler of each."""
    return [
        *ClusterApi(context).routes(),
        *TopicApi(context).routes(),
        *PartitionApi(context).routes(),
        *ConfigApi(context).routes(),
        *AclApi(context).routes(),
        *GroupApi(context).routes(),
        *RecordApi(context).routes(),
    ]
