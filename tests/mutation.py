"""Breaks the rules on purpose, one small change at a time, and shows which changes no test notices.

`make mutants` makes every mutant of every kernel in the files of `GAMES`. A mutant has a comparison turned round or
shifted by one, an operator exchanged, a number one more or one less, a condition negated, or half of a condition or a
whole statement left out. The game's rule tests run against each mutant, the quickest first, until one fails. A mutant
that no test notices has to stand in `equivalent_mutants.toml`, with the reason why no test could notice it. The run
fails on an unexplained survivor, and on an explanation of a mutant that is killed or no longer exists.

Generic tools don't fit. mutmut (3.8) skips functions that have decorators, so it skips every kernel. cosmic-ray (8.7)
edits the files and starts the whole test command for each mutant. Here numba is off (`NUMBA_DISABLE_JIT=1`), so a
kernel is a plain function. A mutant is another code object for it, put in place in a forked process. So no file is
touched, and a mutant costs only the tests that reach the statement it changes.

`python -m tests.mutation board --functions '*wildcard*' --tests '*B16*'` is for work on a few rules or tests. It lists
what survives, and says nothing about explanations unless all tests run.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import select
import signal
import sys
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent
EXPLANATIONS = FOLDER / "equivalent_mutants.toml"

#: For each game, the modules whose kernels are changed, and the tests that should notice. These are all rule tests, and
#: some tests of whole games and of determinized states that take only a few seconds without compilation.
GAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "card": (
        ("siberia_env.card.rules", "siberia_env.card.transition"),
        (
            "tests/card/test_rules.py",
            "tests/card/test_examples.py",
            "tests/card/test_invariants.py::test_everything_holds_after_every_step[2-dlp]",
            "tests/card/test_invariants.py::test_everything_holds_after_every_step[3-digital]",
            "tests/card/test_invariants.py::test_forcing_the_order_that_fell_gives_the_same_state[2-oya]",
            "tests/card/test_invariants.py::test_forcing_a_setup_lays_it_out_from_the_top_down",
        ),
    ),
    "board": (
        ("siberia_env.board.rules", "siberia_env.board.transition", "siberia_env.board.determinize"),
        (
            "tests/board/test_rules.py",
            "tests/board/test_examples.py",
            "tests/board/test_invariants.py::test_everything_holds_after_every_step[2-small]",
            "tests/board/test_invariants.py::test_everything_holds_after_every_step[3-default]",
            "tests/board/test_invariants.py::test_forcing_the_setup_that_fell_gives_the_same_state",
            "tests/board/test_invariants.py::test_forcing_the_counters_that_fell_gives_the_same_state[3-miners]",
            "tests/board/test_determinize.py::test_the_viewer_sees_the_same_bit_for_bit[2-1]",
            "tests/board/test_determinize.py::test_only_hidden_things_change_and_they_do[2-1]",
        ),
    ),
}

#: The longest of the tests above, which are left out because they differ from others only in their parameters.
LEFT_OUT = (
    "test_B10_the_start_moves_to_the_next_seat[4]",
    "test_B11_what_is_shown_is_what_the_others_drew_and_where_they_placed_it[3]",
    "test_B11_what_is_shown_is_what_the_others_drew_and_where_they_placed_it[4]",
    "test_B12_every_placing_can_be_reached[hand0-lying0-tiles0]",
    "test_B12_every_placing_can_be_reached[hand2-lying2-tiles2]",
)

SECONDS = 3.0  #: seconds of processor time that a test may take beyond five times what it takes without a mutant
MEMORY = 8 * 2**30  #: most bytes that a process may ask for

# ---------------------------------------------------------------- mutants

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
EXCHANGED = {"min": "max", "max": "min"}
DECORATORS = ("kernel", "kernel_part")
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Mutant:
    """One change of one function.

    Attributes:
        function: the function's module and name, such as `board.rules.discard`.
        change: the statement before and after; a compound statement is shown without its body. The second, third
            ... of equal changes have a number.
        statement: the number of the changed statement in the function, in the order of the text.
        code: the code of the changed function.
    """

    function: str
    change: str
    statement: int
    code: CodeType


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every small change of one expression."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS.get(type(operator), ()):
                changed = deepcopy(node)
                changed.ops[index] = other()
                yield changed
    elif isinstance(node, ast.BinOp):
        if type(node.op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            yield from (node.left, node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        for index in range(len(node.values)):
            rest = node.values[:index] + node.values[index + 1 :]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield ast.Constant(node.value + 1)
            yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id.isupper():
            yield ast.BinOp(node, ast.Add(), ast.Constant(1))
            yield ast.BinOp(node, ast.Sub(), ast.Constant(1))
        elif node.id in EXCHANGED:
            yield ast.Name(EXCHANGED[node.id], node.ctx)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        first, last = (ast.Constant(0), node.args[0]) if len(node.args) == 1 else (node.args[0], node.args[1])
        yield ast.Call(node.func, [ast.BinOp(first, ast.Add(), ast.Constant(1)), last], [])
        yield ast.Call(node.func, [first, ast.BinOp(last, ast.Sub(), ast.Constant(1))], [])


def statement_changes(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield every change of a statement itself, without changes inside a compound statement's body."""
    if isinstance(statement, SIMPLE):
        yield ast.Pass()
    if isinstance(statement, ast.AugAssign):
        if type(statement.op) in OPERATORS:
            yield ast.AugAssign(statement.target, OPERATORS[type(statement.op)](), statement.value)
        yield ast.Assign([statement.target], statement.value)
    if isinstance(statement, ast.If | ast.While):
        test = statement.test
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1) and not isinstance(test, ast.UnaryOp):
            changed = deepcopy(statement)
            changed.test = ast.UnaryOp(ast.Not(), deepcopy(test))
            yield changed


