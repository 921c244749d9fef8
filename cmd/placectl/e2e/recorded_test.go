package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
)

// recorded is the part of a recorded OpenPBS scenario that a command line can express. Package placer has
// all scenarios, and describes them.
type recorded struct {
	ID        string
	Resources map[string]string
	Config    struct {
		NodeGroupKey   []string `json:"node_group_key"`
		DoNotSpanPsets bool     `json:"do_not_span_psets"`
	}
	Queues []string
	Nodes  []struct {
		Name     string
		Res      map[string]string
		Queue    string
		Priority int
		State    string
		BusyAt   int64 `json:"busy_at"`
	}
	Ops []struct {
		Op, Job, Select, Place, Queue string
		Walltime                      int64
	}
	Expect     []outcome
	Documented json.RawMessage `json:"expect_documented"`
	Buckets    []struct {
		Name        string
		Total, Free int
		Later       int `json:"busy_later"`
		Busy        int
	} `json:"expect_buckets"`
	Sets []struct {
		Name        string
		Total, Free int
	} `json:"expect_psets_in_order"`
}

type outcome struct {
	Path, Status string
	ExecVNode    string `json:"exec_vnode"`
}

// every selects the scenarios that run through processes: all of them would take a minute.
const every = 6

// TestRecorded replays some of the recorded scenarios with the command itself: init, import, reserve,
// place, and the lists.
func TestRecorded(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "placer", "testdata", "scenarios.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for i := 0; lines.Scan(); i++ {
		var s recorded
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if i%every != 0 || len(s.Ops) == 0 || notFollowed(s.ID) {
			continue
		}
		if len(s.Documented) > 0 && s.Documented[0] == '[' && !waitsInVain(s.ID) {
			s.Expect = nil
			if err := json.Unmarshal(s.Documented, &s.Expect); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(s.ID, func(t *testing.T) { s.replay(t) })
	}
}

// notFollowed reports whether package placer does not follow a record either. The reasons are there.
func notFollowed(id string) bool {
	return slices.Contains([]string{"zero-request", "two-chunks-share-pool-not-detected-never", "unset-string-order-A",
		"unset-consumable-order-A"}, id)
}

// waitsInVain reports whether package placer follows a record's recorded outcome instead of the documented
// one. The reasons are there.
func waitsInVain(id string) bool {
	return slices.Contains([]string{"rand-pset-51", "rand-pset-83", "rand-pset-86", "rand-group-2", "rand-group-27"},
		id)
}

// placedAnyway are jobs recorded as waiting that package placer places. What comes after them is not
// compared.
var placedAnyway = map[string]string{"rand-plain-52": "j0", "rand-plain-77": "j1", "rand-plain-78": "j2",
	"rand-plain-146": "j4",
	"rand-queue-37":  "j3", "rand-pset-87": "j0", "rand-pset-95": "j0", "rand-group-24": "j0", "rand-group-35": "j0",
	"rand-normal-4": "j0", "rand-normal-11": "j2"}

func (s *recorded) replay(t *testing.T) {
	t.Setenv("PLACECTL_NOW", "2026-11-20T10:00:00Z")
	sh := &shell{t, commandPath(t), filepath.Join(t.TempDir(), "test.db")}
	sh.must("", s.initArgs()...)
	for _, q := range s.Queues {
		sh.must("", "queue", "add", q)
	}
	sh.must(s.nodeFile(t), "node", "import", "-")
	planned := false
	for i, n := range s.Nodes {
		if n.BusyAt > 0 {
			planned = true
			sh.must("", "reserve", fmt.Sprintf("r%d", i), "--nodes", n.Name, "--start",
				fmt.Sprintf("now+%ds", n.BusyAt), "-t", "9000h")
		}
	}
	s.compareLists(t, sh)
	for i, op := range s.Ops {
		args := []string{"place", "-l", op.Select, "--place", op.Place, "-t", fmt.Sprint(op.Walltime), "-o", "json"}
		if op.Queue != "" {
			args = append(args, "--queue", op.Queue)
		}
		want := s.Expect[i]
		got := s.place(t, sh, args)
		if op.Job == placedAnyway[s.ID] {
			if got.Status != "RUN" {
				t.Errorf("%s %s: %s, want RUN", op.Select, op.Place, got.Status)
			}
			return
		}
		if want.Path == "normal" {
			if want.Path = "node"; planned {
				return // the record's normal path runs jobs into planned events
			}
		}
		if want.Status != "RUN" {
			want.Path = ""
		}
		if want.Status == "NEVER_RUN" && got.Status == "NOT_RUN" || want.Status == "NOT_RUN" &&
			got.Status == "NEVER_RUN" {
			want.Status = got.Status // package placer decides which is right, with an oracle
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s (-recorded +ours)\n%s", op.Select, op.Place, diff)
		}
	}
	sh.must("", "check")
}

