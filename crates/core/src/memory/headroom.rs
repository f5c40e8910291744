//! Headroom of a link.
//!
//! *Source*: the calculation of SONiC (`doc/qos/dynamically-headroom-calculation.md`), which switches use:
//!
//! > xoff = lossless MTU + occupancy · (port MTU + 2 · cable + MAC and PHY + peer response)
//!
//! Until a sender stops, the following packets still arrive: the packet of the class that needs the first cell of
//! headroom; packets that the sender sends while the pause frame waits for the largest packet on the line in the
//! other direction (port MTU) and is sent itself, after pause frames of other classes; packets that it sends while
//! bits travel on the cable, in both directions; packets that it sends until it obeys (the peer response, if the class
//! gives one); and the packet that it has begun then. In memory these packets take more room than on the line: at
//! most as much as packets of the worst size (occupancy) that the class carries in large numbers, each together with
//! an acknowledgement if the class carries acknowledgements. A SYN or the short last packet of a file occurs once per
//! flow and is not counted.
//!
//! Two terms are worst cases, so that a run often needs less: that all packets have the worst size, and that the
//! largest packet in the other direction begins just before the pause frame. With packets of one size that fills its
//! cells and no packets in the other direction the sum is exact to a cell.

use crate::buffer::size::CellSize;
use crate::units::{PS_PER_S, Rate, Span};

/// A link that carries a class without losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Rate of the line that carries the class.
    pub rate: Rate,
    /// Rate of the line in the other direction.
    pub back: Rate,
    /// Delay both ways, with the latencies of both nodes.
    pub delay: Span,
    /// Time that the sender needs to obey a pause frame.
    pub response: Span,
    /// Octets of the smallest and of the largest packet that the class carries in large numbers.
    pub packets: (u64, u64),
    /// Octets of an acknowledgement that may come with each of these packets.
    pub acknowledgement: Option<u64>,
    /// Octets of the largest packet in the other direction.
    pub largest_back: u64,
    /// Greatest number of pause frames that may be sent at one instant.
    pub frames: u64,
    /// Octets of a pause frame on the line.
    pub pause: u64,
    /// Size of the memory's cells.
    pub cell: CellSize,
}

impl Link {
    /// Return the headroom in cells.
    pub fn headroom(&self) -> u64 {
        let (_, largest) = self.packets;
        let packets = self.cell.cells(largest);
        let (cells, octets) = self.occupancy();
        let beyond = u128::from(self.propagation()) * u128::from(cells);
        packets + u64::try_from(beyond.div_ceil(u128::from(octets))).unwrap_or(u64::MAX / 2)
    }

    /// Return the greatest number of cells that packets of the class occupy, as a fraction: cells over octets.
    pub fn occupancy(&self) -> (u64, u64) {
        let (smallest, largest) = self.packets;
        let alone = occupancy(self.cell, smallest, largest);
        let Some(ack) = self.acknowledgement else { return alone };
        let both = (alone.0 + self.cell.cells(ack), alone.1 + ack);
        if both.0 * alone.1 > alone.0 * both.1 { both } else { alone }
    }

    /// Return the octets that arrive after the packet that causes the pause.
    pub fn propagation(&self) -> u64 {
        let Terms { waits, frames, cable, response, begun } = self.terms();
        let octets = [waits, frames, cable, response, begun].into_iter().map(u128::from).sum::<u128>();
        u64::try_from(octets).unwrap_or(u64::MAX).min(u64::MAX / 4)
    }

    /// Return the octets that arrive after the packet that causes the pause, term by term.
    pub fn terms(&self) -> Terms {
        let fitting = |octets: u128| u64::try_from(octets).unwrap_or(u64::MAX).min(u64::MAX / 4);
        let meanwhile = |octets: u64| {
            (u128::from(octets) * u128::from(self.rate.0)).div_ceil(u128::from(self.back.0.max(1)))
        };
        let during =
            |time: Span| (u128::from(time.0) * u128::from(self.rate.0)).div_ceil(8 * u128::from(PS_PER_S));
        let frames = self.frames * self.pause;
        let waits = meanwhile(self.largest_back + frames);
        Terms {
            waits: fitting(waits - meanwhile(frames)),
            frames: fitting(meanwhile(frames)),
            cable: fitting(during(self.delay)),
            response: fitting(during(self.delay + self.response) - during(self.delay)),
            begun: self.packets.1,
        }
    }

