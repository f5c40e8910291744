//! A bench for tests: one port receives the trains of a script, and reports its departures with their times.

use crate::engine::cells::port::PortProcess;
use crate::engine::cells::port::context::{Context, LossLog, PortSetup};
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::topology::Plan;
use crate::engine::cells::train::CellTrain;
use crate::engine::exact::accounting::Window;
use crate::engine::exact::spacing::ExactTime;
use crate::engine::forms::{Form, switch_off, take_used};
use crate::engine::timers::Timers;
use crate::network::Network;
use crate::network::circuit::{Marks, Tally};
use crate::scenario::load;
use crate::scenario::model::Scenario;
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, LineId, PortVc};
use crate::units::{Span, Time};

/// The port `out` of a switch, to which each host sends over a line of its own: cells at 42.4 Mb/s, one in 10 µs.
pub(crate) struct Script {
    scenario: Scenario,
    plan: Plan,
    network: Network,
    process: PortProcess,
    index: LineId,
    out: Outbox,
    losses: LossLog,
    timers: Timers,
    resting: Vec<CircuitId>,
    /// The number of frames on each lane.
    frames: Vec<u32>,
}

/// Time from the start of a cell to its arrival at the next stop; this bench does not wake any port.
const REACH: Span = Span(0);

/// The measured time begins later than any script ends, so that no occupancy is a new maximum for a FIFO port.
const HEAD: &str = "name = 'script'\nseed = 1\nduration = '2 s'\nwarmup = '1 s'\nsample = '1 s'\n";

impl Script {
    /// Build the port with these keys and a line of this rate, and `lanes` lines that lead to it.
    pub(crate) fn new(keys: &str, rate: &str, lanes: usize) -> Script {
        let mut text =
            format!("{HEAD}[[node]]\nname = 's'\nkind = 'switch'\n[[node]]\nname = 'z'\nkind = 'host'\n");
        let link = |from: &str, to: &str, name: &str, rate: &str| {
            format!(
                "[[link]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nrate = '{rate}'\ndelay = '1 us'\nduplex = true\n"
            )
        };
        for i in 1..=lanes {
            text += &format!("[[node]]\nname = 'h{i}'\nkind = 'host'\n");
            text += &link(&format!("h{i}"), "s", &format!("in{i}"), "42.4 Mb/s");
        }
        text += &link("s", "z", "out", rate);
        text += &format!("[port.out]\n{keys}\n");
        for i in 1..=lanes {
            text += &format!("[[flow]]\nname = 'f{i}'\nfrom = 'h{i}'\nto = 'z'\nmcr = '1 Mb/s'\n");
            text += "source = { kind = 'greedy' }\ntransport = { kind = 'tcp' }\n";
        }
        Script::of(load(&text, "script.toml", &[]).unwrap_or_else(|why| panic!("{why}")), lanes)
    }

    fn of(scenario: Scenario, lanes: usize) -> Script {
        let (plan, mut network) = (Plan::new(&scenario), Network::new(&scenario));
        let index = scenario.lines.position(|line| line.name == "out").expect("the port is there");
        let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
        let port = &mut network.ports[index];
        let setup = PortSetup { scenario: &scenario, plan: &plan, window, index, port };
        let process = PortProcess::new(setup);
        // count cells as in flight on every circuit, so that losses cannot make this count negative
        let tally = Tally { sent: 1 << 20, ..Tally::default() };
        network.circuits.iter_mut().for_each(|circuit| circuit.enter(tally, Marks::default(), 0));
        switch_off(None);
        take_used();
        Script {
            timers: Timers::new(scenario.flows.len()),
            losses: LossLog { log: None, now: Vec::new() },
            out: Outbox::default(),
            resting: Vec::new(),
            frames: vec![0; lanes],
            scenario,
            plan,
            network,
            process,
            index,
        }
    }

    /// Record every loss from now on.
    pub(crate) fn logged(mut self) -> Script {
        self.losses.log = Some(Vec::new());
        self
    }

    /// Let a frame of `units` cells arrive on a lane, the first cell at `us`, then one every 10 µs.
    pub(crate) fn frame(&mut self, lane: u32, us: u64, units: u16) -> &mut Script {
        let (first, last) = (Time(us * 1_000_000), Time((us + 10 * (u64::from(units) - 1)) * 1_000_000));
        let frames = &mut self.frames[lane as usize];
        let frame = std::mem::replace(frames, *frames + 1);
        let circuit = self.plan.passing.at(self.index)[PortVc(lane)];
        let flags = Flags::FIRST.with(Flags::EOM);
        let unit = Unit { vc: circuit, frame, identity: frame, index: 0, bytes: 53, hop: 1, flags };
        let train = CellTrain::new(ExactTime::at(first), unit, PortVc(lane), units, last);
        self.process.inbox_mut().push(lane, CellTrain { awaited: true, ..train });
        self
    }

    fn work(&mut self, work: impl FnOnce(&mut PortProcess, &mut Context<'_>, &mut Outbox)) {
        let Network { ports, circuits, .. } = &mut self.network;
        let window =
            Window { from: Time::ZERO + self.scenario.warmup, to: Time::ZERO + self.scenario.duration };
        let mut cx = Context {
            port: &mut ports[self.index],
            index: self.index,
            circuits,
            plan: &self.plan,
            routes: self.plan.routes[self.index].view(),
            losses: &mut self.losses,
            timers: &self.timers,
            resting: &mut self.resting,
            every: self.scenario.sample,
            window,
            end: window.from,
            together: None,
        };
        work(&mut self.process, &mut cx, &mut self.out);
    }

    /// Advance to `us`, that instant included, and return the departures: for each the circuit, `x`, the number of
    /// cells, `e` if the last one ends a frame, `@` and the start in µs.
    pub(crate) fn run(&mut self, us: u64) -> String {
        self.work(|process, cx, out| process.step(cx, out, Time(us * 1_000_000)));
        self.sent()
    }

    /// Return when the port must be woken after `us`, and which units it forwards ahead.
    pub(crate) fn look_ahead(&mut self, us: u64) -> String {
        self.work(|process, cx, out| {
            let _ = process.next_wakeup(cx, out, Time(us * 1_000_000), REACH);
        });
        self.sent()
    }

    fn sent(&mut self) -> String {
        let tell = |it: &crate::engine::cells::port::outbox::Departure| {
            let eom = if it.unit.is_eom() { "e" } else { "" };
            format!("{}x{}{eom}@{}", it.vc, it.units, it.last.0 / 1_000_000)
        };
        let sent: Vec<String> = self.out.departures.iter().map(tell).collect();
        self.out = Outbox::default();
        sent.join(" ")
    }

    /// Return the number of cells lost on a circuit.
    pub(crate) fn lost(&self, lane: usize) -> u64 {
        self.network.circuits[self.plan.passing.at(self.index)[PortVc::new(lane)]].tally().lost
    }
}

/// Return the number of uses of a form since the last call or the beginning of the last script.
pub(crate) fn used(form: Form) -> u64 {
    take_used()[form as usize]
}
