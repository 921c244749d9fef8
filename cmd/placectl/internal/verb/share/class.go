// Package share holds the verbs that set who may use how much: classes, queues, accounts, limits,
// pools, preemption, priority, roles.
package share

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/sharefile"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

// Classes of jobs share a cluster. All verbs below class that set something answer like class
// show, which is in class_show.go.

// Class declares the verb class.
func Class() *session.Verb {
	return &session.Verb{
		Name:     "class",
		Category: "Shares",
		Usage:    "manage classes of jobs and their shares of the cluster",
		Description: "A class has a load, relative to the loads of the others. If a class does not use its share, " +
			"others with\n" +
			"waiting jobs borrow it. A job is in the class that it names, or else in the one that its user is " +
			"mapped to.\n" +
			"The setting share_unit says what is counted: cpus by default.",
		Example: "placectl class set research=60 teaching=30 tests=10",
		Verbs: []*session.Verb{classShowVerb(), classSetVerb(), classMapVerb(), classDefaultVerb(),
			classRebalanceVerb(), classRmVerb(), classPlanVerb()},
	}
}

// changeShares lets fn change the settings, stores them and shows the result.
func changeShares(r *session.Run, c *cli.Context, fn func(*fairshare.Settings) error) error {
	return r.Update(c, func(tx *engine.Tx) error {
		s, err := tx.Shares().Get()
		if err != nil {
			return err
		}
		if err := fn(s); err != nil {
			return usage.Errorf("%w", err)
		}
		if err := tx.Shares().Set(s); err != nil {
			return err
		}
		return printShares(r, tx)
	})
}

// noClass returns the error for an unknown class.
func noClass(s *fairshare.Settings, name string) error {
	names := make([]string, len(s.Loads))
	for i, c := range s.Loads {
		names[i] = c.Class
	}
	return fmt.Errorf("no class %s%s: %w", text.Quoted(name), index.DidYouMean(name, names), engine.ErrNotFound)
}

func classSetVerb() *session.Verb {
	return &session.Verb{
		Name:  "set",
		Usage: "set the loads of classes, and make new ones",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAME=LOAD", Many: true}},
		Description: "LOAD is a whole number of at least 0, relative to the others: 2 and 1 are the same as 60 and " +
			"30. A class of\n" +
			"load 0 gets what the others leave. Classes that you do not name keep their loads.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "replace", Usage: "delete all other classes"},
			&cli.StringFlag{Name: "allow", Usage: "admit only these to the named classes, `user=U,group=G` ('': all)"}},
		Access:  verbs.Writes,
		Example: "placectl class set research=60 teaching=30 tests=10\nplacectl class set --replace day=2 night=1",
		Run:     classSet,
	}
}

func classSet(r *session.Run, c *cli.Context) error {
	given, err := classLoads(c)
	if err != nil {
		return err
	}
	return changeShares(r, c, func(s *fairshare.Settings) error {
		was := ""
		if len(s.Loads) > 0 {
			was = s.DefaultClass()
		}
		var loads []fairshare.ClassLoad
		if !c.Bool("replace") {
			loads = s.ClassLoads()
		}
		for _, g := range given {
			at := slices.IndexFunc(loads, func(l fairshare.ClassLoad) bool { return l.Class == g.Class })
			if at < 0 {
				loads = append(loads, g)
			} else {
				loads[at] = g
			}
		}
		if c.IsSet("allow") {
			for _, g := range given {
				s.SetAllowed(g.Class, text.SplitList(c.String("allow")))
			}
		}
		if err := s.SetClassLoads(loads); err != nil {
			return err
		}
		if is := s.DefaultClass(); is != was {
			r.Notef("jobs that match no class are in %s, the class of least load; placectl class default NAME "+
				"chooses another", text.Quoted(is))
		}
		return nil
	})
}

// classLoads parses NAME=LOAD arguments, with each name once.
func classLoads(c *cli.Context) ([]fairshare.ClassLoad, error) {
	pairs, err := sharefile.Pairs(c.Args().Slice(), "LOAD")
	if err != nil {
		return nil, usage.Errorf("%w", err)
	}
	var loads []fairshare.ClassLoad
	for _, p := range pairs {
		load, err := sharefile.ParseLoad(p)
		if err != nil {
			return nil, usage.Errorf("%w", err)
		}
		if slices.ContainsFunc(loads, func(l fairshare.ClassLoad) bool { return l.Class == p.Class }) {
			return nil, usage.Errorf("class %s is given two loads", text.Quoted(p.Class))
		}
		loads = append(loads, load)
	}
	return loads, nil
}

