package bench

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A table is text in columns. Its first row is the heading.
type table struct {
	right []bool // by column: align right, as numbers are
	rows  [][]string
}

// column adds a heading. Columns come before rows.
func (t *table) column(heading string, right bool) {
	if len(t.rows) == 0 {
		t.rows = [][]string{nil}
	}
	t.rows[0] = append(t.rows[0], heading)
	t.right = append(t.right, right)
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table, its columns two spaces apart.
func (t *table) write(w io.Writer) error {
	width := make([]int, len(t.right))
	for _, r := range t.rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		var line strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if t.right[i] {
				line.WriteString(pad + c + "  ")
			} else {
				line.WriteString(c + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
