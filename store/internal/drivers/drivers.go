// Package drivers holds the drivers of this build for logs of databases: package etcd if it
// was built with the tag etcd, else none.
package drivers

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/replica"
	"github.com/placectl/placectl/store/internal/row"
)

// Connect connects to a log by its name, SCHEME://... It fails with ErrInvalid if this build
// has no driver for the scheme.
func Connect(name, folder string, detail func(string)) (replica.Driver, replica.Config, error) {
	d, c, err := replica.Connect(name, folder, detail)
	if err != nil {
		err = fmt.Errorf("%s: %w%w", name, err, file.Wordless(row.ErrInvalid))
	}
	return d, c, err
}

// Open makes a handle on the replica of a log. If the options name no folder, the replica is
// below the system's cache folder.
func Open(name string, opt replica.Options) (*replica.Replica, error) {
	if opt.Folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("the folder of replicas: %w; PLACECTL_REPLICAS names it", err)
		}
		opt.Folder = filepath.Join(cache, "placectl")
	}
	d, c, err := Connect(name, opt.Folder, opt.Detail)
	if err != nil {
		return nil, err
	}
	log, err := replica.Connected(name, d, c, opt)
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	return log, nil
}
