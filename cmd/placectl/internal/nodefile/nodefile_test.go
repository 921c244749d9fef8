package nodefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// nodeDefs declares a resource of every type whose values are read and printed exactly.
func nodeDefs(t testing.TB) *index.Defs {
	t.Helper()
	defs := index.NewDefs()
	for _, def := range []index.Def{
		{Name: "color", Type: index.String}, {Name: "scratch", Type: index.Size, Consumable: true},
		{Name: "fast", Type: index.Boolean}, {Name: "switch", Type: index.StringArray},
		{Name: "slots", Type: index.Long},
	} {
		if _, err := defs.Add(def); err != nil {
			t.Fatal(err)
		}
	}
	return defs
}

// dumpNodes writes the content of a file, a node a line.
func dumpNodes(f *File) string {
	var b strings.Builder
	for i := range f.Nodes {
		p := &f.Nodes[i]
		at := f.At(p.At)
		fmt.Fprintf(&b, "%d:%d %s", at.Line, at.Col, p.Name)
		n := p.Node
		values := []any{n.Queue, n.Priority, n.State, n.Speed, n.ProcSpeed, n.Load, n.Usage, n.Features, n.Access,
			n.Sharing, n.PriorityF, n.Reason}
		for k, v := range values {
			if p.mentions(k) {
				fmt.Fprintf(&b, " %s=%v", fields[k].name, v)
			}
		}
		for _, a := range n.Res {
			def, _ := f.Defs.Get(a.Res)
			fmt.Fprintf(&b, " %s=%s", def.Name, def.Format(a.Value))
		}
		for _, id := range p.unset {
			def, _ := f.Defs.Get(id)
			fmt.Fprintf(&b, " -%s", def.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestNodeFile(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"csv", "name,queue,priority,state,speed,features,access,Sharing,priorityf,reason,NCPUS,Mem,color\n" +
			"n1,q,-5,down,1.5,ssd|ib,SingleJob,Force_Excl,\"SPEED*2\",broken,8,32gb,red\nn2,,,,,,,,,,2.0,1.5GiB,\n",
			"2:1 n1 queue=q priority=-5 state=down speed=1.5 features=[ssd ib] access=singlejob sharing=force_excl " +
				"priorityf=SPEED*2 reason=broken ncpus=8 mem=32gb color=red\n" +
				"3:1 n2 ncpus=2 mem=1536mb\n"},
		{"csv with mark, CRLF, blanks and quotes",
			"\xef\xbb\xbfncpus , name,switch\r\n 8 , n1 ,\"a,b\"\r\n\r\n4,n2,\"c\"\r\n",
			"2:1 n1 ncpus=8 switch=a,b\n4:1 n2 ncpus=4 switch=c\n"},
		{"csv without a last line end", "name\nn1", "2:1 n1\n"},
		{"csv, a speed that is not set", "name,speed,procspeed,load,usage\nn1,0,0.0,0,0\nn2,1.5,2400,7.25,1\n",
			"2:1 n1 speed=0 procspeed=0 load=0 usage=0\n3:1 n2 speed=1.5 procspeed=2400 load=7.25 usage=1\n"},
		{"csv, header only", "name,ncpus\n", ""},
		{"csv as listed", "name,number,ncpus,ncpus_free,jobs,free_until,bucket,features\nn1,0,8,0,1,,3,\"a,b\"\n",
			"2:1 n1 features=[a b] ncpus=8\n"},
		{"json array",
			` [{"name":"n1","queue":null,"priority":"7","state":"offline","features":["a","b"],"resources":{"ncpus":2,"MEM":"8 GiB","color":"red","fast":true}},` + "\n" +
				`  {"resources":{"ncpus":"2","scratch":"1kb","slots":3.0,"switch":["x","y"],"color":null},"name":2}]`,
			"1:3 n1 queue= priority=7 state=offline features=[a b] ncpus=2 mem=8gb color=red fast=True\n2:3 2 " +
				"ncpus=2 scratch=1kb switch=x,y slots=3 -color\n"},
		{"json lines", "{\"name\":\"n1\"}\n{\"name\":\"n2\",\"ncpus\":4,\"jobs\":1}\n\n", "1:1 n1\n2:1 n2 ncpus=4\n"},
		{"json, no nodes", "[]", ""},
		{"csv as listed, sizes in bytes", "name,bucket,mem\nn1,0,8589934592\n", "2:1 n1 mem=8gb\n"},
		{"json as listed, in any order", `[{"mem":8589934592,"scratch":1e3,"name":"n1","bucket":0}]`,
			"1:2 n1 mem=8gb scratch=1kb\n"},
		{"no size at all", "name,mem,scratch\nn1,0,0.0\n", "2:1 n1 mem=0kb scratch=0kb\n"},
	}
	for _, tt := range tests {
		f, err := Parse(infile.New("nodes", []byte(tt.in)), nodeDefs(t), Options{Format: "auto"})
		if err != nil {
			t.Errorf("%s: Parse fails: %v", tt.name, err)
			continue
		}
		if d := cmp.Diff(tt.want, dumpNodes(f)); d != "" {
			t.Errorf("%s: nodes (-want +got): %s", tt.name, d)
		}
	}
}

func TestNodeFileMalformed(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	tests := []struct{ name, in, want string }{
		{"empty", "", "line 1, column 1: the file is empty"},
		{"NUL", "name\nn1\x00\n", "line 2, column 3: a NUL byte"},
		{"not UTF-8", "name\nä\xff\n", "line 2, column 2: the byte 0xff is not UTF-8"},
		{"not UTF-8, though the sign for it is", "name\n\uFFFD\xe4\n", "line 2, column 2: the byte 0xe4"},
		{"UTF-16", "\xff\xfen\x00", "line 1, column 1: the file is UTF-16"},

		{"no name column", "ncpus\n1\n", "line 1, column 1: the header has no column name"},
		{"column twice", "name,ncpus,NCPUS\nn1,1,2\n", "line 1, column 12: the column ncpus appears twice"},
		{"column without name", "name,,ncpus\nn1,1,2\n", "line 1, column 6: column 2 has no name"},
		{"undeclared", "name,colour\nn1,red\n", "line 1, column 6: colour is neither a field of nodes nor a declared " +
			"resource; did you mean color? (to declare it: placectl resource add colour=string)"},
		{"undeclared number", "name,licences\nn1,4\n", "(to declare it: placectl resource add licences=long, or " +
			"long,consumable when jobs use it up)"},
		{"feature", "name,feature\nn1,a\n", "did you mean features?"},
		{"short row", "name,ncpus\nn1,2\nn2\n", "line 3, column 1: the row has 1 cell where the header has 2 columns"},
		{"long row", "name,ncpus\nn1,2,3\n", "line 2, column 1: the row has 3 cells"},
		{"name twice", "name\nn1\nn2\nn1\n", "line 4, column 1: the node n1 is already in the file, at line 2"},
		{"no name", "name,ncpus\n,2\n", `line 2, column 1: name: "" cannot name a node`},
		{"bad name", "ncpus,name\n2,n 1\n", `line 2, column 3: name: "n 1" cannot name a node`},
		{"priority", "name,priority\nn1,2.5\n", "line 2, column 4: priority: 2.5 is not a whole number"},
		{"priority too large", "name,priority\nn1,3000000000\n",
			"priority: 3000000000 is not a whole number from -2147483648 to 2147483647"},
		{"negative amount", "name,ncpus\nn1,-2\n", `line 2, column 4: ncpus: "-2" is not a whole number of 0 or more`},
		{"negative size", "name,mem\nn1,-2gb\n", `line 2, column 4: mem: "-2gb" is not a size`},
		{"size without unit", "name,mem\nn1,8gb\nn2,64\n", "line 3, column 4: mem: 64 has no unit: write 64gb, 64mb, " +
			"64kb or 64b (bytes), or give the unit with --unit mem=gb"},
		{"fraction without unit", "name,ncpus,mem\nn1,1,\" 1.5 \"\n", "line 2, column 6: mem: 1.5 has no unit"},
		{"size without unit in json", `[{"name":"n1","resources":{"mem":64}}]`,
			"line 1, column 34: mem: 64 has no unit"},
		{"size without unit as a string", `[{"name":"n1","mem":"64"}]`, "line 1, column 21: mem: 64 has no unit"},
		{"one node of ours, the next not", "{\"name\":\"n1\",\"bucket\":0,\"mem\":64}\n{\"name\":\"n2\",\"mem\":64}",
			"line 2, column 20: mem: 64 has no unit"},
		{"negative speed", "name,speed\nn1,-1\n", "line 2, column 4: speed: -1 is not a number above 0, such as 1.5"},
		{"speed that is none", "name,speed\nn1,NaN\n", "speed: NaN is not a number"},
		{"infinite speed", "name,procspeed\nn1,inf\n", "line 2, column 4: procspeed: inf is not a number above 0"},
		{"negative load", "name,load\nn1,1\nn2,-0.5\n",
			"line 3, column 4: load: -0.5 is not a number of 0 or more, such as 1.5"},
		{"load too large", "name,load\nn1,1e400\n", "load: 1e400 is not a number of 0 or more"},
		{"usage in percent", "name,usage\nn1,75\n",
			"line 2, column 4: usage: 75 is not a number from 0 to 1, such as 0.75"},
		{"usage in json", `[{"name":"n1","usage":1.01}]`, "line 1, column 23: usage: 1.01 is not a number from 0 to 1"},
		{"state", "name,state\nn1,dwon\n", `line 2, column 4: state: no node state "dwon"`},
		{"access", "name,access\nn1,sharde\n",
			`line 2, column 4: access: no access policy "sharde": use one of shared, singleuser, singlejob, singletask; did you mean shared?`},
		{"sharing", `[{"name":"n1","sharing":"force_exlc"}]`,
			`line 1, column 25: sharing: no sharing "force_exlc": use one of default_shared, default_excl, default_exclhost, ignore_excl, force_excl, force_exclhost; did you mean force_excl?`},
		{"sharing is a list", `[{"name":"n1","sharing":["force_excl"]}]`,
			"line 1, column 25: sharing: a list where one value belongs"},
		{"sharing among resources", `[{"name":"n1","resources":{"sharing":"force_excl"}}]`,
			"sharing is a field of the node, not one of its resources"},
		{"sharing, cut off by a control character", "name,sharing\nn1,\"force\texcl\"\n",
			`sharing: "force\texcl" has characters that cannot be printed`},
		{"feature name", "name,features\nn1,a b\n", `features: "a b" cannot be a feature`},
		{"queue name", "name,queue\nn1,a b\n", `queue: "a b" cannot be a queue`},
		{"control characters", "name,color\nn1,\"a\tb\"\n", `color: "a\tb" has characters that cannot be printed`},
		{"column counted in characters", "name,color,ncpus\nn1,ääää,x\n", "line 2, column 9: ncpus"},
		{"bare quote", "name,color\nn1,a\"b\n", "line 2, column 5: a quote inside a cell"},
		{"open quote", "name,color\nn1,\"ab\n", "a quoted cell does not end as it should"},
		{"long line", "name,color\nn1," + long + "\n",
			"line 2, column 1: the line has 10485763 bytes; at most 1048576 are read"},
		{"long word", "name,color\nn1," + long[:2000] + "\n",
			"line 2, column 4: color: the text has 2000 bytes; at most 1024 are kept"},

		{"cut off", `[{"name":"n1"},{"name":"n`, "line 1, column 26: the file ends in the middle of its JSON"},
		{"cut off after a node", `[{"name":"n1"},` + "\n", "line 2, column 1: the file ends in the middle"},
		{"cut off inside a node", "{\"name\":\"n1\",\n\"resources\":{",
			"line 2, column 14: the file ends in the middle"},
		{"no comma", "[{\"name\":\"n1\"}\n{\"name\":\"n2\"}]", "line 2, column 1: this is not JSON: invalid character"},
		{"comma at the end", `[{"name":"n1"},]`, "line 1, column 16: this is not JSON"},
		{"not quoted", `{name:"n1"}`, "line 1, column 2: this is not JSON"},
		{"something behind", `[{"name":"n1"}] x`, "line 1, column 17: this is not JSON"},
		{"more behind", `[{"name":"n1"}] {"name":"n2"}`, "line 1, column 17: something follows the end of the array"},
		{"an array of arrays", `[["n1"]]`, "line 1, column 2: a list where a node belongs"},
		{"an array of names", `["n1"]`, "line 1, column 2: the string n1 where a node belongs"},
		{"no name", "[\n {\"ncpus\":2}]", "line 2, column 2: the node has no name"},
		{"name is a list", `[{"name":["n1"]}]`, "line 1, column 10: name: a list where one value belongs"},
		{"priority", `[{"name":"n1","priority":{"a":1}}]`,
			"line 1, column 26: an object where a number, a string or a boolean belongs"},
		{"resources", `[{"name":"n1","resources":[1]}]`, "line 1, column 27: resources: a list where an object"},
		{"no resources", `[{"name":"n1","resources":null}]`, "resources: null where an object"},
		{"resources twice", `[{"name":"n1","resources":{},"resources":{}}]`,
			"line 1, column 30: resources appears twice"},
		{"key twice", `[{"name":"n1","resources":{"ncpus":1},"NCPUS":1}]`, "line 1, column 39: ncpus is there twice"},
		{"null twice", `[{"name":"n1","color":null,"color":null}]`, "color is there twice"},
		{"name twice in a node", `[{"name":"n1","name":"n2"}]`, "line 1, column 15: name is there twice"},
		{"node twice", "{\"name\":\"n1\"}\n{\"name\":\"n1\"}",
			"line 2, column 1: the node n1 is already in the file, at line 1"},
		{"field among resources", `[{"name":"n1","resources":{"queue":"q"}}]`,
			"queue is a field of the node, not one of its resources"},
		{"undeclared in json", `[{"name":"n1","resources":{"colour":"red"}}]`, "line 1, column 28: colour is neither"},
		{"mistyped field", `[{"name":"n1","priorty":3}]`, "line 1, column 15: priorty is neither a field of nodes " +
			"nor a declared resource; did you mean priority?"},
		{"comma in a list", `[{"name":"n1","features":["a,b"]}]`, `line 1, column 27: a,b has a comma`},
		{"boolean", `[{"name":"n1","ncpus":true}]`, `line 1, column 23: ncpus: "true" is not a whole number`},
		{"long node", `[{"name":"n1","color":"` + long + `"}]`,
			"line 1, column 23: color: the text has 10485760 bytes"},
		{"node of many parts", `[{"name":"n1","features":["` + strings.Repeat(`a","`, 1<<18) + `a"]}]`,
			"line 1, column 2: the node has 1048"},
		{"nested too deep", strings.Repeat("[", 100_000), "line 1, column 2: a list where a node belongs"},
	}
	for _, tt := range tests {
		_, err := Parse(infile.New("nodes", []byte(tt.in)), nodeDefs(t), Options{Format: "auto"})
		var bad *infile.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: the error has no position: %v", tt.name, err)
			continue
		}
		if !errors.Is(err, infile.ErrInput) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %.300v\nwant %s", tt.name, err, tt.want)
		}
	}
}

