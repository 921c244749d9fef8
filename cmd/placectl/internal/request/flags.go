package request

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer"
	"github.com/urfave/cli/v2"
)

// Headings of rarer flags: help lists those under them, and --all explains them.
const (
	ItsNodes        = "nodes"
	Whose           = "owner"
	itsSurroundings = "script and environment"
	itsOutput       = "output and mail"
	ItsEnd          = "end and retries"
	ItsTurn         = "turn"
)

// Flags returns the flags of a request, the same in every verb that takes one.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "select", Aliases: []string{"l"}, Usage: "resources `S`, such as 2:ncpus=4:mem=8gb"},
		&cli.StringFlag{Category: ItsNodes, Name: "place", Usage: "placement `P`: free|pack|scatter|vscatter, then " +
			":excl|:shared|:exclhost, then :group=RES"},
		&cli.StringFlag{Name: "walltime", Aliases: []string{"t"},
			Usage: "maximum run time `D`, such as 1h30m (default_walltime)"},
		&cli.StringFlag{Name: "name", Usage: "`NAME` of the job"},
		&cli.StringFlag{Category: Whose, Name: "user", Usage: "`USER` of the job (you)"},
		&cli.StringFlag{Category: Whose, Name: "group", Usage: "`GROUP` of the job"},
		&cli.StringFlag{Category: Whose, Name: "account", Usage: "`ACCOUNT` of the job"},
		&cli.StringFlag{Category: ItsNodes, Name: "queue", Usage: "`QUEUE` to submit to"},
		&cli.StringFlag{Category: Whose, Name: "class", Usage: "`CLASS` of the job"},
		verbs.Choice(&cli.StringFlag{Category: ItsNodes, Name: "policy",
			Usage: "order of nodes, `POLICY` (the queue's or the database's)"}, policies()...),
		&cli.StringFlag{Category: ItsNodes, Name: "prefer",
			Usage: "nodes that policy priority prefers: features and conditions, `F,mem>=64gb`"},
		&cli.StringFlag{Category: ItsNodes, Name: "exclude", Usage: "avoid `NODES`, such as n[1-4]"},
		verbs.Choice(&cli.StringFlag{Category: ItsNodes, Name: "access", Usage: "sharing of its nodes, `A`"}, "shared",
			"singleuser", "singlejob", "singletask"),
		&cli.StringSliceFlag{Category: ItsNodes, Name: "pool",
			Usage: "amount of a pool, once for all chunks: `NAME=N`"},
		&cli.StringFlag{Category: ItsNodes, Name: "reservation", Usage: "run only in reservation `NAME`"},
	}
}

// Size returns flags for a request of one chunk, which do without a select.
func Size() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "cpus", Aliases: []string{"c"}, Usage: "`N` cpus, in one chunk (instead of a select)"},
		&cli.IntFlag{Name: "gpus", Aliases: []string{"g"}, Usage: "`N` gpus, in one chunk"},
		&cli.StringFlag{Name: "mem", Aliases: []string{"m"}, Usage: "memory `SIZE`, such as 4gb, in one chunk"},
	}
}

// Sizes returns what the flags of Size ask for, each as RESOURCE=AMOUNT.
func Sizes(c *cli.Context) (list []string, err error) {
	for _, flag := range []struct{ name, resource string }{{"cpus", "ncpus"}, {"gpus", "ngpus"}} {
		if n := c.Int(flag.name); n < 0 || n == 0 && c.IsSet(flag.name) {
			return nil, usage.Errorf("--%s: %d; it must be 1 or more", flag.name, n)
		} else if n > 0 {
			list = append(list, flag.resource+"="+strconv.Itoa(n))
		}
	}
	if mem := c.String("mem"); mem != "" {
		list = append(list, "mem="+mem)
	} else if c.IsSet("mem") {
		return nil, usage.Errorf("--mem is empty: write a size such as 4gb")
	}
	return list, nil
}

// sized returns the select for the flags of Size, "" if none was given.
func sized(c *cli.Context) (string, error) {
	list, err := Sizes(c)
	if err != nil || len(list) == 0 {
		return "", err
	}
	if !c.IsSet("cpus") { // it goes behind the GPUs, if any, and before the memory
		list = slices.Insert(list, min(1, c.Int("gpus")), "ncpus=1")
	}
	return "1:" + strings.Join(list, ":"), nil
}

// OverLimits returns the flag for verbs whose requests are jobs, or would be. Limits do not apply to
// reservations.
func OverLimits() cli.Flag {
	return &cli.BoolFlag{Category: ItsNodes, Name: "over-limits",
		Usage: "start beyond all limits but its own array's; it still counts"}
}

