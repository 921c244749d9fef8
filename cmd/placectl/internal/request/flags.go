package request

import (
	"strconv"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// Headings of flags that are rarer: help lists them by these, and explains them with --all.
const (
	ItsNodes        = "its nodes"
	Whose           = "whose it is"
	itsSurroundings = "its script and surroundings"
	itsOutput       = "its output, and mail"
	ItsEnd          = "its end, and further attempts"
	ItsTurn         = "its turn"
)

// Flags are the flags of a request, the same in every verb that takes one.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "select", Aliases: []string{"l"}, Usage: "`S`, such as 2:ncpus=4:mem=8gb, or a PBS resource list"},
		&cli.StringFlag{Category: ItsNodes, Name: "place", Usage: "how: `P` is free|pack|scatter|vscatter, then :excl|:shared|:exclhost, then :group=RES"},
		&cli.StringFlag{Name: "walltime", Aliases: []string{"t"}, Usage: "for `D`, such as 1h30m (the setting default_walltime)"},
		&cli.StringFlag{Name: "name", Usage: "the job's `NAME`"},
		&cli.StringFlag{Category: Whose, Name: "user", Usage: "for `USER` (you)"},
		&cli.StringFlag{Category: Whose, Name: "group", Usage: "of `GROUP`"},
		&cli.StringFlag{Category: Whose, Name: "account", Usage: "on `ACCOUNT`"},
		&cli.StringFlag{Name: "queue", Usage: "in `QUEUE`"},
		&cli.StringFlag{Category: Whose, Name: "class", Usage: "in `CLASS`"},
		&cli.StringFlag{Category: ItsNodes, Name: "policy", Usage: "which nodes first, `POLICY`: firstavailable, lastavailable, priority, cpuload, minresource, contiguous, maxbalance, fastest, local, tetris or topology (that of the queue or the store)"},
		&cli.StringFlag{Category: ItsNodes, Name: "prefer", Usage: "nodes that policy priority is to like: features and conditions, `F,mem>=64gb`"},
		&cli.StringFlag{Category: ItsNodes, Name: "exclude", Usage: "not on `NODES`: n[1-4]"},
		&cli.StringFlag{Category: ItsNodes, Name: "access", Usage: "whose jobs may be on its nodes besides: `A` is shared, singleuser, singlejob or singletask"},
		&cli.StringSliceFlag{Category: ItsNodes, Name: "pool", Usage: "so much of pools of the cluster, once for all chunks: `NAME=N`"},
		&cli.StringFlag{Category: ItsNodes, Name: "reservation", Usage: "inside reservation `NAME`, or not at all"},
	}
}

// Size are the flags of a request of one chunk, for those who have no use for a select.
func Size() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "cpus", Aliases: []string{"c"}, Usage: "`N` cpus, for one chunk (in place of a select)"},
		&cli.IntFlag{Name: "gpus", Aliases: []string{"g"}, Usage: "`N` gpus, for one chunk"},
		&cli.StringFlag{Name: "mem", Aliases: []string{"m"}, Usage: "`SIZE` of memory, such as 4gb, for one chunk"},
	}
}

// sized is the select that the flags of Size ask for, "" if none was given.
func sized(c *cli.Context) (string, error) {
	if !c.IsSet("cpus") && !c.IsSet("gpus") && !c.IsSet("mem") {
		return "", nil
	}
	sel := "1"
	for _, flag := range []struct{ name, resource string }{{"cpus", "ncpus"}, {"gpus", "ngpus"}} {
		if n := c.Int(flag.name); n < 0 || n == 0 && c.IsSet(flag.name) {
			return "", usage.Errorf("--%s: %d; it must be 1 or more", flag.name, n)
		} else if n > 0 {
			sel += ":" + flag.resource + "=" + strconv.Itoa(n)
		}
	}
	if !c.IsSet("cpus") {
		sel += ":ncpus=1"
	}
	if mem := c.String("mem"); mem != "" {
		sel += ":mem=" + mem
	} else if c.IsSet("mem") {
		return "", usage.Errorf("--mem is empty: write a size such as 4gb")
	}
	return sel, nil
}

