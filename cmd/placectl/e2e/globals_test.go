package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
)

func TestReadGlobals(t *testing.T) {
	c := newCapture()
	given := func(words string) []verbs.Setting {
		inv, _ := c.runner().Verbs.Parse(strings.Fields(words))
		return inv.Globals
	}
	g, err := verbs.ReadGlobals(nil, c.runner().Surroundings())
	if err != nil || g != (verbs.Globals{DB: "placectl.db", LockTimeout: 30 * time.Second}) {
		t.Errorf("ReadGlobals without flags = %+v, %v", g, err)
	}

	c.vars = map[string]string{"PLACECTL_DB": "e.db", "PLACECTL_NOW": "10:00", "PLACECTL_OUTPUT": "csv",
		"NO_COLOR": "whatever"}
	g, err = verbs.ReadGlobals(nil, c.runner().Surroundings())
	if err != nil || g.DB != "e.db" || g.Now.Unix() != testNow.Unix()-30*60-15 || g.Output != output.CSV || !g.NoColor {
		t.Errorf("ReadGlobals with variables = %+v, %v", g, err)
	}

	g, err = verbs.ReadGlobals(given("--db f --db g --now @5 -o id --lock-timeout 1m -v --no-color=false"),
		c.runner().Surroundings())
	want := verbs.Globals{DB: "g", Now: g.Now, Output: output.ID, LockTimeout: time.Minute, Verbose: true}
	if err != nil || g != want || g.Now.Unix() != 5 {
		t.Errorf("ReadGlobals with flags = %+v, %v, want %+v", g, err, want)
	}

	c.vars = map[string]string{"PLACECTL_NOW": "soon", "PLACECTL_OUTPUT": "jsonl"}
	g, err = verbs.ReadGlobals(nil, c.runner().Surroundings())
	if err == nil || !strings.HasPrefix(err.Error(), `the environment variable PLACECTL_NOW: "soon" is not a time`) ||
		g.Output != output.JSONL {
		t.Errorf("ReadGlobals with a bad variable = %+v, %v", g, err)
	}
	if _, err = verbs.ReadGlobals(given("--now now"), c.runner().Surroundings()); err != nil {
		t.Errorf("a flag should override a bad variable: %v", err)
	}
	c.vars = nil
	if _, err = verbs.ReadGlobals(given("-o xml"), c.runner().Surroundings()); err == nil ||
		!strings.HasPrefix(err.Error(), "--output: xml is not one of table, ") {
		t.Errorf("ReadGlobals with a bad format: %v", err)
	}
	if _, err = verbs.ReadGlobals(given("--db="), c.runner().Surroundings()); err == nil {
		t.Error("an empty --db is accepted")
	}
}
