"""Makes a role's admission from the settings of its node."""

from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.broker.security.admission import Admission
from ottla.broker.security.audit import AuditLog
from ottla.broker.security.authorizer import Authorizer
from ottla.broker.security.plugin import acl_settings, has_authorizer, make_plugin

if TYPE_CHECKING:
    from ottla.base.clock import Clock
    from ottla.broker.config.server_config import ServerConfig

AUDIT_LOG: Final = "audit.log.path"


class Guards(NamedTuple):
    """What stands between callers and a role."""

    admission: Admission
    authorizer: Authorizer
    """Has to hear of the metadata before anybody else does."""
    audit: AuditLog | None


def make_guards(config: "ServerConfig", clock: "Clock") -> Guards | None:
    """None if everybody may do everything; `ConfigError` if what is configured cannot be had."""
    if not has_authorizer(config):
        return None
    authorizer = Authorizer(acl_settings(config), make_plugin(config))
    audit = _audit_log(config, clock)
    return Guards(Admission(authorizer, audit), authorizer, audit)


def _audit_log(config: "ServerConfig", clock: "Clock") -> AuditLog | None:
    path = config.string(AUDIT_LOG)
    if not path:
        return None
    try:
        return AuditLog(path, clock)
    except OSError as error:
        raise ConfigError(AUDIT_LOG, path, f"the file cannot be written: {error.strerror}") from error
