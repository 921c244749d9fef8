package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	copiesSeed = flag.Uint64("copies-seed", 0, "the seed of TestCopies, 0 for a new one")
	copiesMost = flag.Int("copies", 3, "how many kinds of copies and of moves TestCopies draws")
)

// copiesBegin makes a database with a job that has ended (1), one that runs (2), two that wait for its cpu
// (3 and 4), and one that starts on a host that cannot be reached (5). Each execution, connection and run of
// the hook is recorded with the database's path. An attendant and a keeper live.
const copiesBegin = `
cat >stand-ins/ssh <<'END'
#!/bin/sh
echo "$*" >>$HOME/connected
exit 255
END
chmod 755 stand-ins/ssh
echo 'echo "$PLACECTL_JOB $PLACECTL_DB" >>$HOME/ran' >job.sh
echo 'cat >/dev/null; echo "$PLACECTL_DB" >>$HOME/hooked' >hook.sh
touch ran connected hooked
here=1:ncpus=1:vnode=$(hostname)
placectl init -q --local --set state_dir=$HOME/state --set hook="sh $HOME/hook.sh"
placectl node set $(hostname) ncpus=0@0 -q
placectl node add far host=far.invalid ncpus=4 -q
placectl submit -q $here -t 10m -- sh job.sh
placectl wait 1 --timeout 30s
placectl backup -q early.db
placectl submit -q $here -t 10m --no-requeue -- sh -c 'sh job.sh; until test -e go; do sleep 0.05; done'
until grep -q '^2 ' ran; do sleep 0.05; done
placectl submit -q $here -t 10m -- sh job.sh
placectl submit -q $here -t 10m -- sh job.sh
placectl submit -q 1:vnode=far -t 10m -- sh job.sh
until test -s connected; do sleep 0.05; done
`

// copyKind is a way to make a copy: take while the jobs wait, and put once they have run. The copy is at
// the path.
type copyKind struct{ name, take, put, path string }

var copyKinds = []copyKind{
	{"backup", "placectl backup -q x.db", "", "x.db"},
	{"salvaged", "placectl salvage -q cluster.db --to x.db", "", "x.db"},
	{"loaded", "placectl dump >d.jsonl", "placectl --db x.db load -q d.jsonl", "x.db"},
	{"hostile dump", `placectl dump | sed '/"key":\[1,1\]/{s/"host":"[^"]*"/"host":"evil.invalid"/; s/"boot":"[^"]*"/"boot":"x"/}' >d.jsonl
		grep -q evil.invalid d.jsonl`, "placectl --db x.db load -q d.jsonl", "x.db"},
	{"cp", "cp cluster.db x.db", "", "x.db"},
	{"cp -a", "cp -a cluster.db x.db; cp -a cluster.db.lock x.db.lock", "", "x.db"},
	{"rsync to another folder", "mkdir to; cp -a cluster.db to/.tmp; mv to/.tmp to/cluster.db", "", "to/cluster.db"},
	{"replaced", "placectl restore -q --no-hold --force early.db", "", "cluster.db.replaced-1"},
	{"cp back", "cp cluster.db x", "cp x cluster.db", "cluster.db"},
	{"restored by mv", "placectl backup -q x.db", "mv x.db cluster.db", "cluster.db"},
	{"cp, and mv back", "cp -a cluster.db x.db", "mv x.db cluster.db", "cluster.db"},
}

// lookers are verbs that read a copy; $copy is its path.
var lookers = []string{
	"status", "job list", "job list --all -o json", "show 3 -o json", "logs 1", "events", "explain 3", "when 1:ncpus=1",
	"query 'select * from jobs'", "usage", "history", "node list", "reservation list", "metrics", "top", "gantt",
	"check", "dump",
	"backup -", "wait 3 --timeout 100ms", "logs 2", "doctor", "config list", "report",
}

// copiesLook runs a verb on the copy. It may fail, but not crash.
const copiesLook = `
before=$(cksum <%[1]s)
status=0
placectl --db %[1]s %[2]s >out 2>err </dev/null || status=$?
test $status -lt 8 -o $status = 105 || { echo "status $status"; cat err; exit 1; }
grep -q 'nothing is executed' err || { echo "it does not say so:"; cat err; exit 1; }
test "$before" = "$(cksum <%[1]s)"
`

// copiesAdopt makes the copy a database of its own, in which the two jobs run once more.
const copiesAdopt = `
for j in 3 4; do eval before$j=$(grep -c "^$j $HOME/%[1]s$" ran || true); done
test -n "$(placectl --db %[1]s job list --state queued -o id)" # the copy is one in which jobs wait
for p in $(ps -eo pid,args | grep "$HOME/.* keep\|keep .*$HOME/" | grep -v grep | awk '{print $1}'); do kill -9 $p; done # else job 2 is its
placectl --db %[1]s adopt -q --no-hold
placectl --db %[1]s wait -q 3 4 --timeout 30s
sleep 0.3
for j in 3 4; do
	eval was=\$before$j
	test $(grep -c "^$j $HOME/%[1]s$" ran) = $((was + 1)) || { cat ran; exit 1; }
done
placectl --db %[1]s check -q
`

