//! The path: a network into which hosts of the caller send, in virtual time.

use std::sync::Arc;

use pushout_core::adaptation::Framing;
use pushout_core::engine::offer::{self, Ending, Fates, Offered, Unoffered};
use pushout_core::engine::reference::Stepper;
use pushout_core::language::tree::Node;
use pushout_core::scenario::File;
use pushout_core::scenario::model::{Measures, Scenario};
use pushout_core::transport::ecn;
use pushout_core::units;
use pushout_core::units::ids::{FlowId, LineId};
use pushout_core::verdict::Reason;
use pushout_core::view;

use crate::delivery::{Counts, Decision, Delivery, Ecn, Fate, Flow, Handle, Host, Port, Queue, SHORTEST};
use crate::error::Error;
use crate::time::Time;
use crate::tree::{self, table};

/// A network in virtual time, into which hosts of the caller send packets: see the [crate](crate).
#[derive(Clone, Debug)]
pub struct Path {
    /// The scenario without the caller's flows, and the text from which it, or a part of it, was read.
    pub(crate) root: Node,
    text: Arc<str>,
    hosts: Vec<String>,
    mtu: u32,
    pub(crate) slots: Vec<Slot>,
    run: Option<Run>,
    pub(crate) packets: Vec<Packet>,
    now: Time,
    has_started: bool,
}

/// A place for a flow: a circuit in each direction.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    ends: [u32; 2],
    /// Name in each direction.
    pub(crate) names: [String; 2],
    /// How many flows have had it; the latest one may be open.
    uses: u32,
    is_open: bool,
    under_way: u64,
}

/// A network with the caller's flows, and what has happened in it.
#[derive(Clone, Debug)]
struct Run {
    scenario: Arc<Scenario>,
    stepper: Stepper<Fates>,
    /// The flow of each direction of each slot.
    flows: Vec<FlowId>,
    /// For each circuit the direction of the slot that has it.
    directions: Vec<usize>,
    /// For each direction of each slot the packets, in the order of their numbers on the circuit.
    sent: Vec<Vec<u32>>,
}

/// A packet that was offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) sent: Time,
    /// The direction of its slot.
    pub(crate) direction: u32,
    /// Its number on its circuit.
    pub(crate) number: u32,
    pub(crate) octets: u32,
    pub(crate) ecn: Ecn,
    pub(crate) state: State,
}

/// What is known about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    UnderWay,
    Arrived,
    Cut,
    Marked(LineId),
    Lost(LineId, Reason),
}

/// The most octets of a packet.
const LONGEST_PACKET: u32 = 65_535;
/// The length of a run.
pub(crate) const LONGEST: &str = "4320000 s";
/// The name of the caller's text in messages.
pub(crate) const SECTIONS: &str = "scenario";
const DAYS: units::Span = units::Span::secs(50 * 86_400);
/// Flows that a path can have at a time.
const MOST_FLOWS: usize = 4096;
/// Flows between two hosts for which the first one makes room.
const FIRST_FLOWS: usize = 8;

impl Path {
    /// Build the network of a scenario in TOML. Its own flows are background traffic; they go on beyond its `duration`.
    /// Packets of the caller need links of packets.
    ///
    /// ```
    /// use pushout_net::{Ecn, Path};
    ///
    /// let mut path = Path::from_toml(r#"
    ///     name = "two-hosts"
    ///     duration = "1 s"
    ///     adaptation = { kind = "packet" }
    ///     node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }]
    ///     link = [{ from = "a", to = "b", rate = "1 Mb/s", delay = "5 ms" }]
    /// "#)?;
    /// let (a, b) = (path.host("a")?, path.host("b")?);
    /// let flow = path.open(a, b)?;
    /// path.offer(pushout_net::Time::ZERO, b, 1250, flow, Ecn::NotEct)?; // 10 ms on the line, then 5 ms
    /// assert_eq!(path.next().map(|at| at.picos()), Some(10_000_000_000));
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    #[cfg(feature = "scenario")]
    pub fn from_toml(text: &str) -> Result<Path, Error> {
        let file = File::read(text, SECTIONS).map_err(Error::Scenario)?;
        Path::of(file.root().clone(), text)
    }

