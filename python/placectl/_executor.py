"""concurrent.futures over jobs.

A task is a file N.in in a folder that this program and the jobs share. The result of each attempt is a file
JOB.ATTEMPT.out beside it.
Tasks that are submitted within a few milliseconds are one batch: its lines and its key are written
into the folder, then it is committed by one `tx`. Whoever takes up the folder of a program that was
killed commits the batches again with their keys, which changes nothing if they had been committed.

One child, `events --follow`, tells of starts and ends. When it ends, all that is outstanding is asked
for, and another one is started.
"""
from __future__ import annotations

import concurrent.futures as futures
import json
import os
import pathlib
import pickle
import re
import sys
import threading
import time
import uuid
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from . import _main
from ._database import Database, Job, flags, shell_line
from ._errors import Conflict, JobFailed, Never, NotFound, PlacectlError, RemoteTraceback, UnknownOutcome

_open: "weakref.WeakSet[PlacectlExecutor]" = weakref.WeakSet()  # executors that are not shut down


def _finish() -> None:
    """Commits and awaits all tasks at the end of the program, as executors of concurrent.futures do."""
    for executor in list(_open):
        executor.shutdown()


threading._register_atexit(_finish)  # type: ignore[attr-defined] # before the threads are stopped, as these do

GATHER = 0.005  # seconds for which tasks are gathered into a batch
FORGOTTEN = "ended"  # the state of a job that the database has no more
ENDED = ("finished", "failed", "cancelled", FORGOTTEN)
OURS = re.compile(r"\d+\.(in|batch|log)(\.\d+\.new)?|\d+\.\d+\.out(\.new)?")  # files of tasks, beside main
TASK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_task.py")


CHUNK = ("cpus", "gpus", "mem", "c", "g", "m")  # the flags that make one chunk


def _refuse_own(request: Dict[str, Any]) -> None:
    for name in ("array", "each", "script", "key"):
        if name in request:
            raise TypeError(f"{name}= is not for tasks: the executor makes arrays and keys itself; Database.submit has it")


class JobFuture(futures.Future):
    """A future whose task is a job."""

    def __init__(self, executor: "PlacectlExecutor", number: int):
        super().__init__()
        self._executor, self._number = executor, number
        self._submitted = threading.Event()
        self._job: Optional[Job] = None

    @property
    def job(self) -> Optional[Job]:
        """The job; None if there will be none. It waits until the task is committed."""
        self._submitted.wait()
        return self._job

    def cancel(self) -> bool:
        """Cancels the task if it waits. One that runs goes on; see kill."""
        return self._executor._cancel(self)

    def kill(self) -> None:
        """Ends the job, also if it runs: the future then raises JobFailed."""
        if self.job is not None:
            self.job.cancel()


class _Batch:
    """Tasks that one line of a batch submits: one, or an array."""

    def __init__(self, words: List[str], tasks: List[JobFuture]):
        self.line, self.tasks = shell_line(words), tasks


