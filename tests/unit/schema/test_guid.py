"""The GUID of a schema is a digest of all that makes two schemas different."""

import hashlib
import uuid

from ottla.schema.guid import guid
from ottla.schema.metadata import Metadata
from ottla.schema.reference import Reference
from ottla.schema.rule import ExecutionEnvironment, Rule, RuleSet


def digest(content: bytes) -> uuid.UUID:
    return uuid.UUID(bytes=hashlib.md5(content).digest())


def test_text_alone() -> None:
    assert guid('"string"') == digest(b'"string"')


def test_everything_in_order() -> None:
    rule = Rule("n", doc="d", type="CEL", params=(("k", "v"),), tags=("t",), expr="e", disabled=True)
    assert guid(
        "text",
        [Reference("name", "subject", -1), Reference("b", "s", 258)],
        Metadata.of(tags={"y": ["2", "1"], "x": ["3"]}, properties={"p": "q"}, sensitive=["s"]),
        RuleSet(domain_rules=(rule,), enable_at=ExecutionEnvironment.ALL),
    ) == digest(b"textnamesubject\xff\xff\xff\xffbs\x00\x00\x01\x02\x01x3y12pqs\x01ndTRANSFORMWRITEREADCELtkve\x01ALL")


def test_empty_metadata_is_not_absent_metadata() -> None:
    assert guid("a", metadata=Metadata()) == digest(b"a\x01")
    assert guid("a", rule_set=RuleSet()) == digest(b"a\x01")


def test_text_that_is_not_unicode_has_a_guid() -> None:
    assert guid('"\ud800"') == digest(b'"?"')
