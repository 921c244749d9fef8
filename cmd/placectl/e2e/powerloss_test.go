//go:build faults

package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"go.etcd.io/bbolt"
)

// A power loss takes what was written but not synced: each sector or page by itself, in any order. What a
// failed sync has brought to disk is unknown, and the system does not write it again.

// platter is what is certainly on disk of a file, and what may be.
type platter struct {
	safe    []byte
	pending []operation // writes and truncations since the last sync
	dropped bool        // syncs are dropped: the canary
}

// take records an operation.
func (p *platter) take(op operation) {
	switch op.kind {
	case "write", "truncate":
		op.data = bytes.Clone(op.data)
		p.pending = append(p.pending, op)
	case "sync":
		if !p.dropped {
			p.safe = p.lose(func() bool { return true }, 512)
			p.pending = nil
		}
	}
}

// failSync writes some of the pending data to disk, and drops the rest.
func (p *platter) failSync(random *rand.Rand) {
	p.safe = p.lose(func() bool { return random.IntN(2) == 0 }, 4096)
	p.pending = nil
}

// lose returns the file after a power loss. keep decides for each pending sector.
func (p *platter) lose(keep func() bool, sector int) []byte {
	image := bytes.Clone(p.safe)
	for _, op := range p.pending {
		if op.kind == "truncate" {
			if size := int(op.at); keep() && size > len(image) {
				image = append(image, make([]byte, size-len(image))...)
			}
			continue
		}
		for from := 0; from < len(op.data); from += sector {
			part := op.data[from:min(from+sector, len(op.data))]
			if !keep() {
				continue
			}
			if end := int(op.at) + from + len(part); end > len(image) {
				image = append(image, make([]byte, end-len(image))...)
			}
			copy(image[int(op.at)+from:], part)
		}
	}
	return image
}

// image returns what a power loss leaves.
func (p *platter) image(random *rand.Rand) []byte {
	percent, sector := []int{0, 10, 50, 90, 100}[random.IntN(5)], []int{512, 4096}[random.IntN(2)]
	return p.lose(func() bool { return random.IntN(100) < percent }, sector)
}

// history runs verbs on a disk that loses power, again and again.
type history struct {
	t      *testing.T
	random *rand.Rand
	db     string
	disk   platter
	images [][]byte // taken while the present verb runs
	states []string // states that the database has had
	known  map[string]string
	acked  int // the last acknowledged state
	jobs   int
	wrong  []string
	seen   int
	faults bool
}

func newHistory(t *testing.T, random *rand.Rand) *history {
	theDisk.works(nil)
	h := &history{t: t, random: random, db: filepath.Join(t.TempDir(), "test.db"), known: map[string]string{},
		faults: true}
	for _, line := range []string{"init", "node add n[1-8] ncpus=64"} {
		if status, said := h.try(line); status != exit.OK {
			t.Fatalf("%s: %s", line, said)
		}
	}
	var err error
	if h.disk.safe, err = os.ReadFile(h.db); err != nil {
		t.Fatal(err)
	}
	h.states = []string{rawState(t, h.db)}
	return h
}

func (h *history) try(line string) (int, string) {
	c := newCapture(append([]string{"--db", h.db}, strings.Fields(line)...)...)
	code := c.run()
	return code, c.out.String() + c.err.String()
}

// line returns a verb to run.
func (h *history) line() string {
	job := strconv.Itoa(1 + h.random.IntN(h.jobs+1))
	switch h.random.IntN(8) {
	case 0, 1:
		return "place 1:ncpus=1"
	case 2:
		return "submit 1:ncpus=" + strconv.Itoa(1+h.random.IntN(64))
	case 3:
		return "release " + job
	case 4:
		return "node set n" + strconv.Itoa(1+h.random.IntN(8)) + " speed=" + strconv.Itoa(1+h.random.IntN(9))
	case 5:
		return "cycle"
	case 6:
		return "node list"
	}
	return "job list"
}

