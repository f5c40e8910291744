//! # Source
//! A congestion control of your own: the instructions that a scenario gives. Write it in Python and let Pushout translate it.
//!
//! # Idea
//! `on_ack` runs for every acknowledgement and may open the window, `on_loss` for a loss, a timeout or a mark and says to what the
//! window falls. Additive increase and multiplicative decrease, for example, is
//!
//! ```toml
//! [flows.transport.congestion]
//! policy = "program"
//! name = "my-aimd"
//! on_ack = [
//!     "r0 = state.window",
//!     "r1 = x.mss",
//!     "r1 = r1 * r1",
//!     "r1 = r1 // r0",
//!     "r0 = r0 + r1",
//!     "state.window = r0",
//!     "end",
//! ]
//! on_loss = ["r0 = state.window", "r1 = 2", "r0 = r0 // r1", "state.window = r0", "end"]
//! ```
//!
//! # Parameters
//! Instructions are those of the [admission policy](admission-program.md), without `vc.NAME`, `queue.NAME`, `draw` and answers about units; both
//! functions end with `end`. Beside the variables of `state`, which belong to one connection, every control has three, all of them int:
//!
//! * `state.window`: the congestion window in octets, without what duplicates add in a fast recovery; at least a segment
//! * `state.threshold`: the slow-start threshold in octets, 2⁶³ − 1 while there is none; `on_ack` may assign it
//! * `state.pacing`: the rate at which the sender paces, in bits of data per second; 0, the initial value, leaves it to
//!   `pacing`. A control that assigns it paces
//!
//! What `on_loss` leaves in `state.window` is the window after the repair, at least two segments, and becomes the threshold; at a timeout
//! the window begins with one segment below it. Both functions see
//!
//! * `x.now`, `x.now_ps` (float in s, int in ps): the instant
//! * `x.mss` (int): octets of data in a full segment
//! * `x.acknowledged`, `x.sent`, `x.flight` (int): octets acknowledged and octets sent, from the start of the flow, and their difference
//! * `x.advertised` (int): the window that the receiver advertises, in octets
//!
//! `on_ack` also `x.acked` (int: new octets acknowledged), `x.delivered` (int: octets that arrived, also out of order), `x.lost` (int: octets
//! that this ACK has shown to be lost), `x.marked` (bool: the ACK echoes a mark), `x.rtt` and `x.rtt_ps` (float in s and int in ps: the
//! round trip that the ACK has measured, 0 if it has measured none) and `x.opens` (bool). It is false in a recovery, for an ACK with a
//! mark and for one without new octets; window and threshold then keep their values, and other variables change. `on_loss` sees
//! `x.by_timeout` and `x.by_mark` (bool). It runs once for the losses or marks of a round trip, and not again where the timer of a segment
//! expires once more.
//!
//! By default the window opens and falls as with `reno`. `echo_each` (off) has the receiver echo the marks of each acknowledged segment, as
//! `dctcp` needs. `params`, `limits`, `state`, `trace`, `name` and `source` are those of the admission policy; occupancies in octets only.
//!
//! # Differences from the paper
//! There is no paper. Losses are repaired as by `new-reno`, whose keys count here as well, or by `recovery`; no program changes how they are
//! found, what is sent again, or the window meanwhile. What cannot be computed ends the run with a message.
//!
//! # Complexity
//! At most as many instructions as the function has, which is at most 1024, for each ACK or loss; at most 16 variables for each
//! connection.

mod view;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::new_reno::NewReno;
use super::{Ack, Chosen, Congestion, CongestionWindow, Facts, Loss, Pace, Reaction, Timeout};
use crate::language::spec::Boxed;
use crate::metrics::state::Figure;
use crate::program::Failure;
use crate::program::check::{ProgramNames, check_functions};
use crate::program::code::{Type, Word};
use crate::program::hook::{Hook, THRESHOLD};
use crate::program::limits::Limits;
use crate::program::run::Machine;
use crate::program::source::{QuietCode, Source, Texts};
use crate::program::step::Steps;
use crate::program::trace::Trace;
use crate::program::values::{Known, Octets, PARAMS, STATE, Values, known};
use crate::refused::{Refused, refuse};
use crate::rng::{Draws, Keyed, Subject};
use crate::section;
use crate::transport::tcp;
use crate::units::Rate;
use view::{AckView, Cause, LossView};

