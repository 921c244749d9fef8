package database

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/people"
)

// examineBoot says what a reboot, a logout and the end of a container do to a queue that runs
// without a supervisor.
func examineBoot() (all []keeper.Finding) {
	all = append(all, keeper.Finding{What: "reboot", State: keeper.Works,
		Detail: "your next command goes on with the queue; docs/recipes.md has a crontab line for it"})
	name := people.System.Name(uint32(os.Getuid()))
	_, lingers := os.Stat("/var/lib/systemd/linger/" + name)
	switch {
	case killsUserProcesses() && lingers != nil:
		all = append(all, keeper.Finding{What: "logout", State: keeper.Limited,
			Detail: "ends what you have left running, jobs too (KillUserProcesses=yes in logind.conf): loginctl " +
				"enable-linger keeps it"})
	default:
		all = append(all, keeper.Finding{What: "logout", State: keeper.Works,
			Detail: "jobs and the queue runner go on"})
	}
	if in := container(); in != "" {
		all = append(all, keeper.Finding{What: "container", State: keeper.Limited,
			Detail: in + ": when its first process ends, jobs end with it, and are lost"})
	}
	return all
}

// killsUserProcesses reports whether logind ends all processes of a user at logout.
func killsUserProcesses() (kills bool) {
	names, _ := filepath.Glob("/etc/systemd/logind.conf.d/*.conf")
	for _, name := range append([]string{"/etc/systemd/logind.conf"}, names...) {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.TrimSpace(line), "KillUserProcesses="); is {
				kills = value == "yes" || value == "true" || value == "1" || value == "on"
			}
		}
	}
	return kills
}

// container returns the name of this process's container, "" if there is none.
func container() string {
	for _, name := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(name); err == nil {
			return "this is a container (" + name + ")"
		}
	}
	return ""
}
