"""A program that submits 12 tasks and is killed: killed_client.py DATABASE FOLDER MARKS."""
import sys
import time

import tasks
from placectl import PlacectlExecutor

if __name__ == "__main__":
    ex = PlacectlExecutor(sys.argv[1], folder=sys.argv[2], keep=True, walltime="1m")
    print("begun", flush=True)
    for i in range(12):
        ex.submit(tasks.mark, sys.argv[3], i)
        time.sleep(0.01)
    ex.shutdown()
