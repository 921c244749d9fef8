"""Batch scheduling in one file, from Python.

Database runs the verbs of the program placectl and returns what they answer; PlacectlExecutor is a
concurrent.futures.Executor whose tasks are jobs. Nothing but the program is needed. cloudpickle is used
if it can be imported, pandas if you ask for it.
"""
from ._database import Database, Job, find_program
from ._errors import (Conflict, Damaged, JobFailed, Locked, Never, NotFound, NotNow, PlacectlError,
                      PlacectlWarning, RemoteTraceback, UnknownOutcome, UsageError)
from ._executor import JobFuture, PlacectlExecutor

__all__ = ["Conflict", "Damaged", "Database", "Job", "JobFailed", "JobFuture", "Locked", "Never", "NotFound", "NotNow",
           "PlacectlError", "PlacectlExecutor", "PlacectlWarning", "RemoteTraceback", "UnknownOutcome", "UsageError", "find_program"]
