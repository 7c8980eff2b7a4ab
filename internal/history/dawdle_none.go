//go:build !magpie_chaos || modelcheck

package history

// dawdle does nothing: without the tag magpie_chaos, threads waste no time inside calls.
func dawdle(bool) {}
