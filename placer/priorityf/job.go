package priorityf

import (
	"math"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/placer/syntax"
)

// A job priority orders waiting jobs: the higher the value, the sooner the job has its turn.
// It is written in the language of priority functions of nodes, with its own terms:
//
//	PRIORITY     the priority that the job was submitted with
//	AGE          seconds that it has waited, except while it was held, waited for its begin time or another job, or
//	             was held back by a limit
//	XFACTOR      1 + AGE/WALLTIME
//	SIZE NODES   cpus, and chunks, that it asks for (one with place=pack)
//	WALLTIME     seconds that it asks for
//	DEADLINE     seconds until its deadline; MaxFreeTime if it has none
//	ASK.res      what it asks for of a consumable or a pool: a size in MB
//	QUEUE CLASS USER GROUP ACCOUNT   the number set on its queue, class, user, group or account, else 0
//	FAIRSHARE    its user's rank by Fair Tree, 0 to 1
//	USAGE.kind   its user's, group's, account's, class's or queue's part of all use, which decays; 0 to 1
//	TARGET.kind  the share of its user, account or class less that part, in percent
//	BYPASS       how many jobs submitted later have begun before it
//	TOTALCPUS TOTALNODES MAXQUEUE MAXCLASS   of the cluster: cpus and nodes, and the largest numbers on queues and
//	                                         classes
//
// Whatever the values, the result is a finite number.

// DefaultJob is the default order of jobs. It needs no evaluation: jobs are stored in that order.
const DefaultJob = "PRIORITY"

// jobPresets are named expressions.
var jobPresets = []struct{ name, text string }{
	{"fifo", "0"},
	{"slurm", "1000*min(1, AGE/604800) + 10000*FAIRSHARE + 1000*(NODES/TOTALNODES + SIZE/TOTALCPUS)/2 + " +
		"1000*QUEUE/MAXQUEUE + 1000*CLASS/MAXCLASS"},
	{"maui", "PRIORITY + AGE/60 + 10*XFACTOR + QUEUE + CLASS + USER + GROUP + ACCOUNT + TARGET.user"},
}

// JobTermKind is the kind of a term of a job priority.
type JobTermKind uint8

// The terms.
const (
	JobTermPriority JobTermKind = iota
	JobTermAge
	JobTermXFactor
	JobTermSize
	JobTermNodes
	JobTermWalltime
	JobTermDeadline
	JobTermFairshare
	JobTermBypass
	JobTermTotalCPUs
	JobTermTotalNodes
	JobTermMaxQueue
	JobTermMaxClass
	JobTermAsk    // of a resource or pool, by its name
	JobTermNumber // the number set on one of a kind
	JobTermUsage  // of a kind
	JobTermTarget // of a kind
)

// JobTerm is a term in an expression.
type JobTerm struct {
	Kind JobTermKind
	Of   string       // the resource or pool
	One  float64      // how much of a resource counts as 1
	Whom subject.Kind // of the number, use or share
}

// targets are the kinds with shares.
var targets = subject.Kinds{subject.User, subject.Account, subject.Class}

var jobWords = []struct {
	name string
	kind JobTermKind
}{
	{"PRIORITY", JobTermPriority}, {"AGE", JobTermAge}, {"XFACTOR", JobTermXFactor}, {"SIZE", JobTermSize},
	{"NODES", JobTermNodes},
	{"WALLTIME", JobTermWalltime}, {"DEADLINE", JobTermDeadline}, {"FAIRSHARE", JobTermFairshare},
	{"BYPASS", JobTermBypass},
	{"TOTALCPUS", JobTermTotalCPUs}, {"TOTALNODES", JobTermTotalNodes}, {"MAXQUEUE", JobTermMaxQueue},
	{"MAXCLASS", JobTermMaxClass},
}

// JobFunction is a parsed job priority. It does not change.
type JobFunction struct {
	f     Function
	terms []JobTerm
	names []string // as in the normal form
}

// ParseJob reads a job priority, or the name of a preset. The error is a *syntax.Error. It knows the
// resources and pools of this moment.
func ParseJob(defs *index.Defs, text string) (*JobFunction, error) {
	for _, preset := range jobPresets {
		if strings.EqualFold(preset.name, strings.TrimSpace(text)) {
			text = preset.text
		}
	}
	p := &JobFunction{}
	r := exprReader{Scanner: syntax.New(defs, "job_priority", text)}
	r.term = func(at int, word string) (expr, error) { return p.term(&r, at, word) }
	f, err := r.whole(DefaultJob + " + AGE/3600")
	if err != nil {
		return nil, err
	}
	p.f = *f
	return p, nil
}

// IsDefault reports whether it is the order in which jobs are stored anyway.
func (p *JobFunction) IsDefault() bool { return p.f.text == DefaultJob }

// String returns the normal form. ParseJob reads it back.
func (p *JobFunction) String() string { return p.f.text }

// Terms lists its terms, each once. Eval takes their values in this order.
func (p *JobFunction) Terms() []JobTerm { return p.terms }

