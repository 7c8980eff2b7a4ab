//! The driver of chili.

use chili::{Config, Scope, ThreadPool};
use drivers::{Arguments, Board, FAT_CHILDREN, fail, fib, nodes, queens};
use std::num::NonZero;

fn main() {
    let a = Arguments::parse();
    let pool = ThreadPool::with_config(Config { thread_count: NonZero::new(a.workers), ..Config::default() });
    let mut scope = pool.scope();
    let (s, n) = (&mut scope, a.n);
    match a.bench.as_str() {
        "fib" => a.answer(fib(n), || fork_fib(s, n)),
        "queens" => a.answer(queens(Board::empty(n)), || fork_queens(s, Board::empty(n))),
        "fat" => a.answer(nodes(FAT_CHILDREN, n), || fork_fat(s, n)),
        "thin" => a.answer(nodes(2, n), || fork_thin(s, n)),
        bench => fail(&format!("chili does not do {bench}")),
    }
}

// The first function of a join is the one that another thread may take.

fn fork_fib(s: &mut Scope, n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (x, y) = s.join(|s| fork_fib(s, n - 1), |s| fork_fib(s, n - 2));
    x + y
}

fn fork_queens(s: &mut Scope, b: Board) -> u64 {
    if b.columns == b.all { 1 } else { fork_places(s, b, b.free()) }
}

fn fork_places(s: &mut Scope, b: Board, free: u32) -> u64 {
    if free == 0 {
        return 0;
    }
    let first = b.with(free & free.wrapping_neg());
    let rest = free & (free - 1);
    if rest == 0 {
        return fork_queens(s, first);
    }
    let (x, y) = s.join(|s| fork_places(s, b, rest), |s| fork_queens(s, first));
    x + y
}

fn fork_fat(s: &mut Scope, depth: usize) -> u64 {
    if depth == 0 { 1 } else { 1 + fork_children(s, depth - 1, FAT_CHILDREN) }
}

fn fork_children(s: &mut Scope, depth: usize, n: u64) -> u64 {
    if n == 1 {
        return fork_fat(s, depth);
    }
    let (x, y) = s.join(|s| fork_fat(s, depth), |s| fork_children(s, depth, n - 1));
    x + y
}

fn fork_thin(s: &mut Scope, depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (x, y) = s.join(|s| fork_thin(s, depth - 1), |s| fork_thin(s, depth - 1));
    1 + x + y
}
