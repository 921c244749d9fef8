// Package listing defines how answers show jobs, nodes and batches: for each noun a table of columns,
// named as in the tables of queries, and how its rows are printed. It knows no verb.
package listing

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/internal/engine"
)

// jobView is a job as shown in answers.
type jobView struct {
	*engine.Job
	tx       *engine.Tx
	look     *engine.Outlook  // the forecast; nil if the answer shows only facts about the job
	prospect *engine.Prospect // the job's part of look
	event    string           // the event, in a cycle's answer
	met      string           // the buckets that its placement met
	carries  *engine.Payload  // cached once read
	past     *usage           // cached once read
	err      error
}

// jobFields are the attributes of a job that package attribute declares, and the job's event in a
// cycle's answer.
var jobFields = declared(jobReaders)

// jobReaders read the attributes that take more than a field of a job, in the order of the record, and
// the event.
var jobReaders = output.Fields[*jobView]{
	{Name: "job", Value: func(j *jobView) any { return numberOrNil(j.ID) }},
	{Name: "state", Value: func(j *jobView) any { return j.State.String() }},
	{Name: "select", Value: func(j *jobView) any { return j.Select }},
	{Name: "place", Value: func(j *jobView) any { return j.Place }},
	{Name: "walltime", Value: func(j *jobView) any { return j.Walltime }},
	{Name: "submit", Value: func(j *jobView) any { return j.Submit }},
	{Name: "nodes", Value: func(j *jobView) any {
		return readJob(j, func(job *engine.Job) ([]string, error) { return j.tx.Nodes().Names(job.AllNodes()) })
	}},
	{Name: "reason", Value: func(j *jobView) any { return output.OrNil(j.reason()) }},
	{Name: "reason_code", Value: func(j *jobView) any { return output.OrNil(j.reasonCode()) }},
	{Name: "expected", Value: func(j *jobView) any { return output.OrNil(j.outlook().Start) }},
	{Name: "guess", Value: func(j *jobView) any { return output.OrNil(j.outlook().Guess) }},
	{Name: "likely", Value: func(j *jobView) any { return output.OrNil(j.outlook().Likely) }},
	{Name: "safe", Value: func(j *jobView) any { return output.OrNil(j.outlook().Safe) }},
	{Name: "forecast_at", Value: (*jobView).forecastAt},
	{Name: "wait", Value: (*jobView).waited},
	{Name: "run", Value: (*jobView).ran},
	{Name: "slowdown", Value: (*jobView).slowdown},
	{Name: "index", Value: func(j *jobView) any { return arrayIndex(j.Job) }},
	{Name: "exec_vnode", Value: func(j *jobView) any { return output.OrNil(readJob(j, j.tx.Jobs().ExecVNode)) }},
	{Name: "chunks", Value: func(j *jobView) any {
		return readJob(j, func(job *engine.Job) ([]chunkObject, error) { return chunkObjects(j.tx, job) })
	}},
	{Name: "why", Value: func(j *jobView) any {
		return readJob(j, func(job *engine.Job) (string, error) { return explainRoute(j.tx, job, j.met) })
	}},
	{Name: "after", Value: func(j *jobView) any { return dependenciesOf(j.Job) }},
	{Name: "command", Value: func(j *jobView) any { return j.Command }},
	{Name: "devices", Value: func(j *jobView) any { return output.OrNil(heldDevices(readJob(j, j.tx.Devices().Of))) }},
	{Name: "pools", Value: func(j *jobView) any {
		var list []string
		for _, a := range j.Pools {
			list = append(list, a.String())
		}
		return output.OrNil(strings.Join(list, ","))
	}},
	{Name: "bind", Value: func(j *jobView) any { return output.OrNil(j.Bind.String()) }},
	{Name: "exit", Value: func(j *jobView) any { return exitOf(j.Job) }},
	{Name: "attempts", Value: (*jobView).attempts},
	{Name: "preempted", Value: func(j *jobView) any { return len(j.YieldedTo) }},
	{Name: "cpu_user", Value: func(j *jobView) any { return seconds(j.took().last.CPUUser) }},
	{Name: "cpu_sys", Value: func(j *jobView) any { return seconds(j.took().last.CPUSystem) }},
	{Name: "cpu_time", Value: func(j *jobView) any { return seconds(j.took().cpu) }},
	{Name: "max_rss", Value: func(j *jobView) any { return output.OrNil(j.took().last.MaxRSS) }},
	{Name: "mem_peak", Value: func(j *jobView) any { return output.OrNil(j.took().mem) }},
	{Name: "backfilled", Flag: true, Value: func(j *jobView) any { return j.Backfilled }},
	{Name: "paused", Flag: true, Value: func(j *jobView) any { return j.Paused }},
	{Name: "directory", Value: func(j *jobView) any { return output.OrNil(j.payload().Dir) }},
	{Name: "script", Value: func(j *jobView) any { return output.OrNil(j.scriptLine()) }},
	{Name: "script_size", Value: func(j *jobView) any { return output.OrNil(len(j.payload().Script)) }},
	{Name: "input", Value: func(j *jobView) any { return output.OrNil(j.files().In()) }},
	{Name: "out", Value: func(j *jobView) any { return output.OrNil(j.files().Out()) }},
	{Name: "err", Value: func(j *jobView) any { return output.OrNil(j.files().Err()) }},
	{Name: "out_mode", Value: func(j *jobView) any { return ifWord(j.payload().Append, "append") }},
	{Name: "umask", Value: func(j *jobView) any {
		return ifWord(j.payload().Dir != "", fmt.Sprintf("%04o", j.payload().Umask))
	}},
	{Name: "interpreter", Value: func(j *jobView) any { return output.OrNil(j.payload().Interpreter) }},
	{Name: "compat", Value: func(j *jobView) any { return output.OrNil(j.payload().Compat) }},
	{Name: "notes", Value: func(j *jobView) any { return j.notes() }},
	{Name: "owner", Value: func(j *jobView) any { return output.OrNil(j.owner().Name) }},
	{Name: "submit_host", Value: func(j *jobView) any { return output.OrNil(j.owner().Host) }},
	{Name: "retries", Value: func(j *jobView) any { return output.OrNil(j.payload().Ending.Retries) }},
	{Name: "retry_on", Value: func(j *jobView) any { return output.OrNil(j.payload().Ending.RetryOn) }},
	{Name: "retry_wait", Value: func(j *jobView) any { return output.OrNil(j.payload().Ending.RetryWait) }},
	{Name: "retry_mem", Value: func(j *jobView) any { return output.OrNil(payload.RetryMem(&j.payload().Ending)) }},
	{Name: "signal", Value: func(j *jobView) any { return output.OrNil(payload.Signal(&j.payload().Ending)) }},
	{Name: "grace", Value: func(j *jobView) any { return graceOf(&j.payload().Ending) }},
	{Name: "mail", Value: func(j *jobView) any { return output.OrNil(j.payload().Ending.Mail) }},
	{Name: "mail_to", Value: func(j *jobView) any { return output.OrNil(j.payload().Ending.MailTo) }},
	{Name: "env", Value: func(j *jobView) any { return j.payload().Env }},
	{Name: "event", Value: func(j *jobView) any { return j.event }},
}

