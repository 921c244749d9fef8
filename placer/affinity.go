package placer

// Affinity says how strongly a job prefers a reservation that it may use. Whatever the policy, the
// placer tries nodes of a higher affinity first. The numbers are on disk and must not change.
type Affinity int8

// The affinities. A node without a reservation ranks between Neutral and Negative.
const (
	Negative Affinity = -1 // only if nothing else is left
	Neutral  Affinity = 0  // as good as any other
	Positive Affinity = 1  // preferred to other nodes
	Required Affinity = 2  // nowhere else: the job insists on the reservation
)
