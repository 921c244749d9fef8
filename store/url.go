package store

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/store/internal/file"
)

// URLScheme begins the name of a database that is reached by running the verb where it lies.
const URLScheme = "ssh://"

// SplitURL parts ssh://[USER@]HOST/PATH into who is to be reached and the path there. It
// fails with ErrInvalid for anything else.
func SplitURL(url string) (host, path string, err error) {
	rest, is := strings.CutPrefix(url, URLScheme)
	at := strings.IndexByte(rest, '/')
	if !is || at < 1 || at == len(rest)-1 {
		return "", "", fmt.Errorf("%w: %q is not ssh://[USER@]HOST/PATH", ErrInvalid, url)
	}
	host, path = rest[:at], rest[at:]
	user, name, both := strings.Cut(host, "@")
	if strings.ContainsAny(host, " \t\r\n:'\"\\$`;&|<>()*?!~#") || host[0] == '-' || both && (user == "" || name == "" || name[0] == '-') {
		return "", "", fmt.Errorf("%w: %q names no host: it is ssh://[USER@]HOST/PATH, and what else ssh is to know of HOST stands in ~/.ssh/config", ErrInvalid, url)
	}
	return host, path, nil
}

// NetworkFileSystem names the file system of a directory when several machines share it, such
// as NFS; else it is "". Locks may not exclude the other machines there.
func NetworkFileSystem(dir string) string { return file.NetworkFileSystem(dir) }
