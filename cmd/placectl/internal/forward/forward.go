// Package forward executes a verb on the host that holds its database, over ssh, and passes through its
// input, its answer and its status. Only verbs about this host are executed here.
package forward

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
)

// here are the verbs that are executed here wherever the database is.
var here = []string{"work", "keep", "on", "doctor", "mcp", "pbs", "slurm"}

// never are the verbs that need the file itself, or a terminal, with the reasons.
var never = map[string]string{
	"run":     "its command runs here, and is to notice at once when its job ends",
	"shell":   "it is for a terminal: placectl query asks the same",
	"top":     "it is for a terminal: placectl status tells the same once",
	"backup":  "the copy would lie there: run it there",
	"restore": "the copy would lie here: run it there",
	"salvage": "it makes a database of its own: run it there",
	"demo":    "it makes a database of its own, here",
}

// filesHere are the flags whose values are files or programs of this machine. Arguments of this kind are
// declared as such.
var filesHere = map[string][]string{
	"tx": {"file"}, "query": {"file"}, "class plan": {"from"}, "batch create": {"files", "jobs"},
	"gantt": {"svg"}, "report": {"svg", "html", "series"}, "metrics": {"out"},
	"archive": {"to"}, "cycle": {"exec"},
}

// Goes reports whether a verb is executed on the database's host. With --dry-run, so is a verb about this
// host.
func Goes[R any](v *verbs.Verb[R], inv verbs.Invocation[R]) bool {
	dry := slices.ContainsFunc(inv.Flags, func(g verbs.Given) bool {
		return g.Name() == verbs.DryRun && g.Value == "true"
	})
	return v.Access != verbs.NoDatabase && (dry || !slices.Contains(here, inv.Verb()))
}

// Check refuses a command line that needs more of this machine than its streams. It reports whether the
// verb reads standard input.
func Check[R any](v *verbs.Verb[R], inv verbs.Invocation[R]) (reads bool, err error) {
	name := inv.Verb()
	if why, is := never[name]; is {
		return false, usage.Of(name, "not over ssh: %s", why)
	}
	for _, g := range inv.Flags {
		if !slices.Contains(filesHere[name], g.Name()) {
			continue
		}
		if g.Value != "-" {
			return false, usage.Of(name, "--%s %s is a file of this machine, and the verb is executed where the "+
				"database lies: - is passed on", g.Name(), g.Value)
		}
		reads = true
	}
	for i, word := range inv.Args {
		if name == "submit" || inv.Dash >= 0 && i >= inv.Dash {
			break
		}
		if i >= len(v.Args) || v.Args[i].Kind != verbs.KindFile {
			continue
		}
		if word != "-" {
			return false, usage.Of(name, "%s is a file of this machine, and the verb is executed where the database "+
				"lies: - is passed on", word)
		}
		reads = true
	}
	return reads || name == "tx" && !inv.Has("file") || name == "load" && len(inv.Args) == 0, nil
}
