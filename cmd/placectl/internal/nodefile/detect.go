package nodefile

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

// fromWords names the source of each format.
var fromWords = map[string]string{
	"pbs":   "the output of pbsnodes",
	"slurm": "the output of scontrol",
}

// foreigners are members of the first object that identify its source; format "" is our own.
var foreigners = []struct {
	member string
	object bool // its value must be an object; otherwise any value will do
	format string
}{
	{"name", false, ""},
	{"nodes", true, "pbs"},
	{"nodes", false, "slurm"},
}

// pbsBegins matches the beginning of pbsnodes' output: a name, and below it an attribute.
var pbsBegins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^\s,;=]+[ \t]*\r?\n[ \t]+[A-Za-z_.]+ = `)
})

// slurmConf matches a line that only a slurm.conf has.
var slurmConf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?mi)^[ \t]*(ClusterName|SlurmctldHost|ControlMachine|SlurmdSpoolDir|NodeName[ \t]*=[ \t]*DEFAULT\b.*)[ \t]*(=|$)`)
})

// slurmOther matches the beginning of a table of sinfo, and a line of a gres.conf.
var slurmOther = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^NODELIST[ \t]|(?m)^[ \t]*(NodeName=\S+[ \t]+)?Name=\S+[ \t]+(Type|File|Count|Cores)=`)
})

// detect recognises the format by the beginning of the file.
func (f *File) detect() string {
	text := f.Data[min(infile.SkipBlanks(f.Data, 0), len(f.Data)):]
	switch first := firstWord(text[:min(len(text), 4096)]); {
	case first == "":
		return "csv"
	case first[0] == '{':
		if from := f.foreignJSON(); from != "" {
			return from
		}
		return "json"
	case first[0] == '[':
		return "json"
	case slurmConf().Match(text), strings.HasPrefix(first, "NodeName="), strings.HasPrefix(first, "PartitionName="),
		slurmOther().Match(text):
		return "slurm"
	case pbsBegins().Match(text[:min(len(text), 4096)]):
		return "pbs"
	}
	return "csv"
}

// foreignJSON recognises a source by the members of the first object; "" is our own. It stops at the
// first member that decides.
func (f *File) foreignJSON() string {
	dec := json.NewDecoder(bytes.NewReader(f.Data))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return ""
	}
	for {
		tok, err := dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return ""
		}
		at := infile.SkipBlanks(f.Data, int(dec.InputOffset()))
		at = infile.SkipBlanks(f.Data, min(at+1, len(f.Data))) // after the colon
		opens := at < len(f.Data) && f.Data[at] == '{'
		for _, known := range foreigners {
			if key == known.member && (opens || !known.object) {
				return known.format
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
}
