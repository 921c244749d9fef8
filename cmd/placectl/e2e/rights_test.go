package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts/pbs"
	"github.com/placectl/placectl/cmd/placectl/internal/fronts/slurm"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
)

const operatorUID = 61237

// rightsOf are the users with a right, by the table's word for it. All others are refused. So are all
// users in a user namespace, unless the verb opens no database.
var rightsOf = map[string][]string{
	"all":       {"owner", "operator", "user", "other", "root", "namespace"},
	"everyone":  {"owner", "operator", "user", "other", "root"},
	"user":      {"owner", "operator", "user", "root"},
	"itself":    {"user", "root"},
	"seers":     {"owner", "user", "root"},
	"operators": {"owner", "operator", "root"},
	"owner":     {"owner", "root"},
}

// TestRightsTable goes through testdata/rights.txt: each verb, each command of PBS and Slurm, and each
// helper verb. It runs them as the owner, an operator, the user of the jobs, another user, root, and the
// jobs' user as root of a user namespace. All users but root are known only by uid.
func TestRightsTable(t *testing.T) {
	u := newTwoUsers(t)
	who := map[string]uint32{"owner": ownerUID, "operator": operatorUID, "user": bareUID, "other": guestUID, "root": 0,
		"namespace": bareUID}
	var words []string
	for name := range who {
		words = append(words, name)
	}
	slices.Sort(words)
	u.rightsTemplate()
	for _, uid := range []int{ownerUID, operatorUID, bareUID, guestUID} {
		dir := fmt.Sprint("/var/tmp/placectl-", uid) // where passes keep attempts
		if _, err := os.Lstat(dir); err != nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
		}
	}
	lines := rightsLines(t)
	type try struct{ line, stdin, name string }
	tries := make(chan try)
	var all sync.WaitGroup
	for worker := range 3 {
		dir := filepath.Join(u.dir, fmt.Sprint("worker", worker))
		all.Go(func() {
			for one := range tries {
				status, said := u.tryRight(dir, who[one.name], one.name == "namespace", one.line, one.stdin)
				refused := isRefusal(status, said)
				if may := slices.Contains(rightsOf[lines[one.line+one.stdin]], one.name); refused == may {
					t.Errorf("%s as %s: refused: %v, status %d: %s", one.line, one.name, refused, status, said)
				} else if may && (status == exit.Usage && !slices.Contains([]string{"pbs", "slurm", "log"},
					strings.Fields(one.line)[0]) || status == exit.Crash) {
					t.Errorf("%s as %s: status %d: %s", one.line, one.name, status, said)
				}
			}
		})
	}
	for whole := range lines {
		line, stdin, piped := strings.Cut(whole, " <")
		for _, name := range words {
			if is := lines[whole]; (is == "all" || is == "everyone") && name != "other" && name != "namespace" {
				continue // that takes no right which one of these has and the other lacks
			}
			if piped {
				tries <- try{line, " <" + stdin, name}
			} else {
				tries <- try{line, "", name}
			}
		}
	}
	close(tries)
	all.Wait()
}

// isRefusal reports whether a verb, or a command of PBS or Slurm, has refused for lack of permission.
func isRefusal(status int, said string) bool {
	return status != 0 && slices.ContainsFunc([]string{"not permitted", "Unauthorized Request",
		"Access/permission denied", "Invalid user id"}, func(text string) bool { return strings.Contains(said, text) })
}

// rightsLines reads the table, and verifies that it is complete.
func rightsLines(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/rights.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, has := make(map[string]string), make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		who, rest, _ := strings.Cut(line, " ")
		if rightsOf[who] == nil {
			t.Fatalf("%s: %q is no key of rightsOf", line, who)
		}
		rest = strings.TrimSpace(rest)
		lines[rest] = who
		plain, _, _ := strings.Cut(rest, " <")
		inv, err := newCapture().runner().Verbs.Parse(strings.Fields(plain))
		if err != nil {
			t.Errorf("the line %s cannot be parsed: %v", line, err)
			continue
		}
		has[inv.Verb()] = true
		if fields := strings.Fields(plain); fields[0] == "pbs" || fields[0] == "slurm" {
			has[fields[0]+" "+fields[1]] = true
		}
	}
	var look func(path string, v *session.Verb)
	look = func(path string, v *session.Verb) {
		if v.Runs() && !has[path] {
			t.Errorf("the table has no line for %s", path)
		}
		for flag := range v.Takes {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(lines)), func(l string) bool {
				return strings.HasPrefix(l, path+" ") && strings.Contains(l, verbs.Dashed(flag))
			}) {
				t.Errorf("the table has no line for %s --%s", path, flag)
			}
		}
		for _, sub := range v.Verbs {
			look(path+" "+sub.Name, sub)
		}
	}
	for _, e := range command.Verbs() {
		look(e.Name, e.Verb())
	}
	for front, names := range map[string][]string{"pbs": pbs.System().Names(), "slurm": slurm.System().Names()} {
		for _, name := range names {
			if !has[front+" "+name] {
				t.Errorf("the table has no line for %s %s", front, name)
			}
		}
	}
	return lines
}

