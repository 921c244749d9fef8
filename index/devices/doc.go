// Package devices knows the devices behind a resource of a node: which GPUs ngpus=4 are,
// which cores ncpus=32, in which group (a NUMA node) each lies. It reads and writes them,
// and chooses which of those that are free somebody gets.
//
// Whatever plans sees counts alone: the devices of a resource of a node stand for one
// another. Which ones a job has is decided when it starts, and counts are enough for that:
// what is asked for and what is held together are never more than there are, so at least as
// many are free as are asked for, and any of them will do. What has to be guaranteed
// (all GPUs of one group, a half of one) is a resource or a node of its own.
//
// A set of devices is a position in a list and a bit in Bits. The list goes by identity:
// numbers first, then labels. The package is pure.
package devices