// Speaks reports whether the function has a term of one of the kinds.
func (p *JobFunction) Speaks(kinds ...JobTermKind) bool {
	return slices.ContainsFunc(p.terms, func(t JobTerm) bool { return slices.Contains(kinds, t.Kind) })
}

// Names reports whether the function mentions a resource or a pool.
func (p *JobFunction) Names(name string) bool {
	return slices.ContainsFunc(p.terms, func(t JobTerm) bool {
		return t.Kind == JobTermAsk && strings.EqualFold(t.Of, name)
	})
}

// Eval returns the value for a job whose terms have these values.
func (p *JobFunction) Eval(values []float64) float64 {
	return p.f.Eval(&Node{Values: values})
}

// Parts returns the terms of the outermost sum and their values.
func (p *JobFunction) Parts(values []float64) []Term { return p.f.Terms(&Node{Values: values}) }

// term reads a word that is not a function. The reader is behind it.
func (p *JobFunction) term(r *exprReader, at int, word string) (expr, error) {
	upper := strings.ToUpper(word)
	for _, w := range jobWords {
		if upper == w.name {
			return p.slot(JobTerm{Kind: w.kind}, upper), nil
		}
	}
	if kind := subject.Shared.Named(word); kind != 0 {
		return p.slot(JobTerm{Kind: JobTermNumber, Whom: kind}, upper), nil
	}
	switch upper {
	case "ASK":
		return p.asked(r)
	case "USAGE":
		return p.kind(r, upper, JobTermUsage, subject.Shared)
	case "TARGET":
		return p.kind(r, upper, JobTermTarget, targets)
	}
	known := []string{"ASK", "USAGE", "TARGET", "min", "max", "abs"}
	for _, w := range jobWords {
		known = append(known, w.name)
	}
	for _, k := range subject.Shared {
		known = append(known, strings.ToUpper(k.String()))
	}
	return expr{}, r.Fail(at, "no term %q%s", word, index.DidYouMean(word, known))
}

// slot returns a term as an operand: the place of its value among all values.
func (p *JobFunction) slot(t JobTerm, name string) expr {
	i := slices.Index(p.names, name)
	if i < 0 {
		i = len(p.names)
		p.names, p.terms = append(p.names, name), append(p.terms, t)
	}
	return expr{op: opValue, res: index.ResID(i), weight: 1, name: name}
}

// kind reads the .user after USAGE or TARGET.
func (p *JobFunction) kind(r *exprReader, word string, k JobTermKind, kinds subject.Kinds) (expr, error) {
	if r.Peek() != '.' {
		return expr{}, r.expected(". and one of " + kinds.String() + " after " + word)
	}
	r.At++
	start := r.At
	for syntax.IsLetter(r.Peek()) {
		r.At++
	}
	whom := kinds.Named(r.Text[start:r.At])
	if whom == 0 {
		return expr{}, r.Fail(start, "no %s of %q: there are %s", word, r.Text[start:r.At], kinds)
	}
	return p.slot(JobTerm{Kind: k, Whom: whom}, word+"."+whom.String()), nil
}

// asked reads the .name after ASK: of a consumable or a pool.
func (p *JobFunction) asked(r *exprReader) (expr, error) {
	if r.Peek() != '.' {
		return expr{}, r.expected(". and a consumable resource or a pool after ASK")
	}
	r.At++
	start := r.At
	name := r.Name()
	if name == "" {
		return expr{}, r.expected("a consumable resource or a pool after ASK.")
	}
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '-') {
		if pool, ok := r.Defs.Pool(name[:end]); ok {
			r.At = start + end
			return p.slot(JobTerm{Kind: JobTermAsk, Of: pool, One: 1}, "ASK."+pool), nil
		}
		if def, ok := r.Defs.Lookup(name[:end]); ok && def.Consumable {
			r.At = start + end
			return p.slot(JobTerm{Kind: JobTermAsk, Of: def.Name, One: counting(opConfigured, def, "").num},
				"ASK."+def.Name), nil
		}
	}
	return expr{}, r.noConsumable(start, name)
}

// JobFacts are the values of terms that come from a waiting job itself.
type JobFacts struct {
	Priority, Age, Walltime, Size, Nodes int64
	Deadline                             int64 // seconds until it; 0 if there is none
}

// Fact returns the value of a term that comes from the job itself; ok is false for other
// terms.
func (t JobTerm) Fact(f *JobFacts) (v float64, ok bool) {
	switch t.Kind {
	case JobTermPriority:
		return float64(f.Priority), true
	case JobTermAge:
		return float64(f.Age), true
	case JobTermXFactor:
		return 1 + float64(f.Age)/math.Max(1, float64(f.Walltime)), true
	case JobTermSize:
		return float64(f.Size), true
	case JobTermNodes:
		return float64(f.Nodes), true
	case JobTermWalltime:
		return float64(f.Walltime), true
	case JobTermDeadline:
		if f.Deadline == 0 {
			return MaxFreeTime, true
		}
		return float64(min(f.Deadline, MaxFreeTime)), true
	}
	return 0, false
}
