//! The driver of rayon.

mod sorts;
mod works;

use drivers::{Arguments, Board, FAT_CHILDREN, fail, fib, nodes, queens, timed};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn main() {
    let a = Arguments::parse();
    let n = a.n;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(a.workers).build().unwrap();
    match a.bench.as_str() {
        "fib" => a.answer(fib(n), || pool.install(|| fork_fib(n))),
        "queens" => a.answer(queens(Board::empty(n)), || pool.install(|| fork_queens(Board::empty(n)))),
        "fat" => a.answer(nodes(FAT_CHILDREN, n), || pool.install(|| fork_fat(n))),
        "thin" => a.answer(nodes(2, n), || pool.install(|| fork_thin(n))),
        "fan" => a.print(|| {
            let ran = AtomicU64::new(0);
            timed(n as u64, || {
                pool.in_place_scope(|s| {
                    for _ in 0..n {
                        s.spawn(|_| {
                            ran.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                ran.load(Ordering::Relaxed)
            })
        }),
        "dag" => works::rerun(&a, &pool, works::Wave::new(n)),
        "chain" => works::rerun(&a, &pool, works::Chain::new(n)),
        "btree" => works::rerun(&a, &pool, works::Btree::new(n)),
        "run" | "rare" => {
            let pause = Duration::from_millis(if a.bench == "rare" { 1 } else { 0 });
            let mut calls = 0;
            a.print(|| {
                std::thread::sleep(pause);
                calls += 1;
                timed(calls, || pool.install(|| calls))
            });
        }
        _ if sorts::sorts(&a, &pool) => {}
        bench => fail(&format!("rayon does not do {bench}")),
    }
}

// The second function of a join is the one that another thread may take.

fn fork_fib(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (x, y) = rayon::join(|| fork_fib(n - 1), || fork_fib(n - 2));
    x + y
}

fn fork_queens(b: Board) -> u64 {
    if b.columns == b.all { 1 } else { fork_places(b, b.free()) }
}

fn fork_places(b: Board, free: u32) -> u64 {
    if free == 0 {
        return 0;
    }
    let first = b.with(free & free.wrapping_neg());
    let rest = free & (free - 1);
    if rest == 0 {
        return fork_queens(first);
    }
    let (x, y) = rayon::join(|| fork_queens(first), || fork_places(b, rest));
    x + y
}

fn fork_fat(depth: usize) -> u64 {
    if depth == 0 { 1 } else { 1 + fork_children(depth - 1, FAT_CHILDREN) }
}

fn fork_children(depth: usize, n: u64) -> u64 {
    if n == 1 {
        return fork_fat(depth);
    }
    let (x, y) = rayon::join(|| fork_children(depth, n - 1), || fork_fat(depth));
    x + y
}

fn fork_thin(depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (x, y) = rayon::join(|| fork_thin(depth - 1), || fork_thin(depth - 1));
    1 + x + y
}
