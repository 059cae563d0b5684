"""Days and the calendar, for any year: Python's `datetime` ends at 9999.

The calendar is the Gregorian one for all times; Java's changes to the Julian one before 1582.
"""

from typing import NamedTuple

MS_PER_DAY = 86_400_000


class Day(NamedTuple):
    """A day of the calendar."""

    year: int
    month: int
    day: int


def day_of(days: int) -> Day:
    """The day so many days after 1 January 1970.

    >>> day_of(0), day_of(19_000), day_of(-1)
    (Day(year=1970, month=1, day=1), Day(year=2022, month=1, day=8), Day(year=1969, month=12, day=31))
    """
    shifted = days + 719_468
    era, of_era = divmod(shifted, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_index = (5 * of_year + 2) // 153
    month = month_index + 3 if month_index < 10 else month_index - 9
    return Day(era * 400 + year_of_era + (month <= 2), month, of_year - (153 * month_index + 2) // 5 + 1)


def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day; months and days beyond their range carry over, as in a lenient calendar.

    >>> days_of(2022, 1, 8), day_of(days_of(2023, 2, 31)), days_of(2022, 13, 1) == days_of(2023, 1, 1)
    (19000, Day(year=2023, month=3, day=3), True)
    """
    carried, month_index = divmod(month - 1, 12)
    year += carried
    month = month_index + 1
    shifted = year - (month <= 2)
    era, year_of_era = divmod(shifted, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + of_year - 719_468 + day - 1


def weekday(days: int) -> int:
    """1 for Monday to 7 for Sunday."""
    return (days + 3) % 7 + 1
