package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// The completion scripts know nothing: with each TAB they hand the words so far to
// placectl completion words, which answers from the commands that help shows.

func completionVerb() *verb {
	return &verb{
		Name:     "completion",
		Category: "Store",
		Usage:    "print what makes a shell complete verbs, flags and their words",
		Args:     []arg{{Name: "bash|zsh|fish", Kind: kindWord}},
		Example: "source <(placectl completion bash)      # in ~/.bashrc\nsource <(placectl completion zsh)       # in ~/.zshrc, behind compinit\n" +
			"placectl completion fish | source       # in ~/.config/fish/config.fish",
		Verbs: []*verb{{Name: "words", Usage: "what the last of them may become", Hidden: true, Args: []arg{{Name: "-- WORDS", Kind: kindCommand, Many: true}}, Run: (*runner).completeWords}},
		Run:   (*runner).completion,
	}
}

// completionScripts are those of the shells.
var completionScripts = map[string]string{
	"bash": `_placectl() {
	local IFS=$'\n'
	COMPREPLY=($(placectl completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _placectl placectl
`,
	"zsh": `_placectl() {
	local -a found
	found=("${(@f)$(placectl completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _placectl placectl
`,
	"fish": `complete -c placectl -a '(placectl completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

func (r *runner) completion(c *cli.Context) error {
	_, err := io.WriteString(r.stdout, completionScripts[c.Args().First()])
	return err
}

// completeWords answers a shell. Nobody reads an error behind a TAB.
func (r *runner) completeWords(c *cli.Context) error {
	if r.dash != 0 || c.NArg() == 0 {
		return usagef("the words so far stand behind --")
	}
	for _, word := range r.complete(c.Args().Slice()) {
		fmt.Fprintln(r.stdout, word)
	}
	return nil
}

// complete lists what the last of the words on a command line may become. Nothing is
// left to the shell, which then completes names of files.
func (r *runner) complete(line []string) []string {
	before, begun := line[:len(line)-1], line[len(line)-1]
	w := &walker{r: r}
	for i := 0; i < len(before); i++ {
		word := before[i]
		name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		switch {
		case word == "--":
			return nil
		case !isFlag(word):
			w.word(word)
		case strings.HasPrefix(name, "db="):
			r.DB = name[len("db="):]
		case !strings.Contains(name, "=") && w.takesValue(name) == takesOne:
			if i++; i == len(before) {
				return beginning(begun, w.flagValues(name))
			}
			if name == "db" {
				r.DB = before[i]
			}
		}
	}
	if strings.HasPrefix(begun, "-") {
		return beginning(begun, flagWords(w.ownFlags()))
	}
	if a := w.leaf().argAt(len(w.args)); a.Kind == kindWord {
		return beginning(begun, a.words())
	} else if a.Kind != kindText {
		return r.namesOf(a.Kind, begun)
	}
	if len(w.args) > 0 {
		return nil
	}
	return beginning(begun, w.verbNames())
}

// beginning keeps the words that begin in a way, in order.
func beginning(prefix string, list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasPrefix(s, prefix) })
	slices.Sort(list)
	return list
}

// flagValues are the words that a flag takes, nil where they are not few.
func (w *walker) flagValues(name string) []string {
	if findGlobal(name) != nil {
		if name == "o" || name == "output" {
			return output.FormatNames()
		}
		return nil
	}
	f, ok := findFlag(w.ownFlags(), name).(cli.DocGenerationFlag)
	if !ok {
		return nil
	}
	return wordsOf(f.GetUsage())
}

// wordsOf finds the words of a flag in what help says of it: `B` is fcfs, easy or
// conservative.
func wordsOf(usage string) []string {
	listed := regexp.MustCompile("`(?: is|:) ((?:[a-z]+, )*[a-z]+),? or ([a-z]+)|: ((?:[a-z]+, )*[a-z]+),? or ([a-z]+)")
	m := listed.FindStringSubmatch(usage)
	if m == nil {
		return nil
	}
	return append(strings.Split(m[1]+m[3], ", "), m[2]+m[4])
}

// Completion answers at once or not at all.
const (
	completionPatience = 200 * time.Millisecond
	completionMost     = 1000 // names; who has more types some of one first
)

// errEnough ends the search for names.
var errEnough = errors.New("enough names")

// namesOf lists what there is of a kind that begins in a way: nothing where the database
// cannot be asked.
func (r *runner) namesOf(kind argKind, prefix string) (names []string) {
	if kind == kindSetting {
		return beginning(prefix, store.SettingNames())
	}
	if kind < kindJob {
		return nil
	}
	r.LockTimeout, r.Quiet = completionPatience, true
	r.view(func(tx *store.Tx) error { //nolint:errcheck // nobody reads an error behind a TAB
		return eachName(tx, kind, func(name string) error {
			if names = append(names, beginning(prefix, []string{name})...); len(names) == completionMost {
				return errEnough
			}
			return nil
		})
	})
	return names
}

// eachName calls fn with the names of one kind: of jobs, those that have not ended.
func eachName(tx *store.Tx, kind argKind, fn func(string) error) error {
	switch kind {
	case kindJob:
		return tx.EachJob(func(j *store.Job) error { return fn(jobID(j)) }, liveStates()...)
	case kindNodes:
		return tx.EachNode(func(n *index.Node) error { return fn(n.Name) })
	case kindReservation:
		return tx.EachReservation(func(res *store.Reservation) error { return fn(res.Name) })
	case kindBatch:
		return tx.EachBatch(func(b *store.Batch) error { return fn(b.Name) })
	case kindQueue:
		queues, err := tx.Queues()
		return eachOf(queues, err, func(q store.Queue) error { return fn(q.Name) })
	case kindResource:
		defs, err := tx.Resources()
		if err != nil {
			return err
		}
		return eachOf(defs.All(), nil, func(def index.Def) error { return fn(def.Name) })
	case kindClass:
		shares, err := tx.Shares()
		if err != nil {
			return err
		}
		return eachOf(shares.Loads, nil, func(c fairshare.ClassLoad) error { return fn(c.Class) })
	}
	return nil
}

// eachOf calls fn with each thing of a list that was read, or not.
func eachOf[T any](list []T, err error, fn func(T) error) error {
	for i := 0; i < len(list) && err == nil; i++ {
		err = fn(list[i])
	}
	return err
}
