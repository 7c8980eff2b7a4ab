package park

// Parked reports whether the owner sleeps or is about to sleep.
func (p *Parker) Parked() bool { return p.word.Load() == parked }

// Notified reports whether a permission is there.
func (p *Parker) Notified() bool { return p.word.Load() == notified }

// WakeForNothing wakes a sleeping owner and gives no permission.
func (p *Parker) WakeForNothing() { p.wake(&p.word) }

// WithoutClocks has f make Alarms as on a system that has no clocks to give.
func WithoutClocks(f func()) {
	real := openClock
	defer func() { openClock = real }()
	openClock = func() *clock { return nil }
	f()
}
