package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/about"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/urfave/cli/v2"
)

// helpVerbs makes a verb with everything that help shows.
func helpVerbs() []*session.Verb {
	when := &session.Verb{
		Name: "when", Category: "Placing", Usage: "the earliest start", Args: []verbs.Arg{{Name: "REQUEST"}},
		Run:         noAction,
		Description: "Changes nothing.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "walltime", Aliases: []string{"t"}, Usage: "for `D`", Value: "1h"},
			&cli.IntFlag{Name: "count", Usage: "how many"},
			&cli.BoolFlag{Name: "hold", Usage: "held"},
			&cli.StringFlag{Name: "secret", Hidden: true},
		},
		Access: verbs.Reads, Example: "placectl when -t 1h\nplacectl when -t 2h",
	}
	rm := &session.Verb{Name: "rm", Usage: "remove nodes", Access: verbs.Writes,
		Statuses: map[int]string{exit.NotNow: ""},
		Run:      noAction}
	return []*session.Verb{when, {Name: "node", Category: "Cluster", Usage: "nodes", Verbs: []*session.Verb{rm}}}
}

func TestHelp(t *testing.T) {
	want := `placectl when: the earliest start

EXAMPLE
  placectl when -t 1h
  placectl when -t 2h

USAGE
  placectl when [flags] REQUEST

Changes nothing.

FLAGS
  -t, --walltime D        for D (1h)
      --count VALUE       how many
      --hold              held

Exit status: 0 done; 1 failed; 2 usage; 5 not found; 6 lock timeout; 8 file
damaged or not ours; 70 crash; 130 interrupted

Global flags and exit statuses: placectl help --all
`
	for _, line := range []string{"help when", "when --help", "when -t 3 --nope -h x"} {
		c := newCapture(strings.Fields(line)...)
		r := c.runner()
		r.Verbs = entries(helpVerbs()...)
		if code := r.Report(r.Main()); strings.Contains(line, "--nope") != (code == exit.Usage) {
			t.Errorf("%s: status %d, %s", line, code, c.err.String())
		} else if diff := cmp.Diff(want, c.out.String()); code == exit.OK && diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// TestHelpInBrief: brief help gives flags under headings only by name, and --all explains them. The same
// goes for what a verb does.
func TestHelpInBrief(t *testing.T) {
	keep := &session.Verb{Name: "keep", Category: "Placing", Usage: "keep nodes", Run: noAction,
		Description: "It keeps nodes.\n\nIt gives them back.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "for", Usage: "for `D`"},
			&cli.BoolFlag{Name: "late", Category: "its time", Usage: "a late one"},
			&cli.BoolFlag{Name: "soon", Category: "its time", Usage: "a soon one"}},
		Example: "placectl keep --for 1h --late 'what stands in quotes is left as it is, however long' --soon"}
	for line, want := range map[string]string{
		"help keep": `placectl keep: keep nodes

EXAMPLE
  placectl keep --for 1h --late \
      'what stands in quotes is left as it is, however long' --soon

USAGE
  placectl keep [flags]

It keeps nodes.

FLAGS
      --for D             for D

MORE FLAGS (placectl help --all keep)
  --late --soon

Exit status: 0 done; 1 failed; 2 usage; 70 crash; 130 interrupted

Global flags and exit statuses: placectl help --all
`, "keep --help --all": `placectl keep: keep nodes

EXAMPLE
  placectl keep --for 1h --late \
      'what stands in quotes is left as it is, however long' --soon

USAGE
  placectl keep [flags]

It keeps nodes.

It gives them back.

FLAGS
      --for D             for D

FLAGS: ITS TIME
      --late              a late one
      --soon              a soon one

EXIT STATUS
    0  done
    1  failed
    2  wrong usage, or malformed input
   70  placectl has crashed: whether anything was changed is unknown
  130  interrupted

Global flags and exit statuses: placectl help --all
`} {
		c := newCapture(strings.Fields(line)...)
		r := c.runner()
		r.Verbs = entries(keep)
		if code := r.Report(r.Main()); code != exit.OK {
			t.Errorf("%s: status %d, %s", line, code, c.err.String())
		} else if diff := cmp.Diff(want, c.out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// TestHelpOfEveryDay: the everyday verbs fit on a screen, each on a line. Verbs that only programs call
// are in no list.
func TestHelpOfEveryDay(t *testing.T) {
	c := newCapture("help")
	if code := c.run(); code != exit.OK {
		t.Fatal(code, c.err.String())
	}
	lines := strings.Split(strings.TrimSuffix(c.out.String(), "\n"), "\n")
	if len(lines) > 40 || slices.ContainsFunc(lines, func(line string) bool { return len(line) > 80 }) {
		t.Errorf("help has %d lines, or some wider than 80 columns:\n%s", len(lines), c.out.String())
	}
	days := make(map[int]string)
	all := newCapture("help", "--all")
	if code := all.run(); code != exit.OK {
		t.Fatalf("help --all: status %d", code)
	}
	for _, e := range c.runner().Verbs {
		if e.Day > 0 {
			if days[e.Day] != "" {
				t.Errorf("%s and %s have the same position", e.Name, days[e.Day])
			}
			days[e.Day] = e.Name
		}
		daily, listed := strings.Contains(c.out.String(), "\n  "+e.Name+" "),
			strings.Contains(all.out.String(), "\n  "+e.Name+" ")
		if hidden := e.Verb().Hidden; hidden == slices.Contains(about.Complete(c.runner(), []string{e.Name}), e.Name) {
			t.Errorf("%s is completed: %v, want %v", e.Name, !hidden, hidden)
		}
		if daily != (e.Day > 0) || listed == e.Verb().Hidden {
			t.Errorf("%s is in help: %v, in help --all: %v", e.Name, daily, listed)
		}
	}
}

func TestHelpOfGroups(t *testing.T) {
	for line, wants := range map[string][]string{
		"help --all": {"\nPLACING\n  when  ", "\nCLUSTER\n  node  ", "-o, --output FORMAT", "[NO_COLOR]"},
		"help node":  {"placectl node VERB\n", "\nVERBS\n  rm   ", "; 3 not now;"},
		"help node rm": {"placectl node rm: remove nodes", "placectl node rm [flags]\n", "--dry-run",
			"; 10 done, answer lost;"},
	} {
		c := newCapture(strings.Fields(line)...)
		r := c.runner()
		r.Verbs = entries(helpVerbs()...)
		if code := r.Report(r.Main()); code != exit.OK {
			t.Errorf("%s: status %d", line, code)
		}
		for _, want := range wants {
			if !strings.Contains(c.out.String(), want) {
				t.Errorf("%s lacks %q:\n%s", line, want, c.out.String())
			}
		}
	}
}

// TestVerbsAreExplained: every verb says what it is for, gives an example, and belongs somewhere in the
// list. It has no flag with the name of a global one, which it would never see.
func TestVerbsAreExplained(t *testing.T) {
	r := newCapture().runner()
	var look func(path string, v *session.Verb)
	look = func(path string, v *session.Verb) {
		if v.Usage == "" || v.Runs() && v.Example == "" && !v.Hidden {
			t.Errorf("%s: usage %q, example %q", path, v.Usage, v.Example)
		}
		if keyed := verbs.FindFlag(v.Flags, "key") != nil; v.Runs() && !keyed && strings.Contains(helpOf(t, path),
			"same --key") {
			t.Errorf("%s has no --key, but its help mentions one", path)
		} else if keyed && !strings.Contains(helpOf(t, path), exit.UnknownKeyed.Text) {
			t.Errorf("%s has --key, but its help does not say what for", path)
		}
		named := strings.Fields(strings.Join(v.Exclusive, " "))
		for i, a := range v.Args {
			if a.Unless != "" {
				named = append(named, a.Unless)
			}
			if rest := v.Args[i+1:]; a.Many && slices.ContainsFunc(rest, func(b verbs.Arg) bool {
				return b.Many || b.Optional || b.Unless != ""
			}) {
				t.Errorf("%s: it is unclear where %s ends", path, a)
			}
		}
		for _, name := range named {
			if verbs.FindFlag(v.Flags, name) == nil {
				t.Errorf("%s names the flag %s, which it does not have", path, name)
			}
		}
		for _, f := range v.Flags {
			for _, n := range f.Names() {
				// --now alone, and --now=TIME
				if g := verbs.FindGlobal(n); g != nil && (n != "now" || !verbs.IsSwitch(f)) {
					t.Errorf("%s has a flag with the name of the global %s", path, n)
				}
			}
		}
		for _, sub := range v.Verbs {
			look(path+" "+sub.Name, sub)
		}
	}
	for _, e := range r.Verbs {
		v := e.Verb()
		if v.Name != e.Name || v.Category == "" {
			t.Errorf("%s: name %q, category %q", e.Name, v.Name, v.Category)
		}
		look(v.Name, v)
	}
}

// helpOf returns the help of a verb.
func helpOf(t *testing.T, path string) string {
	t.Helper()
	c := newCapture(append([]string{"help", "--all"}, strings.Fields(path)...)...)
	if code := c.run(); code != exit.OK {
		t.Errorf("help %s: status %d", path, code)
	}
	if page := c.out.String(); !strings.HasSuffix(page, "\nGlobal flags and exit statuses: placectl help --all\n") {
		t.Errorf("help %s is cut short, perhaps by an error in its template: ...%q", path, page[max(len(page)-100, 0):])
	}
	return c.out.String()
}

// BenchmarkRun measures what the frame adds to the start of every process.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if code := newCapture("version", "-o", "json").run(); code != exit.OK {
			b.Fatal(code)
		}
	}
}
