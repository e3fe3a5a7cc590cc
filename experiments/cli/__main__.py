"""`python -m siberia_experiments.cli` is the command `siberia`."""

from __future__ import annotations

import sys

from siberia_experiments.cli import main

sys.exit(main())
