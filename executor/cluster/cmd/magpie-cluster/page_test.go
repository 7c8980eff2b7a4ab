package main

import (
	"bytes"
	"testing"

	"github.com/magpie-go/magpie/executor/cluster"
	"github.com/stretchr/testify/require"
)

// TestNames: names that others have chosen command neither the terminal nor the table.
func TestNames(t *testing.T) {
	const hostile = "\x1b[2J\t\r\nx"
	var page bytes.Buffer
	tableOfRuns(&page, []cluster.RunStatus{{ID: "r", Graph: hostile}})
	tableOfWorkers(&page, []cluster.WorkerStatus{{Name: hostile}})
	tableOfPartitions(&page, []cluster.WorkerStatus{{Running: []cluster.Running{{Worker: hostile, Call: hostile}}}})
	require.NotContains(t, page.String(), "\x1b")
	require.NotContains(t, page.String(), "\r")
	require.Equal(t, 4, bytes.Count(page.Bytes(), []byte("\ufffd[2J\ufffd\ufffd\ufffdx")))
}