func classMapVerb() *session.Verb {
	return &session.Verb{
		Name:  "map",
		Usage: "map requestors to classes; the first match counts",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAME=REGEXP", Many: true, Unless: "replace"}},
		Description: "REGEXP, in Go's syntax (RE2), may match anywhere in the requestor, a job's user, unless it has " +
			"^ and $. New\n" +
			"mappings go after the existing ones; one that is there changes nothing. --replace without a mapping " +
			"deletes all.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "replace", Usage: "delete all other mappings"},
			&cli.BoolFlag{Name: "first", Usage: "put these before the existing ones"}},
		Exclusive: []string{"replace first"},
		Access:    verbs.Writes,
		Example:   "placectl class map tests='^ci-' teaching='^(course|exam)' research=.*",
		Run:       classMap,
	}
}

func classMap(r *session.Run, c *cli.Context) error {
	pairs, err := sharefile.Pairs(c.Args().Slice(), "REGEXP")
	if err != nil {
		return usage.Errorf("%w", err)
	}
	var given []fairshare.Mapping
	for _, p := range pairs {
		given = append(given, fairshare.Mapping{Class: p.Class, Requestor: p.Value})
	}
	return changeShares(r, c, func(s *fairshare.Settings) error {
		switch {
		case c.Bool("replace"):
			return s.SetRequestorMap(given)
		case c.Bool("first"):
			return s.SetRequestorMap(append(given, s.RequestorMap()...))
		}
		have := s.RequestorMap()
		return s.SetRequestorMap(append(have, slices.DeleteFunc(given, func(m fairshare.Mapping) bool {
			return slices.Contains(have, m)
		})...))
	})
}

func classDefaultVerb() *session.Verb {
	return &session.Verb{
		Name:        "default",
		Usage:       "set the class of requestors that no mapping matches",
		May:         engine.Operators,
		Args:        []verbs.Arg{{Name: "NAME", Kind: verbs.KindClass}},
		Description: "An empty NAME ('') stands for the default: the class of the least load.",
		Access:      verbs.Writes,
		Example:     "placectl class default tests",
		Run:         classDefault,
	}
}

func classDefault(r *session.Run, c *cli.Context) error {
	return changeShares(r, c, func(s *fairshare.Settings) error { return s.SetDefaultClass(c.Args().First()) })
}

func classRmVerb() *session.Verb {
	return &session.Verb{
		Name:  "rm",
		Usage: "delete classes",
		May:   engine.Operators,
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindClass, Many: true, Unless: "all"}},
		Description: "Mappings to these classes are deleted, too. If the default class is deleted, the class of the " +
			"least load\n" +
			"becomes the default. Jobs of deleted classes move to the class that their user maps to. --all " +
			"deletes every\n" +
			"setting of class shares.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "list classes, mappings and the other settings of shares"}},
		Access:  verbs.Writes,
		Example: "placectl class rm teaching",
		Run:     classRm,
	}
}

func classRm(r *session.Run, c *cli.Context) error {
	if c.Bool("all") && c.NArg() > 0 {
		return usage.Errorf("give either classes or --all")
	}
	return r.Update(c, func(tx *engine.Tx) error {
		s, err := tx.Shares().Get()
		if err != nil {
			return err
		}
		for _, name := range c.Args().Slice() {
			if err := removeClass(s, name); err != nil {
				return err
			}
		}
		if c.Bool("all") || len(s.Loads) == 0 {
			*s = fairshare.Settings{}
		}
		if err := tx.Shares().Set(s); err != nil {
			return err
		}
		return printShares(r, tx)
	})
}

// removeClass removes a class from settings, with everything that mentions it.
func removeClass(s *fairshare.Settings, name string) error {
	before := len(s.Loads)
	s.Loads = slices.DeleteFunc(s.Loads, func(l fairshare.ClassLoad) bool { return l.Class == name })
	if len(s.Loads) == before {
		return noClass(s, name)
	}
	s.Map = slices.DeleteFunc(s.Map, func(m fairshare.Mapping) bool { return m.Class == name })
	if s.Default == name {
		s.Default = ""
	}
	return nil
}
