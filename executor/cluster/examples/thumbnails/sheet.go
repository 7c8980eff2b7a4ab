package main

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
)

// A contact sheet has columns of cells, each with one photograph.
const (
	columns  = 6
	perSheet = 5 * columns
	cell     = 160 // pixels
	margin   = 8
)

// contactSheet returns a sheet of the thumbnails that there are.
func contactSheet(thumbs []Thumb) (Sheet, error) {
	rows := (len(thumbs) + columns - 1) / columns
	to := newWhite(margin+columns*(cell+margin), margin+rows*(cell+margin))
	n := 0
	for _, t := range thumbs {
		if t.Wrong != "" {
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(t.JPEG))
		if err != nil {
			return Sheet{}, err
		}
		small := scale(img, cell)
		at := image.Pt(margin+n%columns*(cell+margin), margin+n/columns*(cell+margin))
		middle := image.Pt(cell, cell).Sub(small.Rect.Max).Div(2)
		draw.Draw(to, small.Rect.Add(at).Add(middle), small, image.Point{}, draw.Src)
		n++
	}
	data, err := encode(to)
	return Sheet{data}, err
}
