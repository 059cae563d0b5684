"""A node's authorizer: the access control lists of the newest image, and the operator's own class, which goes first.

A metadata listener. Loop thread only. `version` changes with every change of the lists, so that remembered decisions
can be dropped.
"""

from typing import Final

from ottla.broker.security.plugin import PluginAuthorizer
from ottla.metadata.acl.decision import AclSettings, Decision, Question, Reason, decide, decide_any
from ottla.metadata.acl.index import AclIndex
from ottla.metadata.image.acl import NO_ACLS, AclsImage
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage


class Authorizer:
    """Decides who may do what."""

    def __init__(self, settings: AclSettings, plugin: PluginAuthorizer | None = None) -> None:
        self._settings: Final = settings
        self._plugin: Final = plugin
        self._index = AclIndex()
        self._acls: AclsImage = NO_ACLS
        self.version = 0

    @property
    def is_repeatable(self) -> bool:
        """Whether the same question has the same answer until the lists change; an operator's class is asked anew."""
        return self._plugin is None

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes the lists of the newest image."""
        before, acls = self._acls, image.acls
        if acls is before:
            return
        self._acls = acls
        if delta.acls.by_id.base is before.by_id:
            for acl_id, acl in delta.acls.by_id.changes.items():
                known = before.by_id.get(acl_id)
                if known is not None:
                    self._index.remove(known)
                if acl is not None:
                    self._index.add(acl)
        else:
            self._index = AclIndex(acls.by_id.values())
        self.version += 1

    def decide(self, question: Question) -> Decision:
        """Whether something may be done with a resource."""
        if self._plugin is not None:
            said = self._plugin.decide(question)
            if said is not None:
                return Decision(said, Reason.PLUGIN)
        return decide(self._index, self._settings, question)

    def decide_any(self, question: Question) -> Decision:
        """Whether something may be done with any resource of a type."""
        if self._plugin is not None:
            said = self._plugin.decide(question, any_name=True)
            if said is not None:
                return Decision(said, Reason.PLUGIN)
        return decide_any(self._index, self._settings, question)