    /// Build the network of a scenario; `text` is what it, or a part of it, was read from.
    pub(crate) fn of(root: Node, text: &str) -> Result<Path, Error> {
        let file = File::of(root.clone(), text, SECTIONS);
        let hosts = file.hosts().map_err(|refusal| Error::Scenario(refusal.to_string()))?;
        let mut path = Path {
            root,
            text: text.into(),
            hosts,
            mtu: 1500,
            slots: Vec::new(),
            run: None,
            packets: Vec::new(),
            now: Time::ZERO,
            has_started: false,
        };
        if let Err(refusal) = path.build() {
            // perhaps it only lacks flows, which the caller will open
            let mut probe = path.clone();
            if path.hosts.len() < 2 {
                return Err(refusal);
            }
            probe.add_slots([0, 1], 1)?;
        }
        Ok(path)
    }

    /// Set the octets of the longest packet, IP header included, before the first flow is opened; by default 1500.
    pub fn set_mtu(&mut self, octets: u32) -> Result<(), Error> {
        if !self.slots.is_empty() {
            return Err(Error::Started("mtu"));
        }
        if !(SHORTEST..=LONGEST_PACKET).contains(&octets) {
            return Err(Error::Length { given: octets as usize, most: LONGEST_PACKET });
        }
        self.mtu = octets;
        Ok(())
    }

    /// Return the names of the hosts.
    pub fn hosts(&self) -> Vec<&str> {
        self.hosts.iter().map(String::as_str).collect()
    }

    /// Return the host of this name.
    pub fn host(&self, name: &str) -> Result<Host, Error> {
        let number = self.hosts.iter().position(|host| host == name);
        let unknown =
            || Error::UnknownHost(pushout_core::words::nearest::unknown("host", name, &self.hosts()));
        number.map(|number| Host(number as u32)).ok_or_else(unknown)
    }

    /// Return the port of this name. A port has the name of its line: `bottleneck`, or in the other direction
    /// `bottleneck.back`. A path of a builder knows its ports, one of a scenario without flows when the first is opened.
    pub fn port(&self, name: &str) -> Result<Port, Error> {
        let lines = self.run.iter().flat_map(|run| run.scenario.lines.iter());
        let names: Vec<&str> = lines.map(|line| line.name.as_str()).collect();
        let number = names.iter().position(|port| *port == name);
        let unknown = || Error::UnknownPort(pushout_core::words::nearest::unknown("port", name, &names));
        number.map(|number| Port(number as u32)).ok_or_else(unknown)
    }

    /// Return the name of a port; empty for one of another path.
    pub fn port_name(&self, port: Port) -> &str {
        let run = self.run.as_ref();
        run.and_then(|run| run.scenario.lines.get(LineId(port.0))).map_or("", |line| line.name.as_str())
    }

    /// Make room for this many flows at a time between two hosts, before the first packet.
    pub fn reserve(&mut self, one: Host, other: Host, flows: usize) -> Result<(), Error> {
        let ends = self.ends(one, other)?;
        let present = self.slots.iter().filter(|slot| slot.joins(ends)).count();
        if flows > present { self.add_slots(ends, flows - present) } else { Ok(()) }
    }

    /// Open a flow between two hosts; either may send first. When time has passed, it takes the place of a flow that was
    /// [closed](Path::close).
    pub fn open(&mut self, one: Host, other: Host) -> Result<Flow, Error> {
        let ends = self.ends(one, other)?;
        let free = |slots: &[Slot]| {
            slots.iter().position(|slot| slot.joins(ends) && !slot.is_open && slot.under_way == 0)
        };
        let number = match free(&self.slots) {
            Some(number) => number,
            None => {
                let flows = self.slots.iter().filter(|slot| slot.joins(ends)).count();
                if self.has_started {
                    let hosts = ends.map(|end| self.hosts[end as usize].clone());
                    return Err(Error::NoFlowLeft { hosts, flows });
                }
                self.add_slots(ends, flows.max(FIRST_FLOWS))?;
                free(&self.slots).expect("slots have been added")
            }
        };
        let slot = &mut self.slots[number];
        slot.is_open = true;
        slot.uses += 1;
        Ok(Flow(u64::from(slot.uses) << 32 | number as u64))
    }

    /// Close a flow: nothing more can be offered on it. Its packets on their way go on.
    pub fn close(&mut self, flow: Flow) -> Result<(), Error> {
        let number = self.slot(flow)?;
        self.slots[number].is_open = false;
        Ok(())
    }

