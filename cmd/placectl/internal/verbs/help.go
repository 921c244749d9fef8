package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/urfave/cli/v2"
)

// Columns at which the explanations of a list begin: of verbs, and of flags.
const (
	verbColumn  = 20
	dailyColumn = 12
	flagColumn  = 26
)

const whatItIs = "placectl queues jobs and runs them on a cluster that lives in one file.\n"

// Help lists the verbs of every day.
func (l List[R]) Help(p *Page) {
	p.WriteString(whatItIs)
	l.BeginWith(p)
	p.title("EVERY DAY")
	var daily []Entry[R]
	for _, e := range l {
		if e.Day > 0 {
			daily = append(daily, e)
		}
	}
	slices.SortFunc(daily, func(a, b Entry[R]) int { return a.Day - b.Day })
	for _, e := range daily {
		p.Entry(e.Name, e.Make().Usage, dailyColumn)
	}
	p.WriteString("\nplacectl help VERB explains a verb. placectl help --all lists all of them, the\n" +
		"global flags, how to write times and sizes, and the exit statuses.\n")
}

// HelpAll lists all verbs, and what holds for all of them.
func (l List[R]) HelpAll(p *Page) {
	p.WriteString(whatItIs)
	p.title("USAGE")
	p.code("placectl [global flags] VERB [flags] [arguments]\nplacectl help [--all] VERB")
	l.BeginWith(p)
	l.byCategory(p)
	p.title("GLOBAL FLAGS (before or after the verb)")
	for i := range GlobalFlags {
		f := &GlobalFlags[i]
		if f.Hidden {
			continue
		}
		usage := f.Usage
		if f.Env != "" {
			usage += " [" + f.Env + "]"
		}
		p.Entry(flagLabel(f.Short, f.Name, f.Value), usage, flagColumn)
	}
	p.title("SPELLING")
	for _, line := range spelling {
		p.Entry(line[0], line[1], 13)
	}
	var statuses []int
	for _, m := range exit.Meanings {
		statuses = append(statuses, m.Code)
	}
	p.exitStatus(append(statuses, exit.OK, exit.Interrupted), 0, false, false)
	p.title("CODES (error.code of -o json, by exit status)")
	exit.EachReason(func(code int, words string) { p.status(code, words) })
}

// BeginWith writes the verbs for a new user.
func (l List[R]) BeginWith(p *Page) {
	p.title("BEGIN WITH")
	p.code("placectl init --local        # this machine as a cluster of one node\n" +
		"placectl submit -t 10m -- make test\n" +
		"placectl logs -f 1           # its output, until it has ended")
}

// byCategory lists the verbs, those of a category together.
func (l List[R]) byCategory(p *Page) {
	var order []string
	of := make(map[string][]*Verb[R])
	for _, e := range l {
		v := e.Make()
		if v.Hidden {
			continue
		}
		if of[v.Category] == nil {
			order = append(order, v.Category)
		}
		of[v.Category] = append(of[v.Category], v)
	}
	for _, category := range order {
		p.title(strings.ToUpper(category))
		for _, v := range of[category] {
			p.Entry(v.Name, v.Usage, verbColumn)
		}
	}
}

// spelling is how values are written.
var spelling = [][2]string{
	{"TIMES", "2026-11-20 10:00, 10:00, tomorrow, tomorrow 08:00, tonight, friday 18:00, last monday, yesterday, now+2h, @1795167000, RFC 3339"},
	{"DURATIONS", "90 (seconds), 45s, 1h30m, 2d12h, 1:30:00, 2-12:00:00"},
	{"SIZES", "512mb, 8gb, 1kw (words of 8 bytes), as in PBS; 8GiB, 1.5TiB; all units are powers of 1024"},
	{"NODES", "n1,n[001-128,200]; all"},
}

// HelpOf explains a verb of the list, called by the words of path: an example first, and exit
// statuses last. Unless all is set it fits one screen: three lines of the example, the first
// paragraph of the description, and only the names of flags under headings.
func (l List[R]) HelpOf(v *Verb[R], p *Page, path string, all bool) {
	example, description, more := v.Example, v.Description, headings(v.Flags)
	brief := !all && (len(more) > 0 || strings.Contains(description, "\n\n"))
	if brief {
		description, _, _ = strings.Cut(description, "\n\n")
		if len(more) > 0 {
			example = firstLines(example, 3)
		}
	}
	p.wrapped(fmt.Sprintf("placectl %s: %s", path, v.Usage), 2)
	if example != "" {
		p.title("EXAMPLE")
		p.code(example)
	}
	p.title("USAGE")
	p.wrapped("  placectl "+path+v.usageTail(), 4)
	if description != "" {
		p.WriteString("\n")
		p.prose(description)
	}
	l.listVerbs(v, p, path)
	p.flags("FLAGS", v.Flags, "")
	if brief && len(more) > 0 {
		p.title("MORE FLAGS (placectl help --all " + path + ")")
		var names []string
		for _, h := range more {
			names = append(names, flagNames(v.Flags, h))
		}
		p.WriteString("  ")
		p.wrapped(strings.Join(names, " "), 2)
	} else {
		for _, h := range more {
			p.flags("FLAGS: "+strings.ToUpper(h), v.Flags, h)
		}
	}
	statuses, above := append(v.AllStatuses(), exit.OK, exit.Interrupted), exit.Own
	if !v.Passes {
		statuses, above = append(statuses, exit.Failed, exit.Usage, exit.Crash), 0
	}
	p.exitStatus(statuses, above, FindFlag(v.Flags, Key) != nil && !v.Passes, !all)
	if brief && len(more) == 0 {
		p.WriteString("\nMore about it: placectl help --all " + path + "\n")
	} else {
		p.WriteString("\nGlobal flags and exit statuses: placectl help --all\n")
	}
}

