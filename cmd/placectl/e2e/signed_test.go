package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// TestSigned: in a file that others can write to, root's passes execute what root has submitted. A job
// that another program has written there in root's name is held. The other program is this test, without
// an actor.
func TestSigned(t *testing.T) {
	u := newTwoUsers(t)
	must := func(uid uint32, line string) string {
		t.Helper()
		status, said := u.run(uid, line)
		if status != 0 {
			t.Fatalf("uid %d: %s: status %d: %s", uid, line, status, said)
		}
		return strings.TrimSpace(said)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	state, witness := filepath.Join(u.dir, "state"), filepath.Join(u.dir, "witness")
	for _, dir := range []string{state, witness} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	must(ownerUID, fmt.Sprint("init --group ", labGID))
	must(ownerUID, "node add "+host+" ncpus=64")
	must(ownerUID, "config set state_dir="+state+" detect=off")
	submit := "submit -q -o id --chdir " + witness + " --out o.%j"
	touch := func(name string) string { return " -- touch " + filepath.Join(witness, name) }
	must(0, submit+touch("own"))                 // 1
	must(0, submit+" --array 2"+touch("array"))  // array 2: 3, 4
	must(0, submit+" --hold"+touch("altered"))   // 5
	must(0, submit+" --hold"+touch("replayed"))  // 6
	must(guestUID, submit+" --hold"+touch("gu")) // 7
	info, err := os.Stat(filepath.Join(u.home(0), ".config", "placectl", "key"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("root's key file: %v, %v", info, err)
	}

	// The other program writes a payload of its own in root's name, one of root's with another
	// command, and a signature of root's for another job.
	db, err := engine.Open(u.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	forged := func(p *engine.Payload, sign engine.Signer, command ...string) {
		t.Helper()
		if err := db.Update(func(tx *engine.Tx) error {
			_, err := tx.Jobs().Submit(engine.Submission{Request: placer.Request{Select: "1:ncpus=1", User: "root"},
				Command: command, Payload: p, Sign: sign})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	var mine *engine.Payload
	var signature []byte
	if err := db.View(func(tx *engine.Tx) (err error) {
		if mine, err = tx.Jobs().Payload(6); err == nil {
			_, signature, err = tx.Jobs().Signed(6)
		}
		return err
	}); err != nil || len(signature) == 0 {
		t.Fatalf("the signature of root's job is %x, %v", signature, err)
	}
	again := func([]byte) ([]byte, error) { return signature, nil }
	script := &engine.Payload{Script: "#!/bin/sh\ntouch " + filepath.Join(witness, "script"), Dir: "/",
		Owner: &engine.Submitter{Name: "root", Host: host}}
	forged(mine, nil, "touch", filepath.Join(witness, "unsigned"))     // 8
	forged(mine, again, "touch", filepath.Join(witness, "replayed"))   // 9
	forged(script, again)                                              // 10
	forged(nil, nil, "touch", filepath.Join(witness, "without-owner")) // 11
	db.Close()
	must(ownerUID, "cancel 7")

	done := func(names ...string) {
		t.Helper()
		var there []string
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			must(0, "work --once --cycle -q")
			there, _ = filepath.Glob(filepath.Join(witness, "[a-z]*"))
			for i := range there {
				there[i] = filepath.Base(there[i])
			}
			there = without(there, "o.")
			if strings.Join(there, " ") == strings.Join(names, " ") &&
				must(0, "query SELECT(count(*))FROM\"jobs\"WHERE(state='running')AND(job<11) --no-header "+
					"-o csv") == "0" {
				return
			}
		}
		t.Fatalf("the jobs %v were executed, want %v\n%s", there, names, must(0, "job list"))
	}
	done("array", "own")
	for _, job := range []string{"8", "9", "10"} {
		if why := must(0, "query SELECT(state||':'||reason)FROM\"jobs\"WHERE(job="+job+
			") --no-header -o csv"); why != "held:not signed by root" {
			t.Errorf("job %s is %s, want held:not signed by root", job, why)
		}
	}
	if status, said := u.run(0, "attempts claim"); status == 0 {
		t.Errorf("an unsigned attempt can be claimed: %s", said)
	}
	must(0, "unhold 5 6")
	done("altered", "array", "own", "replayed")
	must(0, "unhold 8") // root has checked it
	done("altered", "array", "own", "replayed", "unsigned")
}

// without removes the words with a prefix.
func without(words []string, prefix string) (kept []string) {
	for _, w := range words {
		if !strings.HasPrefix(w, prefix) {
			kept = append(kept, w)
		}
	}
	return kept
}