    /// Return the name that a flow has in the [scenario file](Path::scenario_file), in the direction to this host.
    pub fn flow_name(&self, flow: Flow, to: Host) -> Result<&str, Error> {
        let slot = &self.slots[self.slot(flow)?];
        let end = slot.ends.iter().position(|end| *end == to.0).ok_or_else(|| self.no_end(to, slot))?;
        Ok(&slot.names[1 - end])
    }

    /// Send a packet of `octets` octets, IP header included and at least 29, from a host to the other end of the flow, at `now`; what
    /// was offered earlier at this instant goes first. The content stays with the caller, who finds it again by the handle.
    ///
    /// ```
    /// use std::time::Duration;
    /// use pushout_net::{Ecn, Fate, Path, Time};
    ///
    /// let mut path = Path::builder().rate("12 Mb/s").delay("10 ms").buffer("2 packets").build()?;
    /// let (client, server) = (path.host("client1")?, path.host("server1")?);
    /// let flow = path.open(client, server)?;
    /// let sent: Vec<_> = (0..4).map(|_| path.offer(Time::ZERO, client, 1500, flow, Ecn::NotEct)).collect::<Result<_, _>>()?;
    /// let all = path.take(Duration::from_millis(20));
    /// assert_eq!(all.iter().filter(|packet| packet.arrived()).count(), 2);
    /// let lost = all.iter().find_map(|packet| packet.lost()).expect("the buffer has room for two");
    /// assert_eq!((path.port_name(lost.port), lost.rule, lost.reason), ("bottleneck", "tail-drop", "overflow"));
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    pub fn offer(
        &mut self,
        now: impl Into<Time>,
        host: Host,
        octets: usize,
        flow: Flow,
        ecn: Ecn,
    ) -> Result<Handle, Error> {
        let (now, number) = (now.into(), self.slot(flow)?);
        let slot = &self.slots[number];
        let back = slot.ends.iter().position(|end| *end == host.0).ok_or_else(|| self.no_end(host, slot))?;
        let bytes = u32::try_from(octets).ok().filter(|octets| (SHORTEST..=self.mtu).contains(octets));
        let bytes = bytes.ok_or(Error::Length { given: octets, most: self.mtu })?;
        if now < self.now {
            return Err(Error::Past { given: now, reached: self.now });
        }
        let (direction, handle) = (2 * number + back, self.packets.len());
        let run = self.run.as_mut().expect("a path with a flow runs");
        let packet = Offered { flow: run.flows[direction], bytes, ecn: field(ecn) };
        let frame = run.stepper.offer(now.core(), packet).map_err(|why| match why {
            Unoffered::Ended(_) => Error::TooLate(now),
            Unoffered::Past(reached) => Error::Past { given: now, reached: reached.into() },
            Unoffered::NoDatagrams(_) | Unoffered::Length(_) => {
                unreachable!("the path has checked it: {why}")
            }
        })?;
        run.sent[direction].push(handle as u32);
        self.packets.push(Packet {
            sent: now,
            direction: direction as u32,
            number: frame,
            octets: bytes,
            ecn,
            state: State::UnderWay,
        });
        self.slots[number].under_way += 1;
        (self.now, self.has_started) = (now, true);
        Ok(Handle(handle as u64))
    }

    /// Return the next instant at which a packet may be delivered or lost, for [`Path::take`]; none if nothing is on its way.
    /// It is exact or early, never late: a packet may also just leave a port then. With background traffic there is always
    /// one.
    pub fn next(&self) -> Option<Time> {
        let run = self.run.as_ref()?;
        if run.stepper.tracer().is_empty() { run.stepper.next().map(Time::from) } else { Some(self.now) }
    }

    /// Let the time pass to `now`, and return the packets that have been delivered or lost since the last call, in the order of
    /// time. An instant before the latest one changes nothing.
    pub fn take(&mut self, now: impl Into<Time>) -> Vec<Delivery> {
        let now = now.into();
        if now > self.now {
            (self.now, self.has_started) = (now, true);
        }
        let Some(run) = &mut self.run else { return Vec::new() };
        run.stepper.pass(self.now.core());
        let fates = run.stepper.tracer_mut().take();
        fates.into_iter().map(|fate| self.ended(fate)).collect()
    }

