"""Joins a Ray cluster, or starts Ray on this machine, and says in one line why that fails.

Joining an address that nobody answers at keeps Ray busy for minutes, and may end the process. So another process tries
the address first, for a limited time. On every machine of the cluster a task then compares versions and sources with
those here: other rules would make other games.

Needs the extra `ray`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

import siberia_agents
import siberia_env
from siberia_env.errors import ConfigurationError, MissingExtraError, missing_extra
from siberia_env.installation import install_command
from siberia_experiments.faults import shortened

OLDEST = (2, 60)  #: version of Ray that the suite was tried with

try:
    import ray
    from ray._private import ray_constants
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise missing_extra("ray", "playing and training on a Ray cluster", error.name) from error

if tuple(int(part) for part in ray.__version__.split(".")[:2]) < OLDEST:
    raise MissingExtraError(
        f"Ray {ray.__version__} is too old, {OLDEST[0]}.{OLDEST[1]} is needed: {install_command('ray')}", name="ray"
    )

LOCAL = "local"  #: in place of an address: Ray is started on this machine, and ends with the command
AUTO = "auto"  #: the cluster that this machine belongs to
CONNECT_SECONDS = 5.0  #: time limit for somebody to listen at the address
ANSWER_SECONDS = 60.0  #: time limit for Ray to answer there, the start of a Python process included
LOOK_SECONDS = 300.0  #: time limit for every machine to tell its versions; a busy one takes minutes to start Python
OBJECT_STORE = 200 * 2**20  #: bytes of shared memory for Ray on this machine, when it is started here

_TRY = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
ray.shutdown()
"""

ONLY_HERE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


class Machine(NamedTuple):
    """A machine of the cluster, as the tasks of this suite find it."""

    node: str  #: Ray's number of it
    address: str
    processors: int
    python: str
    ray: str
    numpy: str
    siberia: str
    sources: str  #: digest of the suite's Python files


def versions() -> tuple[str, str, str, str, str]:
    """The versions here of Python, Ray, numpy and the suite, and a digest of the suite's sources."""
    python = ".".join(map(str, sys.version_info[:3]))
    return python, ray.__version__, np.__version__, siberia_env.__version__, sources_digest()


