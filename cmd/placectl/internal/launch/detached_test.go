package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The roles of this test's processes, and the file that an attendant writes.
const (
	waitingRole = "TEST_WAITING"
	waitingFile = "TEST_WAITING_FILE"
)

// TestWaiting: a process that was started early goes on when it is told to. It ends, and holds no lock, if
// the one that has started it drops it or is killed.
func TestWaiting(t *testing.T) {
	went := os.Getenv(waitingFile)
	start := func() (*os.File, *Waiting) {
		lock, err := os.Create(went + ".lock")
		if err == nil {
			err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err != nil {
			t.Fatal(err)
		}
		w, err := DetachWaiting([]string{"launch.test", "-test.run=^TestWaiting$"}, []string{waitingRole + "=child", waitingFile + "=" + went}, lock)
		if err != nil {
			t.Fatal(err)
		}
		return lock, w
	}
	switch os.Getenv(waitingRole) {
	case "child":
		if MayGo() {
			os.WriteFile(went, nil, 0o600) //nolint:errcheck // the test looks for it
		}
		os.Exit(0)
	case "killed":
		start()
		unix.Kill(os.Getpid(), unix.SIGKILL) //nolint:errcheck // the test waits for its end
	}
	for _, is := range []string{"told", "dropped", "killed"} {
		went = filepath.Join(t.TempDir(), is)
		if is == "killed" {
			c := exec.Command(os.Args[0], "-test.run=^TestWaiting$")
			c.Env = []string{waitingRole + "=killed", waitingFile + "=" + went}
			if err := c.Run(); err == nil {
				t.Fatal("the process that starts one was not killed")
			}
		} else {
			lock, w := start()
			if is == "told" {
				if err := w.Go(); err != nil {
					t.Fatal(err)
				}
			}
			w.Drop()
			lock.Close()
		}
		lock, err := os.Open(went + ".lock")
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		for until := time.Now().Add(10 * time.Second); unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s: a process holds the lock", is)
			}
		}
		if _, err := os.Stat(went); (err == nil) != (is == "told") {
			t.Errorf("%s: the process went on: %v", is, err == nil)
		}
	}
}