def slots(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Yield every place below `node` where an expression stands: what holds it, under which key, and the expression.

    Bodies of compound statements and annotations are left out.
    """
    for name, value in ast.iter_fields(node):
        if (name in ("body", "orelse") and isinstance(node, ast.stmt)) or name == "annotation":
            continue
        if isinstance(value, ast.expr):
            yield node.__dict__, name, value
            yield from slots(value)
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                if isinstance(entry, ast.expr):
                    yield value, index, entry
                    yield from slots(entry)


def blocks(node: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    """Yield every statement below `node`, in the order of the text, as the list that holds it and its index."""
    for name in ("body", "orelse"):
        held = getattr(node, name, None)
        if isinstance(held, list):
            for index, statement in enumerate(held):
                yield held, index
                yield from blocks(statement)


def text_of(statement: ast.stmt) -> str:
    """A statement on one line; a compound statement without its body."""
    if isinstance(statement, ast.If | ast.While | ast.For):
        shown = deepcopy(statement)
        shown.body, shown.orelse = [ast.Pass()], []
        return ast.unparse(ast.fix_missing_locations(shown)).splitlines()[0]
    return " ".join(ast.unparse(ast.fix_missing_locations(statement)).split())


def code_of(function: ast.FunctionDef, filename: str) -> CodeType:
    """The compiled body of a function."""
    module = ast.fix_missing_locations(ast.Module([function], []))
    compiled = compile(module, filename, "exec", dont_inherit=True)
    return next(found for found in compiled.co_consts if isinstance(found, CodeType))


def likeness(code: CodeType) -> tuple[Any, ...]:
    """A value that is equal for two functions that do the same, instruction by instruction."""
    return code.co_code, code.co_consts, code.co_names, code.co_varnames


def bare(function: ast.FunctionDef) -> ast.FunctionDef:
    """A copy of a function without decorators, annotations and docstring."""
    copy = deepcopy(function)
    copy.decorator_list, copy.returns = [], None
    for argument in copy.args.args:
        argument.annotation = None
    if ast.get_docstring(copy) is not None:
        copy.body = copy.body[1:]
    return copy


def kernels_of(module: Any) -> dict[str, ast.FunctionDef]:
    """The kernels of a module by name, in the order of the text."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    return {
        node.name: bare(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(decorator, ast.Name) and decorator.id in DECORATORS for decorator in node.decorator_list)
    }


