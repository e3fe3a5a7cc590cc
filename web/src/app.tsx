/** The page: which screen is shown, and what is carried from one to the other. */
import { useEffect, useRef, useState } from "preact/hooks";
import { messageOf } from "./engine/types";
import { openGame, inlinedText, type GameKey } from "./engines";
import { Learn } from "./learn/learn";
import { Symbols } from "./look/pieces";
import { storedTheme, useTheme, type Theme } from "./look/style";
import { LOOKS } from "./looks";
import { PlayScreen } from "./play/screen";
import { Session } from "./play/session";
import { OPENING } from "./play/bridge";
import { isSetup, readSave, showing, shownBefore, type Save, type Setup } from "./play/saves";
import { openRecord, type OpenedRecord } from "./replay/record";
import { ReplayScreen } from "./replay/screen";
import { Start } from "./start/start";

type Screen =
  | { kind: "opening" }
  | { kind: "start" }
  | { kind: "play"; session: Session }
  | { kind: "replay"; record: OpenedRecord }
  | { kind: "learn"; game: GameKey; back: Screen };

/** Files larger than this are no record and no save. */
const LARGEST = 64 * 2 ** 20;

/** The record of a page that has been made of one; null on the page that the package serves. */
const RECORD = inlinedText("record.jsonl");

/** What the page opens with, if not with the first screen: a record, the game in its address, or the one it showed. */
const FIRST = firstThing();

function firstThing(): { record: Promise<OpenedRecord> } | { setup: Setup } | { save: Save } | null {
  // Files come while the page is drawn for the first time. If they don't, whoever waits for them is told.
  if (RECORD !== null) {
    const record = openRecord(RECORD);
    record.catch(() => undefined);
    return { record };
  }
  const { setup } = OPENING.plan;
  const save = isSetup(setup) ? null : shownBefore();
  const game = isSetup(setup) ? setup.game : save?.setup.game;
  if (game) openGame(game).catch(() => undefined);
  return isSetup(setup) ? { setup } : save && { save };
}

/** The session that stays on the table on this screen, or waits behind it. */
function sessionOf(screen: Screen): Session | null {
  if (screen.kind === "play") return screen.session;
  return screen.kind === "learn" ? sessionOf(screen.back) : null;
}

export function App() {
  const [screen, setScreen] = useState<Screen>({ kind: FIRST ? "opening" : "start" });
  const [problem, setProblem] = useState<string | null>(null);
  const [theme, setTheme] = useState<Theme>(storedTheme);

  const shown = useRef(screen); // the latest one, for work that began on another
  const show = (next: Screen) => {
    const before = sessionOf(shown.current);
    if (before !== sessionOf(next)) before?.leave();
    shown.current = next;
    setProblem(null);
    setScreen(next);
    scrollTo(0, 0);
  };
  const attempt = (work: () => Promise<void>) =>
    void work().catch((error: unknown) => {
      if (shown.current.kind === "opening" && RECORD === null) show({ kind: "start" });
      setProblem(messageOf(error));
    });

  const play = (setup: Setup, id: string, decisions: string[] = [], looksAhead: number[] = []) =>
    attempt(async () => {
      const { engine, thinker } = await openGame(setup.game);
      const session = new Session(engine, thinker, LOOKS[setup.game], setup, id, decisions, looksAhead);
      show({ kind: "play", session });
      showing(id);
      session.begin();
    });
  const start = (setup: Setup) => play(setup, crypto.randomUUID());
  const resume = (save: Save) => play(save.setup, save.id, save.decisions, save.looksAhead);
  const replay = (record: Promise<OpenedRecord>) => attempt(async () => show({ kind: "replay", record: await record }));
  const openFile = (file: File) =>
    attempt(async () => {
      if (file.size > LARGEST) throw new Error(`${file.name} is too large to be a record.`);
      const text = await file.text();
      try {
        if (file.name.endsWith(".save.json") || text.slice(0, 400).includes('"siberia-page-save/'))
          resume(readSave(text));
        else show({ kind: "replay", record: await openRecord(text) });
      } catch (error) {
        throw new Error(`${file.name}: ${messageOf(error)}`);
      }
    });

  useEffect(() => {
    if (FIRST && "record" in FIRST) replay(FIRST.record);
    else if (FIRST && "setup" in FIRST) start(FIRST.setup);
    else if (FIRST) resume(FIRST.save);
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) openFile(file);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("drop", drop);
    };
  }, []);

  const home = () => {
    if (RECORD !== null) return; // such a page holds one game's files and no more
    showing(null);
    show({ kind: "start" });
  };
  const title =
    screen.kind === "play"
      ? screen.session.look.title
      : screen.kind === "replay"
        ? screen.record.look.title
        : screen.kind === "learn"
          ? LOOKS[screen.game].title
          : "Siberia";
  return (
    <>
      <Symbols />
      <header class="band">
        <Hills />
        <h1>
          <button type="button" class="brand" onClick={home} aria-label="Siberia: to the first screen">
            {title}
          </button>
        </h1>
        <label class="theme">
          <span class="unseen">Colours</span>
          <select
            value={theme}
            onChange={(event) => {
              const next = event.currentTarget.value as Theme;
              setTheme(next);
              useTheme(next);
            }}
          >
            <option value="auto">colours: as the machine</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
      </header>
      {problem && (
        <p class="problem page-problem" role="alert">
          {problem}{" "}
          <button type="button" class="link" onClick={() => setProblem(null)}>
            All right
          </button>
        </p>
      )}
      {screen.kind === "start" && (
        <Start
          onStart={start}
          onResume={resume}
          onFile={openFile}
          onLearn={(game) => show({ kind: "learn", game, back: screen })}
        />
      )}
      {screen.kind === "play" && (
        <PlayScreen
          key={screen.session.id}
          session={screen.session}
          onLeave={home}
          onReplay={(text) => replay(openRecord(text))}
          onLearn={() => show({ kind: "learn", game: screen.session.look.key, back: screen })}
        />
      )}
      {screen.kind === "replay" && (
        <ReplayScreen
          key={screen.record.id}
          record={screen.record}
          onGame={(number) => replay(openRecord(screen.record.file, number))}
          onLeave={RECORD === null ? home : null}
        />
      )}
      {screen.kind === "learn" && <Learn game={screen.game} onBack={() => show(screen.back)} />}
    </>
  );
}

/** Snowy hills behind the title. */
function Hills() {
  return (
    <svg class="hills" viewBox="0 0 1200 60" preserveAspectRatio="xMaxYMax slice" aria-hidden="true">
      <path
        d="M0 60L90 34L150 48L260 18L340 44L430 26L520 50L640 14L740 46L830 30L930 52L1040 20L1130 44L1200 28V60Z"
        fill="#fff"
        opacity="0.1"
      />
      <path
        d="M0 60L120 46L220 56L360 38L470 56L600 40L720 57L850 42L980 57L1090 40L1200 52V60Z"
        fill="#fff"
        opacity="0.16"
      />
      <path
        d="M640 14L662 23L650 26L640 22L628 27L618 22ZM260 18L281 26L268 28L258 24L247 28L240 25ZM1040 20L1060 28L1046 30L1036 26L1022 30Z"
        fill="#fff"
        opacity="0.5"
      />
    </svg>
  );
}
