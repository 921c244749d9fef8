"""The main module of a program: how its tasks import it, and what it must not do meanwhile.

A task imports the program's main module, as multiprocessing's spawned processes do. If that import submits, each
task submits again, and so on. As multiprocessing does, a task therefore marks its process while it imports.
"""
from __future__ import annotations

import io
import os
import pickle
from multiprocessing import process, spawn
from types import FunctionType
from typing import Any, Dict

try:
    if os.environ.get("PLACECTL_PICKLE") == "plain":
        raise ImportError
    import cloudpickle as pickler  # type: ignore
except ImportError:
    pickler = pickle

GUARD = """a task imports your program, which would submit again. Guard what submits:

    if __name__ == "__main__":
        with PlacectlExecutor(...) as executor:
            ..."""


def refuse_in_import() -> None:
    """Raises RuntimeError while a task imports its program's main module."""
    if getattr(process.current_process(), "_inheriting", False):
        raise RuntimeError(GUARD)


def description() -> Dict[str, Any]:
    """Returns for multiprocessing's spawn.prepare what this program's main module is. A program read from standard input has none."""
    data = spawn.get_preparation_data("placectl")
    data.pop("authkey", None)
    if not os.path.isfile(data.get("init_main_from_path", __file__)):
        del data["init_main_from_path"]
    return data


def dumps(call: Any) -> bytes:
    """Pickles a call for a task. What only this program's main module has goes by value, with cloudpickle."""
    if pickler is not pickle or {"init_main_from_path", "init_main_from_name"} & description().keys():
        return pickler.dumps(call)
    out = io.BytesIO()
    _Importable(out).dump(call)
    return out.getvalue()


class _Importable(pickle.Pickler):
    """Refuses what a task could not import: a program that is no file has no module."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (FunctionType, type)) and value.__module__ == "__main__":
            raise pickle.PicklingError(f"a task cannot import {value.__qualname__}: this program is no file but standard input, "
                                       "a prompt or a notebook. Put it into a module, or install cloudpickle")
        return NotImplemented
