"""The settings for making topics; the defaults of topics' own settings belong to `ottla.storage`."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, CLASS, INT
from ottla.broker.config.keys.node_key import fixed

TOPIC_KEYS: Final = ConfigKeys((
    fixed("num.partitions", INT, 1, Range(1),
          "Partitions of a topic that is made without saying how many."),
    fixed("default.replication.factor", INT, 1, None,
          "Replicas of a topic that is made without saying how many."),
    fixed("auto.create.topics.enable", BOOLEAN, True, None,
          "Whether asking for the metadata of a topic that is not there makes it."),
    fixed("delete.topic.enable", BOOLEAN, True, None,
          "Whether topics can be deleted."),
    fixed("create.topic.policy.class.name", CLASS, None, None,
          "A Python class, `module:Class`, that may refuse new topics."),
    fixed("alter.config.policy.class.name", CLASS, None, None,
          "A Python class, `module:Class`, that may refuse changes of configs."),
))  # fmt: skip
