package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/bytejson"
	"github.com/placectl/placectl/internal/detect"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"github.com/urfave/cli/v2"
)

func nodeDetectVerb() *session.Verb {
	return &session.Verb{
		Name:  "detect",
		Usage: "find the cores, memory, GPUs and groups of machines",
		May:   engine.Anybody,
		Args:  []verbs.Arg{{Name: "HOST", Optional: true, Many: true}},
		Description: "Examines this machine, or each HOST over ssh; `node import` takes the answer. What counts is " +
			"what this process\n" +
			"may use: in a container, less than the machine has. Cores are whole ones, with their hardware threads;\n" +
			"--threads counts each thread. It finds GPUs through nvidia-smi or AMD's driver. It reports, and " +
			"leaves out,\n" +
			"what it cannot find.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "threads", Usage: "count hardware threads, not cores"},
			&cli.StringFlag{Name: "root",
				Usage: "read `DIR`, a tree copied from a machine: sys, proc, and the output of programs in run"},
			&cli.BoolFlag{Name: "apply", Usage: "add the nodes, or change existing ones"},
		},
		Takes:   map[string]engine.Right{"apply": engine.Operators},
		Access:  verbs.Writes,
		Asks:    true,
		Unkeyed: true,
		Alone:   true,
		Example: "placectl node detect -o json\nplacectl node detect --apply\nplacectl node detect n1 n2 --apply",
		Run:     nodeDetect,
	}
}

// detected is a machine as answers show it and as `node import` reads it.
type detected struct {
	Name      string                       `json:"name"`
	NCPUs     int                          `json:"ncpus"`
	NGPUs     *int                         `json:"ngpus,omitempty"`
	Mem       string                       `json:"mem,omitempty"`
	Disk      string                       `json:"disk,omitempty"`
	Arch      string                       `json:"arch,omitempty"`
	OS        string                       `json:"os,omitempty"`
	Devices   map[string][]nodefile.Device `json:"devices,omitempty"`
	Distances string                       `json:"distances,omitempty"`
}

var detectedFields = output.Fields[*detected]{
	{Name: "name", Value: func(d *detected) any { return d.Name }},
	{Name: "ncpus", Kind: output.Integer, Value: func(d *detected) any { return d.NCPUs }},
	{Name: "ngpus", Kind: output.Integer, Value: func(d *detected) any {
		if d.NGPUs == nil {
			return nil
		}
		return *d.NGPUs
	}},
	{Name: "mem", Value: func(d *detected) any { return output.OrNil(d.Mem) }},
	{Name: "disk", Value: func(d *detected) any { return output.OrNil(d.Disk) }},
	{Name: "arch", Value: func(d *detected) any { return output.OrNil(d.Arch) }},
	{Name: "os", Value: func(d *detected) any { return output.OrNil(d.OS) }},
	{Name: "distances", Value: func(d *detected) any { return output.OrNil(d.Distances) }},
	{Name: "devices", Kind: output.Object, Value: func(d *detected) any {
		if len(d.Devices) == 0 {
			return nil
		}
		b, err := bytejson.Marshal(d.Devices)
		if err != nil {
			return nil
		}
		return json.RawMessage(b)
	}},
}

func nodeDetect(r *session.Run, c *cli.Context) error {
	found, err := detectHosts(r, c.Args().Slice(), c.String("root"), c.Bool("threads"))
	if err != nil {
		return err
	}
	if c.Bool("apply") {
		return session.Malformed(r.Update(c, func(tx *engine.Tx) error {
			sum, f, err := applyDetected(r, tx, found)
			if err != nil {
				return err
			}
			r.SayMoved(tx)
			document := func(f output.Format) bool { return f.Traits().Document }
			return r.Either(document, func() error { return session.PrintAll(r, detectedFields, found...) },
				func() error { return sayImport(r, f, sum) })
		}))
	}
	fields := detectedFields
	if r.Audience().People {
		fields = slices.Clone(fields)
		fields[len(fields)-1] = output.Field[*detected]{Name: "devices", Value: func(d *detected) any {
			return output.OrNil(d.words())
		}}
	}
	return session.PrintAll(r, fields, found...)
}

// words lists the devices for people.
func (d *detected) words() string {
	var words []string
	for _, resource := range slices.Sorted(maps.Keys(d.Devices)) {
		var set devices.Set
		for _, one := range d.Devices[resource] {
			set = append(set, devices.Device{ID: fmt.Sprint(one.ID), Group: one.Group})
		}
		words = append(words, resource+"="+set.String())
	}
	return strings.Join(words, "; ")
}