// TestNodeFileOneLine: a file on one line is accepted if its nodes are short.
func TestNodeFileOneLine(t *testing.T) {
	var b strings.Builder
	const n = 50_000
	for i := range n {
		fmt.Fprintf(&b, `,{"name":"node%d","resources":{"ncpus":2}}`, i)
	}
	f, err := Parse(infile.New("nodes", []byte("["+b.String()[1:]+"]")), nodeDefs(t), Options{Format: "json"})
	if err != nil || len(f.Nodes) != n {
		t.Fatal(err)
	}
}

func TestNodeFileForeign(t *testing.T) {
	for in, want := range map[string]string{
		`{"timestamp":1,"pbs_version":"23","nodes":{"n1":{"ncpus":2}}}`: "pbs",
		`{"meta":{"plugin":{}},"nodes":[{"name":"n1"}],"warnings":[]}`:  "slurm",
	} {
		_, err := Parse(infile.New("x.json", []byte(in)), nodeDefs(t), Options{Format: "json"})
		if err == nil || errors.Is(err, infile.ErrInput) ||
			!strings.HasSuffix(err.Error(), "import it with --from "+want) {
			t.Errorf("Parse(%s) fails with %v, want import it with --from %s", in, err, want)
		}
	}
	for _, in := range []string{`{"name":"n1","nodes":{}}`, `{}`, `{"nodes`, `[{"nodes":{}}]`} {
		if _, err := Parse(infile.New("x.json", []byte(in)), nodeDefs(t), Options{}); !errors.Is(err, infile.ErrInput) {
			t.Errorf("%s is taken for another tool's: %v", in, err)
		}
	}
}

