package session

import (
	"os"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/internal/engine"
)

// Within returns the job, and the number of its attempt, that this process is part of. A job of another database is
// none; job is then 0.
func (r *Run) Within() (job uint64, attempt int) {
	job, err := strconv.ParseUint(r.Getenv("PLACECTL_JOB"), 10, 64)
	if err != nil || !r.isItsDatabase() {
		return 0, 0
	}
	attempt, _ = strconv.Atoi(r.Getenv("PLACECTL_ATTEMPT"))
	return job, attempt
}

// isItsDatabase reports whether the database is the one that the environment names, by whatever path, or it names none.
func (r *Run) isItsDatabase() bool {
	named := r.Getenv("PLACECTL_DB")
	if named == "" || named == r.DB {
		return true
	}
	its, err := os.Stat(named)
	ours, failed := os.Stat(r.DB)
	return err == nil && failed == nil && os.SameFile(its, ours)
}

// Book returns what this attempt of a job, or else this session, has been told. It fails without a state directory.
func (r *Run) Book(tx *engine.Tx) (*told.Book, error) {
	settings, err := tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	name := told.Session()
	if job, attempt := r.Within(); job != 0 {
		name = told.Attempt(job, attempt)
	}
	path, err := r.AttendPlace(settings.StateDir).File("told", name)
	return told.Open(path), err
}

// MaxTold is how long after a failure a plain wait speaks of it.
const MaxTold = time.Hour

// Told keeps that this session has been told of the ends of jobs. Without a state directory nothing is kept: a plain
// wait then tells them again.
func (r *Run) Told(jobs ...*engine.Job) {
	var book *told.Book
	now := r.Env.Clock()
	err := r.View(func(tx *engine.Tx) (err error) {
		book, err = r.Book(tx)
		return err
	})
	if err == nil {
		err = book.Write(func(p *told.Page) {
			for job, at := range p.Ends {
				if len(p.Made) == 0 && now.Unix()-at > int64(2*MaxTold/time.Second) {
					delete(p.Ends, job)
				}
			}
			for _, j := range jobs {
				if p.Ends == nil {
					p.Ends = map[uint64]int64{}
				}
				p.Ends[j.ID] = max(now.Unix(), j.End.Unix())
			}
		})
	}
	if err != nil {
		r.Debugf("what was told is not kept: %v", err)
	}
}

// keepMade keeps, inside a job, that this attempt has submitted jobs.
func (r *Run) keepMade(made told.Numbers) error {
	if job, _ := r.Within(); job == 0 || made.Count == 0 {
		return nil
	}
	var book *told.Book
	err := r.ViewOnce(func(tx *engine.Tx) (err error) {
		book, err = r.Book(tx)
		return err
	})
	if err != nil {
		return err
	}
	return book.Write(func(p *told.Page) { p.Made = append(p.Made, made) })
}
