//go:build !linux

package executor_test

import (
	"errors"
	"testing"

	"github.com/magpie-go/magpie/executor"
	"github.com/stretchr/testify/require"
)

func TestNiceIsRefused(t *testing.T) {
	_, err := executor.New(executor.Config{Workers: 2, Nice: 5})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
