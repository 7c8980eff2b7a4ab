package observe

// IsIn reports whether an observer is put in.
func (s *Switch) IsIn() bool { return s.now.Load() != nil }
