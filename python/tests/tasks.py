"""Functions that tests submit."""
import os
import signal
import threading
import time


def print_and_sleep(size, seconds):
    import time
    print("x" * size, flush=True)
    time.sleep(seconds)


def square(x):
    return x * x


def add(x, y):
    return x + y


def fail(text):
    raise ValueError(text)


class Stubborn(Exception):
    """An exception that cannot be made again from its arguments."""

    def __init__(self, one, two):
        super().__init__("stubborn")


def fail_stubbornly():
    raise Stubborn(1, 2)


def unpicklable():
    return threading.Lock()


def leave(status):
    print("before the end", flush=True)
    os._exit(status)


def fail_then(call, *args):
    """Fails in the first attempt, and calls in those after it."""
    if os.environ["PLACECTL_ATTEMPT"] == "1":
        raise ValueError("first attempt")
    return call(*args)


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(seconds):
    time.sleep(seconds)


def mark(folder, name):
    """Leaves a file behind for each time that it is executed."""
    open(os.path.join(folder, f"{name}-{os.getpid()}-{time.time_ns()}"), "x").close()
    return name
