package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

func classRebalanceVerb() *verb {
	return &verb{
		Name:  "rebalance",
		Usage: "say when jobs are stopped so that classes get their shares back",
		Description: "Once one class has been so far below its share, and another so far above, that together it comes to the\n" +
			"threshold, for the whole of the minimum duration, the next cycle stops the newest jobs of classes that have\n" +
			"loans, and starts others. It is off while one of the two is 0, as both are at first.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "threshold", Usage: "from `P` percentage points on, 0 to 200"},
			&cli.StringFlag{Name: "minimum", Usage: "for as long as `D`"},
			&cli.StringFlag{Name: "min-run", Usage: "stop no job before it has run for `D` (0)"},
			&cli.StringFlag{Name: "at-most", Usage: "stop no job more than `N` times in its life; 0: as often as need be (0)"}},
		Access:  verbs.Writes,
		Example: "placectl class rebalance --threshold 20 --minimum 10m",
		Run:     (*runner).classRebalance,
	}
}

func (r *runner) classRebalance(c *cli.Context) error {
	if !c.IsSet("threshold") && !c.IsSet("minimum") && !c.IsSet("min-run") && !c.IsSet("at-most") {
		return usagef("nothing to set; name a --threshold, a --minimum, --min-run or --at-most")
	}
	points, err := parsePoints(c.String("threshold"))
	if c.IsSet("threshold") && err != nil {
		return usagef("--threshold: %w", err)
	}
	minimum, err := r.duration(c, "minimum")
	if err != nil {
		return err
	}
	minRun, err := r.duration(c, "min-run")
	if err != nil {
		return err
	}
	atMost, err := wholeAmount(c.String("at-most"))
	if c.IsSet("at-most") && err != nil {
		return usagef("--at-most: %w", err)
	}
	return r.changeShares(c, func(s *fairshare.Settings) error {
		var threshold, duration error
		spare := s.Spare
		if c.IsSet("min-run") {
			spare.MinRun = int64(minRun / time.Second)
		}
		if c.IsSet("at-most") {
			spare.AtMost = int(atMost)
		}
		if c.IsSet("threshold") {
			threshold = s.SetRebalanceThreshold(points)
		}
		if c.IsSet("minimum") {
			duration = s.SetRebalanceMinimumDuration(int64(minimum / time.Second))
		}
		if (s.RebalanceThreshold() == 0) != (s.RebalanceMinimumDuration() == 0) {
			r.notef("rebalancing is off until both the threshold and the minimum are above 0")
		}
		return errors.Join(threshold, duration, s.SetSpare(spare))
	})
}

// parsePoints reads percentage points, 20 or 20%.
func parsePoints(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(s, "%"))
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number of percentage points, such as 20", spell.Quoted(s))
	}
	return n, nil
}
