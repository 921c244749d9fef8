// Bench measures a database in etcd, with three members on loopback, and the same database in a file,
// in one run:
//
//	(cd etcd; go run ./bench)          # all goals, at 10,000 and 100,000 nodes: a quarter of an hour
//	(cd etcd; go run ./bench -short)   # small: does it still run?
//
// It takes the newest etcd, or the installed one with -installed. "beyond the file" is the median of the differences
// between successive runs. Each of several machines is a folder of replicas of its own. The last column is the goal
// of the row that has it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/etcd/internal/members"
)

type bench struct {
	dir, program string
	beside       string // another program; "" for none
	hosts        string
	runs         int
	during       time.Duration // for rows with several clients
	behind       int           // entries of the longest catch-up
	only         string
	out          io.Writer
}

func main() {
	short := flag.Bool("short", false, "small sizes")
	only := flag.String("only", "", "only rows of this `kind`: pairs, entry, handles, many, join, behind")
	nodes := flag.Int("nodes", 0, "only with so many nodes")
	installed := flag.Bool("installed", false, "take the etcd on the PATH")
	beside := flag.String("beside", "", "another `placectl` with etcd, for the rows with many processes")
	behind := flag.Int("behind", 100_000, "the longest catch-up, in `entries`")
	members.Become()
	flag.Parse()
	b := &bench{runs: 61, during: 10 * time.Second, behind: *behind, out: os.Stdout}
	sizes := []int{10_000, 100_000}
	if *short {
		b.runs, b.during, b.behind, sizes = 3, 300*time.Millisecond, 20, []int{100}
	}
	if *nodes > 0 {
		sizes = []int{*nodes}
	}
	b.only, b.beside = *only, *beside
	self, err := os.Executable()
	for version, binary := range members.Versions() {
		if err == nil && (binary == self) != *installed {
			err = b.run(version, binary, sizes)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(version, etcd string, sizes []int) (err error) {
	if b.dir, err = os.MkdirTemp("", "replica-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.program = filepath.Join(b.dir, "placectl")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs grpcnotrace", "-o", b.program,
		"./cmd/placectl-etcd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in a release
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	c, err := members.Start(etcd, b.dir, 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	b.hosts = "etcd://" + strings.Join(c.Hosts, ",") + "/"
	fmt.Fprintf(b.out, "etcd %s, three members on loopback, their data in %s.\n\n", version, filepath.Dir(b.dir))
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "Load at the beginning: %s.\n\n", strings.Join(strings.Fields(string(load))[:3], " "))
	fmt.Fprintf(b.out, "| nodes | what | file | etcd | beyond the file | goal |\n|--:|---|--:|--:|--:|---|\n")
	for _, n := range sizes {
		if err := b.size(n); err != nil {
			return err
		}
		b.behind = min(b.behind, 5000) // the longest at first: a replica further behind starts from a snapshot
	}
	return nil
}

// row prints a line of the table.
func (b *bench) row(nodes int, what, file, etcd, beyond, goal string) {
	fmt.Fprintf(b.out, "| %d | %s | %s | %s | %s | %s |\n", nodes, what, file, etcd, beyond, goal)
}

// database is a database as a verb names it. In etcd each machine has its own folder of replicas.
type database struct{ name, replicas string }

func (b *bench) machine(name string, i int) database {
	return database{name, filepath.Join(b.dir, fmt.Sprintf("machine-%d", i))}
}

// verb runs a verb as a process, and returns what it printed and how long it took.
func (b *bench) verb(db database, args ...string) (string, time.Duration, error) {
	cmd := exec.Command(b.program, append([]string{"--db", db.name}, args...)...)
	cmd.Env = append(os.Environ(), "PLACECTL_REPLICAS="+db.replicas)
	var said, failed strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &failed
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, failed.String())
	}
	return said.String(), took, err
}

// size measures one number of nodes.
func (b *bench) size(n int) error {
	file := database{name: filepath.Join(b.dir, fmt.Sprintf("%d.db", n))}
	log := b.machine(b.hosts+fmt.Sprint(n), 0)
	nodes := fmt.Sprintf("n[%06d-%06d]", 1, n)
	for _, args := range [][]string{{"init"}, {"node", "add", nodes, "ncpus=64", "mem=256gb", "-o", "id"}} {
		if _, _, err := b.verb(file, args...); err != nil {
			return err
		}
	}
	if _, _, err := b.verb(log, "init", "--from", file.name); err != nil {
		return err
	}
	for _, row := range []struct {
		kind    string
		measure func(n int, file, log database) error
	}{{"pairs", b.pairs}, {"entry", b.entry}, {"handles", b.open}, {"many", b.many}, {"join", b.join},
		{"behind", b.catchUp}} {
		if b.only != "" && b.only != row.kind {
			continue
		}
		if err := row.measure(n, file, log); err != nil {
			return err
		}
	}
	return nil
}

// pairs measures verbs on the log and on the file, in turns.
func (b *bench) pairs(n int, file, log database) error {
	query := []string{"query", "SELECT count(*) FROM nodes WHERE state = 'free'"}
	place := []string{"place", "1", "-t", "1h"}
	for _, row := range []struct {
		what, goal string
		log, file  []string
	}{
		{"place, a process", "12 ms beyond; with 100,000 nodes at most 1.5 x of 10,000", place, place},
		{"query, a process", "12 ms beyond", query, query},
		{"query --stale any", "5 ms beyond", append([]string{"--stale", "any"}, query...), query},
	} {
		var ours, theirs, more []time.Duration
		for i := range b.runs + 1 {
			_, l, err := b.verb(log, row.log...)
			if err != nil {
				return err
			}
			_, f, err := b.verb(file, row.file...)
			if err != nil {
				return err
			}
			if i > 0 { // the first are not counted
				ours, theirs, more = append(ours, l), append(theirs, f), append(more, l-f)
			}
		}
		b.row(n, row.what, ms(median(theirs)), ms(median(ours)), ms(median(more)), row.goal)
	}
	return nil
}

// entry measures the length of the log entry for a placement on one node.
func (b *bench) entry(n int, _, log database) error {
	for range 2 { // the first transaction also makes new rows
		if _, _, err := b.verb(log, "place", "1", "-t", "1h"); err != nil {
			return err
		}
	}
	text, _, err := b.verb(log, "log", "-o", "csv", "--no-header")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	b.row(n, "entry of a placement on one node, bytes", "", strings.Split(lines[len(lines)-1], ",")[6], "", "600")
	return nil
}

// open measures several machines that place at once, each through a handle that stays open.
func (b *bench) open(n int, _, log database) error {
	for _, clients := range []int{1, 4, 16} {
		puts, err := b.puts(clients)
		if err != nil {
			return err
		}
		before := spent()
		done, worst, err := b.handles(log, clients)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("place through a handle that stays open, %d at once; bare puts before it", clients)
		rate := fmt.Sprintf("%s; %.0f/s", b.rate(done, worst, spent().since(before)), puts)
		b.row(n, what, "", rate, "", atOnce[clients])
	}
	return nil
}

// atOnce is the goal for several machines that place at once.
var atOnce = map[int]string{4: "half of the client of before, worst 1.5 s", 16: "likewise, worst 4 s"}

// many measures several machines that place at once, as fast as they can, each time with a process.
func (b *bench) many(n int, file, log database) error {
	for _, clients := range []int{4, 16} {
		var texts []string
		for _, name := range []string{file.name, log.name} {
			before := spent()
			done, worst, err := b.busy(name, clients)
			if err != nil {
				return err
			}
			texts = append(texts, b.rate(done, worst, spent().since(before)))
		}
		if b.beside != "" {
			if err := b.other(n, file, clients); err != nil {
				return err
			}
		}
		b.row(n, fmt.Sprintf("place, %d at once, a process each time", clients), texts[0], texts[1], "",
			atOnce[clients])
	}
	return nil
}

// other measures the same with another program, in a log of its own.
func (b *bench) other(n int, file database, clients int) error {
	ours := b.program
	b.program = b.beside
	defer func() { b.program = ours }()
	log := b.machine(fmt.Sprint(b.hosts, "beside-", n), 0)
	if clients == 4 { // the first
		if _, _, err := b.verb(log, "init", "--from", file.name); err != nil {
			return err
		}
	}
	before := spent()
	done, worst, err := b.busy(log.name, clients)
	if err == nil {
		b.row(n, fmt.Sprintf("the same with %s", b.beside), "", b.rate(done, worst, spent().since(before)), "", "")
	}
	return err
}

func (b *bench) busy(name string, clients int) (done int, worst time.Duration, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range clients { // each has its replica before the clock runs
		if _, _, err := b.verb(b.machine(name, i+1), "status"); err != nil {
			return 0, 0, err
		}
	}
	until := time.Now().Add(b.during)
	for i := range clients {
		all.Go(func() {
			for time.Now().Before(until) {
				_, took, failed := b.verb(b.machine(name, i+1), "place", "1", "-t", "1h", "-o", "id")
				mu.Lock()
				if failed != nil {
					err = failed
				}
				done, worst = done+1, max(worst, took)
				stop := err != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	all.Wait()
	return done, worst, err
}

// join measures the first query on a machine without a replica.
func (b *bench) join(n int, _, log database) error {
	var took []time.Duration
	for i := range min(b.runs, 5) {
		db := b.machine(log.name, 100+i)
		_, first, err := b.verb(db, "query", "SELECT 1")
		if err != nil {
			return err
		}
		_, then, err := b.verb(db, "query", "SELECT 1")
		if err != nil {
			return err
		}
		took = append(took, first-then)
	}
	b.row(n, "join: a replica from nothing", "", ms(median(took)), "", "0.1 s; with 100,000 nodes 1 s")
	return nil
}

// catchUp measures how much longer a query takes on a machine that is some entries behind.
func (b *bench) catchUp(n int, _, log database) error {
	late := b.machine(log.name, 200)
	for _, row := range []struct {
		entries, times int
		goal           string
	}{{1, min(b.runs, 15), "5 ms"}, {min(1000, b.behind), min(b.runs, 3), "100 ms"},
		{b.behind, 1, "1 s (100,000 entries)"}} {
		var list []time.Duration
		for range row.times {
			took, err := b.behindBy(row.entries, late, log)
			if err != nil {
				return err
			}
			list = append(list, took)
		}
		b.row(n, fmt.Sprintf("catch up with %d entries", row.entries), "", ms(median(list)), "", row.goal)
	}
	runs, took, err := b.long(log)
	b.row(n, "a transaction of 1 s beside 3 busy machines", "", fmt.Sprintf("%s, %d runs", ms(took), runs), "",
		"3 runs")
	return err
}

// behindBy returns how much longer a query takes than the next one if some entries were put before it.
func (b *bench) behindBy(entries int, late, log database) (time.Duration, error) {
	if _, _, err := b.verb(late, "query", "SELECT 1"); err != nil {
		return 0, err
	}
	if err := write(log, entries); err != nil {
		return 0, err
	}
	_, first, err := b.verb(late, "query", "SELECT 1")
	if err != nil {
		return 0, err
	}
	_, then, err := b.verb(late, "query", "SELECT 1")
	return first - then, err
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
