//! What a path hands out: names of its parts, and what became of packets.

use crate::time::Time;

/// The least octets of a packet: one more than the headers of IP and UDP.
pub(crate) const SHORTEST: u32 = 29;

/// A host of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(pub(crate) u32);

/// A flow between two hosts, in both directions: a connection. Ports that keep flows apart, as FQ-CoDel does, keep each of
/// its directions apart from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow(pub(crate) u64);

/// A port: a queue and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub(crate) u32);

/// An offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub(crate) u64);

macro_rules! numbered {
    ($($name:ident: $number:ty, $doc:literal;)+) => { $(
        impl $name {
            #[doc = $doc]
            pub const fn number(self) -> $number {
                self.0
            }

            /// Return what has this number. Calls of a path refuse the number of a host, a flow or a packet that it has not given.
            pub const fn of_number(number: $number) -> $name {
                $name(number)
            }
        }
    )+ };
}

numbered! {
    Host: u32, "Return its number among the hosts of its path, from 0.";
    Flow: u64, "Return a number that no other flow of its path has.";
    Port: u32, "Return its number among the ports of its path, from 0.";
    Handle: u64, "Return its number: packets are counted from 0 in the order in which they were offered.";
}

/// The ECN field of an IP header (RFC 3168, RFC 9331) as a host sends it. The numbers are those of the two bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecn {
    /// Not capable: ports that would mark the packet lose it.
    #[default]
    NotEct = 0,
    /// Capable, for scalable congestion controls (L4S).
    Ect1 = 1,
    /// Capable.
    Ect0 = 2,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The packet, as [`crate::Path::offer`] returned it.
    pub handle: Handle,
    /// Its flow.
    pub flow: Flow,
    /// The host to which it was sent.
    pub to: Host,
    /// Its octets, IP header included.
    pub octets: u32,
    /// When it was offered.
    pub sent: Time,
    /// When it reached the host, or was lost.
    pub at: Time,
    /// How it ended.
    pub fate: Fate,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It reached the host.
    Delivered,
    /// It reached the host with a congestion mark (CE).
    Marked(Decision),
    /// It reached the host without its data: a port has cut it to its headers.
    Cut,
    /// It was lost.
    Lost(Decision),
}

/// What a port decided about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The port; for a loss on a link, the port at its end.
    pub port: Port,
    /// The name of the rule in scenarios: an admission policy, a push-out policy, or `loss` by intent.
    pub rule: &'static str,
    /// The reason, as reports name it: `overflow` (no room), `early` (a policy, before the buffer is full), `random` (drawn by RED or PIE), `delay`
    /// (waited too long), `pushed-out`, `policed`, `watchdog`, `link` (on the line, by number or at random), `mark`, and those of further schemes.
    pub reason: &'static str,
    /// When it was lost, or left the port with its mark.
    pub at: Time,
}

impl Delivery {
    /// Return whether its data reached the host.
    pub fn arrived(&self) -> bool {
        matches!(self.fate, Fate::Delivered | Fate::Marked(_))
    }

    /// Return whether it reached the host with a congestion mark.
    pub fn is_marked(&self) -> bool {
        matches!(self.fate, Fate::Marked(_))
    }

    /// Return why it was lost, if it was.
    pub fn lost(&self) -> Option<Decision> {
        if let Fate::Lost(decision) = self.fate { Some(decision) } else { None }
    }
}

/// How the packets of a flow in one direction have ended so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets offered.
    pub offered: u64,
    /// Packets that have reached the host with their data, marked ones included.
    pub arrived: u64,
    /// Those of them that carried a mark.
    pub marked: u64,
    /// Packets that have reached the host without their data.
    pub cut: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets on their way.
    pub under_way: u64,
    /// Octets of the packets that have arrived, IP headers included.
    pub octets: u64,
}

impl Counts {
    /// Return the share of the packets that have ended by their loss, from 0 to 1; 0 before any has ended.
    pub fn loss(&self) -> f64 {
        self.lost as f64 / (self.offered - self.under_way).max(1) as f64
    }

    /// Return the share of the packets that have arrived with a mark, from 0 to 1; 0 before any has arrived.
    pub fn marks(&self) -> f64 {
        self.marked as f64 / self.arrived.max(1) as f64
    }
}

/// The content of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Packets, the one in transmission included.
    pub packets: u64,
    /// Octets of these packets.
    pub octets: u64,
    /// What they take of the buffer, in its measure.
    pub held: u64,
    /// The size of the buffer in this measure; none without a limit. Ports that share a memory have that of the memory.
    pub limit: Option<u64>,
}
