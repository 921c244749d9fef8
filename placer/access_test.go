package placer

import (
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/syntax"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseAccess(t *testing.T) {
	for _, c := range []struct {
		in   string
		want AccessList
		text string // how it is written; "" for in itself
	}{
		{"", nil, ""},
		{"  ", nil, "\x00"},
		{"user=ann", AccessList{{AccessUser, "ann", Positive}}, ""},
		{"user=ann+", AccessList{{AccessUser, "ann", Positive}}, "user=ann"},
		{"user=a,group=b-,class=c=", AccessList{{AccessUser, "a", Positive}, {AccessGroup, "b", Negative},
			{AccessClass, "c", Neutral}}, ""},
		{" User=a , ACCOUNT=b\t,queue=c,job=12 ",
			AccessList{{AccessUser, "a", Positive}, {AccessAccount, "b", Positive},
				{AccessQueue, "c", Positive}, {AccessJob, "12", Positive}}, "user=a,account=b,queue=c,job=12"},
		{"user=a-b", AccessList{{AccessUser, "a-b", Positive}}, ""}, // a sign inside is part of the value
		{"user=a=b", AccessList{{AccessUser, "a=b", Positive}}, `user="a=b"`},
		{`user="x-"`, AccessList{{AccessUser, "x-", Positive}}, ""},
		{`user="x-"-`, AccessList{{AccessUser, "x-", Negative}}, ""},
		{`user='c++'=`, AccessList{{AccessUser, "c++", Neutral}}, `user="c++"=`},
		{`user="-"`, AccessList{{AccessUser, "-", Positive}}, ""},
		{`user="a,b c"-`, AccessList{{AccessUser, "a,b c", Negative}}, ""},
		{`user=x"-"y`, AccessList{{AccessUser, "x-y", Positive}}, "user=x-y"},
		{`user='a"'"'b-"`, AccessList{{AccessUser, `a"'b-`, Positive}}, `user="a"'"'"'b-"`},
		{`job=née`, AccessList{{AccessJob, "née", Positive}}, ""},
		{"user=a,user=a+", AccessList{{AccessUser, "a", Positive}}, "user=a"}, // once more says nothing new
		{"user=a,group=a-", AccessList{{AccessUser, "a", Positive}, {AccessGroup, "a", Negative}}, ""},
		{"user=a,user=A-", AccessList{{AccessUser, "a", Positive}, {AccessUser, "A", Negative}}, ""},
	} {
		got, err := ParseAccess(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.in, diff)
		}
		want := strings.Trim(c.text, "\x00")
		if c.text == "" {
			want = c.in
		}
		if got.String() != want {
			t.Errorf("%q is written %q, want %q", c.in, got, want)
		}
	}
}

func TestParseAccessRefused(t *testing.T) {
	for _, c := range []struct{ in, caret, msg string }{
		{"ann", "^", "expected an entry such as user=ann"},
		{"user=a,b", "       ^", "each names its kind"},
		{"user=a,", "       ^", "expected an entry"},
		{",user=a", "^", "expected an entry"},
		{"usr=a", "^", `no kind of access "usr": use user, group, account, class, queue, job; did you mean user?`},
		{"user=a,acount=b", "       ^", "did you mean account?"},
		{"colour=red", "^", `no kind of access "colour"`},
		{"user", "    ^", "expected = and a value after user"},
		{"user ann", "    ^", "expected ="},
		{"user=", "     ^", "user needs a value"},
		{"user=-", "     ^", "user needs a value"},
		{`user=""-`, "     ^", "user needs a value"},
		{"user=,group=b", "     ^", "user needs a value"},
		{"user=a--", "     ^", `write "a-" and the affinity behind it`},
		{"user=c++", "     ^", `write "c+" and`}, // which of the two is the affinity?
		{"user=a b", "      ^", "a value that holds a blank needs quotes"},
		{`user="a`, "     ^", "the quote is not closed"},
		{"user=a\x1b", "      ^", "cannot be printed"},
		{"user=a,group=b,user=a-", "               ^", `user "a" is given twice, with different affinities`},
		{"user=a=,user=a", "        ^", "given twice"},
		{strings.Repeat("user=a,", MaxText), "", "longer than"},
	} {
		_, err := ParseAccess(c.in)
		var se *syntax.Error
		if !errors.As(err, &se) || !errors.Is(err, ErrRequest) {
			t.Errorf("%.40q: %v", c.in, err)
			continue
		}
		if _, caret, _ := strings.Cut(se.Caret(), "\n"); c.caret != "" && caret != c.caret {
			t.Errorf("%q: %s\n%s", c.in, se.Msg, se.Caret())
		}
		if !strings.Contains(se.Error(), c.msg) {
			t.Errorf("%.40q: %v\nwant %s", c.in, se, c.msg)
		}
	}
}

