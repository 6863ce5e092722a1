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

/// Knows every key, then times `check` over all keys, each thread its share. True: admitted.
fn measure(keys: &[String], threads: usize, check: impl Fn(&String) -> bool + Sync) {
    for number in 0..KEYS {
        assert!(check(&key_of(number)), "a new key was refused");
    }
    let share = keys.len() / threads;
    let start = Instant::now();
    let admitted: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|i| {
                let (mine, check) = (&keys[i * share..(i + 1) * share], &check);
                scope.spawn(move || mine.iter().filter(|key| check(key)).count())
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    report(start, share * threads, admitted);
}

fn report(start: Instant, checks: usize, admitted: usize) {
    let seconds = start.elapsed().as_secs_f64();
    println!("rate {:.1}\nadmitted {admitted}\nseconds {seconds:.4}", checks as f64 / seconds);
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
    let admitted = keys.iter().filter(|key| check(key)).count();
    report(start, keys.len(), admitted);
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
