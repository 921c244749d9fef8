package placer

// Affinity is how much a job is drawn to a reservation that it may use. Among
// the nodes that could serve the job, those of a higher affinity are looked at
// first, whatever the policy. The numbers are on disk and must not change.
type Affinity int8

// The affinities. A node without a reservation lies between Neutral and
// Negative.
const (
	Negative Affinity = -1 // only where nothing else is left
	Neutral  Affinity = 0  // as good as any other
	Positive Affinity = 1  // rather there than elsewhere
	Required Affinity = 2  // nowhere else: the job insists on the reservation
)
