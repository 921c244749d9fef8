package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivate: only the user of a job and the owner of the database see its script and environment,
// whichever verb shows, copies or dumps them. Copies by other users are sound without them.
func TestPrivate(t *testing.T) {
	u := newTwoUsers(t)
	must := func(uid uint32, line string) string {
		t.Helper()
		status, said := u.run(uid, line)
		if status != 0 {
			t.Fatalf("uid %d: %s: status %d: %s", uid, line, status, said)
		}
		return said
	}
	script := filepath.Join(u.guests, "job.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n# "+"hush-script\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	must(ownerUID, fmt.Sprint("init --group ", labGID))
	must(ownerUID, "node add n1 ncpus=8")
	must(guestUID, "submit --chdir / --export A=hush-guest -- true")         // 1
	must(bareUID, "submit --chdir / --export A=hush-bare --array 3 "+script) // array 2: 3, 4, 5
	must(bareUID, "pbs qsub -v A=hush-line -- /bin/true")                    // 6
	must(ownerUID, "submit --chdir / --export A=hush-owner -- true")         // 7
	must(bareUID, "submit --chdir / --export A=hush-bare "+script)           // 8: another array's payload
	must(ownerUID, "cancel 8")                                               // a job that has ended
	shows := func(uid uint32, line string, want ...string) {
		t.Helper()
		said := must(uid, line)
		if name, is := strings.CutPrefix(line, "backup "); is {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			said = string(text)
			must(uid, "--db "+name+" check")
		}
		for _, secret := range []string{"hush-guest", "hush-bare", "hush-script", "hush-line", "hush-owner"} {
			if is, should := strings.Contains(said, secret), strings.Contains(strings.Join(want, " "),
				secret); is != should {
				t.Errorf("uid %d: %s shows %s: %v, want %v", uid, line, secret, is, should)
			}
		}
	}
	all := "hush-guest hush-bare hush-script hush-line hush-owner"
	shows(guestUID, "dump", "hush-guest")
	shows(bareUID, "dump", "hush-bare hush-script hush-line")
	shows(ownerUID, "dump", all)
	shows(0, "dump", all)
	for i, tt := range []struct {
		uid  uint32
		want string
	}{{guestUID, "hush-guest"}, {ownerUID, all}} {
		dir := filepath.Join(u.home(tt.uid), "b.db")
		shows(tt.uid, "backup "+dir, tt.want)
		if text := must(tt.uid, "--db "+dir+" dump"); strings.Contains(text, `"signature"`) != (tt.want == all ||
			strings.Contains(text, "hush-guest")) {
			t.Errorf("backup %d has signatures", i)
		}
	}
	shows(guestUID, "pbs qstat -f 1 6 7", "hush-guest")
	shows(guestUID, "show 1 --env", "hush-guest")
	shows(ownerUID, "show 1 --env", "hush-guest")
	for _, line := range []string{"show 3 --env", "show 6 --env", "show 7 --env"} {
		if status, said := u.run(guestUID, line); status != 1 || !strings.Contains(said, "not permitted") ||
			strings.Contains(said, "hush") {
			t.Errorf("%s as the guest: status %d, want 1 without secrets: %s", line, status, said)
		}
	}
	must(ownerUID, "role add GUEST operator")
	shows(guestUID, "dump", "hush-guest")
	must(ownerUID, "check")
}
