package placer

import (
	"errors"
	"strings"
	"testing"

	"github.com/placectl/placectl/placer/subject"
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
		{"user=ann", AccessList{{subject.User.Of("ann"), Positive}}, ""},
		{"user=ann+", AccessList{{subject.User.Of("ann"), Positive}}, "user=ann"},
		{"user=a,group=b-,class=c=", AccessList{{subject.User.Of("a"), Positive}, {subject.Group.Of("b"), Negative},
			{subject.Class.Of("c"), Neutral}}, ""},
		{" User=a , ACCOUNT=b\t,queue=c,job=12 ",
			AccessList{{subject.User.Of("a"), Positive}, {subject.Account.Of("b"), Positive},
				{subject.Queue.Of("c"), Positive}, {subject.Job.Of("12"), Positive}},
			"user=a,account=b,queue=c,job=12"},
		{"user=a-b", AccessList{{subject.User.Of("a-b"), Positive}}, ""}, // a sign inside is part of the value
		{"user=a=b", AccessList{{subject.User.Of("a=b"), Positive}}, ""},
		{"user:ann,group:b-", AccessList{{subject.User.Of("ann"), Positive}, {subject.Group.Of("b"), Negative}},
			"user=ann,group=b-"},
		{`user="x-"`, AccessList{{subject.User.Of("x-"), Positive}}, ""},
		{`user="x-"-`, AccessList{{subject.User.Of("x-"), Negative}}, ""},
		{`user='c++'=`, AccessList{{subject.User.Of("c++"), Neutral}}, `user="c++"=`},
		{`user="-"`, AccessList{{subject.User.Of("-"), Positive}}, ""},
		{`user="a,b c"-`, AccessList{{subject.User.Of("a,b c"), Negative}}, ""},
		{`user=x"-"y`, AccessList{{subject.User.Of("x-y"), Positive}}, "user=x-y"},
		{`user='a"'"'b-"`, AccessList{{subject.User.Of(`a"'b-`), Positive}}, `user="a"'"'"'b-"`},
		{`job=née`, AccessList{{subject.Job.Of("née"), Positive}}, ""},
		{"user=a,user=a+", AccessList{{subject.User.Of("a"), Positive}}, "user=a"}, // once more says nothing new
		{"user=a,group=a-", AccessList{{subject.User.Of("a"), Positive}, {subject.Group.Of("a"), Negative}}, ""},
		{"user=a,user=A-", AccessList{{subject.User.Of("a"), Positive}, {subject.User.Of("A"), Negative}}, ""},
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
		{"ann", "^", "expected KIND=NAME, such as user=ann"},
		{"user=a,b", "       ^", "of one of the kinds user, group"},
		{"user=a,", "       ^", "expected KIND=NAME"},
		{",user=a", "^", "expected KIND=NAME"},
		{"usr=a", "^", "one of the kinds user, group, account, class, queue, job; did you mean user?"},
		{"user=a,acount=b", "       ^", "did you mean account?"},
		{"colour=red", "^", "one of the kinds"},
		{"user", "    ^", "expected = and a name after user"},
		{"user ann", "    ^", "expected ="},
		{"user=", "     ^", "user needs a name"},
		{"user=-", "     ^", "user needs a name"},
		{`user=""-`, "     ^", "user needs a name"},
		{"user=,group=b", "     ^", "user needs a name"},
		{"user=a--", "     ^", `write "a-" and the affinity behind it`},
		{"user=c++", "     ^", `write "c+" and`}, // which of the two is the affinity?
		{"user=a b", "      ^", "a name that holds a blank needs quotes"},
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

func TestAccessAffinity(t *testing.T) {
	ann := Entrant{Names: subject.Names{subject.User: "ann", subject.Group: "physics", subject.Account: "lab",
		subject.Class: "long", subject.Queue: "night"}, Name: "fit", Job: 12}
	for _, c := range []struct {
		list string
		who  Entrant
		want Affinity
		in   bool
	}{
		{"", ann, Neutral, false},
		{"", Entrant{}, Neutral, false},
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
		{"job=fit", ann, Positive, true},                // by name
		{"job=12", ann, Positive, true},                 // by number
		{"job=12", Entrant{Name: "12"}, Positive, true}, // a name may look like one
		{"job=1", ann, Neutral, false},
		{"job=0", Entrant{Names: subject.Names{subject.User: "ann"}}, Neutral, false}, // no number is no number
		{"user=ann", Entrant{Names: subject.Names{subject.Group: "g"}}, Neutral, false},
		{"user=ann,job=7-", Entrant{Job: 7}, Negative, true},
		{"user=*", ann, Positive, true}, // anybody,
		{"user=*=", Entrant{}, Neutral, true},
		{"group=*-", Entrant{Names: subject.Names{subject.User: "ann"}}, Negative, true}, // by whatever kind
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
	odd := AccessList{{subject.User.Of(""), Positive}, {subject.Kind(0).Of("ann"), Positive},
		{subject.Kind(99).Of("ann"), Positive}}
	if _, in := odd.Affinity(Entrant{}); in {
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
				Subject:  rapid.SampledFrom(subject.All).Draw(t, "kind").Of(value.Draw(t, "name")),
				Affinity: Affinity(rapid.IntRange(int(Negative), int(Positive)).Draw(t, "affinity")),
			}
			if key := e.Subject.String(); !seen[key] {
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
