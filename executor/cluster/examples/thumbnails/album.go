package main

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/magpie-go/magpie/executor/cluster"
)

// An album is a graph that makes thumbnails and contact sheets.
type album struct {
	graph  *cluster.Graph
	photos []string
	thumbs []cluster.Call[Thumb] // of each photograph
	sheets []cluster.Call[Sheet]
}

func newAlbum(bucket string, photos []string) *album {
	f := newFunctions(nil)
	a := &album{graph: cluster.NewGraph("album"), photos: photos}
	var inputs []cluster.Arg[Thumb]
	for i := range photos {
		t := f.thumbnail.Call(a.graph, cluster.Value(Photo{bucket, i})).
			Cost(100 * time.Millisecond). // as it is with the photographs of a telephone: a partition for each
			Retries(3).                   // one of three servers may be late to know what another has
			Keep()                        // though a sheet takes it
		a.thumbs, inputs = append(a.thumbs, t), append(inputs, t)
		if len(inputs) == perSheet || i == len(photos)-1 {
			a.sheets = append(a.sheets, f.sheet.Call(a.graph, inputs...))
			inputs = nil
		}
	}
	return a
}

// write writes the thumbnails, the contact sheets and the index page. Its error says which files are no photographs.
func (a *album) write(results *cluster.Results, from, to string, out io.Writer) error {
	var page struct{ Photos, Sheets []entry }
	var wrong []error
	for i, name := range a.photos {
		t, err := a.thumbs[i].Result(results)
		switch {
		case err != nil:
			return err
		case t.Wrong != "":
			wrong = append(wrong, fmt.Errorf("%s: %s", filepath.Join(from, name), t.Wrong))
			continue
		}
		if err := writeFile(to, name+".jpg", t.JPEG); err != nil {
			return err
		}
		page.Photos = append(page.Photos, entry{name, link(name + ".jpg"), original(from, to, name)})
	}
	for i, call := range a.sheets {
		s, err := call.Result(results)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("sheet-%d.jpg", i+1)
		if err := writeFile(to, name, s.JPEG); err != nil {
			return err
		}
		page.Sheets = append(page.Sheets, entry{Name: name})
	}
	var index bytes.Buffer
	if err := indexPage.Execute(&index, page); err != nil {
		return err
	}
	if err := writeFile(to, "index.html", index.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d thumbnails and %d contact sheets: see %s\n", len(page.Photos), len(page.Sheets),
		filepath.Join(to, "index.html"))
	return errors.Join(wrong...)
}

// writeFile writes a file to a directory, or to one below.
func writeFile(dir, name string, data []byte) error {
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}

// An entry is a photograph on the index page, or a contact sheet.
type entry struct{ Name, Thumb, Original string }

// link returns the URL of a file, relative to the page.
func link(file string) string { return (&url.URL{Path: filepath.ToSlash(file)}).String() }

// original returns a link from a page in to to a photograph in from, or none if they are on different volumes.
func original(from, to, name string) string {
	from, err := filepath.Abs(from)
	to, err2 := filepath.Abs(to)
	up, err3 := filepath.Rel(to, from)
	if errors.Join(err, err2, err3) != nil {
		return ""
	}
	return link(filepath.Join(up, name))
}

var indexPage = template.Must(template.New("index").Parse(`<!DOCTYPE html>
<meta charset="utf-8">
<title>Photographs</title>
<p>{{len .Photos}} photographs{{range .Sheets}} · <a href="{{.Name}}">{{.Name}}</a>{{end}}</p>
{{range .Photos}}<a href="{{.Original}}" title="{{.Name}}"><img src="{{.Thumb}}" alt="{{.Name}}"></a>
{{end}}`))