// FuzzNodeFile: there is no panic. An error has a position and is printable. Nodes that are read, written as
// JSON and read again are the same.
func FuzzNodeFile(f *testing.F) {
	for _, s := range []string{
		"name,queue,priority,state,features,ncpus,mem,color\nn1,q,5,down,a|b,8,1.5GiB,red\r\nn2,,,,,,,\n",
		"\xef\xbb\xbfname,\"switch\"\n\"n1\",\"a,b\"\n",
		`[{"name":"n1","priority":"5","features":["a"],"sharing":"Ignore_Excl","access":"shared","speed":0,"resources":{"ncpus":1e1,"fast":true,"color":null}}]`,
		"{\"name\":\"n1\"}\n{\"name\":2,\"speed\":0.5}", `{"nodes":{"a":{}}}`, `{"execution":{}}`, "name\n\"", "[",
		"{}",
	} {
		f.Add([]byte(s))
	}
	defs := nodeDefs(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		one, err := Parse(infile.New("nodes", data), defs, Options{Format: "auto"})
		if err != nil {
			checkFileError(t, data, err)
			return
		}
		text := writeNodes(t, one)
		two, err := Parse(infile.New("nodes", text), defs, Options{Format: "json"})
		if err != nil {
			t.Fatalf("Parse refuses %s\nwritten from %q: %v", text, data, err)
		}
		if d := cmp.Diff(one.Nodes, two.Nodes, cmp.AllowUnexported(Patch{}), cmpopts.IgnoreFields(Patch{}, "At"),
			cmpopts.EquateEmpty(),
			cmpopts.SortSlices(func(a, b index.ResID) bool { return a < b })); d != "" {
			t.Fatalf("nodes differ when read again from %s\nwritten from %q: %s", text, data, d)
		}
	})
}

