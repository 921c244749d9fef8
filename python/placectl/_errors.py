"""Errors, by the exit status of the program."""
from __future__ import annotations

import json
import warnings
from datetime import datetime
from typing import Any, Dict, Optional, Type


class PlacectlError(Exception):
    """A verb has failed. code is the word of error.code; details is the whole error object."""

    def __init__(self, message: str, status: int = 1, code: str = "failed", details: Optional[Dict[str, Any]] = None):
        super().__init__(message)
        self.status, self.code, self.details = status, code, details or {}


class UsageError(PlacectlError, ValueError):
    """2: the request makes no sense."""


class NotNow(PlacectlError):
    """3: it would fit later; earliest says when, if that is known."""

    @property
    def earliest(self) -> Optional[datetime]:
        at = self.details.get("earliest")
        return datetime.fromisoformat(at.replace("Z", "+00:00")) if at else None

    @property
    def guess(self) -> Optional[int]:
        """The overdue job that earliest rests on, which makes it a guess."""
        return self.details.get("guess")


class Never(PlacectlError):
    """4: this cluster cannot hold it."""


class NotFound(PlacectlError, LookupError):
    """5: no such job, node or database."""


class Locked(PlacectlError):
    """6: could not get the lock in time."""


class Conflict(PlacectlError):
    """7: it conflicts with the present state."""


class Damaged(PlacectlError):
    """8: the file is damaged, foreign or newer."""


class UnknownOutcome(PlacectlError):
    """9, 10, 70 or a killed program, four times: nothing is known of the outcome."""


class JobFailed(PlacectlError):
    """A job of an executor has ended without a result. cause is a word such as walltime, oom or lost (docs/json.md), reason
    says it in prose, and log is the end of what the job printed, at most 4,000 characters."""

    def __init__(self, job: int, state: str, exit: Optional[int], log: str, cause: Optional[str] = None, reason: Optional[str] = None):
        log = log[-4000:]
        why = f": {reason}" if reason else f", exit status {exit}"
        super().__init__(f"job {job} has {state}{why}" + ("\n" + log if log else ""))
        self.job, self.state, self.exit, self.log, self.cause, self.reason = job, state, exit, log, cause, reason

    def __reduce__(self) -> Any:  # a task's own
        return type(self), (self.job, self.state, self.exit, self.log, self.cause, self.reason)


class PlacectlWarning(UserWarning):
    """What the program notes beside an answer, such as that a job can never run."""


def warn_of(stderr: str) -> None:
    """Warns of the notes of a call that has succeeded."""
    for line in stderr.splitlines():
        try:
            note = json.loads(line)["warning"]["message"]
        except (KeyError, TypeError, ValueError):
            continue
        warnings.warn(note, PlacectlWarning, stacklevel=4)


class RemoteTraceback(Exception):
    """Where a task has failed: the __cause__ of its exception."""

    def __str__(self) -> str:
        return "\n" + self.args[0]


REPEATED = (9, 10, 70)  # the same key finds out, or repeats the answer

_KINDS: Dict[int, Type[PlacectlError]] = {2: UsageError, 3: NotNow, 4: Never, 5: NotFound, 6: Locked, 7: Conflict, 8: Damaged,
                                          **{status: UnknownOutcome for status in REPEATED}}


def error_of(status: int, stderr: str) -> PlacectlError:
    """Makes an error of what the program has said: its last line is the error object."""
    lines = stderr.strip().splitlines()
    try:
        details = json.loads(lines[-1])["error"]
    except (IndexError, KeyError, TypeError, ValueError):
        details = {"status": status, "code": "failed", "message": stderr.strip() or f"placectl ended with status {status}"}
    kind = UnknownOutcome if status < 0 else _KINDS.get(status, PlacectlError)
    return kind(details["message"], status, details["code"], details)
