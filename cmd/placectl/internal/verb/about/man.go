package about

import (
	"fmt"
	"io"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/urfave/cli/v2"
)

// Man declares the verb man.
func Man() *session.Verb {
	return &session.Verb{
		Name:     "man",
		Category: "Store",
		Usage:    "print the manual page of all verbs",
		May:      engine.Anybody,
		Example:  "placectl man | man -l -\nplacectl man > /usr/local/share/man/man1/placectl.1",
		Run:      man,
	}
}

// man writes the help texts as a page of roff: general topics in the usual sections of manuals, and
// a subsection for each verb. It keeps the layout of help.
func man(r *session.Run, _ *cli.Context) error {
	var page strings.Builder
	page.WriteString(".TH PLACECTL 1\n.SH NAME\nplacectl \\- the SQLite of batch scheduling: one file, no daemon\n" +
		".SH SYNOPSIS\n.B placectl\n[global flags] VERB [flags] [arguments]\n.br\n.B placectl help\n[VERB]\n" +
		".SH DESCRIPTION\nplacectl keeps the nodes of a cluster, its running jobs and its plans in one database " +
		"file. It places jobs on\n" +
		"whole nodes or parts of them, and says when others can start. Each command opens the file, does its work " +
		"completely or\n" +
		"not at all, and ends.\n")
	section := func(title, text string) {
		page.WriteString(".SH " + title + "\n")
		writeRoff(&page, text)
	}
	part := func(title, template string) { section(title, r.Verbs.Page(template, 0)) }
	part("EXAMPLES", verbs.Examples)
	part("OVERVIEW", verbs.Overview)
	part("GLOBAL OPTIONS", verbs.GlobalList)
	part("SPELLING OF VALUES", verbs.Spelling)
	page.WriteString(".SH VERBS\n")
	for _, e := range r.Verbs {
		manSection(&page, e.Verb(), "")
	}
	part("EXIT STATUS", verbs.Statuses)
	section("COMPONENTS OF PRIORITYF", components())
	section("ENVIRONMENT", manEnvironment)
	section("FILES", manFiles)
	page.WriteString(".SH SEE ALSO\n.BR sbatch (1),\n.BR qsub (1),\n.BR crontab (5);\nplacectl slurm and placectl " +
		"pbs are those commands over a database.\n")
	_, err := io.WriteString(r.Stdout, page.String())
	return err
}

// components lists what a node's value in the setting priorityf may be made of.
func components() string {
	var b strings.Builder
	for _, t := range priorityf.Components() {
		fmt.Fprintf(&b, "%-16s  %s\n", t.Name, t.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

const manEnvironment = `PLACECTL_DB       the database, as --db
PLACECTL_NOW      the instant, as --now
PLACECTL_OUTPUT   the form of answers, as --output
PLACECTL_TRUST    1: programs that the database names are run whoever owns it
NO_COLOR          no colour
COLUMNS           how wide answers are where the terminal does not say
In the environment of a job:
PLACECTL_JOB, PLACECTL_ATTEMPT, PLACECTL_NODELIST, PLACECTL_CPUS, CUDA_VISIBLE_DEVICES`

const manFiles = `placectl.db       the database, unless --db or PLACECTL_DB names another
placectl.db.lock  the lock beside it; it may be empty, and must not be removed while in use
/var/tmp/placectl-UID  what a host executes (the setting state_dir)`

// manSection writes the subsections of a verb and of those below it.
func manSection(page *strings.Builder, v *session.Verb, above string) {
	if v.Hidden {
		return
	}
	path := strings.TrimSpace(above + " " + v.Name)
	page.WriteString(".SS placectl " + path + "\n")
	writeRoff(page, v.HelpOf(path, true, 0))
	for _, sub := range v.Verbs {
		manSection(page, sub, path)
	}
}

// writeRoff writes text with its layout unchanged.
func writeRoff(page *strings.Builder, text string) {
	page.WriteString(".nf\n")
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(
			line)
		if strings.HasPrefix(line, ".") {
			page.WriteString(`\&`)
		}
		page.WriteString(line)
	}
	page.WriteString("\n.fi\n")
}