def sources_digest() -> str:
    """A digest of the Python files of environments and agents: whatever games and agents follow from."""
    digest = hashlib.sha256()
    for package in (siberia_env, siberia_agents):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def joined(address: str, processors: int | None = None) -> Iterator[list[Machine]]:
    """Be part of the cluster at `address` for a while; yields its machines, all of which have the same versions.

    Args:
        address: `HOST:PORT` of the cluster's head, `AUTO` or `LOCAL`.
        processors: how many processors Ray counts on with `LOCAL`; by default all that there are.

    Raises:
        ConfigurationError: there is no such cluster, it does not answer in time, or versions differ.
    """
    if ray.is_initialized():  # the caller is part of a cluster already, for example in a test
        yield machines()
        return
    with ExitStack() as held:
        if address == LOCAL:
            held.enter_context(loopback())
            ray.init(
                address=LOCAL,  # in Ray's words too; without it, Ray would join a cluster that it finds here
                num_cpus=processors,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        else:
            check_answers(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        held.callback(ray.shutdown)
        found = machines()
        check_same(found)
        yield found


@contextmanager
def loopback() -> Iterator[None]:
    """Let Ray, where it is started meanwhile, listen on this machine's loopback address only.

    Ray has this for systems with a firewall that asks, and no public option for it.
    """
    before = os.environ.get(ONLY_HERE), ray_constants.ENABLE_RAY_CLUSTER
    os.environ[ONLY_HERE] = "0"  # for the processes that Ray starts
    ray_constants.ENABLE_RAY_CLUSTER = False  # for this one, which has read it
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before[1]
        os.environ.pop(ONLY_HERE)
        if before[0] is not None:
            os.environ[ONLY_HERE] = before[0]


def check_answers(address: str) -> None:
    """Raise `ConfigurationError` unless a Ray cluster answers at `address` in time."""
    if address != AUTO:
        host, port = _parts(address)
        try:
            socket.create_connection((host, port), CONNECT_SECONDS).close()
        except OSError as error:
            reason = error.strerror or str(error)
            raise ConfigurationError(f"--ray: nobody answers at {address} ({reason}); {_wanted()}") from None
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _TRY, address],
            capture_output=True,
            text=True,
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigurationError(
            f"--ray: no Ray cluster has answered at {address} within {ANSWER_SECONDS:g} s; {_wanted()}"
        ) from None
    if tried.returncode:
        raise ConfigurationError(f"--ray: {_reason(address, tried.stderr)}")


def _parts(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if "://" in address:
        raise ConfigurationError(
            f"--ray: {address!r}: give the command on a machine of the cluster, with --ray {AUTO}; "
            "a Ray client from outside can't carry RLlib's workers"
        )
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise ConfigurationError(f"--ray: {address!r} is no address; {_wanted()}")
    return host, int(port)


def _wanted() -> str:
    return (
        f"give HOST:PORT of a cluster's head (`ray start --head` prints it), {AUTO} for the cluster of this machine, "
        f"or {LOCAL} to start Ray here"
    )


def _reason(address: str, told: str) -> str:
    """Why joining has failed, from what another process has printed."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    mismatch = next((number for number, line in enumerate(lines) if "Version mismatch" in line), None)
    if mismatch is not None:
        told = " ".join(line for line in lines[mismatch : mismatch + 8] if not line.startswith("File "))
        told = told[told.index("Version mismatch") :]
        return f"{address}: {shortened(told)}; install the same versions of Python and Ray on every machine"
    last = lines[-1] if lines else "its process has ended"
    where = "there is no Ray cluster on this machine" if address == AUTO else f"there is no Ray cluster at {address}"
    return f"{where} ({shortened(last)}); {_wanted()}"


def machines() -> list[Machine]:
    """Ask every machine of the cluster for its versions.

    A machine that has just gone is left out: Ray's list of machines is some seconds behind.

    Raises:
        ConfigurationError: a machine does not answer, or can't import the suite.
    """
    alive = [node for node in ray.nodes() if node["Alive"]]
    tell = ray.remote(num_cpus=0, max_retries=1)(versions)
    asked = [
        (node, tell.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote())
        for node in alive
    ]
    found = []
    for node, answer in asked:
        place = f"--ray: machine {node['NodeManagerAddress']}"
        try:
            told = ray.get(answer, timeout=LOOK_SECONDS)
        except ray.exceptions.GetTimeoutError:
            raise ConfigurationError(f"{place} has not answered within {LOOK_SECONDS:g} s") from None
        except (ray.exceptions.TaskUnschedulableError, ray.exceptions.NodeDiedError):
            continue
        except ray.exceptions.RayError as error:
            raise ConfigurationError(
                f"{place} can't run the suite ({last_line(error)}); install the same version there"
            ) from None
        processors = int(node["Resources"].get("CPU", 0))
        found.append(Machine(node["NodeID"], node["NodeManagerAddress"], processors, *told))
    return found


def check_same(found: list[Machine]) -> None:
    """Raise `ConfigurationError` if a machine has other versions than this one."""
    here = versions()
    names = ("Python", "Ray", "numpy", "siberia-env", "the suite's sources")
    for machine in found:
        for name, ours, theirs in zip(names, here, machine[3:], strict=True):
            if ours != theirs:
                raise ConfigurationError(
                    f"--ray: machine {machine.address} has {name} {theirs}, this one {ours}; "
                    "install the same versions on every machine"
                )


def check_room(processors: float, gpus: float) -> None:
    """Raise `ConfigurationError` if more is asked for than the whole cluster has: actors would wait for it forever."""
    there = ray.cluster_resources()
    for name, asked, has in (("processors", processors, there.get("CPU", 0)), ("GPUs", gpus, there.get("GPU", 0))):
        if asked > has:
            raise ConfigurationError(f"--workers: workers and learners take {asked:g} {name}, the cluster has {has:g}")


def processors_of(found: list[Machine]) -> int:
    """How many processors the cluster's machines offer together."""
    return sum(machine.processors for machine in found)


def last_line(error: BaseException) -> str:
    """The end of an error of Ray, which carries whole tracebacks."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shortened(lines[-1] if lines else type(error).__name__)
