"""A database, and the verbs of the program as methods."""
from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from ._errors import REPEATED, NotNow, PlacectlError, UsageError, error_of, warn_of
from ._main import refuse_in_import

ATTEMPTS = 4  # of a verb whose outcome is unknown


def find_program() -> str:
    """Returns $PLACECTL, the program that came with this package, or the first one in PATH."""
    if os.environ.get("PLACECTL"):
        return os.environ["PLACECTL"]
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        path = os.path.join(folder, "placectl")
        if os.access(path, os.X_OK):
            return path
    path = shutil.which("placectl") or ""
    if not path:
        raise FileNotFoundError("there is no program placectl: install the wheel, or set PLACECTL to its path")
    return path


class Database:
    """A database: a path, ssh://HOST/PATH or etcd://... It holds nothing open between calls.

    Flags of verbs are keyword arguments, with _ for -: afterok=job, over_limits=True. A flag that is None
    or False is not given, one that is a list is given for each element.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]", None] = None, *, binary: Optional[str] = None, lock_timeout: Any = None):
        name = os.fspath(path) if path is not None else os.environ.get("PLACECTL_DB", "placectl.db")
        self.path = name if "://" in name else os.path.abspath(name)
        self.binary = binary or find_program()
        self._words = [self.binary, "--db", self.path, *flags(lock_timeout=lock_timeout)]

    def __repr__(self) -> str:
        return f"Database({self.path!r})"

    @classmethod
    def create_local(cls, path: Union[str, "os.PathLike[str]"], **given: Any) -> "Database":
        """Makes a database with this machine as its node."""
        db = cls(path, **given)
        db.call("init", "--local")
        return db

    def call(self, verb: str, *words: Any, key: Optional[str] = None, stdin: Optional[str] = None, **given: Any) -> Any:
        """Runs a verb with -o json and returns its answer. With a key it is run up to four times in all
        while its outcome is unknown: what it does is done once."""
        command = [*self._words, "-o", "json", *verb.split(), *flags(key=key, **given), *map(_word, words)]
        with tempfile.TemporaryFile() as text:  # a pipe would end early if this program is killed
            text.write((stdin or "").encode("utf-8", "surrogateescape"))
            for attempt in range(ATTEMPTS):
                if attempt > 0:
                    time.sleep(0.05 * 2 ** attempt)
                text.seek(0)
                done = subprocess.run(command, stdin=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape")
                if done.returncode == 0:
                    warn_of(done.stderr)
                    return json.loads(done.stdout) if done.stdout.strip() else None
                if key is None or done.returncode not in REPEATED and done.returncode >= 0:
                    break
        raise error_of(done.returncode, done.stderr)

    def change(self, verb: str, *words: Any, key: Optional[str] = None, **given: Any) -> Any:
        """Is call for a verb that writes: it always has a key. RuntimeError while a task imports the program."""
        refuse_in_import()
        return self.call(verb, *words, key=key or uuid.uuid4().hex, **given)

    def submit(self, command: Union[str, "os.PathLike[str]", Sequence[Any]], *, select: Optional[str] = None, walltime: Any = None,
               array: Any = None, key: Optional[str] = None, **given: Any) -> Union["Job", List["Job"]]:
        """Submits a command (a list of words) or a script (a path). With array= there is a list of jobs."""
        script = isinstance(command, (str, os.PathLike))
        words = [command] if script else ["--", *command]
        made = self.change("submit", *words, key=key, select=select, walltime=walltime, array=array, **given)
        jobs = [Job(self, made["job"] + i) for i in range(made["count"])]
        return jobs if array is not None or given.get("each") is not None else jobs[0]

    def place(self, select: str, *, key: Optional[str] = None, **given: Any) -> "Job":
        """Places a request now, or raises NotNow or Never."""
        return Job(self, self.change("place", select, key=key, **given)["job"])

    def when(self, select: str, **given: Any) -> List[Dict[str, Any]]:
        """Returns the earliest starts of a request: one, or the first count=N."""
        return self.call("when", select, **given)

    def explain(self, select: str, **given: Any) -> Dict[str, Any]:
        """Says why a request starts now or does not, and what would help."""
        return self.call("explain", select, **given)

    def query(self, sql: str, params: Union[Mapping[str, Any], Sequence[Any], None] = None, pandas: bool = False) -> Any:
        """Returns the rows of a SELECT as dicts, or as a DataFrame. params are for :name, or for ?: they keep their
        types, None is NULL, and times and durations are as in the program's own columns."""
        named = params.items() if isinstance(params, Mapping) else enumerate(params or (), 1)
        typed = {str(name): _typed(value) for name, value in named}
        rows = self.call("query", sql, params="-", stdin=json.dumps(typed, allow_nan=False)) if typed else self.call("query", sql)
        if not pandas:
            return rows
        from pandas import DataFrame
        return DataFrame(rows)

    def job(self, number: int) -> "Job":
        return Job(self, number)

    def transaction(self, lines: Iterable[Sequence[Any]], *, key: Optional[str] = None) -> List[Any]:
        """Runs verbs in one commit, all or none; each line is a list of words. Returns their answers."""
        text = "".join(shell_line(words) for words in lines)
        return [line["result"] for line in self.change("tx", key=key, stdin=text)]

    def events(self, since: Optional[int] = None, follow: bool = False) -> Iterator[Dict[str, Any]]:
        """Yields events; with follow=True it goes on as more happens, until the generator is closed."""
        with self.following(since, follow) as child:
            try:
                for line in child.stdout or ():
                    yield json.loads(line)
                if child.wait() != 0:
                    raise error_of(child.returncode, child.stderr.read() if child.stderr else "")
            finally:
                child.kill()

    def following(self, since: Optional[int], follow: bool = True) -> "subprocess.Popen[str]":
        """Starts the program that prints events."""
        return subprocess.Popen([*self._words, "-o", "jsonl", "events", *flags(since=since, follow=follow)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape")

    def output(self, *words: Any, **given: Any) -> str:
        """Runs a verb and returns what it prints."""
        done = subprocess.run([*self._words, *map(_word, words[:1]), *flags(**given), *map(_word, words[1:])], stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", errors="replace")
        if done.returncode != 0:
            raise error_of(done.returncode, done.stderr)
        return done.stdout


class Job:
    """A job by its number. Nothing is kept: each attribute asks the database."""

    def __init__(self, db: Database, number: int):
        self.db, self.id = db, int(number)

    def __repr__(self) -> str:
        return f"Job({self.id})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and (self.id, self.db.path) == (other.id, other.db.path)

    def __hash__(self) -> int:
        return hash((self.id, self.db.path))

    def show(self) -> Dict[str, Any]:
        found = self.db.call("show", self.id)
        if len(found) != 1:
            raise UsageError(f"{self.id} is an array of {len(found)} jobs: its first is Job({found[0]['job']})", 2, "usage")
        return found[0]

    @property
    def state(self) -> str:
        return self.show()["state"]

    @property
    def exit(self) -> Optional[int]:
        return self.show()["exit"]

    def wait(self, timeout: Union[float, timedelta, None] = None) -> str:
        """Waits until the job has ended and returns its state; TimeoutError if it has not in time."""
        if isinstance(timeout, timedelta):
            timeout = timeout.total_seconds()
        try:
            self.db.call("wait", self.id, timeout=None if timeout is None else _word(float(timeout)) + "s")
        except NotNow as e:
            raise TimeoutError(str(e)) from None
        except PlacectlError as e:
            if "jobs" not in e.details:
                raise
        return self.state

    def logs(self, tail: Optional[int] = None) -> str:
        return self.db.output("logs", self.id, tail=tail)

    def explain(self) -> Dict[str, Any]:
        return self.db.call("explain", job=self.id)

    def when(self) -> Dict[str, Any]:
        """Returns the expected start; NotNow if it is not known, Never if there is none."""
        return self.db.call("when", job=self.id)[0]

    def cancel(self, **given: Any) -> None:
        self.db.change("cancel", self.id, **given)


def _word(value: Any) -> str:
    """Returns a value as a word of a command line."""
    if isinstance(value, Job):
        return str(value.id)
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else format(Decimal(repr(value)), "f")
    if isinstance(value, datetime):
        return value.astimezone().isoformat(timespec="seconds")
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _typed(value: Any) -> Any:
    """Returns a value as JSON has it, for a parameter of a query."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if value is None or isinstance(value, (bool, int, float, str)) else _word(value)


def flags(**given: Any) -> List[str]:
    """Returns keyword arguments as flags."""
    words: List[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words.append(f"{flag}={_word(one)}")
    return words


def shell_line(words: Sequence[Any]) -> str:
    """Returns words as a line of tx."""
    line = " ".join(shlex.quote(_word(w)) for w in words)
    if "\n" in line or "\0" in line:
        raise UsageError("a line of a transaction cannot hold a line break: put it into a script", 2, "usage")
    return line + "\n"