    /// Return the instant that the path has reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Return what waits at a port now; nothing at one of another path.
    ///
    /// ```
    /// use pushout_net::{Ecn, Path, Time};
    ///
    /// let mut path = Path::builder().rate("1 Mb/s").access("100 Mb/s").buffer("10 packets").build()?;
    /// let (client, server) = (path.host("client1")?, path.host("server1")?);
    /// let flow = path.open(client, server)?;
    /// for _ in 0..4 {
    ///     path.offer(Time::ZERO, client, 1500, flow, Ecn::NotEct)?;
    /// }
    /// path.take(std::time::Duration::from_millis(1));
    /// let queue = path.queue(path.port("bottleneck")?);
    /// assert_eq!((queue.packets, queue.octets, queue.limit), (4, 6000, Some(10)));
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    pub fn queue(&self, port: Port) -> Queue {
        let ports = self.run.as_ref().map(|run| &run.stepper.network().ports);
        let Some(port) = ports.and_then(|ports| ports.get(LineId(port.0))) else {
            return Queue { packets: 0, octets: 0, held: 0, limit: None };
        };
        Queue {
            packets: port.units_queued(),
            octets: view::queued(port).map(|queued| u64::from(queued.unit.bytes)).sum(),
            held: port.pool().total(),
            limit: port.pool().capacity().limit(),
        }
    }

    /// Return how the packets of a flow to this host have ended so far.
    ///
    /// ```
    /// use pushout_net::{Ecn, Path, Time};
    ///
    /// let mut path = Path::builder().rate("12 Mb/s").buffer("2 packets").build()?;
    /// let (client, server) = (path.host("client1")?, path.host("server1")?);
    /// let flow = path.open(client, server)?;
    /// for _ in 0..8 {
    ///     path.offer(Time::ZERO, client, 1500, flow, Ecn::NotEct)?;
    /// }
    /// path.take(std::time::Duration::from_millis(50));
    /// let counts = path.counts(flow, server)?;
    /// assert_eq!((counts.offered, counts.arrived, counts.lost), (8, 2, 6));
    /// assert_eq!(counts.loss(), 0.75);
    /// # Ok::<(), pushout_net::Error>(())
    /// ```
    pub fn counts(&self, flow: Flow, to: Host) -> Result<Counts, Error> {
        let number = self.slot(flow)?;
        let slot = &self.slots[number];
        let end = slot.ends.iter().position(|end| *end == to.0).ok_or_else(|| self.no_end(to, slot))?;
        Ok(self.counts_of((2 * number + 1 - end) as u32))
    }

    /// Return how the packets of one direction of a slot have ended so far.
    pub(crate) fn counts_of(&self, direction: u32) -> Counts {
        let mut counts = Counts::default();
        for packet in self.packets.iter().filter(|packet| packet.direction == direction) {
            counts.offered += 1;
            let arrived = matches!(packet.state, State::Arrived | State::Marked(_));
            counts.arrived += u64::from(arrived);
            counts.octets += if arrived { u64::from(packet.octets) } else { 0 };
            match packet.state {
                State::UnderWay => counts.under_way += 1,
                State::Cut => counts.cut += 1,
                State::Marked(_) => counts.marked += 1,
                State::Lost(..) => counts.lost += 1,
                State::Arrived => {}
            }
        }
        counts
    }

    /// Return the packets offered so far.
    pub fn offered(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Return the scenario with the caller's flows, if there is one.
    pub(crate) fn scenario(&self) -> Option<&Scenario> {
        self.run.as_ref().map(|run| &*run.scenario)
    }

    /// Return the packet of a handle.
    pub(crate) fn packet(&self, handle: Handle) -> Result<&Packet, Error> {
        self.packets.get(handle.0 as usize).ok_or(Error::UnknownHandle(handle.0))
    }

    /// Return the handle of a packet by its number on its circuit.
    pub(crate) fn handle(&self, direction: usize, number: u32) -> Option<Handle> {
        let sent = self.run.as_ref()?.sent.get(direction)?;
        sent.get(number as usize).map(|&packet| Handle(packet.into()))
    }

    /// Return the rule at a port by which packets are lost or marked for this reason.
    pub(crate) fn rule(scenario: &Scenario, port: LineId, reason: Reason) -> &'static str {
        let line = &scenario.lines[port];
        let memory =
            scenario.memories.iter().find(|memory| memory.ports.iter().any(|(other, _)| *other == port));
        let pushout = match memory {
            Some(memory) => memory.pushout.as_ref().map(|policy| policy.name()),
            None => line.port.pushout.as_ref().map(|policy| policy.name()),
        };
        let admission = memory.map_or(line.port.admission.name(), |memory| memory.sharing.name());
        match reason {
            Reason::Link => "loss",
            Reason::Policed => "police",
            Reason::Watchdog => "watchdog",
            Reason::PushedOut => pushout.unwrap_or(admission),
            _ => admission,
        }
    }