// OverLimits is the flag of the verbs whose requests are jobs, or would be: reservations are
// under no limits.
func OverLimits() cli.Flag {
	return &cli.BoolFlag{Category: ItsNodes, Name: "over-limits", Usage: "no limit but its own array's keeps it from starting; it counts all the same"}
}

// Bind is the flag of the verbs whose jobs get devices.
func Bind() cli.Flag {
	return &cli.StringFlag{Category: ItsNodes, Name: "bind", Usage: "which devices of a node that names them: `HOW` is compact (evenly from few groups), tight (one group after the other) or scatter (evenly from all) (the setting bind)"}
}

// PayloadFlags are the flags that say in what surroundings a job is to run.
func PayloadFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "script", Usage: "what is run: `FILE`, - for standard input"},
		&cli.BoolFlag{Name: Carried, Hidden: true},
		&cli.StringFlag{Category: itsSurroundings, Name: "directives", Usage: "`WHOSE` lines of the script count besides #placectl: pbs, slurm or none (those that it has)"},
		&cli.BoolFlag{Category: itsSurroundings, Name: "lax", Usage: "skip unknown options of #PBS and #SBATCH lines, with a note"},
		&cli.StringFlag{Category: itsSurroundings, Name: "chdir", Usage: "it runs in `DIR` (where you are)"},
		&cli.StringFlag{Category: itsSurroundings, Name: "export", Usage: "the environment it gets, `LIST`: all, none, NAME, NAME=VALUE, joined by commas (all where only you can read the database, else none)"},
		&cli.StringFlag{Category: itsSurroundings, Name: "umask", Usage: "the bits of `MODE`, octal, are off in what it creates (yours)"},
		&cli.StringFlag{Name: "out", Usage: "its output goes to `FILE`, %j is the job (placectl-%j.out)"},
		&cli.StringFlag{Category: itsOutput, Name: "err", Usage: "its errors go to `FILE` (with the output)"},
		&cli.StringFlag{Category: itsOutput, Name: "input", Usage: "its standard input comes from `FILE` (it has none)"},
		&cli.StringFlag{Category: itsOutput, Name: "out-mode", Usage: "append to files that are there, or truncate them, as `MODE` says (truncate)"},
		&cli.StringFlag{Category: itsSurroundings, Name: "compat", Usage: "`WHOSE` variables it is to find in its environment: pbs, slurm or none (those whose lines count)"},
		&cli.IntFlag{Category: ItsEnd, Name: "retries", Usage: "up to `N` further attempts follow one that has failed (0)"},
		&cli.StringFlag{Category: ItsEnd, Name: "retry-on", Usage: "after which ends, `LIST` of statuses, signal, walltime and oom: 1-5,75,oom (every status but 126 and 127, and every signal)"},
		&cli.StringFlag{Category: ItsEnd, Name: "retry-wait", Usage: "the first of them begins `D` later, each further one twice as long, an hour at most (30s)"},
		&cli.StringFlag{Category: ItsEnd, Name: "retry-mem", Usage: "after oom it asks for `xN[,MAX]`: x2,64gb asks for twice as much memory, at most 64 GB a chunk (what the largest node has)"},
		&cli.StringFlag{Category: ItsEnd, Name: "signal", Usage: "it is sent `SIG@SECONDS` before its end, such as USR1@120; B:USR1@120 only its first process"},
		&cli.StringFlag{Category: ItsEnd, Name: "grace", Usage: "it has `D` between being told to terminate and being killed (30s)"},
		&cli.StringFlag{Category: itsOutput, Name: "mail", Usage: "its owner is told of `LIST`: begin, end, fail, requeue, by the program of the setting hook (docs/hooks/mail sends mail)"},
		&cli.StringFlag{Category: itsOutput, Name: "mail-to", Usage: "`ADDRESS` is told, not the owner; or several with commas between"},
	}
}

// OfPayload are those that say what a job carries beside its command. alter has them, too.
var OfPayload = []string{"chdir", "export", "umask", "out", "err", "input", "out-mode", "compat", "retries", "retry-on", "retry-wait", "retry-mem", "signal", "grace", "mail", "mail-to"}

// OnlyWithPayload are those that say nothing of a job that runs nothing.
var OnlyWithPayload = append([]string{"each"}, OfPayload...)

// Carried is the flag that says that the surroundings of who submits come from standard input:
// submit over ssh sends them along.
const Carried = "carried"
