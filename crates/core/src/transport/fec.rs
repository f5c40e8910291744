//! # Source
//! Paper 004 (S. Chatterjee, W. Xiao), sections 3 and 4.1; N. Shacham, P. McKenney, "Packet recovery in high-speed
//! networks using coding and buffer management", IEEE INFOCOM 1990; L. Rizzo, "Effective erasure codes for reliable
//! computer communication protocols", ACM CCR 27(2), 1997, for more than one parity packet.
//!
//! # Idea
//! K packets of data and h of parity form a block. A packet arrives or is missing, but is never wrong, so the code
//! only fills gaps: any K of the K + h packets restore the data. One parity packet is the bitwise sum of the others
//! (section 3's equation for c_{K+1,i}); several are the words of a Reed–Solomon code. Within a frame, `parity_cells`
//! p cells of parity are added to its L cells, and any L of the L + p cells restore the frame.
//!
//! # Parameters
//! `parity_cells` p (1: section 4.1 assumes that one lost cell of a packet can be recovered; 0 turns the cell level off).
//! K and h belong to the source `fec-block`. `fcf`, `blf`: the loss budget of a frame in cells and of a block in packets
//! that the circuit negotiates with the switches (section 6), if it is not what its code repairs.
//!
//! # Differences from the paper
//! Nothing is encoded: a block or a frame is decoded exactly when the code could decode it, and a test checks that
//! against real codes. The code is systematic: the data packets that arrived of a block that cannot be decoded are
//! delivered. With parity cells the cells of a frame are numbered (the three octets of the paper's footnote 2, which
//! its 32 cells per packet do not count either), so that losing the EOM joins no frames; without them frames are
//! plain AAL5. A header of 28 octets for IP and UDP is part of every packet; the block number travels in the data.
//!
//! # Complexity
//! Constant per packet.

use super::cargo::{Cargo, Tag, Wire};
use super::{Kind, Needs, Transport, udp};
use crate::adaptation::coded::Code;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::source::{self, Source, Traffic};
use crate::units::Time;

section! {
    /// Packets in blocks with parity.
    pub struct Params {
        /// Parity cells added to every frame: p.
        pub parity_cells: u32 = 1,
        /// Cells of a frame that switches may give up; by default as many as the code repairs.
        pub fcf: Option<u32> = None,
        /// Packets of a block that switches may give up; by default as many as the code repairs.
        pub blf: Option<u32> = None,
    }
}

/// Largest number of parity cells: more would not fit a frame of 65 535 octets.
const MOST_PARITY_CELLS: u32 = 1024;
/// The largest budget that a switch stores for a frame or a block.
const LARGEST_BUDGET: u32 = 1 << 20;

impl Transport for Params {
    fn carries(&self) -> Traffic {
        Traffic::Blocks
    }

    fn header_bytes(&self) -> u32 {
        udp::HEADERS
    }

    fn needs_for(&self, source: &source::Spec) -> Option<Needs> {
        source.packet(udp::HEADERS).map(|(octets, key)| Needs::one_way(octets, key))
    }

    fn parity_cells(&self) -> u32 {
        self.parity_cells
    }

    fn budget(&self, source: &source::Spec) -> Option<Budget> {
        source.code().map(|code| Budget {
            parity_cells: self.parity_cells,
            parity_packets: code.parity.into(),
            cells: self.fcf,
            packets: self.blf,
        })
    }

    fn check(&self) -> Result<(), Refused> {
        if self.parity_cells > MOST_PARITY_CELLS {
            return refuse("parity_cells", format!("must be at most {MOST_PARITY_CELLS}"));
        }
        for (key, budget) in [("fcf", self.fcf), ("blf", self.blf)] {
            if budget.is_some_and(|budget| budget > LARGEST_BUDGET) {
                return refuse(key, format!("must be at most {LARGEST_BUDGET}"));
            }
        }
        Ok(())
    }
}

/// The losses that a circuit repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Cells of a frame that the circuit's code repairs; with 0, only the EOM delimits frames.
    pub parity_cells: u32,
    /// Packets of a block that the circuit's code repairs.
    pub parity_packets: u32,
    /// Cells of a frame that switches may discard, if the circuit has negotiated it.
    pub cells: Option<u32>,
    /// Packets of a block that switches may discard, if the circuit has negotiated it.
    pub packets: Option<u32>,
}

/// The place of a packet: its block, and its position in the block from 0; data packets come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Number of the block.
    pub block: u32,
    /// Position in the block.
    pub index: u16,
}

/// A packet of a block with parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedPacket {
    /// Place of the packet in its block.
    pub label: Label,
    /// Whether the packet is the last one of its block.
    pub ends_block: bool,
    /// Time at which the source handed over the packet for sending.
    pub sent: Time,
}

impl Wire for CodedPacket {
    const TAG: Tag = Tag::of(Kind::Fec as u8);

    #[inline(always)] // see `Segment::pack`
    fn pack(&self) -> Cargo {
        let &CodedPacket { label: Label { block, index }, ends_block, sent } = self;
        let tag = Self::TAG.with(Tag::ENDS_BLOCK, ends_block);
        Cargo { stamp: sent, group: block, index: index.into(), tag, ..Cargo::default() }
    }