    /// Return the cells of the octets that leave a queue at the rate of the line, from a frame that lets the sender
    /// resume to the first packet.
    pub fn resumption(&self) -> u64 {
        self.cell.cells(self.propagation())
    }
}

/// The octets that arrive after the packet that causes a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// While the largest packet in the other direction is sent.
    pub waits: u64,
    /// While pause frames are sent.
    pub frames: u64,
    /// While bits travel, in both directions.
    pub cable: u64,
    /// Until the sender obeys.
    pub response: u64,
    /// The packet that the sender has begun.
    pub begun: u64,
}

/// Return the greatest number of cells that packets between two sizes occupy, as a fraction: cells over octets. The
/// worst packet is the smallest one, or the smallest one with a single octet in its last cell.
pub fn occupancy(cell: CellSize, smallest: u64, largest: u64) -> (u64, u64) {
    let (octets, header) = (u64::from(cell.octets), u64::from(cell.header));
    let first_beyond = (smallest + header).div_ceil(octets) * octets + 1 - header;
    let sizes = [smallest, first_beyond.min(largest.max(smallest))];
    let most = sizes.into_iter().max_by(|a, b| {
        let (one, other) = (cell.cells(*a) * b, cell.cells(*b) * a); // compare the quotients
        one.cmp(&other)
    });
    let worst = most.expect("two sizes");
    (cell.cells(worst), worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn cell(octets: u16) -> CellSize {
        CellSize { octets, header: 0 }
    }

    #[test]
    fn small_packets_take_more_memory_than_their_octets_by_the_published_factors() {
        // cell / 64 above 128 octets, else 2 · cell / (1 + cell)
        for (octets, factor) in [(144, 2.25), (192, 3.0), (256, 4.0), (96, 192.0 / 97.0), (80, 160.0 / 81.0)]
        {
            let (cells, of) = occupancy(cell(octets), 64, 9100);
            let found = cells as f64 * f64::from(octets) / of as f64;
            assert!((found - factor).abs() < 1e-12, "{octets}: {found}, not {factor}");
        }
    }

    #[test]
    fn spectrum_2_at_100_gigabits_over_300_metres_has_the_published_headroom() {
        // port MTU 9100, cable twice 18.496 kB, MAC and PHY 0.8 kB, peer response 24.625 kB: the last two as delay; kB of 1024
        let rate = Rate(100_000_000_000);
        let others = 2.0 * 18.496 + 0.8 + 24.625 - 1.0; // a packet of 1024 octets is in the peer response
        let delay = Span((others * 1024.0 * 8.0 / 100e9 * 1e12) as u64);
        let (packets, largest_back, frames) = ((64, 1024), 9100, 0);
        let acknowledgement = None;
        let link = Link {
            rate,
            back: rate,
            delay,
            response: Span::ZERO,
            packets,
            acknowledgement,
            largest_back,
            frames,
            pause: 64,
            cell: cell(144),
        };
        let kilobytes = link.propagation() as f64 / 1024.0;
        assert!((kilobytes - 71.303).abs() < 0.002, "{kilobytes}");
        let xoff = link.headroom() as f64 * 144.0 / 1024.0;
        let rounding = (8.0 * 144.0 - 1024.0 + 144.0) / 1024.0; // whole cells
        assert!((161.431..161.431 + rounding).contains(&xoff), "{xoff}");
    }

    #[test]
    fn a_slow_line_back_delays_the_pause() {
        let base = Link {
            rate: Rate(1_000_000_000),
            back: Rate(1_000_000_000),
            delay: Span::micros(1),
            response: Span::ZERO,
            acknowledgement: None,
            packets: (1000, 1000),
            largest_back: 1500,
            frames: 1,
            pause: 64,
            cell: cell(1000),
        };
        assert_eq!((base.propagation(), base.headroom()), (1500 + 64 + 125 + 1000, 1 + 3));
        let slowly = Link { response: Span::micros(3), ..base };
        assert_eq!(slowly.propagation(), base.propagation() + 375);
        assert_eq!(slowly.terms(), Terms { waits: 1500, frames: 64, cable: 125, response: 375, begun: 1000 });
        let slow = Link { back: Rate(100_000_000), ..base };
        assert_eq!(slow.propagation(), 15_640 + 125 + 1000);
    }
}
