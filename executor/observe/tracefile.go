package observe

import (
	"encoding/json"
	"strconv"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/internal/names"
)

// A traceFile is the text of a trace, in whole events. One goroutine only.
type traceFile struct {
	text  []byte
	any   bool  // there is an event already
	named []int // by process, less one: the number of its threads that have their names, plus one; 0 without its own
	flows uint64
	edges edges
}

func (f *traceFile) begin() { f.raw("{\"traceEvents\":[") }
func (f *traceFile) end()   { f.raw("\n]}\n") }

// event begins an event, and the caller ends it.
func (f *traceFile) event(ph string, pid, tid int) {
	if f.any {
		f.text = append(f.text, ',')
	}
	f.any = true
	f.text = append(append(f.text, "\n{\"ph\":\""...), ph...)
	f.number("\",\"pid\":", uint64(pid))
	f.number(",\"tid\":", uint64(tid))
}

func (f *traceFile) raw(s string) { f.text = append(f.text, s...) }

func (f *traceFile) number(key string, n uint64) {
	f.text = strconv.AppendUint(append(f.text, key...), n, 10)
}

// time appends a number of microseconds.
func (f *traceFile) time(key string, ns int64) {
	f.text = append(f.text, key...)
	if ns < 0 {
		ns = 0
	}
	f.text = strconv.AppendInt(f.text, ns/1000, 10)
	rest := ns % 1000
	f.text = append(f.text, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

func (f *traceFile) string(key, s string) {
	f.text = append(f.text, key...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s) // also mends text that is not UTF-8
			if err != nil {
				panic(err) // impossible for a string
			}
			f.text = append(f.text, quoted...)
			return
		}
	}
	f.text = append(append(append(f.text, '"'), s...), '"')
}

// name writes the names of a process and its threads, once. The name of the executor is "" until it is attached.
func (f *traceFile) name(pid int, name string, tracers []*tracer) {
	for len(f.named) < pid {
		f.named = append(f.named, 0)
	}
	if name == "" && len(tracers) == 0 {
		return
	}
	if f.named[pid-1] == 0 {
		f.named[pid-1] = 1
		f.event("M", pid, 1)
		f.raw(",\"name\":\"process_name\"")
		f.string(",\"args\":{\"name\":", name)
		f.raw("}}")
	}
	for _, t := range tracers[f.named[pid-1]-1:] {
		f.event("M", pid, t.id+1)
		f.raw(",\"name\":\"thread_name\"")
		f.string(",\"args\":{\"name\":", "worker "+strconv.Itoa(t.id))
		f.raw("}}")
	}
	f.named[pid-1] = len(tracers) + 1
}

// task writes a task's slice and, if wanted, its ends of arrows. The arrow from each task before ends one nanosecond
// before the slice, which is then the thread's next. The arrow to each task after begins in the slice's last
// nanosecond.
func (f *traceFile) task(pid, tid int, e *event, arrows bool) {
	t := e.task.Get()
	f.event("X", pid, tid)
	f.time(",\"ts\":", e.begin)
	f.time(",\"dur\":", e.end-e.begin)
	f.taskName(",\"name\":", t)
	job, run := names.Job(t.Set.Job), e.run.Get()
	f.string(",\"cat\":", job)
	f.args(run, job, e.failure.Get())
	f.raw("}")
	f.failed(pid, tid, e)
	if !arrows || t.Set.Successors == nil {
		return
	}
	set, number := f.edges.of(t.Set), uint64(0)
	if run != nil {
		number = run.number
	}
	for _, before := range set.before(t.Index) {
		f.arrow("f", pid, tid, "edge", set.arrow(number, int(before), t.Index), e.begin-1)
		f.raw("}")
	}
	for after := range t.Set.Successors(t.Index) {
		f.arrow("s", pid, tid, "edge", set.arrow(number, t.Index, after), e.end-1)
		f.raw("}")
	}
}

// failed marks the end of a slice that has failed, in its last nanosecond. Perfetto has no colour for it.
func (f *traceFile) failed(pid, tid int, e *event) {
	if e.failure.Get() == nil {
		return
	}
	f.event("i", pid, tid)
	f.time(",\"ts\":", e.end-1)
	f.raw(",\"s\":\"t\",\"name\":\"failed\",\"cat\":\"failure\"}")
}

// skip marks that a task was skipped. It has no slice, and no ends of arrows.
func (f *traceFile) skip(pid, tid int, e *event) {
	t := e.task.Get()
	job := names.Job(t.Set.Job)
	f.event("i", pid, tid)
	f.time(",\"ts\":", e.begin)
	f.raw(",\"s\":\"t\",\"name\":\"skipped\",\"cat\":\"skip\"")
	f.taskName(",\"args\":{\"task\":", t)
	f.string(",\"job\":", job)
	if run := e.run.Get(); run != nil && run.name != job {
		f.string(",\"run\":", run.name)
	}
	if cause := e.failure.Get(); cause != nil {
		f.string(",\"cause\":", *cause)
	}
	f.raw("}}")
}

// taskName appends the name of a task or, if it has none, its index.
func (f *traceFile) taskName(key string, t *executor.TaskInfo) {
	if t.Name != "" {
		f.string(key, t.Name)
		return
	}
	f.raw(key)
	f.number("\"#", uint64(t.Index))
	f.raw("\"")
}

