// Package devices knows the devices behind a resource of a node: which GPUs ngpus=4 are, which
// cores ncpus=32, and the group (a NUMA node) of each. It reads and writes them, and chooses which
// free devices a job gets.
//
// Planning uses counts only: the devices of one resource of a node are interchangeable. A job's
// devices are chosen when it starts, and counts suffice for that. Requests and allocations together
// never exceed the number of devices, so at least as many are free as the job asks for, and any of
// them will do. If you need a guarantee (all GPUs of one group, half a GPU), make it a resource or
// a node of its own.
//
// A set of devices is a position in a list and a bit in Bits. The list goes by identity: numbers
// first, then labels. The package is pure.
package devices
