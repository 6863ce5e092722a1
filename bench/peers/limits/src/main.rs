//! limit-peers PEER PLAN FILE
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

/// What the process has had of a processor, in nanoseconds.
fn cpu_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("the processor time");
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// What the slowest of the fastest quarter took, as limit_store_bench has it.
fn quiet_seconds(mut slices: Vec<f64>) -> f64 {
    slices.sort_by(f64::total_cmp);
    slices[slices.len() / 4]
}

/// Knows every key, then times `check` over all keys. True: admitted.
fn measure(keys: &[String], mut check: impl FnMut(&String) -> bool) {
    for number in 0..KEYS {
        assert!(check(&key_of(number)), "a new key was refused");
    }
    let mut admitted = 0;
    let mut slices = Vec::new();
    let (start, cpu_before) = (Instant::now(), cpu_time());
    for slice in keys.chunks_exact(SLICE) {
        let start = Instant::now();
        admitted += slice.iter().filter(|key| check(key)).count();
        slices.push(start.elapsed().as_secs_f64());
    }
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_time() - cpu_before);
    let checks = (slices.len() * SLICE) as f64;
    println!("rate {:.1}\nquiet_rate {:.1}", checks / seconds, SLICE as f64 / quiet_seconds(slices));
    println!("cpu_us {:.4}\nadmitted {admitted}\nseconds {seconds:.4}", cpu as f64 / 1e3 / checks);
}

fn throttlecrab(keys: &[String], tokens: u32) {
    let store = throttlecrab::PeriodicStore::builder().capacity(KEYS as usize).build();
    let mut limiter = throttlecrab::RateLimiter::new(store);
    let tokens = i64::from(tokens);
    measure(keys, |key| limiter.rate_limit(key, tokens, tokens, 1, 1, SystemTime::now()).unwrap().0);
}

fn governor<C: Clock>(keys: &[String], tokens: u32, clock: C) {
    let quota = Quota::per_second(NonZeroU32::new(tokens).unwrap());
    let limiter: RateLimiter<String, DashMapStateStore<String>, C, NoOpMiddleware<C::Instant>> =
        RateLimiter::new(quota, DashMapStateStore::with_capacity(KEYS as usize), clock);
    measure(keys, |key| limiter.check_key(key).is_ok());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [peer, plan, path] = &arguments[..] else {
        eprintln!("usage: limit-peers throttlecrab|governor|governor-wall PLAN FILE");
        std::process::exit(2);
    };
    let keys = read_keys(path);
    let tokens = tokens_of(plan);
    match peer.as_str() {
        "throttlecrab" => throttlecrab(&keys, tokens),
        "governor" => governor(&keys, tokens, DefaultClock::default()),
        _ => governor(&keys, tokens, SystemClock),
    }
}
