package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var loopLine = regexp.MustCompile(`^threads 2  wall [0-9hmµ.]+s  CPU [0-9hmµ.]+s  rounds [0-9]+\n$`)

// TestLoop: the command ends when it is interrupted or its input ends, and then prints one line.
func TestLoop(t *testing.T) {
	reader, writer := io.Pipe()
	for what, tt := range map[string]struct {
		stdin io.Reader
		end   func(cancel func())
	}{
		"input ends":  {reader, func(func()) { require.NoError(t, writer.Close()) }},
		"interrupted": {unreadable{}, func(cancel func()) { cancel() }},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out, errs bytes.Buffer
		tool := newTool(&out, &errs)
		tool.stdin = tt.stdin
		status := make(chan int)
		go func() { status <- tool.run(ctx, []string{"loop", "-workers", "2"}) }()
		select {
		case <-status:
			require.Fail(t, "it ended before it was told to", what)
		case <-time.After(50 * time.Millisecond):
		}
		tt.end(cancel)
		require.Zero(t, <-status, what)
		require.Empty(t, errs.String(), what)
		require.Regexp(t, loopLine, out.String(), what)
	}
}

// An unreadable stream is closed.
type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, os.ErrClosed }

// TestIsTerminal: the null device, as whose input a script starts jobs in the background, does not end the loop.
func TestIsTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	require.True(t, isTerminal(null))
	require.NoError(t, null.Close())
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.False(t, isTerminal(r))
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
	require.False(t, isTerminal(&bytes.Buffer{}))
}
