package queue

import (
	"cmp"
	"math"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Dependencies reads the flags that name other jobs.
func Dependencies(r *session.Run, tx *engine.Tx, c *cli.Context, s *engine.Submission) error {
	names := r.Names(tx)
	for when := engine.After; when <= engine.AfterAny; when++ {
		for _, list := range c.StringSlice(when.String()) {
			words := jobref.Words(list)
			if len(words) == 0 { // --afterok "$job" of a submit that failed
				return usage.Errorf("--%s names no job", when)
			}
			for _, word := range words {
				found, err := names.Targets(word)
				if err != nil {
					return err
				}
				for _, t := range found {
					s.After = append(s.After, engine.Dependency{When: when, Job: t.Number})
				}
			}
		}
	}
	for _, list := range c.StringSlice("aftercorr") {
		words := jobref.Words(list)
		if len(words) == 0 {
			return usage.Errorf("--aftercorr names no array")
		}
		for _, word := range words {
			array, err := names.Array(word)
			if err != nil {
				return err
			}
			s.AfterCorr = append(s.AfterCorr, array)
		}
	}
	return nil
}

// Singleton makes a submission wait for the jobs of the same user and name.
func Singleton(tx *engine.Tx, c *cli.Context, s *engine.Submission) error {
	live, err := namesakes(tx, c)
	if err != nil {
		return err
	}
	after, err := live.before(math.MaxUint64, s.User, s.Name)
	s.After = append(s.After, after...)
	return err
}

// liveJobs are the jobs that --singleton may wait for: all that have not ended. It is nil without the flag.
type liveJobs []*engine.Job

func namesakes(tx *engine.Tx, c *cli.Context) (list liveJobs, err error) {
	if !c.Bool("singleton") {
		return nil, nil
	}
	list = liveJobs{}
	err = tx.Jobs().Each(func(j *engine.Job) error {
		list = append(list, j)
		return nil
	}, engine.JobHeld, engine.JobQueued, engine.JobReserved, engine.JobRunning)
	return list, err
}

// before returns the dependencies on those of a user and name with lower numbers than a job.
func (list liveJobs) before(id uint64, user, name string) (after []engine.Dependency, err error) {
	if list != nil && name == "" {
		return nil, usage.Errorf("--singleton needs a name: add --name")
	}
	same := slices.DeleteFunc(slices.Clone(list), func(j *engine.Job) bool {
		return j.ID >= id || j.Name != name || j.User != user
	})
	for _, t := range jobref.Whole(same) {
		after = append(after, engine.Dependency{When: engine.AfterAny, Job: t.Number})
	}
	return after, nil
}

// jobDependencies are the dependencies of altered jobs that differ by job: of --aftercorr and --singleton.
type jobDependencies struct {
	after        []engine.Dependency // of all
	counterparts engine.Counterparts
	namesakes    liveJobs
}

func readJobDependencies(tx *engine.Tx, c *cli.Context, s *engine.Submission) (*jobDependencies, error) {
	if len(s.AfterCorr) == 0 && !c.Bool("singleton") {
		return nil, nil
	}
	counterparts, err := tx.Jobs().Counterparts(s.AfterCorr)
	if err != nil {
		return nil, err
	}
	live, err := namesakes(tx, c)
	return &jobDependencies{s.After, counterparts, live}, err
}

// of returns the dependencies of a job that gets a user and a name, nil for those it has.
func (d *jobDependencies) of(j *engine.Job, user, name *string) (*[]engine.Dependency, error) {
	if len(d.counterparts) > 0 && j.Array == 0 {
		return nil, usage.Errorf("--aftercorr: job %d is not of an array", j.ID)
	}
	after, err := d.counterparts.Of(j.Index)
	if err != nil {
		return nil, err
	}
	if user == nil {
		user = &j.User
	}
	if name == nil {
		name = &j.Name
	}
	same, err := d.namesakes.before(cmp.Or(j.Array, j.ID), *user, *name)
	after = append(append(after, same...), d.after...)
	return &after, err
}
