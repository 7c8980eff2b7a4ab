package policy

// patient has the methods of a Thief for waits inside tasks, for policies whose document has none: the worker looks
// some times, and then sleeps. Others have some of these methods of their own.
type patient struct{}

func (patient) Waits()          {}
func (patient) Vain(n int) bool { return n >= Looks }
func (patient) MaySleep() bool  { return true }
func (patient) Resumes(bool)    {}
