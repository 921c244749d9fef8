package engine

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
)

// recordedQueue is a case of the policies' data in which jobs wait for each other.
type recordedQueue struct {
	ID    string
	Nodes []struct {
		Name    string
		Procs   int64
		Running []struct{ Procs, End int64 }
	}
	Jobs []struct {
		ID       string
		Tasks    int
		Walltime int64
		Priority int64
	}
	Expect []struct {
		Job   string
		Start int64
		Nodes map[string]int
		OneOf []map[string]int `json:"one_of"`
	}
}

// TestRecordedQueue submits the jobs of the recorded cases that need a queue, and runs a cycle
// that plans them.
func TestRecordedQueue(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "placer", "testdata", "policies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var head struct{ ID string }
		if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
			t.Fatal(err)
		}
		if head.ID < "S52" || head.ID > "S55" {
			continue // about nodes alone: package placer's
		}
		var c recordedQueue
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		seen++
		t.Run(c.ID, c.run)
	}
	if lines.Err() != nil || seen < 2 {
		t.Fatalf("%d cases: %v", seen, lines.Err())
	}
}

func (c recordedQueue) run(t *testing.T) {
	db, _ := newDB(t)
	err := db.Update(func(tx *Tx) error {
		for _, n := range c.Nodes {
			node := &index.Node{Name: n.Name}
			node.Set(index.NCPUs, index.Value{Num: n.Procs})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
			for _, r := range n.Running {
				if _, err := tx.Jobs().Place(placer.Request{Select: "1:vnode=" + n.Name,
					Walltime: time.Duration(r.End) * time.Second}); err != nil {
					return err
				}
			}
		}
		numbers := make(map[string]uint64)
		for _, j := range c.Jobs {
			r := wholeNodes(j.Tasks, time.Duration(j.Walltime)*time.Second)
			r.Place = "free"
			list, err := tx.Jobs().Submit(Submission{Request: r, Priority: j.Priority})
			if err != nil {
				return err
			}
			numbers[j.ID] = list[0].ID
		}
		if _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); err != nil {
			return err
		}
		for _, want := range c.Expect {
			j, err := tx.Jobs().Get(numbers[want.Job])
			if err != nil {
				return err
			}
			names, err := tx.Nodes().Names(j.AllNodes())
			if err != nil {
				return err
			}
			fits := false
			for _, nodes := range append(want.OneOf, want.Nodes) {
				same := len(nodes) == len(names)
				for _, name := range names {
					same = same && nodes[name] > 0
				}
				fits = fits || same
			}
			if kernel.Unix(j.Start)-tx.k.Now != want.Start || !fits {
				t.Errorf("job %s starts at %d on %v, want %d on %v", want.Job, kernel.Unix(j.Start)-tx.k.Now, names,
					want.Start, want.Nodes)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
