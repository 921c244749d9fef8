package placer

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/syntax/syntaxtest"
)

func TestResourceList(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		in, sel, place string
		walltime       int64
	}{
		{"ncpus=2,mem=4gb,walltime=1:00:00", "1:mem=4gb:ncpus=2", "pack", 3600},
		{"NCPUS=2, Mem=4gb", "1:mem=4gb:ncpus=2", "pack", 0},
		{"shape=circle,vmem=1gb,ngpus=1", "1:ncpus=1:ngpus=1:shape=circle:vmem=1gb", "pack", 0},
		{"mpiprocs=2,ncpus=2", "1:mpiprocs=2:ncpus=2", "pack", 0},
		{"color='a,b',ncpus=1", `1:color="a,b":ncpus=1`, "pack", 0},
		{"feature=b,feature=a", "1:feature=b:feature=a:ncpus=1", "pack", 0},
		{"walltime=90", "1:ncpus=1", "pack", 90},
		{"walltime=10,place=scatter:excl", "1:ncpus=1", "scatter:excl", 10},
		{"place=excl", "1:ncpus=1", "free:excl", 0},
		{"select=2", "2:ncpus=1", "free", 0},
		{"SELECT=2:ncpus=4+1:color='x,y',Place=Scatter:group=color,walltime=1:0", `2:ncpus=4+1:color="x,y":ncpus=1`,
			"scatter:group=color", 60},
		{`select="2:ncpus=4",walltime='1:00'`, "2:ncpus=4", "free", 60},
	} {
		spec, err := Parse(defs, Request{Select: c.in})
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := spec.Select(defs); got != c.sel || spec.Place.Format(defs) != c.place || spec.Walltime != c.walltime {
			t.Errorf("%q: %s, %s, %d; want %s, %s, %d", c.in, got, spec.Place.Format(defs), spec.Walltime, c.sel,
				c.place, c.walltime)
		}
	}
}

func TestResourceListErrors(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		in   string
		at   int
		want string
	}{
		{"ncpus=2,", 8, "expected name=value"},
		{",ncpus=2", 0, "expected name=value"},
		{"ncpus=2,mem", 11, "expected = and a value after mem"},
		{"ncpus=2,mem=", 12, "mem needs a value"},
		{"ncpus=2,waltime=1", 8, `no resource "waltime"; did you mean walltime?`},
		{"ncpus=2,ncpus=3", 8, "ncpus is given twice"},
		{"ncpus=2 ,mem=1gb", 7, "a space"},
		{"ncpus=4:mem=1gb,walltime=1", 7, "':' in a resource list"},
		{"2:ncpus=4,walltime=1", 0, "a select is written select=..."},
		{"walltime=1,walltime=2", 11, "walltime is given twice"},
		{"select=1,select=2", 9, "select is given twice"},
		{"select=1:ncpus=1,mem=1gb", 17, "mem cannot stand beside select=: write it into the chunk"},
		{"select=1,nodes=2", 15, "select= and nodes= exclude each other"},
		{"nodes=2,place=pack", 6, "nodes= cannot stand beside a place"},
		{"ncpus=2,place=excl", 0, "ncpus cannot stand beside a place"},
		{"select=", 7, "it is empty"},
		{`select="`, 7, "expected a resource"},
		{`select="1,walltime=3`, 7, "expected a resource"},
		{"walltime=3,select=1:ncpu=2", 20, `no resource "ncpu"; did you mean ncpus?`},
		{"select=1,place=scat", 15, `no place "scat"`},
		{"walltime=", 9, "expected a walltime such as 3600"},
		{"walltime=1:2:3:4", 9, "expected a walltime"},
		{"walltime=:30", 9, "expected a walltime"},
		{"walltime=1:", 9, "expected a walltime"},
		{"walltime=+1", 9, "expected a walltime"},
		{"walltime=1h", 9, "expected a walltime"},
		{"walltime=1.", 11, "expected digits after the point"},
		{"walltime=1.x", 11, "expected digits after the point"},
		{"walltime=0", 9, "a walltime is from 1 to"},
		{"walltime=99999999999999999999", 9, "expected a walltime"},
		{"walltime=999999999999:0:0", 9, "a walltime is from 1 to"},
	} {
		_, err := Parse(defs, Request{Select: c.in})
		syntaxtest.At(t, c.in, err, c.at, c.want)
		if err != nil && !strings.HasPrefix(err.Error(), "resource list ") {
			t.Errorf("%q: %v: want it called a resource list", c.in, err)
		}
	}
}

func TestWalltime(t *testing.T) {
	for in, want := range map[string]int64{
		"1": 1, "3600": 3600, "1:00:00": 3600, "90:00": 5400, "100:99:99": 366039,
		"1.0": 1, "1.5": 2, "1.01": 2, "0.5": 1, "1:2.25": 63,
	} {
		p, _ := newReader(nil, "walltime", in)
		if got, err := p.walltime(); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", in, got, err, want)
		}
	}
}
