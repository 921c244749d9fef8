package about

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

// The completion scripts know no words. At each TAB they pass the words so far to placectl
// completion words, which answers from the declarations of the verbs.

// Completion declares the verb completion.
func Completion() *session.Verb {
	return &session.Verb{
		Name:     "completion",
		Category: "Store",
		Usage:    "print a completion script for a shell",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "bash|zsh|fish", Kind: verbs.KindWord}},
		Example: "source <(placectl completion bash)      # in ~/.bashrc\nsource <(placectl completion zsh)       # " +
			"in ~/.zshrc, behind compinit\n" +
			"placectl completion fish | source       # in ~/.config/fish/config.fish",
		Verbs: []*session.Verb{{Name: "words", Usage: "what the last of them may become", May: engine.Anybody,
			Hidden: true, Args: []verbs.Arg{{Name: "-- WORDS", Kind: verbs.KindCommand, Many: true}},
			Run: completeWords}},
		Run: completion,
	}
}

// completionScripts holds the script of each shell.
var completionScripts = map[string]string{
	"bash": `_placectl() {
	local IFS=$'\n' line="${COMP_LINE:0:COMP_POINT}" cur="${COMP_WORDS[COMP_CWORD]}" words last
	if [[ $cur == [\"\']* ]]; then
		words=("${COMP_WORDS[@]:1:COMP_CWORD}")
		last=
	else
		# bash takes words apart at colons and equal signs, which are parts of ours.
		IFS=$' \t\n' read -ra words <<<"$line"
		words=("${words[@]:1}")
		[[ $line == *[[:space:]] ]] && words+=("")
		last="${words[${#words[@]}-1]}"
		if [[ $last == *[:=]* ]]; then last="${last%"${last##*[:=]}"}"; else last=; fi
	fi
	COMPREPLY=($(placectl completion words -- "${words[@]}" 2>/dev/null))
	COMPREPLY=("${COMPREPLY[@]#"$last"}")
	[[ ${COMPREPLY[0]} == *= && ${#COMPREPLY[@]} == 1 ]] && compopt -o nospace 2>/dev/null
	[[ -n ${COMPREPLY[*]} ]] || COMPREPLY=()
}
complete -o default -F _placectl placectl
`,
	"zsh": `_placectl() {
	local -a found open
	found=("${(@f)$(placectl completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	open=(${(M)found:#*=}) # what goes on behind the equal sign
	found=(${found:#*=})
	if (( $#found + $#open )); then compadd -- $found; compadd -S '' -- $open; else _files; fi
}
compdef _placectl placectl
`,
	"fish": `function __placectl_words
	placectl completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c placectl -f -a '(__placectl_words)'
complete -c placectl -F -n 'not count (__placectl_words) >/dev/null'
`,
}

func completion(r *session.Run, c *cli.Context) error {
	_, err := io.WriteString(r.Stdout, completionScripts[c.Args().First()])
	return err
}

// completeWords answers a shell. Errors are not shown after a TAB.
func completeWords(r *session.Run, c *cli.Context) error {
	if r.Dash != 0 || c.NArg() == 0 {
		return usage.Errorf("put the command so far after --")
	}
	for _, word := range Complete(r, c.Args().Slice()) {
		fmt.Fprintln(r.Stdout, word)
	}
	return nil
}

// Complete lists what the last of the words on a command line may become. If it lists nothing, the
// shell completes file names.
func Complete(r *session.Run, line []string) []string {
	last := r.Verbs.Complete(line)
	if last.DB != "" {
		r.DB = last.DB
	}
	if last.Kind == verbs.KindText {
		return last.Words
	}
	switch last.Kind {
	case verbs.KindRequest:
		return requestsFrom(r, last.Begun)
	case verbs.KindSQL:
		return statementsFrom(r, last.Begun)
	case verbs.KindAssignment:
		return assignmentsFrom(r, last.Begun)
	}
	return namesOf(r, last.Kind, last.Begun)
}

// assignmentsFrom completes the name of a setting. Behind the equal sign it completes one of the
// setting's words, or the last of its resources.
func assignmentsFrom(r *session.Run, begun string) (whole []string) {
	name, value, named := strings.Cut(begun, "=")
	if !named {
		for _, name := range engine.SettingNames() {
			whole = append(whole, name+"=")
		}
		return verbs.Beginning(begun, whole)
	}
	setting := strings.ReplaceAll(name, "-", "_")
	words := engine.SettingWords(setting)
	switch setting {
	case "signature", "group_key", "topology":
		at := strings.LastIndexByte(value, ',') + 1
		name, value = name+"="+value[:at], value[at:]
		words = namesOf(r, verbs.KindResource, value)
	default:
		name += "="
	}
	for _, word := range verbs.Beginning(value, words) {
		whole = append(whole, name+word)
	}
	return whole
}

