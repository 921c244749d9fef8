package verbs

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// Do runs action as the action of the verb, with its flags and arguments. The cli package
// parses them and finds the verb.
func (inv Invocation[R]) Do(ctx context.Context, action cli.ActionFunc) error {
	app := &cli.App{
		Name:     "placectl",
		Commands: []*cli.Command{inv.command(inv.Path, action)},
		HideHelp: true, HideVersion: true, // Parse has taken them out
		DisableSliceFlagSeparator: true, // a comma belongs to the value: --resource color=string,unique
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*cli.Context, error) {},
		Compiled:                  time.Unix(1, 0), // else it looks at the program's file
	}
	return app.RunContext(ctx, inv.words())
}

// Context is what a verb reads its flags and arguments from.
func (inv Invocation[R]) Context(ctx context.Context) (c *cli.Context, err error) {
	err = inv.Do(ctx, func(got *cli.Context) error {
		c = got
		return nil
	})
	return c, err
}

// command declares the first verb of a path for the cli package. The innermost one has no
// verbs below it: its first argument may be called as one of them is.
func (inv Invocation[R]) command(path []*Verb[R], action cli.ActionFunc) *cli.Command {
	c := &cli.Command{Name: path[0].Name, HideHelp: true, OnUsageError: usageError}
	if len(path) > 1 {
		c.Subcommands = []*cli.Command{inv.command(path[1:], action)}
		return c
	}
	c.Flags, c.Action = inv.needed(), action
	return c
}

// needed are the flags that were given, and those with a default. To one that it does not
// know the cli package answers with the zero value, too, and it compares the names of all that
// it knows with each other: 1 ms for the 60 flags of submit.
func (inv Invocation[R]) needed() (list []cli.Flag) {
	for _, g := range inv.Flags {
		if !slices.Contains(list, g.Flag) {
			list = append(list, g.Flag)
		}
	}
	for _, f := range inv.Leaf().Flags {
		if hasDefault(f) && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

func hasDefault(f cli.Flag) bool {
	doc, ok := f.(cli.DocGenerationFlag)
	return ok && doc.TakesValue() && doc.GetValue() != "" && doc.GetValue() != "0"
}

// words are the command line as the cli package reads it: flags before arguments.
func (inv Invocation[R]) words() []string {
	words := []string{"placectl"}
	for _, v := range inv.Path {
		words = append(words, v.Name)
	}
	for _, g := range inv.Flags {
		words = append(words, g.Word())
	}
	return append(append(words, "--"), inv.Args...)
}

// usageError calls a flag in an error of the cli package as it is written.
func usageError(_ *cli.Context, err error, _ bool) error { return usage.Errorf("%w", err) }
