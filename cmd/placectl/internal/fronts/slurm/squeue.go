package slurm

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// queued is a line of squeue: a job, or the waiting jobs of an array.
type queued struct {
	*fronts.Job
	folded []int // the indices of jobs that wait together; nil for a single job
	about  *fronts.About
	cal    *calendar
	people fronts.People
}

const squeueOptions = "A,account= a,all M,clusters= h,noheader help i,iterate= j,jobs= json l,long L,licenses= me " +
	"n,name= noconvert o,format= O,Format= p,partition= " +
	"P,priority q,qos= R,reservation= r,array s,steps? S,sort= start sibling t,states= u,user= usage v,verbose " +
	"V,version w,nodelist= only-job-state local federation hide array-unique notme yaml"

// squeue lists jobs.
func squeue(c *fronts.Call) error {
	set, rest, err := options(c, squeueOptions, fronts.Anywhere)
	if err != nil {
		return err
	}
	for _, no := range []string{"clusters", "iterate", "steps", "yaml", "notme"} {
		if set.Has(no) {
			return fronts.Failf(1, "squeue: error: --%s is not available here; use placectl job list", no)
		}
	}
	if set.Has("json") {
		return fronts.Failf(2, "squeue: error: --json is not available here; use placectl job list -o json")
	}
	if len(rest) > 0 {
		return fronts.Failf(1, "squeue: error: Unrecognized option: %s", rest[0])
	}
	want, err := wantedOf(c, set)
	if err != nil {
		return fronts.Failf(1, "squeue: error: %v", err)
	}
	l := new(listing[*queued])
	switch {
	case set.Has("Format"):
		l.cols, err = queueFields().named(set["Format"])
	default:
		l.lead, l.cols, err = queueFields().percent(queueFormat(set))
	}
	if err != nil {
		return fronts.Failf(1, "squeue: error: %v", err)
	}
	shows := func(heads []string) bool {
		return slices.ContainsFunc(l.cols, func(c column[*queued]) bool { return slices.Contains(heads, c.head) })
	}
	want.details, want.starts = shows(detailed), set.Has("start") || strings.Contains(set["sort"], "S") ||
		shows(foretold)
	var rows []*queued
	var about *fronts.About
	err = c.View(func(v fronts.View) (err error) {
		if about, err = v.About(); err != nil {
			return err
		}
		if err := want.knowsNodes(v); err != nil {
			return err
		}
		if rows, err = want.rows(c, v, about); err != nil {
			return err
		}
		unknown, err := want.strangers(c, v)
		for _, name := range unknown {
			fmt.Fprintf(c.Stderr, "squeue: error: Invalid user: %s\n", fronts.Word(name))
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := arrange(rows, set["sort"], set.Has("sort")); err != nil {
		return fronts.Failf(1, "squeue: error: %v", err)
	}
	if set.Has("long") && !set.Has("noheader") {
		fmt.Fprintln(c.Stdout, about.Now.In(c.Zone).Format(dated))
	}
	if !set.Has("noheader") {
		l.header()
	}
	for _, q := range rows {
		l.row(q)
	}
	_, err = io.WriteString(c.Stdout, l.b.String())
	return err
}

// dated is the format of the time above a long listing.
const dated = "Mon Jan 02 15:04:05 2006"

// foretold are the headings that show the expected starts of waiting jobs.
var foretold = []string{"START_TIME"}

// detailed are the headings that need further rows.
var detailed = []string{"WORK_DIR", "COMMAND", "STDOUT", "STDERR", "CPUS_PER_TASK"}

// queueFormat returns the format to use.
func queueFormat(set fronts.Set) string {
	switch {
	case set.Has("format"):
		return set["format"]
	case set.Has("only-job-state"):
		return "%.18i %.2t"
	case set.Has("start"):
		return "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
	case set.Has("long"):
		return "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
	}
	return "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
}

// wanted says which jobs squeue shows.
type wanted struct {
	refs                                                     []ref
	asked                                                    bool // for jobs
	states                                                   map[string]bool
	all                                                      bool
	stated                                                   bool
	users, names, queues, accounts, nodes, qos, reservations []string
	licenses                                                 []string
	unfold, start, details, starts                           bool
}

func wantedOf(c *fronts.Call, set fronts.Set) (w wanted, err error) {
	if w.asked = set["jobs"] != ""; w.asked {
		if w.refs, err = parseRefs(set["jobs"]); err != nil {
			return w, saying("Invalid job id: %s", set["jobs"])
		}
	}
	if w.stated = set.Has("states"); w.stated {
		if w.states, w.all, err = states(set["states"]); err != nil {
			return w, err
		}
	}
	list := func(name string) []string {
		if !set.Has(name) {
			return nil
		}
		return strings.Split(set[name], ",")
	}
	w.users, w.names, w.queues, w.accounts, w.qos = list("user"), list("name"), list("partition"), list("account"),
		list("qos")
	w.reservations, w.licenses = list("reservation"), list("licenses")
	if w.nodes, err = expand(set["nodelist"]); err != nil {
		return w, err
	}
	if set.Has("me") {
		w.users = []string{c.User}
	}
	w.unfold, w.start = set.Has("array", "array-unique"), set.Has("start")
	return w, nil
}

// rows returns the lines to show. It fails if a single requested job does not exist.
func (w *wanted) rows(c *fronts.Call, v fronts.View, about *fronts.About) (rows []*queued, err error) {
	sel := fronts.Selection{IDs: numbers(w.refs), Ended: w.stated || w.asked, Since: about.Now.Add(-about.Keep),
		Why: true, Starts: w.starts, Details: w.details}
	if w.asked && len(w.refs) == 0 {
		return nil, nil
	}
	if !w.asked {
		sel.IDs = nil
	}
	arrays, cal := make(map[string]*queued), calendarOf(c, about.Now)
	known := 0
	err = v.Jobs(sel, func(j *fronts.Job) error {
		if w.asked && !named(w.refs, j) || j.State.Over() && about.Now.Sub(j.End) >= about.Keep {
			return nil
		}
		known++
		if !w.shows(j, about) {
			return nil
		}
		q := &queued{Job: j, about: about, cal: cal, people: c.People}
		if j.Array == 0 || w.unfold || j.State >= fronts.Running {
			rows = append(rows, q)
			return nil
		}
		key := fmt.Sprint(j.Array, short(j), j.State == fronts.Held)
		if first := arrays[key]; first != nil {
			first.folded = append(first.folded, j.Index)
			return nil
		}
		q.folded = []int{j.Index}
		arrays[key] = q
		rows = append(rows, q)
		return nil
	})
	if err == nil && w.asked && known == 0 && len(w.refs) == 1 {
		err = fronts.Failf(1, "slurm_load_jobs error: Invalid job id specified")
	}
	return rows, err
}

// strangers returns the requested users that this machine does not know and that own no jobs.
func (w *wanted) strangers(c *fronts.Call, v fronts.View) (names []string, err error) {
	for _, name := range w.users {
		if _, err := strconv.ParseUint(name, 10, 32); err == nil || name == c.User {
			continue
		}
		if _, known := c.People.UID(name); !known {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil, nil
	}
	err = v.Jobs(fronts.Selection{Ended: true}, func(j *fronts.Job) error {
		names = slices.DeleteFunc(names, func(name string) bool { return name == j.User })
		return nil
	})
	return names, err
}

// knowsNodes fails if a requested node does not exist.
func (w *wanted) knowsNodes(v fronts.View) error {
	if w.nodes == nil {
		return nil
	}
	nodes, err := v.Nodes()
	if err != nil {
		return err
	}
	for _, name := range w.nodes {
		if !slices.ContainsFunc(nodes, func(n *fronts.Node) bool { return n.Name == name }) {
			return fronts.Failf(1, "squeue: error: Invalid node name %s", fronts.Word(name))
		}
	}
	return nil
}

// shows reports whether a job is requested.
func (w *wanted) shows(j *fronts.Job, about *fronts.About) bool {
	has := func(list []string, word string) bool { return list == nil || slices.Contains(list, word) }
	switch {
	case w.stated && !w.all && !w.states[short(j)]:
		return false
	case !w.stated && j.State.Over():
		return false
	case w.start && j.State >= fronts.Running:
		return false
	case !has(w.users, j.User) && !has(w.users, strconv.Itoa(j.UID)), !has(w.names, j.Name),
		!has(w.accounts, j.Account), !has(w.qos, j.Class), !has(w.reservations, j.Reservation):
		return false
	case w.licenses != nil && !slices.ContainsFunc(j.Licenses, func(l fronts.License) bool {
		return slices.Contains(w.licenses, l.Name)
	}):
		return false
	case !has(w.queues, about.QueueOf(j.Queue)):
		return false
	}
	return w.nodes == nil || slices.ContainsFunc(j.Nodes, func(n string) bool { return slices.Contains(w.nodes, n) })
}

// order compares lines of squeue by a letter of --sort.
var order = sync.OnceValue(func() map[byte]func(a, b *queued) int {
	return map[byte]func(a, b *queued) int{
		'i': func(a, b *queued) int { return cmp.Compare(a.ID, b.ID) },
		'A': func(a, b *queued) int { return cmp.Compare(a.ID, b.ID) },
		'P': func(a, b *queued) int { return cmp.Compare(a.partition(), b.partition()) },
		'j': func(a, b *queued) int { return cmp.Compare(a.Name, b.Name) },
		'u': func(a, b *queued) int { return cmp.Compare(a.User, b.User) },
		'a': func(a, b *queued) int { return cmp.Compare(a.Account, b.Account) },
		't': func(a, b *queued) int { return cmp.Compare(stage(a.Job), stage(b.Job)) },
		'T': func(a, b *queued) int { return cmp.Compare(stage(a.Job), stage(b.Job)) },
		'p': func(a, b *queued) int { return cmp.Compare(a.Priority, b.Priority) },
		'Q': func(a, b *queued) int { return cmp.Compare(a.Priority, b.Priority) },
		'S': func(a, b *queued) int { return a.Start.Compare(b.Start) },
		'e': func(a, b *queued) int { return a.End.Compare(b.End) },
		'V': func(a, b *queued) int { return a.Submit.Compare(b.Submit) },
		'l': func(a, b *queued) int { return cmp.Compare(a.Walltime, b.Walltime) },
		'M': func(a, b *queued) int { return cmp.Compare(a.elapsed(), b.elapsed()) },
		'C': func(a, b *queued) int { return cmp.Compare(a.Cores, b.Cores) },
		'D': func(a, b *queued) int { return cmp.Compare(a.nodeCount(), b.nodeCount()) },
		'm': func(a, b *queued) int { return cmp.Compare(a.NodeMem, b.NodeMem) },
		'N': func(a, b *queued) int { return cmp.Compare(fold(a.Nodes), fold(b.Nodes)) },
		'q': func(a, b *queued) int { return cmp.Compare(a.Class, b.Class) },
	}
})

// stage returns how far a job has come. Waiting jobs come first.
func stage(j *fronts.Job) int {
	if j.State < fronts.Running {
		return 0
	}
	return int(j.State)
}

// arrange sorts lines by --sort: letters separated by commas, with - to reverse.
func arrange(rows []*queued, by string, said bool) error {
	if !said {
		by = "P,t,-p"
	}
	var keys []func(a, b *queued) int
	for word := range strings.SplitSeq(by, ",") {
		word, down := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(word), "+"), "-")
		if len(word) != 1 || order()[word[0]] == nil {
			return saying("Invalid sort specification: %s", by)
		}
		key := order()[word[0]]
		if down {
			was := key
			key = func(a, b *queued) int { return was(b, a) }
		}
		keys = append(keys, key)
	}
	slices.SortStableFunc(rows, func(a, b *queued) int {
		for _, key := range keys {
			if n := key(a, b); n != 0 {
				return n
			}
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return nil
}
