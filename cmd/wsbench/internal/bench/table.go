package bench

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A Table is text in columns.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// A Column of a table.
type Column struct {
	Heading string
	Right   bool // aligned, as numbers are
}

// Column adds a column.
func (t *Table) Column(heading string, right bool) {
	t.Columns = append(t.Columns, Column{heading, right})
}

// Row adds a row with a cell for each column.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

// write writes the table, its columns two spaces apart. Without headings there is no line for them.
func (t *Table) write(w io.Writer) error {
	var headings []string
	width := make([]int, len(t.Columns))
	for _, c := range t.Columns {
		headings = append(headings, c.Heading)
	}
	rows := t.Rows
	if strings.Join(headings, "") != "" {
		rows = append([][]string{headings}, rows...)
	}
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if t.Columns[i].Right {
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

// WriteText writes the table, its columns two spaces apart.
func (t *Table) WriteText(w io.Writer) error { return t.write(w) }
