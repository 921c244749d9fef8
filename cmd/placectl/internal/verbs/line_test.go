package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// seen is what a sample verb has found in its context.
type seen struct {
	words []string
	dash  int
}

// sampleVerbs returns a tree with every kind of verb.
func sampleVerbs() []*Verb[*seen] {
	return []*Verb[*seen]{
		{
			Name: "place", Run: look, Args: []Arg{{Name: "REQUEST"}, {Name: "X", Optional: true},
				{Name: "Y", Optional: true}},
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
			Verbs: []*Verb[*seen]{
				{Name: "import", Run: look, Args: []Arg{{Name: "FILE"}},
					Flags: []cli.Flag{&cli.StringFlag{Name: "from"}}},
				{Name: "rm", Run: look, Flags: []cli.Flag{&cli.StringFlag{Name: "why", Required: true}}},
			},
		},
		{Name: "class", Run: look, Args: []Arg{{Name: "NAME", Many: true}},
			Verbs: []*Verb[*seen]{{Name: "plan", Run: look, Args: []Arg{{Name: "on|off", Kind: KindWord}}}}},
	}
}

func look(s *seen, c *cli.Context) error {
	s.words = append([]string{c.Command.Name, c.String("select"), strings.Join(c.StringSlice("allow"), ";")},
		c.Args().Slice()...)
	return nil
}

// sample returns a list of those verbs.
func sample() (list List[*seen]) {
	for _, v := range sampleVerbs() {
		list = append(list, Entry[*seen]{Name: v.Name, Make: func() *Verb[*seen] { return v }})
	}
	return list
}

// argv writes a command line in one order: verb, flags as --name=value, "--", arguments.
func argv(inv Invocation[*seen]) []string {
	var words []string
	for _, v := range inv.Path {
		words = append(words, v.Name)
	}
	for _, g := range inv.Flags {
		words = append(words, g.Word())
	}
	if len(inv.Args) > 0 {
		words = append(append(words, "--"), inv.Args...)
	}
	return words
}

func TestParse(t *testing.T) {
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
		inv, err := sample().Parse(strings.Fields(tt.in))
		if err != nil {
			t.Errorf("Parse(%s) fails: %v", tt.in, err)
			continue
		}
		var globals []string
		for _, s := range inv.Globals {
			globals = append(globals, s.Flag.Name+"="+s.Value)
		}
		got := []string{strings.Join(argv(inv), " "), strings.Join(globals, " ")}
		if diff := cmp.Diff([]string{tt.want, tt.globals}, got); diff != "" {
			t.Errorf("Parse(%s) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
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
		{"place --priority many", `place: --priority must be a whole number, not "many"`},
		{"place --dry-run=maybe", `place: --dry-run takes no value, or true or false, not "maybe"`},
		{"place --quiet=maybe", `place: --quiet takes no value, or true or false, not "maybe"`},
		{"node rm x", "node rm: --why is required"},
	}
	for _, tt := range tests {
		_, err := sample().Parse(strings.Fields(tt.in))
		if !errors.Is(err, usage.Err) {
			t.Errorf("Parse(%s): %v is no usage error", tt.in, err)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("Parse(%s):\n got %s\nwant %s", tt.in, err, tt.want)
		}
	}
}

// TestParseGoesOnAfterError: an error must not hide the -o json behind it.
func TestParseGoesOnAfterError(t *testing.T) {
	inv, err := sample().Parse(strings.Fields("place --nope x -o json --db f"))
	if err == nil || len(inv.Globals) != 2 {
		t.Errorf("Parse returns %v and %d global flags", err, len(inv.Globals))
	}
}

func TestParseHelp(t *testing.T) {
	for in, want := range map[string]string{
		"help": "", "--help": "", "-h": "", "help place": "place", "place --help x": "place",
		"place -t 3 -h": "place", "help node import": "node import", "node help": "node", "node": "",
	} {
		inv, _ := sample().Parse(strings.Fields(in))
		if inv.Help != (in != "node") || inv.Help && inv.Verb() != want {
			t.Errorf("Parse(%s): help %v of %q", in, inv.Help, inv.Verb())
		}
	}
}

// run runs a command line as placectl does.
func run(line string, s *seen) error {
	inv, err := sample().Parse(strings.Fields(line))
	if err != nil {
		return err
	}
	s.dash = inv.Dash
	v := inv.Leaf()
	c, err := inv.Context(context.Background())
	if err == nil {
		err = v.Check(c)
	}
	if err != nil {
		return usage.Name(inv.Verb(), err)
	}
	return v.Run(s, c)
}

// TestRun: a verb reads from its context what was given.
func TestRun(t *testing.T) {
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
		{"class", -1, nil, "class: needs at least 1 argument (NAME...), got 0"},
		{"node import", -1, nil, "node import: wants 1 argument (FILE), got 0"},
		{"node rm --why=w x", -1, nil, "node rm: takes no arguments, got x"},
		{"place a b c d", -1, nil, "place: takes at most 3 arguments (REQUEST [X] [Y]), got one more: d"},
	}
	for _, tt := range tests {
		got := new(seen)
		text := ""
		if err := run(tt.in, got); err != nil {
			text = err.Error()
		}
		if text != tt.err {
			t.Errorf("%s: error %q, want %q", tt.in, text, tt.err)
		}
		if diff := cmp.Diff(tt.want, got.words); diff != "" || got.dash != tt.dash {
			t.Errorf("%s: dash %d, want %d\n%s", tt.in, got.dash, tt.dash, diff)
		}
	}
}

// TestRunAgain: lines of a transaction share the verbs, but not their flags.
func TestRunAgain(t *testing.T) {
	list := sample()
	var got []string
	for _, line := range []string{"place a -l x --allow p --allow q", "place b", "place c --allow r", "place d -l y"} {
		inv, err := list.Parse(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		c, err := inv.Context(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := new(seen)
		if err := inv.Leaf().Run(s, c); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(s.words, c.IsSet("select"), c.IsSet("allow"), c.IsSet("walltime")))
	}
	want := []string{"[place x p;q a] true true false", "[place   b] false false false",
		"[place  r c] false true false", "[place y  d] true false false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the verbs read (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"place\n-t\n90\nx\n--\n-o", "node\nimport\n--from=csv\n-5",
		"-ojson\nplace\n--priority\n-5", "place\n-l==x", "class\nplan", "--version"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		inv, err := sample().Parse(strings.Split(s, "\n"))
		if err != nil || inv.Help {
			return
		}
		again, err := sample().Parse(argv(inv))
		if err != nil {
			t.Fatalf("Parse of the rewritten line %q: %v", argv(inv), err)
		}
		if diff := cmp.Diff(argv(inv), argv(again)); diff != "" || len(again.Globals) > 0 || again.Help {
			t.Fatalf("rewriting again changes the line:\n%s", diff)
		}
		if diff := cmp.Diff(inv.Args, again.Args); diff != "" {
			t.Fatalf("the arguments have changed:\n%s", diff)
		}
	})
}
