package payload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"golang.org/x/sys/unix"
)

// ending reads the flags that say how the job is ended, retried, and reported.
func ending(c Flags, e *engine.Ending) (err error) {
	for _, word := range []struct {
		flag string
		to   *string
	}{{"retry-on", &e.RetryOn}, {"mail", &e.Mail}, {"mail-to", &e.MailTo}} {
		if c.IsSet(word.flag) {
			if *word.to = c.String(word.flag); *word.to == "" {
				return usage.Errorf("--%s is empty", word.flag)
			}
		}
	}
	if c.IsSet("retries") {
		e.Retries = c.Int("retries")
	}
	if c.IsSet("retry-wait") {
		if e.RetryWait, err = flagDuration(c, "retry-wait"); err != nil {
			return err
		}
		if e.RetryWait < time.Second || e.RetryWait > engine.MaxRetryWait {
			return usage.Errorf("--retry-wait must be from 1s to 1h, not %s", text.FormatDuration(e.RetryWait))
		}
	}
	if c.IsSet("retry-mem") {
		if err := readRetryMem(c.String("retry-mem"), e); err != nil {
			return usage.Errorf("--retry-mem: %w", err)
		}
	}
	if c.IsSet("grace") {
		if e.Grace, err = flagDuration(c, "grace"); err != nil {
			return err
		}
		if e.Grace == 0 {
			e.Grace = -1 // no grace: 0 would mean the default
		}
	}
	if c.IsSet("signal") {
		if err := readSignal(c.String("signal"), e); err != nil {
			return usage.Errorf("--signal: %w", err)
		}
	}
	if err := e.Check(); err != nil {
		return usage.Errorf("%w", err)
	}
	return nil
}

// readRetryMem parses xFACTOR[,MAX]: x2, x1.5,64gb.
func readRetryMem(value string, e *engine.Ending) error {
	factor, most, limited := strings.Cut(value, ",")
	number, is := strings.CutPrefix(strings.ToLower(factor), "x")
	f, err := strconv.ParseFloat(number, 64)
	if !is || err != nil || !(f > 1 && f <= 100) {
		return fmt.Errorf("%s is not a factor above 1 and up to x100, such as x2, or with a maximum x2,64gb",
			text.Quoted(value))
	}
	e.RetryMem = int(math.Round(f * 100))
	if limited {
		if e.RetryMax, err = index.ParseSizeLoose(most); err == nil && e.RetryMax == 0 {
			err = fmt.Errorf("%s is no memory", text.Quoted(most))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case e.Retries == 0:
		return errors.New("it applies to retries, and there are none: add --retries 3")
	case !slices.Contains(strings.Split(e.RetryOn, ","), engine.OutcomeOOM.String()):
		return errors.New("it applies after oom, and the job is not retried then: add --retry-on oom")
	}
	return nil
}

// RetryMem returns the value of --retry-mem for an ending, "" for none.
func RetryMem(e *engine.Ending) string {
	if e.RetryMem == 0 {
		return ""
	}
	value := "x" + strconv.FormatFloat(float64(e.RetryMem)/100, 'f', -1, 64)
	if e.RetryMax != 0 {
		value += "," + text.FormatSize(e.RetryMax<<10)
	}
	return value
}

// flagDuration reads a flag as whole seconds, because rows store seconds.
func flagDuration(c Flags, flag string) (time.Duration, error) {
	d, err := text.ParseDuration(c.String(flag))
	if err == nil && d%time.Second != 0 {
		err = fmt.Errorf("%s has parts of a second", text.Quoted(c.String(flag)))
	}
	if err != nil {
		return 0, usage.Errorf("--%s: %w", flag, err)
	}
	return d, nil
}

// defaultBefore is how many seconds before the end a signal is sent if its time is not given, as in
// sbatch.
const defaultBefore = "60"

// readSignal parses [B:]SIGNAL[@TIME]: USR1@120, SIGTERM@2m, 10, B:INT@30.
func readSignal(value string, e *engine.Ending) error {
	name, before, timed := strings.Cut(value, "@")
	if !timed {
		before = defaultBefore
	}
	name, e.First = strings.CutPrefix(name, "B:")
	if e.Signal = SignalNumber(name); e.Signal == 0 {
		return fmt.Errorf("%s is not a signal with the seconds before the end, such as USR1@120", text.Quoted(name))
	}
	d, err := text.ParseDuration(before)
	switch {
	case err != nil:
		return err
	case d < time.Second || d%time.Second != 0:
		return fmt.Errorf("%s is not a number of seconds, 1 or more", text.Quoted(before))
	}
	e.Before = d
	return nil
}

// SignalNumber returns the number of a signal, 0 if there is none of that name.
func SignalNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || unix.SignalName(syscall.Signal(n)) == "" {
			return 0
		}
		return n
	}
	return int(unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG")))
}

// Signal returns the value of --signal for an ending, "" for none.
func Signal(e *engine.Ending) string {
	if e.Signal == 0 {
		return ""
	}
	text := engine.SignalName(e.Signal)
	if e.First {
		text = "B:" + text
	}
	return text + "@" + strconv.FormatInt(int64(e.Before/time.Second), 10)
}
