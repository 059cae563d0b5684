"""The audit log: who did what to which resource from where, and whether it was allowed, as JSON lines, to a file or the
node's log, to a topic, or to both.

What changes something (create, delete, alter) is written each time. Of reads and writes it is the decision that is
written: once for a connection and a resource, and again when access control lists change. A file that is moved away is
begun anew, so the usual tools for rotating logs can be used.
"""

import json
import logging
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from typing import TYPE_CHECKING, Final

from ottla.broker.security.audit_topic import AuditLine, AuditTopic
from ottla.metadata.acl.decision import Decision, Question
from ottla.metadata.image.acl import Acl
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType, PatternType

if TYPE_CHECKING:
    from ottla.base.clock import Clock
    from ottla.protocol.api_key import ApiKey

INTO_LOG: Final = "log"
"""Stands for the node's own log, in the place of a file's name."""
CHANGES: Final = frozenset({AclOperation.CREATE, AclOperation.DELETE, AclOperation.ALTER, AclOperation.ALTER_CONFIGS})
"""Each of these is audited; of others the first after the connection, or the lists, have changed."""
_log = logging.getLogger(__name__)


class AuditLog:
    """Writes decisions down. Loop thread only."""

    def __init__(self, path: str, clock: "Clock", topic: AuditTopic | None = None) -> None:
        """`path` is a file, `log`, or empty for neither. OSError if the file cannot be written."""
        self._clock: Final = clock
        self._path: Final = path
        self._handler: Final = None if path in ("", INTO_LOG) else WatchedFileHandler(path, encoding="utf-8")
        self.topic: Final = topic

    def note(self, question: Question, api: "ApiKey", decision: Decision) -> None:
        """Writes a line."""
        now_ms = self._clock.now_ms()
        at = datetime.fromtimestamp(now_ms / 1000, UTC)
        line = json.dumps(
            {
                "time": at.isoformat(timespec="milliseconds"),
                "principal": question.principal,
                "host": question.host,
                "api": api.name,
                "operation": AclOperation(question.operation).name,
                "resource_type": AclResourceType(question.resource_type).name,
                "resource_name": question.resource_name or None,
                "allowed": decision.is_allowed,
                "reason": decision.reason.value,
                "rule": None if decision.rule is None else shown(decision.rule),
            },
            ensure_ascii=False,
        )
        if self.topic is not None:
            self.topic.add(AuditLine(now_ms, line.encode(), question.operation in CHANGES))
        if self._handler is not None:
            record = _log.makeRecord(_log.name, logging.INFO, "", 0, "%s", (line,), None)
            self._handler.handle(record)
        elif self._path:
            _log.info("%s", line)

    def close(self) -> None:
        """Closes the file, and leaves the topic."""
        if self.topic is not None:
            self.topic.close()
        if self._handler is not None:
            self._handler.close()


def shown(acl: Acl) -> str:
    """An entry in one line.

    >>> shown(Acl(2, "orders", 3, "User:alice", "*", 4, 3))
    'ALLOW User:alice WRITE from * on LITERAL TOPIC orders'
    """
    permission, operation = AclPermissionType(acl.permission_type).name, AclOperation(acl.operation).name
    pattern, kind = PatternType(acl.pattern_type).name, AclResourceType(acl.resource_type).name
    return f"{permission} {acl.principal} {operation} from {acl.host} on {pattern} {kind} {acl.resource_name}"
