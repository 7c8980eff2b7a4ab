//go:build !linux || modelcheck || magpie_portable_park

package osthread

// TellsAsleep says whether Asleep can be true.
const TellsAsleep = false

// Asleep is false: no portable call tells what another thread does.
func Asleep(int64) bool { return false }
