"""Names in Avro: simple name and namespace, how a parser reads them and a printer shortens them."""

from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidSchemaError

PRIMITIVES: Final = frozenset({"string", "bytes", "int", "long", "float", "double", "boolean", "null"})
_KINDS: Final = PRIMITIVES | {"record", "enum", "array", "map", "union", "fixed"}
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_LETTERS_AND_DIGITS: Final = _LETTERS | frozenset("0123456789")


@frozen
class Name:
    """The name of a record, enum or fixed, or an alias of one.

    >>> Name.of("Order", "shop").full, Name.of("shop.Order", "other").full, Name.of(".Order", "shop").full
    ('shop.Order', 'shop.Order', 'Order')
    """

    simple: str
    namespace: str | None
    full: str

    @classmethod
    def of(cls, text: str, namespace: str | None) -> "Name":
        """The name that `text` stands for in `namespace`; a name with a dot brings its own namespace."""
        dot = text.rfind(".")
        if dot >= 0:
            text, namespace = text[dot + 1 :], text[:dot]
        namespace = namespace or None
        return cls(text, namespace, f"{namespace}.{text}" if namespace else text)

    def within(self, namespace: str | None) -> str:
        """The shortest text that means this name inside of `namespace`."""
        if self.namespace is not None and self.namespace == namespace and self.simple not in _KINDS:
            return self.simple
        return self.full


def resolve(text: str, namespace: str | None) -> str:
    """The full name that a reference means."""
    return f"{namespace}.{text}" if namespace is not None and "." not in text else text


def check_strict(name: str | None, path: str) -> None:
    """The rule of the specification: ASCII letters, digits and underscores, no digit first."""
    if not name:
        raise InvalidSchemaError("Null name" if name is None else "Empty name", path)
    if name[0] not in _LETTERS:
        raise InvalidSchemaError(f"Illegal initial character: {name}", path)
    if not _LETTERS_AND_DIGITS.issuperset(name):
        raise InvalidSchemaError(f"Illegal character in: {name}", path)


def check_any_letter(name: str | None, path: str) -> None:
    """The rule for what is stored already: letters and digits of any script."""
    if not name:
        raise InvalidSchemaError("Null name" if name is None else "Empty name", path)
    if not (name[0].isalpha() or name[0] == "_"):
        raise InvalidSchemaError(f"Illegal initial character: {name}", path)
    if not all(char.isalpha() or char.isdecimal() or char == "_" for char in name):
        raise InvalidSchemaError(f"Illegal character in: {name}", path)


def check_namespace(namespace: str | None, path: str) -> None:
    """Each part of a namespace is a name."""
    for part in (namespace or "").rstrip(".").split(".") if namespace else ():
        try:
            check_strict(part, path)
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f'Namespace part "{part}" is invalid: {error.message}', path) from None
