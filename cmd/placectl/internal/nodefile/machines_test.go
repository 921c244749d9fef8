package nodefile

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

func TestParseMachines(t *testing.T) {
	f := infile.New("machines", []byte("0 big 2 80 1 529426432 x86_64,fast\n1 small 1 12 1 94035968\n"))
	nodes, err := ParseMachines(&f)
	if err != nil || !IsMachines(&f) || len(nodes) != 3 {
		t.Fatalf("ParseMachines = %d nodes, %v, want 3", len(nodes), err)
	}
	if n := nodes[1]; n.Name != "big2" || strings.Join(n.Features, " ") != "x86_64 fast" || nodes[2].Name != "small1" ||
		nodes[2].Features != nil {
		t.Errorf("ParseMachines made %+v and %+v", n, nodes[2])
	}
	for _, text := range []string{"0 a 1 1 1 1 x y", "0 a 1 1 1 1 b("} {
		f := infile.New("machines", []byte(text))
		if _, err := ParseMachines(&f); err == nil {
			t.Errorf("ParseMachines(%s) succeeds, want an error", text)
		}
	}
	for _, text := range []string{"name,ncpus\na,1\n", "a b c d e f", "1,2 a 1 1 1 1"} {
		if f := infile.New("nodes", []byte(text)); IsMachines(&f) {
			t.Errorf("IsMachines(%s) = false, want true", text)
		}
	}
}
