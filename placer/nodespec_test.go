package placer

import (
	"testing"

	"github.com/placectl/placectl/placer/syntax/syntaxtest"
)

func TestNodes(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct{ in, sel, place string }{
		{"nodes=2", "2:ncpus=1", "scatter"},
		{"nodes=2:ppn=1", "2:ncpus=1", "scatter"},
		{"nodes=8:ppn=8:x86_64:cl_zegox", "8:ncpus=8:feature=x86_64:feature=cl_zegox:mpiprocs=8", "scatter"},
		{"nodes=1:ppn=64:x86_64:cl_zewura#excl", "1:ncpus=64:feature=x86_64:feature=cl_zewura:mpiprocs=64",
			"scatter:excl"},
		{"nodes=1:ppn=2:cl:cl:cl#Shared", "1:ncpus=2:feature=cl:mpiprocs=2", "scatter:shared"},
		{"nodes=2+3:ppn=2", "2:ncpus=1+3:ncpus=2:mpiprocs=2", "scatter"},
		{"nodes=zewura8.cerit-sc.cz:ppn=12:brno", "1:ncpus=12:host=zewura8.cerit-sc.cz:feature=brno:mpiprocs=12",
			"scatter"},
		{"nodes=10.0.0.1+2", "1:ncpus=1:host=10.0.0.1+2:ncpus=1", "scatter"},
		{"nodes=1:ppn=2:host=n7", "1:ncpus=2:host=n7:mpiprocs=2", "scatter"},
		{"nodes=ppn=2", "1:ncpus=2:mpiprocs=2", "scatter"},
		{"nodes=2:bool:bool", "2:ncpus=1:bool=True", "scatter"},
		{"nodes=bool:ppn=2", "1:ncpus=2:bool=True:mpiprocs=2", "scatter"},
		{"nodes=2:ppn=2:mem=4gb:gpus=1", "2:ncpus=2:mem=4gb:ngpus=1:mpiprocs=2", "scatter"},
		{"nodes=2:ppn=3:cpp=2", "2:ncpus=6:mpiprocs=3", "scatter"},
		{"nodes=2:ncpus=4", "2:ncpus=4", "scatter"},
		{"nodes=2:ppn=4:mpiprocs=2", "2:ncpus=4:mpiprocs=2", "scatter"},
		// With nodes=, amounts are the whole job's, and the rest is each node's.
		{"nodes=2:ppn=2:ssd,mem=4gb,shape=circle", "2:ncpus=2:mem=2gb:shape=circle:feature=ssd:mpiprocs=2", "scatter"},
		{"nodes=3,mem=10kb,tokens=0", "3:ncpus=1:mem=4kb:tokens=0", "scatter"},
		{"nodes=2,ncpus=4", "2:ncpus=2", "scatter"},
		{"nodes=1:ppn=2+2,ncpus=8", "1:ncpus=4:mpiprocs=2+2:ncpus=2", "scatter"},
		{"nodes=2,ncpus=2,mpiprocs=3", "2:ncpus=1:mpiprocs=3", "scatter"},
	} {
		spec, err := Parse(defs, Request{Select: c.in})
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if sel, place := spec.Select(defs), spec.Place.Format(defs); sel != c.sel || place != c.place {
			t.Errorf("%q: %s, %s; want %s, %s", c.in, sel, place, c.sel, c.place)
		}
	}
}

func TestNodesErrors(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		in   string
		at   int
		want string
	}{
		{"nodes=", 6, "expected a count, a host, ppn=N or a property"},
		{"nodes=2:", 8, "expected a count, a host"},
		{"nodes=2+", 8, "expected a count, a host"},
		{"nodes=0", 6, "the count of nodes is a whole number from 1"},
		{"nodes=2147483648", 6, "the count of nodes"},
		{"nodes=2147483647+1", 6, "the counts add up to more than"},
		{"nodes=2147483647:ppn=2147483647:cpp=3", 6, "more ncpus than can be counted"},
		{"nodes=2:ppn=0", 12, "the count of ppn is a whole number from 1"},
		{"nodes=1:ppn=1.5:brno", 12, "ppn is a whole number"},
		{"nodes=2:ppn=2:ppn=2", 14, "ppn is given twice"},
		{"nodes=1:ppn=2:^zegox9.cerit-sc.cz", 14, `"^zegox9.cerit-sc.cz" excludes nodes`},
		{"nodes=2:ncpu3=1", 8, `no resource "ncpu3"; did you mean ncpus?`},
		{"nodes=2:mem=x", 12, `mem: "x" is not a size`},
		{"nodes=2:mem=1gb:mem=2gb", 16, "mem is named twice"},
		{"nodes=h1:host=h2", 9, "host is named twice"},
		{"nodes=2:a b", 8, `"a b" is neither a host nor a property`},
		{"nodes=2#exclusive", 8, "expected excl or shared after #"},
		{"nodes=2#excl+3", 8, "expected excl or shared after #"},
		{"nodes=2:mem=1gb,mem=2gb", 16, "mem is named twice"},
		{"nodes=2:ppn=2,ncpus=6", 14, "a multiple of the 4 processes"},
		{"nodes=2,ncpus=0", 8, "a multiple of the 2 processes"},
		{"nodes=2:cpp=2,ncpus=4", 14, "ncpus is given twice"},
	} {
		_, err := Parse(defs, Request{Select: c.in})
		syntaxtest.At(t, c.in, err, c.at, c.want)
	}
}
