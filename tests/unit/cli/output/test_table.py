"""Tables stay aligned whatever is in them."""

from ottla.cli.output.style import Style, Tone, Toned
from ottla.cli.output.table import Number, table

PLAIN = Style(is_coloured=False)
COLOURED = Style(is_coloured=True)


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    shown = table(["Topic", "Records"], [["orders", 1_234_567], ["a", 5], ["none", None]], PLAIN)
    assert shown.splitlines() == [
        "TOPIC     RECORDS",
        "orders  1,234,567",
        "a               5",
        "none            -",
    ]


def test_colours_do_not_move_columns() -> None:
    rows = [[Toned("注文", Tone.NAME), Number(7, Tone.WARN)], ["ab", 10]]
    coloured = table(["T", "Lag"], rows, COLOURED)
    for code in ("\x1b[1m", "\x1b[36m", "\x1b[33m", "\x1b[0m"):
        assert code in coloured
        coloured = coloured.replace(code, "")
    assert coloured == table(["T", "Lag"], rows, PLAIN)
    assert coloured.splitlines() == ["T     LAG", "注文    7", "ab     10"]


def test_a_column_of_numbers_in_words_is_no_column_of_numbers() -> None:
    assert table(["Value"], [["1"], ["22"]], PLAIN).splitlines() == ["VALUE", "1", "22"]


def test_a_table_without_rows_is_its_header() -> None:
    assert table(["Topic", "Records"], [], PLAIN) == "TOPIC  RECORDS"
