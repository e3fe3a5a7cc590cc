/** The table of a game that is being played or looked at, with what can be clicked on it. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Flight, GameLook } from "../common/look";
import type { Names } from "../common/text";
import type { Game } from "../engine/types";
import { fly, measured } from "../look/flights";
import { SpotContext, type Spots } from "../look/spot";

/** Below this width the parts of a table stand under each other. */
const NARROW = 760;

export function useNarrow(): boolean {
  const query = useMemo(() => matchMedia(`(max-width: ${NARROW}px)`), []);
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, [query]);
  return narrow;
}

interface Props {
  look: GameLook;
  game: Game;
  /** Changes whenever the game does. */
  version: number;
  viewer: number | null;
  names: Names;
  notes: readonly string[];
  choices: readonly number[];
  pointed: number | null;
  changed: ReadonlySet<string>;
  onChoose: (action: number) => void;
  onPoint: (action: number | null) => void;
  onFlights?: (listener: (flights: Flight[]) => void) => () => void;
  pace?: number;
}

export function TableView(props: Props) {
  const {
    look,
    game,
    version,
    viewer,
    names,
    notes,
    choices,
    pointed,
    changed,
    onChoose,
    onPoint,
    onFlights,
    pace = 0,
  } = props;
  const narrow = useNarrow();
  const waiting = useRef<{ flights: Flight[]; starts: (DOMRect | null)[] }[]>([]);
  const [, setFlown] = useState(0);
  useEffect(
    () =>
      onFlights?.((flights) => {
        waiting.current.push({ flights, starts: measured(flights) });
        setFlown((count) => count + 1);
      }),
    [onFlights],
  );
  useLayoutEffect(() => {
    for (const { flights, starts } of waiting.current.splice(0)) fly(flights, starts, pace);
  });
  const spots = useMemo((): Spots => {
    const actions = new Map<string, number>();
    for (const action of choices) {
      for (const spot of look.spots(game, action)) if (!actions.has(spot)) actions.set(spot, action);
    }
    return {
      actions,
      meant: new Set(pointed === null || !choices.includes(pointed) ? [] : look.spots(game, pointed)),
      changed,
      name: (action) => game.actionName(action),
      choose: onChoose,
      point: onPoint,
    };
  }, [version, game, viewer, pointed, choices.join()]);
  const { Table } = look;
  const table = useMemo(() => look.shown(game, viewer, names), [version, look, game, viewer, names]);
  return (
    <SpotContext.Provider value={spots}>
      <Table table={table} notes={notes} narrow={narrow} />
    </SpotContext.Provider>
  );
}
