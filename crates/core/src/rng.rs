//! Random numbers: one named, counter-based stream per component.
//!
//! A stream is Philox4x32-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) keyed by
//! the scenario's seed and the component's path, as in `Stream::new(seed, "flow.3.start")`. No stream depends on how
//! much others have drawn, so adding a component does not change the draws of another one: the same traffic can be
//! offered to several policies (common random numbers). All streams count from zero and differ by their keys of 64
//! bits, a hash of seed and path: among n components some two have equal numbers with a probability of about n² /
//! 2⁶⁵, which is 3 · 10⁻⁸ for a million. The generator is pinned by test vectors; logarithms come from a portable
//! library, so that draws are equal on every machine.
//!
//! A component that decides about units draws from [`Keyed`]: there a number depends on its [`Subject`], such as a
//! unit, and not on how many numbers were drawn before. If one packet is removed from a run, the draws for all other
//! packets keep their values. A subject has the number of its circuit, which depends on the other circuits; the numbers are
//! drawn by the circuit's name, from [`NameKeys`], so that a further flow, or flows in another order, change no draw.

use crate::units::ids::CircuitId;

use std::cell::Cell;
use std::fmt::{self, Display, Write};
use std::sync::Arc;

thread_local! {
    /// True if this thread has drawn a number since [`watching`] began.
    static HAS_DRAWN: Cell<bool> = const { Cell::new(false) };
}

/// Return the result of `work`, and whether `work` drew a number in this thread; without draws every seed gives this
/// result.
pub(crate) fn watching<T>(work: impl FnOnce() -> T) -> (T, bool) {
    HAS_DRAWN.set(false);
    let result = work();
    (result, HAS_DRAWN.get())
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: u64,
    /// The numbers of the latest two blocks.
    numbers: [u32; 2 * BLOCK],
    used: usize,
}

impl Stream {
    /// Build the stream of the component at `path` under `seed`.
    pub fn new(seed: u64, path: impl Display) -> Stream {
        let key = path_key(seed, path);
        Stream { key: [key as u32, (key >> 32) as u32], counter: 0, numbers: [0; 2 * BLOCK], used: 2 * BLOCK }
    }

    /// Return the numbers of a part of this component, which do not depend on what the stream has drawn.
    pub fn part(&self, name: impl Display) -> Keyed {
        Keyed::new(joined(self.key[1], self.key[0]), name)
    }

    /// Return 32 uniformly distributed bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.used == self.numbers.len() {
            self.refill();
        }
        self.used += 1;
        self.numbers[self.used - 1]
    }

    /// Compute the next two blocks.
    fn refill(&mut self) {
        let block = |counter: u64| [counter as u32, (counter >> 32) as u32, 0, 0];
        let blocks = philox([block(self.counter), block(self.counter + 1)], self.key);
        self.numbers.copy_from_slice(blocks.as_flattened());
        HAS_DRAWN.set(true);
        self.counter += 2;
        self.used = 0;
    }

    /// Return 64 uniformly distributed bits.
    pub fn next_u64(&mut self) -> u64 {
        joined(self.next_u32(), self.next_u32())
    }

    /// Return a number uniform on `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        fraction(self.next_u64())
    }

    /// Return an integer uniform on `0..=limit`, without bias. Nothing is drawn for a limit of 0.
    pub fn up_to(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { whole_up_to(limit, || self.next_u64()) }
    }

    /// Return true with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Return a number exponentially distributed with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }
}

/// The subject of random numbers, for which they are drawn: a unit, an instant or a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject([u32; 3]);

impl Subject {
    /// Return the subject for unit `index` of the packet with this identity on a circuit.
    #[inline]
    pub fn unit(circuit: u32, identity: u32, index: u16) -> Subject {
        Subject([circuit, identity, index.into()])
    }

    /// Return the subject for decisions about this unit at the head of its queue, which are independent of those at
    /// its arrival.
    pub fn at_head(self) -> Subject {
        let Subject([first, second, third]) = self;
        Subject([first, second, third | AT_HEAD])
    }

    /// Return the subject for decisions that concern no unit, at the instant `ps` in picoseconds; `place`
    /// distinguishes several decisions at one instant.
    pub fn instant(ps: u64, place: usize) -> Subject {
        Subject([ps as u32, (ps >> 32) as u32, INSTANT | place as u32])
    }

    /// Return the subject for decisions about a circuit.
    pub fn circuit(circuit: CircuitId) -> Subject {
        Subject([circuit.0, 0, CIRCUIT])
    }
}

/// Marks in the last word of a subject, above every index of a unit.
const AT_HEAD: u32 = 1 << 16;
const INSTANT: u32 = 1 << 30;
const CIRCUIT: u32 = 1 << 31;

