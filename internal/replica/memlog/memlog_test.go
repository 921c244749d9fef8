package memlog

import (
	"testing"

	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/drivertest"
)

func TestLaw(t *testing.T) {
	drivertest.Run(t, func(_ testing.TB, name string) replica.Driver { return Named(name) })
}
