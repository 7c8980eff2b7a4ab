package executor

import "github.com/magpie-go/magpie/internal/xsync"

// groupTaskBlock is how many tasks of groups are made at once, and pass between workers and groups at once.
const groupTaskBlock = 32

// maxGroupBlocks is how many blocks of tasks out of use an executor keeps beside those of its workers: 1 MB, once some
// group had 16,384 functions of tasks that had not begun.
const maxGroupBlocks = 512

// A groupTaskStore holds the tasks of groups that are out of use, in lists of groupTaskBlock. Workers bring those of
// functions that have ended, and goroutines that give functions to a group with a limit from outside take them.
type groupTaskStore struct {
	mu     xsync.Mutex
	blocks []*groupTask // the first of each list; guarded by mu
}

// get returns a list of groupTaskBlock tasks.
func (s *groupTaskStore) get() *groupTask {
	s.mu.Lock()
	if last := len(s.blocks) - 1; last >= 0 {
		first := s.blocks[last]
		s.blocks[last] = nil
		s.blocks = s.blocks[:last]
		s.mu.Unlock()
		return first
	}
	s.mu.Unlock()
	block := make([]groupTask, groupTaskBlock)
	for i := range block[1:] {
		block[i].next = &block[i+1]
	}
	return &block[0]
}

// put keeps a list of groupTaskBlock tasks, unless there are many.
func (s *groupTaskStore) put(first *groupTask) {
	s.mu.Lock()
	if len(s.blocks) < maxGroupBlocks {
		s.blocks = append(s.blocks, first)
	}
	s.mu.Unlock()
}

func (f *groupTasks) put(t *groupTask, s *groupTaskStore) {
	if f.n == groupTaskBlock {
		if f.full != nil {
			s.put(f.full)
		}
		f.full, f.first, f.n = f.first, nil, 0
	}
	t.next, f.first = f.first, t
	f.n++
}

func (f *groupTasks) take(s *groupTaskStore) *groupTask {
	if f.first == nil {
		if f.first, f.full = f.full, nil; f.first == nil {
			f.first = s.get()
		}
		f.n = groupTaskBlock
	}
	t := f.first
	f.first, t.next = t.next, nil
	f.n--
	return t
}

// task returns a task for a function.
func (r *groupRun) task(w *Worker, f groupFunction) *groupTask {
	var t *groupTask
	if w == nil {
		t = &groupTask{}
	} else {
		t = partsOf(w).groupTasks.take(&executorOf(w.core).groupTasks)
	}
	t.Exec, t.Body, t.groupFunction = r.exec, &r.Body, f
	return t
}