/// Hashes of the names of components that have numbers, such as circuits or lines: what depends on a component by its hash
/// does not depend on which others there are.
#[derive(Clone, Debug, PartialEq)]
pub struct NameKeys(Option<Arc<[u64]>>);

/// Components without names, whose keys are their numbers: for tests of single parts, and memories without a network.
pub static UNNAMED: NameKeys = NameKeys(None);

impl NameKeys {
    /// Build the keys of components with these names, in the order of their numbers.
    pub fn new(names: impl Iterator<Item = impl Display>) -> NameKeys {
        NameKeys(Some(names.map(|name| path_key(0, name)).collect()))
    }

    /// Return the key of the component with this number.
    #[inline]
    pub fn of(&self, number: u32) -> u64 {
        self.0.as_ref().map_or(number.into(), |keys| keys[number as usize])
    }
}

/// The random numbers of one component, keyed by their subject.
#[derive(Clone, Debug)]
pub struct Keyed {
    key: [u32; 2],
    circuits: NameKeys,
}

impl Keyed {
    /// Build the numbers of the component at `path` under `seed`, for subjects that belong to no circuit of a network.
    pub fn new(seed: u64, path: impl Display) -> Keyed {
        let key = path_key(seed, path);
        Keyed { key: [key as u32, (key >> 32) as u32], circuits: UNNAMED.clone() }
    }

    /// Return the component's numbers for subjects that belong to circuits with these keys.
    pub fn about_circuits(self, circuits: &NameKeys) -> Keyed {
        Keyed { circuits: circuits.clone(), ..self }
    }

    /// Return the key of the generator and its counter for a subject: the key of the subject's circuit is divided among both.
    #[inline(always)]
    fn place(&self, Subject([first, second, third]): Subject) -> ([u32; 2], Subject) {
        let [low, high] = self.key;
        if third & INSTANT != 0 {
            return (self.key, Subject([first, second, third]));
        }
        let circuit = self.circuits.of(first);
        ([low, high ^ (circuit >> 32) as u32], Subject([circuit as u32, second, third]))
    }

    /// Return the numbers for a subject: every call gives equal numbers in equal order.
    #[inline]
    pub fn about(&self, subject: Subject) -> Draws {
        let (key, subject) = self.place(subject);
        Draws { key, subject, block: 0, numbers: [0; BLOCK], used: BLOCK }
    }

    /// Return the first number for a subject, uniform on `[0, 1)`. In a loop over units of one frame only what depends
    /// on the index is computed each time.
    #[inline(always)]
    pub fn unit(&self, subject: Subject) -> f64 {
        fraction(self.first(subject))
    }

    /// Return an integer uniform on `0..=limit` for a subject, without bias: the first number that [`Keyed::about`] would
    /// give. Nothing is drawn for a limit of 0.
    #[inline]
    pub fn up_to(&self, subject: Subject, limit: u64) -> u64 {
        match limit.checked_add(1) {
            Some(range) if limit > 0 => {
                within(self.first(subject), range).unwrap_or_else(|| self.about(subject).up_to(limit))
            }
            _ => self.about(subject).up_to(limit),
        }
    }

    /// Return the first 64 bits for a subject.
    #[inline(always)]
    fn first(&self, subject: Subject) -> u64 {
        let (key, Subject([first, second, third])) = self.place(subject);
        let [high, low, ..] = philox_block([0, first, second, third], key);
        HAS_DRAWN.set(true);
        #[cfg(test)]
        self.about(subject).refill();
        joined(high, low)
    }
}

/// The random numbers of one component for one subject.
#[derive(Clone, Debug)]
pub struct Draws {
    key: [u32; 2],
    /// The subject, with the lower half of its circuit's key.
    subject: Subject,
    block: u32,
    numbers: [u32; BLOCK],
    used: usize,
}

impl Draws {
    /// Return 64 uniformly distributed bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if self.used == BLOCK {
            self.refill();
        }
        self.used += 2;
        joined(self.numbers[self.used - 2], self.numbers[self.used - 1])
    }

    /// Compute the next block.
    #[inline]
    fn refill(&mut self) {
        let Subject([first, second, third]) = self.subject;
        self.numbers = philox_block([self.block, first, second, third], self.key);
        HAS_DRAWN.set(true);
        #[cfg(test)]
        log::note(self);
        self.block += 1;
        self.used = 0;
    }

    /// Return a number uniform on `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        fraction(self.next_u64())
    }

    /// Return true with the given probability.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Return an integer uniform on `0..=limit`, without bias. Nothing is drawn for a limit of 0.
    pub fn up_to(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { whole_up_to(limit, || self.next_u64()) }
    }
}