func (s *recorded) initArgs() []string {
	args := []string{"init", "--any-time"}
	var names []string
	for name := range s.Resources {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		args = append(args, "--resource", name+"="+s.Resources[name])
	}
	var signature []string
	for _, b := range s.Buckets {
		for part := range strings.SplitSeq(b.Name, ":") {
			if name, _, _ := strings.Cut(part, "="); name != "queue" && name != "priority" &&
				!slices.Contains(signature, name) {
				signature = append(signature, name)
			}
		}
	}
	args = append(args, "--signature", strings.Join(signature, ","), "--group-key",
		strings.Join(s.Config.NodeGroupKey, ","))
	if s.Config.DoNotSpanPsets {
		args = append(args, "--set", "do_not_span_sets=true")
	}
	return args
}

func (s *recorded) nodeFile(t *testing.T) string {
	var b strings.Builder
	for _, n := range s.Nodes {
		line, err := json.Marshal(map[string]any{"name": n.Name, "queue": n.Queue, "priority": n.Priority,
			"state": n.State, "resources": n.Res})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// place runs one placement and parses its answer.
func (s *recorded) place(t *testing.T, sh *shell, args []string) outcome {
	cmd, out, complaint := sh.command("", args...)
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	switch cmd.ProcessState.ExitCode() {
	case exit.OK:
		var answer outcome
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatalf("the answer %s is no JSON: %v", out, err)
		}
		answer.Status = "RUN"
		return answer
	case exit.NotNow:
		return outcome{Status: "NOT_RUN"}
	case exit.Never:
		return outcome{Status: "NEVER_RUN"}
	case exit.Usage:
		return outcome{Status: "INVALID_PLACE"}
	}
	t.Fatalf("%v: %v: %s", args, err, complaint)
	return outcome{}
}

func (s *recorded) compareLists(t *testing.T, sh *shell) {
	var buckets []struct {
		Signature, Queue                   string
		Priority, Total, Free, Later, Busy int
	}
	if err := json.Unmarshal([]byte(sh.must("", "bucket", "list", "-o", "json")), &buckets); err != nil {
		t.Fatal(err)
	}
	want, got := make(map[string][4]int), make(map[string][4]int)
	for _, b := range s.Buckets {
		want[sortedName(b.Name)] = [4]int{b.Total, b.Free, b.Later, b.Busy}
	}
	for _, b := range buckets {
		name := b.Signature
		if b.Priority != 0 {
			name += fmt.Sprintf(":priority=%d", b.Priority)
		}
		if b.Queue != "" {
			name += ":queue=" + b.Queue
		}
		got[sortedName(name)] = [4]int{b.Total, b.Free, b.Later, b.Busy}
	}
	if diff := cmp.Diff(want, got); diff != "" && len(want) > 0 {
		t.Errorf("buckets (-recorded +ours)\n%s", diff)
	}
	var sets []struct {
		Set         string
		Total, Free int
	}
	if err := json.Unmarshal([]byte(sh.must("", "set", "list", "-o", "json")), &sets); err != nil {
		t.Fatal(err)
	}
	for i, set := range s.Sets {
		if i >= len(sets) || sets[i].Set != set.Name || sets[i].Total != set.Total || sets[i].Free != set.Free {
			t.Errorf("set %d is not %+v in %+v", i, set, sets)
		}
	}
}

// sortedName sorts the parts of a bucket's name, so that names can be compared.
func sortedName(name string) string {
	parts := strings.Split(name, ":")
	slices.Sort(parts)
	return strings.Join(parts, ":")
}
