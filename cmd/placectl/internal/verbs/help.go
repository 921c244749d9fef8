package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/urfave/cli/v2"
)

// The parts of help --all, as templates for Page. The manual orders them differently.
const (
	Examples = `{{code "placectl init --local        # this machine as a cluster of one node\nplacectl submit -t 10m -- make test\nplacectl logs -f 1           # its output, until it has ended"}}`

	Overview = `{{range .Categories}}
{{.Title}}
{{range .Verbs}}{{entry .Name .Usage 20}}{{end}}{{end}}`

	GlobalList = `{{range .Globals}}{{entry .Label .Explained 26}}{{end}}`

	Spelling = `{{entry "TIMES" "2026-11-20 10:00, 10:00, tomorrow, tomorrow 08:00, tonight, friday 18:00, last monday, yesterday, now+2h, @1795167000, RFC 3339" 13 -}}
{{entry "DURATIONS" "90 (seconds), 45s, 1h30m, 2d12h, 1:30:00, 2-12:00:00" 13 -}}
{{entry "SIZES" "512mb, 8gb, 1kw (words of 8 bytes), as in PBS; 8GiB, 1.5TiB; all units are powers of 1024" 13 -}}
{{entry "NODES" "n1,n[001-128,200]; all" 13}}`

	Statuses = `{{range .Statuses}}{{status .Code .Text}}{{end}}
CODES (error.code of -o json, by exit status)
{{range .Codes}}{{status .Code .Text}}{{end}}`
)

const whatItIs = "placectl queues jobs and runs them on a cluster that lives in one file.\n"

const helpAll = whatItIs + `
USAGE
{{code "placectl [global flags] VERB [flags] [arguments]\nplacectl help [--all] VERB\nplacectl help sql|tables|policies|exit"}}
BEGIN WITH
` + Examples + Overview + `
GLOBAL FLAGS (before or after the verb)
` + GlobalList + `
SPELLING
` + Spelling + `
EXIT STATUS
` + Statuses

const helpEveryDay = whatItIs + `
BEGIN WITH
` + Examples + `
EVERY DAY
{{range .Daily}}{{entry .Name .Usage 12}}{{end}}
placectl help VERB explains a verb. placectl help --all lists all of them, the
global flags, how to write times and sizes, and the exit statuses. placectl
help sql, tables, policies and exit print those pages.
`

const brief = `{{wrap (print "placectl " .Path ": " .Usage) 2}}`

const verbList = `{{with .Below}}
VERBS
{{range .}}{{entry .Name .Usage 20}}{{end}}{{end}}`

const helpOfVerb = brief + `{{with .Example}}
EXAMPLE
{{code .}}{{end}}
USAGE
{{wrap (print "  placectl " .Path .Tail) 4}}{{with .Description}}
{{prose .}}{{end}}` + verbList + `{{range .Flags}}
{{.Title}}
{{range .Lines}}{{entry .Label .Usage 26}}{{end}}{{end}}{{with .More}}
MORE FLAGS (placectl help --all {{$.Path}})
  {{wrap . 2}}{{end}}
{{with .Tersely}}{{wrap . 0}}{{else}}EXIT STATUS
{{range .Statuses}}{{status .Code .Text}}{{end}}{{end}}
{{if .MoreText}}More about it: placectl help --all {{.Path}}{{else}}Global flags and exit statuses: placectl help --all{{end}}
`

// listed provides the methods that templates of the whole list call.
type listed[R any] struct{ list List[R] }

// Page lays out a template that shows the verbs of the list. A width of 0 is DefaultWidth.
func (l List[R]) Page(template string, width int) string { return page(template, listed[R]{l}, width) }

// Help lists the everyday verbs, or all verbs with what applies to all of them.
func (l List[R]) Help(all bool, width int) string {
	if all {
		return l.Page(helpAll, width)
	}
	return l.Page(helpEveryDay, width)
}

// Daily returns the everyday verbs.
func (d listed[R]) Daily() (daily []*Verb[R]) {
	var entries []Entry[R]
	for _, e := range d.list {
		if e.Day > 0 {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry[R]) int { return a.Day - b.Day })
	for _, e := range entries {
		daily = append(daily, e.Make())
	}
	return daily
}

// category is a title in help and the verbs listed under it.
type category[R any] struct {
	Title string
	Verbs []*Verb[R]
}

// Categories returns the verbs by category.
func (d listed[R]) Categories() (list []category[R]) {
	for _, e := range d.list {
		v := e.Make()
		if v.Hidden {
			continue
		}
		title := strings.ToUpper(v.Category)
		i := slices.IndexFunc(list, func(c category[R]) bool { return c.Title == title })
		if i < 0 {
			i, list = len(list), append(list, category[R]{Title: title})
		}
		list[i].Verbs = append(list[i].Verbs, v)
	}
	return list
}

// Globals returns the global flags.
func (listed[R]) Globals() []GlobalFlag {
	return slices.DeleteFunc(slices.Clone(GlobalFlags), func(f GlobalFlag) bool { return f.Hidden })
}

// Label returns the flag with its value.
func (f GlobalFlag) Label() string { return flagLabel(f.Short, f.Name, f.Value) }

// Explained says what the flag is for, and which variable sets it if it is not given.
func (f GlobalFlag) Explained() string {
	if f.Env == "" {
		return f.Usage
	}
	return f.Usage + " [" + f.Env + "]"
}

// Statuses returns all exit statuses.
func (listed[R]) Statuses() []exit.Meaning { return exit.Meanings }

// Codes lists the reasons of errors, by exit status.
func (listed[R]) Codes() (list []exit.Meaning) {
	exit.EachReason(func(code int, words string) { list = append(list, exit.Meaning{Code: code, Text: words}) })
	return list
}