/// The random numbers of one component that may make several decisions about a subject, each with any number of
/// draws.
#[derive(Clone, Debug)]
pub struct Dice {
    keyed: Keyed,
    subject: Subject,
    draws: Draws,
}

impl Dice {
    /// Build the dice of a component that has these numbers.
    pub fn new(keyed: Keyed) -> Dice {
        let subject = Subject::instant(0, 0);
        Dice { draws: keyed.about(subject), keyed, subject }
    }

    /// Return the numbers for a subject; if the last call was for this subject too, the numbers after those already
    /// drawn.
    #[inline]
    pub fn about(&mut self, subject: Subject) -> &mut Draws {
        if self.subject != subject {
            (self.subject, self.draws) = (subject, self.keyed.about(subject));
        }
        &mut self.draws
    }
}

/// Join two numbers of 32 bits to one of 64 bits.
#[inline]
fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Return the 53 highest bits as a fraction of 1.
#[inline]
fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Return an integer uniform on `0..=limit`, without bias, from random numbers of 64 bits.
fn whole_up_to(limit: u64, mut next: impl FnMut() -> u64) -> u64 {
    let Some(range) = limit.checked_add(1) else { return next() };
    loop {
        if let Some(number) = within(next(), range) {
            return number;
        }
    }
}

/// Reduce random bits to `0..range`; `None` for those of the last, incomplete range, which would favour small numbers.
#[inline]
fn within(draw: u64, range: u64) -> Option<u64> {
    let number = draw % range;
    (draw - number <= u64::MAX - (range - 1)).then_some(number)
}

/// Return a number that depends on the seed and on the component's `path`.
pub(crate) fn path_key(seed: u64, path: impl Display) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    write!(hash, "{path}").expect("a hash takes everything");
    mix(mix(hash.0) ^ mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// The FNV-1a hash of a path that is written piece by piece, so that the path need not be assembled in memory.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text
            .bytes()
            .fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(())
    }
}

