package main

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// The shares of a cluster that classes of jobs are meant to have. Each verb below
// class has a file of its own; all that set something answer like class show.

func classVerb() *verb {
	return &verb{
		Name:     "class",
		Category: "Shares",
		Usage:    "classes of jobs, and the share of the cluster that each is to have",
		Description: "A class has a load, relative to the loads of the others. What one class does not use is loaned to those that\n" +
			"have jobs waiting. A job is in the class it names, or in the one that its user is mapped to. What is counted,\n" +
			"cpus as a rule, is the setting share_unit.",
		Example: "placectl class set research=60 teaching=30 tests=10",
		Verbs: []*verb{classShowVerb(), classSetVerb(), classMapVerb(), classDefaultVerb(),
			classRebalanceVerb(), classRmVerb(), classPlanVerb()},
	}
}

// changeShares lets fn change the settings, keeps them and shows what they are now.
func (r *runner) changeShares(c *cli.Context, fn func(*fairshare.Settings) error) error {
	return r.update(c, func(tx *store.Tx) error {
		s, err := tx.Shares()
		if err != nil {
			return err
		}
		if err := fn(s); err != nil {
			return usagef("%w", err)
		}
		if err := tx.SetShares(s); err != nil {
			return err
		}
		return r.printShares(tx)
	})
}

// A classPair is NAME=VALUE as an argument.
type classPair struct{ class, value string }

// classPairs takes words apart; what is how the value is called.
func classPairs(words []string, what string) ([]classPair, error) {
	var pairs []classPair
	for _, arg := range words {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("%s is not NAME=%s", spell.Quoted(arg), what)
		}
		pairs = append(pairs, classPair{name, value})
	}
	return pairs, nil
}

// noClass says that there is no class of a name.
func noClass(s *fairshare.Settings, name string) error {
	names := make([]string, len(s.Loads))
	for i, c := range s.Loads {
		names[i] = c.Class
	}
	return fmt.Errorf("no class %s%s: %w", spell.Quoted(name), index.DidYouMean(name, names), store.ErrNotFound)
}
