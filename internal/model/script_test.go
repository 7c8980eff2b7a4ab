package model

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
)

// A script is a small program: the instructions of each thread, each with the number of its word, as "cas0". The last
// thread starts the others and waits for them at the end.
type script [][]string

func (s script) String() string {
	var threads []string
	for _, instructions := range s {
		threads = append(threads, strings.Join(instructions, " "))
	}
	return strings.Join(threads, " | ")
}

// A stage is the state that the threads of one execution of a script share.
type stage struct {
	x     *execution
	words [3]*cell // 0 at first
	plain *cell
	lock  *cell
	saw   [][]int // by thread
}

// A player is a thread that follows a script.
type player struct {
	*stage
	id int
}

func (p *player) note(v int) { p.saw[p.id] = append(p.saw[p.id], v) }

// exit ends the calling thread if the execution has failed. Each thread calls it after each operation: see clear.
func (p *stage) exit() {
	if p.x.failure != "" {
		runtime.Goexit()
	}
}

func (p *player) enter() {
	Block(Lock, p.lock.p(), func() bool { return p.lock.v == 0 })
	p.lock.v = 1
	Done(Lock, p.lock.p())
}

func (p *player) await(w *cell) {
	Block(Load, w.p(), func() bool { return w.v != 0 })
	p.note(w.v)
	Done(Load, w.p())
}

func (p *player) wait(w *cell, spurious bool) {
	FutexWait(w.p(), func() bool { p.exit(); return w.v == 0 }, spurious)
	p.exit()
	p.note(w.load())
}

// An instruction is an operation, or several, of a thread on a word.
type instruction struct {
	name  string
	costs int // the approximate number of operations, higher if there can be many
	do    func(p *player, w *cell)
}

// simple is the number of the first instructions that are one operation which never waits.
const simple = 5

var instructions = []instruction{
	{"load", 1, func(p *player, w *cell) { p.note(w.load()) }},
	{"set", 1, func(p *player, w *cell) { w.store(1 + p.id) }},
	{"clear", 1, func(_ *player, w *cell) { w.store(0) }},
	{"add", 1, func(_ *player, w *cell) { w.add(10) }},
	{"cas", 1, func(p *player, w *cell) { p.note(w.cas(0, 1+p.id)) }},
	{"choose", 1, func(p *player, _ *cell) { p.note(Choose(2)) }},
	{"pick", 6, func(p *player, _ *cell) {
		i := Choose(8) // numbers that are kinds of operations too
		p.note(i)
		if i == 0 {
			GiveWay()
		}
	}},
	{"read", 1, func(p *player, w *cell) {
		if v := w.load(); v != 0 {
			p.exit()
			p.note(p.plain.read())
		}
	}},
	{"write", 2, func(p *player, w *cell) {
		if v := w.load(); v == 0 {
			p.exit()
			p.plain.write(1 + p.id)
			w.store(1 + p.id)
		}
	}},
	{"lock", 2, func(p *player, _ *cell) {
		p.enter()
		p.exit()
		p.note(p.plain.read())
		p.plain.write(1 + p.id)
		p.lock.store(0)
	}},
	{"hold", 3, func(p *player, w *cell) {
		p.enter()
		p.exit()
		p.note(w.load())
		p.exit()
		p.lock.store(0)
	}},
	{"await", 1, func(p *player, w *cell) { p.await(w) }},
	{"spin", 4, func(p *player, w *cell) {
		for w.load() == 0 {
			p.exit()
			Spin()
			p.exit()
		}
	}},
	{"yield", 1, func(*player, *cell) { Spin() }},
	{"giveway", 1, func(*player, *cell) { GiveWay() }},
	{"look", 3, func(p *player, w *cell) {
		for range 2 {
			v := w.load()
			p.exit()
			if v != 0 {
				p.note(v)
				return
			}
			GiveWay()
			p.exit()
		}
	}},
	{"wait", 2, func(p *player, w *cell) { p.wait(w, false) }},
	{"doze", 2, func(p *player, w *cell) { p.wait(w, true) }},
	{"wake", 1, func(_ *player, w *cell) { FutexWake(w.p()) }},
	{"calm", 3, func(p *player, w *cell) {
		w.add(10)
		p.exit()
		Calm(func() {
			w.add(10)
			p.exit()
			p.note(p.words[0].load() + p.words[1].load() + Choose(2))
		})
	}},
	{"calmly", 2, func(p *player, w *cell) {
		p.note(w.load())
		p.exit()
		Calm(func() { p.await(w) }) // the other threads go on meanwhile
	}},
	{"maycalm", 3, func(p *player, w *cell) {
		if Choose(2) == 1 {
			Calm(func() { w.add(10); p.exit() })
		}
	}},
	{"mayawait", 2, func(p *player, w *cell) {
		if Choose(2) == 1 {
			p.await(w)
		}
	}},
	{"mayend", 2, func(p *player, _ *cell) {
		if Choose(2) == 1 && p.id != len(p.saw)-1 { // the last thread waits for the others
			runtime.Goexit()
		}
	}},
	{"either", 2, func(p *player, _ *cell) {
		a, b := p.words[0], p.words[1]
		Block(Load, nil, func() bool { return a.v != 0 || b.v != 0 })
		p.note(a.v)
		p.note(b.v)
		Done(Load, a.p())
		Done(Load, b.p())
	}},
	{"start", 5, func(p *player, w *cell) {
		join := Go(func() {
			w.add(10)
			p.exit()
			p.plain.read()
		})
		p.exit()
		p.note(w.load())
		p.exit()
		join()
	}},
}

