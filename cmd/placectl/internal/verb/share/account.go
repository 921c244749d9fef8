package share

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Account declares the verb account.
func Account() *session.Verb {
	return &session.Verb{
		Name:     "account",
		Category: "Shares",
		Usage:    "manage accounts and their shares",
		Description: "A job names its account with --account. A limit on an account covers the accounts below it. " +
			"Shares say how\n" +
			"an account's share is divided among its members and the accounts below. If an account has --allow, " +
			"only\n" +
			"those may name it; --allow '' admits everyone again.",
		Example: "placectl account set chem --shares 40",
		Verbs: []*session.Verb{
			{Name: "list", Usage: "list accounts", May: engine.Anybody, Access: verbs.Reads, InTx: accountList,
				Example: "placectl account list"},
			{Name: "set", Usage: "make or change an account", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindAccount}}, Access: verbs.Writes, InTx: accountSet,
				Flags: []cli.Flag{&cli.StringFlag{Name: "parent", Usage: "parent account `A` ('': none)"},
					&cli.StringFlag{Name: "shares",
						Usage: "`N` shares of its parent, against those of its siblings (1)"},
					&cli.StringSliceFlag{Name: "member",
						Usage: "`USER=N`: give the user N shares (default 1) of the account; - removes the user"},
					&cli.StringFlag{Name: "allow", Usage: "admit only these, `user=U,group=G`"}},
				Example: "placectl account set org --parent chem --shares 3 --member ann=2 --member bob=1\n" +
					"placectl account set org --allow user=ann,group=org"},
			{Name: "rm", Usage: "delete an account", May: engine.Operators,
				Args: []verbs.Arg{{Name: "NAME", Kind: verbs.KindAccount}}, Access: verbs.Writes, InTx: accountRemove,
				Example: "placectl account rm org"},
		},
	}
}

func accountList(r *session.Run, tx *engine.Tx, _ *cli.Context) error {
	var list []engine.Account
	if err := tx.Accounts().Each(func(a engine.Account) error { list = append(list, a); return nil }); err != nil {
		return err
	}
	return printAccounts(r, list...)
}

func accountSet(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	name := c.Args().First()
	a, err := tx.Accounts().Get(name)
	if errors.Is(err, engine.ErrNotFound) {
		a, err = engine.Account{Name: name, Shares: 1}, nil
	}
	if err != nil {
		return err
	}
	if c.IsSet("parent") {
		a.Parent = c.String("parent")
	}
	if c.IsSet("shares") {
		if a.Shares, err = session.WholeAmount(c.String("shares")); err != nil {
			return usage.Errorf("--shares: %w", err)
		}
	}
	if c.IsSet("allow") {
		a.Allow = text.SplitList(c.String("allow"))
	}
	for _, value := range c.StringSlice("member") {
		if a.Members, err = withMember(a.Members, value); err != nil {
			return err
		}
	}
	if err := tx.Accounts().Set(a); err != nil {
		return err
	}
	if a, err = tx.Accounts().Get(name); err != nil {
		return err
	}
	return printAccounts(r, a)
}

// withMember applies a value of --member to a list of members: ann=2, ann, or ann=-.
func withMember(list []engine.AccountMember, text string) ([]engine.AccountMember, error) {
	user, number, given := strings.Cut(text, "=")
	m := engine.AccountMember{User: user, Shares: 1}
	if given && number != "-" {
		var err error
		if m.Shares, err = session.WholeAmount(number); err != nil {
			return nil, usage.Errorf("--member %s: %w", user, err)
		}
	}
	var out []engine.AccountMember
	for _, one := range list {
		if one.User != user {
			out = append(out, one)
		}
	}
	if given && number == "-" {
		return out, nil
	}
	return append(out, m), nil
}

func accountRemove(r *session.Run, tx *engine.Tx, c *cli.Context) error {
	a, err := tx.Accounts().Get(c.Args().First())
	if err != nil {
		return err
	}
	if err := tx.Accounts().Remove(a.Name); err != nil {
		return err
	}
	return printAccounts(r, a)
}

func printAccounts(r *session.Run, list ...engine.Account) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "name"}, {Name: "parent"}, {Name: "shares", Kind: output.Integer},
			{Name: "members", Kind: output.List}, {Name: "allow", Kind: output.List}}})
	for _, a := range list {
		var members []string
		for _, m := range a.Members {
			members = append(members, fmt.Sprint(m.User, "=", strconv.FormatInt(m.Shares, 10)))
		}
		p.Row(a.Name, output.OrNil(a.Parent), a.Shares, members, a.Allow)
	}
	return p.Close()
}
