"""A record as one HTML file that needs nothing else: `siberia replay game.jsonl --html game.html`.

The file holds the page's script and style, the game's compiled module, its description, the model for its number of
players, and the record. It asks for nothing: a browser opens it without a server or a network.
"""

from __future__ import annotations

import base64
import hashlib
import json
from itertools import islice
from pathlib import Path

from siberia_env.errors import ConfigurationError
from siberia_env.game import Game, Variant
from siberia_env.records import read_records, record_variant
from siberia_experiments.record_games import tell_records
from siberia_experiments.web.files import LOOK, SCRIPT, page_files

TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{script_hash}' 'wasm-unsafe-eval'; \
style-src '{style_hash}'; img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page plays in your browser and needs JavaScript.</noscript>
<script type="application/json" id="siberia-files">{files}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def replay_page(variant: Variant, record: bytes) -> str:
    """The HTML file that shows `record`, a game of `variant`.

    Raises:
        ConfigurationError: this installation lacks the page.
    """
    paths = page_files()
    game = variant.game.name
    wanted = [f"{game}.json", f"{game}.wasm", f"{game}_{variant.num_players}.npz"]
    contents = {name: paths[name].read_bytes() for name in wanted if name in paths} | {"record.jsonl": record}
    files = json.dumps({name: base64.b64encode(content).decode("ascii") for name, content in contents.items()})
    script = paths[SCRIPT].read_text(encoding="utf-8").replace("</script", "<\\/script")
    style = paths[LOOK].read_text(encoding="utf-8")
    return TEMPLATE.format(
        title=f"{variant.game.title}: a game",
        script=script,
        style=style,
        files=files,
        script_hash=_hash(script),
        style_hash=_hash(style),
    )


def write_replay_pages(path: Path, game: Game | None, out: Path) -> None:
    """Write the only game in the file `path` as the HTML file `out`, which must not be there yet.

    Raises:
        ConfigurationError: `path` can't be read or holds another number of games, `out` is there already or can't be
            written, or this installation lacks the page.
        RecordError: the record is wrong, or not of the game `game`.
    """
    for _ in tell_records(path, game):  # every line is checked
        pass
    records = list(islice(read_records(path), 2))
    if len(records) != 1:
        raise ConfigurationError(
            f"--html: {path} holds {'no game' if not records else 'several games'}; name a file with one"
        )
    written = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in records[0].lines)
    text = replay_page(record_variant(records[0]), written.encode())
    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigurationError(f"--html: {out} is there already; name another file") from None
    except OSError as error:
        raise ConfigurationError(f"--html: can't write {out}: {error.strerror or error}") from None


def _hash(text: str) -> str:
    """The digest by which a Content-Security-Policy allows a script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
