"""How long futures take: PlacectlExecutor beside concurrent.futures.ProcessPoolExecutor.

usage: PYTHONPATH=python PLACECTL=/path/of/placectl python3 bench/python/pool.py [TASKS]
"""
import concurrent.futures
import os
import sys
import tempfile
import time

import placectl


def square(x):
    return x * x


def clock(what, fn):
    start = time.perf_counter()
    value = fn()
    print(f"{what:48} {time.perf_counter() - start:8.3f} s")
    return value


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    want = [x * x for x in range(n)]
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert clock(f"process pool of 2: map of {n}", lambda: list(pool.map(square, range(n)))) == want
    with tempfile.TemporaryDirectory() as folder:
        db = placectl.Database.create_local(os.path.join(folder, "queue.db"))
        held = placectl.PlacectlExecutor(db, hold=True, mem="1m", walltime="1m")
        tasks = clock(f"placectl: {n} submits, committed", lambda: submitted(held, n))
        assert len(db.query("SELECT job FROM jobs")) == n
        db.call("cancel", all=True)
        for task in tasks:
            assert task.exception is not None
        held.shutdown(cancel_futures=True)
        job = clock(f"placectl: an array of {n}, committed", lambda: db.submit(["true"], array=n, hold=True, mem="1m", walltime="1m"))
        db.call("cancel", f"{job[0].id}[]")
        with placectl.PlacectlExecutor(db, mem="1m", walltime="1m") as ex:
            assert clock(f"placectl: map of {n}", lambda: list(ex.map(square, range(n)))) == want
            assert clock(f"placectl: map of {n} in chunks of {n // 4}", lambda: list(ex.map(square, range(n), chunksize=n // 4))) == want


def submitted(ex, n):
    tasks = [ex.submit(square, x) for x in range(n)]
    for task in tasks:
        assert task.job is not None
    return tasks


if __name__ == "__main__":
    main()
