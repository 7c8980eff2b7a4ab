//go:build !modelcheck && !magpie_portable_park

package osthread

import (
	"bytes"
	"os"
	"strconv"
)

// TellsAsleep says whether Asleep can be true.
const TellsAsleep = true

// Asleep reports whether a thread of the process sleeps in the kernel: it neither runs nor waits for a core. It is
// false if the kernel does not tell.
//
// Any thread.
func Asleep(id int64) bool {
	stat, err := os.ReadFile("/proc/self/task/" + strconv.FormatInt(id, 10) + "/stat")
	if err != nil {
		return false
	}
	// 4711 (name) S …: the name may have spaces and parentheses.
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(rest) > 0 && (rest[0] == 'S' || rest[0] == 'D')
}
