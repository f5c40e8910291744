//! The scenario that repeats a run: the caller's packets as recordings.

use std::collections::BTreeMap;

use pushout_core::language::tree::{Node, Value};
use pushout_core::source::recording::{RecordedPacket, Recording};
use pushout_core::units::Span;

use crate::delivery::Ecn;
use crate::path::{Packet, Path};
use crate::time::Time;
use crate::tree;

/// Packets that one flow of the file sends: the number of their flow among equals, the direction of their slot, their ECN
/// field. Flows send in this order what is due at one instant.
type Lane = (usize, u32, Ecn);

impl Path {
    /// Return the scenario that repeats the run up to now, with every packet at its instant: `pushout run FILE` gives its
    /// figures, `pushout why FILE` asks about a loss, and another policy can be tried on equal traffic. Packets are numbered
    /// as here: the n-th packet of a flow in one direction is frame n of its circuit, which has the name of the flow
    /// ([`Path::flow_name`]). The packets themselves come from flows with a recording for each ECN field, as `client1-server1.1.ect0.1`; the
    /// flows without one send nothing.
    ///
    /// ```
    /// use pushout_net::{Ecn, Path, Time};
    ///
    /// let mut path = Path::builder().build()?;
    /// let (client, server) = (path.host("client1")?, path.host("server1")?);
    /// let flow = path.open(client, server)?;
    /// path.offer(Time::ZERO, client, 1500, flow, Ecn::NotEct)?;
    /// path.take(std::time::Duration::from_millis(50));
    /// assert!(path.scenario_file().contains(r#"pvc = "client1-server1.1""#));
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    pub fn scenario_file(&self) -> String {
        let heading =
            "# Repeats a run of pushout-net: `pushout run`, `pushout plot` and `pushout why` read it.\n";
        heading.to_string() + &tree::written(&self.repeated())
    }

    /// Return the scenario that repeats the run up to now: of this length, without its warm-up.
    pub(crate) fn repeated(&self) -> Node {
        let mut root = self.root.clone();
        if let Value::Table(entries) = &mut root.value {
            entries.retain(|(key, _)| key.name != "warmup");
        }
        tree::set(&mut root, "duration", format!("{} ps", self.now().picos() + 1).as_str().into());
        self.add_flows(&mut root);
        for ((number, direction, ecn), packets) in self.lanes() {
            let (slot, ends) = self.slot_of(direction as usize);
            let circuit = &slot.names[direction as usize % 2];
            let word = match ecn {
                Ecn::NotEct => "not-ect",
                Ecn::Ect1 => "ect1",
                Ecn::Ect0 => "ect0",
            };
            let name = format!("{circuit}.{word}.{}", number + 1);
            let mut last = Time::ZERO;
            let recorded = |packet: &&Packet| {
                let gap = Span(packet.sent.picos() - std::mem::replace(&mut last, packet.sent).picos());
                RecordedPacket { gap, octets: packet.octets.into() }
            };
            let data = Recording::written(packets.iter().map(recorded));
            let flow = self.flow_entry(&name, Some((circuit, &data, ecn)), ends, direction as usize % 2);
            tree::add(&mut root, "flow", flow);
        }
        root
    }

    /// Return the packets by the flow of the file that sends them.
    ///
    /// At one instant flows of a scenario send in their order, and each all that it has. Where the caller's order at an
    /// instant is another one, further flows on the same circuits send the rest.
    fn lanes(&self) -> BTreeMap<Lane, Vec<&Packet>> {
        let mut lanes: BTreeMap<Lane, Vec<&Packet>> = BTreeMap::new();
        let mut last: Option<(Time, Lane)> = None;
        for packet in &self.packets {
            let lane = |number| (number, packet.direction, packet.ecn);
            let lane = match last {
                Some((at, before)) if at == packet.sent => {
                    let same = lane(before.0);
                    if same < before { lane(before.0 + 1) } else { same }
                }
                _ => lane(0),
            };
            lanes.entry(lane).or_default().push(packet);
            last = Some((packet.sent, lane));
        }
        lanes
    }
}
