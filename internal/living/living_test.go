package living_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/magpie-go/magpie/internal/living"
	"github.com/stretchr/testify/require"
)

// state is a Dumper.
type state string

func (s state) Dump(out io.Writer) error {
	if s == "" {
		return errors.New("it is gone")
	}
	_, err := io.WriteString(out, string(s)+"\n")
	return err
}

func dump() string {
	var b strings.Builder
	living.Dump(&b)
	return b.String()
}

func TestDump(t *testing.T) {
	require.Empty(t, dump())
	leaveA := living.Enter(state("a"))
	leaveB := living.Enter(state("b"))
	require.Equal(t, "a\nb\n", dump())
	leaveA()
	leaveA()
	leaveNone := living.Enter(state(""))
	require.Equal(t, "b\nno state: it is gone\n", dump())
	leaveB()
	leaveNone()
	require.Empty(t, dump())
}
