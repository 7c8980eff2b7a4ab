package park

// Parked reports whether the owner sleeps or is about to sleep.
func (p *Parker) Parked() bool { return p.word.Load() == parked }

// Notified reports whether a permission is there.
func (p *Parker) Notified() bool { return p.word.Load() == notified }

// WakeForNothing wakes a sleeping owner and gives no permission.
func (p *Parker) WakeForNothing() { p.wake(&p.word) }
