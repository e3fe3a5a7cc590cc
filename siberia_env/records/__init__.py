"""Game records: one game in JSON Lines, with every random outcome in it; written, read, replayed.

`play_and_record` plays a game and gives its `Record`; `write_records` and `read_records` keep records in files,
one game after the other; `replay` plays a record again, decision by decision, and refuses one that the rules
contradict; `describe` tells it to a person.

What a chance outcome is called is a game's own business: its chronicle (`siberia_env.common.notation`).
"""

from siberia_env.records.describe import describe
from siberia_env.records.format import FORMAT, Record, record_variant
from siberia_env.records.recorder import Recorder, play_and_record, write_records
from siberia_env.records.replay import Decision, read_records, replay

__all__ = [
    "FORMAT",
    "Decision",
    "Record",
    "Recorder",
    "describe",
    "play_and_record",
    "read_records",
    "record_variant",
    "replay",
    "write_records",
]
