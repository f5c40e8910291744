//! Longest queue drop on two ports beside the best that any policy can do with the same packets.
//!
//! K. Kobayashi, S. Miyazaki, Y. Okabe (IEICE Transactions E91-D(8), 2008) prove that an optimal policy, which knows all packets to
//! come, sends at most (4M − 4) / (3M − 2) times as many if M is even; if it is odd, it sends up to 4 / 3 times as many. The model is theirs: packets of one size, a memory of M packets,
//! and slots in which packets arrive and then each queue sends one.

use pushout_core::buffer::pushout::longest_queue::{End, Params};
use pushout_core::rng::Stream;

const DEFAULT: Params = Params { end: End::Tail, counts_arrival: true };

/// A memory of two ports in slots: packets arrive, then each queue with something sends one.
#[derive(Clone)]
struct Slots {
    memory: u64,
    queues: [u64; 2],
    sent: u64,
}

impl Slots {
    fn arrive(&mut self, params: &Params, own: usize) {
        if self.queues[0] + self.queues[1] == self.memory {
            let lengths = self.queues.into_iter().enumerate();
            let queues = self.queues;
            let Some(victim) = params.victim(lengths, own, 1, |queue| queues[queue] > 0) else { return };
            self.queues[victim] -= 1;
        }
        self.queues[own] += 1;
    }

    fn send(&mut self) {
        for queue in &mut self.queues {
            self.sent += u64::from(*queue > 0);
            *queue = queue.saturating_sub(1);
        }
    }
}

/// Serve a sequence of slots, each with its arrivals for both ports, by longest queue drop until the memory is empty.
/// Return the number of packets sent.
fn drop_longest(params: &Params, memory: u64, slots: &[[u64; 2]]) -> u64 {
    let mut state = Slots { memory, queues: [0; 2], sent: 0 };
    for arrivals in slots {
        for (own, &packets) in arrivals.iter().enumerate() {
            (0..packets).for_each(|_| state.arrive(params, own));
        }
        state.send();
    }
    (0..memory).for_each(|_| state.send());
    state.sent
}

/// The most that any policy can send, by dynamic programming: packets that are not kept need not be accepted, so a state is
/// how many of each queue are kept.
fn optimum(memory: u64, slots: &[[u64; 2]]) -> u64 {
    let width = memory as usize + 1;
    let mut best = vec![None; width * width];
    best[0] = Some(0u64);
    for arrivals in slots {
        let mut next = vec![None; width * width];
        for a in 0..width as u64 {
            for b in 0..width as u64 - a {
                let Some(sent) = best[a as usize * width + b as usize] else { continue };
                for x in a..=(a + arrivals[0]).min(memory - b) {
                    for y in b..=(b + arrivals[1]).min(memory - x) {
                        let left = [x.saturating_sub(1), y.saturating_sub(1)];
                        let place = &mut next[left[0] as usize * width + left[1] as usize];
                        *place = (*place).max(Some(sent + u64::from(x > 0) + u64::from(y > 0)));
                    }
                }
            }
        }
        best = next;
    }
    let rest = |place: usize| (place / width + place % width) as u64;
    best.iter().enumerate().filter_map(|(place, sent)| sent.map(|sent| sent + rest(place))).max().unwrap()
}

/// By how much, as a quotient, an optimal policy beats longest queue drop on two ports at most: (4M − 4) / (3M − 2) for an even memory, as
/// proven; 4 / 3 for an odd one, by an exact search for the worst cycle with M = 3, 5, 7 and 9.
fn bound(memory: u64) -> (u64, u64) {
    if memory.is_multiple_of(2) { (4 * memory - 4, 3 * memory - 2) } else { (4, 3) }
}

/// The input that reaches the bound in the end: one port gets a packet in each slot, the other all at once whenever it is empty.
fn worst_input(memory: u64, laps: usize) -> Vec<[u64; 2]> {
    let lap = (0..memory - 1).map(|slot| if slot == 0 { [1, memory - 1] } else { [1, 0] });
    let lap: Vec<[u64; 2]> = lap.collect();
    let mut slots = lap.repeat(laps);
    slots[0][0] += (memory - 1) / 2;
    slots
}

/// Check the bound for two ports; returns whether an optimal policy sends more.
fn check_bound(memory: u64, slots: &[[u64; 2]]) -> bool {
    let (most, least) = bound(memory);
    let best = optimum(memory, slots);
    for counts_arrival in [true, false] {
        let sent = drop_longest(&Params { counts_arrival, ..DEFAULT }, memory, slots);
        assert!(sent <= best, "{memory} {slots:?}");
        let holds = best * least <= sent * most;
        assert!(holds, "{memory} {slots:?}: {sent} of {best}, arrivals counted: {counts_arrival}");
    }
    best > drop_longest(&DEFAULT, memory, slots)
}

#[test]
fn on_two_ports_no_input_costs_more_than_the_proven_bound() {
    let mut beaten = 0;
    for (memory, slots) in [(4u64, 4u32), (5, 3), (6, 3)] {
        let choices = (memory + 1) * (memory + 1);
        for mut number in 0..choices.pow(slots) {
            let slots: Vec<[u64; 2]> = (0..slots)
                .map(|_| {
                    let choice = number % choices;
                    number /= choices;
                    [choice / (memory + 1), choice % (memory + 1)]
                })
                .collect();
            beaten += u64::from(check_bound(memory, &slots));
        }
    }
    assert!(beaten > 1000, "an optimal policy sends more for only {beaten} inputs");
}

#[test]
fn the_worst_input_comes_close_to_the_bound_which_is_4_to_3_for_an_odd_memory() {
    for memory in 3..=9 {
        let slots = worst_input(memory, 60);
        check_bound(memory, &slots);
        let (best, sent) = (optimum(memory, &slots), drop_longest(&DEFAULT, memory, &slots));
        let (most, least) = bound(memory);
        assert!(best * least * 100 > sent * most * 99, "{memory}: {best} and {sent}");
        let exceeds = best * (3 * memory - 2) > sent * (4 * memory - 4);
        assert_eq!(
            exceeds,
            !memory.is_multiple_of(2),
            "the proven bound does not hold for an odd memory: {memory}"
        );
    }
}

#[test]
fn nor_does_any_random_one() {
    let mut draw = Stream::new(1, "inputs");
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(300, |count| count.parse().unwrap());
    let beaten = (0..many).filter(|_| {
        let memory = 3 + draw.up_to(6); // up to 9, where the bound for odd ones is known
        let mut slots = worst_input(memory, 1 + draw.up_to(20) as usize);
        // as bad as can be, but for some slots that are drawn anew
        for slot in &mut slots {
            if draw.up_to(7) == 0 {
                *slot = [0, 1].map(|_| draw.up_to(1) * draw.up_to(memory));
            }
        }
        check_bound(memory, &slots)
    });
    assert!(beaten.count() as u64 * 20 > many, "an optimal policy is seldom better");
}
