//! Graphs by hand: rayon has none. A task counts down those after it, and starts all but the first that this makes ready.

use drivers::{Arguments, fail};
use rayon::{Scope, ThreadPool};
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Instant;

/// A work has tasks, of which the first comes before all others. Its words are atomic, as Rust demands it, but each is
/// written by one task.
pub trait Work: Sync {
    fn tasks(&self) -> usize;
    fn predecessors(&self, i: usize) -> Vec<usize>;
    fn run(&self, i: usize);
    fn reset(&self);
    fn check(&self);
}

/// Prints the time of a run of all tasks.
pub fn rerun<W: Work>(a: &Arguments, pool: &ThreadPool, w: W) {
    let links = Links::of(&w);
    a.print(|| {
        w.reset();
        let start = Instant::now();
        pool.scope(|s| links.from(s, &w, 0));
        let took = start.elapsed();
        w.check();
        took
    });
}

struct Links {
    first: Vec<u32>, // task i's successors are next[first[i]..first[i+1]]
    next: Vec<u32>,
    need: Vec<u32>, // how many predecessors a task has
    left: Vec<AtomicU32>,
}

impl Links {
    fn of(w: &impl Work) -> Links {
        let before: Vec<Vec<usize>> = (0..w.tasks()).map(|i| w.predecessors(i)).collect();
        let mut after = vec![Vec::new(); w.tasks()];
        for (i, all) in before.iter().enumerate() {
            for &j in all {
                after[j].push(i as u32);
            }
        }
        let mut first = vec![0];
        for all in &after {
            first.push(first[first.len() - 1] + all.len() as u32);
        }
        Links {
            first,
            next: after.concat(),
            need: before.iter().map(|all| all.len() as u32).collect(),
            left: before.iter().map(|all| AtomicU32::new(all.len() as u32)).collect(),
        }
    }

    /// Runs task i and those that follow from it.
    fn from<'s, W: Work>(&'s self, s: &Scope<'s>, w: &'s W, mut i: usize) {
        loop {
            w.run(i);
            let mut more = None;
            for &j in &self.next[self.first[i] as usize..self.first[i + 1] as usize] {
                let j = j as usize;
                if self.need[j] > 1 {
                    if self.left[j].fetch_sub(1, AcqRel) != 1 {
                        continue;
                    }
                    self.left[j].store(self.need[j], Relaxed); // for the next run
                }
                match more {
                    None => more = Some(j),
                    Some(_) => s.spawn(move |s| self.from(s, w, j)),
                }
            }
            match more {
                None => return,
                Some(j) => i = j,
            }
        }
    }
}

fn words(n: usize) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(0)).collect()
}

fn clear(words: &[AtomicU64]) {
    words.iter().for_each(|x| x.store(0, Relaxed));
}

/// A wave puts every place of an n×n grid, each after those above and to the left.
pub struct Wave {
    n: usize,
    grid: Vec<AtomicU64>,
    want: Vec<u64>,
}

impl Wave {
    pub fn new(n: usize) -> Wave {
        let mut w = Wave { n, grid: words(n * n), want: Vec::new() };
        (0..n * n).for_each(|i| w.run(i));
        w.want = w.grid.iter().map(|x| x.load(Relaxed)).collect();
        w
    }
}

impl Work for Wave {
    fn tasks(&self) -> usize {
        self.n * self.n
    }

    fn predecessors(&self, i: usize) -> Vec<usize> {
        let up = (i >= self.n).then(|| i - self.n);
        let left = (i % self.n > 0).then(|| i - 1);
        up.into_iter().chain(left).collect()
    }

    /// Sets place i to a number that depends on those above and to the left.
    fn run(&self, i: usize) {
        let mut x = i as u64;
        if i >= self.n {
            x = x.wrapping_add(self.grid[i - self.n].load(Relaxed).wrapping_mul(3));
        }
        if i % self.n > 0 {
            x ^= self.grid[i - 1].load(Relaxed).wrapping_mul(5);
        }
        self.grid[i].store(x.wrapping_add(1), Relaxed);
    }

    fn reset(&self) {
        clear(&self.grid);
    }

    fn check(&self) {
        if !self.grid.iter().map(|x| x.load(Relaxed)).eq(self.want.iter().copied()) {
            fail("wrong answer: the grid differs");
        }
    }
}

/// A chain has tasks, each after the one before, that count.
pub struct Chain {
    n: usize,
    count: AtomicU64,
}

impl Chain {
    pub fn new(n: usize) -> Chain {
        Chain { n, count: AtomicU64::new(0) }
    }
}

impl Work for Chain {
    fn tasks(&self) -> usize {
        self.n
    }

    fn predecessors(&self, i: usize) -> Vec<usize> {
        i.checked_sub(1).into_iter().collect()
    }

    fn run(&self, _: usize) {
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
    }

    fn reset(&self) {
        self.count.store(0, Relaxed);
    }

    fn check(&self) {
        let count = self.count.load(Relaxed);
        if count != self.n as u64 {
            fail(&format!("wrong answer: {count} tasks ran, want {}", self.n));
        }
    }
}

/// A btree has tasks in a complete binary tree, each after its parent. Each writes its level.
pub struct Btree {
    levels: Vec<AtomicU64>,
}

impl Btree {
    pub fn new(n: usize) -> Btree {
        Btree { levels: words(n) }
    }
}

impl Work for Btree {
    fn tasks(&self) -> usize {
        self.levels.len()
    }

    fn predecessors(&self, i: usize) -> Vec<usize> {
        i.checked_sub(1).map(|x| x / 2).into_iter().collect()
    }

    fn run(&self, i: usize) {
        let above = if i == 0 { 0 } else { self.levels[(i - 1) / 2].load(Relaxed) };
        self.levels[i].store(above + 1, Relaxed);
    }

    fn reset(&self) {
        clear(&self.levels);
    }

    fn check(&self) {
        for (i, level) in self.levels.iter().enumerate() {
            let (level, want) = (level.load(Relaxed), (i as u64 + 1).ilog2() as u64 + 1);
            if level != want {
                fail(&format!("wrong answer: task {i} is in level {level}, want {want}"));
            }
        }
    }
}
