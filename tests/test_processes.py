"""The deadlines of other tests: what hangs is ended, and what stands in line for a processor is given time."""

from __future__ import annotations

import time

import pytest

from tests import processes
from tests.processes import Deadline, run_python, wait_until


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.5)


def test_a_program_that_hangs_is_ended_and_what_it_wrote_is_told() -> None:
    with pytest.raises(AssertionError, match="here it hangs"):
        run_python("-c", "import time; print('here it hangs', flush=True); time.sleep(3600)")


def test_what_does_not_happen_is_not_waited_for_for_ever() -> None:
    with pytest.raises(AssertionError, match="waited in vain for snow"):
        wait_until(lambda: False, "snow", process=1)


def test_time_in_line_for_a_processor_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    in_line = {1: 100.0, 2: 0.0}
    monkeypatch.setattr(processes, "time_in_line", in_line.__getitem__)
    monkeypatch.setattr(processes, "children", lambda process: [2])
    deadline = Deadline(1)
    monkeypatch.setattr(time, "monotonic", lambda: deadline.start + 10)
    assert deadline.left() == pytest.approx(0.5 - 10)
    in_line[1] = 109.0
    assert deadline.left() == pytest.approx(0.5 - 1)
    in_line[2] = 9.75
    assert deadline.left() == pytest.approx(0.5 - 0.25)
