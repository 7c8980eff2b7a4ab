//! The sorts of the driver of rayon.

use drivers::{Arguments, fail};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::time::Instant;

/// Prints the time of a sort, and returns false if the bench is not one.
pub fn sorts(a: &Arguments, pool: &ThreadPool) -> bool {
    let integers = |input| sorted(a, input, i64::cmp, |s| pool.install(|| s.par_sort_unstable()));
    match a.bench.as_str() {
        "sort" => integers(random(a.n, |x| x as i64)),
        "sort-floats" => {
            let input = random(a.n, |x| (x as i64 >> 11) as f64 / (1u64 << 52) as f64);
            sorted(a, input, f64::total_cmp, |s| pool.install(|| s.par_sort_unstable_by(f64::total_cmp)));
        }
        "sort-strings" => {
            let texts = random(a.n, |x| x.to_string());
            let input = texts.iter().map(String::as_str).collect();
            sorted(a, input, Ord::cmp, |s: &mut [&str]| pool.install(|| s.par_sort_unstable()));
        }
        "sort-few" => integers(random(a.n, |x| (x % 100) as i64)),
        "sort-sorted" => integers(rising(a.n)),
        "sort-reversed" => integers(rising(a.n).into_iter().rev().collect()),
        _ => return false,
    }
    true
}

fn sorted<T: Copy + PartialEq>(
    a: &Arguments,
    input: Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
    sort: impl Fn(&mut [T]),
) {
    let (mut s, mut want) = (input.clone(), input.clone());
    want.sort_unstable_by(order);
    a.print(|| {
        s.copy_from_slice(&input);
        let start = Instant::now();
        sort(&mut s);
        let took = start.elapsed();
        if s != want {
            fail("wrong answer: the elements are not sorted");
        }
        took
    });
}

/// Returns n elements made of the numbers of splitmix64.
fn random<T>(n: usize, mut of: impl FnMut(u64) -> T) -> Vec<T> {
    let mut state: u64 = 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_add(0x9e3779b97f4a7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
            of(z ^ (z >> 31))
        })
        .collect()
}

/// Returns n integers in ascending order, with random differences.
fn rising(n: usize) -> Vec<i64> {
    let mut last = 0;
    random(n, |x| {
        last += (x >> 40) as i64;
        last
    })
}
