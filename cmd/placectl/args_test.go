package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// sampleVerbs is a tree with every shape of verb.
func sampleVerbs(action action) []*verb {
	return []*verb{
		{
			Name: "place", Run: action, Args: []arg{{Name: "REQUEST"}, {Name: "X", Optional: true}, {Name: "Y", Optional: true}},
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "select", Aliases: []string{"l"}},
				&cli.StringFlag{Name: "walltime", Aliases: []string{"t"}},
				&cli.BoolFlag{Name: "dry-run"},
				&cli.IntFlag{Name: "priority"},
				&cli.StringSliceFlag{Name: "allow"},
				&cli.StringFlag{Name: "at"},
			},
		},
		{
			Name: "node",
			Verbs: []*verb{
				{Name: "import", Run: action, Args: []arg{{Name: "FILE"}}, Flags: []cli.Flag{&cli.StringFlag{Name: "from"}}},
				{Name: "rm", Run: action, Flags: []cli.Flag{&cli.StringFlag{Name: "why", Required: true}}},
			},
		},
		{Name: "class", Run: action, Args: []arg{{Name: "NAME", Many: true}}, Verbs: []*verb{{Name: "plan", Run: action, Args: []arg{{Name: "on|off", Kind: kindWord}}}}},
	}
}

// entries lists verbs that are made already.
func entries(verbs ...*verb) []verbEntry {
	var list []verbEntry
	for _, v := range verbs {
		list = append(list, verbEntry{v.Name, func() *verb { return v }})
	}
	return list
}

func sampleRunner() *runner {
	r := newCapture().runner()
	r.verbs = entries(sampleVerbs(noAction)...)
	return r
}

type action = func(*runner, *cli.Context) error

func noAction(*runner, *cli.Context) error { return nil }

func TestParseArgs(t *testing.T) {
	tests := []struct{ in, want, globals string }{
		{"place job1", "place -- job1", ""},
		{"place job1 --dry-run", "place --dry-run -- job1", ""},
		{"place -t 90 job1 -l 2:ncpus=4 x", "place --walltime=90 --select=2:ncpus=4 -- job1 x", ""},
		{"place -t90 -l2:ncpus=4", "place --walltime=90 --select=2:ncpus=4", ""},
		{"place -t=90", "place --walltime=90", ""},
		{"place --select=a=b", "place --select=a=b", ""},
		{"place --priority -5 -7 -.5 -", "place --priority=-5 -- -7 -.5 -", ""},
		{"place --select -", "place --select=-", ""},
		{"place --select --unknown", "place --select=--unknown", ""},
		{"place --select=", "place --select=", ""},
		{"place --dry-run=false", "place --dry-run=false", ""},
		{"place --allow a,b --allow c", "place --allow=a,b --allow=c", ""},
		{"place -- --dry-run -o json --", "place -- --dry-run -o json --", ""},
		{"place a -- b", "place -- a b", ""},
		{"place --", "place", ""},
		{"-o json place", "place", "output=json"},
		{"-ojson place", "place", "output=json"},
		{"place x --db f -q -o=csv y", "place -- x y", "db=f quiet=true output=csv"},
		{"--db a place --db=b", "place", "db=a db=b"},
		{"node import --from csv f", "node import --from=csv -- f", ""},
		{"node -v import f --from=csv", "node import --from=csv -- f", "verbose=true"},
		{"node rm --why x", "node rm --why=x", ""},
		{"class", "class", ""},
		{"class plan", "class plan", ""},
		{"class x plan", "class -- x plan", ""},
		{"place place node", "place -- place node", ""},
		{"place help h", "place -- help h", ""},
	}
	for _, tt := range tests {
		inv, err := sampleRunner().parseArgs(strings.Fields(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		var globals []string
		for _, s := range inv.globals {
			globals = append(globals, s.flag.name+"="+s.value)
		}
		got := []string{strings.Join(inv.argv(), " "), strings.Join(globals, " ")}
		if diff := cmp.Diff([]string{tt.want, tt.globals}, got); diff != "" {
			t.Errorf("%s:\n%s", tt.in, diff)
		}
	}
}

func TestParseArgsRefuses(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "a verb is missing"},
		{"--", "a verb is missing"},
		{"pplace x", "unknown verb pplace; did you mean place?"},
		{"xyzzy", "unknown verb xyzzy"},
		{"node", "node: a verb is missing; there are import, rm"},
		{"node improt f", "node: unknown verb improt; did you mean import?; there are import, rm"},
		{"place --waltime 3", "place: unknown flag --waltime; did you mean --walltime?"},
		{"place -walltime 3", "place: unknown flag -walltime; did you mean --walltime?"},
		{"place -z", "place: unknown flag -z"},
		{"place -qv", "place: unknown flag -qv"},
		{"place --t 3", "place: unknown flag --t; did you mean -t?"},
		{"place -é", "place: unknown flag -é"},
		{"place --\x1b[31m", `place: unknown flag "--\x1b[31m"`},
		{"place -=", "place: unknown flag -="},
		{"-t 90 place", "unknown global flag -t (the flags of a verb come after it)"},
		{"node --from csv import f", "node: unknown flag --from"},
		{"place --walltime", "place: --walltime needs a value"},
		{"place -t -- 5", "place: -t needs a value"},
		{"place -t -o json", "place: -t needs a value; if -o is meant as the value, write -t=-o"},
		{"place --db", "place: --db needs a value"},
		{"place --priority many", `place: --priority wants a whole number, not "many"`},
		{"place --dry-run=maybe", `place: --dry-run is on or off: give it no value, or true or false, not "maybe"`},
		{"place --quiet=maybe", `place: --quiet is on or off: give it no value, or true or false, not "maybe"`},
		{"node rm x", "node rm: --why is required"},
	}
	for _, tt := range tests {
		_, err := sampleRunner().parseArgs(strings.Fields(tt.in))
		if !errors.Is(err, usage.Err) {
			t.Errorf("%s: %v is no usage error", tt.in, err)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, err, tt.want)
		}
	}
}

