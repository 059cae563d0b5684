"""Makes a role's admission from the settings of its node."""

from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.broker.security.admission import Admission
from ottla.broker.security.audit import AuditLog
from ottla.broker.security.audit_topic import AuditContext, AuditTopic
from ottla.broker.security.authorizer import Authorizer
from ottla.broker.security.plugin import acl_settings, has_authorizer, make_plugin

if TYPE_CHECKING:
    from ottla.broker.node.node_context import NodeContext

AUDIT_LOG: Final = "audit.log.path"
AUDIT_TOPIC: Final = "audit.log.topic"


class Guards(NamedTuple):
    """The guards between callers and a role."""

    admission: Admission
    authorizer: Authorizer
    """Has to hear of the metadata before anybody else does."""
    audit: AuditLog | None


def make_guards(around: "NodeContext") -> Guards | None:
    """None if everybody may do everything; `ConfigError` if what is configured cannot be had."""
    config = around.config
    if not has_authorizer(config):
        return None
    authorizer = Authorizer(acl_settings(config), make_plugin(config))
    audit = _audit_log(around)
    return Guards(Admission(authorizer, audit), authorizer, audit)


def _audit_log(around: "NodeContext") -> AuditLog | None:
    path, topic = around.config.string(AUDIT_LOG), around.config.string(AUDIT_TOPIC)
    if not path and not topic:
        return None
    try:
        return AuditLog(path, around.clock, _audit_topic(around, topic) if topic else None)
    except OSError as error:
        raise ConfigError(AUDIT_LOG, path, f"the file cannot be written: {error.strerror}") from error


def _audit_topic(around: "NodeContext", topic: str) -> AuditTopic:
    config = around.config
    client_id = f"node-{config.node_id}-audit"
    return AuditTopic(
        topic,
        AuditContext(
            around.loop,
            around.clock,
            config.inter_broker_listener_name,
            lambda node: around.connect_broker(node, client_id),
        ),
    )
