package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sums of many blocks are those of a loop.
func TestSums(t *testing.T) {
	want := make(map[string]int)
	var text strings.Builder
	text.WriteString("id,city,amount\n")
	for i := range 300_000 {
		city := fmt.Sprintf("city-%02d", i%12)
		fmt.Fprintf(&text, "%d,%s,%d\n", i, city, i%12*1000+i%7)
		want[city] += i%12*1000 + i%7
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	for _, end := range []string{"", "300000,city-11,0"} { // also without a newline at the end
		require.NoError(t, os.WriteFile(file, []byte(text.String()+end), 0o666))
		var out, wanted strings.Builder
		require.NoError(t, run(t.Context(), file, "city", "amount", 0, &out))
		for i := 11; i >= 2; i-- {
			city := fmt.Sprintf("city-%02d", i)
			fmt.Fprintf(&wanted, "%-20s %16.2f\n", city, float64(want[city]))
		}
		require.Equal(t, wanted.String(), out.String())
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"city,amount\nA,1\nA,x\n":   `"A,x\n": strconv.ParseFloat: parsing "x": invalid syntax`,
		"city,amount\nA,1\nA,1,2\n": `"A,1,2\n" has 3 fields, not 2`,
		"town,amount\n":             `has the columns ["town" "amount"]: choose by -by and -sum`,
		"":                          `EOF`,
	} {
		file := filepath.Join(t.TempDir(), "sales.csv")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		require.ErrorContains(t, run(t.Context(), file, "city", "amount", 0, nil), want, text)
	}
	require.ErrorContains(t, run(t.Context(), "", "city", "amount", 0, nil), "give a file")
}

// What -gen makes has the size, and can be read. A reader that is told to stop says why.
func TestGenerate(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "sales.csv"))
	require.NoError(t, err)
	defer file.Close()
	const size = 3_000_000
	require.NoError(t, run(t.Context(), "", "", "", size, file))
	info, err := file.Stat()
	require.NoError(t, err)
	require.InDelta(t, size, info.Size(), 100)
	var out strings.Builder
	require.NoError(t, run(t.Context(), file.Name(), "product", "amount", 0, &out))
	require.Equal(t, 10, strings.Count(out.String(), "product-"))

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to stop"))
	require.ErrorContains(t, run(ctx, file.Name(), "city", "amount", 0, &out), "told to stop")
	closed, err := os.Open(os.DevNull)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, run(t.Context(), "", "", "", size, closed), os.ErrClosed)
}
