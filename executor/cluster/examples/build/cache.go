package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A cache is a bucket of the server, for all builds and workers. It has chunks of blobs, by the hash of the blob, and
// results of steps, by the key of the step. A chunk that is written again is the same. Of two results for one key, both
// are right. So any number of workers may write at the same time.
type cache struct{ bucket jetstream.KeyValue }

const (
	bucketName = "build-cache"
	keep       = 30 * 24 * time.Hour
	chunkSize  = 512 << 10 // below the largest message of a server, which is 1 MiB by default
)

// makeCache returns the cache, which it makes if there is none.
func makeCache(ctx context.Context, js jetstream.JetStream, replicas int) (cache, error) {
	c, err := openCache(ctx, js)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c.bucket, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucketName, TTL: keep, Replicas: replicas})
	}
	return c, err
}

func openCache(ctx context.Context, js jetstream.JetStream) (cache, error) {
	bucket, err := js.KeyValue(ctx, bucketName)
	if err != nil {
		return cache{}, fmt.Errorf("open bucket %s: %w", bucketName, err)
	}
	return cache{bucket}, nil
}

// A Blob is a file by its content.
type Blob struct {
	Hash       string
	Size       int
	Executable bool
}

func (b Blob) chunkKey(i int) string { return fmt.Sprintf("blob.%s.%d", b.Hash, i) }

// hash names data by its content.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// load returns a file.
func load(file string) (Blob, []byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Blob{}, nil, err
	}
	data, err := os.ReadFile(file)
	return Blob{hash(data), len(data), info.Mode()&0o100 != 0}, data, err
}

// putFile puts a file into the cache.
func (c cache) putFile(ctx context.Context, file string) (Blob, error) {
	b, data, err := load(file)
	if err != nil {
		return Blob{}, err
	}
	for i, chunk := range slices.Collect(slices.Chunk(data, chunkSize)) {
		if _, err := c.bucket.Put(ctx, b.chunkKey(i), chunk); err != nil {
			return Blob{}, fmt.Errorf("put %s into the cache: %w", file, err)
		}
	}
	return b, nil
}

// get returns the content of a blob.
func (c cache) get(ctx context.Context, b Blob) ([]byte, error) {
	var data []byte
	for i := 0; len(data) < b.Size; i++ {
		chunk, err := c.chunk(ctx, b.chunkKey(i))
		if err != nil {
			return nil, err
		}
		data = append(data, chunk.Value()...)
	}
	if hash(data) != b.Hash {
		return nil, errors.New("its content is not what its hash says")
	}
	return data, nil
}

// chunk returns a chunk. One of three servers may be late to know what another has.
func (c cache) chunk(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	const tries, pause = 20, 100 * time.Millisecond
	for i := 1; ; i++ {
		chunk, err := c.bucket.Get(ctx, key)
		if !errors.Is(err, jetstream.ErrKeyNotFound) || i == tries {
			return chunk, err
		}
		time.Sleep(pause)
	}
}

// checkOut writes files to a directory. What is there already, and the same, is not touched.
func (c cache) checkOut(ctx context.Context, dir string, files map[string]Blob) error {
	for name, b := range files {
		file := filepath.Join(dir, name)
		old, _, err := load(file)
		if err == nil && old == b {
			continue
		}
		data, err := c.get(ctx, b)
		if err != nil {
			return fmt.Errorf("get %s from the cache: %w", name, err)
		}
		mode := os.FileMode(0o666)
		if b.Executable {
			mode = 0o777
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) { // a file that is there keeps its mode
			return err
		}
		if err := os.WriteFile(file, data, mode); err != nil {
			return err
		}
	}
	return nil
}

// result returns the result of a step, if there is one whose blobs will not be removed soon.
func (c cache) result(ctx context.Context, key string) (made Made, ok bool, err error) {
	entry, err := c.bucket.Get(ctx, "step."+key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Made{}, false, nil
	}
	if err != nil {
		return Made{}, false, fmt.Errorf("look into the cache: %w", err)
	}
	err = json.Unmarshal(entry.Value(), &made)
	return made, time.Since(entry.Created()) < keep/2, err
}

// setResult keeps a result of a step, after its blobs.
func (c cache) setResult(ctx context.Context, key string, made Made) error {
	data, err := json.Marshal(made)
	if err == nil {
		_, err = c.bucket.Put(ctx, "step."+key, data)
	}
	return err
}
