//! limit-peers PEER PLAN FILE THREADS
//!
//! Checks the keys of FILE with `throttlecrab` or with `governor`, and prints the same figures as
//! limit_store_bench, whose plans and keys these are. `governor` reads its own clock, the fastest it has;
//! `governor-wall` reads the wall clock as throttlecrab's caller does.

use std::io::Read;
use std::num::NonZeroU32;
use std::time::{Instant, SystemTime};

use governor::clock::{Clock, DefaultClock, SystemClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

const KEYS: u32 = 1_000_000;
const SLICE: usize = 200_000;

fn key_of(number: u32) -> String {
    format!("user:{number:015}")
}

fn read_keys(path: &str) -> Vec<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).expect("the keys");
    bytes.chunks_exact(4).map(|four| key_of(u32::from_le_bytes(four.try_into().unwrap()))).collect()
}

fn tokens_of(plan: &str) -> u32 {
    if plan == "open" { 1_000_000_000 } else { 1_000 }
}

/// What this thread has had of a processor, in nanoseconds.
fn cpu_of_thread() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the time of a thread");
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// What some checks came to: how many were admitted, their processor time in nanoseconds, and the seconds of
/// each slice.
type Share = (usize, u64, Vec<f64>);

fn check_share(keys: &[String], mut check: impl FnMut(&String) -> bool) -> Share {
    let before = cpu_of_thread();
    let mut admitted = 0;
    let mut slices = Vec::new();
    for slice in keys.chunks(SLICE) {
        let start = Instant::now();
        admitted += slice.iter().filter(|key| check(key)).count();
        if slice.len() == SLICE {
            slices.push(start.elapsed().as_secs_f64());
        }
    }
    (admitted, cpu_of_thread() - before, slices)
}

/// As limit_store_bench has it.
fn quiet_rate(slices: &[f64]) -> f64 {
    let mut sorted = slices.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 4).map_or(0.0, |seconds| SLICE as f64 / seconds)
}

/// Knows every key, then times `check` over all keys, each thread its share. True: admitted.
fn measure(keys: &[String], threads: usize, check: impl Fn(&String) -> bool + Sync) {
    for number in 0..KEYS {
        assert!(check(&key_of(number)), "a new key was refused");
    }
    let share = keys.len() / threads;
    let start = Instant::now();
    let shares: Vec<Share> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|i| {
                let (mine, check) = (&keys[i * share..(i + 1) * share], &check);
                scope.spawn(move || check_share(mine, check))
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    report(start, share * threads, &shares);
}

fn report(start: Instant, checks: usize, shares: &[Share]) {
    let seconds = start.elapsed().as_secs_f64();
    let admitted: usize = shares.iter().map(|share| share.0).sum();
    let quiet: f64 = shares.iter().map(|share| quiet_rate(&share.2)).sum();
    let cpu_us = shares.iter().map(|share| share.1).sum::<u64>() as f64 / 1e3 / checks as f64;
    println!("rate {:.1}\nquiet_rate {quiet:.1}\ncpu_us {cpu_us:.4}", checks as f64 / seconds);
    println!("admitted {admitted}\nseconds {seconds:.4}");
}

/// One thread only: it has no lock of its own.
fn throttlecrab(keys: &[String], tokens: u32) {
    let store = throttlecrab::PeriodicStore::builder().capacity(KEYS as usize).build();
    let mut limiter = throttlecrab::RateLimiter::new(store);
    let tokens = i64::from(tokens);
    let mut check = |key: &String| limiter.rate_limit(key, tokens, tokens, 1, 1, SystemTime::now()).unwrap().0;
    for number in 0..KEYS {
        assert!(check(&key_of(number)), "a new key was refused");
    }
    let start = Instant::now();
    let share = check_share(keys, check);
    report(start, keys.len(), &[share]);
}

fn governor<C: Clock>(keys: &[String], tokens: u32, threads: usize, clock: C)
where
    C: Sync,
{
    let quota = Quota::per_second(NonZeroU32::new(tokens).unwrap());
    let limiter: RateLimiter<String, DashMapStateStore<String>, C, NoOpMiddleware<C::Instant>> =
        RateLimiter::new(quota, DashMapStateStore::with_capacity(KEYS as usize), clock);
    measure(keys, threads, |key| limiter.check_key(key).is_ok());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [peer, plan, path, threads] = &arguments[..] else {
        eprintln!("usage: limit-peers throttlecrab|governor|governor-wall PLAN FILE THREADS");
        std::process::exit(2);
    };
    let keys = read_keys(path);
    let tokens = tokens_of(plan);
    let threads = threads.parse().expect("a number of threads");
    match peer.as_str() {
        "throttlecrab" => throttlecrab(&keys, tokens),
        "governor" => governor(&keys, tokens, threads, DefaultClock::default()),
        _ => governor(&keys, tokens, threads, SystemClock),
    }
}