// scriptLine returns the first line of the job's script.
func (j *jobView) scriptLine() string {
	line, _, _ := strings.Cut(j.payload().Script, "\n")
	return line
}

// ifWord returns word if it applies, otherwise nil.
func ifWord(applies bool, word string) any {
	if !applies {
		return nil
	}
	return word
}

// payload returns what the job carries, an empty payload for nothing.
func (j *jobView) payload() *engine.Payload {
	if j.carries == nil {
		j.carries = readJob(j, func(job *engine.Job) (*engine.Payload, error) { return j.tx.Jobs().Payload(job.ID) })
		if j.carries == nil {
			j.carries = new(engine.Payload)
		}
	}
	return j.carries
}

// owner returns the submitter of the job, without a name if unknown.
func (j *jobView) owner() *engine.Submitter {
	if o := j.payload().Owner; o != nil {
		return o
	}
	return new(engine.Submitter)
}

// notes lists what qsub or sbatch ignored at submission. They are events of that instant, of the job or
// of the first job of its array.
func (j *jobView) notes() []string {
	if j.payload().Compat == "" {
		return nil
	}
	var out []string
	after, _, err := engine.EventsSince(j.tx, j.Submit)
	if err == nil {
		err = j.tx.EachEvent(after, func(e *engine.Event) (bool, error) {
			if e.Event == "note" && (e.Job == j.ID || e.Job == j.Array+1 && j.Array != 0) {
				out = append(out, e.Reason.String())
			}
			return !e.Time.After(j.Submit), nil
		})
	}
	if err != nil {
		j.err = err
	}
	return out
}

// graceOf returns the requested time from telling the job to terminate to killing it, nil for the
// default.
func graceOf(e *engine.Ending) any {
	if e.Grace == 0 {
		return nil
	}
	return max(e.Grace, 0)
}

// files returns the names of the files that the job writes.
func (j *jobView) files() payload.Files {
	return payload.Files{Job: j.Job, Of: j.payload(), Node: func() string {
		nodes := readJob(j, func(job *engine.Job) ([]string, error) { return j.tx.Nodes().Names(job.NodeNumbers()) })
		if len(nodes) == 0 {
			return ""
		}
		return nodes[0]
	}}
}

