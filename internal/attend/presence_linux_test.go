package attend

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestPresence: one process stands for a user, for one epoch of a database. The next one does once that has
// gone.
func TestPresence(t *testing.T) {
	uid := uint32(os.Getuid())
	id := t.Name() + t.TempDir()[len(os.TempDir()):][:8]
	look := func(int, uint64) (lives, stopped bool) { return true, false }
	is := func(epoch string, want bool) {
		t.Helper()
		if Present(id, epoch, uid, look) != want {
			t.Errorf("epoch %s: Present = %v, want %v", epoch, !want, want)
		}
	}
	var first, second Presence
	is("1", false)
	first.Keep(id, "1")
	second.Keep(id, "1")
	is("1", true)
	is("2", false)
	if Present(id, "1", uid+1, look) {
		t.Error("Present = true for another user, want false")
	}
	first.Keep(id, "2")
	is("1", false)
	is("2", true)
	second.Keep(id, "1")
	is("1", true)
	first.Close()
	second.Close()
	is("1", false)
	is("2", false)
}

// TestPresenceStopped: a stopped process does not count as present until it goes on, whether or not the
// system says that it is stopped. The second time, when its queue holds a connection, takes no longer.
func TestPresenceStopped(t *testing.T) {
	uid := uint32(os.Getuid())
	id := t.TempDir()[len(os.TempDir()):]
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), keepsVariable+"="+id)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Wait()            //nolint:errcheck // it is killed
	defer c.Process.Kill()    //nolint:errcheck // it may have ended
	out.Read(make([]byte, 1)) //nolint:errcheck // if it has ended it is not present
	for _, knows := range []bool{true, false} {
		is, asked := false, 0
		look := func(pid int, _ uint64) (lives, stopped bool) {
			asked++
			return true, knows && is && pid == c.Process.Pid
		}
		if !Present(id, "1", uid, look) {
			t.Fatal("a running process is not present")
		}
		syscall.Kill(c.Process.Pid, syscall.SIGSTOP) //nolint:errcheck // it lives
		waitStopped(t, c.Process.Pid)
		is = true
		for range 2 {
			began := time.Now()
			if Present(id, "1", uid, look) {
				t.Error("a stopped process is present")
			}
			if took := time.Since(began); knows && took > hearWithin/2 {
				t.Errorf("Present of a stopped process took %v, want at most %v", took, hearWithin/2)
			}
		}
		if asked == 0 {
			t.Error("Present did not check whether the process is stopped")
		}
		syscall.Kill(c.Process.Pid, syscall.SIGCONT) //nolint:errcheck // it lives
	}
	if !Present(id, "1", uid, func(int, uint64) (lives, stopped bool) { return true, false }) {
		t.Error("the process is not present after it was continued")
	}
}

// waitStopped waits until the kernel has stopped a child.
func waitStopped(t *testing.T, pid int) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal("the child did not stop:", err)
	}
}

// keepsVariable is set for the process that stands for a user in TestPresenceStopped.
const keepsVariable = "PLACECTL_TEST_KEEPS"

func TestMain(m *testing.M) {
	if id := os.Getenv(keepsVariable); id != "" {
		var p Presence
		p.Keep(id, "1")
		os.Stdout.WriteString(".") //nolint:errcheck // the test has ended
		time.Sleep(time.Minute)
		return
	}
	os.Exit(m.Run())
}