section! {
    /// Open and reduce the window as the instructions in the scenario say.
    pub struct Params {
        /// What messages call it.
        pub name: String = "program".to_string(),
        /// Parameters, by name.
        pub params: Option<Values> = None,
        /// Limits of parameters, by name, as in `{ gain = { low = 0, high = 1 } }`; times count in seconds, rates in bits per second.
        pub limits: Option<Limits> = None,
        /// State of the connection, by name: the initial values.
        pub state: Option<Values> = None,
        /// State that reports with `measure.state` show over time, by name.
        pub trace: Option<Vec<String>> = None,
        /// Instructions for an acknowledgement; by default those of Reno.
        pub on_ack: Option<QuietCode> = None,
        /// Instructions for a loss, a timeout or a mark; by default the window is halved.
        pub on_loss: Option<QuietCode> = None,
        /// Whether the receiver echoes the marks of each acknowledged segment (RFC 8257).
        pub echo_each: bool = false,
        /// The text from which the code comes.
        pub source: Option<Boxed<Source>> = None,
    }
}

impl Params {
    /// Return the instructions of each function of the program.
    fn codes(&self) -> Vec<(Hook, Vec<String>)> {
        let code = |hook, code: &Option<QuietCode>| code.clone().map(|QuietCode(code)| (hook, code));
        [code(Hook::Ack, &self.on_ack), code(Hook::Loss, &self.on_loss)].into_iter().flatten().collect()
    }
}

/// Places of the variables that every control has, before those of the program.
const WINDOW: usize = 0;
const SLOW_START: usize = 1;
const PACING: usize = 2;
/// Their names.
const OWN: [&str; 3] = ["window", THRESHOLD, "pacing"];

/// A program that has been checked, and its functions and variables as they are when a connection begins.
#[derive(Clone, Debug)]
pub struct Checked {
    params: Params,
    begin: Runner,
    texts: Texts,
    trace: Trace,
}

impl PartialEq for Checked {
    fn eq(&self, other: &Checked) -> bool {
        self.params == other.params
    }
}

impl Checked {
    /// Check a program; the error names the key that is wrong.
    pub fn new(params: Params) -> Result<Checked, Refused> {
        let own = OWN.map(|name| Known { name: name.to_string(), kind: Type::Int, word: Word::int(0) });
        let given = known(&params.state, "state", STATE, &Octets)?;
        let taken = given.iter().find(|known| OWN.contains(&known.name.as_str()));
        let why = |known: &Known| format!("must not declare {}, which every control has", known.name);
        taken.map_or(Ok(()), |known| refuse("state", why(known)))?;
        let state: Vec<Known> = own.into_iter().chain(given).collect();
        let names = ProgramNames {
            params: &known(&params.params, "params", PARAMS, &Octets)?,
            state: &state,
            per_vc: &[],
            per_queue: &[],
        };
        params.limits.iter().try_for_each(|limits| limits.check(names.params))?;
        let source = params.source.as_ref().map(|source| source.0.as_ref().clone());
        let texts = Texts::new(&params.name, params.codes(), source)?;
        let mut begin = Runner {
            on_ack: None,
            on_loss: None,
            state: state.iter().map(|known| known.word).collect(),
            draws: Keyed::new(0, "").about(Subject::instant(0, 0)), // no program draws
            failure: None,
        };
        for program in check_functions(&texts, &names)? {
            let function = if program.hook == Hook::Ack { &mut begin.on_ack } else { &mut begin.on_loss };
            *function = Some(program.steps);
        }
        let trace = Trace::new(params.trace.as_deref().unwrap_or_default(), &names)?;
        Ok(Checked { params, begin, texts, trace })
    }

    /// Return the program as a scenario writes it.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Return whether the program assigns the rate of its sender.
    pub fn paces(&self) -> bool {
        let functions = [&self.begin.on_ack, &self.begin.on_loss];
        functions.into_iter().flatten().any(|steps| steps.stores(PACING))
    }

    /// Return whether acknowledgements echo the marks of each segment.
    pub fn echoes_each(&self) -> bool {
        self.params.echo_each
    }
}

/// A control that runs a program; on the heap, so that senders with other controls need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<ProgramState>);

#[derive(Clone, Debug)]
struct ProgramState {
    losses: NewReno,
    runner: Runner,
    program: Arc<Checked>,
}

/// The functions of a program with their registers, and the variables of a connection.
#[derive(Clone, Debug)]
struct Runner {
    on_ack: Option<Steps>,
    on_loss: Option<Steps>,
    state: Vec<Word>,
    draws: Draws,
    failure: Option<Box<Failure>>,
}

impl Control {
    pub(super) fn new(params: &tcp::Params) -> Control {
        let Chosen::Program(program) = &params.congestion else {
            unreachable!("the reader refuses the word without a table")
        };
        let program = Arc::clone(program);
        Control(Box::new(ProgramState {
            losses: NewReno::new(params),
            runner: program.begin.clone(),
            program,
        }))
    }
}