// Bind returns the flag for verbs whose jobs get devices.
func Bind() cli.Flag {
	return verbs.Choice(&cli.StringFlag{Category: ItsNodes, Name: "bind", Usage: "choice of named devices, `HOW`: " +
		"compact (evenly from few groups), tight (group after group) or scatter (evenly from all) (the setting bind)"},
		"compact", "tight", "scatter")
}

// PayloadFlags returns the flags for the environment of a job.
func PayloadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: itsSurroundings, Name: "script",
			Usage: "script to run, `FILE`, - for standard input"},
		&cli.BoolFlag{Name: Carried, Hidden: true},
		verbs.Choice(&cli.StringFlag{Category: itsSurroundings, Name: "directives",
			Usage: "lines of the script to obey besides #placectl, `WHOSE` (those it has)"}, directives.FamilyWords...),
		&cli.BoolFlag{Category: itsSurroundings, Name: "lax",
			Usage: "skip unknown options of #PBS and #SBATCH lines, with a note"},
		&cli.StringFlag{Category: itsSurroundings, Name: "chdir", Usage: "working directory `DIR` (the current one)"},
		&cli.StringFlag{Category: itsSurroundings, Name: "export", Usage: "environment, `LIST` of all, none, NAME, " +
			"NAME=VALUE (all if only you can read the database, else none)"},
		&cli.StringFlag{Category: itsSurroundings, Name: "umask", Usage: "umask `MODE`, octal (yours)"},
		&cli.StringFlag{Name: "out", Usage: "output `FILE`; %j is the job number (placectl-%j.out)"},
		&cli.StringFlag{Category: itsOutput, Name: "err", Usage: "error output `FILE` (with the output)"},
		&cli.StringFlag{Category: itsOutput, Name: "input", Usage: "standard input `FILE` (none)"},
		verbs.Choice(&cli.StringFlag{Category: itsOutput, Name: "out-mode",
			Usage: "`MODE` for existing files (truncate)"}, payload.OutModes...),
		verbs.Choice(&cli.StringFlag{Category: itsSurroundings, Name: "compat",
			Usage: "variables to set, `WHOSE` (those of --directives)"}, directives.FamilyWords...),
		&cli.IntFlag{Category: ItsEnd, Name: "retries", Usage: "retry up to `N` times after a failure (0)"},
		&cli.StringFlag{Category: ItsEnd, Name: "retry-on", Usage: "failures to retry, `LIST` of statuses, signal, " +
			"walltime and oom: 1-5,75,oom (any status but 126 and 127, and any signal)"},
		&cli.StringFlag{Category: ItsEnd, Name: "retry-wait",
			Usage: "wait `D` before the first retry, doubled each time, an hour at most (30s)"},
		&cli.StringFlag{Category: ItsEnd, Name: "retry-mem", Usage: "after oom ask for more memory, `xN[,MAX]`: " +
			"x2,64gb for twice as much, at most 64 GB a chunk (the largest node's)"},
		&cli.StringFlag{Category: ItsEnd, Name: "signal", Usage: "send a signal before the end, `SIG@SECONDS`, such " +
			"as USR1@120; B:USR1@120 to its first process only"},
		&cli.StringFlag{Category: ItsEnd, Name: "grace", Usage: "time `D` between SIGTERM and SIGKILL (30s)"},
		&cli.StringFlag{Category: itsOutput, Name: "mail", Usage: "mail the owner about `LIST`: begin, end, fail, " +
			"requeue, by the setting hook (docs/hooks/mail sends mail)"},
		&cli.StringFlag{Category: itsOutput, Name: "mail-to",
			Usage: "mail `ADDRESS`, or several joined by commas, instead of the owner"},
	}
}

// OfPayload names the flags for what a job carries besides its command. alter has them, too.
var OfPayload = []string{"chdir", "export", "umask", "out", "err", "input", "out-mode", "compat", "retries", "retry-on",
	"retry-wait", "retry-mem", "signal", "grace", "mail", "mail-to"}

// OnlyWithPayload names the flags that make no sense for a job that runs nothing.
var OnlyWithPayload = append([]string{"each"}, OfPayload...)

// Carried is the flag that says that the submitter's environment comes from standard input: submit over
// ssh sends it along.
const Carried = "carried"

// policies returns the values of --policy.
func policies() (words []string) {
	for _, p := range placer.Policies() {
		words = append(words, p.String())
	}
	return words
}