def mutants_of(module: Any, names: Callable[[str], bool] = lambda name: True) -> Iterator[Mutant]:
    """Yield every mutant of the kernels of a module whose names, as in `Mutant.function`, are wanted."""
    for function_name, function in kernels_of(module).items():
        name = f"{module.__name__.removeprefix('siberia_env.')}.{function_name}"
        if not names(name):
            continue
        same: Counter[str] = Counter()
        unchanged = likeness(code_of(deepcopy(function), module.__file__))
        for number, (held, index) in enumerate(list(blocks(function))):
            statement = held[index]
            before = text_of(statement)
            changes: list[tuple[Any, Any, ast.AST]] = [
                (held, index, changed) for changed in statement_changes(statement)
            ]
            changes += [
                (holder, key, changed)
                for holder, key, expression in list(slots(statement))
                for changed in replacements(expression)
            ]
            for holder, key, changed in changes:
                kept = holder[key]
                holder[key] = changed
                after, code = text_of(held[index]), code_of(deepcopy(function), module.__file__)
                holder[key] = kept
                if likeness(code) == unchanged:
                    continue  # the compiler makes the same code of both
                change = f"{before}  ->  {after}"
                same[change] += 1
                yield Mutant(name, change if same[change] == 1 else f"{change}  #{same[change]}", number, code)


def with_probes(function: ast.FunctionDef, filename: str, name: str) -> CodeType:
    """The function's code with a call before each statement, which notes that the statement is reached."""
    copy = deepcopy(function)
    found = list(blocks(copy))
    inserted: dict[int, int] = {}
    for number, (held, index) in enumerate(found):
        probe = ast.Expr(ast.Call(ast.Name("_reached", ast.Load()), [ast.Constant((name, number))], []))
        held.insert(index + inserted.get(id(held), 0), probe)
        inserted[id(held)] = inserted.get(id(held), 0) + 1
    return code_of(copy, filename)


# ---------------------------------------------------------------- tests, each in its own process


@dataclass(frozen=True)
class Reached:
    """What a test did without a mutant: the statements that it reached, and its processor time in seconds."""

    statements: frozenset[tuple[str, int]]
    seconds: float


class Runner:
    """A pytest plugin that runs the collected tests on one mutant after the other, in forked processes."""

    def __init__(self, work: Callable[[Runner], bool], processes: int) -> None:
        self.work, self.processes = work, processes
        self.items: dict[str, Any] = {}
        self.passed = False
        self.failed = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the work in place of pytest's own loop."""
        if session.testsfailed:
            raise session.Interrupted("tests can't be collected")
        self.items = {item.nodeid: item for item in session.items}
        self.passed = self.work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        self.failed |= report.failed

    def run(self, name: str, seconds: float) -> bool:
        """Run one test here, in a forked process, and return whether it passed. A test that takes too long ends it."""
        self.failed = False
        signal.setitimer(signal.ITIMER_PROF, seconds)
        item = self.items[name]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return not self.failed

    def each(self, jobs: Sequence[Callable[[], Any]], done: Callable[[int, Any], None]) -> None:
        """Do every job in its own process, several at once.

        `done` gets the number of each job and its answer, or None if a test took too long.
        """
        waiting = list(enumerate(jobs))[::-1]
        running: dict[int, tuple[int, int, list[bytes]]] = {}  # by pipe: process, job, what the process has written
        while waiting or running:
            while waiting and len(running) < self.processes:
                number, job = waiting.pop()
                read, write = os.pipe()
                process = os.fork()
                if process == 0:
                    os.close(read)
                    _answer(job, write)
                os.close(write)
                running[read] = (process, number, [])
            for read in select.select(list(running), [], [])[0]:
                process, number, said = running[read]
                if part := os.read(read, 2**16):
                    said.append(part)
                    continue
                del running[read]
                os.close(read)
                _, status = os.waitpid(process, 0)
                if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
                    done(number, None)
                    continue
                if status:
                    raise SystemExit(f"a test's process ended with status {status}: {b''.join(said).decode()}")
                done(number, json.loads(b"".join(said)))


