package directives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// signals are the signals that a job may be sent, with their numbers on Linux.
var signals = [...]struct{ name, number string }{
	{"HUP", "1"}, {"INT", "2"}, {"QUIT", "3"}, {"ABRT", "6"}, {"KILL", "9"}, {"USR1", "10"}, {"SEGV", "11"},
	{"USR2", "12"}, {"PIPE", "13"},
	{"ALRM", "14"}, {"TERM", "15"}, {"CHLD", "17"}, {"CONT", "18"}, {"STOP", "19"}, {"TSTP", "20"}, {"TTIN", "21"},
	{"TTOU", "22"},
	{"URG", "23"}, {"XCPU", "24"}, {"XFSZ", "25"},
}

// slurmSignal reads [B:]SIG[@SECONDS]. With B: only the first process gets the signal, otherwise every
// one. The default time before the end is 60 s.
func (r *reader) slurmSignal(v string) error {
	whom, rest, marked := strings.Cut(v, ":")
	if !marked {
		whom, rest = "", v
	}
	switch {
	case strings.Contains(strings.ToUpper(whom), "R"):
		return errors.New("the start of a reservation sends no signals (R:)")
	case marked && !strings.EqualFold(whom, "B"):
		return fmt.Errorf("%q is not [B:]SIGNAL[@SECONDS]", v)
	}
	name, seconds, hasTime := strings.Cut(rest, "@")
	if !hasTime {
		seconds = "60"
	}
	n, err := strconv.ParseUint(seconds, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not a number of seconds up to 65535", seconds)
	}
	if name, err = signalName(name); err != nil {
		return err
	}
	if marked {
		name = "B:" + name
	}
	r.set("signal", name+"@"+strconv.FormatUint(n, 10))
	return nil
}

// signalName reads USR1, SIGUSR1 and 10.
func signalName(s string) (string, error) {
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for _, known := range signals {
		if name == known.name || s == known.number {
			return known.name, nil
		}
	}
	return "", fmt.Errorf("%q is not a signal such as USR1 or TERM", s)
}

// SignalNumber returns the number of a signal as the commands of PBS and Slurm name it: USR1, SIGUSR1, 10.
// It returns 0 if there is none of that name.
func SignalNumber(s string) int {
	name, err := signalName(s)
	if err != nil {
		return 0
	}
	i := slices.IndexFunc(signals[:], func(known struct{ name, number string }) bool { return known.name == name })
	n, _ := strconv.Atoi(signals[i].number)
	return n
}
