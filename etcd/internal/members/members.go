// Package members runs etcd on loopback, for tests and measurements of logs in etcd: the newest server, which is
// linked into the program that calls Become, and an installed one, such as Debian's 3.4.
package members

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"golang.org/x/sys/unix"
)

// become is the environment variable with which a program is a member.
const become = "PLACECTL_TEST_BE_ETCD"

// Become makes a process that Start has started a member. Otherwise it returns.
func Become() {
	if os.Getenv(become) != "" {
		etcdmain.Main(os.Args)
		os.Exit(0)
	}
}

// Versions returns the programs that run members, by names for people: the newest one, and the installed one if
// there is one.
func Versions() map[string]string {
	list := make(map[string]string)
	if self, err := os.Executable(); err == nil {
		list[version.Version] = self
	}
	if path, err := exec.LookPath("etcd"); err == nil {
		text, _ := exec.Command(path, "--version").Output() // without one it is called by its path
		name, _, _ := strings.Cut(strings.TrimPrefix(string(text), "etcd Version: "), "\n")
		list[name] = path
	}
	return list
}

// Environment returns what a program of Versions needs in its environment to be a member.
func Environment() []string { return []string{become + "=1"} }

// Missing says how to get a second version.
const Missing = "no etcd is installed (apt-get install etcd-server): this ran with the newest alone"

// Cluster is a cluster of running members.
type Cluster struct {
	// Hosts are the addresses of the members, HOST:PORT.
	Hosts []string

	binary string
	list   []*member
}

type member struct {
	args    []string
	log     string
	running *exec.Cmd
	ended   chan struct{}
}

// startWithin bounds the time until a member answers.
const startWithin = 60 * time.Second

// Start runs count members with further arguments. Their data and logs are in dir.
func Start(binary, dir string, count int, more ...string) (*Cluster, error) {
	c := &Cluster{binary: binary}
	ports, err := freePorts(2 * count)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	for _, arg := range more {
		if strings.HasPrefix(arg, "--cert-file") {
			scheme = "https"
		}
	}
	var initial []string
	for i := range count {
		initial = append(initial, fmt.Sprintf("m%d=http://127.0.0.1:%d", i, ports[count+i]))
	}
	for i := range count {
		client, peer := fmt.Sprintf("%s://127.0.0.1:%d", scheme, ports[i]),
			fmt.Sprintf("http://127.0.0.1:%d", ports[count+i])
		name := fmt.Sprintf("m%d", i)
		c.Hosts = append(c.Hosts, strings.TrimPrefix(client, scheme+"://"))
		c.list = append(c.list, &member{log: filepath.Join(dir, name+".log"), args: append([]string{
			"--name", name, "--data-dir", filepath.Join(dir, name),
			"--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
			"--initial-cluster", strings.Join(initial, ","), "--initial-cluster-token", filepath.Base(dir),
		}, more...)})
	}
	for i := range count {
		if err := c.Start(i); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, c.Wait()
}

// given has the ports that this process has given to members.
var given sync.Map

// freePorts returns ports without a listener, each only once. They are below those that the system gives to
// connections, which would come and go between this look and the member's.
func freePorts(count int) (ports []int, err error) {
	for tries := 0; len(ports) < count; tries++ {
		port := 10_000 + rand.IntN(20_000)
		if _, known := given.LoadOrStore(port, true); known {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		switch {
		case err == nil:
			l.Close()
			ports = append(ports, port)
		case tries > 1000:
			return nil, err
		}
	}
	return ports, nil
}

// Start starts a stopped member.
func (c *Cluster) Start(i int) error {
	m := c.list[i]
	out, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(c.binary, m.args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), Environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	m.running, m.ended = cmd, ended
	go func() { _ = cmd.Wait(); close(ended) }()
	return nil
}

// Wait returns when every member says that it is healthy, and lives: another one may answer at its address.
func (c *Cluster) Wait() error {
	until := time.Now().Add(startWithin)
	for i, host := range c.Hosts {
		for !c.healthy(i, host) || c.list[i].hasEnded() {
			if time.Now().After(until) || c.list[i].hasEnded() {
				return errors.Join(fmt.Errorf("etcd at %s does not answer; its log is %s", host, c.list[i].log),
					c.Close())
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

func (m *member) hasEnded() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

// healthy asks a member whether it is healthy. One that wants TLS is healthy when it listens.
func (c *Cluster) healthy(i int, host string) bool {
	conn, err := net.DialTimeout("tcp", host, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	for _, arg := range c.list[i].args {
		if strings.HasPrefix(arg, "--cert-file") {
			return true
		}
	}
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	fmt.Fprintf(conn, "GET /health HTTP/1.0\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.Contains(line, " 200 ")
}

// Signal sends a signal to a member: SIGSTOP makes it hang, SIGCONT continues it, SIGKILL kills it. On return it hangs,
// or is dead: its threads may go on for a while otherwise, until the one that takes the signal has its turn.
func (c *Cluster) Signal(i int, s syscall.Signal) error {
	m := c.list[i]
	if m.running == nil {
		return nil
	}
	err := m.running.Process.Signal(s)
	switch {
	case err == nil && s == syscall.SIGSTOP:
		return unix.Waitid(unix.P_PID, m.running.Process.Pid, nil, unix.WSTOPPED, nil)
	case s == syscall.SIGKILL:
		<-m.ended
		m.running = nil
	}
	return err
}

// Close ends all members.
func (c *Cluster) Close() (err error) {
	for i := range c.list {
		err = errors.Join(err, c.Signal(i, syscall.SIGKILL))
	}
	return err
}
