package place

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/explain"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Explain declares the verb explain.
func Explain() *session.Verb {
	return &session.Verb{
		Name:     "explain",
		Category: "Placing",
		Usage:    "explain why a job waits and what would help",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "SELECT | JOB", Kind: verbs.KindRequest, Optional: true}},
		Description: "For a request it shows the verdict and, for each chunk, why nodes cannot serve it now. For a " +
			"job it shows what\n" +
			"it waits for. It changes nothing. A single number means that job, if it exists; -l 12 makes " +
			"it a select. The exit\n" +
			"status is 0 whatever the verdict.\n\n" +
			"For a request, all nodes are counted by the first reason against them, with the earliest time at " +
			"which one of\n" +
			"them could serve it. Then come single changes with which it would start now or, if no nodes in " +
			"service could\n" +
			"hold it, could run at all.\n\n" +
			"For a running job it shows where it runs and why there; for a planned one, what it waits for. For a " +
			"job without\n" +
			"a plan it shows what keeps it (a hold, its begin time, other jobs, its class), its place in the " +
			"queue, its\n" +
			"expected start, and whether it could be placed now if no other job waited. With rules of preemption it " +
			"lists the\n" +
			"jobs that a cycle would stop for it now. 12[3] is a job of an array; a name stands for its job.",
		Flags: append(request.Flags(), request.OverLimits(),
			&cli.StringFlag{Name: "job", Usage: "explain job number `N`"},
			&cli.StringFlag{Name: "nodes", Usage: "explain these nodes: a `LIST` such as n[01-16]"},
			&cli.IntFlag{Name: "limit", Value: 20,
				Usage: "show the `N` best nodes of a policy that scores nodes; 0 for none"}),
		Access:   verbs.Reads,
		Revives:  true,
		Statuses: map[int]string{exit.Conflict: ""},
		Example: "placectl explain 16:ncpus=8 --place scatter:excl -t 4h\n" +
			"placectl explain -l 2:ngpus=1 --queue fast --nodes g[01-04]\n" +
			"placectl explain 8:ncpus=1 --policy priority --limit 5\n" +
			"placectl explain 12 -o json\nplacectl explain '40[3]'",
		Run: explainRequest,
	}
}

// explaining is the request or job to explain.
type explaining struct {
	request placer.Request
	job     string // the name of the job, "" for the request
	certain bool   // certainly a job, even if it does not exist
	ask     placer.Explain
	nodes   string
}

func explainRequest(r *session.Run, c *cli.Context) error {
	what, err := explainingOf(r, c)
	if err != nil {
		return err
	}
	return r.Ordered(&what.request, func() error { return explainIt(r, c, what) })
}

func explainIt(r *session.Run, c *cli.Context, what *explaining) (err error) {
	stops, err := wouldStop(r, what)
	if err != nil {
		return err
	}
	return r.View(func(tx *engine.Tx) error {
		if what.nodes != "" {
			if what.ask.Nodes, err = tx.Nodes().Resolve(what.nodes); err != nil {
				return err
			}
		}
		ex, err := explained(r, tx, what)
		if err != nil {
			return err
		}
		ex.Stops = stops
		if ex.Job != nil {
			if err := r.NoteUncycled(tx, ex.Job); err != nil {
				return err
			}
		}
		if ex.Explanation == nil && what.nodes != "" {
			return usage.Errorf("--nodes is for requests; job %s has its nodes", what.job)
		}
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		return explain.Print(r.Stdout, r.OutputOptions(), ex, tx.Nodes(), defs, tx.Now().Unix())
	})
}

// wouldStop finds the jobs that a cycle would stop for this job if rules allow it, by making a
// cycle and discarding it. Verbs within a transaction leave it out.
func wouldStop(r *session.Run, what *explaining) (stops []engine.MadeWay, err error) {
	if what.job == "" || r.Tx != nil {
		return nil, nil
	}
	var id uint64
	may := false
	err = r.View(func(tx *engine.Tx) error {
		if id, err = r.Names(tx).Next(what.job); err == nil {
			may, err = tx.Cycle().MayStop(id)
		}
		return nil // the explanation reports an unknown name
	})
	if err != nil || !may {
		return nil, nil
	}
	err = r.View(func(tx *engine.Tx) error {
		return tx.Suppose(func(tx *engine.Tx) error {
			stops, err = tx.Cycle().WouldStop(id)
			return err
		})
	})
	return stops, err
}

// explainingOf reads what to explain.
func explainingOf(r *session.Run, c *cli.Context) (*explaining, error) {
	what := new(explaining)
	var err error
	args := c.Args().Slice()
	if what.request, err = r.Request(c, args); err != nil {
		return what, err
	}
	what.nodes = c.String("nodes")
	if what.ask.Rank = c.Int("limit"); what.ask.Rank < 0 {
		return what, usage.Errorf("--limit must be 0 or more")
	}
	switch {
	case !c.IsSet("job"):
		// a number, or no select
		if len(args) == 1 && args[0] != "" && !strings.ContainsAny(args[0], "=:+") && !flagsGiven(c) {
			what.job = args[0]
		}
		return what, request.Any(c, &what.request)
	case givesRequest(c):
		return what, usage.Errorf("give either --job or a request")
	}
	what.job, what.certain = c.String("job"), true
	return what, nil
}

// givesRequest reports whether the command line contains a request.
func givesRequest(c *cli.Context) bool { return flagsGiven(c) || c.Args().Len() > 0 }

// flagsGiven reports whether there are request flags.
func flagsGiven(c *cli.Context) bool {
	return slices.ContainsFunc(request.Flags(), func(f cli.Flag) bool { return c.IsSet(f.Names()[0]) })
}

// explained explains the named job if it exists, and otherwise the request.
func explained(r *session.Run, tx *engine.Tx, what *explaining) (*engine.Explained, error) {
	if what.job != "" {
		id, err := r.Names(tx).Next(what.job)
		if err == nil {
			_, err = tx.Jobs().Get(id)
		}
		_, number := strconv.Atoi(what.job)
		isSelect := number == nil && !what.certain
		if err == nil {
			return tx.Ask().ExplainJob(id, what.ask)
		}
		if !isSelect || !errors.Is(err, engine.ErrNotFound) && id != 0 {
			return nil, err
		}
	}
	if err := localorder.Wanted(tx, &what.request); err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(what.job); err == nil {
		r.Notef("there is no job %d, so this explains a request for %s", n, text.Plural(n, "chunk"))
	}
	return tx.Ask().Explain(what.request, what.ask)
}
