//! Writes packets as a capture file for Wireshark: draft-ietf-opsawg-pcapng.
//!
//! Every port is an interface, time is in picoseconds since the start of the run, and a packet that was not sent
//! completely has a comment with the reason. Headers are kept, data are not. A packet on a cell link is shown as AAL5
//! reassembles it, under the VPI and VCI of its circuit.
//!
//! Programs based on libpcap read a file only if all its interfaces have one link type, whose number is the same
//! within libpcap as in the file (not so for 101, raw IP). So packets on cell links are shown as IP packets if packet
//! links are traced as well, and a single cell, which is not an IP packet, as an IP packet of protocol 253.

use super::TracedPacket;
use super::headers::{Image, image, stand_in};
use crate::adaptation::Framing;
use crate::scenario::model::{Medium, Scenario};
use crate::units::ids::{IdVec, LineId};
use crate::units::{CELL_PAYLOAD, Time};

/// Return the capture file of packets at these ports; the interfaces have the order of `ports`.
pub fn pcapng(scenario: &Scenario, ports: &[LineId], packets: &[TracedPacket]) -> Vec<u8> {
    let mut file = Vec::new();
    let application = format!("pushout {}", env!("CARGO_PKG_VERSION"));
    let comment = format!("{}, seed {}", scenario.name, scenario.seed);
    let mut section = Vec::new();
    section.extend(0x1a2b_3c4d_u32.to_le_bytes());
    section.extend([1, 0, 0, 0]); // version 1.0
    section.extend(u64::MAX.to_le_bytes()); // the length of the section is not given
    options(&mut section, &[(COMMENT, comment.as_bytes()), (APPLICATION, application.as_bytes())]);
    block(&mut file, SECTION, &section);
    let link = link_type(scenario, ports);
    let mut interfaces: IdVec<LineId, _> = IdVec::filled(None, scenario.lines.len());
    for (number, &port) in (0u32..).zip(ports) {
        let line = &scenario.lines[port];
        interfaces[port] = Some(number);
        let mut interface = Vec::new();
        interface.extend(link.to_le_bytes());
        interface.extend([0; 6]); // reserved; no limit to what is kept
        options(
            &mut interface,
            &[(NAME, line.name.as_bytes()), (SPEED, &line.rate.peak().0.to_le_bytes()), (RESOLUTION, &[12])],
        );
        block(&mut file, INTERFACE, &interface);
    }
    for packet in packets {
        let interface = interfaces[packet.port].expect("packets are kept of traced ports only");
        let image = if link == SUNATM { on_atm(scenario, packet) } else { plain(scenario, packet) };
        block(&mut file, PACKET, &enhanced(interface, packet, image));
    }
    file
}

/// Return the common link type of all these ports.
fn link_type(scenario: &Scenario, ports: &[LineId]) -> u16 {
    let is_cells = |&port: &LineId| scenario.lines[port].medium == Medium::Cells;
    if ports.iter().all(is_cells) { SUNATM } else { IPV4 }
}

fn enhanced(interface: u32, packet: &TracedPacket, image: Image) -> Vec<u8> {
    let Image { octets, length } = image;
    let time = packet.done.since(Time::ZERO).0;
    let mut block = Vec::with_capacity(64 + octets.len());
    block.extend(interface.to_le_bytes());
    block.extend(((time >> 32) as u32).to_le_bytes());
    block.extend((time as u32).to_le_bytes());
    block.extend((octets.len() as u32).to_le_bytes());
    block.extend(length.to_le_bytes());
    block.extend(&octets);
    pad(&mut block);
    if let Some(comment) = comment(packet) {
        options(&mut block, &[(COMMENT, comment.as_bytes())]);
    }
    block
}

/// Return the reason why a packet was not sent completely, if it was not.
fn comment(packet: &TracedPacket) -> Option<String> {
    let of = |count: u16| {
        if packet.units == 1 { String::new() } else { format!(" {count} of {} cells", packet.units) }
    };
    match packet.reason {
        Some(reason) => Some(format!("lost{}: {}", of(packet.lost), reason.word())),
        None if packet.queued() > 0 => Some(format!("still queued{}", of(packet.queued()))),
        None => None,
    }
}

/// Return a packet as an IP packet without a link header.
fn plain(scenario: &Scenario, packet: &TracedPacket) -> Image {
    image(scenario, packet).unwrap_or_else(|| stand_in(scenario, packet))
}

/// Return a packet with the header of a SunATM capture and, if its circuit has it, the LLC/SNAP header (RFC 1483,
/// section 4.1).
fn on_atm(scenario: &Scenario, packet: &TracedPacket) -> Image {
    let vci = packet.vc.0 + FIRST_VCI;
    let framing = scenario.vcs[packet.vc].framing;
    let has_llc = matches!(framing, Framing::Aal5 { llc_snap: true, .. });
    let inner = image(scenario, packet);
    let kind = if inner.is_some() && has_llc { LLC } else { UNKNOWN };
    let mut octets = vec![kind, (vci >> 16) as u8];
    octets.extend((vci as u16).to_be_bytes());
    let Some(Image { octets: packet, length }) = inner else {
        return Image { length: octets.len() as u32 + CELL_PAYLOAD as u32, octets };
    };
    if has_llc {
        octets.extend([0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00]);
    }
    let length = octets.len() as u32 + length;
    octets.extend(packet);
    Image { octets, length }
}