// readJob reads a value, and remembers the error if that fails.
func readJob[V any](j *jobView, of func(*engine.Job) (V, error)) V {
	v, err := of(j.Job)
	if j.err == nil {
		j.err = err
	}
	return v
}

// outlook returns the forecast for the job.
func (j *jobView) outlook() *engine.Prospect {
	if j.prospect == nil {
		p := readJob(j, j.look.Prospect)
		j.prospect = &p
	}
	return j.prospect
}

// forecastAt returns when the job's forecast was made, nil if there is none.
func (j *jobView) forecastAt() any {
	if j.outlook().Likely.IsZero() {
		return nil
	}
	fs := readJob(j, func(*engine.Job) (*engine.Forecasts, error) { return j.tx.Cycle().Forecasts() })
	if fs == nil {
		return nil
	}
	return fs.AsOf
}

// reason says why the job is where it is.
func (j *jobView) reason() string {
	if j.look == nil {
		return j.Why()
	}
	return j.outlook().Words()
}

// Jobs prints jobs as rows of an answer.
type Jobs struct {
	*output.Printer
	fields output.Fields[*jobView]
	tx     *engine.Tx
	Look   *engine.Outlook // the jobs' forecast; nil to show only facts
	Met    string          // the buckets that their placement met
	err    error           // the first error of reading a value
}

// PrintJobs starts an answer about one or more jobs, with the named columns as output.Fields.Pick takes
// them. begin makes its printer.
func PrintJobs(begin func(output.Result) *output.Printer, tx *engine.Tx, record bool, columns string) *Jobs {
	fields := jobFields.Pick(columns)
	return PrintFields(begin, tx, output.Result{Record: record}, fields)
}

// PrintMade is PrintJobs for jobs that the command has made.
func PrintMade(begin func(output.Result) *output.Printer, tx *engine.Tx, record bool, columns string) *Jobs {
	return PrintFields(begin, tx, output.Result{Record: record, Made: true}, jobFields.Pick(columns))
}

// PrintShown starts an answer with all that is known of jobs: a list in JSON, even of one.
func PrintShown(begin func(output.Result) *output.Printer, tx *engine.Tx, one bool, columns string) *Jobs {
	return PrintFields(begin, tx, output.Result{Record: one, Many: true}, jobFields.Pick(columns))
}

// PrintFields starts an answer with fields, described by a result.
func PrintFields(begin func(output.Result) *output.Printer, tx *engine.Tx, res output.Result,
	fields output.Fields[*jobView]) *Jobs {
	return printFields(begin, tx, res, fields, "job")
}

// printFields is PrintFields with the column that -o id prints.
func printFields(begin func(output.Result) *output.Printer, tx *engine.Tx, res output.Result,
	fields output.Fields[*jobView], id string) *Jobs {
	res.Columns = fields.Columns()
	res.ID = slices.IndexFunc(res.Columns, func(c output.Column) bool { return c.Name == id })
	return &Jobs{Printer: begin(res), fields: fields, tx: tx}
}

// Print prints one job. As with Row, Close also returns its error.
func (p *Jobs) Print(job *engine.Job) error { return p.PrintEvent("", job) }

// PrintEvent prints a job with its event in a cycle's answer.
func (p *Jobs) PrintEvent(event string, job *engine.Job) error {
	if p.err == nil {
		j := &jobView{Job: job, tx: p.tx, look: p.Look, event: event, met: p.Met}
		p.err = errors.Join(p.fields.Print(p.Printer, j), j.err)
	}
	return p.err
}

// Close ends the answer.
func (p *Jobs) Close() error {
	if p.err != nil {
		return p.err
	}
	return p.Printer.Close()
}

// JobID formats a job's number.
func JobID(j *engine.Job) string { return strconv.FormatUint(j.ID, 10) }

// JobName returns a job's name for people: 12, or 12[3] in an array.
func JobName(j *engine.Job) string {
	if j.Array == 0 {
		return JobID(j)
	}
	return fmt.Sprintf("%d[%d]", j.Array, j.Index)
}

// numberOrNil returns a job's number for an answer, nil for none.
func numberOrNil(id uint64) any { return output.OrNil(id) }

// arrayIndex returns a job's index in its array, nil if it is in none.
func arrayIndex(j *engine.Job) any {
	if j.Array == 0 {
		return nil
	}
	return j.Index
}

// dependenciesOf lists a job's dependencies: afterok:12.
func dependenciesOf(job *engine.Job) []string {
	var out []string
	for _, d := range job.After {
		out = append(out, d.String())
	}
	return out
}

// exitOf returns a job's exit status, nil before it has one.
func exitOf(job *engine.Job) any {
	if !job.HasExit() {
		return nil
	}
	return job.Exit
}
