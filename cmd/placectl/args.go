package main

import (
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/urfave/cli/v2"
)

// The cli package stops reading flags at the first argument and takes whatever
// flags follow for arguments, silently: `place job1 --dry-run` would place. So
// the command line is walked here, with the verb's flags at hand. Global flags are
// taken out on the way, wherever they stand; what is unknown is refused; and after a
// "--" nothing is touched. What a verb reads its flags and arguments from is still
// the cli package's context (flag_values.go).

// invocation is a command line that has been understood.
type invocation struct {
	path    []*verb // the verb, and the verbs below it: node, import
	flags   []given // the verb's own
	args    []string
	dash    int // how many of args stood before "--", -1 without one
	globals []setting
	help    bool
}

// setting is a global flag as it was given.
type setting struct {
	flag  *globalFlag
	value string
}

// given is a flag of a verb as it was given.
type given struct {
	flag  cli.Flag
	value string
}

// name is the flag's first name, so that -t and --walltime are the same flag.
func (g given) name() string { return g.flag.Names()[0] }

// word writes the flag as one word.
func (g given) word() string {
	if isSwitch(g.flag) && g.value == "true" {
		return dashed(g.name())
	}
	return dashed(g.name()) + "=" + g.value
}

// argv is the command line in one order: verb, flags as --name=value, "--", arguments.
func (inv invocation) argv() []string {
	var words []string
	for _, v := range inv.path {
		words = append(words, v.Name)
	}
	for _, g := range inv.flags {
		words = append(words, g.word())
	}
	if len(inv.args) > 0 {
		words = append(append(words, "--"), inv.args...)
	}
	return words
}

// leaf is the innermost verb, nil when there is none.
func (inv invocation) leaf() *verb {
	if len(inv.path) == 0 {
		return nil
	}
	return inv.path[len(inv.path)-1]
}

// verb is how errors call the command: "node import".
func (inv invocation) verb() string {
	var names []string
	for _, v := range inv.path {
		names = append(names, v.Name)
	}
	return strings.Join(names, " ")
}

// walker reads a command line word by word. It goes on after an error, keeping
// the first, because a later -o json says how to report it.
type walker struct {
	invocation
	r    *runner
	rest []string
	err  error
}

// parseArgs understands a command line (without the program's name) as a verb
// with its flags and arguments. The invocation holds what was understood even
// when there is an error. Each call makes the verb anew.
func (r *runner) parseArgs(words []string) (invocation, error) {
	w := &walker{r: r, rest: words, invocation: invocation{dash: -1}}
	for len(w.rest) > 0 {
		word := w.next()
		switch {
		case word == "--":
			w.dash = len(w.args)
			w.args = append(w.args, w.rest...)
			w.rest = nil
		case strings.HasPrefix(word, "--"):
			w.longFlag(word)
		case isFlag(word):
			w.shortFlag(word)
		default:
			w.word(word)
		}
	}
	w.finish()
	return w.invocation, w.err
}

// isFlag tells flags from arguments: "-" is standard input, -5 is a number.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.'
}

func (w *walker) next() string {
	word := w.rest[0]
	w.rest = w.rest[1:]
	return word
}

func (w *walker) fail(format string, args ...any) {
	if w.err == nil {
		w.err = usage.Of(w.verb(), format, args...)
	}
}

func (w *walker) longFlag(word string) {
	name, value, attached := strings.Cut(word[2:], "=")
	if len(name) < 2 || !w.flag("--"+name, name, value, attached) {
		w.unknown("--" + name)
	}
}

// shortFlag reads -o json, -ojson and -o=json.
func (w *walker) shortFlag(word string) {
	value := word[2:]
	attached := value != ""
	if name, _, _ := strings.Cut(word[1:], "="); len(name) > 1 && (w.takesValue(word[1:2]) != takesOne || w.takesValue(name) != noSuchFlag) {
		w.unknown("-" + name)
		return
	}
	value = strings.TrimPrefix(value, "=")
	if !w.flag(word[:2], word[1:2], value, attached) {
		w.unknown(word[:2])
	}
}

// flag takes one flag that was written as shown; false when there is none of
// that name.
func (w *walker) flag(shown, name, value string, attached bool) bool {
	need := w.takesValue(name)
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
	if f := findGlobal(name); f != nil {
		w.global(f, shown, value)
		return true
	}
	f := findFlag(w.ownFlags(), name)
	if err := checkValue(f, value); err != nil {
		w.fail("%s %w", shown, err)
		return true
	}
	w.flags = append(w.flags, given{f, value})
	return true
}

// valueFor takes the next word as the value of a flag. A word that is itself a
// flag is more likely the sign of a forgotten value than meant.
func (w *walker) valueFor(shown string) (string, bool) {
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

func (w *walker) known(word string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return w.takesValue(name) != noSuchFlag
}

// global takes a global flag; help and version are answered rather than set.
func (w *walker) global(f *globalFlag, shown, value string) {
	on, err := spell.ParseSwitch(value)
	switch {
	case !f.takesValue() && err != nil:
		w.fail("%s %w", shown, err)
	case f.name == "help":
		w.help = w.help || on
	case f.name == "version":
		if on && len(w.path) == 0 {
			w.word("version")
		}
	default:
		w.globals = append(w.globals, setting{f, value})
	}
}

func (w *walker) unknown(shown string) {
	shown = spell.Quoted(shown)
	if len(w.path) == 0 && !w.help {
		w.fail("unknown global flag %s%s (the flags of a verb come after it)", shown, index.DidYouMean(shown, flagWords(nil)))
		return
	}
	w.fail("unknown flag %s%s", shown, index.DidYouMean(shown, flagWords(w.ownFlags())))
}
