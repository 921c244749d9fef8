package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
)

// nodeSources are files of other tools, in testdata/nodes, with the arguments of their import. The golden
// file beside each has the listed nodes, and the messages.
var nodeSources = []struct {
	file string
	args string
}{
	{"slurm-scontrol.txt", "--default-partition main"},
	{"slurm-partitions.txt", ""},
	{"slurm-sinfo.json", "--default-partition main"},
	{"slurm-gres.txt", ""},
	{"slurm-23.json", ""},
	{"conf/nodes.txt", ""},
	{"pbs.json", ""},
	{"pbs.txt", "--skip ntype --map Mom=rack"},
	{"torque.txt", ""},
	{"inventory.csv", "--map Hostname=name --map RAM=mem:GiB --map Cores=ncpus --skip notes"},
}

func TestNodeSources(t *testing.T) {
	for _, s := range nodeSources {
		t.Run(s.file, func(t *testing.T) {
			file := filepath.Join("..", "..", "..", "testdata", "nodes", s.file)
			path := newNodeDB(t)
			words := append([]string{"node", "import", file}, strings.Fields(s.args)...)
			_, said, code := runNode(t, path, "", words...)
			if code != exit.OK {
				t.Fatal(code, said)
			}
			list, text, code := runNode(t, path, "", "node", "list", "-o", "csv")
			if code != exit.OK {
				t.Fatal(text)
			}
			is := list + "\n" + said
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(is), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), is); d != "" {
				t.Errorf("the nodes differ from %s (-want +got):\n%s", golden, d)
			}
			out, text, code := runNode(t, path, "", append(words, "-o", "jsonl")...)
			if code != exit.OK || !strings.HasPrefix(out, `{"added":0,"updated":0,`) {
				t.Errorf("importing it again changes something: status %d: %s%s", code, out, text)
			}
			back := newNodeDB(t)
			for _, form := range []string{"csv", "json"} {
				list, _, _ := runNode(t, path, "", "node", "list", "-o", form)
				for line := range strings.Lines(said) {
					if _, made, ok := strings.Cut(line, " was missing: created as "); ok {
						runNode(t, back, "", "resource", "add", strings.TrimSpace(made))
					}
				}
				if _, text, code := runNode(t, back, list, "node", "import", "-"); code != exit.OK {
					t.Errorf("the list as %s cannot be imported: %s", form, text)
				}
				again, _, _ := runNode(t, back, "", "node", "list", "-o", form)
				if d := cmp.Diff(list, again); d != "" {
					t.Errorf("importing the list as %s gives another list:\n%s", form, d)
				}
			}
		})
	}
}
