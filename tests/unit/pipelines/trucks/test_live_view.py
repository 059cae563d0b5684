"""The screen of a truck run."""

import re

from ottla.pipelines.trucks.live_view import Progress, render, summary

EVENT = {
    "timestamp": 1_700_000_000_000,
    "truckId": 7,
    "driverId": 10,
    "routeId": 1,
    "eventType": "Overspeed",
    "latitude": 38.5,
    "longitude": -90.25,
    "firstName": "Alba",
    "lastName": "Ferreira",
}


def _progress() -> Progress:
    progress = Progress("127.0.0.1:9092")
    progress.counted.update(truck_position=1_234, dangerous_driving=56)
    progress.lags["truck_position"] = 9
    progress.rates["truck_position"] = 200.4
    progress.saw(EVENT)
    progress.saw({**EVENT, "firstName": None, "lastName": None})
    progress.sent, progress.driving_since, progress.arrived_at = 1_234, 10.0, 20.0
    return progress


def test_it_shows_rates_lag_events_and_drivers() -> None:
    screen = render(_progress(), colour=False)
    assert re.search(r"truck_position +1,234 +200 +9\n", screen)
    assert re.search(r"Overspeed +Alba Ferreira +truck 7 +38\.50, -90\.25", screen)
    assert "driver 10" in screen
    assert re.search(r"Alba Ferreira +1  █+", screen)


def test_no_line_is_wider_than_the_terminal() -> None:
    screen = render(_progress(), width=40)
    shown = re.sub(r"\x1b\[\d+m", "", screen)
    assert max(len(line) for line in shown.splitlines()) == 40


def test_a_run_that_has_seen_nothing_says_so() -> None:
    assert render(Progress("b"), colour=False).count("none yet") == 2


def test_the_summary_tells_what_was_done() -> None:
    text = summary(_progress())
    assert text.startswith("1,234 positions sent in 10 s (123 per second)")
    assert "most dangerous: Alba Ferreira with 1 events" in text
    assert text.endswith("the pipeline is 9 records behind: the next run goes on from there")


def test_a_pipeline_that_has_done_everything_is_not_behind() -> None:
    assert "behind" not in summary(Progress("b", lags={"truck_position": 0}))
