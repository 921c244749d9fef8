package attend

import "golang.org/x/sys/unix"

// inPipe asks how many bytes wait in a pipe.
const inPipe = unix.TIOCINQ
