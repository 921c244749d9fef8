package verbs

import (
	"context"
	"flag"
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// Context is what a verb reads its flags and arguments from. It is made here rather
// than by running an app of the cli package, which for each run compares the names of
// all flags with each other, by a regular expression: 0.2 ms a verb, and placectl tx
// runs thousands.
func (inv Invocation[R]) Context(ctx context.Context) (*cli.Context, error) {
	v := inv.Leaf()
	set := flag.NewFlagSet(v.Name, flag.ContinueOnError)
	lists := make(map[string][]string)
	for _, g := range inv.Flags {
		name, value := g.Name(), g.Value
		if set.Lookup(name) == nil {
			define(set, g.Flag)
		}
		if _, many := g.Flag.(*cli.StringSliceFlag); many {
			// Serialized as a whole, because a comma belongs to the value:
			// --resource color=string,unique.
			lists[name] = append(lists[name], value)
			value = cli.NewStringSlice(lists[name]...).Serialize()
		}
		if err := set.Set(name, value); err != nil {
			return nil, usage.Errorf("%s: %v", Dashed(name), err)
		}
	}
	if err := set.Parse(append([]string{"--"}, inv.Args...)); err != nil {
		return nil, err
	}
	c := cli.NewContext(nil, set, v.notGiven())
	c.Context, c.Command.Name = ctx, v.Name
	return c, nil
}

// notGiven is what a context looks in for the flags that a command line does not give:
// all of the verb's, as they are then. It is made once for all lines of a transaction.
func (v *Verb[R]) notGiven() *cli.Context {
	if v.defaults == nil {
		set := flag.NewFlagSet(v.Name, flag.ContinueOnError)
		for _, f := range v.Flags {
			define(set, f)
		}
		v.defaults = cli.NewContext(nil, set, nil)
	}
	return v.defaults
}

// define makes a flag known under its first name, under which verbs ask for it.
func define(set *flag.FlagSet, f cli.Flag) {
	switch f := f.(type) {
	case *cli.StringFlag:
		set.String(f.Name, f.Value, "")
	case *cli.BoolFlag:
		set.Bool(f.Name, f.Value, "")
	case *cli.IntFlag:
		set.Int(f.Name, f.Value, "")
	case *cli.Int64Flag:
		set.Int64(f.Name, f.Value, "")
	case *cli.StringSliceFlag:
		set.Var(cli.NewStringSlice(), f.Name, "")
	default:
		panic(fmt.Sprintf("--%s is a %T, which no verb had until now: define it here", f.Names()[0], f))
	}
}

// names are the names of a flag, the first one alone and the others: without the regular
// expression that the cli package puts each of them through.
func names(f cli.Flag) (first string, others []string) {
	switch f := f.(type) {
	case *cli.StringFlag:
		return f.Name, f.Aliases
	case *cli.BoolFlag:
		return f.Name, f.Aliases
	case *cli.IntFlag:
		return f.Name, f.Aliases
	case *cli.Int64Flag:
		return f.Name, f.Aliases
	case *cli.StringSliceFlag:
		return f.Name, f.Aliases
	}
	all := f.Names()
	return all[0], all[1:]
}