// firstLines returns at most n lines of a text.
func firstLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[:min(n, len(lines))], "")
}

// heading is under what help lists a flag, "" for one that most need.
func heading(f cli.Flag) string {
	c, ok := f.(cli.CategorizableFlag)
	if v, isV := f.(cli.VisibleFlag); !ok || isV && !v.IsVisible() {
		return ""
	}
	return c.GetCategory()
}

// headings are those of flags, in order, each once.
func headings(flags []cli.Flag) (list []string) {
	for _, f := range flags {
		if h := heading(f); h != "" && !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

// flagNames are the names of the flags under a heading.
func flagNames(flags []cli.Flag, under string) string {
	var words []string
	for _, f := range flags {
		if heading(f) == under {
			words = append(words, Dashed(f.Names()[0]))
		}
	}
	return strings.Join(words, " ")
}

// listVerbs lists the verbs below one, and those that stand elsewhere and may be called so.
func (l List[R]) listVerbs(v *Verb[R], p *Page, path string) {
	title := "VERBS"
	entry := func(label, text string) {
		if title != "" {
			p.title(title)
			title = ""
		}
		p.Entry(label, text, verbColumn)
	}
	for _, sub := range v.Verbs {
		if !sub.Hidden {
			entry(sub.Name, sub.Usage)
		}
	}
}

// BriefOf is what a noun that was named without a verb answers: its verbs.
func (l List[R]) BriefOf(v *Verb[R], p *Page, path string) {
	p.wrapped(fmt.Sprintf("placectl %s: %s", path, v.Usage), 2)
	l.listVerbs(v, p, path)
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

// flags explains the flags under a heading.
func (p *Page) flags(title string, flags []cli.Flag, under string) {
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if v, isV := f.(cli.VisibleFlag); !ok || isV && !v.IsVisible() || heading(f) != under {
			continue
		}
		if title != "" {
			p.title(title)
			title = ""
		}
		label, usage := flagEntry(doc)
		p.Entry(label, usage, flagColumn)
	}
}

// flagEntry is a flag's line of help. As in the cli package, the first word in
// backquotes of the usage is what the value is called.
func flagEntry(f cli.DocGenerationFlag) (label, usage string) {
	usage = f.GetUsage()
	value := ""
	if f.TakesValue() {
		value = "VALUE"
		if before, rest, ok := strings.Cut(usage, "`"); ok {
			if name, after, ok := strings.Cut(rest, "`"); ok {
				value, usage = name, before+name+after
			}
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
	return flagLabel(short, long, value), usage
}

func flagLabel(short, long, value string) string {
	label := ""
	switch {
	case short == "":
		label = "    --" + long
	case long == "":
		label = "-" + short
	default:
		label = "-" + short + ", --" + long
	}
	if value != "" {
		label += " " + value
	}
	return label
}

// exitStatus lists exit statuses; those of failures are greater by more than what they
// mean elsewhere. keyed says that the verb has --key. Tersely they are a paragraph of few words.
func (p *Page) exitStatus(show []int, more int, keyed, tersely bool) {
	if !tersely {
		p.title("EXIT STATUS")
	}
	var words []string
	for _, m := range exit.Meanings {
		if keyed && m.Code == exit.Unknown {
			m = exit.UnknownKeyed
		}
		if m.Code != exit.OK && m.Code != exit.Interrupted {
			m.Code += more
		}
		switch {
		case !slices.Contains(show, m.Code):
		case tersely:
			words = append(words, fmt.Sprintf("%d %s", m.Code, m.Brief))
		default:
			p.status(m.Code, m.Text)
		}
	}
	if tersely {
		p.WriteString("\n")
		p.wrapped("Exit status: "+strings.Join(words, "; "), 0)
	}
}

// status writes a status, and what it means.
func (p *Page) status(code int, text string) {
	fmt.Fprintf(p, "  %3d  ", code)
	p.wrapped(text, 7)
}
