package directives

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/placer"
)

func readString(script string, o Options) (Submission, error) {
	return Read(infile.New("job", []byte(script)), o)
}

// FuzzDirectives: whatever its lines, a script is read completely or not at all, and errors give the line.
// The flags are well formed: each name once except for lists, in the order of the lines, and none that a
// script cannot give. The options of sbatch make a request that can be placed.
func FuzzDirectives(f *testing.F) {
	for _, s := range []string{
		"#SBATCH -N 2 -n 7 -c 2 --mem=4G --gres=gpu:a100:2",
		"#PBS -l select=2:ncpus=4,place=scatter -l walltime=1:00:00 -W depend=afterok:1:2",
		"#placectl 2:ncpus=4 --name x -t2h", "#SBATCH --export=ALL,A='x,y' -d afterok:12",
		"#PBS -v \"A='x'\" -a 12010730 -o n1:a/ -j oe",
		"#SBATCH -w n[1-3] --gpus=3 --signal=B:USR1@60 -o %5j -b now+1hour", "#SBATCH --tim", "#PBS -hX `x`",
		"#SBATCH -w n[1-3] -C sig\xc0", "#SBATCH -d aftercorr:1:2,afterok:3",
	} {
		f.Add(s+"\n", false)
		f.Add(s+"\n"+s, true)
	}
	o := testOptions(f)
	defs := testDefs(f)
	lists := map[string]bool{"after": true, "afterok": true, "afternotok": true, "afterany": true, "aftercorr": true,
		"pool": true}
	f.Fuzz(func(t *testing.T, script string, lax bool) {
		o := o
		o.Lax = lax
		s, err := readString(script, o)
		lines := bytes.Count([]byte(script), []byte{'\n'}) + 1
		if err != nil {
			if diff := cmp.Diff(Submission{}, s); diff != "" || !errors.Is(err, infile.ErrInput) {
				t.Fatalf("%q fails with %v, but leaves something (-want +got): %s", script, err, diff)
			}
			var at *infile.Error
			if !errors.As(err, &at) || at.Line < 1 || at.Line > lines {
				t.Fatalf("%q: the error %v has no position in the script", script, err)
			}
			return
		}
		seen := make(map[string]bool)
		line := 1
		for _, f := range s.Flags {
			if seen[f.Name] && !lists[f.Name] || f.At.Line < line || f.At.Line > lines || !f.Switch && f.Value == "" &&
				!strings.Contains(script, "#placectl") {
				t.Fatalf("%q: a flag is repeated, out of order or empty in %+v", script, s.Flags)
			}
			if f.Name == "key" || f.Name == "db" || f.Name == "script" {
				t.Fatalf("%q sets the flag %s, which no script can give", script, f.Name)
			}
			seen[f.Name], line = true, f.At.Line
		}
		q := requestOf(s)
		if _, err := placer.Parse(defs, q); err != nil && s.Family == Slurm && !strings.Contains(script, "#placectl") &&
			len(q.Select) <= placer.MaxText {
			t.Fatalf("%q becomes %q, which cannot be placed: %v", script, s.Words(), err)
		}
		again, err := readString(script, o)
		if diff := cmp.Diff(s, again); diff != "" || err != nil {
			t.Fatalf("%q: reading its own flags again gives another result: %v %s", script, err, diff)
		}
	})
}
