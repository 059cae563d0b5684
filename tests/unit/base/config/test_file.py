import pytest

from ottla.base.config.file import PropertiesError, parse_properties, parse_property_lines, render_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=1\nb = 2\nc:3\nd 4\n", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        ("# no\n! neither\n\n  a=1", {"a": "1"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("long=one,\\\n    two,\\\n  three\n", {"long": "one,two,three"}),
        ("path=C:\\\\dir\\tx", {"path": "C:\\dir\tx"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("umlaut=\\u00fc", {"umlaut": "ü"}),
        ("empty=\nalone", {"empty": "", "alone": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a=x#y!z", {"a": "x#y!z"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_files_read_as_java_reads_them(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


def test_each_property_knows_its_line() -> None:
    found = parse_property_lines("# first\na=1\n\nb=x\\\n  y\nc=2")
    assert {key: value.line for key, value in found.items()} == {"a": 2, "b": 4, "c": 6}


def test_what_is_written_reads_back() -> None:
    properties = {"a b": " lead", "k:=": "v=\\\n", "ü": "\x00é", "plain.key": "x y"}
    assert parse_properties(render_properties(properties)) == properties


def test_a_broken_escape_names_its_line() -> None:
    with pytest.raises(PropertiesError, match="line 2"):
        parse_properties("a=1\nb=\\u12")
