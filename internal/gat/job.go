package gat

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/magpie-go/magpie/internal/allot"
	"github.com/magpie-go/magpie/internal/xatomic"
)

// Path returns the default place of the table: magpie-v1.gat in $XDG_RUNTIME_DIR, or else magpie-v1-<uid>.gat in
// /dev/shm. Where a user's processes differ in the variable, as in and out of containers, they need a path.
func Path() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, fmt.Sprintf("magpie-v%d.gat", version))
	}
	return fmt.Sprintf("/dev/shm/magpie-v%d-%d.gat", version, os.Geteuid())
}

// Terms are what a job says when it joins.
type Terms struct {
	Name    string // viewers show it; 32 bytes are kept
	Workers int    // the largest desire; 0: none
	Weight  int    // as in allot.Job; 0: 1
	Minimum int    // as in allot.Job
	Limit   int    // as in allot.Job; 0: none
}

// joinPatience is how long Join waits for byte 0, which a job holds for microseconds. It is arbitrary: longer than
// a process that has no processor waits for one. A test shortens it.
var joinPatience = time.Second

// A Job is a job of a table. All methods may be called by any thread.
type Job struct {
	path    string
	terms   terms
	workers int

	desire xatomic.Uint32        // the latest
	at     xatomic.Pointer[seat] // nil when the job has left or lost its table

	mu      sync.Mutex
	updates int
	err     error // why at is nil
}

// A seat is a job's place in one file. An update that finds the file's name gone makes another seat.
type seat struct {
	*file
	member member
}

// Join opens the table at path, makes it if there is none, and takes a slot. The job desires nothing until its first
// update. processors and cycle must be those of the table if it has live jobs; otherwise the table takes them over.
//
// An error means that the job is alone. It wraps [ErrFull], [ErrBusy], [ErrTerms], [ErrForeign], errors.ErrUnsupported,
// or the error of a system call.
func Join(path string, processors int, cycle time.Duration, t Terms) (*Job, error) {
	switch {
	case processors < 1 || processors > maxCount:
		return nil, fmt.Errorf("gat: %d processors: want from 1 to %d", processors, maxCount)
	case cycle <= 0:
		return nil, fmt.Errorf("gat: a cycle of %v: want a positive one", cycle)
	case t.Workers < 0 || t.Weight < 0 || t.Minimum < 0 || t.Limit < 0:
		return nil, fmt.Errorf("gat: %+v: want no negative number", t)
	}
	j := &Job{path: path, workers: cmp.Or(min(t.Workers, maxCount), maxCount), terms: terms{
		pid:        uint32(os.Getpid()),
		processors: uint32(processors),
		cycle:      uint64(cycle),
		name:       packName(t.Name),
		weight:     uint32(min(max(t.Weight, 1), allot.MaxWeight)),
		minimum:    uint32(min(t.Minimum, maxCount)),
		limit:      uint32(min(t.Limit, maxCount)),
	}}
	var err error
	if j.terms.boot, err = bootID(); err != nil {
		return nil, fmt.Errorf("gat: %w", err)
	}
	s, err := j.sit(joinPatience)
	if err != nil {
		return nil, fmt.Errorf("gat: %w", err)
	}
	j.at.Store(s)
	return j, nil
}

// sit takes a slot of the table at j.path.
func (j *Job) sit(patience time.Duration) (*seat, error) {
	f, err := openLocked(j.path, patience)
	if err != nil {
		return nil, err
	}
	s := &seat{file: f}
	s.member = member{t: f.table, locks: f, now: now, before: f.before, terms: j.terms}
	if err := s.enter(); err != nil {
		f.close()
		return nil, fmt.Errorf("%s: %w", j.path, err)
	}
	return s, nil
}

func (s *seat) enter() (err error) {
	defer s.rescue(catchFaults(), &err)
	if err := s.member.enter(); err != nil {
		return err
	}
	return s.member.unlock()
}

