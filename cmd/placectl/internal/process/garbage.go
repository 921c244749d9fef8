package process

import "runtime/debug"

// CollectLess lets the process use up to five times the memory that is in use before its
// garbage is collected again: a command is over before most of it matters. With 6,000 jobs job list
// takes 1.19 times the processor time without it, a conservative cycle 1.25 and status 1.12. To say so stops and wakes threads, a twentieth of what
// a short command takes.
func CollectLess() { debug.SetGCPercent(400) }