// rightsTemplate makes the database that is copied for each try. Jobs 1 (placed), 2 (waits), 3 (held), 5
// and 6 (array 4), 7 (started, not yet executed) and batch b belong to the user.
func (u *twoUsers) rightsTemplate() {
	u.t.Helper()
	files := filepath.Join(u.dir, "files")
	jobs := filepath.Join(u.dir, "jobs")
	for name, text := range map[string]string{files: "name,size\nf0,1000\nf1,1000\n",
		jobs: "first,last\nf0,f1\nf0,\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			u.t.Fatal(err)
		}
		if err := os.Chmod(name, 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
	for _, step := range []struct {
		uid  uint32
		line string
	}{
		{ownerUID, fmt.Sprint("init --group ", labGID)},
		{ownerUID, fmt.Sprintf("role add uid:%d operator", operatorUID)},
		{ownerUID, "config set start=manual"},
		{ownerUID, "node add n[1-3] ncpus=8"},
		{ownerUID, "resource add spare=string"},
		{ownerUID, "queue add q"},
		{ownerUID, "pool add p=3"},
		{ownerUID, "account set a"},
		{ownerUID, "class set c=100"},
		{ownerUID, "view set v SELECT(1)"},
		{ownerUID, "reserve r --nodes n3 --start now+1d -t 1h"},
		{bareUID, "place 1:ncpus=1 -t 1h"},
		{bareUID, "submit 1:ncpus=1 --chdir / --begin now+1d -- true"},
		{bareUID, "submit 1:ncpus=1 --chdir / --hold -- true"},
		{bareUID, "submit 1:ncpus=1 --chdir / --hold --array 2 -- true"},
		{bareUID, "submit 1:ncpus=1 --chdir / -- true"},
		{bareUID, "cycle"},
		{bareUID, "batch create b --files " + files + " --jobs " + jobs},
	} {
		if status, said := u.run(step.uid, step.line); status != 0 {
			u.t.Fatalf("%s: status %d: %s", step.line, status, said)
		}
	}
}

// tryRight runs a line on a copy of the database, in a folder of the worker.
func (u *twoUsers) tryRight(dir string, uid uint32, namespace bool, line, stdin string) (int, string) {
	u.t.Helper()
	_ = os.RemoveAll(dir)
	content, err := os.ReadFile(u.db)
	db := filepath.Join(dir, "test.db")
	for _, do := range []func() error{
		func() error { return err }, func() error { return os.Mkdir(dir, 0o770) },
		func() error { return os.WriteFile(db, content, 0o660) },
		func() error { return os.WriteFile(db+".lock", nil, 0o660) }, func() error { return os.Chmod(db, 0o660) },
		func() error { return os.Chmod(db+".lock", 0o660) },
		func() error { return os.Chmod(dir, 0o2770) }, func() error { return os.Chown(db, ownerUID, labGID) },
		func() error { return os.Chown(db+".lock", ownerUID, labGID) },
		func() error { return os.Chown(dir, ownerUID, labGID) }, func() error { return os.Chmod(dir, 0o2770) },
		func() error { return adoptAt(db) },
	} {
		if err := do(); err != nil {
			u.t.Error(err)
			return -1, err.Error()
		}
	}
	line = strings.NewReplacer("@", dir, "UID", fmt.Sprint(bareUID)).Replace(line)
	words := append([]string{u.program}, strings.Fields(line)...)
	if namespace {
		words = append([]string{"/usr/bin/unshare", "-Ur", "--"}, words...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = []string{"PATH=" + u.dir + ":/usr/bin:/bin", "USER=ann", "HOME=" + u.home(uid), "PLACECTL_DB=" + db}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid,
		Groups: []uint32{labGID}}}
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(strings.ReplaceAll(strings.TrimPrefix(stdin, " <"), "UID", fmt.Sprint(bareUID)))
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}