    fn ends(&self, one: Host, other: Host) -> Result<[u32; 2], Error> {
        let count = self.hosts.len();
        for host in [one, other] {
            if host.0 as usize >= count {
                return Err(Error::UnknownHost(format!("host must be one of this path, which has {count}")));
            }
        }
        if one == other {
            let name = &self.hosts[one.0 as usize];
            return Err(Error::UnknownHost(format!("a flow must join two hosts, not {name:?} with itself")));
        }
        Ok([one.0, other.0])
    }

    fn no_end(&self, host: Host, slot: &Slot) -> Error {
        let [one, other] = slot.ends.map(|end| &self.hosts[end as usize]);
        let given = self.hosts.get(host.0 as usize).map_or("an unknown host", String::as_str);
        Error::UnknownHost(format!("host must be {one:?} or {other:?}, the ends of the flow, not {given:?}"))
    }

    /// Return the number of the slot of an open flow.
    fn slot(&self, flow: Flow) -> Result<usize, Error> {
        let (number, uses) = ((flow.0 & u64::from(u32::MAX)) as usize, (flow.0 >> 32) as u32);
        let is_it = |slot: &&Slot| slot.is_open && slot.uses == uses;
        let found = self.slots.get(number).filter(is_it).map(|_| number);
        found.ok_or_else(|| Error::UnknownFlow("flow must be an open flow of this path".to_string()))
    }

    /// Add slots between two hosts, and build the network again; the path stays as it was if that fails.
    fn add_slots(&mut self, ends: [u32; 2], count: usize) -> Result<(), Error> {
        if self.has_started {
            return Err(Error::Started("flows"));
        }
        if self.slots.len().saturating_add(count) > MOST_FLOWS {
            return Err(Error::TooManyFlows(MOST_FLOWS));
        }
        let (before, present) = (self.slots.len(), self.slots.iter().filter(|slot| slot.joins(ends)).count());
        let [one, other] = ends.map(|end| &self.hosts[end as usize]);
        let new = (present + 1..=present + count).map(|number| Slot {
            ends,
            names: [format!("{one}-{other}.{number}"), format!("{other}-{one}.{number}")],
            uses: 0,
            is_open: false,
            under_way: 0,
        });
        self.slots.extend(new.collect::<Vec<_>>());
        let built = self.build();
        if built.is_err() {
            self.slots.truncate(before);
        }
        built
    }

    /// Add the flows of the caller to a scenario: they send nothing by themselves.
    pub(crate) fn add_flows(&self, root: &mut Node) {
        for slot in &self.slots {
            for direction in 0..2 {
                tree::add(root, "flow", self.flow_entry(&slot.names[direction], None, slot.ends, direction));
            }
        }
    }

    /// Return a flow that sends nothing, or a recording on the circuit of the slot.
    pub(crate) fn flow_entry(
        &self,
        name: &str,
        recording: Option<(&str, &str, Ecn)>,
        ends: [u32; 2],
        direction: usize,
    ) -> Node {
        let [from, to] = [ends[direction], ends[1 - direction]].map(|end| self.hosts[end as usize].as_str());
        let mut flow = table(
            [("name", name), ("from", from), ("to", to), ("start_spread", "0 s"), ("processing", "0 s")]
                .map(|(key, text)| (key, text.into())),
        );
        tree::set(&mut flow, "processing_variation", "0 s".into());
        let transport =
            |ecn: bool, l4s: bool| table([("kind", "udp".into()), ("ecn", ecn.into()), ("l4s", l4s.into())]);
        let (start, transport, source) = match recording {
            None => {
                let size = format!("{} bytes", self.mtu - (SHORTEST - 1));
                let source = [("kind", "cbr"), ("rate", "1 b/s"), ("size", &size)];
                (LONGEST, transport(false, false), table(source.map(|(key, text)| (key, text.into()))))
            }
            Some((circuit, data, ecn)) => {
                tree::set(&mut flow, "pvc", circuit.into());
                let source = [("kind", "replay"), ("file", "offered"), ("data", data)];
                let transport = transport(ecn != Ecn::NotEct, ecn == Ecn::Ect1);
                ("0 s", transport, table(source.map(|(key, text)| (key, text.into()))))
            }
        };
        tree::set(&mut flow, "start", start.into());
        tree::set(&mut flow, "transport", transport.into());
        tree::set(&mut flow, "source", source.into());
        flow
    }

