//go:build linux && (!amd64 || modelcheck)

package osthread

import "testing"

func pretendNoFS(*testing.T) {}
