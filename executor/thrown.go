package executor

// A thrown is a failure that goes on as a panic, until the worker meets the panic again: so the failure stays one, with
// the stack of its first panic. The worker only.
type thrown struct{ err error }

// throw panics with err, or with the value of its panic.
func (t *thrown) throw(err error) {
	t.err = err
	if p, ok := err.(*PanicError); ok {
		panic(p.Value)
	}
	panic(err)
}

// caught returns the failure for which throw has panicked with value, or nil.
func (t *thrown) caught(value any) error {
	err := t.err
	t.err = nil
	if p, ok := err.(*PanicError); ok && isSame(p.Value, value) || err != nil && isSame(err, value) {
		return err
	}
	return nil
}
