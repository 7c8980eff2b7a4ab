package workloads

// All lists the workloads: graphs, in the order of the tour, then programs, then lists of tasks.
func All() []*Workload { return append(append(Graphs(), Programs()...), Divisions()...) }

// Named returns the workload of that name, or nil if there is none.
func Named(name string) *Workload {
	for _, w := range All() {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// Graphs lists the workloads that are graphs.
func Graphs() []*Workload { return []*Workload{chain, btree, dag, fan, matmul} }

// Programs lists the workloads that are programs.
func Programs() []*Workload {
	return []*Workload{fib, fat, thin, nqueens, skynet, sorting, scan, mandelbrot, mm, mi, raytracer, clip, bfs, ep,
		cg, threadLoop, timing, loopy, knary, complement, cholesky, strassen}
}

// Divisions lists the workloads that are divisions.
func Divisions() []*Workload {
	return []*Workload{mandelbrotViews, matmulK, sleepLinear, sleepPermuted, search}
}
