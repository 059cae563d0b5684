"""Regular expressions on names: the verdicts are RE2/J 1.8's, which Kafka 4.3 matches with."""

import pytest

from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError

NAMES = [
    "a",
    "b",
    "A",
    "ab",
    "aa",
    "aaa",
    "abc",
    "foo",
    "foo-1",
    "foo.bar",
    "foo_bar",
    "Foo",
    "orders",
    "orders-2024",
    "__consumer_offsets",
    "x1",
    "-",
    ".",
    "0",
    "Z9",
]

MATCHED = {
    "a": "a",
    "a|b": "a b",
    "foo.*": "foo foo-1 foo.bar foo_bar",
    r"foo\..*": "foo.bar",
    "(?i)FOO.*": "foo foo-1 foo.bar foo_bar Foo",
    "(?i:f)oo": "foo Foo",
    "a{2}": "aa",
    "a{2,}": "aa aaa",
    "a{1,2}": "a aa",
    "a{,2}": "",
    "a{": "",
    "a{2": "",
    "a{1000}": "",
    "a{0}": "",
    "a*?": "a aa aaa",
    "a+?": "a aa aaa",
    "a??": "a",
    "a{2}?": "aa",
    "(|a)": "a",
    "()": "",
    "(?:)": "",
    "[a-z]+": "a b ab aa aaa abc foo orders",
    "[^a-z]+": "A - . 0 Z9",
    "a]": "",
    "[]a]+": "a aa aaa",
    "[^]a]+": "b A foo foo-1 Foo orders orders-2024 __consumer_offsets x1 - . 0 Z9",
    "[a-]": "a -",
    "[-a]": "a -",
    "[a-b-c]": "a b -",
    r"[\d]+": "0",
    r"[\w.-]+": "*",
    "[[:alpha:]]+": "a b A ab aa aaa abc foo Foo orders",
    "[[:^alpha:]]+": "- . 0",
    "[^[:alpha:]]+": "- . 0",
    "[[:word:]]+": "a b A ab aa aaa abc foo foo_bar Foo orders __consumer_offsets x1 0 Z9",
    r"\d+": "0",
    r"\D+": "a b A ab aa aaa abc foo foo.bar foo_bar Foo orders __consumer_offsets - .",
    r"\w+": "a b A ab aa aaa abc foo foo_bar Foo orders __consumer_offsets x1 0 Z9",
    r"\W+": "- .",
    r"\s": "",
    r"\S+": "*",
    r"\pL+": "a b A ab aa aaa abc foo Foo orders",
    r"\p{L}+": "a b A ab aa aaa abc foo Foo orders",
    r"\p{Lu}+": "A",
    r"\P{Lu}+": "a b ab aa aaa abc foo foo-1 foo.bar foo_bar orders orders-2024 __consumer_offsets x1 - . 0",
    r"\p{^Lu}+": "a b ab aa aaa abc foo foo-1 foo.bar foo_bar orders orders-2024 __consumer_offsets x1 - . 0",
    r"\p{Latin}+": "a b A ab aa aaa abc foo Foo orders",
    r"\p{Greek}": "",
    r"\pZ": "",
    r"\p{Common}+": "- . 0",
    r"\p{Any}+": "*",
    r"[\p{Lu}0-9]+": "A 0 Z9",
    "(?P<n>a)": "a",
    "(?<n>a)": "a",
    r"\0": "",
    r"\01": "",
    r"\101": "A",
    r"\x41": "A",
    r"\x{41}": "A",
    r"\Qa.b\E": "",
    r"\Qfoo.bar\E": "foo.bar",
    r"\Qfoo.ba\Er": "foo.bar",
    r"\Qfoo": "foo",
    "^foo$": "foo",
    "^*a": "a",
    "$*": "",
    r"\Afoo\z": "foo",
    r"\bfoo\b": "foo",
    r"foo\b.*": "foo foo-1 foo.bar",
    r"\Bfoo": "",
    r"f\Boo": "foo",
    r"\a": "",
    r"\.": ".",
    r"\-": "-",
    r"\_": "",
    '\\"': "",
    r"\<": "",
    r"\é": "",
    "é": "",
    "(?s).+": "*",
    "(?m)^a$": "a",
    "(?U)a+": "a aa aaa",
    "(?i-s)a": "a A",
    "(?-i)a": "a",
    "(?)": "",
    "(?ii)a": "a A",
    "(?i)a(?-i)B": "",
    "(a(?i)b)c": "abc",
    "a(?i)b|c": "ab",
    "(?i)[a-c]+": "a b A ab aa aaa abc",
    "(?i)[^a-c]+": "foo foo-1 Foo orders orders-2024 x1 - . 0 Z9",
    ".": "a b A - . 0",
    "..": "ab aa x1 Z9",
    ".*": "*",
    "|": "",
    "a||b": "a b",
    r"[\]]": "",
    r"[a\-z]+": "a aa aaa -",
    "[.]": ".",
    r"[\x41-\x43]": "A",
    r"[\pL]+": "a b A ab aa aaa abc foo Foo orders",
    r"[\p{^L}]+": "- . 0",
    r"[\W]+": "- .",
    r"[^\W]+": "a b A ab aa aaa abc foo foo_bar Foo orders __consumer_offsets x1 0 Z9",
    r"[\w-a]": "a b A - 0",
    "[--a]": "a A - . 0",
    "(?:a{500}){3}": "",
    "x{0,1000}": "",
    "x{1000,}": "",
    "{": "",
    "}": "",
    "a{a}": "",
    "a{-1}": "",
    "a{2,b}": "",
    "a{02}": "",
    "a{ 2}": "",
    "[a&&b]": "a b",
    "(?P<1>a)": "a",
}
"""Expression → the names that it matches, `*` for all of them."""