func TestAccessKind(t *testing.T) {
	// as on disk
	numbers := map[AccessKind]string{1: "user", 2: "group", 3: "account", 4: "class", 5: "queue", 6: "job"}
	for k := range AccessKind(10) {
		name, valid := numbers[k]
		if k.Valid() != valid {
			t.Errorf("%d: valid is %v", k, k.Valid())
		}
		if valid && k.String() != name {
			t.Errorf("%d is %s", k, k)
		}
	}
}

func TestAccessAffinity(t *testing.T) {
	ann := Subject{User: "ann", Group: "physics", Account: "lab", Class: "long", Queue: "night", JobName: "fit",
		Job: 12}
	for _, c := range []struct {
		list string
		who  Subject
		want Affinity
		in   bool
	}{
		{"", ann, Neutral, false},
		{"", Subject{}, Neutral, false},
		{"user=ann", ann, Positive, true},
		{"user=ann-", ann, Negative, true},
		{"user=ann=", ann, Neutral, true},
		{"user=bob,group=chem", ann, Neutral, false},
		{"user=bob,group=physics=", ann, Neutral, true},  // any entry will do
		{"user=ann-,group=physics=", ann, Neutral, true}, // the highest counts,
		{"group=physics,user=ann-", ann, Positive, true}, // wherever it stands
		{"user=bob+,account=lab-", ann, Negative, true},  // of those that match
		{"user=Ann", ann, Neutral, false},                // as written
		{"group=ann,user=physics", ann, Neutral, false},  // each in its kind
		{"class=long", ann, Positive, true},
		{"queue=night-", ann, Negative, true},
		{"job=fit", ann, Positive, true},                   // by name
		{"job=12", ann, Positive, true},                    // by number
		{"job=12", Subject{JobName: "12"}, Positive, true}, // a name may look like one
		{"job=1", ann, Neutral, false},
		{"job=0", Subject{User: "ann"}, Neutral, false}, // no number is no number
		{"user=ann", Subject{Group: "g"}, Neutral, false},
		{"user=ann,job=7-", Subject{Job: 7}, Negative, true},
		{"user=*", ann, Positive, true}, // anybody,
		{"user=*=", Subject{}, Neutral, true},
		{"group=*-", Subject{User: "ann"}, Negative, true}, // by whatever kind
		{"user=*-,group=physics", ann, Positive, true},
		{"user=a*", ann, Neutral, false}, // it is no pattern
	} {
		list, err := ParseAccess(c.list)
		if err != nil {
			t.Fatal(err)
		}
		if got, in := list.Affinity(c.who); got != c.want || in != c.in {
			t.Errorf("%q for %+v: %d, %v; want %d, %v", c.list, c.who, got, in, c.want, c.in)
		}
	}
	// A list made elsewhere may have these; one that was read cannot.
	odd := AccessList{{AccessUser, "", Positive}, {0, "ann", Positive}, {99, "ann", Positive}}
	if _, in := odd.Affinity(Subject{}); in {
		t.Error("an empty value matches an unknown user")
	}
	if _, in := odd.Affinity(ann); in {
		t.Error("an unknown kind admits a job")
	}
	list, _ := ParseAccess("user=bob,job=12-,group=physics")
	if n := testing.AllocsPerRun(100, func() { list.Affinity(ann) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What is written reads back, whatever printable text the values are.
func TestAccessRoundTrip(t *testing.T) {
	value := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune(`ab-+=,"' :()#`)), rapid.RuneFrom([]rune("zé0"))), 1, 8,
		-1)
	rapid.Check(t, func(t *rapid.T) {
		var list AccessList
		seen := make(map[string]bool)
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			e := AccessEntry{
				Kind:     AccessKind(rapid.IntRange(int(AccessUser), int(AccessJob)).Draw(t, "kind")),
				Value:    value.Draw(t, "value"),
				Affinity: Affinity(rapid.IntRange(int(Negative), int(Positive)).Draw(t, "affinity")),
			}
			if key := e.Kind.String() + e.Value; !seen[key] {
				seen[key] = true
				list = append(list, e)
			}
		}
		got, err := ParseAccess(list.String())
		if err != nil {
			t.Fatalf("%q: %v", list, err)
		}
		if diff := cmp.Diff(list, got); diff != "" {
			t.Fatalf("%q (-written +read):\n%s", list, diff)
		}
	})
}

func FuzzAccess(f *testing.F) {
	for _, s := range []string{"user=a,group=b-,class=c=", `user="x-"-,job=12`, `queue='a"'"'b-"`, "usr=a",
		"user=a--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseAccess(s)
		if err != nil {
			syntaxtest.Printable(t, err)
			return
		}
		again, err := ParseAccess(list.String())
		if diff := cmp.Diff(list, again); err != nil || diff != "" {
			t.Fatalf("%q is written %q: %v\n%s", s, list, err, diff)
		}
	})
}