func checkFileError(t *testing.T, data []byte, err error) {
	t.Helper()
	var bad *infile.Error
	if !errors.As(err, &bad) {
		if !strings.Contains(err.Error(), "; import it with --from ") {
			t.Fatalf("%q: the error has no position: %v", data, err)
		}
		return
	}
	lines := bytes.Split(data, []byte{'\n'})
	if bad.Line < 1 || bad.Col < 1 || bad.Line > len(lines) || bad.Col > len(lines[bad.Line-1])+2 {
		t.Fatalf("%q: line %d, column %d are outside the file: %v", data, bad.Line, bad.Col, err)
	}
	if !text.IsPrintable(text.Printable(err.Error())) {
		t.Fatalf("%q: the error is not printable: %q", data, err)
	}
}

// writeNodes writes the content of a file as JSON.
func writeNodes(t *testing.T, f *File) []byte {
	list := []map[string]any{}
	for i := range f.Nodes {
		p := &f.Nodes[i]
		res := map[string]any{}
		for _, a := range p.Res {
			def, _ := f.Defs.Get(a.Res)
			res[def.Name] = def.Format(a.Value)
		}
		for _, id := range p.unset {
			def, _ := f.Defs.Get(id)
			res[def.Name] = nil
		}
		m := map[string]any{"name": p.Name, "resources": res}
		values := []any{p.Queue, p.Priority, p.State.String(), p.Speed, p.ProcSpeed, p.Load, p.Usage, p.Features,
			p.Access.String(), p.Sharing.String(), p.PriorityF, p.Reason}
		for k, v := range values {
			if p.mentions(k) {
				m[fields[k].name] = v
			}
		}
		list = append(list, m)
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
