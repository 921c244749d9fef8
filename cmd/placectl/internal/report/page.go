// Package report makes a page about a cluster: which job has which node when, which jobs wait and why,
// how much was used, and how long users waited. The page is one file that needs no other file and no
// network. The package knows no verb, no store and no clock: its data come from a store (internal/daily)
// or from a simulation.
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/trends"
)

// Page is the content of a page. Instants are Unix seconds.
type Page struct {
	Title    string
	Now      int64
	From, To int64       // of the picture, which shows plans, too
	Until    int64       // end of the time that it is about
	GoesOn   bool        // the time has not ended: what waits is shown
	Tiles    [][2]string // a number, and what it counts
	Nodes    []Node
	Jobs     []Job // jobs and reservations with nodes in the window, past or planned
	Queue    []Waiting
	Series   *trends.Series
	Tables   []Table
	Supposed *Supposed // nil if no change is supposed
}

// Table has what users, groups or others used in the period, and their waits.
type Table struct {
	By     string // the heading of their names
	Groups []trends.Group
}

// Tables sums jobs up by user, group and queue, and first by what is asked for. It leaves out what has no names.
func Tables(jobs []trends.Job, from, to int64, first string) (out []Table) {
	for _, by := range []string{first, "user", "group", "queue"} {
		groups := trends.Waits(jobs, from, to, trends.By(by))
		named := len(groups) > 1 || len(groups) == 1 && groups[0].Name != ""
		if named && !slices.ContainsFunc(out, func(t Table) bool { return t.By == by }) {
			out = append(out, Table{by, groups})
		}
	}
	return out
}

// Supposed compares the waits of waiting jobs with and without a change.
type Supposed struct {
	What string // the difference, in the words of the command line
	Rows []SupposedRow
}

// SupposedRow is the row of all jobs, of a class or of a user. Waits are means in seconds.
type SupposedRow struct {
	Of, Name              string
	Jobs                  int
	Before, After         int64
	LateBefore, LateAfter int // jobs that have not started by the end
}

// Node is a node's name and whether it is up.
type Node struct {
	Name string
	Up   bool
}

// Job is a job, or a reservation, on nodes.
type Job struct {
	ID                 uint64
	Name, User, Queue  string
	State              string
	Submit, Start, End int64
	CPUs               int64
	Exit               int
	Nodes              []uint32 // their positions among the nodes, ascending
}

// Waiting is a waiting job.
type Waiting struct {
	ID                     uint64
	Name, User, State, Why string
	Expected               int64 // 0 if unknown
}

//go:embed page.html
var template string

// words numbers words that occur often.
type words struct {
	list []string
	at   map[string]int
}

func (w *words) number(s string) int {
	n, ok := w.at[s]
	if !ok {
		if w.at == nil {
			w.at = make(map[string]int)
		}
		n = len(w.list)
		w.at[s], w.list = n, append(w.list, s)
	}
	return n
}

// HTML returns the page. Names cannot escape from their places in it: the data are JSON in which nothing
// can end a script, and are shown as text.
func (p *Page) HTML() ([]byte, error) {
	var users, queues, states words
	jobs := make([][]any, len(p.Jobs))
	for i := range p.Jobs {
		j := &p.Jobs[i]
		jobs[i] = []any{j.ID, j.Name, users.number(j.User), queues.number(j.Queue), states.number(j.State), j.Submit,
			j.Start, j.End, j.CPUs, j.Exit, ranges(j.Nodes)}
	}
	nodes := make([][2]string, len(p.Nodes))
	for i, n := range p.Nodes {
		nodes[i] = [2]string{n.Name, map[bool]string{true: "up", false: "out"}[n.Up]}
	}
	queue := make([][]any, len(p.Queue))
	for i, q := range p.Queue {
		queue[i] = []any{q.ID, q.Name, q.User, q.State, q.Why, q.Expected}
	}
	used, waiting := make([]float64, 0, len(p.Series.Points)), make([]float64, 0, len(p.Series.Points))
	for i := range p.Series.Points {
		used, waiting = append(used, round(p.Series.Points[i].Used)), append(waiting, round(p.Series.Points[i].Waiting))
	}
	tables := []any{}
	for _, t := range p.Tables {
		rows := [][]any{}
		for _, g := range t.Groups {
			rows = append(rows, []any{g.Name, round(g.CoreHours), g.Jobs, round(g.Wait.Mean), g.Wait.P50, g.Wait.P90,
				g.Wait.P99, g.Wait.Max, round(g.Slowdown.P50)})
		}
		tables = append(tables, map[string]any{"by": t.By, "rows": rows})
	}
	var supposed any
	if p.Supposed != nil {
		rows := [][]any{}
		for _, r := range p.Supposed.Rows {
			rows = append(rows, []any{r.Of, r.Name, r.Jobs, r.Before, r.After, r.LateBefore, r.LateAfter})
		}
		supposed = map[string]any{"what": p.Supposed.What, "rows": rows}
	}
	tiles := p.Tiles
	if tiles == nil {
		tiles = [][2]string{}
	}
	data, err := json.Marshal(map[string]any{"now": p.Now, "undated": p.Series.Undated, "from": p.From, "to": p.To,
		"until": p.Until, "goesOn": p.GoesOn, "tiles": tiles, "nodes": nodes,
		"users": append([]string{}, users.list...), "queues": append([]string{}, queues.list...),
		"states": append([]string{}, states.list...), "jobs": jobs,
		"queue": queue, "tables": tables, "supposed": supposed,
		"series": map[string]any{"from": p.Series.From, "step": p.Series.Step, "cpus": p.Series.CPUs, "used": used,
			"waiting": waiting}})
	if err != nil {
		return nil, err
	}
	zone := " Times are those of your browser's zone."
	if p.Series.Undated {
		zone = ""
	}
	var b bytes.Buffer
	_, err = strings.NewReplacer("{{.Title}}", html.EscapeString(p.Title), "{{.Zone}}", zone, "{{.Data}}",
		string(data)).WriteString(&b, template)
	return b.Bytes(), err
}

// ranges returns ascending numbers as pairs of the first and the last of each run of successive ones.
func ranges(list []uint32) []uint32 {
	out := []uint32{}
	for _, n := range list {
		if k := len(out); k > 0 && out[k-1]+1 == n {
			out[k-1] = n
		} else {
			out = append(out, n, n)
		}
	}
	return out
}

func round(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }
