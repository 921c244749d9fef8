package nodefile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
)

// TestForeignMalformed: an error in a file of another tool gives its position.
func TestForeignMalformed(t *testing.T) {
	for _, tt := range []struct{ name, format, in, want string }{
		{"a word that is no resource", "slurm", "NodeName=n1 CPUTot=eight State=IDLE\n",
			`line 1, column 20: node n1: CPUTot: "eight" is not a whole number`},
		{"gres", "slurm", "NodeName=n1\n   Gres=gpu:a:b:4:5\n",
			`line 2, column 9: node n1: Gres: "gpu:a:b:4:5" is not of the form gpu:a100:4`},
		{"no words", "slurm", "NodeName=n1\nhello\n", "line 2, column 1: a line of scontrol show nodes has words"},
		{"a node twice", "slurm", "NodeName=n1\nNodeName=n1\n",
			"line 2, column 10: the node n1 is already in the file, at line 1"},
		{"no node", "slurm", "PartitionName=main\n", "the file has no nodes"},
		{"a table of sinfo", "slurm", "NODELIST CPUS\nn1 8\n", "this is a table of sinfo or a gres.conf"},
		{"gres.conf", "auto", "# GPUs\nNodeName=g1 Name=gpu Type=a100 File=/dev/nvidia0\n",
			"this is a table of sinfo or a gres.conf"},
		{"no list", "slurm", `{"nodes":{}}`, "the nodes of Slurm are a list"},
		{"a number in Slurm's JSON", "slurm", `{"nodes":[{"name":"n1","cpus":-1}]}`,
			"line 1, column 31: node n1: CPUTot: \"-1\" is not a whole number"},
		{"an attribute before a node", "pbs", "     state = free\n",
			"line 1, column 1: an attribute comes before the first node"},
		{"no attribute", "pbs", "n1\n     state: free\n", "line 2, column 1: an attribute must be NAME = VALUE"},
		{"a size of PBS", "pbs", "n1\n     resources_available.mem = much\n",
			`line 2, column 6: node n1: resources_available.mem: "much" is not a size`},
		{"sharing", "pbs", `{"nodes":{"n1":{"state":"free","sharing":"some"}}}`,
			"line 1, column 42: node n1: sharing: no sharing"},
		{"cut off", "pbs", `{"nodes":{"n1":{"state":"fr`, "the file ends in the middle of its JSON"},
	} {
		_, err := Parse(infile.New("nodes", []byte(tt.in)), nodeDefs(t), Options{Format: tt.format})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Parse fails with %v, want %s", tt.name, err, tt.want)
		} else {
			checkFileError(t, []byte(tt.in), err)
		}
	}
}

// TestForeignTypes: missing resources get a type that fits all their values.
func TestForeignTypes(t *testing.T) {
	for values, want := range map[string]index.Type{
		"1 2": index.Long, "1 1.5": index.Float, "1 2gb": index.Size, "1gb 2": index.Size, "true False": index.Boolean,
		"on off": index.String,
		"a b":    index.String, "a a,b": index.StringArray, "1 a": index.String, "true 1": index.String,
		"1,2 3": index.StringArray, "1.5 2gb": index.String,
	} {
		var text strings.Builder
		for i, v := range strings.Fields(values) {
			text.WriteString("n" + string(rune('0'+i)) + "\n     resources_available.odd = " + v + "\n")
		}
		defs := nodeDefs(t)
		f, err := Parse(infile.New("nodes", []byte(text.String())), defs, Options{})
		if err != nil {
			t.Errorf("Parse of %s fails: %v", values, err)
			continue
		}
		if len(f.Made) != 1 || f.Made[0].Type != want || f.Made[0].Consumable {
			t.Errorf("%s make %v, not a %s", values, f.Made, want)
		}
		if _, there := defs.Lookup("odd"); there {
			t.Errorf("%s: Parse has changed the caller's resources", values)
		}
	}
}

// FuzzForeign: there is no panic, an error has a position, and the same file gives the same result twice.
func FuzzForeign(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "testdata", "nodes", "*"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	formats := Formats()
	for _, name := range files {
		if s, err := os.Stat(name); err != nil || s.IsDir() || strings.HasSuffix(name, ".golden") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i, format := range formats {
			if format == "auto" || strings.HasPrefix(filepath.Base(name), format) {
				f.Add(uint8(i), data)
			}
		}
	}
	defs := nodeDefs(f)
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		opt := Options{Format: formats[int(format)%len(formats)], Beside: func(string) ([]byte, bool) {
			return data, bytes.HasPrefix(data, []byte("Part"))
		}}
		read := func() (*File, error) { return Parse(infile.New("nodes", data), defs, opt) }
		one, err := read()
		if err != nil {
			checkFileError(t, data, err)
			return
		}
		two, err := read()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(one.Nodes, two.Nodes, cmp.AllowUnexported(Patch{}, given{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q is read in two ways: %s", data, d)
		}
		for i := range one.Nodes {
			_, _ = one.Nodes[i].Create(one.Nodes[i].Name) // what it says of a reason of a node that is up
		}
	})
}
