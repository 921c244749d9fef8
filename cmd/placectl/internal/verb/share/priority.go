package share

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/subject"
	"github.com/urfave/cli/v2"
)

// Priority declares the verb priority.
func Priority() *session.Verb {
	return &session.Verb{
		Name:     "priority",
		Category: "Shares",
		Usage:    "set numbers that the order of waiting jobs uses",
		Description: "The setting job_priority orders waiting jobs. It is an expression of + - * / min max abs and " +
			"terms such as\n" +
			"PRIORITY, AGE, FAIRSHARE and QUEUE, or one of the names fifo, slurm and maui. This verb sets the " +
			"numbers of\n" +
			"QUEUE, CLASS, USER, GROUP and ACCOUNT. placectl explain JOB lists a job's terms.\n\n" +
			"The terms: PRIORITY (of submit), AGE (seconds waited, except while held, before the begin time or for\n" +
			"another job), XFACTOR (1+AGE/WALLTIME), SIZE (cpus), NODES (chunks), WALLTIME, DEADLINE (seconds " +
			"until it),\n" +
			"ASK.ncpus (of any consumable or pool), QUEUE CLASS USER GROUP ACCOUNT (the numbers that this " +
			"verb sets),\n" +
			"FAIRSHARE (0 to 1, by Fair Tree: the shares of account set, against decayed use, see half_life), " +
			"USAGE.user\n" +
			"(part of all use; also group, account, class, queue), TARGET.account (share minus use, in percent; " +
			"also\n" +
			"user, class), BYPASS (number of later submissions that have begun), TOTALCPUS TOTALNODES MAXQUEUE " +
			"MAXCLASS.\n" +
			"The expression is evaluated at whole multiples of priority_every. Division by 0 gives 0.",
		Example: "placectl priority set queue:urgent=100 user:ann=5\nplacectl config set 'job_priority=PRIORITY + " +
			"AGE/3600 + 10*QUEUE'\nplacectl config set job_priority=slurm",
		Verbs: []*session.Verb{
			{Name: "set", Usage: "set numbers; the default is 0", May: engine.Operators,
				Args: []verbs.Arg{{Name: "KIND:NAME=NUMBER", Many: true}}, Access: verbs.Writes, InTx: prioritySet,
				Example: "placectl priority set queue:urgent=100 user:ann=5"},
			{Name: "rm", Usage: "delete numbers", May: engine.Operators,
				Args: []verbs.Arg{{Name: "KIND=NAME", Many: true}}, Access: verbs.Writes, InTx: priorityRemove,
				Example: "placectl priority rm user=ann"},
			{Name: "list", Usage: "list the numbers that are set", May: engine.Anybody, Access: verbs.Reads,
				InTx:    priorityList,
				Example: "placectl priority list"},
		},
	}
}

func prioritySet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	return setNumbers(r, tx, c.Args().Slice(), func(word string) (string, int64, error) {
		at := strings.LastIndexByte(word, '=')
		if at < 0 {
			return "", 0, usage.Errorf("%s: write KIND:NAME=NUMBER, such as user:ann=5", text.Quoted(word))
		}
		n, err := strconv.ParseInt(word[at+1:], 10, 64)
		if err != nil {
			return "", 0, usage.Errorf("%s: %s is not a whole number", text.Quoted(word), text.Quoted(word[at+1:]))
		}
		return word[:at], n, nil
	})
}

func priorityRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	return setNumbers(r, tx, c.Args().Slice(), func(word string) (string, int64, error) { return word, 0, nil })
}

// setNumbers sets the numbers that words give, and shows all of them.
func setNumbers(r *session.Run, tx *engine.Tx, words []string, read func(string) (string, int64, error)) error {
	for _, word := range words {
		whose, n, err := read(word)
		if err != nil {
			return err
		}
		s, err := subject.Shared.Parse(whose)
		if err != nil {
			return err
		}
		if err := tx.Priorities().Set(engine.Number{Subject: s, Number: n}); err != nil {
			return err
		}
	}
	return priorityList(r, tx, nil)
}

func priorityList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "kind"}, {Name: "name"}, {Name: "number", Kind: output.Integer}}})
	err := tx.Priorities().Each(func(n engine.Number) error {
		p.Row(n.Kind.String(), n.Name, n.Number)
		return nil
	})
	if err != nil {
		return err
	}
	return p.Close()
}