def _answer(job: Callable[[], Any], pipe: int) -> None:
    """Do the job in a forked process, write its answer as JSON, and end the process."""
    status = 1
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # so that the signal ends the process
        answer = json.dumps(job())
        status = 0
    except BaseException:
        answer = traceback.format_exc()
    rest = answer.encode()
    while rest:
        rest = rest[os.write(pipe, rest) :]
    os._exit(status)


# ---------------------------------------------------------------- the run


@dataclass
class Outcome:
    """What became of a mutant: the test that failed, `no end` if one took too long, or None if all passed."""

    mutant: Mutant
    killer: str | None


def what_tests_reach(runner: Runner, modules: Sequence[Any]) -> dict[str, Reached]:
    """Run every test without a mutant, and note which statements it reaches."""
    functions = {
        (module, name): with_probes(function, module.__file__, f"{module.__name__.removeprefix('siberia_env.')}.{name}")
        for module in modules
        for name, function in kernels_of(module).items()
    }

    def job(name: str) -> Callable[[], Any]:
        def run() -> Any:
            hits: set[tuple[str, int]] = set()
            for (module, function), code in functions.items():
                module.__dict__["_reached"] = hits.add
                getattr(module, function).__code__ = code
            started = time.process_time()
            passed = runner.run(name, 3600)
            return passed, time.process_time() - started, sorted(hits)

        return run

    names, found = list(runner.items), {}

    def done(number: int, answer: Any) -> None:
        if answer is None or not answer[0]:
            raise SystemExit(f"{names[number]} fails without any mutant")
        found[names[number]] = Reached(frozenset((function, at) for function, at in answer[2]), answer[1])

    runner.each([job(name) for name in names], done)
    return found


def try_mutants(
    runner: Runner, modules: Sequence[Any], mutants: Sequence[Mutant], reached: Mapping[str, Reached]
) -> list[Outcome]:
    """Run the tests that reach each mutant until one fails. Tests that killed mutants of its function run first."""
    homes = {module.__name__.removeprefix("siberia_env."): module for module in modules}
    quickest = sorted(reached, key=lambda name: reached[name].seconds)
    outcomes: list[Outcome] = []
    kills: dict[str, Counter[str | None]] = {mutant.function: Counter() for mutant in mutants}  # by function and test

    def job(mutant: Mutant) -> Callable[[], Any]:
        def run() -> Any:
            order = sorted(quickest, key=lambda name: -kills[mutant.function][name])
            module, _, function = mutant.function.rpartition(".")
            getattr(homes[module], function).__code__ = mutant.code
            for name in order:
                if (mutant.function, mutant.statement) not in reached[name].statements:
                    continue
                if not runner.run(name, SECONDS + 5 * reached[name].seconds):
                    return {"killer": name}
            return {"killer": None}

        return run

    def done(number: int, answer: Any) -> None:
        mutant, killer = mutants[number], "no end" if answer is None else answer["killer"]
        outcomes.append(Outcome(mutant, killer))
        kills[mutant.function][killer] += 1
        if killer is None:
            print(f"survives: {mutant.function}: {mutant.change}", flush=True)
        if len(outcomes) % 100 == 0:
            print(f"  {len(outcomes)} of {len(mutants)}", flush=True)

    runner.each([job(mutant) for mutant in mutants], done)
    return outcomes


def explanations() -> dict[tuple[str, str], str]:
    """Read the reason for each explained mutant, by function and change."""
    tables = tomllib.loads(EXPLANATIONS.read_text(encoding="utf-8")).get("equivalent", [])
    found: dict[tuple[str, str], str] = {}
    for table in tables:
        for change in table["changes"]:
            key = (table["function"], change)
            assert key not in found, f"explained twice: {key}"
            assert table["reason"].strip(), f"no reason: {key}"
            found[key] = table["reason"]
    return found