// detectHosts detects this machine, a recorded one, or other hosts.
func detectHosts(r *session.Run, hosts []string, root string, threads bool) ([]*detected, error) {
	if root != "" && len(hosts) > 0 {
		return nil, usage.Errorf("--root is for a recorded machine, not for hosts")
	}
	var found []*detected
	for _, host := range hosts {
		d, err := detectOn(r, host, threads)
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	if len(hosts) > 0 {
		return found, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	src := detect.Here(func(words ...string) (string, error) { return launch.Output(r.Ctx, 5*time.Second, words...) })
	if root != "" {
		if s, err := os.Stat(root); err != nil || !s.IsDir() {
			return nil, usage.Errorf("--root %s is no directory", root)
		}
		src, name = detect.Recorded(root), filepath.Base(filepath.Clean(root))
	}
	m := detect.Look(src, threads)
	for _, note := range m.Notes {
		r.Notef("%s", note)
	}
	return []*detected{newDetected(name, m, root == "")}, nil
}

// detectOn detects a host over ssh.
func detectOn(r *session.Run, host string, threads bool) (*detected, error) {
	if strings.HasPrefix(host, "-") {
		return nil, usage.Errorf("%s is no host", host)
	}
	words := []string{"ssh", "-o", "BatchMode=yes", host, "placectl", "node", "detect", "-o", "jsonl"}
	if threads {
		words = append(words, "--threads")
	}
	text, err := launch.Output(r.Ctx, time.Minute, words...)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", host, err)
	}
	d := new(detected)
	if err := bytejson.Unmarshal([]byte(text), d); err != nil {
		return nil, fmt.Errorf("the output of host %s is not a node: %w", host, err)
	}
	d.Name = host[strings.LastIndex(host, "@")+1:]
	return d, nil
}

// newDetected turns what was found into a node.
func newDetected(name string, m *detect.Machine, here bool) *detected {
	d := &detected{Name: name, NCPUs: len(m.Cores), Devices: make(map[string][]nodefile.Device)}
	if here {
		d.Arch, d.OS = runtime.GOARCH, runtime.GOOS
	}
	if here && d.NCPUs == 0 {
		d.NCPUs = runtime.NumCPU()
	}
	if m.Memory > 0 {
		d.Mem = fmt.Sprintf("%dkb", m.Memory)
	}
	if m.Disk > 0 {
		d.Disk = fmt.Sprintf("%dkb", m.Disk)
	}
	add := func(resource string, set devices.Set) {
		for i := range set {
			one := nodefile.Device{ID: set[i].ID, Group: set[i].Group, UUID: set[i].UUID, Model: set[i].Model,
				Threads: set[i].Threads, Into: set[i].Into}
			if set[i].VRAM > 0 {
				one.VRAM = set[i].VRAM * 1024
			}
			if set[i].Slices > 0 {
				one.Slices = &set[i].Slices
			}
			d.Devices[resource] = append(d.Devices[resource], one)
		}
	}
	add("ncpus", m.Cores)
	add("ngpus", m.GPUs)
	if len(m.GPUs) > 0 {
		n := m.GPUs.Count()
		d.NGPUs = &n
	}
	for resource, set := range m.Slices {
		add(resource, set)
	}
	d.Distances = m.Distances.String()
	return d
}

// applyDetected adds or changes nodes, and declares the slices of their GPUs.
func applyDetected(r *session.Run, tx *engine.Tx, found []*detected) (sum importSummary, f *nodefile.File, err error) {
	for _, d := range found {
		for _, resource := range slices.Sorted(maps.Keys(d.Devices)) {
			err := tx.Config().AddResource(index.Def{Name: resource, Type: index.Long, Consumable: true})
			if err != nil && !errors.Is(err, index.ErrResourceDup) {
				return sum, nil, err
			}
		}
	}
	defs, err := tx.Config().Resources()
	if err != nil {
		return sum, nil, err
	}
	text, err := bytejson.Marshal(found)
	if err != nil {
		return sum, nil, err
	}
	units, err := nodefile.ParseUnits(nil, defs)
	if err != nil {
		return sum, nil, err
	}
	if f, err = nodefile.Parse(infile.New("what was detected", text), defs,
		nodefile.Options{Format: "json", Units: units}); err != nil {
		return sum, nil, err
	}
	sum, err = importNodes(r, tx, f)
	return sum, f, err
}