impl Runner {
    /// Run `on_ack`. Window and threshold keep their values unless the ACK may open the window.
    #[inline]
    fn acknowledge(&mut self, window: &mut CongestionWindow, ack: Ack, opens: bool, texts: &Texts) {
        let Runner { on_ack: Some(steps), state, draws, .. } = self else {
            if opens {
                window.grow(ack.acked);
            }
            return;
        };
        let before = load(state, window);
        let mut machine = Machine { state: [state, &mut [], &mut []], each: 0, ranks: None, draws };
        match machine.run(steps, &AckView { ack: &ack, opens, mss: window.mss }) {
            Ok(_) if opens => store(state, before, window),
            Ok(_) => {}
            Err(failed) => self.fail(ack.facts, texts.message(Hook::Ack, &failed)),
        }
    }

    /// Run `on_loss`, and set the threshold to what it leaves in the window.
    fn reduce(&mut self, window: &mut CongestionWindow, facts: Facts, cause: Cause, texts: &Texts) {
        let Runner { on_loss: Some(steps), state, draws, .. } = self else {
            return window.halve(facts.send_window);
        };
        load(state, window);
        let mut machine = Machine { state: [state, &mut [], &mut []], each: 0, ranks: None, draws };
        match machine.run(steps, &LossView { facts: &facts, cause, mss: window.mss }) {
            Ok(_) => window.reduce_to(octets(state[WINDOW])),
            Err(failed) => {
                window.halve(facts.send_window);
                self.fail(facts, texts.message(Hook::Loss, &failed));
            }
        }
    }

    /// Store the first failure of the connection; later ones are ignored.
    #[cold]
    fn fail(&mut self, facts: Facts, why: String) {
        self.failure.get_or_insert_with(|| Box::new(Failure { time: facts.now, why }));
    }
}

/// Copy window and threshold to the variables of the program; returns both variables.
#[inline]
fn load(state: &mut [Word], window: &CongestionWindow) -> [Word; 2] {
    state[WINDOW] = Word::size(window.cwnd);
    state[SLOW_START] = Word::size(window.ssthresh);
    [state[WINDOW], state[SLOW_START]]
}

/// Set window and threshold by the variables of the program, if it has changed them.
#[inline]
fn store(state: &[Word], before: [Word; 2], window: &mut CongestionWindow) {
    if state[WINDOW] != before[0] {
        window.cwnd = octets(state[WINDOW]).clamp(window.mss, window.limit());
    }
    if state[SLOW_START] != before[1] {
        window.ssthresh = octets(state[SLOW_START]);
    }
}

/// Return a number of octets that a program has computed; none is below 0.
fn octets(word: Word) -> u64 {
    u64::try_from(word.as_int()).unwrap_or(0)
}

impl Congestion for Control {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction {
        let ProgramState { losses, runner, program } = &mut *self.0;
        let opens = !losses.is_recovering();
        if !ack.echo {
            runner.acknowledge(window, ack, opens, &program.texts); // else `on_echo` has run it
        }
        losses.on_ack(window, ack).unwrap_or(Reaction::Continue)
    }

    fn on_echo(&mut self, window: &mut CongestionWindow, ack: Ack) {
        let ProgramState { runner, program, .. } = &mut *self.0;
        runner.acknowledge(window, ack, false, &program.texts);
    }

    fn on_delivery(&mut self, window: &mut CongestionWindow, ack: Ack) {
        if !ack.echo {
            self.on_echo(window, ack);
        }
    }

    fn on_mark(&mut self, window: &mut CongestionWindow, facts: Facts) {
        let ProgramState { runner, program, .. } = &mut *self.0;
        runner.reduce(window, facts, Cause::Mark, &program.texts);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }

    fn on_loss(&mut self, window: &mut CongestionWindow, loss: &Loss) {
        let ProgramState { runner, program, .. } = &mut *self.0;
        runner.reduce(window, loss.facts, Cause::Loss, &program.texts);
    }

    fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction {
        let ProgramState { losses, runner, program } = &mut *self.0;
        let reduce =
            |window: &mut CongestionWindow| runner.reduce(window, facts, Cause::Loss, &program.texts);
        losses.on_duplicate(window, count, facts, reduce)
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        let ProgramState { losses, runner, program } = &mut *self.0;
        losses.on_timeout(facts);
        if timeout == Timeout::First {
            runner.reduce(window, facts, Cause::Timeout, &program.texts);
        }
        window.leave_recovery(window.mss);
    }

    fn pace(&self) -> Option<Pace> {
        let runner = &self.0.runner;
        let rate = octets(runner.state[PACING]);
        (rate > 0).then_some(Pace { rate: Rate(rate), quantum: 0 })
    }

    fn state(&self) -> Vec<Figure> {
        let ProgramState { runner, program, .. } = &*self.0;
        program.trace.figures(&runner.state, &[], 1)
    }

    fn failure(&self) -> Option<&Failure> {
        self.0.runner.failure.as_deref()
    }

    fn is_recovering(&self) -> bool {
        self.0.losses.is_recovering()
    }
}
