package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// twoUsers are processes of two users on one database. The first user owns it, and a group of both can
// write to it.
type twoUsers struct {
	t                *testing.T
	dir, program, db string
	guests           string // a folder of the guest
}

// No user here has these uids except the guest, who has a name everywhere.
const (
	guestName = "nobody"
	ownerUID  = 61234
	guestUID  = 65534
	bareUID   = 61236 // a uid without a name
	labGID    = 61235
)

// run runs a line as a user, and returns its status and its output.
func (u *twoUsers) run(uid uint32, line string, env ...string) (int, string) {
	u.t.Helper()
	line = strings.ReplaceAll(line, "GUEST", guestName)
	words := append([]string{u.program}, strings.Fields(line)...)
	if strings.HasPrefix(line, "-U") { // flags of unshare come before those of placectl
		flag, rest, _ := strings.Cut(line, " ")
		words = append([]string{"/usr/bin/unshare", flag, "--", u.program}, strings.Fields(rest)...)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{"PATH=" + u.dir + ":/usr/bin:/bin", "USER=ann", "HOME=" + u.home(uid), "PLACECTL_DB=" + u.db}
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid,
		Groups: []uint32{labGID}}}
	cmd.Dir = "/"
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// home returns the home directory of a user, and makes it if necessary.
func (u *twoUsers) home(uid uint32) string {
	dir := filepath.Join(u.dir, fmt.Sprint("home-", uid))
	if err := os.Mkdir(dir, 0o700); err == nil {
		if err := os.Chown(dir, int(uid), int(uid)); err != nil {
			u.t.Fatal(err)
		}
	}
	return dir
}

// newTwoUsers makes the folder and the program of a test with several users. Without root it skips the
// test.
func newTwoUsers(t *testing.T) *twoUsers {
	t.Helper()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("several users: only root can be all of them, and CI has to be")
		}
		t.Skip("several users: only root can be all of them")
	}
	dir, err := os.MkdirTemp("/tmp", "two")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	u := &twoUsers{t, dir, filepath.Join(dir, "placectl"), filepath.Join(dir, "lab", "test.db"),
		filepath.Join(dir, "guest")}
	// A program that is first on PATH and says it is ann: nothing runs it.
	liar := os.WriteFile(filepath.Join(dir, "id"), []byte("#!/bin/sh\necho ann\n"), 0o755)
	for _, err := range []error{liar, os.WriteFile(u.program, content, 0o755), os.Chmod(dir, 0o755),
		os.Chown(dir, ownerUID, ownerUID), os.Mkdir(u.guests, 0o755), os.Chown(u.guests, guestUID, guestUID)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	was := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(was) })
	return u
}

