//! Random numbers: one named, counter-based stream per component.
//!
//! A stream is Philox4x32-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011)
//! keyed by the scenario's seed and the component's path, as in `Stream::new(seed, "flow.3.start")`. No stream
//! depends on how much others have drawn, so adding a component does not change the draws of another one: the same
//! traffic can be offered to several policies (common random numbers). All streams count from zero and differ by their
//! keys of 64 bits, a hash of seed and path: of n components two have the same numbers with a probability of about
//! n² / 2⁶⁵, which is 3 · 10⁻⁸ for a million. The generator is pinned by test vectors; logarithms come from a portable
//! library, so that the same draws come out on every machine.

use std::fmt::{self, Display, Write};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: u64,
    /// The numbers of two blocks.
    numbers: [u32; 2 * BLOCK],
    used: usize,
}

impl Stream {
    /// The stream of the component at `path` under `seed`.
    pub fn new(seed: u64, path: impl Display) -> Stream {
        let key = path_key(seed, path);
        Stream { key: [key as u32, (key >> 32) as u32], counter: 0, numbers: [0; 2 * BLOCK], used: 2 * BLOCK }
    }

    /// 32 uniformly distributed bits.
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
        self.counter += 2;
        self.used = 0;
    }

    /// 64 uniformly distributed bits.
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) << 32 | u64::from(self.next_u32())
    }

    /// Uniform on `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform on the integers `0..=limit`, without bias.
    pub fn up_to(&mut self, limit: u64) -> u64 {
        let Some(range) = limit.checked_add(1) else { return self.next_u64() };
        let zone = u64::MAX - (u64::MAX - limit) % range;
        loop {
            let draw = self.next_u64();
            if draw <= zone {
                return draw % range;
            }
        }
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Exponentially distributed with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }
}

/// A number that is the component's at `path` under `seed`.
pub(crate) fn path_key(seed: u64, path: impl Display) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    write!(hash, "{path}").expect("a hash takes everything");
    mix(mix(hash.0) ^ mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// FNV-1a of a path that is written piece by piece, so that it need not be assembled in memory.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text
            .bytes()
            .fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(())
    }
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Philox4x32 with ten rounds, for two counters: a round must wait for the previous one, but not for the other
/// counter's.
///
/// The two are written out: `map` over the array was compiled to calls, and took a fifth of study 004.
fn philox([mut first, mut second]: [[u32; BLOCK]; 2], mut key: [u32; 2]) -> [[u32; BLOCK]; 2] {
    for _ in 0..10 {
        first = round(first, key);
        second = round(second, key);
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    [first, second]
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

/// Numbers from one counter.
const BLOCK: usize = 4;

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
