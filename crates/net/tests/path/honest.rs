//! The path names the instants at which something ends, and time passes in whatever steps.

use std::time::Duration;

use crate::common::{Draws, later, lines, network};
use pushout_net::{Delivery, Time};

/// Take at the instants that the path names, up to `until`; each delivery is due at that instant.
fn named(path: &mut pushout_net::Path, until: Time, all: &mut Vec<Delivery>) {
    while let Some(now) = path.next().filter(|now| *now <= until) {
        let taken = path.take(now);
        assert!(taken.iter().all(|delivery| delivery.at == now), "at {now}: {taken:?}");
        all.extend(taken);
    }
}

#[test]
fn taking_at_the_named_instants_is_like_taking_every_microsecond() {
    for seed in 100..110 {
        let draws = &mut Draws::new(seed);
        let mut first = network(draws);
        let mut other = first.clone();
        let (mut now, mut all, mut fine) = (Time::ZERO, Vec::new(), Vec::new());
        for _ in 0..40 {
            let next = later(draws, now);
            named(&mut first.path, next, &mut all);
            while now < next {
                now = now + Duration::from_micros(1);
                let taken = other.path.take(now);
                let since = now.picos() - 1_000_000;
                assert!(
                    taken.iter().all(|delivery| (since + 1..=now.picos()).contains(&delivery.at.picos()))
                );
                fine.extend(taken);
            }
            let kept = Draws::new(next.picos());
            first.offer(&mut { kept }, next);
            other.offer(&mut Draws::new(next.picos()), next);
        }
        let end = now + Duration::from_millis(20);
        named(&mut first.path, end, &mut all);
        fine.extend(other.path.take(end));
        assert!(all.len() > 50, "{}", all.len());
        assert_eq!(lines(&all), lines(&fine), "seed {seed}");
    }
}

/// Whatever is called in between, the same offers have the same fates: 10⁵ random calls.
#[test]
fn clones_and_steps_in_between_change_nothing() {
    let mut calls = 0;
    for seed in 200.. {
        let draws = &mut Draws::new(seed);
        let mut traffic = network(draws);
        let mut plain = traffic.clone();
        let (mut now, mut all, mut once) = (Time::ZERO, Vec::new(), Vec::new());
        for step in 0..400 {
            calls += 1;
            match draws.up_to(5) {
                0 => {
                    now = later(draws, now);
                    traffic.offer(&mut Draws::new(seed * 1000 + step), now);
                    plain.offer(&mut Draws::new(seed * 1000 + step), now);
                }
                1 => all.extend(traffic.path.take(now)),
                2 => {
                    if let Some(next) = traffic.path.next().filter(|next| *next <= now) {
                        all.extend(traffic.path.take(next));
                    }
                }
                3 => {
                    let mut astray = traffic.clone();
                    astray.offer(draws, now);
                    astray.path.take(now + Duration::from_millis(draws.up_to(5)));
                }
                4 => traffic = traffic.clone(),
                _ => {
                    let first = traffic.path.next();
                    assert!(first.is_none_or(|next| next >= traffic.path.now()));
                    assert_eq!(first, traffic.path.next());
                }
            }
        }
        let end = now + Duration::from_secs(1);
        all.extend(traffic.path.take(end));
        once.extend(plain.path.take(end));
        assert_eq!(lines(&all), lines(&once), "seed {seed}");
        if calls >= calls_wanted() {
            break;
        }
    }
}

/// A hundred thousand in `make equivalence`, else fewer.
fn calls_wanted() -> u64 {
    if std::env::var_os("PUSHOUT_EQUIVALENCE").is_some() { 100_000 } else { 10_000 }
}
