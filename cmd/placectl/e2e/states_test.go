package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/cluster"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/tables"
)

// TestStatesPage compares the tables of docs/states.md with the program's words.
func TestStatesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/states.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"Nodes": cluster.NodeStates()}
	for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
		want["Nodes of a bucket"] = append(want["Nodes of a bucket"], class.String())
	}
	for _, state := range engine.JobStates() {
		want["Jobs"] = append(want["Jobs"], state.String())
	}
	for state := engine.AttemptStarted; state <= engine.AttemptEnded; state++ {
		want["Attempts"] = append(want["Attempts"], state.String())
	}
	for outcome := engine.OutcomeExited; outcome <= engine.OutcomeStopped; outcome++ {
		want["Attempts"] = append(want["Attempts"], outcome.String())
	}
	r := engine.Reservation{Start: time.Unix(10, 0), End: time.Unix(20, 0)}
	for _, now := range []int64{0, 10, 20} {
		want["Reservations"] = append(want["Reservations"], r.State(time.Unix(now, 0)))
	}
	want["Events"] = tables.EventWords
	got, row := make(map[string][]string), regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|")
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			got[title] = append(got[title], m[1])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/states.md (-program +page)\n%s", diff)
	}
}
