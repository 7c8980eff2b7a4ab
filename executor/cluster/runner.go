package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/magpie-go/magpie/executor"
	"github.com/magpie-go/magpie/executor/cluster/internal/protocol"
	"github.com/magpie-go/magpie/executor/cluster/internal/wire"
	"github.com/magpie-go/magpie/graph"
)

// objects is the part of a [protocol.Store] that holds large values.
type objects interface {
	PutObject(ctx context.Context, value []byte) (hash string, err error)
	GetObject(ctx context.Context, hash string) ([]byte, error)
}

// A runner runs partitions, each as one run of an executor. Any thread.
type runner struct {
	ex       *executor.Executor
	registry *Registry
	objects  objects
	limit    int      // how many bytes of values an output may have: the largest of more become objects
	plans    sync.Map // from a weak.Pointer[wire.Plan] to what loads it, once; an entry goes with its plan
}

var _ protocol.Runner = (*runner)(nil)

func newRunner(ex *executor.Executor, reg *Registry, objects objects, limit int) *runner {
	return &runner{ex: ex, registry: reg, objects: objects, limit: limit}
}

// load returns what partitions of a plan need to know, and takes the bytes of the graph out of the plan: they are as
// large as what is made of them. Partitions of one plan come with one pointer.
func (r *runner) load(plan *wire.Plan) (*partitioned, error) {
	key := weak.Make(plan)
	load, known := r.plans.Load(key)
	if !known {
		// The function must not keep the plan, and is called while the caller does.
		fresh := sync.OnceValues(func() (*partitioned, error) {
			plan := key.Value()
			p, err := newPartitioned(plan)
			plan.Graph = nil
			return p, err
		})
		if load, known = r.plans.LoadOrStore(key, fresh); !known {
			runtime.AddCleanup(plan, func(key weak.Pointer[wire.Plan]) { r.plans.Delete(key) }, key)
		}
	}
	p, err := load.(func() (*partitioned, error))()
	runtime.KeepAlive(plan)
	return p, err
}

// Run implements [protocol.Runner].
func (r *runner) Run(
	ctx context.Context, run string, plan *wire.Plan, part int, inputs []wire.Output,
) (wire.Output, error) {
	p, err := r.load(plan)
	if err != nil {
		return wire.Output{}, &protocol.TaskError{Err: err, Permanent: true}
	}
	e := newExecution(p.graph, r.registry, run)
	tasks := graph.New(p.graph.name)
	outer, err := r.outer(ctx, p, part, inputs)
	if err != nil {
		return wire.Output{}, err
	}
	if err := e.bind(tasks, p.parts[part], p.choices, outer); err != nil {
		return wire.Output{}, err
	}
	for k := range e.steps {
		e.steps[k].pack = p.needed[e.steps[k].index]&needValue != 0
	}
	begin := time.Now()
	if err := r.ex.Run(ctx, tasks); err != nil {
		return wire.Output{}, taskError(ctx, err)
	}
	out := wire.Output{V: wire.Version, Part: part, Values: map[int]wire.Value{}, Took: time.Since(begin)}
	for k := range e.steps {
		s := &e.steps[k]
		if needs := p.needed[s.index]; needs&needValue != 0 || s.absent && needs&needOrder != 0 {
			out.Values[int(s.index)] = s.packed
		}
	}
	return out, r.store(ctx, out.Values)
}

// taskError returns the error of a run of an executor as the protocol has it: whether it is that of a function.
func taskError(ctx context.Context, err error) error {
	var failed *graph.TaskError
	if ctx.Err() != nil || !errors.As(err, &failed) {
		return err
	}
	// Its retries, if the call has any, are done.
	return &protocol.TaskError{Task: failed.Task, Err: err, Permanent: true}
}

// outer returns the results of other partitions that part needs, from the outputs of those.
func (r *runner) outer(ctx context.Context, p *partitioned, part int, inputs []wire.Output) (map[int32]*outer, error) {
	results := map[int32]*outer{}
	for _, in := range inputs {
		for i, v := range in.Values {
			if i >= 0 && i < len(p.of) && int(p.of[i]) == in.Part {
				results[int32(i)] = &outer{packed: v}
			}
		}
	}
	for _, i := range p.parts[part] {
		for before, role := range p.graph.before(i, p.choices[i]) {
			o := results[before]
			if o == nil || role == byOrder {
				continue
			}
			v, err := fetch(ctx, r.objects, o.packed)
			if err != nil {
				return nil, fmt.Errorf("cluster: input %s of partition %d: %w", p.graph.label(before), part, err)
			}
			o.packed = v
		}
	}
	return results, nil
}

// fetch returns a value as it was before it became an object.
func fetch(ctx context.Context, objects objects, v wire.Value) (wire.Value, error) {
	if v.Object == "" {
		return v, nil
	}
	data, err := objects.GetObject(ctx, v.Object)
	if err != nil {
		return wire.Value{}, err
	}
	return wire.Value{Data: data, Bytes: data}, nil // the port knows which
}

// store makes objects of the largest values, until the others have no more than limit bytes.
func (r *runner) store(ctx context.Context, values map[int]wire.Value) error {
	size := func(v wire.Value) int { return len(v.Data) + (len(v.Bytes)+2)/3*4 }
	sum := 0
	var order []int
	for i, v := range values {
		sum += size(v)
		order = append(order, i)
	}
	if sum <= r.limit {
		return nil
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(size(values[b]), size(values[a])), cmp.Compare(a, b))
	})
	for _, i := range order {
		v := values[i]
		if sum <= r.limit || size(v) == 0 {
			break
		}
		hash, err := r.objects.PutObject(ctx, append(v.Bytes, v.Data...)) // one of them is empty
		if err != nil {
			return fmt.Errorf("cluster: result of task %d: %w", i, err)
		}
		sum -= size(v)
		values[i] = wire.Value{Object: hash}
	}
	return nil
}
