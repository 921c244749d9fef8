package main

import (
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func classRmVerb() *verb {
	return &verb{
		Name:  "rm",
		Usage: "forget classes",
		Args:  []verbs.Arg{{Name: "NAME", Kind: verbs.KindClass, Many: true, Unless: "all"}},
		Description: "The mappings to them go with them; if one was the default, the class of the least load is. Their jobs are then\n" +
			"in the class that their users map to. --all forgets every setting of class shares.",
		Flags:   []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "all classes, mappings and the rest"}},
		Access:  verbs.Writes,
		Example: "placectl class rm teaching",
		Run:     (*runner).classRm,
	}
}

func (r *runner) classRm(c *cli.Context) error {
	if c.Bool("all") && c.NArg() > 0 {
		return usagef("either classes or --all")
	}
	return r.update(c, func(tx *store.Tx) error {
		s, err := tx.Shares()
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
		if err := tx.SetShares(s); err != nil {
			return err
		}
		return r.printShares(tx)
	})
}

// removeClass takes a class out of settings, and all that speaks of it.
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