// args tells the name of a run, if it is another than that of the job, and a failure. A viewer that knows the colours
// of Chrome shows what has failed in red.
func (f *traceFile) args(run *runInfo, job string, failure *string) {
	key := ",\"args\":{\"run\":"
	if run != nil && run.name != job {
		f.string(key, run.name)
		key = ",\"error\":"
	} else if failure != nil {
		key = ",\"args\":{\"error\":"
	} else {
		return
	}
	if failure != nil {
		f.string(key, *failure)
		f.raw("},\"cname\":\"terrible\"")
		return
	}
	f.raw("}")
}

func (f *traceFile) park(pid, tid int, e *event) {
	f.event("X", pid, tid)
	f.time(",\"ts\":", e.begin)
	f.time(",\"dur\":", e.end-e.begin)
	f.raw(",\"name\":\"parked\",\"cat\":\"worker\"}")
}

func (f *traceFile) steal(pid, tid int, e *event) {
	f.flows++
	f.arrow("s", pid, int(e.other)+1, "steal", f.flows, e.begin)
	f.raw("}")
	f.arrow("f", pid, tid, "steal", f.flows, e.begin)
	f.number(",\"args\":{\"items\":", uint64(e.n))
	f.raw("}}")
}

// arrow writes an end of an arrow, which the caller ends with a brace. Without "bp" an arrow ends at the thread's next
// slice.
func (f *traceFile) arrow(ph string, pid, tid int, what string, id uint64, at int64) {
	f.event(ph, pid, tid)
	f.time(",\"ts\":", at)
	f.number(",\"id\":", id)
	f.string(",\"name\":", what)
	f.string(",\"cat\":", what)
}

// run writes the begin or the end of a run. The number is local to the process: viewers show the run under its
// executor.
func (f *traceFile) run(pid int, ph string, run *runInfo, at int64, failure *string) {
	f.event(ph, pid, 1)
	f.time(",\"ts\":", at)
	f.raw(",\"id2\":{\"local\":\"0x")
	f.text = strconv.AppendUint(f.text, run.number, 16)
	f.raw("\"}")
	f.string(",\"name\":", run.name)
	f.raw(",\"cat\":\"run\"")
	f.args(run, run.name, failure)
	f.raw("}")
}

func (f *traceFile) workers(pid int, at int64, running, searching, queued int) {
	f.event("C", pid, 1)
	f.time(",\"ts\":", at)
	f.number(",\"name\":\"workers\",\"args\":{\"running\":", uint64(running))
	f.number(",\"searching\":", uint64(searching))
	f.raw("}}")
	f.event("C", pid, 1)
	f.time(",\"ts\":", at)
	f.number(",\"name\":\"queued items\",\"args\":{\"items\":", uint64(queued))
	f.raw("}}")
}

func (f *traceFile) dropped(at int64, n uint64) {
	f.event("C", 1, 1)
	f.time(",\"ts\":", at)
	f.number(",\"name\":\"dropped events\",\"args\":{\"events\":", n)
	f.raw("}}")
}

// edges has the edges of the sets that a trace has met, as long as somebody else keeps the set.
type edges struct {
	sets  map[weak.Pointer[executor.TaskSet]]*setEdges
	count int // of sets met
	sweep int // the number of sets at which those that are gone are forgotten
}

// setEdges are the edges of a set, by the task that they lead to.
type setEdges struct {
	number uint64 // of the set
	first  []uint32
	from   []uint32
}

func (x *edges) of(set *executor.TaskSet) *setEdges {
	key := weak.Make(set)
	if s := x.sets[key]; s != nil {
		return s
	}
	if len(x.sets) >= x.sweep {
		for key := range x.sets {
			if key.Value() == nil {
				delete(x.sets, key)
			}
		}
		x.sweep = 2*len(x.sets) + 16
	}
	if x.sets == nil {
		x.sets = make(map[weak.Pointer[executor.TaskSet]]*setEdges)
	}
	x.count++
	s := newSetEdges(set, uint64(x.count))
	x.sets[key] = s
	return s
}

func newSetEdges(set *executor.TaskSet, number uint64) *setEdges {
	n := len(set.Tasks)
	s := &setEdges{number: number, first: make([]uint32, n+2)}
	each := func(f func(from, to int)) {
		for i := range n {
			for j := range set.Successors(i) {
				if j >= 0 && j < n {
					f(i, j)
				}
			}
		}
	}
	each(func(_, to int) { s.first[to+2]++ })
	for i := range n {
		s.first[i+2] += s.first[i+1]
	}
	s.from = make([]uint32, s.first[n+1])
	each(func(from, to int) {
		s.from[s.first[to+1]] = uint32(from)
		s.first[to+1]++
	})
	return s
}

// before returns the tasks with an edge to task i.
func (s *setEdges) before(i int) []uint32 { return s.from[s.first[i]:s.first[i+1]] }

// arrow returns the number of the arrow for an edge in a run, below 2^53 so that JSON has it exactly. Two edges have
// the same number with a probability of one in 2^53.
func (s *setEdges) arrow(run uint64, from, to int) uint64 {
	h := mix(run)
	h = mix(h ^ s.number)
	h = mix(h ^ uint64(from)<<32 ^ uint64(to))
	return h >> 11
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
