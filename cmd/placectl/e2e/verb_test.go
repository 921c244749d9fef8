package e2e

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// entries lists verbs that are already made.
func entries(made ...*session.Verb) (list verbs.List[*session.Run]) {
	for _, v := range made {
		list = append(list, verbs.Entry[*session.Run]{Name: v.Name, Make: func() *session.Verb { return v }})
	}
	return list
}

func noAction(*session.Run, *cli.Context) error { return nil }

func errorString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestChosen(t *testing.T) {
	cycle := &session.Verb{Name: "cycle",
		Flags: []cli.Flag{verbs.Choice(&cli.StringFlag{Name: "backfill", Value: "easy"}, "fcfs", "easy",
			"conservative")}, Run: func(_ *session.Run, c *cli.Context) error {
			_, err := verbs.Chosen(c, "backfill")
			return err
		}}
	for in, want := range map[string]string{
		"cycle": "", "cycle --backfill fcfs": "",
		"cycle --backfill esay": "cycle: --backfill: esay is not one of fcfs, easy, conservative; did you mean easy?",
	} {
		r := newCapture(strings.Fields(in)...).runner()
		r.Verbs = entries(cycle)
		if err := r.Main(); errorString(err) != want {
			t.Errorf("%s: error %v, want %q", in, err, want)
		}
	}
}

func TestTimeFlags(t *testing.T) {
	when := func() *session.Verb {
		return &session.Verb{
			Name:  "when",
			Flags: []cli.Flag{&cli.StringFlag{Name: "at"}, &cli.StringFlag{Name: "walltime", Aliases: []string{"t"}}},
			Run: func(r *session.Run, c *cli.Context) error {
				at, err := r.Time(c, "at")
				if err != nil {
					return err
				}
				d, err := r.Duration(c, "walltime")
				if err != nil {
					return err
				}
				p := r.Printer(
					output.Result{Columns: []output.Column{{Name: "at", Kind: output.Time},
						{Name: "walltime", Kind: output.Duration}}, Record: true})
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
		r.Verbs = entries(when())
		r.Report(r.Main())
		if got := c.out.String() + c.err.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s prints %s, want %s", in, got, want)
		}
	}
}

// TestRights: every verb that opens a database says who may use it.
func TestRights(t *testing.T) {
	var look func(path string, v *session.Verb)
	look = func(path string, v *session.Verb) {
		if v.Runs() && (v.May < engine.Anybody || v.May > engine.Owners) {
			t.Errorf("%s does not say who may use it", path)
		}
		for flag := range v.Takes {
			if verbs.FindFlag(v.Flags, flag) == nil {
				t.Errorf("%s has a right for --%s, which is no flag of it", path, flag)
			}
		}
		for _, sub := range v.Verbs {
			look(path+" "+sub.Name, sub)
		}
	}
	for _, e := range command.Verbs() {
		look(e.Name, e.Verb())
	}
}
