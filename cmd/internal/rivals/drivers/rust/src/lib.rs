//! What the drivers in Rust share: the arguments, the clock, the checks and the output. doc.go says what a driver does.

use std::process::exit;
use std::time::{Duration, Instant};

pub struct Arguments {
    pub bench: String,
    pub workers: usize,
    pub n: usize,
    seconds: f64,
}

impl Arguments {
    pub fn parse() -> Arguments {
        let args: Vec<String> = std::env::args().collect();
        if args.len() != 5 {
            eprintln!("usage: driver BENCH WORKERS SIZE SECONDS");
            exit(2);
        }
        Arguments {
            bench: args[1].clone(),
            workers: args[2].parse().unwrap(),
            n: args[3].parse().unwrap(),
            seconds: args[4].parse().unwrap(),
        }
    }

    /// Prints the median of the repetitions that fit into the time, at least three after the first.
    pub fn print(&self, mut repeat: impl FnMut() -> Duration) {
        repeat();
        let mut all = Vec::new();
        let start = Instant::now();
        while all.len() < 3 || start.elapsed().as_secs_f64() < self.seconds {
            all.push(repeat());
        }
        all.sort();
        println!("{}", all[all.len() / 2].as_nanos());
    }

    /// Prints the time of f, whose answer is known.
    pub fn answer(&self, want: u64, mut f: impl FnMut() -> u64) {
        self.print(|| timed(want, &mut f));
    }
}

pub fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(1)
}

/// Returns how long f takes, whose answer is known.
pub fn timed<T: PartialEq + std::fmt::Display>(want: T, f: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let got = f();
    let took = start.elapsed();
    if got != want {
        fail(&format!("wrong answer: {got}, want {want}"));
    }
    took
}

pub fn fib(n: usize) -> u64 {
    if n < 2 { n as u64 } else { fib(n - 1) + fib(n - 2) }
}

/// A board has queens in its first rows.
#[derive(Clone, Copy)]
pub struct Board {
    pub all: u32,
    pub columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    pub fn empty(n: usize) -> Board {
        Board { all: (1 << n) - 1, columns: 0, left: 0, right: 0 }
    }

    pub fn free(self) -> u32 {
        self.all & !(self.columns | self.left | self.right)
    }

    pub fn with(self, column: u32) -> Board {
        Board {
            all: self.all,
            columns: self.columns | column,
            left: (self.left | column) << 1,
            right: (self.right | column) >> 1,
        }
    }
}

pub fn queens(b: Board) -> u64 {
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

pub const FAT_CHILDREN: u64 = 64;

/// Returns the nodes of a tree.
pub fn nodes(children: u64, depth: usize) -> u64 {
    if depth == 0 { 1 } else { 1 + children * nodes(children, depth - 1) }
}
