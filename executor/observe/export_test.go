package observe

// IsOff reports whether the trace leaves out what comes.
func (t *Trace) IsOff() bool { return t.off.Load() }

// IsIn reports whether an observer is put in.
func (s *Switch) IsIn() bool { return s.now.Load() != nil }
