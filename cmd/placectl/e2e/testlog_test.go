package e2e

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/internal/replica/memlog"
	"github.com/rogpeppe/go-internal/testscript"
)

// inLogs is the environment variable that makes commands of scripts keep each database in a log. A name
// NAME means testlog:///.../NAME, unless it is a file that is no log. The variable says what stands for
// testlog://.
const inLogs = "PLACECTL_TEST_IN_LOGS"

// intoLogs changes a command's environment so that databases are kept in logs, and its output so that they
// are named like files.
func intoLogs(e session.Env) session.Env {
	under := os.Getenv(inLogs)
	named := make(map[string]string) // maps the command's names to the script's
	name := func(given string) string {
		if given == "" || strings.Contains(given, "://") || isOther(given) {
			return given
		}
		path, err := filepath.Abs(given)
		if err != nil {
			return given
		}
		named[under+path] = given
		return under + path
	}
	db := e.Getenv("PLACECTL_DB")
	if db == "" {
		db = "placectl.db"
	}
	db = name(db)
	os.Setenv("PLACECTL_DB", db)
	for i := range e.Args {
		switch word := e.Args[i]; {
		case word == "--":
		case word == "--db" && i+1 < len(e.Args):
			e.Args[i+1] = name(e.Args[i+1])
			continue
		case strings.HasPrefix(word, "--db="):
			e.Args[i] = "--db=" + name(strings.TrimPrefix(word, "--db="))
			continue
		default:
			continue
		}
		break
	}
	e.Stdout, e.Stderr = &asFiles{e.Stdout, named}, &asFiles{e.Stderr, named}
	return e
}

// isOther reports whether a file exists and is no log.
func isOther(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && !bytes.HasPrefix(text, []byte(memlog.Magic))
}

// asFiles writes the names of logs as those of the files that they replace.
type asFiles struct {
	to    io.Writer
	named map[string]string
}

func (w *asFiles) Write(b []byte) (int, error) {
	length := len(b)
	for name, given := range w.named {
		b = bytes.ReplaceAll(b, []byte(name), []byte(given))
	}
	_, err := w.to.Write(b)
	return length, err
}

// notInLogs are the scripts that examine the file of a database, with what they examine.
var notInLogs = map[string]string{
	"archive":        "an archive is not put over the database",
	"backup":         "the database that was there is kept",
	"check":          "pages are damaged",
	"compact":        "pages are freed",
	"completion":     "the name of the database is a word to be completed",
	"demo":           "it names its database by itself",
	"doctor":         "the file is examined",
	"fronts":         "no database is configured",
	"gantt":          "a picture is not put over the database",
	"health":         "others may write the file",
	"hook":           "as health",
	"init":           "there is no folder for the file",
	"launch":         "as init",
	"made_once":      "it salvages",
	"metrics":        "as batch",
	"on":             "the database is reached over ssh",
	"reasons":        "as health",
	"replica":        "it has logs of its own",
	"replica_keeper": "as replica",
	"report":         "as batch",
	"salvage":        "pages are damaged",
	"simulate":       "as batch",
	"submit_export":  "who can read the file",
	"trust":          "as health",
}

// someInLogs always run, the others only in the long form.
var someInLogs = []string{"account", "cycle", "dump", "ending", "events", "hook_mail", "job", "plan", "pool", "query",
	"release", "reserve", "run", "tx", "wait"}

// TestScriptsInLogs runs the scripts on databases kept in logs in which another writer is always faster, so
// that each transaction runs again. The results are the same.
func TestScriptsInLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	files, err := filepath.Glob("../../../testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	runInLogs(t, files, "restless://")
}

// runInLogs runs the scripts on logs whose names have a prefix.
func runInLogs(t *testing.T, files []string, under string) {
	t.Helper()
	left := maps.Clone(notInLogs)
	var chosen []string
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		_, not := left[name]
		delete(left, name)
		if !not && (*long || slices.Contains(someInLogs, name)) {
			chosen = append(chosen, path)
		}
	}
	if len(left) > 0 || !*long && len(chosen) != len(someInLogs) {
		t.Fatalf("these scripts do not exist: %v, or some of %v", left, someInLogs)
	}
	runScripts(t, testscript.Params{Files: chosen},
		map[string]string{inLogs: under, "PLACECTL_REPLICAS": "WORK/.replicas"})
}
