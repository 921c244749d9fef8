"""The program of a task: python _task.py FOLDER NUMBER, or FOLDER alone in an array."""
import os
import pickle
import sys
import traceback


def load(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return pickle.load(f)


def pack(ok, value, trace):
    """Returns a result as bytes that can be read back, whatever the value is."""
    try:
        body = pickle.dumps((ok, value, trace))
        if not ok:
            pickle.loads(body)  # not every exception can be made again from what is kept of it
        return body
    except Exception as e:
        problem = e
    try:
        import cloudpickle
        body = cloudpickle.dumps((ok, value, trace))
        if not ok:
            pickle.loads(body)
        return body
    except Exception:
        trace = trace or "".join(traceback.format_exception(type(problem), problem, problem.__traceback__))
        what = f"{type(value).__name__}: {value!s:.500}" if not ok else f"its result cannot be pickled: {problem}"
        return pickle.dumps((False, RuntimeError(what), trace))


def import_main(description):
    """Imports the main module of the program that has submitted this task. Meanwhile it must not submit (_main.py)."""
    from multiprocessing import process, spawn
    process.current_process()._inheriting = True
    try:
        spawn.prepare(description)
    finally:
        del process.current_process()._inheriting


def run(folder, number):
    out = os.path.join(folder, "{PLACECTL_JOB}.{PLACECTL_ATTEMPT}.out".format_map(os.environ))
    here = os.getcwd()  # as submitted; the import goes to the program's
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]
    try:
        import_main(load(folder, "main"))
        os.chdir(here)
        function, args, kwargs = load(folder, f"{number}.in")
        ok, body = True, pack(True, function(*args, **kwargs), None)
    except BaseException as e:
        ok, body = False, pack(False, e, traceback.format_exc())
    with open(f"{out}.new", "wb") as f:
        f.write(body)
    os.replace(f"{out}.new", out)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.environ["PLACECTL_INDEX"]))