    #[inline(always)]
    fn unpack(cargo: &Cargo) -> CodedPacket {
        let label = Label { block: cargo.group, index: cargo.index as u16 };
        CodedPacket { label, ends_block: cargo.tag.has(Tag::ENDS_BLOCK), sent: cargo.stamp }
    }
}

/// The sending end of the code: it labels packets.
#[derive(Clone, Debug)]
pub struct Encoder {
    code: Code,
    next: u64,
    end: Option<u64>,
}

impl Encoder {
    /// Build an encoder that stops after `blocks` blocks.
    pub fn new(code: Code, blocks: Option<u64>) -> Encoder {
        Encoder { code, next: 0, end: blocks.map(|blocks| blocks * u64::from(code.packets())) }
    }

    /// Return the label of the next packet, and advance.
    pub fn take(&mut self) -> Label {
        let (packets, next) = (u64::from(self.code.packets()), self.next);
        self.next += 1;
        Label { block: (next / packets) as u32, index: (next % packets) as u16 }
    }

    /// Return whether the next packet carries data; `None` after the last packet.
    pub fn peek(&self) -> Option<bool> {
        let index = self.next % u64::from(self.code.packets());
        (self.end != Some(self.next)).then_some(index < u64::from(self.code.data))
    }

    /// Return the number of blocks whose packets have all been sent.
    pub fn blocks(&self) -> u32 {
        (self.next / u64::from(self.code.packets())) as u32
    }

    /// Return the number of blocks with at least one sent packet.
    pub fn blocks_begun(&self) -> u32 {
        self.next.div_ceil(u64::from(self.code.packets())) as u32
    }
}

/// Outcomes of blocks that are decided: no more packets can arrive, or further packets change nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockOutcomes {
    /// Data packets that arrived.
    pub received: u64,
    /// Data packets that were lost and recovered.
    pub recovered: u64,
    /// Data packets that are missing after decoding.
    pub lost: u64,
    /// Blocks whose data are complete.
    pub blocks_whole: u64,
    /// Blocks with data missing.
    pub blocks_lost: u64,
}

impl BlockOutcomes {
    /// Return the share of data packets that are available after decoding; `None` without data packets.
    pub fn throughput(&self) -> Option<f64> {
        let there = self.received + self.recovered;
        let all = there + self.lost;
        (all > 0).then(|| there as f64 / all as f64)
    }

    /// Return the sum of two sets of outcomes.
    pub fn plus(self, other: BlockOutcomes) -> BlockOutcomes {
        BlockOutcomes {
            received: self.received + other.received,
            recovered: self.recovered + other.recovered,
            lost: self.lost + other.lost,
            blocks_whole: self.blocks_whole + other.blocks_whole,
            blocks_lost: self.blocks_lost + other.blocks_lost,
        }
    }
}

/// The receiving end of the code: it counts the data packets that are available.
///
/// A packet of a later block closes all blocks before it. A line may hold packets back or repeat them: a packet of a closed block is
/// too late, and a second copy adds nothing.
#[derive(Clone, Debug)]
pub struct Decoder {
    code: Code,
    block: u32,
    arrived: u16,
    data: u16,
    /// For each packet of the open block whether it has arrived.
    seen: Vec<bool>,
    /// The first block that is counted.
    counted_from: u32,
    books: BlockOutcomes,
}

impl Decoder {
    /// Build a decoder that has received no packets.
    pub fn new(code: Code) -> Decoder {
        let seen = vec![false; usize::from(code.packets())];
        Decoder {
            code,
            block: 0,
            arrived: 0,
            data: 0,
            seen,
            counted_from: 0,
            books: BlockOutcomes::default(),
        }
    }

    /// Receive a packet; returns how many packets of data become available.
    pub fn receive(&mut self, label: Label) -> u16 {
        self.close(label.block);
        if label.block < self.block || std::mem::replace(&mut self.seen[usize::from(label.index)], true) {
            return 0;
        }
        let decoded = self.code.decodes(self.arrived);
        self.arrived += 1;
        self.data += u16::from(label.index < self.code.data);
        match (decoded, self.code.decodes(self.arrived)) {
            (true, _) => 0,
            // The data packets that arrived before the packet that completes the block are already counted as
            // available.
            (false, true) => self.code.data - (self.data - u16::from(label.index < self.code.data)),
            (false, false) => u16::from(label.index < self.code.data),
        }
    }

    /// Close the blocks before `block`, since no more of their packets will arrive.
    pub fn close(&mut self, block: u32) {
        while self.block < block {
            if self.counts(self.block) {
                self.enter();
            }
            (self.block, self.arrived, self.data) = (self.block + 1, 0, 0);
            self.seen.fill(false);
        }
    }

    /// Add the outcome of the open block to the counts.
    fn enter(&mut self) {
        let whole = self.code.decodes(self.arrived);
        let missing = u64::from(self.code.data - self.data);
        self.books.received += u64::from(self.data);
        *(if whole { &mut self.books.recovered } else { &mut self.books.lost }) += missing;
        *(if whole { &mut self.books.blocks_whole } else { &mut self.books.blocks_lost }) += 1;
    }

