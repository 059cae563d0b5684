"""The numbers that access control entries are made of, on the wire as in the metadata log."""

from enum import IntEnum
from typing import Final

CLUSTER_NAME: Final = "kafka-cluster"
"""The one name of the one cluster."""
WILDCARD: Final = "*"
"""Any resource as a literal name; any address as a host."""
ANYBODY: Final = "User:*"


class AclResourceType(IntEnum):
    """The types of resource with access control."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7

    @classmethod
    def _missing_(cls, value: object) -> "AclResourceType":
        return cls.UNKNOWN


class PatternType(IntEnum):
    """How a resource's name is meant. ANY and MATCH are for filters: MATCH is every pattern that applies to a name."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4

    @classmethod
    def _missing_(cls, value: object) -> "PatternType":
        return cls.UNKNOWN


class AclOperation(IntEnum):
    """The operations of access control."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15

    @classmethod
    def _missing_(cls, value: object) -> "AclOperation":
        return cls.UNKNOWN


class AclPermissionType(IntEnum):
    """Whether it is allowed or forbidden; DENY wins."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3

    @classmethod
    def _missing_(cls, value: object) -> "AclPermissionType":
        return cls.UNKNOWN
