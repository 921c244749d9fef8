package placer

import (
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/syntax/syntaxtest"
)

func TestParsePlace(t *testing.T) {
	defs := testDefs(t)
	color, _ := defs.Lookup("color")
	shape, _ := defs.Lookup("shape")
	for _, c := range []struct {
		in   string
		want Place
		form string
	}{
		{"free", Place{}, "free"},
		{"excl", Place{Share: Excl}, "free:excl"},
		{"SCATTER", Place{Arrange: Scatter}, "scatter"},
		{" Shared:VScatter", Place{Arrange: VScatter, Share: Shared}, "vscatter:shared"},
		{"exclhost:pack", Place{Arrange: Pack, Share: ExclHost}, "pack:exclhost"},
		{"group=color:group=shape", Place{Group: shape.ID, HasGroup: true}, "free:group=shape"},
		{"GROUP=Color:scatter:excl", Place{Scatter, Excl, color.ID, true}, "scatter:excl:group=color"},
		{"group=aoe", Place{Group: color.ID + 2, HasGroup: true}, "free:group=aoe"},
		{"group=host", Place{Group: index.Host, HasGroup: true}, "free:group=host"},
	} {
		got, err := ParsePlace(defs, c.in)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.in, got, err, c.want)
		}
		if form := got.Format(defs); form != c.form {
			t.Errorf("%q: written %s, want %s", c.in, form, c.form)
		}
		if got.Exclusive() != (c.want.Share == Excl || c.want.Share == ExclHost) {
			t.Errorf("%q: exclusive: %v", c.in, got.Exclusive())
		}
	}
}

func TestParsePlaceErrors(t *testing.T) {
	defs := testDefs(t)
	for _, c := range []struct {
		in   string
		at   int
		want string
	}{
		{"", 0, "expected a word of group, free, pack, scatter, vscatter, shared, excl, exclhost"},
		{"scater", 0,
			`no place "scater": use group, free, pack, scatter, vscatter, shared, excl, exclhost; did you mean scatter?`},
		{"free:pack", 5, "pack after free: a place has only one of free, pack, scatter, vscatter"},
		{"free:free", 5, "free after free"},
		{"excl:shared", 5, "shared after excl: a place has only one of shared, excl, exclhost"},
		{"scatter:", 8, "expected a word"},
		{"scatter: excl", 8, "expected a word"},
		{"excl=1", 4, "expected : and another word"},
		{"group", 5, "expected = and a resource after group"},
		{"group=", 6, "expected the name of a resource"},
		{"group=colour", 6, `no resource "colour"; did you mean color?`},
		{"scatter:group=mem", 14, "nodes cannot be grouped by mem, a size"},
		{"group=bool", 6, "nodes cannot be grouped by bool, a boolean"},
		{"group=color.x", 11, "expected : and another word"},
	} {
		_, err := ParsePlace(defs, c.in)
		syntaxtest.At(t, c.in, err, c.at, c.want)
	}
}

func TestPlaceString(t *testing.T) {
	for _, c := range []struct {
		place Place
		want  string
	}{
		{Place{}, "free"},
		{Place{Arrange: Scatter, Share: Excl}, "scatter:excl"},
		{Place{Group: index.Host, HasGroup: true}, "free:group=#10"},
		{Place{Arrange: 9, Share: 9}, "arrangement(9):sharing(9)"},
	} {
		if got := c.place.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