    /// Return whether a block is counted: it began after the last reset.
    pub fn counts(&self, block: u32) -> bool {
        block >= self.counted_from
    }

    /// Return the outcomes of the closed blocks.
    pub fn books(&self) -> BlockOutcomes {
        self.books
    }

    /// Reset the counters, and count from this block on.
    pub fn reset(&mut self, block: u32) {
        (self.books, self.counted_from) = (BlockOutcomes::default(), block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Code = Code { data: 4, parity: 2 };

    /// Return the data packets that become available with each arriving packet of one block, and the outcome of the
    /// block.
    fn block(code: Code, arriving: &[u16]) -> (Vec<u16>, BlockOutcomes) {
        let mut decoder = Decoder::new(code);
        let brought = arriving.iter().map(|&index| decoder.receive(Label { block: 0, index })).collect();
        decoder.close(1);
        (brought, decoder.books())
    }

    fn books(received: u64, recovered: u64, lost: u64) -> BlockOutcomes {
        let blocks_lost = u64::from(lost > 0);
        BlockOutcomes { received, recovered, lost, blocks_whole: 1 - blocks_lost, blocks_lost }
    }

    #[test]
    fn any_k_packets_of_a_block_give_back_its_data() {
        assert_eq!(block(CODE, &[0, 1, 2, 3, 4, 5]), (vec![1, 1, 1, 1, 0, 0], books(4, 0, 0)));
        assert_eq!(block(CODE, &[1, 2, 3, 5]), (vec![1, 1, 1, 1], books(3, 1, 0)));
        assert_eq!(block(CODE, &[0, 3, 4, 5]), (vec![1, 1, 0, 2], books(2, 2, 0)));
    }

    #[test]
    fn with_fewer_than_k_the_data_packets_that_came_are_all_there_is() {
        assert_eq!(block(CODE, &[0, 3, 5]), (vec![1, 1, 0], books(2, 0, 2)));
        assert_eq!(block(CODE, &[]), (vec![], books(0, 0, 4)));
    }

    #[test]
    fn without_parity_every_loss_costs_its_block() {
        let plain = Code { data: 3, parity: 0 };
        assert_eq!(block(plain, &[0, 1, 2]).1, books(3, 0, 0));
        assert_eq!(block(plain, &[0, 2]).1, books(2, 0, 1));
    }

    #[test]
    fn a_second_copy_and_a_packet_of_a_closed_block_add_nothing() {
        assert_eq!(block(CODE, &[0, 1, 1, 1, 1]), (vec![1, 1, 0, 0, 0], books(2, 0, 2)));
        let mut decoder = Decoder::new(CODE);
        let arriving = [(1, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 4)];
        let brought = arriving.map(|(block, index)| decoder.receive(Label { block, index }));
        assert_eq!(brought, [1, 0, 0, 1, 1, 1]);
        decoder.close(2);
        assert_eq!(
            decoder.books(),
            BlockOutcomes { received: 3, recovered: 1, lost: 4, blocks_whole: 1, blocks_lost: 1 }
        );
    }

    #[test]
    fn blocks_of_which_nothing_arrived_are_lost() {
        let mut decoder = Decoder::new(CODE);
        decoder.receive(Label { block: 3, index: 0 });
        decoder.close(4);
        assert_eq!(
            decoder.books(),
            BlockOutcomes { received: 1, lost: 15, blocks_lost: 4, ..BlockOutcomes::default() }
        );
        assert_eq!(decoder.books().throughput(), Some(1.0 / 16.0));
    }

    #[test]
    fn of_blocks_that_begin_before_a_reset_nothing_is_counted_after_it() {
        let mut encoder = Encoder::new(CODE, None);
        let mut decoder = Decoder::new(CODE);
        assert_eq!(encoder.blocks_begun(), 0);
        for _ in 0..8 {
            let label = encoder.take(); // all of block 0, two packets of block 1
            decoder.receive(label);
        }
        assert_eq!((encoder.blocks(), encoder.blocks_begun()), (1, 2));
        decoder.reset(encoder.blocks_begun());
        for _ in 8..18 {
            decoder.receive(encoder.take()); // the rest of block 1, all of block 2
        }
        decoder.close(encoder.blocks());
        assert!(!decoder.counts(1) && decoder.counts(2));
        assert_eq!(decoder.books(), books(4, 0, 0));
    }

    #[test]
    fn parity_follows_the_data_of_its_block() {
        let mut encoder = Encoder::new(CODE, Some(2));
        let mut sent = Vec::new();
        while let Some(data) = encoder.peek() {
            let label = encoder.take();
            sent.push((label.block, label.index, data));
        }
        assert_eq!(sent.len(), 12);
        assert_eq!(sent[3..7], [(0, 3, true), (0, 4, false), (0, 5, false), (1, 0, true)]);
        assert_eq!(encoder.blocks(), 2);
    }
}
