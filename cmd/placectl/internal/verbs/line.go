package verbs

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// The cli package stops reading flags at the first argument, and silently takes any flags behind
// it for arguments: `place job1 --dry-run` would place. So the command line is walked here, with
// the verb's flags at hand. Global flags are taken out wherever they stand, and unknown flags are
// refused. Words behind "--" stay as they are. The cli package then parses the result in an order
// that it understands, and runs the verb (command.go).

// Invocation is a parsed command line.
type Invocation[R any] struct {
	Path    []*Verb[R] // the verb, and the verbs below it: node, import
	Flags   []Given    // the verb's own
	Args    []string
	Dash    int // how many of Args stood before "--", -1 without one
	Globals []Setting
	Help    bool
	Topic   string // with Help: of what, if that is no verb
	All     bool   // with Help: all of it
}

// Setting is a global flag as given.
type Setting struct {
	Flag  *GlobalFlag
	Value string
}

// Given is a flag of a verb as given.
type Given struct {
	Flag  cli.Flag
	Value string
}

// Name returns the flag's first name, so that -t and --walltime are the same flag.
func (g Given) Name() string {
	return g.Flag.Names()[0]
}

// Word writes the flag as one word.
func (g Given) Word() string {
	if IsSwitch(g.Flag) && g.Value == "true" {
		return Dashed(g.Name())
	}
	return Dashed(g.Name()) + "=" + g.Value
}

// Leaf returns the innermost verb, nil if there is none.
func (inv Invocation[R]) Leaf() *Verb[R] {
	if len(inv.Path) == 0 {
		return nil
	}
	return inv.Path[len(inv.Path)-1]
}

// Writes reports whether the verb may change a database. Some verbs that are declared to read have
// --dry-run, because they write what follows from the rows; check does so with --repair.
func (inv Invocation[R]) Writes() bool {
	v := inv.Leaf()
	if v.Access != Reads {
		return v.Access != NoDatabase
	}
	return FindFlag(v.Flags, DryRun) != nil && (FindFlag(v.Flags, Repair) == nil || inv.Has(Repair))
}

// Has reports whether one of the verb's own flags was given.
func (inv Invocation[R]) Has(flag string) bool {
	return slices.ContainsFunc(inv.Flags, func(g Given) bool { return g.Name() == flag })
}

// Verb returns the command's name in errors: "node import".
func (inv Invocation[R]) Verb() string {
	var names []string
	for _, v := range inv.Path {
		names = append(names, v.Name)
	}
	return strings.Join(names, " ")
}

// walker reads a command line word by word. After an error it keeps that error and goes on,
// because a later -o json says how to report it.
type walker[R any] struct {
	Invocation[R]
	list List[R]
	rest []string
	err  error
}

// Parse parses a command line without the program's name. Even with an error, the invocation holds
// what was understood. A verb is made only when a line names it.
func (l List[R]) Parse(words []string) (Invocation[R], error) {
	w := &walker[R]{list: l, rest: words, Invocation: Invocation[R]{Dash: -1}}
	for len(w.rest) > 0 {
		word := w.next()
		switch {
		case word == "--":
			w.Dash = len(w.Args)
			w.Args = append(w.Args, w.rest...)
			w.rest = nil
		case strings.HasPrefix(word, "--"):
			w.longFlag(word)
		case isFlag(word):
			w.shortFlag(word)
		default:
			w.word(word)
			if v := w.Leaf(); v != nil && v.Command && len(w.Args) == 1 && (len(w.rest) == 0 || w.rest[0] != "--") {
				w.Args = append(w.Args, w.rest...)
				w.rest = nil
			}
		}
	}
	w.finish()
	return w.Invocation, w.err
}

// isFlag tells flags from arguments: "-" is standard input, -5 is a number.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.'
}

func (w *walker[R]) next() string {
	word := w.rest[0]
	w.rest = w.rest[1:]
	return word
}

func (w *walker[R]) fail(format string, args ...any) {
	if w.err == nil {
		w.err = usage.Of(w.Verb(), format, args...)
	}
}

func (w *walker[R]) longFlag(word string) {
	name, value, attached := strings.Cut(word[2:], "=")
	if len(name) < 2 || !w.flag("--"+name, name, value, attached) {
		w.unknown("--" + name)
	}
}

