package replay

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
)

// csvFiles has the names of the CSV files that were written, by content.
type csvFiles map[string]string

// write writes the CSV file that the table of a section names. Experiments with the same rows have one file. Without
// rows there is no table.
func (f csvFiles) write(dir string, s *section, d *Data) error {
	if len(d.Rows) == 0 {
		return nil
	}
	text := csvOf(d)
	if name, ok := f[string(text)]; ok {
		s.CSV = name
		return nil
	}
	f[string(text)] = s.CSV
	return writeFile(filepath.Join(dir, s.CSV), text)
}

// csvOf returns all repetitions, also of the control, with a column for each setting and figure.
func csvOf(d *Data) []byte {
	var settings, figures []string
	rows := slices.Concat(d.Rows, d.Control)
	for _, r := range rows {
		for _, s := range r.Settings {
			settings = appendNew(settings, s.Name)
		}
		for _, m := range slices.Concat(r.Figures, r.Details) {
			figures = appendNew(figures, m.Name)
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(slices.Concat(settings, figures)) // a bytes.Buffer takes everything
	for _, r := range rows {
		var line []string
		for _, name := range settings {
			line = append(line, r.Value(name))
		}
		for _, name := range figures {
			text := ""
			if x, ok := r.Figure(name); ok {
				text = fmt.Sprint(x)
			}
			line = append(line, text)
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.Bytes()
}
