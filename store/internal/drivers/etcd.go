//go:build etcd

package drivers

import (
	_ "github.com/placectl/placectl/store/internal/etcd" // databases named etcd://HOST:PORT/PREFIX
)
