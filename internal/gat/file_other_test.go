//go:build !linux

package gat

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUnsupported(t *testing.T) {
	_, err := Join(Path(), 4, time.Millisecond, Terms{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = Read(Path())
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
