//! Builds headers as they would be on the wire: IP (RFC 791), TCP (RFC 793, timestamps RFC 1323, congestion
//! notification RFC 3168) and UDP (RFC 768), with data of zeros, so that checksums are right although no data are
//! stored.

use super::TracedPacket;
use crate::adaptation::Framing;
use crate::scenario::model::{Flow, Scenario};
use crate::transport::ecn::Ecn;
use crate::transport::tcp::{self, CONNECTIONS_APART, Segment};
use crate::transport::{IP_HEADER, Transport, udp};
use crate::units::ids::{FlowId, NodeId};
use crate::units::{CELL_PAYLOAD, Time};

/// A packet as a capture shows it: the stored octets, and the full length.
pub(super) struct Image {
    /// The headers.
    pub(super) octets: Vec<u8>,
    /// Octets of the whole packet.
    pub(super) length: u32,
}

/// Return the image of a packet, if it has headers: a single cell without adaptation has none.
pub(super) fn image(scenario: &Scenario, packet: &TracedPacket) -> Option<Image> {
    let (number, _) = packet.content?;
    let flow = &scenario.flows[number];
    if let Some(segment) = packet.segment() {
        return Some(tcp_image(flow, number, packet, &segment));
    }
    let data = packet.data().unwrap_or_else(|| flow.payload());
    let is_packet = scenario.vcs[flow.vc].framing != Framing::Cell;
    is_packet.then(|| udp_image(flow, number, packet, data))
}

/// Return the image of a unit that is not an IP packet, as an IP packet of a protocol for experiments (RFC 3692).
pub(super) fn stand_in(scenario: &Scenario, packet: &TracedPacket) -> Image {
    let path = &scenario.vcs[packet.vc].path;
    let (from, to) = (scenario.lines[path[0]].from, scenario.lines[path[path.len() - 1]].to);
    let length = IP_HEADER + CELL_PAYLOAD as u32;
    let head = IpHeader { from, to, id: packet.frame, protocol: EXPERIMENT, ecn: packet.ecn() };
    Image { octets: head.octets(length), length }
}

fn tcp_image(flow: &Flow, number: FlowId, packet: &TracedPacket, segment: &Segment) -> Image {
    let mut options = timestamps(flow.transport.option_bytes(), segment);
    let (data, blocks) = if segment.is_ack { (0, segment.len) } else { (segment.len, 0) };
    options.extend(vec![NO_OPERATION; blocks.into()]); // a capture does not know the blocks, but their octets
    let (from, to) = if segment.is_ack { (flow.to, flow.from) } else { (flow.from, flow.to) };
    let ports = (client_port(segment.connection), server_port(number));
    let (source, destination) = if segment.is_ack { (ports.1, ports.0) } else { ports };
    // The first octet of data follows the SYN, which has a number of its own.
    let after_syn = |offset: u64| (offset as u32).wrapping_add(1);
    let seq = if segment.syn { 0 } else { after_syn(segment.seq) };
    let ack = match (segment.is_ack, segment.syn) {
        (true, _) => after_syn(segment.ack),
        (false, opens) => u32::from(!opens),
    };
    let bit = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    let flags = bit(SYN, segment.syn)
        | bit(ACK, segment.is_ack || !segment.syn)
        | bit(ECE, segment.ecn.has(Ecn::ECE))
        | bit(CWR, segment.ecn.has(Ecn::CWR));
    let window = if segment.is_ack { segment.window.min(u16::MAX.into()) as u16 } else { u16::MAX };
    let mut header = Vec::with_capacity(32);
    header.extend(source.to_be_bytes());
    header.extend(destination.to_be_bytes());
    header.extend(seq.to_be_bytes());
    header.extend(ack.to_be_bytes());
    let offset = (((tcp::HEADER as usize + options.len()) / 4) << 4) as u8;
    header.push(offset | u8::from(segment.ecn.has(Ecn::AE))); // the bit that was NS
    header.push(flags);
    header.extend(window.to_be_bytes());
    header.extend([0; 4]); // checksum and urgent pointer
    header.extend(&options);
    let head = IpHeader { from, to, id: packet.frame, protocol: TCP, ecn: packet.ecn() };
    ip(&head, header, CHECKSUM_OF_TCP, data.into())
}