// TestTwoUsers: a guest changes only its own jobs, whatever the environment says. It changes nothing of
// the cluster's, unless it is an operator.
func TestTwoUsers(t *testing.T) {
	u := newTwoUsers(t)
	for _, step := range []struct {
		uid    uint32
		line   string
		status int
		says   string
	}{
		{ownerUID, fmt.Sprint("init --group ", labGID), 0, ""},
		{ownerUID, "node add n1 ncpus=8", 0, ""},
		{ownerUID, "limit set user=* running=3", 0, ""},
		{ownerUID, "submit 1:ncpus=1 --user ann -o id", 0, "1"},
		{guestUID, "submit 1:ncpus=1 -o id", 0, "2"},
		{guestUID, "query SELECT(user)FROM\"jobs\"WHERE(job=2) -o csv --no-header", 0, guestName},
		{guestUID, "submit 1:ncpus=1 --user ann", 1, "not permitted: a job of ann"},
		{guestUID, "place 1:ncpus=1 --over-limits", 1, "not permitted: to go over limits"},
		{guestUID, "cancel 1", 1, "not permitted: job 1 belongs to ann"},
		{guestUID, "hold 1", 1, "not permitted"},
		{guestUID, "extend 1 --walltime 2h", 1, "not permitted"},
		{guestUID, "cycle --backfill fcfs", 1, "not permitted: cycle --backfill"},
		{guestUID, "cycle", 0, "start"},
		{guestUID, "release 1", 1, "not permitted"},
		{guestUID, "requeue 1", 1, "not permitted"},
		{guestUID, "done 1", 1, "not permitted"},
		{guestUID, "done 2", 0, ""},
		{guestUID, "node drain n1", 1, "not permitted: node drain"},
		{guestUID, "config set overdue=finish", 1, "not permitted"},
		{guestUID, "limit set user=* running=30", 1, "not permitted"},
		{guestUID, "role add GUEST operator", 1, "not permitted"},
		{guestUID, "pbs qdel 1", 159, "Unauthorized Request"},
		{bareUID, "cancel 1", 1, "not permitted: job 1 belongs to ann, and uid:61236 is not an operator"},
		{bareUID, "pbs qdel 1", 159, "Unauthorized Request"},
		{bareUID, "slurm sbatch --parsable -D / -o /dev/null --wrap true", 0, "3"},
		{bareUID, "pbs qsub -h -- /bin/true", 0, "4.placectl"},
		{bareUID, "query SELECT(user)FROM\"jobs\"WHERE(job=3) -o csv --no-header", 0, "uid:61236"},
		{bareUID, "cancel 3 4", 0, ""},
		{ownerUID, "role add GUEST operator", 0, ""},
		{guestUID, "submit 1:ncpus=1 --user ann --over-limits -o id", 0, "5"},
		{guestUID, "node drain n1", 0, ""},
		{guestUID, "cancel 1", 0, ""},
		{guestUID, "query SELECT(uid)FROM\"events\"WHERE(event='cancel') -o csv --no-header", 0, "65534"},
		{ownerUID, "role rm GUEST operator", 0, ""},
		{ownerUID, "submit 1:ncpus=1 -o id", 0, "6"},
		{ownerUID, "query SELECT(user)FROM\"jobs\"WHERE(job=6) -o csv --no-header", 0, "uid:61234"},
		{guestUID, "cancel 5", 1, "not permitted"},
		{guestUID, "submit 1:ncpus=1 --priority 1001", 1, "not permitted: a priority of 1001"},
		{guestUID, "slurm sbatch --nice=1001 --wrap true", 1, "Access/permission denied"},
		{guestUID, "submit 1:ncpus=1 --priority 1000 -o id", 0, "7"},
		{guestUID, "pbs qalter -p 1001 7", 159, "Unauthorized Request"},
		{ownerUID, "config set priority_min=-5 priority_max=5", 0, ""},
		{guestUID, "submit 1:ncpus=1 --priority 6", 1, "not permitted"},
		{guestUID, "pbs qalter -N other 7", 0, ""}, // its priority stays
		{ownerUID, "submit 1:ncpus=1 --priority 2000 -o id", 0, "8"},
		{ownerUID, "node resume n1", 0, ""},
		{ownerUID, "queue add gpu --allow group=nogroup", 0, ""},
		{bareUID, "submit 1:ncpus=1 --queue gpu", 1, "not permitted: queue gpu"},
		{bareUID, "submit 1:ncpus=1 --queue gpu --group nogroup", 1, "not permitted: group nogroup"},
		{bareUID, "place 1:ncpus=1 --group daemon", 1, "not permitted: group daemon"},
		{guestUID, "submit 1:ncpus=1 --group nogroup --queue gpu --hold -o id", 0, "9"},
		{guestUID, "-Ur role add GUEST operator", 1, "not permitted"},
		{guestUID, "-Ur submit 1:ncpus=1", 1, "from a user namespace"},
		{guestUID, "-U submit 1:ncpus=1", 1, "from a user namespace"},
		{guestUID, "-Ur job list", 1, "from a user namespace"},
		{guestUID, "-Ur pbs qdel 8", 159, "Unauthorized Request"},
		{ownerUID, "-Ur cancel 8", 1, "from a user namespace"},
		{guestUID, "compact", 1, "only the owner of the database"},
		{guestUID, "backup " + filepath.Join(u.guests, "b.db"), 0, ""},
		{guestUID, "restore " + filepath.Join(u.guests, "b.db"), 1, "only the owner"},
		{guestUID, "check --repair", 1, "only the owner"},
		{guestUID, "upgrade", 1, "only the owner"},
		{guestUID, "archive --before 2020-01-01 --to " + filepath.Join(u.guests, "a.jsonl"), 1, "only the owner"},
		{guestUID, "clock reset", 1, "only the owner"},
		{ownerUID, "role add GUEST operator", 0, ""},
		{guestUID, "role add daemon operator", 1, "only the owner"},
		{guestUID, "config set hook=/bin/true", 1, "only the owner"},
		{guestUID, "config set overdue=keep", 0, ""},
		{guestUID, "pbs qdel 6", 0, ""},
		{ownerUID, "role rm GUEST operator", 0, ""},
		{0, "compact", 0, ""},
		{guestUID, "role add GUEST operator", 1, "only the owner"},
		{ownerUID, "role list", 0, ""},
		{0, "restore " + filepath.Join(u.guests, "b.db"), 0, ""},
		{guestUID, "role add GUEST operator", 1, "only the owner"},
		{ownerUID, "role add GUEST operator", 0, ""},
		{ownerUID, "role rm GUEST operator", 0, ""},
		{ownerUID, "check", 0, "sound"},
	} {
		status, said := u.run(step.uid, step.line)
		if status != step.status || !strings.Contains(said, step.says) {
			t.Errorf("uid %d: %s: status %d, want %d and %q: %s", step.uid, step.line, status, step.status, step.says,
				said)
		}
	}
	for name, want := range map[string]os.FileMode{u.db: 0o660, u.db + ".lock": 0o660,
		filepath.Dir(u.db): 0o770 | os.ModeSetgid | os.ModeDir} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode() != want || gid != labGID {
			t.Errorf("%s has the mode %v and the group %d, want %v", name, info.Mode(), gid, want)
		}
	}
}

