"""One reason why a reader can't read what a writer wrote, as a value.

`message` is Confluent's text with `{reader}` and `{writer}` in the places of the two roles: the registry says "new" and
"old" there, whichever way round the check went.
"""

from ottla.base.frozen import frozen


@frozen
class Incompatibility:
    """A rule that was broken, where, between which versions, and what to do about it.

    A version is None when it is not known: the new schema has none yet.
    """

    rule: str
    reader_path: str
    writer_path: str
    message: str
    advice: str
    reader: str = "new"
    writer: str = "old"
    reader_version: int | None = None
    writer_version: int | None = None

    def text(self) -> str:
        """The message that Confluent's registry gives for it."""
        return self.message.replace("{reader}", self.reader).replace("{writer}", self.writer)


DIFFERENT_SCHEMA_TYPE = Incompatibility(
    rule="DIFFERENT_SCHEMA_TYPE",
    reader_path="",
    writer_path="",
    message="Incompatible because of different schema type",
    advice="A subject keeps one type of schema: register this one under another subject.",
)
