package queue

import (
	"cmp"
	"math"
	"slices"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Dependencies reads the flags that name other jobs.
func Dependencies(r *session.Run, tx *store.Tx, c *cli.Context, s *store.Submission) error {
	names := r.Names(tx)
	for when := store.After; when <= store.AfterAny; when++ {
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
					s.After = append(s.After, store.Dependency{When: when, Job: t.Number})
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
func Singleton(tx *store.Tx, c *cli.Context, s *store.Submission) error {
	live, err := namesakes(tx, c)
	if err != nil {
		return err
	}
	after, err := live.before(math.MaxUint64, s.User, s.Name)
	s.After = append(s.After, after...)
	return err
}

// liveJobs are the jobs that --singleton may wait for: all that have not ended. It is nil without the flag.
type liveJobs []*store.Job

func namesakes(tx *store.Tx, c *cli.Context) (list liveJobs, err error) {
	if !c.Bool("singleton") {
		return nil, nil
	}
	list = liveJobs{}
	err = tx.Jobs().Each(func(j *store.Job) error {
		list = append(list, j)
		return nil
	}, store.JobHeld, store.JobQueued, store.JobReserved, store.JobRunning)
	return list, err
}

// before returns the dependencies on those of a user and name with lower numbers than a job.
func (list liveJobs) before(id uint64, user, name string) (after []store.Dependency, err error) {
	if list != nil && name == "" {
		return nil, usage.Errorf("--singleton needs a name: add --name")
	}
	same := slices.DeleteFunc(slices.Clone(list), func(j *store.Job) bool {
		return j.ID >= id || j.Name != name || j.User != user
	})
	for _, t := range jobref.Whole(same) {
		after = append(after, store.Dependency{When: store.AfterAny, Job: t.Number})
	}
	return after, nil
}

// jobDependencies are the dependencies of altered jobs that differ by job: of --aftercorr and --singleton.
type jobDependencies struct {
	after        []store.Dependency // of all
	counterparts store.Counterparts
	namesakes    liveJobs
}

func readJobDependencies(tx *store.Tx, c *cli.Context, s *store.Submission) (*jobDependencies, error) {
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
func (d *jobDependencies) of(j *store.Job, user, name *string) (*[]store.Dependency, error) {
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
