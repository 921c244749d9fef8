package pbs

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// qmgr prints the server and its queues as commands that would make them. It changes nothing.
func qmgr(c *fronts.Call) error {
	given, rest, err := options(c, "a c= e n z")
	if err != nil {
		return err
	}
	asked := strings.Fields(strings.ToLower(fronts.SetOf(given)["c"]))
	if len(rest) > 0 || len(asked) < 2 || !strings.HasPrefix("print", asked[0]) || asked[0] == "" ||
		!strings.HasPrefix("server", asked[1]) {
		return fronts.Failf(2, "qmgr: only -c 'print server' is supported: settings are placectl config, queues "+
			"placectl queue, nodes placectl node, limits placectl limit")
	}
	return c.View(func(v fronts.View) error {
		about, err := v.About()
		if err != nil {
			return err
		}
		var b strings.Builder
		heading := func(what string) { fmt.Fprintf(&b, "#\n# %s\n#\n", what) }
		heading("Create queues and set their attributes.")
		queues := about.Queues
		if len(queues) == 0 {
			queues = []string{about.Partition}
		}
		for _, q := range queues {
			heading("Create and define queue " + q)
			fmt.Fprintf(&b, "create queue %s\nset queue %[1]s queue_type = Execution\nset queue %[1]s enabled = "+
				"True\nset queue %[1]s started = True\n", q)
		}
		heading("Set server attributes.")
		fmt.Fprintf(&b, "set server scheduling = True\nset server default_queue = %s\nset server "+
			"resources_default.walltime = %s\nset server job_history_enable = True\nset server pbs_version = %s\n",
			about.Partition, clock(about.Walltime), strings.TrimPrefix(version, "pbs_version = PBSPro_"))
		_, err = fmt.Fprint(c.Stdout, b.String())
		return err
	})
}