    /// Return the ends of the slot of a direction.
    pub(crate) fn slot_of(&self, direction: usize) -> (&Slot, [u32; 2]) {
        let slot = &self.slots[direction / 2];
        (slot, slot.ends)
    }

    /// Build the network with the flows of all slots.
    fn build(&mut self) -> Result<(), Error> {
        let mut root = self.root.clone();
        self.add_flows(&mut root);
        let mut scenario = self.checked(root)?;
        let find = |name: &String| scenario.flows.position(|flow| flow.name == *name).expect("it was added");
        let flows: Vec<FlowId> = self.slots.iter().flat_map(|slot| slot.names.each_ref()).map(find).collect();
        let mut directions = vec![usize::MAX; scenario.vcs.len()];
        for (direction, &flow) in flows.iter().enumerate() {
            let (vc, flow) = (scenario.flows[flow].vc, &scenario.flows[flow]);
            if !matches!(scenario.vcs[vc].framing, Framing::Packet(_)) {
                let [from, to] = [flow.from, flow.to].map(|node| scenario.nodes[node].name.as_str());
                let why = format!(
                    "links from {from:?} to {to:?} must carry packets, not cells: a path is of packets"
                );
                return Err(Error::Scenario(why));
            }
            directions[vc.index()] = direction;
        }
        (scenario.duration, scenario.sample, scenario.warmup) = (DAYS, DAYS, units::Span::ZERO);
        scenario.measure = Measures::default();
        for &flow in &flows {
            scenario.flows[flow].start = DAYS;
        }
        let stepper = Stepper::new(&scenario, false, Fates::of(&scenario, flows.iter().copied()));
        let sent = vec![Vec::new(); flows.len()];
        self.run = Some(Run { scenario: Arc::new(scenario), stepper, flows, directions, sent });
        Ok(())
    }

    /// Check a scenario that was made from that of the path.
    pub(crate) fn checked(&self, root: Node) -> Result<Scenario, Error> {
        let file = File::of(root, &self.text, SECTIONS);
        file.load().map_err(|refusal| Error::Scenario(refusal.to_string()))
    }

    /// Describe the end of a packet, and keep it.
    fn ended(&mut self, fate: offer::Fate) -> Delivery {
        let run = self.run.as_ref().expect("a packet was offered");
        let direction = run.directions[fate.vc.index()];
        let number = run.sent[direction][fate.number as usize] as usize;
        let decision = |port: LineId, reason: Option<Reason>, at: units::Time| Decision {
            port: Port(port.0),
            rule: Path::rule(&run.scenario, port, reason.unwrap_or(Reason::Early)),
            reason: reason.map_or("mark", Reason::word),
            at: at.into(),
        };
        let (fate_of, state) = match (fate.ending, fate.mark) {
            (Ending::Lost(port, reason), _) => {
                (Fate::Lost(decision(port, Some(reason), fate.time)), State::Lost(port, reason))
            }
            (Ending::Cut, _) => (Fate::Cut, State::Cut),
            (Ending::Delivered, Some((port, at))) => {
                (Fate::Marked(decision(port, None, at)), State::Marked(port))
            }
            (Ending::Delivered, None) => (Fate::Delivered, State::Arrived),
        };
        let slot = &mut self.slots[direction / 2];
        slot.under_way -= 1;
        let packet = &mut self.packets[number];
        packet.state = state;
        Delivery {
            handle: Handle(number as u64),
            flow: Flow(u64::from(slot.uses) << 32 | (direction / 2) as u64),
            to: Host(slot.ends[1 - direction % 2]),
            octets: packet.octets,
            sent: packet.sent,
            at: fate.time.into(),
            fate: fate_of,
        }
    }
}

impl Slot {
    fn joins(&self, [one, other]: [u32; 2]) -> bool {
        self.ends == [one, other] || self.ends == [other, one]
    }
}

/// Return the ECN field as the core has it.
fn field(ecn: Ecn) -> ecn::Ecn {
    match ecn {
        Ecn::NotEct => ecn::Ecn::default(),
        Ecn::Ect1 => ecn::Ecn::ECT.with(ecn::Ecn::L4S),
        Ecn::Ect0 => ecn::Ecn::ECT,
    }
}
