package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/magpie-go/magpie/executor/cluster/examples/internal/site"
)

// A bucket has the photographs of one run, by their numbers.
type bucket struct {
	name  string
	js    jetstream.JetStream
	store jetstream.ObjectStore
}

// newBucket makes a bucket. What is in it is removed after a day, if the program does not come to that.
func newBucket(ctx context.Context, js jetstream.JetStream, replicas int) (*bucket, error) {
	name := "thumbnails-" + rand.Text()
	store, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: name, TTL: 24 * time.Hour, Replicas: replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("make bucket %s: %w", name, site.Why(js, err))
	}
	return &bucket{name, js, store}, nil
}

// put copies a file to the bucket.
func (b *bucket) put(ctx context.Context, number int, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := b.store.Put(ctx, jetstream.ObjectMeta{Name: strconv.Itoa(number)}, f); err != nil {
		return fmt.Errorf("put %s into bucket %s: %w", file, b.name, err)
	}
	return nil
}

// remove removes the bucket, also after an interrupt.
func (b *bucket) remove() {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.js.DeleteObjectStore(ctx, b.name); err != nil {
		fmt.Fprintf(os.Stderr, "thumbnails: bucket %s was not removed: %v\n", b.name, err)
	}
}

// get returns a photograph, in a worker.
func get(ctx context.Context, js jetstream.JetStream, p Photo) ([]byte, error) {
	store, err := js.ObjectStore(ctx, p.Bucket)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", p.Bucket, err)
	}
	data, err := store.GetBytes(ctx, strconv.Itoa(p.Number))
	if err != nil {
		return nil, fmt.Errorf("get photograph %d of bucket %s: %w", p.Number, p.Bucket, err)
	}
	return data, nil
}