// shortFlag reads -o json, -ojson and -o=json.
func (w *walker[R]) shortFlag(word string) {
	value := word[2:]
	attached := value != ""
	if name, _, _ := strings.Cut(word[1:], "="); len(name) > 1 && (w.takesValue(word[1:2]) != takesOne ||
		w.takesValue(name) != noSuchFlag) {
		w.unknown("-" + name)
		return
	}
	value = strings.TrimPrefix(value, "=")
	if !w.flag(word[:2], word[1:2], value, attached) {
		w.unknown(word[:2])
	}
}

// flag takes a flag, written as shown. It returns false if there is none of that name.
func (w *walker[R]) flag(shown, name, value string, attached bool) bool {
	need := w.takesValue(name)
	own := FindFlag(w.ownFlags(), name)
	switched := own != nil && IsSwitch(own) && !attached // --now without a value; --now=TIME is the global flag
	if switched {
		need = takesNone
	}
	switch {
	case need == noSuchFlag:
		return false
	case need == takesOne && !attached:
		var ok bool
		if value, ok = w.valueFor(shown); !ok {
			return true
		}
	case need == takesNone && !attached:
		value = "true"
	}
	if f := FindGlobal(name); f != nil && !switched {
		w.global(f, shown, value)
		return true
	}
	if err := CheckValue(own, value); err != nil {
		w.fail("%s %w", shown, err)
		return true
	}
	w.Flags = append(w.Flags, Given{own, value})
	return true
}

// valueFor takes the next word as the value of a flag. If that word is itself a flag, the value
// was probably forgotten.
func (w *walker[R]) valueFor(shown string) (string, bool) {
	if len(w.rest) == 0 || w.rest[0] == "--" {
		w.fail("%s needs a value", shown)
		return "", false
	}
	if word := w.rest[0]; isFlag(word) && w.known(word) {
		w.fail("%s needs a value; if %s is meant as the value, write %s=%s", shown, word, shown, word)
		return "", false
	}
	return w.next(), true
}

func (w *walker[R]) known(word string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return w.takesValue(name) != noSuchFlag
}

// global takes a global flag. help and version are not set but answered.
func (w *walker[R]) global(f *GlobalFlag, shown, value string) {
	on, err := text.ParseSwitch(value)
	switch {
	case !f.takesValue() && err != nil:
		w.fail("%s %w", shown, err)
	case f.Name == "help":
		w.Help = w.Help || on
	case f.Name == "version":
		if on && len(w.Path) == 0 {
			w.word("version")
		}
	default:
		w.Globals = append(w.Globals, Setting{f, value})
	}
}

func (w *walker[R]) unknown(shown string) {
	if shown == "--all" && w.Help {
		w.All = true
		return
	}
	own := flagWords(w.ownFlags())
	if to := elsewhere(shown, own); to != "" {
		w.fail("unknown flag %s; write %s", text.Quoted(shown), to)
		return
	}
	shown = text.Quoted(shown)
	if len(w.Path) == 0 && !w.Help {
		w.fail("unknown global flag %s%s (the flags of a verb come after it)", shown,
			index.DidYouMean(shown, flagWords(nil)))
		return
	}
	w.fail("unknown flag %s%s", shown, index.DidYouMean(shown, own))
}

// flagsElsewhere are ours for flags of other programs.
var flagsElsewhere = map[string]string{
	"--time": "--walltime", "--timelimit": "--walltime", "--time-limit": "--walltime",
	"--dependency": "--afterok", "--depend": "--afterok", "--after-ok": "--afterok", "-n": "--cpus",
	"--ntasks": "--cpus", "--cores": "--cpus", "--threads": "--cpus", "--cpus-per-task": "--cpus",
	"-j": "--cpus", "--nproc": "--cpus", "--memory": "--mem", "--gres": "--gpus", "--job-name": "--name",
	"-J": "--name", "--partition": "--queue", "--nice": "--priority", "--error": "--err",
	"--workdir": "--chdir", "-D": "--chdir", "--delay": "--begin", "--start": "--begin",
	"--after-any": "--afterany", "--now": "--immediately",
}

// elsewhere returns our name for another program's flag, "" if it is unknown. Flags of the verb come first.
func elsewhere(flag string, own []string) string {
	if to := flagsElsewhere[flag]; slices.Contains(own, to) {
		return to
	}
	switch flag {
	case "--json", "--csv", "--jsonl", "--tsv":
		return "-o " + flag[2:]
	case "--format":
		return "--output (-o)"
	case "--noheader":
		return "--no-header"
	}
	return ""
}
