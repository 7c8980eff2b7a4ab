package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
)

// scale returns img on white, no wider and no higher than size. Each pixel is the mean of those that it covers.
func scale(img image.Image, size int) *image.RGBA {
	from := newWhite(img.Bounds().Dx(), img.Bounds().Dy())
	draw.Draw(from, from.Rect, img, img.Bounds().Min, draw.Over)
	width, height := from.Rect.Dx(), from.Rect.Dy()
	if longer := max(width, height); longer > size {
		width, height = max(1, width*size/longer), max(1, height*size/longer)
	}
	to := newWhite(width, height)
	for y := range height {
		top, bottom := y*from.Rect.Dy()/height, (y+1)*from.Rect.Dy()/height
		for x := range width {
			left, right := x*from.Rect.Dx()/width, (x+1)*from.Rect.Dx()/width
			to.SetRGBA(x, y, mean(from, image.Rect(left, top, right, bottom)))
		}
	}
	return to
}

// mean returns the mean of the pixels of a rectangle.
func mean(img *image.RGBA, of image.Rectangle) color.RGBA {
	var r, g, b int
	for y := of.Min.Y; y < of.Max.Y; y++ {
		row := img.Pix[img.PixOffset(of.Min.X, y):img.PixOffset(of.Max.X, y)]
		for i := 0; i < len(row); i += 4 {
			r, g, b = r+int(row[i]), g+int(row[i+1]), b+int(row[i+2])
		}
	}
	n := of.Dx() * of.Dy()
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 0xff}
}

// newWhite returns a white image.
func newWhite(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	return img
}

func encode(img image.Image) ([]byte, error) {
	var out bytes.Buffer
	err := jpeg.Encode(&out, img, nil)
	return out.Bytes(), err
}