def verdict(outcomes: Sequence[Outcome], wanted: Callable[[str], bool], games: Sequence[str]) -> bool:
    """Print what is left to explain and which explanations are wrong; return whether there is neither."""
    explained = {
        key: reason for key, reason in explanations().items() if wanted(key[0]) and key[0].partition(".")[0] in games
    }
    survivors = {(outcome.mutant.function, outcome.mutant.change) for outcome in outcomes if outcome.killer is None}
    made = {(outcome.mutant.function, outcome.mutant.change): outcome for outcome in outcomes}
    unexplained = sorted(survivors - set(explained))
    for function, change in unexplained:
        print(f"survives without a reason: {function}: {change}")
    wrong = sorted(set(explained) - survivors)
    for key in wrong:
        fate = f"is killed by {made[key].killer}" if key in made else "is not made any more"
        print(f"explained as equivalent, but {fate}: {key[0]}: {key[1]}")
    return not unexplained and not wrong


def main() -> int:
    """Run what the command line asks for; return 0 if every survivor is explained, and nothing else is."""
    parser = argparse.ArgumentParser(
        description="Change the rules in many small ways and show the changes that no test notices."
    )
    parser.add_argument(
        "games", nargs="*", choices=[[], *GAMES], help="the games whose rules are changed (default: all)"
    )
    parser.add_argument(
        "--functions", default="*", help="change only the kernels that match this pattern, such as 'board.rules.*tile*'"
    )
    parser.add_argument("--tests", default="*", help="run only the tests that match this pattern")
    parser.add_argument(
        "--again", type=Path, help="file with the output of an earlier run: try only the changes that survived there"
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="number of processes that run at the same time"
    )
    parser.add_argument("--killers", action="store_true", help="also name the test that notices each change")
    options = parser.parse_args()
    games = options.games or list(GAMES)
    started = time.monotonic()
    passed = []
    earlier = None if options.again is None else options.again.read_text(encoding="utf-8").splitlines()

    def wanted(name: str) -> bool:
        return fnmatch(name, f"*{options.functions}*")

    def work(runner: Runner) -> bool:
        for name in list(runner.items):
            if not fnmatch(name, f"*{options.tests}*") or name.endswith(LEFT_OUT):
                del runner.items[name]
        modules = [import_module(name) for game in games for name in GAMES[game][0]]
        reached = what_tests_reach(runner, modules)
        print(f"{len(reached)} tests take {sum(test.seconds for test in reached.values()):.0f} s of processor time")
        for name, test in sorted(reached.items(), key=lambda pair: -pair[1].seconds)[:5]:
            print(f"  {test.seconds:.1f} s {name}")
        mutants = [
            mutant
            for module in modules
            for mutant in mutants_of(module, wanted)
            if earlier is None or any(line.endswith(f": {mutant.function}: {mutant.change}") for line in earlier)
        ]
        print(f"{len(mutants)} mutants", flush=True)
        outcomes = try_mutants(runner, modules, mutants, reached)
        if options.killers:
            for outcome in outcomes:
                print(f"{outcome.killer}: {outcome.mutant.function}: {outcome.mutant.change}")
        killed = sum(outcome.killer is not None for outcome in outcomes)
        endless = sum(outcome.killer == "no end" for outcome in outcomes)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        minutes = (spent.ru_utime + spent.ru_stime) / 60
        print(
            f"{len(outcomes)} mutants, {killed} killed ({endless} because a test found no end), "
            f"{len(outcomes) - killed} survive; {minutes:.0f} minutes of processor time, "
            f"{(time.monotonic() - started) / 60:.0f} minutes by the clock"
        )
        if options.tests == "*" and earlier is None:
            passed.append(verdict(outcomes, wanted, games))
        return True

    paths = [str(FOLDER.parent / path) for game in games for path in GAMES[game][1]]
    runner = Runner(work, options.processes)
    status = pytest.main(
        ["-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "--capture=no", *paths], plugins=[runner]
    )
    if not runner.passed:
        print(f"the tests could not be collected (pytest says {int(status)})", file=sys.stderr)
    return 0 if runner.passed and all(passed) else 1


if __name__ == "__main__":
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tests.mutation", *sys.argv[1:]])
    sys.exit(main())
