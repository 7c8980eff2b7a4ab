//go:build !magpie_chaos || modelcheck

package history

// dawdle does nothing: without the tag magpie_chaos threads do not dawdle inside calls.
func dawdle(bool) {}
