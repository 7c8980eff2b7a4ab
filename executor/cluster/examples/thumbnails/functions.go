package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/png"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster"
)

// functions are what workers do.
type functions struct {
	registry  *cluster.Registry
	thumbnail cluster.Func[Photo, Thumb]
	sheet     cluster.FuncAll[Thumb, Sheet]
}

// A Photo is a photograph in a bucket.
type Photo struct {
	Bucket string
	Number int
}

// A Thumb is a thumbnail, or says what is wrong with the photograph. That is a result: an error of the function would
// end the run.
type Thumb struct {
	JPEG  []byte
	Wrong string
}

// A Sheet is a contact sheet.
type Sheet struct{ JPEG []byte }

// newFunctions registers the functions. js is the server of a worker, and nil in a program that submits.
func newFunctions(js jetstream.JetStream) functions {
	reg := cluster.NewRegistry()
	return functions{
		registry: reg,
		thumbnail: cluster.Register(reg, "thumbnail", func(ctx context.Context, p Photo) (Thumb, error) {
			return thumbnailOf(ctx, js, p)
		}),
		sheet: cluster.RegisterAll(reg, "sheet", func(_ context.Context, all []Thumb) (Sheet, error) {
			return contactSheet(all)
		}),
	}
}

func registry(js jetstream.JetStream) *cluster.Registry { return newFunctions(js).registry }

// thumbnailOf returns the thumbnail of a photograph in a bucket.
func thumbnailOf(ctx context.Context, js jetstream.JetStream, p Photo) (Thumb, error) {
	data, err := get(ctx, js, p)
	if err != nil {
		return Thumb{}, err
	}
	return thumbnail(data)
}

// maxPixels is what a worker decodes. A small file may say that it has more than the memory holds.
const maxPixels = 200e6

// thumbnail returns the thumbnail of a photograph.
func thumbnail(data []byte) (Thumb, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Thumb{Wrong: err.Error()}, nil
	}
	if float64(c.Width)*float64(c.Height) > maxPixels {
		return Thumb{Wrong: fmt.Sprintf("it is too large: %d × %d pixels", c.Width, c.Height)}, nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Thumb{Wrong: err.Error()}, nil
	}
	const size = 200
	data, err = encode(scale(img, size))
	return Thumb{JPEG: data}, err
}
