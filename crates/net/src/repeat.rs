//! The scenario that repeats a run: the caller's packets as recordings.

use std::collections::BTreeMap;
use std::fmt::Write;

use pushout_core::source::recording::{RecordedPacket, Recording};
use pushout_core::units::Span;

use crate::delivery::Ecn;
use crate::error::Error;
use crate::path::{Packet, Path};
use crate::time::Time;

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
    /// assert!(path.scenario_file()?.contains(r#"pvc = "client1-server1.1""#));
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    pub fn scenario_file(&self) -> Result<String, Error> {
        let mut text = String::from(
            "# Repeats a run of pushout-net: `pushout run`, `pushout plot` and `pushout why` read it.\n",
        );
        text.push_str(&self.head()?);
        text.push_str(&self.flow_sections());
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
            text.push_str(&self.flow_section(
                &name,
                Some((circuit, &data, ecn)),
                ends,
                direction as usize % 2,
            ));
        }
        Ok(text)
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

    /// Return the scenario with a duration up to now, and without its warm-up.
    fn head(&self) -> Result<String, Error> {
        let (mut head, mut has_duration, mut is_top) = (String::new(), false, true);
        for line in self.text.lines() {
            is_top &= !line.trim_start().starts_with('[');
            let key = line.split('=').next().unwrap_or_default().trim();
            match key {
                "duration" if is_top => {
                    let _ = writeln!(head, "duration = \"{} ps\"", self.now().picos() + 1);
                    has_duration = true;
                }
                "warmup" if is_top => {}
                _ => {
                    head.push_str(line);
                    head.push('\n');
                }
            }
        }
        let why = "duration must be written on a line of its own, `duration = \"1 s\"`, so that a file can repeat the run";
        if has_duration { Ok(head) } else { Err(Error::Scenario(why.to_string())) }
    }
}
