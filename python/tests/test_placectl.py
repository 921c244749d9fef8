"""Tests of the package: python3 -m unittest discover -s python/tests.

PLACECTL names the program. PLACECTL_KILLS=20 kills the client more often than a short run does.
"""
import ast
import pickle
import asyncio
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
os.environ["PYTHONPATH"] = f"{HERE.parent}:{HERE}"
os.environ.pop("PLACECTL_START", None)  # jobs start by themselves

import placectl  # noqa: E402
import tasks  # noqa: E402


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.db = placectl.Database.create_local(os.path.join(self.folder, "queue.db"), lock_timeout="1m")
        for cpus in ("ncpus=", "ncpus=4"):  # the same on every machine
            self.db.change("node set", os.uname().nodename, cpus)
        self.addCleanup(self.db.call, "cancel", all=True)

    def program(self, script):
        """Makes a program that stands before the real one."""
        path = os.path.join(self.folder, "before")
        with open(path, "w") as f:
            f.write(f"#!/bin/sh\nreal={self.db.binary}\ncount={self.folder}/count\necho >>$count\nn=$(wc -l <$count)\n{script}\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return placectl.Database(self.db.path, binary=path)

    def calls(self):
        with open(os.path.join(self.folder, "count")) as f:
            return len(f.readlines())


class TestDatabase(Case):
    def test_jobs(self):
        job = self.db.submit(["sh", "-c", "echo out; exit 3"], walltime="1m", name="three", out=os.path.join(self.folder, "out"))
        self.assertEqual(job.wait(60), "failed")
        self.assertEqual((job.exit, job.logs()), (3, "out\n"))
        script = pathlib.Path(self.folder, "job.sh")
        script.write_text("#!/bin/sh\ntrue\n")
        after = self.db.submit(script, walltime=60.0, afternotok=job, out="/dev/null")
        self.assertEqual((after.wait(60), after.show()["after"]), ("finished", [f"afternotok:{job.id}"]))
        array = self.db.submit(["true"], array="2-6:2", walltime="1m", out="/dev/null")
        self.assertEqual([j.wait(60) for j in array], ["finished"] * 3)
        self.assertEqual([j.show()["index"] for j in array], [2, 4, 6])

    def test_array_fails_in_the_middle(self):
        array = self.db.submit(["sh", "-c", "echo $PLACECTL_INDEX; test $PLACECTL_INDEX != 4"], array="2-6:2", walltime="1m",
                               out=os.path.join(self.folder, "%a"))
        number = array[0].show()["array"]
        self.assertEqual([j.id for j in array], [number + 1, number + 2, number + 3])
        after = self.db.submit(["true"], walltime="1m", afterok=number, out="/dev/null")
        alarm = self.db.submit(["true"], walltime="1m", afternotok=number, out="/dev/null")
        single = self.db.submit(["true"], walltime="1m", afterok=array[0], out="/dev/null")
        self.assertEqual([j.wait(60) for j in array], ["finished", "failed", "finished"])
        self.assertEqual([j.wait(60) for j in (after, alarm, single)], ["cancelled", "finished", "finished"])
        self.assertEqual(after.show()["after"], [f"afterok:{number}"])
        with self.assertRaises(placectl.PlacectlError) as caught:
            self.db.call("wait", number)
        self.assertEqual([j["state"] for j in caught.exception.details["jobs"]], ["finished", "failed", "finished"])
        self.assertEqual(self.db.output("logs", number), "".join(f"==> {number}[{i}]\n{i}\n" for i in (2, 4, 6)))
        with self.assertRaises(placectl.UsageError):
            self.db.job(number).show()
        self.assertEqual([j["job"] for j in self.db.call("show", number)], [j.id for j in array])

    def test_guess(self):
        self.db.place("1:ncpus=4", walltime="1s")
        time.sleep(2)
        with self.assertRaises(placectl.NotNow) as caught:
            self.db.place("1:ncpus=1", walltime="1h")
        self.assertEqual(caught.exception.guess, 1)

    def test_errors(self):
        for kind, code, call in [(placectl.UsageError, "usage", lambda: self.db.submit(["true"], nonsense=True)),
                                 (placectl.Never, "never", lambda: self.db.place("1:ncpus=99")),
                                 (placectl.NotFound, "not_found", lambda: self.db.job(99).show()),
                                 (placectl.Conflict, "exists", lambda: self.db.call("init", "--local"))]:
            with self.subTest(kind.__name__), self.assertRaises(kind) as caught:
                call()
            self.assertEqual(caught.exception.code, code)
        self.db.place("1:ncpus=4", walltime="1h")
        with self.assertRaises(placectl.NotNow) as caught:
            self.db.place("1:ncpus=1", walltime="1h")
        self.assertGreater(caught.exception.earliest.timestamp(), time.time() + 3000)
        self.assertIsNone(caught.exception.guess)
        self.assertEqual(self.db.when("1:ncpus=1", walltime="1h")[0]["waits_for"], [{"job": 1, "reservation": None}])
        self.assertEqual(self.db.explain("1:ncpus=1", walltime="1h")["verdict"], "later")
        with self.assertRaises(TimeoutError):
            self.db.submit(["true"], walltime="1m", hold=True).wait(0.2)

    def test_query(self):
        self.assertEqual(self.db.query("SELECT :a AS a, 2 AS b", {"a": 1}), [{"a": 1, "b": 2}])
        self.assertEqual(self.db.query("SELECT ? AS a", ["x"]), [{"a": "x"}])
        self.assertEqual(self.db.query("SELECT * FROM jobs"), [])
        for value, kind in [(1797000123.456, "real"), (0.1 + 0.2, "real"), (1e300, "real"), (2 ** 62, "integer"), ("007", "text"), ("1e3", "text"), ("", "text"),
                            ("a\n=b", "text"), (None, "null")]:
            with self.subTest(value=value):
                self.assertEqual(self.db.query("SELECT ?1 AS v, typeof(?1) AS t", [value]), [{"v": value, "t": kind}])
        self.assertEqual(self.db.query("SELECT 1 AS n WHERE :yes AND NOT :no", {"yes": True, "no": False}), [{"n": 1}])
        with self.assertRaises(ValueError):
            self.db.query("SELECT ?", [float("nan")])

    def test_words(self):
        for value, word in [(14 * 86400.0, "1209600"), (1000000, "1000000"), (1e6, "1000000"), (0.25, "0.25"), (1e-5, "0.00001"),
                            (datetime.timedelta(days=14), "1209600"), (datetime.timedelta(milliseconds=500), "0.5")]:
            self.assertEqual(placectl._database._word(value), word)
        job = self.db.submit(["true"], walltime=14 * 86400.0, out="/dev/null")
        self.assertEqual((job.wait(1000000), job.show()["walltime"]), ("finished", 14 * 86400))

    def test_transaction(self):
        answers = self.db.transaction([["submit", "1", "--hold", "--name", "a b"], ["cancel", "1"]])
        self.assertEqual((answers[0]["job"], answers[0]["name"], answers[1][0]["state"]), (1, "a b", "cancelled"))
        with self.assertRaises(placectl.NotFound):
            self.db.transaction([["submit", "1"], ["cancel", "99"]])
        self.assertEqual(len(self.db.query("SELECT job FROM jobs")), 1)
        with self.assertRaises(placectl.UsageError):
            self.db.transaction([["submit", "1", "--name", "a\nb"]])

    def test_events(self):
        self.db.submit(["true"], hold=True)
        seen = list(self.db.events())
        self.assertEqual([e["event"] for e in seen if e["job"] == 1], ["submit"])
        following = self.db.events(since=seen[-1]["id"], follow=True)
        self.db.change("cancel", 1)
        self.assertEqual(next(following)["new"], "cancelled")
        following.close()

    def test_outcome_unknown(self):
        """A verb whose outcome is unknown is repeated with its key, and done once."""
        for name, script in [("9", '$real "$@" >/dev/null; [ $n -ge 3 ] || exit 9; exec $real "$@"'),
                             ("killed", '[ $n -ge 3 ] || { $real "$@" >/dev/null; kill -9 $$; }; exec $real "$@"')]:
            with self.subTest(name):
                pathlib.Path(self.folder, "count").unlink(missing_ok=True)
                before = len(self.db.query("SELECT job FROM jobs"))
                job = self.program(script).submit(["true"], hold=True)
                self.assertEqual((job.id, self.calls()), (before + 1, 3))
                self.assertEqual(len(self.db.query("SELECT job FROM jobs")), before + 1)
        pathlib.Path(self.folder, "count").unlink()
        with self.assertRaises(placectl.UnknownOutcome):
            self.program("exit 70").submit(["true"])
        self.assertEqual(self.calls(), 4)
        with self.assertRaises(placectl.UnknownOutcome):
            self.program("exit 9").query("SELECT 1")
        self.assertEqual(self.calls(), 5)  # a question is not repeated


class TestExecutor(Case):
    def executor(self, **given):
        ex = placectl.PlacectlExecutor(self.db, walltime="5m", **given)
        self.addCleanup(ex.shutdown, cancel_futures=True)
        return ex

    def test_many(self):
        with placectl.PlacectlExecutor(self.db, walltime="5m", mem="100m") as ex:
            submitted = [ex.submit(tasks.square, i) for i in range(30)]
            self.assertEqual([f.result(120) for f in submitted], [i * i for i in range(30)])
            self.assertEqual(len({f.job.id for f in submitted}), 30)
            self.assertEqual(list(ex.map(tasks.add, range(12), range(12), chunksize=3)), [2 * i for i in range(12)])
            rows = self.db.query("SELECT job, array FROM jobs WHERE array IS NOT NULL")
            self.assertEqual(len(rows), 4)
            self.assertEqual(list(ex.map(tasks.square, [])), [])
            self.assertEqual(stat.S_IMODE(os.stat(ex.folder).st_mode), 0o700)
        self.assertFalse(os.path.exists(ex.folder))
        with self.assertRaises(RuntimeError):
            ex.submit(tasks.square, 1)

    def test_exceptions(self):
        ex = self.executor()
        with self.assertRaisesRegex(ValueError, "^no good$") as caught:
            ex.submit(tasks.fail, "no good").result(60)
        self.assertIn("in fail", str(caught.exception.__cause__))
        with self.assertRaisesRegex(RuntimeError, "Stubborn: stubborn"):
            ex.submit(tasks.fail_stubbornly).result(60)
        with self.assertRaisesRegex((RuntimeError, TypeError), "pickle"):
            ex.submit(tasks.unpicklable).result(60)
        with self.assertRaises(placectl.JobFailed) as failed:
            ex.submit(tasks.leave, 7).result(60)
        self.assertEqual((failed.exception.exit, failed.exception.state, failed.exception.log), (7, "failed", "before the end\n"))
        with self.assertRaises(placectl.Never):
            ex.options(select="1:ncpus=99").submit(tasks.square, 1).result(60)
        with self.assertRaises(placectl.UsageError):
            ex.options(walltime="soon").submit(tasks.square, 1).result(60)
        self.assertEqual(ex.submit(tasks.square, 5).result(60), 25)

    def test_cancel_and_kill(self):
        ex = self.executor()
        runs = ex.submit(tasks.sleep, 60)
        waits = ex.options(hold=True).submit(tasks.square, 1)
        while not runs.running():
            time.sleep(0.02)
        self.assertFalse(runs.cancel())
        self.assertTrue(waits.cancel())
        self.assertEqual(waits.job.wait(10), "cancelled")
        runs.kill()
        with self.assertRaises(placectl.JobFailed):
            runs.result(60)

    def test_follower_is_killed(self):
        ex = self.executor()
        first = ex.submit(tasks.sleep, 1)
        while ex._follower is None:
            time.sleep(0.02)
        ex._follower.kill()
        self.assertIsNone(first.result(60))
        self.assertEqual(ex.submit(tasks.square, 3).result(60), 9)

    def test_two_clients(self):
        found = {}

        def client(name):
            with placectl.PlacectlExecutor(placectl.Database(self.db.path, lock_timeout="1m"), walltime="5m") as ex:
                found[name] = list(ex.map(tasks.square, range(8)))
        threads = [threading.Thread(target=client, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual(found, {i: [x * x for x in range(8)] for i in range(2)})

    def test_asyncio(self):
        ex = self.executor()

        async def both():
            loop = asyncio.get_running_loop()
            return await asyncio.gather(loop.run_in_executor(ex, tasks.square, 6), asyncio.wrap_future(ex.submit(tasks.square, 7)))
        self.assertEqual(asyncio.run(both()), [36, 49])

    def test_as_completed(self):
        ex = self.executor()
        done = concurrent.futures.as_completed([ex.submit(tasks.square, i) for i in range(3)], timeout=60)
        self.assertEqual(sorted(f.result() for f in done), [0, 1, 4])

    def test_url_needs_a_folder(self):
        with self.assertRaises(ValueError):
            placectl.PlacectlExecutor(placectl.Database("ssh://host/queue.db", binary=self.db.binary))

    def test_killed_client(self):
        """Whatever moment a client is killed at: attach executes what it had put into a batch, once."""
        chance = random.Random(int(os.environ.get("PLACECTL_SEED", "1")))
        for _ in range(int(os.environ.get("PLACECTL_KILLS", "4"))):
            folder, marks = tempfile.mkdtemp(dir=self.folder), tempfile.mkdtemp(dir=self.folder)
            client = subprocess.Popen([sys.executable, str(HERE / "killed_client.py"), self.db.path, folder, marks], stdout=subprocess.PIPE)
            client.stdout.readline()
            time.sleep(chance.uniform(0, 0.4))
            client.send_signal(signal.SIGKILL)
            client.wait()
            client.stdout.close()
            ex = placectl.PlacectlExecutor.attach(folder, self.db)
            for number, future in ex.futures.items():
                self.assertEqual(future.result(120), number - 1)
            ex.shutdown()
            executed = collections.Counter(int(n.split("-")[0]) for n in os.listdir(marks))
            self.assertEqual(executed, collections.Counter(range(len(ex.futures))))


class TestRequests(Case):
    def test_options(self):
        """What options ask for is carried out, or refused."""
        with placectl.PlacectlExecutor(self.db, walltime="1m", mem="100m") as ex:
            there = tempfile.mkdtemp(dir=self.folder)
            self.assertEqual(ex.options(chdir=there).submit(os.getcwd).result(60), there)
            self.assertEqual(ex.submit(os.getcwd).result(60), os.getcwd())
            job = ex.options(select="1:ncpus=1").submit(os.getpid).job
            self.assertEqual(job.show()["select"], "1:ncpus=1")
            with self.assertRaisesRegex(TypeError, "array="):
                ex.options(array="0-3")
            with self.assertRaisesRegex(TypeError, "key="):
                placectl.PlacectlExecutor(self.db, key="once")

    def test_causes(self):
        """A task without a result says why, and not all that it printed."""
        with placectl.PlacectlExecutor(self.db, walltime="1s", grace=0) as ex:
            late = ex.submit(tasks.print_and_sleep, 100_000, 60).exception(60)
            self.assertIsInstance(late, placectl.JobFailed)
            self.assertEqual(late.cause, "walltime")
            self.assertIn("walltime", str(late))
            self.assertLess(len(str(late)), 5000)
            self.assertEqual(pickle.loads(pickle.dumps(late)).cause, "walltime")

    def test_notes(self):
        """What the program notes beside an answer is a warning."""
        with self.assertWarnsRegex(placectl.PlacectlWarning, "can never run"):
            self.db.submit(["true"], select="1:ncpus=4096")

    def test_cancel_futures(self):
        """As in concurrent.futures: nothing that waits is left, not even what is being committed, and no task is accepted."""
        ex = placectl.PlacectlExecutor(self.db, walltime="1m", hold=True)
        waiting = [ex.submit(os.getpid) for _ in range(3)]
        time.sleep(placectl._executor.GATHER * 2)
        ex.shutdown(cancel_futures=True)
        self.assertTrue(all(f.cancelled() for f in waiting))
        self.assertEqual(concurrent.futures.wait(waiting, 1).not_done, set())
        self.assertEqual(len(list(concurrent.futures.as_completed(waiting, 1))), 3)
        for submit in (lambda: ex.submit(os.getpid), lambda: ex.map(abs, [1])):
            with self.assertRaisesRegex(RuntimeError, "after shutdown"):
                submit()


class TestPrograms(Case):
    """Programs of all kinds whose tasks import them, and the documents' examples as they stand."""

    SQUARE = "import placectl\ndef square(x):\n    return x * x\n"
    USE = "with placectl.PlacectlExecutor({db!r}, walltime='5m') as ex:\n    print([f.result(60) for f in [ex.submit(square, i) for i in range(3)]])\n"

    def setUp(self):
        super().setUp()
        self.unguarded = self.SQUARE + self.USE.format(db=self.db.path)
        self.guarded = self.SQUARE + "if __name__ == '__main__':\n    " + self.USE.format(db=self.db.path).replace("\n   ", "\n       ")

    def python(self, *words, text="", **environment):
        return subprocess.run([sys.executable, *words], input=text, cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment})

    def file(self, text):
        path = pathlib.Path(self.folder, "program.py")
        path.write_text(text)
        return str(path)

    def jobs(self):
        return self.db.query("SELECT count(*) AS n FROM jobs")[0]["n"]

    def test_guarded(self):
        path = self.file(self.guarded)
        for words in [[path], ["-m", "program"]]:
            with self.subTest(words=words):
                done = self.python(*words)
                self.assertEqual((done.stdout, done.returncode), ("[0, 1, 4]\n", 0), done.stderr)
        self.assertEqual(self.jobs(), 6)

    def test_unguarded(self):
        """A task that makes an executor, or submits, while it imports the program fails and says why."""
        path = self.file(self.unguarded)
        for words in [[path], ["-m", "program"]]:
            done = self.python(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('if __name__ == "__main__":', done.stderr)
        self.assertEqual(self.jobs(), 6)
        submits = f"placectl.Database({self.db.path!r}).submit(['true'], hold=True)\n"
        done = self.python(self.file(self.SQUARE + submits + self.guarded[len(self.SQUARE):]))
        self.assertIn('if __name__ == "__main__":', done.stderr)
        self.assertEqual(self.jobs(), 10)

    def test_no_file(self):
        """A program from standard input, a prompt or a notebook: by value with cloudpickle, else refused before anything is submitted."""
        classes = self.unguarded.replace("def square", "class Number(int):\n    pass\ndef square").replace("square, i", "abs, Number(i)")
        for words, text, told in [(["-"], self.unguarded, "square"), (["-c", self.unguarded], "", "square"), (["-"], classes, "Number"),
                                  (["-i", "-q"], self.unguarded.replace("\ndef", "\n\ndef").replace("\nwith", "\n\nwith") + "\n", "square")]:
            with self.subTest(words=words, told=told):
                done = self.python(*words, text=text, PLACECTL_PICKLE="plain")
                self.assertRegex(done.stderr, f"import {told}: this program is no file")
                self.assertEqual(self.jobs(), 0)
        if placectl._main.pickler.__name__ == "cloudpickle":
            for words, text in [(["-"], self.unguarded), (["-c", self.unguarded], "")]:
                done = self.python(*words, text=text)
                self.assertEqual((done.stdout, done.returncode), ("[0, 1, 4]\n", 0), done.stderr)
        imported = self.unguarded.replace("submit(square, i)", "submit(pow, i, 2)")  # of a module
        done = self.python("-", text=imported, PLACECTL_PICKLE="plain")
        self.assertEqual((done.stdout, done.returncode), ("[0, 1, 4]\n", 0), done.stderr)

    def test_end_of_program(self):
        """What was submitted is committed and awaited at the end of a program that does not shut its executor down; the process
        that follows events ends with it, also if it is killed."""
        for end in ["", "    ex.shutdown(wait=False)\n", "    ex.shutdown(wait=False, cancel_futures=False)\n    raise SystemExit(3)\n"]:
            with self.subTest(end=end):
                before = self.jobs()
                done = self.python(self.file(self.SQUARE + "if __name__ == '__main__':\n    ex = placectl.PlacectlExecutor(" + repr(self.db.path) +
                                             ", walltime='5m')\n    for i in range(5):\n        ex.submit(square, i)\n" + end))
                self.assertEqual((done.returncode, self.jobs() - before), (3 if "3" in end else 0, 5), done.stderr)
                self.assertEqual(self.db.query("SELECT DISTINCT state FROM jobs"), [{"state": "finished"}])
                self.assertFalse(self.followers())
        client = subprocess.Popen([sys.executable, self.file(self.guarded.replace("square, i", "__import__('time').sleep, 60"))], cwd=self.folder)
        while not self.followers():
            time.sleep(0.05)
        client.kill()
        client.wait()
        end = time.monotonic() + 10
        while self.followers() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(self.followers(), [])

    def followers(self):
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if "events" in words and self.db.path in words:
                found.append(words)
        return found


class TestAttach(Case):
    def setUp(self):
        super().setUp()
        self.folder_of_tasks, self.marks = tempfile.mkdtemp(dir=self.folder), tempfile.mkdtemp(dir=self.folder)
        with placectl.PlacectlExecutor(self.db, folder=self.folder_of_tasks, keep=True, walltime="1m") as ex:
            self.assertEqual(list(ex.map(tasks.mark, [self.marks] * 4, range(4))), list(range(4)))
            self.assertEqual(ex.submit(tasks.mark, self.marks, 4).result(60), 4)

    def attach(self):
        ex = placectl.PlacectlExecutor.attach(self.folder_of_tasks, self.db)
        self.addCleanup(ex.shutdown)
        return [r[0] if isinstance(r, list) else r for r in (f.result(30) for f in ex.futures.values())]  # map makes chunks

    def test_forgotten(self):
        """Finished tasks are not executed again, though the database has forgotten their keys and their jobs."""
        self.db.call("archive", before="now", to=os.path.join(self.folder, "old.jsonl"))
        other = placectl.Database.create_local(os.path.join(self.folder, "other.db"))
        self.addCleanup(other.call, "cancel", all=True)
        self.db = other
        self.assertEqual(self.attach(), list(range(5)))
        self.assertEqual(len(os.listdir(self.marks)), 5)

    def test_unknown(self):
        """A batch of which it is not known whether it was committed is committed again with its key, as long as keys are kept."""
        batches = list(pathlib.Path(self.folder_of_tasks).glob("*.batch"))
        for path in batches:
            batch = json.loads(path.read_text())
            del batch["made"]
            path.write_text(json.dumps(batch))
        self.assertEqual(self.attach(), list(range(5)))
        self.assertEqual(len(os.listdir(self.marks)), 5)
        batch = json.loads(batches[0].read_text())
        del batch["made"]
        batches[0].write_text(json.dumps(batch))
        os.utime(batches[0], (0, 0))
        with self.assertRaisesRegex(placectl.Conflict, "keep_keys"):
            self.attach()


    def test_others(self):
        """What is no file of a task is left alone."""
        for name in ("data.in", "data.batch"):
            pathlib.Path(self.folder_of_tasks, name).touch()
        self.assertEqual(self.attach(), list(range(5)))


class TestFolder(Case):
    def executor(self, **given):
        return placectl.PlacectlExecutor(self.db, folder=os.path.join(self.folder, "fold"), walltime="1m", **given)

    def test_used_again(self):
        """No executor takes the results of one before it for its own."""
        with self.executor(keep=True) as ex:
            self.assertEqual(ex.submit(tasks.square, 3).result(60), 9)
        with self.assertRaisesRegex(placectl.Conflict, "attach"):
            self.executor()
        self.assertEqual(placectl.PlacectlExecutor.attach(ex.folder, self.db).futures[1].result(60), 9)

    def test_two_at_once(self):
        found = []

        def begin():
            try:
                found.append(self.executor())
            except placectl.Conflict:
                pass
        threads = [threading.Thread(target=begin) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 1)
        found[0].shutdown()

    def test_removed(self):
        """An executor that has removed its tasks leaves the folder to the next one, and other files as they are."""
        ex = self.executor()
        other = pathlib.Path(ex.folder, "1.out")
        other.write_text("of another program")
        self.assertEqual(ex.submit(tasks.square, 3).result(60), 9)
        ex.shutdown()
        self.assertEqual(os.listdir(ex.folder), [other.name])
        with self.executor() as second:
            ex.shutdown()  # once more: it has no tasks there
            with self.assertRaises(placectl.JobFailed):
                second.submit(tasks.kill_self).result(60)
        other.unlink()
        self.executor().shutdown()
        self.assertFalse(os.path.exists(ex.folder))


class TestAttempts(Case):
    """A future has the outcome of the attempt that ended its job."""

    def executor(self, **given):
        return self.ends(placectl.PlacectlExecutor(self.db, keep=True, walltime="1m", **given))

    def attach(self, ex):
        return self.ends(placectl.PlacectlExecutor.attach(ex.folder, self.db)).futures

    def ends(self, ex):
        self.addCleanup(ex.shutdown)
        self.addCleanup(self.db.call, "cancel", all=True)
        return ex

    def await_retry(self, future):
        while (future.job.state, future.job.show()["attempt"]) != ("queued", 1):
            time.sleep(0.1)

    def test_killed(self):
        with self.assertRaises(placectl.JobFailed) as failed:
            self.executor(retries=1, retry_wait=1).submit(tasks.fail_then, tasks.kill_self).result(60)
        self.assertEqual(failed.exception.exit, 128 + signal.SIGKILL)

    def test_attach(self):
        ex = self.executor(retries=1, retry_wait="1h")
        good, cancelled = [ex.submit(tasks.fail_then, tasks.square, 3) for _ in range(2)]
        for future in (good, cancelled):
            self.await_retry(future)
        attached = self.attach(ex)
        self.assertFalse(any(f.done() for f in attached.values()))
        self.db.change("alter", good.job.id, begin="now")
        cancelled.kill()
        for future in (good, attached[1]):
            self.assertEqual(future.result(60), 9)
        self.assertIsInstance(cancelled.exception(60), placectl.JobFailed)
        for future in (attached[2], self.attach(ex)[2]):
            with self.assertRaises(concurrent.futures.CancelledError):
                future.result(60)

    def test_never(self):
        """A task that can never run, and was cancelled, does not keep the others from being taken up."""
        ex = self.executor()
        never = ex.options(select="1:ncpus=99").submit(tasks.square, 1)
        self.assertIsInstance(never.exception(60), placectl.Never)
        self.assertEqual(ex.submit(tasks.square, 3).result(60), 9)
        attached = self.attach(ex)
        self.assertEqual((attached[1].cancelled(), attached[2].result(60)), (True, 9))

    def test_forgotten(self):
        """A job without a result that the database has forgotten."""
        ex = self.executor()
        self.assertIsInstance(ex.submit(tasks.leave, 7).exception(60), placectl.JobFailed)
        time.sleep(1.1)  # so that it has ended before now
        self.db.call("archive", before="now", to=os.path.join(self.folder, "old.jsonl"))
        with self.assertRaisesRegex(placectl.JobFailed, "forgotten"):
            self.attach(ex)[1].result(10)


class TestSource(unittest.TestCase):
    def test_syntax_of_3_9(self):
        for path in [*HERE.parent.glob("placectl/*.py"), *HERE.glob("*.py")]:
            ast.parse(path.read_text(), path.name, feature_version=(3, 9))

    def test_plain_pickle(self):
        out = subprocess.run([sys.executable, "-c", "from placectl import _main; print(_main.pickler.__name__)"], check=True,
                             env={**os.environ, "PLACECTL_PICKLE": "plain"}, capture_output=True, text=True).stdout
        self.assertEqual(out, "pickle\n")

    @unittest.skipUnless(placectl._main.pickler.__name__ == "cloudpickle", "cloudpickle is not installed")
    def test_cloudpickle(self):
        case = Case()
        case.setUp()
        self.addCleanup(case.doCleanups)
        with placectl.PlacectlExecutor(case.db, walltime="5m") as ex:
            self.assertEqual(ex.submit(lambda x: x + 1, 1).result(60), 2)


if __name__ == "__main__":
    unittest.main()