class PlacectlExecutor(futures.Executor):
    """Runs functions as jobs of a database.

    request has flags of submit for each task: select="1:ngpus=1", walltime="10m". The folder of the tasks
    lies beside the database, is for you alone (unpickling executes what it reads), and is removed by
    shutdown, unless keep is true or it holds other files. A database behind a URL needs a folder that the nodes
    share. Conflict if the folder holds the tasks of another executor.
    """

    def __init__(self, db: Union[Database, str, "os.PathLike[str]", None] = None, *, folder: Optional[str] = None,
                 keep: bool = False, _attached: bool = False, **request: Any):
        _main.refuse_in_import()
        _refuse_own(request)
        self.db = db if isinstance(db, Database) else Database(db)
        if folder is None:
            if "://" in self.db.path:
                raise ValueError("folder= is needed: a folder that this machine and the nodes share")
            folder = os.path.join(self.db.path + ".tasks", uuid.uuid4().hex)
        self.folder, self.keep, self.request = os.path.abspath(folder), keep, request
        self.futures: Dict[int, JobFuture] = {}  # of attach: the tasks of the folder, by number
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        os.chmod(self.folder, 0o700)
        self._change = threading.Condition()
        self._queue: List[_Batch] = []           # not yet committed
        self._committing: List[_Batch] = []
        self._live: Dict[int, JobFuture] = {}    # committed, by job
        self._early: Dict[int, Dict[str, Any]] = {}  # events of jobs whose commit has not answered yet
        self._number = self._batches = 0
        self._closed = self._stopped = False
        self._follower: Any = None
        # The events of before are of no interest, if the folder is new.
        self._since: int = max([e["id"] for e in self.db.call("events", last=1)], default=0)
        self._take(_attached)
        _open.add(self)
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._commit_batches, self._follow)]

    def _take(self, attached: bool) -> None:
        """Writes main, which marks a folder as one of tasks. Of several executors that begin at once one succeeds."""
        main = pickle.dumps(_main.description())
        if attached:
            self._write("main", main)
            return
        try:
            with open(os.path.join(self.folder, "main"), "xb") as f:
                f.write(main)
        except FileExistsError:
            raise Conflict(f"{self.folder} holds the tasks of another executor: take them up with "
                           "PlacectlExecutor.attach, or name another folder", 7, "conflict") from None

    def _refuse_forgotten(self, name: str) -> None:
        """Refuses a batch that is so old that its key, if it was committed, may be forgotten: it would be executed again."""
        written = int(os.stat(os.path.join(self.folder, name)).st_mtime)
        keep = self.db.call("config get", "keep_keys")["value"]
        if self.db.query(f"SELECT now() - datetime(:written, 'unixepoch') >= '{keep}' AS old", {"written": written})[0]["old"]:
            raise Conflict(f"{name} is older than keep_keys={keep}, so it is unknown whether its tasks were executed: "
                           "remove the file if they were, or submit them anew", 7, "conflict")

    def _keep(self, name: str, batch: Dict[str, Any], made: List[Dict[str, Any]]) -> None:
        """Keeps the numbers of the jobs of a batch beside it, so that it is never committed again."""
        facts = [{k: one[k] for k in ("job", "reason", "reason_code")} for one in made]
        self._write(name, json.dumps({**batch, "made": facts}).encode())

    def _start(self) -> None:
        for thread in self._threads:
            if thread.ident is None:
                thread.start()

    @classmethod
    def attach(cls, folder: str, db: Union[Database, str, "os.PathLike[str]", None] = None, **given: Any) -> "PlacectlExecutor":
        """Takes up the folder of a program that was killed: futures has its tasks, by number from 1."""
        if db is None:
            db = os.path.dirname(os.path.abspath(folder))[:-len(".tasks")]
        ex = cls(db, folder=folder, keep=True, _attached=True, **given)
        names = sorted(filter(OURS.fullmatch, os.listdir(ex.folder)), key=lambda n: int(n.split(".")[0]))
        for name in (n for n in names if n.endswith(".batch")):
            with open(os.path.join(ex.folder, name), encoding="utf-8") as f:
                kept = json.load(f)
            made = kept.get("made")
            if made is None:  # it is not known whether it was committed
                ex._refuse_forgotten(name)
                made = [answer["result"] for answer in ex.db.change("tx", key=kept["key"], stdin=kept["text"])]
                ex._keep(name, kept, made)
            ex._batches = max(ex._batches, int(name.split(".")[0]))
            for one, numbers in zip(made, kept["tasks"]):
                tasks = [JobFuture(ex, n) for n in range(numbers[0], numbers[0] + numbers[1])]
                ex.futures.update({t._number: t for t in tasks})
                ex._adopt(one, tasks)
        ex._number = max([int(n.split(".")[0]) for n in names if n.endswith(".in")], default=0)
        ex._ask()
        ex._start()
        return ex

    def options(self, **request: Any) -> "futures.Executor":
        """Returns a view of the executor whose tasks ask for something else besides. A select takes the place of
        cpus, gpus and mem, and they that of a select."""
        _refuse_own(request)
        apart = CHUNK if "select" in request else ("select",) if any(name in request for name in CHUNK) else ()
        return _View(self, {**{k: v for k, v in self.request.items() if k not in apart}, **request})

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> JobFuture:  # type: ignore[override]
        return self._submit(self.request, [(fn, args, kwargs)])[0]

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: int = 1) -> Iterator[Any]:
        return self._map(self.request, fn, iterables, timeout, chunksize)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._change:
            self._closed = True
            tasks = [t for b in self._queue + self._committing for t in b.tasks] + list(self._live.values())
        if cancel_futures:
            for task in tasks:
                task.cancel()
        if not wait:
            return
        with self._change:
            while self._queue or self._committing or self._live:
                self._change.wait(0.2)
            first, self._stopped = not self._stopped, True
            self._change.notify_all()
            if self._follower is not None:
                self._follower.kill()
        _open.discard(self)
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(5)
        if first and not self.keep:  # afterwards the folder may be another executor's
            self._remove()

    def _remove(self) -> None:
        """Removes the files of tasks, main last: until then no other executor begins here."""
        beside = self.db.path + ".tasks"
        try:
            for name in [*filter(OURS.fullmatch, os.listdir(self.folder)), "main"]:
                pathlib.Path(self.folder, name).unlink(missing_ok=True)
            os.rmdir(self.folder)
            if os.path.dirname(self.folder) == beside:
                os.rmdir(beside)
        except OSError:
            pass  # it has other files, or other executors have their folders there

    # Tasks.

    def _submit(self, request: Dict[str, Any], calls: List[Tuple[Any, Any, Any]], name: str = "") -> List[JobFuture]:
        bodies = [_main.dumps(call) for call in calls]
        with self._change:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            first = self._number + 1
            self._number += len(bodies)
        tasks = [JobFuture(self, first + i) for i in range(len(bodies))]
        for task, body in zip(tasks, bodies):
            self._write(f"{task._number}.in", body)
        many = len(tasks) > 1
        given = {"name": name or getattr(calls[0][0], "__name__", "task").strip("<>"), "out": os.path.join(self.folder, "%j.log"), **request}
        given["array"] = f"{first}-{first + len(tasks) - 1}" if many else None
        words = ["submit", *flags(**given), "--", sys.executable, TASK, self.folder, *([] if many else [str(first)])]
        with self._change:
            self._queue.append(_Batch(words, tasks))
            self._change.notify_all()
        self._start()
        return tasks

    def _map(self, request: Dict[str, Any], fn: Callable[..., Any], iterables: Tuple[Iterable[Any], ...], timeout: Optional[float],
             chunksize: int) -> Iterator[Any]:
        if chunksize < 1:
            raise ValueError("chunksize must be 1 or more")
        rows = list(zip(*iterables))
        chunks = [rows[i:i + chunksize] for i in range(0, len(rows), chunksize)]
        tasks = self._submit(request, [(_call_each, (fn, chunk), {}) for chunk in chunks], getattr(fn, "__name__", "map").strip("<>")) if chunks else []
        end = None if timeout is None else time.monotonic() + timeout

        def results() -> Iterator[Any]:
            try:
                for task in tasks:
                    yield from task.result(None if end is None else end - time.monotonic())
            finally:
                for task in tasks:
                    if not task.done():
                        task.cancel()
        return results()

    # Commits.

    def _commit_batches(self) -> None:
        while True:
            with self._change:
                while not self._queue and not self._stopped:
                    self._change.wait()
                if self._stopped:
                    return
            time.sleep(GATHER)
            with self._change:
                self._committing, self._queue = self._queue, []
            self._commit(self._committing)
            with self._change:
                self._committing = []
                self._early.clear()
                self._change.notify_all()

    def _commit(self, batches: List[_Batch]) -> None:
        if not batches:
            return
        self._batches += 1
        name, key = f"{self._batches}.batch", uuid.uuid4().hex
        text = "".join(b.line for b in batches)
        kept = {"key": key, "text": text, "tasks": [[b.tasks[0]._number, len(b.tasks)] for b in batches]}
        self._write(name, json.dumps(kept).encode())
        try:
            answers = self.db.change("tx", key=key, stdin=text)
        except UnknownOutcome as e:
            self._fail(batches, e)  # the batch stays in the folder, for attach
            return
        except Exception as e:  # nothing was changed
            os.unlink(os.path.join(self.folder, name))
            if len(batches) == 1:
                self._fail(batches, e)
                return
            for batch in batches:  # what is wrong with one is not the others' fault
                self._commit([batch])
            return
        self._keep(name, kept, [answer["result"] for answer in answers])
        for answer, batch in zip(answers, batches):
            self._adopt(answer["result"], batch.tasks)

    def _fail(self, batches: List[_Batch], error: BaseException) -> None:
        for task in (t for b in batches for t in b.tasks):
            task._submitted.set()
            if not task.cancelled():
                task.set_exception(error)

    def _adopt(self, made: Dict[str, Any], tasks: List[JobFuture]) -> None:
        """Takes note of the jobs of tasks, and cancels those that can never run."""
        early = []
        for i, task in enumerate(tasks):
            task._job = Job(self.db, made["job"] + i)
            task._submitted.set()
            if made["reason_code"] == "never":
                try:
                    task._job.cancel(waiting=True)
                    task.set_exception(Never(made["reason"], 4, "never"))
                    continue
                except (Conflict, NotFound):
                    pass  # it was made long ago, and has been cancelled or has run: its state is asked for
            with self._change:
                self._live[task._job.id] = task
                if task._job.id in self._early:
                    early.append(self._early.pop(task._job.id))
        for event in early:
            self._heard(event)

    # Events.

    def _follow(self) -> None:
        while not self._stopped:
            with self.db.following(self._since) as child:
                with self._change:
                    self._follower = child
                    if self._stopped:
                        child.kill()
                try:
                    for line in child.stdout or ():
                        event = json.loads(line)
                        self._since = event["id"]
                        self._heard(event)
                except ValueError:
                    pass  # it was killed in the middle of a line
                finally:
                    child.kill()
                error = child.stderr.read() if child.stderr else ""
            if self._stopped:
                return
            if '"gone"' in error:  # events were dropped: what they said is asked for
                self._since = max([e["id"] for e in self.db.call("events", last=1)], default=0)
            time.sleep(0.2)
            try:
                self._ask()
            except PlacectlError:
                pass  # the next round asks again

    def _ask(self) -> None:
        """Asks how all that is outstanding stands."""
        with self._change:
            jobs = list(self._live)
        for at in range(0, len(jobs), 500):
            some = jobs[at:at + 500]
            # A job that was cancelled while it waited to be tried again has no start.
            rows = self.db.query("SELECT job, state AS new, CASE WHEN start IS NOT NULL THEN attempt END AS attempt "
                                 f"FROM jobs WHERE job IN ({','.join(map(str, some))})")
            known = {row["job"]: row for row in rows}
            written = self._written() if len(known) < len(some) else {}
            for job in some:
                self._heard(known.get(job) or {"job": job, "new": FORGOTTEN, "attempt": written.get(job)})

    def _written(self) -> Dict[int, int]:
        """Returns the last attempt of each job that has left a result."""
        found = [re.fullmatch(r"(\d+)\.(\d+)\.out", name) for name in os.listdir(self.folder)]
        return dict(sorted((int(f[1]), int(f[2])) for f in found if f))

    def _heard(self, event: Dict[str, Any]) -> None:
        job, state = event["job"], event["new"]
        if job is None or state != "running" and state not in ENDED:
            return
        with self._change:
            task = self._live.get(job)
            if task is None:
                if self._committing and state in ENDED:
                    self._early[job] = event
                return
            if state == "running":
                if not task.running() and not task.done():
                    task.set_running_or_notify_cancel()
                return
            del self._live[job]
        self._settle(task, state, event["attempt"])
        with self._change:
            self._change.notify_all()

    def _settle(self, task: JobFuture, state: str, attempt: Optional[int]) -> None:
        """Ends a future by the result of the attempt that ended its job. None did if the job ended while it waited."""
        if task.done():
            return
        try:
            name = f"{task._job.id}.{attempt}.out"  # type: ignore[union-attr]
            with open(os.path.join(self.folder, name), "rb") as f:
                ok, value, trace = pickle.load(f)
        except FileNotFoundError:
            if state == "cancelled" and not task.running():
                futures.Future.cancel(task)
                task.set_running_or_notify_cancel()
            else:
                task.set_exception(self._without_result(task, state))
            return
        except Exception as e:  # of this program: it cannot make the value
            task.set_exception(e)
            return
        if ok:
            task.set_result(value)
            return
        value.__cause__ = RemoteTraceback(trace)
        task.set_exception(value)

    def _without_result(self, task: JobFuture, state: str) -> BaseException:
        exit_status, log, cause = None, "", None
        reason = "the database has forgotten it" if state == FORGOTTEN else None
        try:
            shown = task._job.show()  # type: ignore[union-attr]
            exit_status, cause, reason = shown["exit"], shown["reason_code"], shown["reason"]
            log = task._job.logs(tail=20)  # type: ignore[union-attr]
        except PlacectlError:
            pass  # it has left no output
        return JobFailed(task._job.id if task._job else 0, state, exit_status, log, cause, reason)

    def _cancel(self, task: JobFuture) -> bool:
        with self._change:
            if task.done():
                return task.cancelled()
            for batch in self._queue:
                if batch.tasks == [task]:
                    self._queue.remove(batch)
                    task._submitted.set()
                    break
            else:
                batch = None  # type: ignore[assignment]
        if batch is None:
            job = task.job
            if job is None or task.running():
                return False
            try:
                job.cancel(waiting=True)
            except Conflict:
                return False  # it has begun
            except PlacectlError:
                return False
            with self._change:
                ours = self._live.pop(job.id, None) is not None
            if not ours:  # whoever follows the jobs has seen its end, and says so
                futures.wait([task])
                return task.cancelled()
        if futures.Future.cancel(task):
            task.set_running_or_notify_cancel()
        with self._change:
            self._change.notify_all()
        return task.cancelled()

    def _write(self, name: str, data: bytes) -> None:
        path = os.path.join(self.folder, name)
        new = f"{path}.{os.getpid()}.new"
        with open(new, "wb") as f:
            f.write(data)
        os.replace(new, path)


class _View(futures.Executor):
    """An executor whose tasks ask for something else."""

    def __init__(self, executor: PlacectlExecutor, request: Dict[str, Any]):
        self._executor, self._request = executor, request

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> JobFuture:  # type: ignore[override]
        return self._executor._submit(self._request, [(fn, args, kwargs)])[0]

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None, chunksize: int = 1) -> Iterator[Any]:
        return self._executor._map(self._request, fn, iterables, timeout, chunksize)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Does nothing: the executor behind it goes on."""


def _call_each(fn: Callable[..., Any], rows: List[Tuple[Any, ...]]) -> List[Any]:
    return [fn(*row) for row in rows]