/// Return two no-operation options and the timestamp option, in milliseconds of simulated time; empty without
/// options.
fn timestamps(bytes: u32, segment: &Segment) -> Vec<u8> {
    if bytes == 0 {
        return Vec::new();
    }
    let stamp = (segment.stamp.since(Time::ZERO).0 / 1_000_000_000) as u32;
    let (value, echo) = if segment.is_ack { (0, stamp) } else { (stamp, 0) };
    let mut option = vec![1, 1, 8, 10];
    option.extend(u32::to_be_bytes(value));
    option.extend(u32::to_be_bytes(echo));
    option
}

fn udp_image(flow: &Flow, number: FlowId, packet: &TracedPacket, data: u32) -> Image {
    let mut header = Vec::with_capacity(udp::HEADER as usize);
    header.extend(client_port(1).to_be_bytes());
    header.extend(server_port(number).to_be_bytes());
    header.extend((udp::HEADER as u16 + data as u16).to_be_bytes());
    header.extend([0; 2]); // checksum
    let head = IpHeader { from: flow.from, to: flow.to, id: packet.frame, protocol: UDP, ecn: packet.ecn() };
    ip(&head, header, CHECKSUM_OF_UDP, data)
}

/// Build an IP packet of a transport header and `data` octets of zeros; write the transport's checksum at `place` in
/// the header.
fn ip(head: &IpHeader, mut inner: Vec<u8>, place: usize, data: u32) -> Image {
    let length = IP_HEADER + inner.len() as u32 + data;
    let mut pseudo = [address(head.from), address(head.to)].concat();
    pseudo.extend([0, head.protocol]);
    pseudo.extend(((length - IP_HEADER) as u16).to_be_bytes());
    let sum = checksum(&[&pseudo, &inner]);
    inner[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    let mut octets = head.octets(length);
    octets.extend(inner);
    Image { octets, length }
}

/// Content of the header of an IP packet.
struct IpHeader {
    from: NodeId,
    to: NodeId,
    id: u32,
    protocol: u8,
    ecn: Ecn,
}

impl IpHeader {
    /// Return the header of a packet of `length` octets.
    fn octets(&self, length: u32) -> Vec<u8> {
        let mut octets = vec![0x45, self.ecn.codepoint()];
        octets.extend((length as u16).to_be_bytes());
        octets.extend((self.id as u16).to_be_bytes());
        octets.extend([0x40, 0, 64, self.protocol, 0, 0]); // don't fragment, time to live, protocol, checksum
        octets.extend(address(self.from));
        octets.extend(address(self.to));
        let sum = checksum(&[&octets]);
        octets[10..12].copy_from_slice(&sum.to_be_bytes());
        octets
    }
}

/// Return the address of a host: 10.x.y.z, by its number.
fn address(node: NodeId) -> [u8; 4] {
    let [_, x, y, z] = (node.0 + 1).to_be_bytes();
    [10, x, y, z]
}

/// Return the port number of the side that sends data: one for every connection.
fn client_port(connection: u32) -> u16 {
    10_000 + (connection.saturating_sub(1) % CONNECTIONS_APART) as u16
}

/// Return the port number of the side that receives data: one for every flow.
fn server_port(flow: FlowId) -> u16 {
    5_001 + (flow.0 % 60_000) as u16
}

/// Return the checksum of RFC 1071 over parts of even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const EXPERIMENT: u8 = 253;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const NO_OPERATION: u8 = 1;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;
/// Place of the checksum in a TCP header.
const CHECKSUM_OF_TCP: usize = 16;
/// Place of the checksum in a UDP header.
const CHECKSUM_OF_UDP: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_that_of_the_example_in_rfc_1071() {
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03], &[0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
    }

    #[test]
    fn an_ip_header_with_its_checksum_sums_up_to_nothing() {
        let head = IpHeader { from: NodeId(0), to: NodeId(258), id: 7, protocol: UDP, ecn: Ecn::ECT };
        let image = ip(&head, vec![0, 1, 0, 2, 0, 12, 0, 0], CHECKSUM_OF_UDP, 4);
        assert_eq!((image.length, image.octets.len()), (32, 28));
        assert_eq!(checksum(&[&image.octets[..20]]), 0);
        assert_eq!(image.octets[1], 2);
        assert_eq!(image.octets[12..20], [10, 0, 0, 1, 10, 0, 1, 3]);
        let mut pseudo = image.octets[12..20].to_vec();
        pseudo.extend([0, UDP, 0, 12]);
        assert_eq!(checksum(&[&pseudo, &image.octets[20..]]), 0);
    }
}
