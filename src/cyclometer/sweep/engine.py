# SPDX-License-Identifier: BSD-2-Clause
"""Tasks on Dask: a cluster of this machine's processors, or any scheduler by its address.

Dask moves tasks away from workers that die. Whether a task is done is asked of the store and never
of the engine, so whatever dies, nothing is lost or counted twice.
"""

from __future__ import annotations

import concurrent.futures
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cyclometer.errors import MeasurementFailed, NotComparable
from cyclometer.sweep import work
from cyclometer.sweep.task import Task
from cyclometer.sweep.work import Outcome

CLOCK = "clock"
"""The Dask resource of workers that may measure real time: one worker a machine has one of it."""
DEATHS = 20
"""Workers that may die under a task before it is given up: machines vanish, tasks do not kill."""
# The scheduler has an HTTP server all the same: on any port, for two sweeps may run on a machine.
_NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_POLL_S = 0.5
_LOST = "the Dask scheduler is gone, or was restarted"
NOBODY_S = 60.0
"""After this long without any worker a sweep ends: a farm that is gone does not come back soon."""

Notify = Callable[[Outcome], None]


@contextmanager
def cluster(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A Dask client: of the scheduler at an address, or of a new cluster on this machine.

    Raises NotComparable without Dask, MeasurementFailed if nobody answers.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise NotComparable(
            "sweeps on several workers need Dask; install it with `pip install "
            "'cyclometer[sweep]'`, or run single tasks with --task"
        ) from error
    dask.config.set({"distributed.scheduler.allowed-failures": DEATHS})
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=10)
        except (OSError, TimeoutError, ValueError) as error:
            raise MeasurementFailed(
                f"no Dask scheduler answers at {scheduler} ({type(error).__name__}); start one "
                "with `dask scheduler`"
            ) from error
        with client:
            yield client
        return
    number = workers or len(os.sched_getaffinity(0))
    with (
        distributed.LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            processes=True,
            scheduler_kwargs=_NO_DASHBOARD,
            silence_logs=logging.CRITICAL,
        ) as local,
        distributed.Client(local) as client,
    ):
        # Nannies restart workers; one that was killed while it started has lost its nanny, too.
        local.adapt(minimum=number, maximum=number, interval="1s")
        yield client


def perform(client: Any, tasks: Sequence[Task], url: str, notify: Notify) -> None:
    """Has every task performed: exact ones on all workers, then the others alone on their machine.

    `notify` hears of each as it ends. Raises MeasurementFailed if the scheduler is lost.
    """
    exact = [task for task in tasks if task.is_exact]
    timed = [task for task in tasks if not task.is_exact]
    if exact:
        options = [{"retries": 0} for _ in exact]
        _until_done(client, work.perform, exact, url, options, notify)
    if timed:
        chosen = _timing_options(client)
        _until_done(client, work.perform, timed, url, [chosen for _ in timed], notify)


def check(client: Any, tasks: Sequence[tuple[Task, str]], url: str, notify: Notify) -> None:
    """Has exact tasks measured again, each on another worker than the one it names, if any is."""
    names = {str(worker["name"]): address for address, worker in _workers(client).items()}
    options = []
    for _, where in tasks:
        others = [address for name, address in names.items() if name != where.rpartition(" ")[2]]
        options.append({"workers": others} if others else {})
    _until_done(client, work.again, [task for task, _ in tasks], url, options, notify)


def _until_done(
    client: Any,
    job: Callable[..., Outcome],
    tasks: Sequence[Task],
    url: str,
    options: Sequence[dict[str, Any]],
    notify: Notify,
) -> None:
    import distributed

    futures = {
        client.submit(_on_worker, job, task, url, pure=False, **chosen): task
        for task, chosen in zip(tasks, options, strict=True)
    }
    waiting = set(futures)
    seen = time.monotonic()
    try:
        while waiting:
            seen = time.monotonic() if _has_workers(client) else seen
            if time.monotonic() - seen > NOBODY_S:
                raise MeasurementFailed(f"there has been no worker for {NOBODY_S:.0f} s")
            try:
                ended = distributed.wait(waiting, timeout=_POLL_S, return_when="FIRST_COMPLETED")
            except TimeoutError:
                continue
            except concurrent.futures.CancelledError:  # of all: the client came upon a new one
                raise MeasurementFailed(_LOST) from None
            for future in ended.done:
                notify(_outcome(future, futures[future]))
            waiting = set(ended.not_done)
    finally:
        for future in waiting:
            future.release()


def _has_workers(client: Any) -> bool:
    """Raises MeasurementFailed if the scheduler is lost."""
    if client.status != "running":
        raise MeasurementFailed(_LOST)
    return bool(client.scheduler_info(n_workers=-1)["workers"])


def _outcome(future: Any, task: Task) -> Outcome:
    """What a future came to; an engine that gave a task up says so."""
    try:
        outcome: Outcome = future.result()
        return outcome
    except Exception as error:  # of the engine: KilledWorker, CancelledError, lost connections
        reason = " ".join(str(error).split())[:200]
        return Outcome(task.name, "", error=f"{type(error).__name__}: {reason}")


def _on_worker(job: Callable[..., Outcome], task: Task, url: str) -> Outcome:
    """Runs in a worker. One of a local cluster, which is numbered, takes the processor of its
    number.
    """
    import distributed

    worker = distributed.get_worker()
    cores = sorted(os.sched_getaffinity(0))
    core = cores[worker.name % len(cores)] if isinstance(worker.name, int) else None
    return job(task, url, core, str(worker.name))


def _timing_options(client: Any) -> dict[str, Any]:
    """Where tasks that measure real time run: one worker of a cluster of ours, or those with the
    resource.
    """
    workers = _workers(client)
    if client.cluster is not None:
        return {"workers": [min(workers)]}
    if not any(worker["resources"].get(CLOCK) for worker in workers.values()):
        raise NotComparable(
            "no worker may measure real time; start one per machine with "
            f"`dask worker ... --nthreads 1 --resources {CLOCK}=1`"
        )
    return {"resources": {CLOCK: 1}}


def _workers(client: Any) -> dict[str, Any]:
    """Address -> facts of every worker; waits for the first one."""
    client.wait_for_workers(1, timeout=60)
    workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return workers
