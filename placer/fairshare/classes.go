package fairshare

// NewClasses returns the classes of the settings, with their loads, for a State to be filled in. The map
// gives the place of each class in the list.
func (s *Settings) NewClasses() ([]Class, map[string]int) {
	classes := make([]Class, len(s.Loads))
	places := make(map[string]int, len(s.Loads))
	for i, c := range s.Loads {
		classes[i] = Class{Name: c.Class, Load: c.Load}
		places[c.Class] = i
	}
	return classes, places
}

// least returns the last class in class order: the one with the smallest load, and among
// equals the one whose name comes last. It returns "" if there is no class.
func (s *Settings) least() string {
	var least ClassLoad
	for i, c := range s.Loads {
		if i == 0 || c.Load < least.Load || c.Load == least.Load && c.Class > least.Class {
			least = c
		}
	}
	return least.Class
}