// TestCopies: verbs that look at a copy of a database execute nothing from it, connect to nothing, run no
// hook and change no byte, while an attendant and a keeper of the database live. Once the copy is adopted,
// each waiting job runs once. A database that was only moved goes on.
func TestCopies(t *testing.T) {
	program := commandPath(t)
	seed := *copiesSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-copies-seed=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, k := range sampled(r, copyKinds) {
		verbs := slices.Clone(lookers)
		r.Shuffle(len(verbs), func(i, j int) { verbs[i], verbs[j] = verbs[j], verbs[i] })
		if !*long {
			verbs = verbs[:8]
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, program)
			t.Cleanup(h.leaveNothing)
			h.run(copiesBegin + k.take)
			h.run("touch go; test " + k.path + " = cluster.db.replaced-1 || placectl wait -q 3 4 --timeout 30s\n" +
				k.put + "\nsleep 0.5")
			before := h.records(k.path)
			for _, verb := range verbs {
				h.run(fmt.Sprintf(copiesLook, k.path, verb))
			}
			time.Sleep(time.Second)
			if after := h.records(k.path); after != before {
				t.Errorf("after looking at the copy\n%s\nbefore\n%s", after, before)
			}
			h.run(fmt.Sprintf(copiesAdopt, k.path))
		})
	}
	for _, m := range sampled(r, moves) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if m.root && os.Getuid() != 0 {
				t.Skip("only root may mount")
			}
			h := newHome(t, program)
			t.Cleanup(h.leaveNothing)
			h.run(copiesBegin + m.script + `
				sleep 0.3
				for j in 2 3 4; do test $(grep -c "^$j " ran) = 1 || { cat ran; exit 1; }; done`)
		})
	}
}

// moves are changes after which a file is the database itself. Its jobs go on, each once.
var moves = []struct {
	name   string
	root   bool
	script string
}{
	{"moved", false, `
		for p in $(ps -eo pid,args | grep "$HOME/cluster.db" | grep -v grep | awk '{print $1}'); do kill -9 $p 2>/dev/null || true; done
		mkdir to; mv cluster.db to/other.db
		placectl --db to/other.db status 2>err; ! grep executed err
		touch go; placectl --db to/other.db wait -q 3 4 --timeout 30s`},
	{"compacted", false, `placectl compact -q; touch go; placectl wait -q 3 4 --timeout 30s`},
	{"all killed, as by a reboot", false, `
		for p in $(ps -eo pid,args | grep "$HOME/cluster.db" | grep -v grep | awk '{print $1}'); do kill -9 $p 2>/dev/null || true; done
		touch go; placectl status >/dev/null; placectl wait -q 3 4 --timeout 30s`},
	{"mounted under another path", true, `
		touch go; mkdir to
		unshare -m sh -euc 'mount --bind $HOME $HOME/to
			placectl --db $HOME/to/cluster.db status 2>err; ! grep executed err
			placectl --db $HOME/to/cluster.db submit -q --hold -- true
			placectl --db $HOME/to/cluster.db wait -q 3 4 --timeout 30s'
		placectl submit -q --hold -- true 2>err; ! grep executed err`},
	{"used by two hosts", false, `
		touch go; placectl wait -q 3 4 --timeout 30s
		placectl submit -q 1:vnode=far -t 10m -- sh job.sh
		PLACECTL_START=manual placectl work --once --host far.invalid
		placectl wait -q 6 --timeout 30s
		placectl submit -q $here -- sh job.sh; placectl wait -q 7 --timeout 30s`},
}

// sampled draws as many as the flag says, or takes all.
func sampled[T any](r *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if *long {
		return all
	}
	return all[:min(len(all), *copiesMost)]
}

// records returns what was executed, and what the database at a path has connected to and told the hook.
func (h *home) records(path string) (all string) {
	h.t.Helper()
	path = filepath.Join(h.dir, path)
	for _, name := range []string{"ran", "connected", "hooked"} {
		text, err := os.ReadFile(filepath.Join(h.dir, name))
		if err != nil {
			h.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name == "ran" || strings.Contains(line, "evil.invalid") ||
				slices.Contains(strings.Fields(strings.ReplaceAll(line, "//", " ")), path) ||
				strings.Contains(line, path+" ") {
				all += name + ": " + line
			}
		}
	}
	return all
}

// leaveNothing ends what the database has left behind.
func (h *home) leaveNothing() {
	cmd, _ := h.command(context.Background(), `touch go
		for with in TERM 0 0 0 0 0 0 0 0 0 KILL; do # what still writes keeps its folder from being removed
			left=$(ps -eo pid,args | grep "$HOME/" | grep -v grep | awk '{print $1}')
			for p in $left; do kill -$with $p 2>/dev/null || true; done
			test -n "$left" || break
			sleep 0.2
		done`)
	cmd.Run() //nolint:errcheck // what is left ends by itself
}
