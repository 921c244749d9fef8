package ask

import (
	"bytes"

	"github.com/placectl/placectl/cmd/placectl/internal/metrics"
	"github.com/placectl/placectl/cmd/placectl/internal/outfile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Metrics declares the verb metrics.
func Metrics() *session.Verb {
	return &session.Verb{
		Name:     "metrics",
		Category: "Asking",
		Usage:    "write metrics for Prometheus",
		May:      engine.Anybody,
		Description: "Shows nodes, their resources and use, jobs by state, their waits, the last cycle and the file. " +
			"Counters (_total,\n" +
			"and the histogram of waits) increase in the commit that ends a job. They do not fall when jobs are " +
			"forgotten or\n" +
			"archived; load restarts them. --out replaces its file in one step, so that node_exporter's textfile " +
			"collector\n" +
			"never reads half of one. The collector reads files whose names end in .prom. No label names a job, a " +
			"user or a\n" +
			"node: use placectl query for those. With -o json and the other formats, samples are rows.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "format", Value: "prometheus",
				Usage: "format `F`: prometheus (text 0.0.4) or openmetrics"}, "prometheus", "openmetrics"),
			&cli.StringFlag{Name: "out", Usage: "write into `FILE`, readable by all, - for standard output"},
		},
		Access: verbs.Reads,
		Example: "placectl metrics\nplacectl metrics --out /var/lib/prometheus/node-exporter/placectl.prom\n" +
			"* * * * * placectl --db /srv/cluster.db metrics --out /var/lib/prometheus/node-exporter/placectl.prom   " +
			"  # in a crontab",
		Run: printMetrics,
	}
}

func printMetrics(r *session.Run, c *cli.Context) error {
	name, err := verbs.Chosen(c, "format")
	if err != nil {
		return err
	}
	format := metrics.Prometheus
	if name == "openmetrics" {
		format = metrics.OpenMetrics
	}
	db, err := r.Open()
	if err != nil {
		return err
	}
	var m *engine.Metrics
	if err := r.Read(db, func(tx *engine.Tx) error { m, err = tx.Ask().Metrics(); return err }); err != nil {
		return err
	}
	version, _ := session.BuildVersion()
	families := metrics.Families(m, version)
	var text bytes.Buffer
	if err := metrics.Write(&text, families, format); err != nil {
		return err
	}
	switch out := c.String("out"); {
	case out != "" && out != "-":
		if err := r.NotDatabase("--out", out); err != nil {
			return usage.Errorf("%w", err)
		}
		return outfile.ReplaceAs(out, text.Bytes(), 0o644)
	case out == "-" || r.Audience().Table:
		return r.Answer(text.Bytes())
	}
	return printSamples(r, families)
}

// printSamples prints samples as rows.
func printSamples(r *session.Run, list []*metrics.Family) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "name"}, {Name: "labels"}, {Name: "value", Kind: output.Number}}})
	for _, f := range list {
		for _, s := range f.Samples {
			if err := p.Row(f.Name+s.Suffix, s.Text(), s.Value); err != nil {
				return err
			}
		}
	}
	return p.Close()
}