/// Write a block: its kind, and its length before and after.
fn block(file: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let length = (12 + body.len()) as u32;
    file.extend(kind.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(body);
    file.extend(length.to_le_bytes());
}

/// Write options, each with code and length, and the option that ends them.
fn options(body: &mut Vec<u8>, list: &[(u16, &[u8])]) {
    for (code, value) in list {
        body.extend(code.to_le_bytes());
        body.extend((value.len() as u16).to_le_bytes());
        body.extend(*value);
        pad(body);
    }
    body.extend([0; 4]);
}

/// Pad to a multiple of four octets.
fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const SPEED: u16 = 8;
const RESOLUTION: u16 = 9;
/// Link type of IPv4 packets without a link header.
const IPV4: u16 = 228;
/// Link type of AAL5 payload, after an octet of flags, the VPI and the VCI.
const SUNATM: u16 = 123;
/// Flags of LLC-multiplexed traffic.
const LLC: u8 = 2;
/// Flags of other traffic.
const UNKNOWN: u8 = 0;
/// VCI of the first circuit; lower VCIs are reserved (ITU-T I.361).
const FIRST_VCI: u32 = 32;

#[cfg(test)]
mod tests {
    use super::super::TracedPackets;
    use super::*;
    use crate::engine;
    use crate::scenario::load;

    /// Kind and body of every block.
    fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |octets: &[u8]| u32::from_le_bytes(octets[..4].try_into().unwrap());
        let mut found = Vec::new();
        while !file.is_empty() {
            let length = word(&file[4..]) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(&file[length - 4..]) as usize, length);
            found.push((word(file), file[8..length - 4].to_vec()));
            file = &file[length..];
        }
        found
    }

    fn capture(text: &str, sets: &[&str]) -> (Vec<TracedPacket>, Vec<(u32, Vec<u8>)>) {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let scenario = load(text, "x.toml", &sets).unwrap();
        let (_, packets) = engine::reference::run_traced(
            &scenario,
            false,
            TracedPackets::at(&scenario, &[]).unwrap(),
            &mut engine::Stopwatch::default(),
        );
        let ports: Vec<LineId> = packets.ports().collect();
        let packets = packets.into_list();
        let file = pcapng(&scenario, &ports, &packets);
        (packets, blocks(&file))
    }

    #[test]
    fn every_packet_is_a_block_and_says_why_it_was_lost() {
        let lan = include_str!("../../../../scenarios/lan.toml");
        let (packets, blocks) = capture(lan, &["duration=0.3 s"]);
        assert_eq!(blocks[0].0, SECTION);
        assert_eq!(blocks[1].0, INTERFACE);
        assert_eq!(blocks.len(), 2 + packets.len());
        let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
        assert!(text(&blocks[1].1).contains("bottleneck"));
        let early = blocks.iter().filter(|(_, body)| text(body).contains("cells: early")).count();
        let lost = packets.iter().filter(|packet| packet.reason.is_some()).count();
        assert!(early > 0 && early <= lost);
    }

    #[test]
    fn a_segment_on_a_cell_link_has_the_octets_that_aal5_carries() {
        let lan = include_str!("../../../../scenarios/lan.toml");
        let (packets, blocks) = capture(lan, &["duration=0.2 s", "flows.transport.timestamps=true"]);
        let index = packets.iter().position(|packet| packet.units == 32).unwrap();
        let body = &blocks[2 + index].1;
        let number = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
        // Flags, VPI, VCI, LLC/SNAP, then IP with 1460 octets of TCP data and timestamps.
        assert_eq!((number(12), number(16)), (4 + 8 + 52, 4 + 8 + 1500));
        assert_eq!(body[20], LLC);
        assert_eq!(body[24..32], [0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00]);
        assert_eq!(body[32], 0x45);
    }

    #[test]
    fn marks_and_their_echoes_are_bits_of_the_headers() {
        let text = include_str!("../../../../scenarios/w1-packet.toml");
        let marking = "port.bottleneck.admission={ policy = 'step', threshold = '9 kB' }";
        let sets = ["duration=0.3 s", "flows.transport.ecn=true", "port.default.buffer=999 packets", marking];
        let (packets, blocks) = capture(text, &sets);
        let (mut marked, mut echoed, mut answered) = (0, 0, 0);
        for (packet, (_, body)) in packets.iter().zip(&blocks[blocks.len() - packets.len()..]) {
            let Some(segment) = packet.segment() else { continue };
            let (ip, tcp) = (&body[20..40], &body[40..]);
            assert_eq!(ip[1], packet.ecn().codepoint());
            assert_eq!(ip[1] > 0, !segment.is_ack && !segment.syn && segment.repeats == 0);
            marked += u32::from(ip[1] == 3);
            echoed += u32::from(segment.is_ack && !segment.syn && tcp[13] & 0xc0 == 0x40);
            answered += u32::from(!segment.is_ack && tcp[13] & 0xc0 == 0x80);
        }
        assert!(marked > 0 && echoed > 0 && answered > 0, "{marked}, {echoed}, {answered}");
    }

    #[test]
    fn a_packet_link_shows_ip_as_it_is() {
        let packets_only = include_str!("../../../../scenarios/w1-packet.toml");
        let (packets, blocks) = capture(packets_only, &["duration=0.1 s"]);
        assert_eq!(blocks[1].1[..2], IPV4.to_le_bytes());
        let largest = packets.iter().position(|packet| packet.unit_bytes > 2000).unwrap();
        let body = &blocks[2 + largest].1;
        let length = u32::from_le_bytes(body[16..20].try_into().unwrap());
        assert_eq!(length, 2048 + 40);
        assert_eq!(body[20], 0x45);
    }
}
