package slurm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// sacctmgr answers queries about accounts: there are only those of jobs.
func sacctmgr(c *fronts.Call) error {
	if !slices.Contains(c.Args, "list") && !slices.Contains(c.Args, "show") {
		return fronts.Failf(1,
			"sacctmgr: error: not supported: see placectl account, placectl class and placectl query")
	}
	return accounts(c)
}

// sshare answers queries about accounts.
func sshare(c *fronts.Call) error { return accounts(c) }

func accounts(c *fronts.Call) error {
	return c.View(func(v fronts.View) error {
		about, err := v.About()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(c.Args, func(w string) bool {
			return w == "--noheader" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w,
				"n")
		}) {
			fmt.Fprintf(c.Stdout, "%20s\n%s\n", "Account", strings.Repeat("-", 20))
		}
		for _, a := range about.Accounts {
			fmt.Fprintf(c.Stdout, "%20s\n", fronts.Word(a))
		}
		return nil
	})
}
