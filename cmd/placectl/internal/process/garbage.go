package process

import "runtime/debug"

// CollectLess lets the heap grow to five times the live memory before the next garbage collection,
// because a command ends before most of its garbage matters. With 6,000 jobs and without CollectLess,
// job list takes 1.19 times the processor time, a conservative cycle 1.25 and status 1.12. The call
// stops and wakes threads, which takes a twentieth of a short command's time.
func CollectLess() { debug.SetGCPercent(400) }