// An error must not hide the -o json that stands after it.
func TestParseArgsGoesOnAfterError(t *testing.T) {
	inv, err := sampleRunner().parseArgs(strings.Fields("place --nope x -o json --db f"))
	if err == nil || len(inv.globals) != 2 {
		t.Errorf("%v, %d globals", err, len(inv.globals))
	}
}

func TestParseArgsHelp(t *testing.T) {
	for in, want := range map[string]string{
		"help": "", "--help": "", "-h": "", "help place": "place", "place --help x": "place",
		"place -t 3 -h": "place", "help node import": "node import", "node help": "node", "node": "",
	} {
		inv, _ := sampleRunner().parseArgs(strings.Fields(in))
		if inv.help != (in != "node") || inv.help && inv.verb() != want {
			t.Errorf("%s: help %v of %q", in, inv.help, inv.verb())
		}
	}
}

// What a verb reads from its context is what was meant.
func TestExec(t *testing.T) {
	var got []string
	action := func(_ *runner, c *cli.Context) error {
		got = append([]string{c.Command.Name, c.String("select"), strings.Join(c.StringSlice("allow"), ";")}, c.Args().Slice()...)
		return nil
	}
	tests := []struct {
		in   string
		dash int
		want []string
		err  string
	}{
		{"place a -l x --allow p,q b", -1, []string{"place", "x", "p,q", "a", "b"}, ""},
		{"place a --allow=p --allow q -- -l --", 1, []string{"place", "", "p;q", "a", "-l", "--"}, ""},
		{"place help", -1, []string{"place", "", "", "help"}, ""},
		{"node import -5", -1, []string{"import", "", "", "-5"}, ""},
		{"class -- plan", 0, []string{"class", "", "", "plan"}, ""},
		{"class a b c", -1, []string{"class", "", "", "a", "b", "c"}, ""},
		{"class plan off", -1, []string{"plan", "", "", "off"}, ""},
		{"class plan x", -1, nil, "class plan: x is not one of on, off"},
		{"class", -1, nil, "class: wants at least 1 argument (NAME...), got 0"},
		{"node import", -1, nil, "node import: wants 1 argument (FILE), got 0"},
		{"node rm --why=w x", -1, nil, "node rm: takes no arguments, got x"},
		{"place a b c d", -1, nil, "place: takes at most 3 arguments (REQUEST [X] [Y]), got one more: d"},
	}
	for _, tt := range tests {
		c := newCapture(strings.Fields(tt.in)...)
		r := c.runner()
		r.verbs = entries(sampleVerbs(action)...)
		got = nil
		err := r.main()
		if text := errorString(err); text != tt.err {
			t.Errorf("%s: error %q, want %q", tt.in, text, tt.err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || r.dash != tt.dash {
			t.Errorf("%s: dash %d, want %d\n%s", tt.in, r.dash, tt.dash, diff)
		}
		if c.out.Len()+c.err.Len() > 0 {
			t.Errorf("%s: wrote %q %q", tt.in, c.out.String(), c.err.String())
		}
	}
}

func errorString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOneOf(t *testing.T) {
	cycle := &verb{Name: "cycle", Flags: []cli.Flag{&cli.StringFlag{Name: "backfill", Value: "easy"}}, Run: func(_ *runner, c *cli.Context) error {
		_, err := oneOf(c, "backfill", "fcfs", "easy", "conservative")
		return err
	}}
	for in, want := range map[string]string{
		"cycle": "", "cycle --backfill fcfs": "",
		"cycle --backfill esay": "cycle: --backfill: esay is not one of fcfs, easy, conservative",
	} {
		r := newCapture(strings.Fields(in)...).runner()
		r.verbs = entries(cycle)
		if err := r.main(); errorString(err) != want {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzParseArgs(f *testing.F) {
	for _, s := range []string{"place\n-t\n90\nx\n--\n-o", "node\nimport\n--from=csv\n-5", "-ojson\nplace\n--priority\n-5", "place\n-l==x", "class\nplan", "--version"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		inv, err := sampleRunner().parseArgs(strings.Split(s, "\n"))
		if err != nil || inv.help {
			return
		}
		again, err := sampleRunner().parseArgs(inv.argv())
		if err != nil {
			t.Fatalf("%q, rewritten: %v", inv.argv(), err)
		}
		if diff := cmp.Diff(inv.argv(), again.argv()); diff != "" || len(again.globals) > 0 || again.help {
			t.Fatalf("rewritten twice:\n%s", diff)
		}
		if diff := cmp.Diff(inv.args, again.args); diff != "" {
			t.Fatalf("arguments:\n%s", diff)
		}
	})
}

func TestTimeFlags(t *testing.T) {
	when := func() *verb {
		return &verb{
			Name:  "when",
			Flags: []cli.Flag{&cli.StringFlag{Name: "at"}, &cli.StringFlag{Name: "walltime", Aliases: []string{"t"}}},
			Run: func(r *runner, c *cli.Context) error {
				at, err := r.time(c, "at")
				if err != nil {
					return err
				}
				d, err := r.duration(c, "walltime")
				if err != nil {
					return err
				}
				p := r.printer(output.Result{Columns: []output.Column{{Name: "at", Kind: output.Time}, {Name: "walltime", Kind: output.Duration}}, Record: true})
				p.Row(at, d)
				return p.Close()
			},
		}
	}
	for in, want := range map[string]string{
		"when -t 1h30m --at now+1h --now @1000 -o json": `{"at":"1970-01-01T01:16:40Z","walltime":5400}` + "\n",
		"when -t 1x":   `placectl: when: --walltime: "1x" is not a duration`,
		"when --at 1x": `placectl: when: --at: "1x" is not a time`,
		"when --at=":   `placectl: when: --at: "" is not a time: it is empty`,
	} {
		c := newCapture(strings.Fields(in)...)
		r := c.runner()
		r.verbs = entries(when())
		r.report(r.main())
		if got := c.out.String() + c.err.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", in, got)
		}
	}
}
