package directives

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
)

// slurmGPUs reads [TYPE:]N, joined by commas.
func (r *reader) slurmGPUs(to *devices, v string) error {
	d := devices{spot: r.here}
	for item := range strings.SplitSeq(v, ",") {
		kind, count, typed := strings.Cut(item, ":")
		if !typed {
			kind, count = "", item
		}
		want, err := r.gpus(kind, count)
		if err != nil {
			return err
		}
		if err := d.want(want); err != nil {
			return err
		}
	}
	*to = d
	return nil
}

// gpus translates a number of GPUs of a type: to the resource named like the type if there is one, or
// else to ngpus on a node with that feature.
func (r *reader) gpus(kind, count string) (deviceWant, error) {
	n, err := strconv.ParseInt(count, 10, 64)
	switch {
	case err != nil || !isDigits(count) || n > maxAmount:
		return deviceWant{}, fmt.Errorf("%q is not a number of GPUs, such as 2 or a100:2", count)
	case kind == "":
		return deviceWant{resource: "ngpus", n: n}, nil
	case strings.Trim(kind, featureCharacters) != "":
		return deviceWant{}, fmt.Errorf("%q is not a type of GPU", kind)
	case r.o.Resource(kind):
		return deviceWant{resource: kind, n: n}, nil
	}
	return deviceWant{resource: "ngpus", n: n, feature: kind}, nil
}

const featureCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// want adds devices. A chunk can request a resource only once. A count of 0 changes nothing.
func (d *devices) want(w deviceWant) error {
	if w.n == 0 {
		return nil
	}
	same := func(old deviceWant) bool { return strings.EqualFold(old.resource, w.resource) }
	if slices.ContainsFunc(d.wants, same) {
		return fmt.Errorf("%s is given twice: each type of GPU needs a resource of its own", w.resource)
	}
	d.wants = append(d.wants, w)
	return nil
}

// slurmGRES reads NAME[:TYPE][:N], joined by commas. none discards what came before. Lines add up, but
// the last one for a name counts.
func (r *reader) slurmGRES(v string) error {
	if strings.EqualFold(v, "none") {
		r.slurm.gres = nil
		return nil
	}
	said := make(map[string]devices)
	for item := range strings.SplitSeq(v, ",") {
		name, want, err := r.gres(item)
		if err != nil {
			return err
		}
		d := said[name]
		d.spot = r.here
		if err := d.want(want); err != nil {
			return err
		}
		said[name] = d
	}
	if r.slurm.gres == nil {
		r.slurm.gres = make(map[string]devices)
	}
	maps.Copy(r.slurm.gres, said)
	return nil
}

func (r *reader) gres(item string) (name string, w deviceWant, err error) {
	fields := strings.Split(item, ":")
	name = fields[0]
	kind, count := "", "1"
	switch {
	case name == "" || len(fields) > 3:
		return "", w, fmt.Errorf("%q is not NAME[:TYPE][:N]", item)
	case len(fields) == 3:
		kind, count = fields[1], fields[2]
	case len(fields) == 2 && isDigits(fields[1]):
		count = fields[1]
	case len(fields) == 2:
		kind = fields[1]
	}
	if name == "gpu" {
		w, err = r.gpus(kind, count)
		return name, w, err
	}
	n, err := strconv.ParseInt(count, 10, 64)
	resource := name
	if name == "shard" {
		resource = "gslices"
	}
	switch {
	case err != nil || !isDigits(count) || n > maxAmount:
		return "", w, fmt.Errorf("%q is not NAME[:TYPE][:N]", item)
	case kind != "":
		return "", w, fmt.Errorf("%q: only gpu has types", item)
	case name != "shard" && !r.o.Resource(name):
		return "", w, &index.UnknownResource{Name: name}
	}
	return name, deviceWant{resource: resource, n: n}, nil
}

// devicesOf returns the devices of a chunk with some tasks. chunks is the number of chunks. GPUs can be
// requested in only one way.
func (s *slurmOptions) devicesOf(tasks, chunks int64) ([]deviceWant, error) {
	var wants []deviceWant
	for _, name := range sortedKeys(s.gres) {
		wants = append(wants, s.gres[name].wants...)
	}
	add := func(list devices, times, over int64) error {
		for _, w := range list.wants {
			if w.n%over != 0 {
				return fmt.Errorf("%d GPUs cannot be divided evenly among %d chunks: use --gpus-per-node or "+
					"--gpus-per-task", w.n, over)
			}
			w.n = w.n / over * times
			wants = append(wants, w)
		}
		return nil
	}
	if err := errors.Join(add(s.gpusPerNode, 1, 1), add(s.gpusPerTask, tasks, 1), add(s.gpus, 1, chunks)); err != nil {
		return nil, err
	}
	return wants, nil
}

func sortedKeys(m map[string]devices) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
