"""The table of Lamps in plain text, as a seat sees it."""

from __future__ import annotations

from siberia_env.common.render import boxed, game_over, heading, seat_name, seen_by
from siberia_env.game import States, Variant
from tests.third_game.box import BID, NO_BID, OVER
from tests.third_game.notation import cards_of


def ansi(variant: Variant, states: States, index: int, viewer: int | None) -> str:
    """The game in `states[index]` as the seat `viewer` sees it; None sees everything."""
    state, players = states[index], range(variant.num_players)
    over = state.phase == OVER
    table = [["", *(heading(player, viewer, not over and player == state.player) for player in players)]]
    table.append(["score", *(str(state.score[player]) for player in players)])
    table.append(["bid", *("-" if state.bid[player] == NO_BID else str(state.bid[player]) for player in players)])
    table.append(["lamps", *(str(state.lit[player]) for player in players)])
    table.append(["card", *(str(state.table[player] or "-") for player in players)])
    lines = [f"{variant.game.title}, {variant.num_players} players: {seen_by(viewer)}"]
    lines += boxed(table, [8, *[16 for _ in players]], rules_after=(0,))
    for player in players:
        if viewer is None or player == viewer:
            lines.append(f"Hand of {seat_name(player)}: {', '.join(map(str, cards_of(state.hand[player]))) or 'none'}")
    lines.append(f"Played in this round: {', '.join(map(str, cards_of(state.played))) or 'none'}")
    if over:
        scores = [int(state.score[player]) for player in players]
        lines.append(game_over(int(state.rounds), "round", scores, False))
    else:
        doing = "bids" if state.phase == BID else "plays a card"
        lines.append(f"Round {state.rounds + 1} of {variant.rules['rounds']}: {seat_name(state.player)} {doing}.")
    return "\n".join(line.rstrip() for line in lines)