// requestsFrom completes the resource at the end of a select: 2:nc to 2:ncpus=.
func requestsFrom(r *session.Run, begun string) (whole []string) {
	at := strings.LastIndexAny(begun, ":+,") + 1
	if at == 0 || strings.ContainsRune(begun[at:], '=') {
		return nil
	}
	for _, name := range namesOf(r, verbs.KindResource, begun[at:]) {
		whole = append(whole, begun[:at]+name+"=")
	}
	return whole
}

// statementsFrom completes the table behind the last FROM or JOIN of a statement. The statement may
// still begin with the shell's quote.
func statementsFrom(r *session.Run, begun string) (whole []string) {
	begun = strings.TrimLeft(begun, "\"'")
	words := strings.Fields(begun)
	at := strings.LastIndexAny(begun, " ,") + 1
	n := len(words) - 1
	if at == len(begun) {
		n++
	}
	if n < 1 || at == 0 || !strings.EqualFold(words[n-1], "from") && !strings.EqualFold(words[n-1], "join") {
		return nil
	}
	r.LockTimeout, r.Quiet = completionPatience, true
	var tables []string
	r.View(func(tx *engine.Tx) (err error) { //nolint:errcheck // errors are not shown after a TAB
		tables, _, err = tx.QueryTables()
		return err
	})
	for _, name := range verbs.Beginning(begun[at:], tables) {
		whole = append(whole, begun[:at]+name)
	}
	return whole
}

// Completion answers within these bounds or not at all.
const (
	completionPatience = 200 * time.Millisecond
	completionMost     = 1000 // names; for more, type the beginning first
)

// errEnough ends the search for names.
var errEnough = errors.New("enough names")

// namesOf lists the names of a kind with a prefix, none if the database cannot be read.
func namesOf(r *session.Run, kind verbs.Kind, prefix string) (names []string) {
	if kind == verbs.KindSetting {
		return verbs.Beginning(prefix, engine.SettingNames())
	}
	if kind < verbs.KindJob || kind > verbs.KindSetting {
		return nil
	}
	r.LockTimeout, r.Quiet = completionPatience, true
	r.View(func(tx *engine.Tx) error { //nolint:errcheck // errors are not shown after a TAB
		if kind == verbs.KindNodes {
			var err error
			names, err = tx.Nodes().Beginning(prefix, completionMost)
			return err
		}
		return eachName(tx, kind, func(name string) error {
			if names = append(names, verbs.Beginning(prefix, []string{name})...); len(names) == completionMost {
				return errEnough
			}
			return nil
		})
	})
	return names
}

// eachName calls fn for the names of one kind. Jobs that have ended are left out.
func eachName(tx *engine.Tx, kind verbs.Kind, fn func(string) error) error {
	switch kind {
	case verbs.KindJob:
		return tx.Jobs().Each(func(j *engine.Job) error { return fn(listing.JobID(j)) }, session.LiveStates()...)
	case verbs.KindReservation:
		return tx.Reservations().Each(func(res *engine.Reservation) error { return fn(res.Name) })
	case verbs.KindBatch:
		return tx.Batches().Each(func(b *engine.Batch) error { return fn(b.Name) })
	case verbs.KindQueue:
		queues, err := tx.Queues().All()
		return eachOf(queues, err, func(q engine.Queue) error { return fn(q.Name) })
	case verbs.KindResource:
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		return eachOf(defs.All(), nil, func(def index.Def) error { return fn(def.Name) })
	case verbs.KindPool:
		defs, err := tx.Config().Resources()
		if err != nil {
			return err
		}
		return eachOf(defs.Pools(), nil, fn)
	case verbs.KindView:
		return tx.Views().Each(func(v engine.SQLView) error { return fn(v.Name) })
	case verbs.KindAccount:
		return tx.Accounts().Each(func(a engine.Account) error { return fn(a.Name) })
	case verbs.KindClass:
		shares, err := tx.Shares().Get()
		if err != nil {
			return err
		}
		return eachOf(shares.Loads, nil, func(c fairshare.ClassLoad) error { return fn(c.Class) })
	}
	return nil
}

// eachOf calls fn for each item of a list, or returns err if the list could not be read.
func eachOf[T any](list []T, err error, fn func(T) error) error {
	for i := 0; i < len(list) && err == nil; i++ {
		err = fn(list[i])
	}
	return err
}