REFUSED = (
    "a{2,1}",
    "a{1001}",
    "a**",
    "a*+",
    "a{2}{2}",
    "a{2}*",
    "*a",
    "(*a)",
    "a|*",
    "[z-a]",
    "[a",
    r"[a-\d]",
    "[[:foo:]]",
    r"\p{Foo}",
    "(?=a)b",
    "(?!a)b",
    "(?<=a)b",
    "(?<!a)b",
    "(?P<n>a)(?P<n>b)",
    "(?P<n-x>a)",
    "(?P=n)",
    "(?P<n>a",
    "(?'n'a)",
    "(?#c)a",
    "(?>a)",
    "a++",
    r"(a)\1",
    r"\1",
    r"\8",
    r"\x{110000}",
    r"\x4",
    r"\xg",
    r"\E",
    r"\Afoo\Z",
    r"\C",
    r"\G",
    r"\K",
    r"\R",
    r"\X",
    r"\h",
    r"\e",
    r"\c",
    "(a",
    "a)",
    "(?i",
    "(?x)a",
    "(?i-)a",
    "(?-)a",
    "\\",
    "[\\",
    r"[a\Qb\E]",
    r"[\b]",
    r"[a-\w]",
    "[a--]",
    "x{2,3}{1,2}",
    "x{1000}{2}",
    "{2}",
    r"\u0041",
    r"\N{x}",
    "(?P<>a)",
    "(?P<é>a)",
    "(?P>n)",
    "(?|a)",
    "(?1)",
    "(?R)",
)


@pytest.mark.parametrize("regex", MATCHED)
def test_matches(regex: str) -> None:
    compiled = LinearRegex(regex)
    wanted = NAMES if MATCHED[regex] == "*" else MATCHED[regex].split()
    assert [name for name in NAMES if compiled.matches(name)] == wanted


@pytest.mark.parametrize("regex", REFUSED)
def test_refuses(regex: str) -> None:
    with pytest.raises(RegexError):
        LinearRegex(regex)


def test_no_expression_takes_for_ever() -> None:
    assert not LinearRegex("(a+)+x").matches("a" * 249)
    assert LinearRegex("(a|aa)*").matches("a" * 249)


@pytest.mark.parametrize("regex", ["(a{1000}){1000}", "(" * 2_000 + ")" * 2_000])
def test_expressions_have_a_size(regex: str) -> None:
    with pytest.raises(RegexError):
        LinearRegex(regex)


def test_what_was_met_before_is_not_kept_without_end() -> None:
    compiled = LinearRegex("(.*a.{8})+")
    for number in range(3_000):
        name = format(number, "b").replace("1", "a").replace("0", "b")
        assert compiled.matches(name) == (len(name) >= 9 and name[-9] == "a")


@pytest.mark.parametrize(
    ("regex", "matched"),
    [
        (".", "aéπ漢"),
        ("[^a]", "éπ漢"),
        ("é", "é"),
        (r"\x{3c0}|\xe9", "éπ"),
        ("[à-ü]", "é"),
        ("[^à-ü]", "aπ漢"),
        (r"\W", "éπ漢"),
        (r"\w|[[:ascii:]]", "a"),
        ("(?s).", "aéπ漢"),
    ],
)
def test_beyond_ascii(regex: str, matched: str) -> None:
    assert "".join(name for name in "aéπ漢" if LinearRegex(regex).matches(name)) == matched


def test_work_has_a_bound_if_one_is_set() -> None:
    costly = LinearRegex("(.*a.{800})+", work_max=100_000)
    with pytest.raises(RegexError, match="too long"):
        costly.matches("ab" * 5_000)
    plain = LinearRegex("orders-.*", work_max=1_000)
    assert all(plain.matches(f"orders-{number}") for number in range(10_000))