// Update publishes how many processors the job desires, how many it uses and how efficiently, in permille, and that the
// job is not stopped. It returns the job's allotment, which is at most the desire. A desire of 0 is for a job without
// work: it is allotted 0. Update is to be called once a cycle, but need not be called again while the desire is 0. It
// takes no more than a few microseconds per job, and does not wait for other processes.
//
// After an error, which wraps [ErrLost] or [ErrLeft], the job is alone for good, and the allotment is what it could
// have alone.
func (j *Job) Update(desire, usage, efficiency int) (allotment int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.at.Load()
	d := uint32(min(max(desire, 0), j.workers))
	j.desire.Store(d)
	if s == nil {
		return j.alone(), j.err
	}
	j.updates++
	if j.updates%updatesPerRebalance == 0 && !s.isAt(j.path) {
		if s, err = j.move(s); err != nil {
			return j.lose(s, err)
		}
	}
	allotment, err = s.update(d, figure(usage), figure(efficiency))
	if err != nil {
		return j.lose(s, err)
	}
	return allotment, nil
}

func figure(n int) uint32 { return uint32(min(max(n, 0), maxCount)) }

func (s *seat) update(desire, usage, efficiency uint32) (allotment int, err error) {
	defer s.rescue(catchFaults(), &err)
	return s.member.update(desire, usage, efficiency)
}

// move takes a slot of the table that has the job's path now. While that table is locked the job stays in the old one.
// A thread that reads the old table meanwhile keeps it mapped.
func (j *Job) move(old *seat) (*seat, error) {
	s, err := j.sit(0)
	switch {
	case errors.Is(err, ErrBusy):
		return old, nil
	case err != nil:
		return old, fmt.Errorf("%w: its file was removed, and no other could be joined: %w", ErrLost, err)
	}
	j.at.Store(s)
	old.close()
	return s, nil
}

// lose ends the job's part in the table. Its slot is that of a dead job.
func (j *Job) lose(s *seat, err error) (int, error) {
	if !errors.Is(err, ErrLost) { // a failed system call
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	j.err = fmt.Errorf("gat: %s: %w", j.path, err)
	j.at.Store(nil)
	s.close()
	return j.alone(), j.err
}

// alone returns the allotment of a job without others.
func (j *Job) alone() int {
	a := min(j.desire.Load(), j.terms.processors)
	if j.terms.limit > 0 {
		a = min(a, j.terms.limit)
	}
	return int(a)
}

// Allotment returns what the table allots the job now, and never more than the desire of the latest update. After an
// error of Update, and after Leave, it returns what the job could have alone.
func (j *Job) Allotment() int {
	s := j.at.Load()
	if s == nil {
		return j.alone()
	}
	a, err := s.allotment()
	if err != nil { // which the next update tells
		return j.alone()
	}
	return min(a, int(j.desire.Load()))
}

func (s *seat) allotment() (a int, err error) {
	defer s.rescue(catchFaults(), &err)
	return s.table.allotment(s.member.slot), nil
}

// Leave gives the job's slot and processors back. It does nothing if the job has left or lost its table.
func (j *Job) Leave() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.at.Load()
	if s == nil {
		return nil
	}
	j.err = fmt.Errorf("gat: %s: %w", j.path, ErrLeft)
	j.at.Store(nil)
	err := s.leave()
	s.close() // gives back what leave could not
	if err != nil && !errors.Is(err, ErrLost) {
		return fmt.Errorf("gat: %s: leave: %w", j.path, err)
	}
	return nil
}

func (s *seat) leave() (err error) {
	defer s.rescue(catchFaults(), &err)
	return s.member.leave()
}

// Read returns what the table at path has. It joins nothing and changes nothing. If there is no file, or no job has
// joined since the machine booted, the error wraps fs.ErrNotExist.
func Read(path string) (Snapshot, error) {
	s, err := readFile(path)
	if err != nil {
		return Snapshot{}, fmt.Errorf("gat: %w", err)
	}
	return s, nil
}
