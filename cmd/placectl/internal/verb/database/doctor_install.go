package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// After a reboot, each user's next command restarts the queue. A line @reboot in the user's
// crontab is such a command. Without cron it is a systemd unit, which needs lingering.

// cronTime bounds how long crontab and systemctl may take.
const cronTime = 10 * time.Second

// onBoot returns the command that restarts the queue, and the mark that identifies its line.
func onBoot(r *session.Run) (command, mark string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	path := r.DatabasePath()
	if strings.ContainsAny(path+program, "%\n") {
		return "", "", usage.Errorf("%s: crontab cannot hold a path with %%", text.Quoted(path))
	}
	return text.JoinWords([]string{program, "--db", path, "status", "-q"}), "# placectl " + path, nil
}

// unitPath returns the path of the systemd unit for a database.
func unitPath(r *session.Run) string {
	name := strings.Trim(strings.ReplaceAll(r.DatabasePath(), "/", "-"), "-")
	config := r.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(people.System.Home(uint32(os.Getuid())), ".config")
	}
	return filepath.Join(config, "systemd", "user", "placectl-"+name+".service")
}

// crontab returns the user's crontab without the line for this database, and whether it had one.
func crontab(r *session.Run, mark string) (rest string, had bool, err error) {
	text, err := launch.Output(r.Ctx, cronTime, "crontab", "-l")
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	if err != nil && text == "" { // there is no crontab yet, or writing one fails, too
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	for line := range strings.Lines(text) {
		if strings.HasSuffix(strings.TrimRight(line, "\n"), " "+mark) {
			had = true
			continue
		}
		rest += strings.TrimRight(line, "\n") + "\n"
	}
	return rest, had, nil
}

func writeCrontab(r *session.Run, text string) error {
	f, err := os.CreateTemp("", "placectl-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.WriteString(text); err == nil {
		err = f.Close()
	}
	if err == nil {
		_, err = launch.Output(r.Ctx, cronTime, "crontab", f.Name())
	}
	return err
}

// startsAlone refuses to install a command that starts nothing.
func startsAlone(r *session.Run, c *cli.Context) error {
	return r.View(func(tx *store.Tx) error {
		set, err := tx.Config().Settings()
		if err == nil && set.Start != store.StartAuto && !c.Bool("uninstall") {
			err = &store.Conflict{What: "the setting start", Why: "it is manual, so a command after a reboot starts " +
				"nothing: config set start=auto, or let cron make passes"}
		}
		return err
	})
}

// install makes a reboot restart the queue, or undoes that.
func install(r *session.Run, c *cli.Context) error {
	if r.OverSSH() {
		return usage.Errorf("--install and --uninstall are for the host of the database")
	}
	command, mark, err := onBoot(r)
	if err != nil {
		return err
	}
	rest, had, err := crontab(r, mark)
	if errors.Is(err, fs.ErrNotExist) {
		return installUnit(r, c, command)
	}
	if err != nil {
		return fmt.Errorf("crontab: %w", err)
	}
	if err := startsAlone(r, c); err != nil {
		return err
	}
	line := "@reboot " + command + " >/dev/null 2>&1 " + mark
	if c.Bool("uninstall") {
		if !had {
			r.Notef("your crontab has no line for %s", r.DatabasePath())
			return nil
		}
		return writeCrontab(r, rest)
	}
	if err := r.Answer([]byte(line + "\n")); err != nil {
		return err
	}
	if err := writeCrontab(r, rest+line+"\n"); err != nil {
		return fmt.Errorf("crontab: %w", err)
	}
	r.Notef("it is in your crontab; placectl doctor --uninstall removes it")
	return nil
}

// installUnit does what install does on a host without cron.
func installUnit(r *session.Run, c *cli.Context, command string) error {
	path := unitPath(r)
	unit := filepath.Base(path)
	if c.Bool("uninstall") {
		//nolint:errcheck // the file is what counts
		launch.Output(r.Ctx, cronTime, "systemctl", "--user", "disable", unit)
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			r.Notef("there is no %s", path)
			return nil
		}
		return err
	}
	if err := startsAlone(r, c); err != nil {
		return err
	}
	text := "[Unit]\nDescription=goes on with the queue of " + r.DatabasePath() +
		"\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nKillMode=process\nExecStart=" + command +
		"\n\n[Install]\nWantedBy=default.target\n"
	if err := r.Answer([]byte("# " + path + "\n" + text)); err != nil {
		return err
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		return err
	}
	if _, err = launch.Output(r.Ctx, cronTime, "systemctl", "--user", "enable", path); err != nil {
		return fmt.Errorf("%s was written, but neither crontab nor systemd accepts it: %w", path, err)
	}
	r.Notef("it is enabled; loginctl enable-linger lets it run without a login; placectl doctor --uninstall removes it")
	return nil
}

// examineBoot says what a reboot, a logout and the end of a container do to a queue that runs
// without a supervisor.
func examineBoot(r *session.Run) (all []attempts.Finding) {
	detail := "your next command goes on with the queue; placectl doctor --install has cron or systemd do it"
	if _, mark, err := onBoot(r); err == nil {
		_, had, _ := crontab(r, mark)
		if _, err := os.Stat(unitPath(r)); had || err == nil {
			detail = "the queue goes on by itself"
		}
	}
	all = append(all, attempts.Finding{What: "reboot", State: attempts.Works, Detail: detail})
	name := people.System.Name(uint32(os.Getuid()))
	_, lingers := os.Stat("/var/lib/systemd/linger/" + name)
	switch {
	case killsUserProcesses() && lingers != nil:
		all = append(all, attempts.Finding{What: "logout", State: attempts.Limited,
			Detail: "ends what you have left running, jobs too (KillUserProcesses=yes in logind.conf): loginctl " +
				"enable-linger keeps it"})
	default:
		all = append(all, attempts.Finding{What: "logout", State: attempts.Works,
			Detail: "jobs and the process that attends to the queue go on"})
	}
	if in := container(); in != "" {
		all = append(all, attempts.Finding{What: "container", State: attempts.Limited,
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
