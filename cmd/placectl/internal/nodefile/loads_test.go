package nodefile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
)

// FuzzLoadLines: there is no panic. An error has a position and is printable. Loads that are read, written
// and read again are the same.
func FuzzLoadLines(f *testing.F) {
	for _, s := range []string{"n1 0.5\r\n\r\nn[2-3]=7\n", "\tn1 , n2 = 1e3", "n1 =", "=1", "n1 1 2", "", "\x00",
		"n1 \xff", "ä ö"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		one := infile.New("loads", data)
		loads, err := ParseLoads(&one)
		if err != nil {
			checkFileError(t, data, err)
			return
		}
		var b strings.Builder
		for _, l := range loads {
			if !index.ValidLoad(l.Load) {
				t.Fatalf("%q: ParseLoads accepts the load %g", data, l.Load)
			}
			fmt.Fprintf(&b, "%s=%g\n", l.Names, l.Load)
		}
		two := infile.New("loads", []byte(b.String()))
		again, err := ParseLoads(&two)
		if err != nil {
			t.Fatalf("ParseLoads refuses %q, written from %q: %v", b.String(), data, err)
		}
		for _, list := range [][]Load{loads, again} {
			for i := range list {
				list[i].At = 0
			}
		}
		if d := cmp.Diff(loads, again); d != "" {
			t.Fatalf("loads differ when read again from %q, written from %q: %s", b.String(), data, d)
		}
	})
}
