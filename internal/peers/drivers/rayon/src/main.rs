//! The driver of rayon. doc.go says what a driver does.

use rayon::prelude::*;
use std::process::exit;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() != 5 {
        eprintln!("usage: driver BENCH WORKERS SIZE SECONDS");
        exit(2);
    }
    let (bench, seconds) = (args[1].as_str(), args[4].parse().unwrap());
    let workers = args[2].parse().unwrap();
    let n: usize = args[3].parse().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    let pause = match bench {
        "rare" => Duration::from_millis(1),
        _ => Duration::ZERO,
    };
    match bench {
        "fib" => {
            let want = fib(n as u64);
            print(seconds, || timed(want, || pool.install(|| fork_fib(n as u64))));
        }
        "queens" => {
            let board = Board { all: (1 << n) - 1, columns: 0, left: 0, right: 0 };
            let want = queens(board);
            print(seconds, || timed(want, || pool.install(|| fork_queens(board))));
        }
        "fan" => print(seconds, || {
            let ran = AtomicI64::new(0);
            timed(n as i64, || {
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
        "sort" => {
            let random = random_numbers(n);
            let mut want = random.clone();
            want.sort_unstable();
            let mut s = random.clone();
            print(seconds, || {
                s.copy_from_slice(&random);
                let start = Instant::now();
                pool.install(|| s.par_sort_unstable());
                let took = start.elapsed();
                if s != want {
                    fail("wrong answer: the numbers are not sorted");
                }
                took
            });
        }
        "run" | "rare" => {
            let mut calls = 0;
            print(seconds, || {
                std::thread::sleep(pause);
                calls += 1;
                let want = calls;
                timed(want, || pool.install(|| calls))
            });
        }
        _ => fail(&format!("rayon does not do {bench}")),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(1)
}

/// Returns how long f takes, whose answer is known.
fn timed<T: PartialEq + std::fmt::Display>(want: T, f: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let got = f();
    let took = start.elapsed();
    if got != want {
        fail(&format!("wrong answer: {got}, want {want}"));
    }
    took
}

/// Prints the median of the repetitions that fit into the time, at least three after the first.
fn print(seconds: f64, mut repeat: impl FnMut() -> Duration) {
    repeat();
    let mut all = Vec::new();
    let start = Instant::now();
    while all.len() < 3 || start.elapsed().as_secs_f64() < seconds {
        all.push(repeat());
    }
    all.sort();
    println!("{}", all[all.len() / 2].as_nanos());
}

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn fork_fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (x, y) = rayon::join(|| fork_fib(n - 1), || fork_fib(n - 2));
    x + y
}

/// A board has queens in its first rows.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    fn free(self) -> u32 {
        self.all & !(self.columns | self.left | self.right)
    }

    fn with(self, column: u32) -> Board {
        Board {
            all: self.all,
            columns: self.columns | column,
            left: (self.left | column) << 1,
            right: (self.right | column) >> 1,
        }
    }
}

fn queens(b: Board) -> u64 {
    if b.columns == b.all {
        return 1;
    }
    let (mut solutions, mut free) = (0, b.free());
    while free != 0 {
        solutions += queens(b.with(free & free.wrapping_neg()));
        free &= free - 1;
    }
    solutions
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

/// The numbers of splitmix64.
fn random_numbers(n: usize) -> Vec<i64> {
    let mut state: u64 = 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_add(0x9e3779b97f4a7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
            (z ^ (z >> 31)) as i64
        })
        .collect()
}