// verbHelp holds what templates of a verb refer to.
type verbHelp struct {
	Path, Usage, Example, Tail, Description string
	Below                                   []verbLine // verbs below it
	Flags                                   []flagList
	More                                    string // names of the flags that only --all explains
	Tersely                                 string // the exit statuses as a paragraph; "": use Statuses
	Statuses                                []exit.Meaning
	MoreText                                bool // --all says more about things other than flags
}

type verbLine struct{ Name, Usage string }

// flagList is a title and the flags listed under it.
type flagList struct {
	Title string
	Lines []flagLine
}

type flagLine struct{ Label, Usage string }

// HelpOf explains a verb, with path as its name: an example first, and exit statuses last. Unless
// all is set it fits on one screen: three lines of the example, the first paragraph of the
// description, and only the names of flags under headings.
func (v *Verb[R]) HelpOf(path string, all bool, width int) string {
	headings := headings(v.Flags)
	h := verbHelp{Path: path, Usage: v.Usage, Example: v.Example, Tail: v.usageTail(), Description: v.Description,
		Below: v.below()}
	h.list("FLAGS", v.Flags, "")
	short := !all && (len(headings) > 0 || strings.Contains(h.Description, "\n\n"))
	if short {
		h.Description, _, _ = strings.Cut(h.Description, "\n\n")
	}
	switch {
	case short && len(headings) > 0:
		h.Example = firstLines(h.Example, 3)
		var names []string
		for _, under := range headings {
			for _, f := range v.Flags {
				if heading(f) == under {
					names = append(names, Dashed(f.Names()[0]))
				}
			}
		}
		h.More = strings.Join(names, " ")
	case short:
		h.MoreText = true
	default:
		for _, under := range headings {
			h.list("FLAGS: "+strings.ToUpper(under), v.Flags, under)
		}
	}
	h.Statuses = v.meanings()
	if !all {
		var words []string
		for _, m := range h.Statuses {
			words = append(words, fmt.Sprintf("%d %s", m.Code, m.Brief))
		}
		h.Tersely = "Exit status: " + strings.Join(words, "; ")
	}
	return page(helpOfVerb, h, width)
}

// BriefOf lists the verbs of a noun that was named without a verb.
func (v *Verb[R]) BriefOf(path string, width int) string {
	return page(brief+verbList, verbHelp{Path: path, Usage: v.Usage, Below: v.below()}, width)
}

// below returns a line for each verb below v.
func (v *Verb[R]) below() (lines []verbLine) {
	for _, sub := range v.Verbs {
		if !sub.Hidden {
			lines = append(lines, verbLine{sub.Name, sub.Usage})
		}
	}
	return lines
}

// meanings returns the verb's exit statuses. If it passes on those of a command, those of its own
// failures are greater by exit.Own.
func (v *Verb[R]) meanings() (list []exit.Meaning) {
	own, more := append(v.AllStatuses(), exit.OK, exit.Interrupted), exit.Own
	if !v.Passes {
		own, more = append(own, exit.Failed, exit.Usage, exit.Crash), 0
	}
	keyed := FindFlag(v.Flags, Key) != nil && !v.Passes
	for _, m := range exit.Meanings {
		if keyed && m.Code == exit.Unknown {
			m = exit.UnknownKeyed
		}
		if own := v.Statuses[m.Code]; own != "" {
			m.Brief, m.Text = own, own
		}
		if m.Code != exit.OK && m.Code != exit.Interrupted {
			m.Code += more
		}
		if slices.Contains(own, m.Code) {
			list = append(list, m)
		}
	}
	return list
}

// firstLines returns at most n lines of a text.
func firstLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], "")
}

// heading returns the heading under which help lists a flag, "" for one of general use.
func heading(f cli.Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok && isVisible(f) {
		return c.GetCategory()
	}
	return ""
}

func isVisible(f cli.Flag) bool {
	v, ok := f.(cli.VisibleFlag)
	return !ok || v.IsVisible()
}

// headings returns the headings of flags in order, each once.
func headings(flags []cli.Flag) (list []string) {
	for _, f := range flags {
		if h := heading(f); h != "" && !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

func (v *Verb[R]) usageTail() string {
	tail := ""
	if len(v.Verbs) > 0 && !v.Runs() {
		tail += " VERB"
	}
	if len(v.Flags) > 0 {
		tail += " [flags]"
	}
	if args := v.synopsis(); args != "" {
		tail += " " + args
	}
	return tail
}

// list adds the flags under a heading.
func (h *verbHelp) list(title string, flags []cli.Flag, under string) {
	l := flagList{Title: title}
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && isVisible(f) && heading(f) == under {
			l.Lines = append(l.Lines, lineOf(doc))
		}
	}
	if len(l.Lines) > 0 {
		h.Flags = append(h.Flags, l)
	}
}

// lineOf returns a flag's line of help. As in the cli package, the first word in backquotes within
// the usage names the value.
func lineOf(f cli.DocGenerationFlag) flagLine {
	usage, value := f.GetUsage(), ""
	if f.TakesValue() {
		value = "VALUE"
		if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
			value, usage = parts[1], strings.Join(parts, "")
		}
		if text := strings.Trim(f.GetDefaultText(), `"`); text != "" && text != "0" {
			usage += " (" + text + ")"
		}
	}
	var short, long string
	for _, n := range f.Names() {
		if len(n) == 1 {
			short = n
		} else if long == "" {
			long = n
		}
	}
	return flagLine{flagLabel(short, long, value), usage}
}

func flagLabel(short, long, value string) string {
	label := "-" + short + ", --" + long
	switch {
	case short == "":
		label = "    --" + long
	case long == "":
		label = "-" + short
	}
	if value != "" {
		label += " " + value
	}
	return label
}
