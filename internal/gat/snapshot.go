package gat

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
)

// A Snapshot is what a table has at one time: all allotments are those of one generation.
type Snapshot struct {
	Processors int
	Cycle      time.Duration
	Generation uint64 // the number of times that allotments have changed
	Jobs       []JobState
}

// A JobState is a job in a Snapshot. Desire, Usage and Efficiency are the latest that the job has published.
type JobState struct {
	Slot       int
	PID        int // in the namespace of the job's process
	Name       string
	Desire     int
	Allotment  int
	Usage      int
	Efficiency int // permille
	Weight     int
	Minimum    int
	Limit      int           // 0: none
	Heartbeat  time.Duration // since its latest update
	Stopped    bool          // it has a desire, but updates fail to come: its desire counts as its minimum at most
	Alive      bool          // otherwise the next rebalance frees the slot
}

// snapshotTries bounds the attempts to read a table between two of its changes. It is arbitrary: one attempt takes a
// few microseconds, and changes come a cycle apart.
const snapshotTries = 1000

// snapshot reads the table until it does not change meanwhile. Jobs that join change joins before their slot's words,
// and rebalances end with a change of published.
func (t *table) snapshot(l locks, now uint64) (Snapshot, error) {
	for range snapshotTries {
		g, joins := t.published.Load(), t.joins.Load()
		s, err := t.read(l, g, now)
		if err != nil {
			return Snapshot{}, err
		}
		if t.published.Load() == g && t.joins.Load() == joins {
			return s, nil
		}
	}
	return Snapshot{}, fmt.Errorf("%w: it changes faster than it can be read", ErrBusy)
}

func (t *table) read(l locks, generation, now uint64) (Snapshot, error) {
	s := Snapshot{
		Processors: count(&t.processors),
		Cycle:      time.Duration(min(t.cycle.Load(), math.MaxInt64)),
		Generation: generation,
	}
	for i := range slots {
		if t.states[i].Load() == free {
			continue
		}
		alive, err := l.held(life(i))
		if err != nil {
			return Snapshot{}, err
		}
		o, beat := &t.jobs[i], t.jobs[i].heartbeat.Load()
		s.Jobs = append(s.Jobs, JobState{
			Slot:       i,
			PID:        int(o.pid.Load()),
			Name:       o.readName(),
			Desire:     count(&o.desire),
			Allotment:  count(&t.vectors[generation&1][i]),
			Usage:      count(&o.usage),
			Efficiency: count(&o.efficiency),
			Weight:     count(&o.weight),
			Minimum:    count(&o.minimum),
			Limit:      count(&o.limit),
			Heartbeat:  time.Duration(min(now-min(beat, now), math.MaxInt64)),
			Stopped:    o.desire.Load() != 0 && isStopped(beat, now, t.cycle.Load()),
			Alive:      alive,
		})
	}
	return s, nil
}

// packName keeps as much of a name as fits, up to the end of a character.
func packName(name string) (words [nameWords]uint64) {
	const most = 8 * nameWords
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	var b [most]byte
	copy(b[:], name)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return words
}

// readName returns a slot's name without what a terminal would not show as a character.
func (s *slot) readName() string {
	var b []byte
	for i := range s.name {
		b = binary.LittleEndian.AppendUint64(b, s.name[i].Load())
	}
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(b))
}
