package figure

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// SVG returns the figure as an SVG document without identifiers, style sheets and references, so that several can be
// put into one HTML page.
//
// Text remains text. It is measured in Liberation Sans. If the reader's program has neither this font nor another of
// the same widths, it fits each text into the measured width.
func (f *Figure) SVG() ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	s := layOut(f)
	w, h := s.size()
	c := &measured{Canvas: vgsvg.New(w, h)}
	s.draw(draw.NewCanvas(c, w, h))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return c.tidy(f.Title, b.String())
}

// PNG writes the figure as a picture of 200 dots per inch.
func (f *Figure) PNG(out io.Writer) error {
	if err := f.Check(); err != nil {
		return err
	}
	s := layOut(f)
	w, h := s.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(200))
	s.draw(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(out)
	return err
}

// measured is an SVG canvas that keeps the width of each text, in the order of drawing.
type measured struct {
	*vgsvg.Canvas
	widths []vg.Length
}

func (c *measured) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// fonts are the fonts with the widths of Liberation Sans, then any.
const fonts = "'Liberation Sans',Arial,Arimo,Helvetica,sans-serif"

// tidy gives the document a name, a generic font and the width of each text.
func (c *measured) tidy(title, doc string) ([]byte, error) {
	_, body, ok := strings.Cut(doc, "xlink\">\n") // the end of the opening tag
	if !ok {
		return nil, fmt.Errorf("the library writes an opening tag of another form: %.200q", doc)
	}
	body = strings.NewReplacer(
		"font-family:Liberation Sans;font-variant:normal;", "",
		"font-weight:normal;", "", "font-style:normal;", "",
		"\n\tstyle=", " style=",
	).Replace(body)
	parts := strings.Split(body, "<text ")
	if len(parts)-1 != len(c.widths) {
		return nil, fmt.Errorf("%d texts were drawn and %d written", len(c.widths), len(parts)-1)
	}
	w, h := c.Size()
	var b bytes.Buffer
	// The size in pixels of 1/96 inch is 4/3 of that in points.
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" `,
		short(w*4/3), short(h*4/3), short(w), short(h))
	fmt.Fprintf(&b, `role="img" aria-label="%s" style="font-family:%s">`+"\n", html.EscapeString(title), fonts)
	b.WriteString(parts[0])
	for i, part := range parts[1:] {
		b.WriteString("<text ")
		if c.widths[i] > 0 {
			fmt.Fprintf(&b, `textLength="%s" lengthAdjust="spacingAndGlyphs" `, short(c.widths[i]))
		}
		b.WriteString(part)
	}
	return b.Bytes(), nil
}

// short formats a length in points with at most two decimals.
func short(l vg.Length) string {
	txt := strconv.FormatFloat(l.Points(), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(txt, "0"), ".")
}
