//go:build !linux || modelcheck || magpie_portable_park

package osthread

// TellsAsleep says whether Asleep can know.
const TellsAsleep = false

// Asleep does not know: no portable call tells what another thread does.
func Asleep(int64) (asleep, known bool) { return false, false }