// step runs a verb, perhaps with faults, and verifies the images that power losses leave meanwhile. Each
// is a state that the database has had, no older than what was acknowledged.
func (h *history) step() {
	line, acked := h.line(), h.acked
	failing, again := -1, false
	if h.faults && h.random.IntN(2) == 0 {
		failing, again = h.random.IntN(60), h.random.IntN(3) == 0
	}
	syncs := h.random.IntN(3) == 0 // only syncs fail
	h.images = nil
	theDisk.works(func(op operation, do func() error) error {
		if op.path != h.db {
			return do()
		}
		if h.random.IntN(6) == 0 {
			h.images = append(h.images, h.disk.image(h.random))
		}
		if fails := op.number == failing || again && op.number > failing; failing >= 0 &&
			(fails || syncs && op.kind == "sync") {
			if op.kind == "sync" {
				h.disk.failSync(h.random)
			}
			return failsUndone.fail(h.random, op, do)
		}
		err := do()
		if err == nil {
			h.disk.take(op)
		}
		return err
	})
	status, said := h.try(line)
	h.images = append(h.images, h.disk.image(h.random))
	theDisk.works(nil)
	if status == exit.Damaged || status == exit.Crash || status == exit.Usage {
		h.t.Fatalf("%s: status %d: %s", line, status, said)
	}
	if now := rawState(h.t, h.db); now != h.states[len(h.states)-1] {
		h.states = append(h.states, now)
	}
	if status == exit.OK {
		h.acked = len(h.states) - 1
		if f := strings.Fields(said); strings.HasPrefix(line, "place") || strings.HasPrefix(line, "submit") &&
			len(f) > 0 {
			h.jobs++
		}
	}
	for i, image := range h.images {
		least := acked
		if i == len(h.images)-1 {
			least = h.acked // the verb has answered
		}
		h.verify(image, h.states[least:], line)
	}
}

// verify verifies an image.
func (h *history) verify(image []byte, allowed []string, line string) {
	h.seen++
	state, known := h.known[string(image)]
	if !known {
		path := h.db + ".image"
		if err := os.WriteFile(path, image, 0o600); err != nil {
			h.t.Fatal(err)
		}
		state = imageState(h.t, path)
		if h.known[string(image)] = state; len(h.known) > 200 {
			clear(h.known)
		}
		if h.random.IntN(100) == 0 && !h.disk.dropped {
			os.Remove(path + ".lock")
			c := newCapture("--db", path, "check", "--in-process")
			if status := c.run(); status != exit.OK && !strings.Contains(c.out.String()+c.err.String(), "meta page") {
				h.wrong = append(h.wrong, line+": check: "+c.out.String()+c.err.String())
			}
		}
	}
	if !slices.Contains(allowed, state) {
		h.wrong = append(h.wrong, fmt.Sprintf("%s: power lost: %s, which is none of %v", line, state, allowed))
	}
}

// imageState is rawState of a file that may contain anything.
func imageState(t *testing.T, path string) (state string) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // pages may lie beyond the end of the file
	defer func() {
		if p := recover(); p != nil {
			state = fmt.Sprint("unreadable: ", p)
		}
	}()
	b, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return "unreadable: " + err.Error()
	}
	b.Close()
	return rawState(t, path)
}

// TestPowerLoss: what a power loss leaves is what was acknowledged, or newer. That also holds if syncs and
// other operations have failed before.
func TestPowerLoss(t *testing.T) {
	images := 10_000
	if *long {
		images = 100_000
	}
	random := seeded(t)
	seen, steps := 0, 0
	for seen < images {
		h := newHistory(t, random)
		for range 60 {
			h.step()
			steps++
			if len(h.wrong) > 0 {
				t.Fatal(strings.Join(h.wrong, "\n"))
			}
		}
		seen += h.seen
	}
	t.Logf("%d images, %d verbs", seen, steps)
}

// TestPowerLossCanary: TestPowerLoss finds what it should. With syncs dropped it fails.
func TestPowerLossCanary(t *testing.T) {
	h := newHistory(t, seeded(t))
	h.disk.dropped = true
	for range 200 {
		if h.step(); len(h.wrong) > 0 {
			return
		}
	}
	t.Error("syncs were dropped, but nothing was lost")
}