// TestTwoUsersByThemselves: the jobs of two users alternate on one machine, without passes or cycles by
// hand. Jobs of a user without a process there wait as unattended, do not delay others, and go on with that
// user's next command.
func TestTwoUsersByThemselves(t *testing.T) {
	u := newTwoUsers(t)
	for _, uid := range []uint32{ownerUID, guestUID} {
		dir := fmt.Sprint("/var/tmp/placectl-", uid) // where attendants keep attempts
		if _, err := os.Lstat(dir); err != nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
		}
	}
	does := func(uid uint32, line, says string) string {
		t.Helper()
		status, said := u.run(uid, line)
		if status != 0 || !strings.Contains(said, says) {
			t.Fatalf("uid %d: %s: status %d, want 0 and %q: %s", uid, line, status, says, said)
		}
		return said
	}
	does(ownerUID, fmt.Sprint("init --local --group ", labGID), "")
	here := strings.TrimSpace(does(ownerUID, "node list -o id", ""))
	const job = "submit -q -t 1m --place excl --out /dev/null -o id -- sleep 0.1"
	for range 4 {
		does(ownerUID, job, "")
		does(guestUID, job, "")
	}
	does(ownerUID, "wait 1 2 3 4 5 6 7 8 --timeout 60s", "")
	t.Cleanup(func() { // they end by themselves, but later
		for _, uid := range []uint32{ownerUID, guestUID} {
			u.stopAttendant(uid)
		}
	})

	u.stopAttendant(guestUID)
	does(ownerUID, "node offline "+here+" --reason fan", "")
	does(guestUID, job, "9")
	for tries := 0; strings.Contains(does(ownerUID, "explain 9", ""), "unattended"); tries++ {
		if tries > 500 {
			t.Fatal("the guest's job is unattended, although the guest has an attendant")
		}
		time.Sleep(10 * time.Millisecond)
	}
	does(ownerUID, job, "10")
	u.stopAttendant(guestUID)
	does(ownerUID, "node resume "+here, "")
	does(ownerUID, "wait 10 --timeout 30s", "")
	does(ownerUID, "explain 9", "unattended: there is no queue runner of "+guestName)
	does(ownerUID, "job list --state queued", "unattended")
	does(ownerUID, "status", "1 job of "+guestName+" waiting: there is no queue runner of "+guestName)
	does(guestUID, "status", "")
	does(guestUID, "wait 9 --timeout 30s", "")
}

// stopAttendant kills a user's attendant, if there is one.
func (u *twoUsers) stopAttendant(uid uint32) {
	u.t.Helper()
	for range 500 {
		left := u.attendants(uid)
		if len(left) == 0 {
			return
		}
		for _, pid := range left { // a second one may stand in for a slow one
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				u.t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	u.t.Fatalf("the attendants %v do not end", u.attendants(uid))
}

// attendants returns the live attendants of a user.
func (u *twoUsers) attendants(uid uint32) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		u.t.Fatal(err)
	}
	for _, dir := range all {
		info, err := os.Stat(dir)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uid {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline")) // empty after its end
		if err != nil || !strings.Contains(string(line), "\x00attend\x00") || !strings.Contains(string(line), u.db) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