// parse is the reverse of String.
func parse(text string) (s script) {
	for _, thread := range strings.Split(text, " | ") {
		s = append(s, strings.Fields(thread))
	}
	return s
}

// find returns an instruction by its name, and the number of its word.
func find(name string) (instruction, int) {
	last := len(name) - 1
	i := slices.IndexFunc(instructions, func(i instruction) bool { return i.name == name[:last] })
	return instructions[i], int(name[last] - '0')
}

// run follows the script on a new stage.
func (s script) run(on *stage) {
	for i := range on.words {
		on.words[i] = new(cell)
	}
	on.x, on.plain, on.lock, on.saw = active, new(cell), new(cell), make([][]int, len(s))
	for _, w := range append(on.words[:], on.plain, on.lock) {
		on.x.words.at(w.p()) // gives words the same names in every execution
	}
	var joins []func()
	for id := range s {
		follow := func() {
			p := &player{on, id}
			for _, name := range s[id] {
				do, word := find(name)
				do.do(p, on.words[word])
				p.exit()
			}
		}
		if id == len(s)-1 {
			follow()
			break
		}
		joins = append(joins, Go(follow))
		on.exit()
	}
	for _, join := range joins {
		join()
		on.exit()
	}
}

// An end is the outcome of one execution of a script.
type end struct {
	saw, words, failure string
	steps               int
}

// ends takes every execution of s within cfg, continues after failures, and returns all ends.
func (s script) ends(cfg Config) (found []end, executions int) {
	distinct := make(map[end]bool)
	strategy, m := newStrategy(&cfg), &memory{}
	defer m.release()
	for more := true; more; more = strategy.next() {
		var on stage
		x := newExecution(cfg, strategy, m)
		x.run(func() { s.run(&on) })
		executions++
		if x.covered { // it only ran to its end
			x.clear()
			continue
		}
		words := fmt.Sprint(on.words[0].v, on.words[1].v, on.words[2].v, on.plain.v, on.lock.v)
		distinct[end{fmt.Sprint(on.saw), words, firstLine(x.failure), x.steps}] = true
		x.clear()
	}
	for e := range distinct {
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b end) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return found, executions
}

// clear lets the threads of an execution that has failed end, one after the other: thousands would be left otherwise.
// Each thread comes back from where it waits, and goes on to the next exit.
func (x *execution) clear() {
	me := &thread{baton: make(chan struct{}, 1)}
	for _, t := range x.threads {
		t.asleep = nil // so that no wake has a choice
	}
	for _, t := range x.threads {
		if !t.done {
			t.parent = me // gets the baton when t leaves
			x.handOver(t)
			<-me.baton
		}
	}
}

// draw returns a random script of two or three threads. Half of the instructions are simple ones, which keep the other
// threads going. The other half are of few kinds, so that equal kinds meet more often.
func draw(rng *rand.Rand) script {
	var kinds []instruction
	for range 1 + rng.IntN(3) {
		kinds = append(kinds, instructions[rng.IntN(len(instructions))])
	}
	s := make(script, 2+rng.IntN(2))
	for left, id := 15-2*len(s), 0; left > 0; id = (id + 1) % len(s) {
		k := instructions[rng.IntN(simple)]
		if i := kinds[rng.IntN(len(kinds))]; i.costs <= left && rng.IntN(2) == 0 {
			k = i
		}
		s[id] = append(s[id], fmt.Sprint(k.name, rng.IntN(2)))
		left -= k.costs
	}
	return s
}