/// Mix the bits of a number by the finaliser of SplitMix64: every input bit affects every output bit.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Compute Philox4x32 with ten rounds for two counters at once: a round depends on the previous round of its own
/// counter only, so the processor can overlap the two.
///
/// The two counters are written out, because `map` over the array was compiled to calls, which took a fifth of the
/// time of study 004.
fn philox([mut first, mut second]: [[u32; BLOCK]; 2], mut key: [u32; 2]) -> [[u32; BLOCK]; 2] {
    for _ in 0..10 {
        first = round(first, key);
        second = round(second, key);
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    [first, second]
}

/// Compute Philox4x32 with ten rounds for one counter.
#[inline(always)]
fn philox_block(mut counter: [u32; BLOCK], mut key: [u32; 2]) -> [u32; BLOCK] {
    for _ in 0..10 {
        counter = round(counter, key);
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

#[inline]
fn round(counter: [u32; BLOCK], key: [u32; 2]) -> [u32; BLOCK] {
    let left = u64::from(counter[0]) * 0xd251_1f53;
    let right = u64::from(counter[2]) * 0xcd9e_8d57;
    [
        (right >> 32) as u32 ^ counter[1] ^ key[0],
        right as u32,
        (left >> 32) as u32 ^ counter[3] ^ key[1],
        left as u32,
    ]
}

/// Number of random numbers from one counter.
const BLOCK: usize = 4;

/// A log of draws, for tests that check each draw.
#[cfg(test)]
pub(crate) mod log {
    use super::{BLOCK, Draws, Subject};
    use std::cell::RefCell;

    /// A block of drawn numbers: the key of the component that drew them, their subject, the number of the block
    /// among the blocks of this subject, and the drawn numbers.
    pub(crate) type DrawnBlock = ([u32; 2], Subject, u32, [u32; BLOCK]);

    thread_local! {
        static DRAWN: RefCell<Option<Vec<DrawnBlock>>> = const { RefCell::new(None) };
    }

    pub(super) fn note(draws: &Draws) {
        let Draws { key, subject, block, numbers, .. } = *draws;
        DRAWN.with_borrow_mut(|drawn| {
            drawn.iter_mut().for_each(|drawn| drawn.push((key, subject, block, numbers)))
        });
    }

    /// Return every block that is drawn in this thread during `work`.
    pub(crate) fn during(work: impl FnOnce()) -> Vec<DrawnBlock> {
        DRAWN.set(Some(Vec::new()));
        work();
        DRAWN.take().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_test_vectors() {
        // kat_vectors of the authors' Random123 distribution, philox4x32 10
        let zeros = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
        let ones = [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd];
        let pi = [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1];
        assert_eq!(philox([[0; 4], [0; 4]], [0; 2]), [zeros, zeros]);
        assert_eq!(philox([[!0; 4], [!0; 4]], [!0; 2]), [ones, ones]);
        let counter = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        assert_eq!(philox([counter, [0; 4]], [0xa409_3822, 0x299f_31d0])[0], pi);
    }

    #[test]
    fn numbers_come_in_the_order_of_their_counters() {
        let mut stream = Stream::new(7, "test");
        let block = |counter: u32| philox([[counter, 0, 0, 0], [0; 4]], Stream::new(7, "test").key)[0];
        for number in (0..5).flat_map(block) {
            assert_eq!(stream.next_u32(), number);
        }
    }

    #[test]
    fn a_number_depends_on_its_subject_and_not_on_those_before() {
        let keyed = Keyed::new(7, "test");
        let unit = |identity, index| keyed.unit(Subject::unit(3, identity, index));
        let first = unit(0, 0);
        assert_eq!(first, unit(0, 0));
        let mut all = vec![first, unit(1, 0), unit(0, 1), keyed.unit(Subject::unit(4, 0, 0))];
        all.extend([keyed.unit(Subject::instant(3, 0)), keyed.unit(Subject::circuit(CircuitId(3)))]);
        all.extend([
            Keyed::new(8, "test").unit(Subject::unit(3, 0, 0)),
            Keyed::new(7, "other").unit(Subject::unit(3, 0, 0)),
        ]);
        all.sort_by(f64::total_cmp);
        all.dedup();
        assert_eq!(all.len(), 8, "each subject, component and seed has numbers of its own");
    }

    #[test]
    fn numbers_depend_on_the_name_of_a_circuit_and_not_on_its_number() {
        let drawn = |names: &[&str], number| {
            let circuits = NameKeys::new(names.iter());
            let keyed = Keyed::new(7, "test").about_circuits(&circuits);
            let (unit, circuit) = (Subject::unit(number, 9, 2), Subject::circuit(CircuitId(number)));
            let (unit, at_head) = (keyed.unit(unit), keyed.unit(unit.at_head()));
            [unit, at_head, keyed.unit(circuit), Dice::new(keyed.clone()).about(circuit).unit()]
        };
        assert_eq!(drawn(&["a", "b"], 1), drawn(&["new", "b", "a"], 1));
        assert_eq!(drawn(&["a", "b"], 0), drawn(&["new", "b", "a"], 2));
        let (one, other) = (drawn(&["a", "b"], 0), drawn(&["a", "b"], 1));
        assert!(one.iter().zip(other).all(|(one, other)| *one != other), "{one:?} {other:?}");
    }

    #[test]
    fn numbers_about_a_subject_are_those_of_its_counters() {
        let keyed = Keyed::new(7, "test");
        let block = |block| philox([[block, 3, 9, 2], [0; 4]], keyed.key)[0];
        let mut draws = keyed.about(Subject::unit(3, 9, 2));
        for pair in [block(0), block(1)].as_flattened().chunks(2) {
            assert_eq!(draws.next_u64(), joined(pair[0], pair[1]));
        }
    }

    #[test]
    fn numbers_about_neighbouring_subjects_are_uniform_and_independent() {
        let keyed = Keyed::new(7, "test");
        let numbers: Vec<f64> =
            (0..100_000).map(|identity| keyed.unit(Subject::unit(1, identity, 0))).collect();
        let mean = |of: &dyn Fn(&[f64]) -> f64| numbers.windows(2).map(of).sum::<f64>() / 99_999.0;
        assert!((mean(&|pair| pair[0]) - 0.5).abs() < 0.005);
        assert!((mean(&|pair| pair[0] * pair[0]) - 1.0 / 3.0).abs() < 0.005);
        assert!((mean(&|pair| pair[0] * pair[1]) - 0.25).abs() < 0.005);
    }

    #[test]
    fn streams_depend_on_seed_and_path_and_on_nothing_else() {
        let draw = |seed, path| Stream::new(seed, path).next_u64();
        assert_eq!(draw(1, "flow.0"), draw(1, "flow.0"));
        assert_ne!(draw(1, "flow.0"), draw(2, "flow.0"));
        assert_ne!(draw(1, "flow.0"), draw(1, "flow.1"));
    }

    #[test]
    fn means_are_where_they_should_be() {
        let mut stream = Stream::new(7, "test");
        let n = 100_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || stream.unit()) - 0.5).abs() < 0.005);
        assert!((mean(&mut || stream.exponential()) - 1.0).abs() < 0.015);
        assert!((mean(&mut || stream.up_to(9) as f64) - 4.5).abs() < 0.05);
    }
}
