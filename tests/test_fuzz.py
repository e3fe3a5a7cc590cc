"""A few damaged files of every kind are read or refused in words; `make attack` tries thousands."""

from __future__ import annotations

import pytest

from tests.attack.readers import READERS, Reader, fuzz

EXAMPLES = 15


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_damaged_files_are_refused_in_words(reader: Reader) -> None:
    refused, read = fuzz(reader, EXAMPLES)
    assert refused + read >= EXAMPLES
    assert refused
