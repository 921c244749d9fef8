package placer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"
)

func TestParseSelect(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct{ in, want string }{
		{"1:ncpus=007", "1:ncpus=7"},
		{"010:ncpus=1", "10:ncpus=1"},
		{"\t2:ncpus=0", "2:ncpus=0"},
		{"1:ngpus=2", "1:ngpus=2:ncpus=1"},
		{"1:power=1.5:level=3", "1:power=1.5:level=3:ncpus=1"},
		{"1:mem=1023", "1:mem=1kb:ncpus=1"},
		{"1:mem=1025:ncpus=1", "1:mem=2kb:ncpus=1"},
		{"1:COLOR=Red", "1:color=Red:ncpus=1"},
		{"1:color='a:b+c'", `1:color="a:b+c":ncpus=1`},
		{`1:color="it's"`, `1:color="it's":ncpus=1`},
		{`1:color='say "x"'`, `1:color='say "x"':ncpus=1`},
		{`1:color=a'b"c'"d'e"`, `1:color="ab"'"'"cd'e":ncpus=1`},
		{"1:color=a=b", `1:color="a=b":ncpus=1`},
		{"1:color=(a)", `1:color="(a)":ncpus=1`},
		{"1:color='a, b'", `1:color="a, b":ncpus=1`},
		{"1:color=grün", "1:color=grün:ncpus=1"},
		{`1:ncpus="2":mem='1'gb`, "1:ncpus=2:mem=1gb"},
		{"1:feature=a:feature=b", "1:feature=a:feature=b:ncpus=1"},
		{"1:feature=a:feature=b:FEATURE=a", "1:feature=a:feature=b:ncpus=1"},
		{"1:host=n1+vnode=n2", "1:host=n1:ncpus=1+1:vnode=n2:ncpus=1"},
		{"2147483647", "2147483647:ncpus=1"},
		{"1:ncpus=9223372036854775807", "1:ncpus=9223372036854775807"},
		{"2:level=9223372036854775807", "2:level=9223372036854775807:ncpus=1"},
	} {
		chunks, err := ParseSelect(defs, c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := (Spec{Chunks: chunks}).Select(defs); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestParseSelectChunks(t *testing.T) {
	defs := testDefs(t)
	aoe, _ := defs.Lookup("aoe")
	got, err := ParseSelect(defs, "2:mem=8gb:ompthreads=2+ncpus=3:aoe=x:feature=f")
	want := []Chunk{
		{2, []Want{{Res: index.Mem, Value: index.Value{Num: 8 << 20}},
			{Res: index.OMPThreads, Value: index.Value{Num: 2}}, oneCPU}, true},
		{1, []Want{{Res: index.NCPUs, Value: index.Value{Num: 3}}, {Res: aoe.ID, Value: index.Value{Str: "x"}},
			{Res: index.Feature, Value: index.Value{Str: "f"}}}, false},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	// Appending to one chunk must not reach into the next.
	got[0].Wants = append(got[0].Wants, Want{Res: index.Disk})
	if got[1].Wants[0].Res != index.NCPUs {
		t.Error("the chunks share their wants")
	}
}

func TestParseSelectErrors(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		in   string
		at   int
		want string // a part of the message
	}{
		{"", 0, "it is empty: expected chunks such as 2:ncpus=4:mem=8gb"},
		{"  ", 2, "it is empty"},
		{"2:ncpu=4", 2, `no resource "ncpu"; did you mean ncpus?`},
		{"2:zzzzzz=4", 2, `no resource "zzzzzz"`},
		{"2:walltime=4", 2, "walltime is not a resource of a chunk: it belongs to the whole request"},
		{"2:ncpus", 7, "expected = and a value after ncpus"},
		{"2:ncpus=", 8, "ncpus needs a value"},
		{"2:ncpus=:mem=1gb", 8, "ncpus needs a value"},
		{"2:color=''", 8, "color needs a value"},
		{"2:color='a:b", 8, "the quote is not closed"},
		{"2:ncpus=1.5", 8, `ncpus: "1.5" is not a whole number`},
		{"2:ncpus=4:", 10, "expected a resource such as ncpus=4"},
		{"1+", 2, "expected a resource"},
		{"1++1", 2, "expected a resource"},
		{"-1:ncpus=1", 0, "expected a resource"},
		{"0", 0, "the count of a chunk is a whole number from 1 to 2147483647"},
		{"1+0:ncpus=1", 2, "the count of a chunk"},
		{"2147483648", 0, "the count of a chunk"},
		{"99999999999:ncpus=1", 0, "the count of a chunk"},
		{"2147483647+1", 0, "the counts add up to more than 2147483647 chunks"},
		{"2:ncpus=9223372036854775807", 0, "all chunks together ask for more ncpus than can be counted"},
		{"ncpus=9223372036854775807+ncpus=1", 0, "more ncpus than can be counted"},
		{"1 :ncpus=1", 1, "expected : and a resource"},
		{"1:ncpus=1 ", 9, "a space"},
		{"1:ncpus=1,mem=1gb", 9, "a comma"},
		{"1:color=a\x07", 9, `"\a" cannot be printed`},
		{"1:color='a\xff'", 10, `"\xff" cannot be printed`},
		{"1:ncpus=1:mem=1gb:NCPUS=2", 18, "ncpus is named twice in one chunk"},
		{"1:aoe='a,b'", 6, "aoe asks for one member"},
		{"1:aoe=' '", 6, "aoe needs a value"},
		{"1:bool=yes", 7, `bool: "yes" is neither True nor False`},
		{strings.Repeat("1+", MaxChunks) + "1", 2 * MaxChunks, "more than 4096 chunks"},
		{strings.Repeat("x", MaxText+1), MaxText, "longer than 65536 bytes"},
	} {
		_, err := ParseSelect(defs, c.in)
		syntaxtest.At(t, c.in, err, c.at, c.want)
	}
}

func TestParseSelectManyWants(t *testing.T) {
	defs := testDefs(t)
	var b strings.Builder
	for i := range MaxWants + 1 {
		fmt.Fprintf(&b, ":feature=f%d", i)
	}
	_, err := ParseSelect(defs, "1"+b.String())
	syntaxtest.At(t, "257 features", err, b.Len()-len("feature=f256")+1, "more than 256 resources in one chunk")
}

func BenchmarkParseSelect(b *testing.B) {
	defs := testDefs(b)
	for _, in := range []string{"4", "2:ncpus=4", "2:ncpus=4:mem=8gb+1:ngpus=1"} {
		b.Run(in, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseSelect(defs, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
