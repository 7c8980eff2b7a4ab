package jet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/nats-io/nats.go"
)

// An object is stored in chunks on subjects that its content hash names: so whoever writes it again writes the same,
// and a reader is not disturbed. The object store of the client library removes the chunks of an object that is written
// again. Chunk 0 begins with the size of the object, and is written last: an object with a chunk 0 is complete.
const (
	maxChunk = 256 << 10 // well below the limit that servers have for messages, which is 1 MiB by default
	sizeLen  = 8
)

// PutObject implements protocol.Store. What this queue has written a short time ago is not written again.
func (q *Queue) PutObject(ctx context.Context, value []byte) (hash string, err error) {
	sum := sha256.Sum256(value)
	hash = hex.EncodeToString(sum[:])
	if at, ok := q.fresh.get(hash); ok && time.Since(at) < q.c.Keep/4 {
		return hash, nil
	}
	head, rest := value[:min(len(value), maxChunk)], value[min(len(value), maxChunk):]
	chunks := (len(rest) + maxChunk - 1) / maxChunk
	put := func(chunk int, data []byte) error {
		return q.publish(ctx, &nats.Msg{Subject: q.object(hash, chunk), Data: data})
	}
	err = Each(chunks, func(i int) error {
		return put(i+1, rest[i*maxChunk:min(len(rest), (i+1)*maxChunk)])
	})
	if err == nil {
		err = put(0, append(binary.BigEndian.AppendUint64(nil, uint64(len(value))), head...))
	}
	if err != nil {
		return "", q.explain("write object "+hash, err)
	}
	q.fresh.put(hash, time.Now(), nil)
	return hash, nil
}

// GetObject implements protocol.Store.
func (q *Queue) GetObject(ctx context.Context, hash string) ([]byte, error) {
	if sum, err := hex.DecodeString(hash); err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("%q is not the hash of an object: %w", hash, protocol.ErrMissing)
	}
	value, err := q.getObject(ctx, hash)
	if err != nil {
		return nil, q.explain("read object "+hash, err)
	}
	if sum := sha256.Sum256(value); hex.EncodeToString(sum[:]) != hash {
		return nil, q.explain("read object "+hash, fmt.Errorf("its content has another hash: %w", protocol.ErrMissing))
	}
	return value, nil
}

func (q *Queue) getObject(ctx context.Context, hash string) ([]byte, error) {
	first, err := q.chunks(ctx, hash, 0, 1)
	if err != nil {
		return nil, err
	}
	if len(first[0]) < sizeLen {
		return nil, fmt.Errorf("chunk 0 has %d bytes: %w", len(first[0]), protocol.ErrMissing)
	}
	const (
		some = 32       // chunks of one request, so that they are not all on their way at the same time
		room = 64 << 20 // bytes for which there is room from the beginning: the size may be wrong
	)
	size := binary.BigEndian.Uint64(first[0])
	value := append(make([]byte, 0, min(size, room)), first[0][sizeLen:]...)
	for from := 1; uint64(len(value)) < size; {
		left := (size - uint64(len(value)) + maxChunk - 1) / maxChunk
		n := int(min(some, left))
		chunks, err := q.chunks(ctx, hash, from, n)
		if err != nil {
			return nil, err
		}
		for _, c := range chunks {
			value = append(value, c...)
		}
		from += n
	}
	return value, nil
}

// chunks reads n chunks of an object, from one on.
func (q *Queue) chunks(ctx context.Context, hash string, from, n int) ([][]byte, error) {
	subjects := make([]string, n)
	index := map[string]int{}
	for i := range n {
		subjects[i] = q.object(hash, from+i)
		index[subjects[i]] = i
	}
	chunks := make([][]byte, n)
	err := q.gets.last(ctx, q.objectStream(), subjects, func(subject string, _ uint64, data []byte) error {
		chunks[index[subject]] = data
		return nil
	})
	for i := range chunks {
		if err == nil && len(chunks[i]) == 0 {
			err = fmt.Errorf("chunk %d: %w", from+i, protocol.ErrMissing)
		}
	}
	return chunks, err
}
