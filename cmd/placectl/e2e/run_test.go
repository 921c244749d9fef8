package e2e

import (
	"context"

	"github.com/placectl/placectl/cmd/placectl/command"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
)

// newRun makes a run of the command in this process.
func newRun(ctx context.Context, e session.Env) *session.Run {
	return session.New(ctx, e, command.Verbs())
}

// execute runs one command in this process and returns its exit status.
func execute(ctx context.Context, e session.Env) int { return newRun(ctx, e).Outcome() }
