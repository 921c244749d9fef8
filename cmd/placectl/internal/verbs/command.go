package verbs

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/urfave/cli/v2"
)

// Do runs action as the verb's action, with its flags and arguments, which the cli package parses.
func (inv Invocation[R]) Do(ctx context.Context, action cli.ActionFunc) error {
	app := &cli.App{
		Name:     "placectl",
		Commands: []*cli.Command{inv.command(inv.Path, action)},
		HideHelp: true, HideVersion: true, // Parse has taken them out
		DisableSliceFlagSeparator: true, // a comma belongs to the value: --resource color=string,unique
		Writer:                    io.Discard,
		ErrWriter:                 io.Discard,
		ExitErrHandler:            func(*cli.Context, error) {},
		Compiled:                  time.Unix(1, 0), // otherwise the package stats the program's file
	}
	return app.RunContext(ctx, inv.words())
}

// Context returns what a verb reads its flags and arguments from.
func (inv Invocation[R]) Context(ctx context.Context) (c *cli.Context, err error) {
	err = inv.Do(ctx, func(got *cli.Context) error {
		c = got
		return nil
	})
	return c, err
}

// command declares the first verb of a path for the cli package. The innermost verb has none below
// it, because its first argument may have the name of one.
func (inv Invocation[R]) command(path []*Verb[R], action cli.ActionFunc) *cli.Command {
	c := &cli.Command{Name: path[0].Name, HideHelp: true, OnUsageError: usageError}
	if len(path) > 1 {
		c.Subcommands = []*cli.Command{inv.command(path[1:], action)}
		return c
	}
	c.Flags, c.Action = inv.needed(), action
	return c
}

// needed returns the flags that were given, and those with a default. For unknown flags the cli
// package also returns the zero value. It compares the names of all declared flags with each
// other, which takes 1 ms for the 60 flags of submit.
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

// words returns the command line as the cli package reads it: flags before arguments.
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

// usageError turns an error of the cli package into a usage error.
func usageError(_ *cli.Context, err error, _ bool) error { return usage.Errorf("%w", err) }
