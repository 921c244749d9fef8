package directives_test

import (
	"fmt"

	"github.com/placectl/placectl/cmd/placectl/internal/directives"
	"github.com/placectl/placectl/cmd/placectl/internal/infile"
)

// ExampleRead reads a script for sbatch as flags of submit. The command line overrides a flag of the script.
func ExampleRead() {
	script := infile.New("job.sh", []byte("#!/bin/sh\n#SBATCH -N 2 -n 8 -c 2 --time=1-0\n#SBATCH --job-name=relax "+
		"-Q\nsrun ./relax\n"))
	s, err := directives.Read(script, directives.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	onCommandLine := map[string]bool{"name": true}
	for _, f := range s.Flags {
		if !onCommandLine[f.Name] {
			fmt.Println(f.Word())
		}
	}
	fmt.Println(s.Family, s.Family.DefaultOut(false), s.Variables)
	for _, n := range s.Notes {
		fmt.Println(n)
	}
	// Output:
	// --place=scatter
	// --select=2:ncpus=8:mpiprocs=4
	// --walltime=24:00:00
	// slurm slurm-%j.out [SLURM_CPUS_PER_TASK=2]
	// job.sh, line 3, column 26: -Q: ignored: it changes nothing here
}
