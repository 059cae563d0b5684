"""Names of subjects: `orders-value` in the default context, `:.ctx:orders-value` in another one.

A context's own name begins with a dot; the default context is the dot alone. A name with an empty subject stands for
the whole context where settings are concerned.
"""

import unicodedata
from typing import Final

from ottla.base.frozen import frozen

DEFAULT_CONTEXT: Final = "."
GLOBAL_CONTEXT: Final = ".__GLOBAL"
"""Settings of last resort, for all contexts."""
WILDCARD: Final = ":*:"
"""The prefix of subjects in all contexts."""
_PREFIX: Final = ":."
_RESERVED: Final = ("__GLOBAL", "__EMPTY")


@frozen
class SubjectName:
    """A subject and its context."""

    context: str
    subject: str

    @property
    def prefix(self) -> str:
        """The prefix of the subject: empty in the default context."""
        return "" if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    @property
    def qualified(self) -> str:
        """The name as records and answers have it."""
        return self.prefix + self.subject

    @property
    def is_default_context(self) -> bool:
        """Whether it stands for the default context as a whole, so for the global settings."""
        return self.context == DEFAULT_CONTEXT and not self.subject


def parse_subject(text: str) -> SubjectName:
    """The parts of a name.

    >>> parse_subject(":.ctx:orders"), parse_subject(":.:orders").qualified, parse_subject("a:b").subject
    (SubjectName(context='.ctx', subject='orders'), 'orders', 'a:b')
    """
    if text.startswith(_PREFIX):
        context, _, subject = text[1:].partition(":")
        return SubjectName(context, subject)
    if text.startswith(WILDCARD):
        return SubjectName("*", text[len(WILDCARD) :])
    return SubjectName(DEFAULT_CONTEXT, text)


def normalized(text: str) -> str:
    """The one spelling of a name."""
    return parse_subject(text).qualified if text.startswith(":") else text


def context_of(qualified: str) -> str:
    """The context of a normalized name."""
    return parse_subject(qualified).context if qualified.startswith(":") else DEFAULT_CONTEXT


def within(parent: str, subject: str) -> str:
    """`subject` as one that `parent` refers to: without a context of its own it is in the parent's.

    >>> within(":.ctx:orders", "money"), within("orders", "money"), within(":.ctx:orders", ":.other:money")
    (':.ctx:money', 'money', ':.other:money')
    """
    name = parse_subject(subject)
    if name.context != DEFAULT_CONTEXT:
        return name.qualified
    return SubjectName(context_of(parent), name.subject).qualified


def is_valid(text: str, *, for_settings: bool = False) -> bool:
    """Whether a subject may have this name; settings may also be those of the global context."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        return False
    name = parse_subject(text)
    return name.subject not in _RESERVED and (for_settings or name.context != GLOBAL_CONTEXT)
