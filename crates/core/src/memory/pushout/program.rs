//! A program in a memory: see `buffer/pushout/program.rs`.

use super::{Context, Cut, Full, Piece, PushOut};
use crate::buffer::admission::Failure;
use crate::buffer::pushout::longest_queue::End;
use crate::buffer::pushout::program::Chooser;
use crate::buffer::set::NumberSet;
use crate::buffer::size::Level;
use crate::program::code::{Attribute, OfQueue, Word};
use crate::program::run::View;
use crate::program::values::{Buffer, Values};
use crate::refused::{Refused, refuse, refuse_if};
use crate::units::ids::QueueId;

pub use crate::buffer::pushout::program::Params;

/// The policy removes single units.
pub const GOES_BY_FRAMES: bool = false;

impl Buffer for Context<'_> {
    fn level(&self, key: &'static str, level: Level) -> Result<u64, Refused> {
        let cells = crate::buffer::capacity::Capacity::limited(self.cells);
        level.within(self.measure, cells).or_else(|why| refuse(key, why))
    }
}

/// A program in one memory.
#[derive(Clone, Debug)]
pub struct Policy {
    chooser: Chooser,
    end: End,
    /// Rates of the lines of the queues.
    rates: Box<[Word]>,
    depends_on: Option<&'static str>,
}

impl Policy {
    /// Build the program of one memory; the error says why it cannot run there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let has = |values: &Option<Values>| values.as_ref().is_some_and(|values| !values.is_empty());
        let why = "must be left out in a memory, which may ask more than once before it removes anything";
        refuse_if(has(&params.state), "state", why)?;
        refuse_if(has(&params.per_queue), "per_queue", why)?;
        let queues = context.rates.len();
        let chooser = Chooser::new(params, context, queues, context.dice(&params.stream))?;
        let of_circuits = |property| matches!(property, OfQueue::Weight | OfQueue::Mcr);
        let why = "must not look at weight or mcr in a memory, whose queues have neither: use length";
        refuse_if(chooser.steps().properties().any(of_circuits), "code", why)?;
        let depends_on = chooser.steps().attributes().find_map(|attribute| match attribute {
            Attribute::Now | Attribute::NowPs => Some("x.now, the instant"),
            Attribute::Rate => Some("x.rate, the rate of a line"),
            _ => None,
        });
        let draws = chooser.steps().draws().then_some("x.draw(), a random number");
        let rates = context.rates.iter().map(|rate| Word::size(rate.0)).collect();
        Ok(Policy { chooser, end: params.end, rates, depends_on: depends_on.or(draws) })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        let piece = Piece::Unit(self.end);
        let mut choices = NumberSet::new(full.memory.queues.len());
        let candidates = full.lengths().filter(|&(queue, length)| length > 0 && full.has(queue, piece));
        candidates.for_each(|(queue, _)| choices.insert(QueueId::new(queue)));
        if choices.is_empty() {
            return None;
        }
        let view = MemoryView { full, choices: &choices, rates: &self.rates };
        let queue = self.chooser.choose((full.now, full.subject), &view, &choices)?;
        Some(Cut { queue: queue.index(), piece })
    }

    fn depends_on(&self) -> Option<&str> {
        self.depends_on
    }

    fn failure(&self) -> Option<&Failure> {
        self.chooser.failure()
    }
}

/// The values that a program can read about a full memory.
struct MemoryView<'a> {
    full: &'a Full<'a>,
    choices: &'a NumberSet<QueueId>,
    rates: &'a [Word],
}

impl MemoryView<'_> {
    /// Return the cells in use and those that there are: of the full pool, or of the memory's shared room.
    fn room(&self) -> [u64; 2] {
        let memory = self.full.memory;
        match self.full.pool {
            Some(pool) => {
                let books = &memory.pools[pool].books;
                [books.total(), books.capacity().up_to(u64::MAX)]
            }
            None => [memory.shared, memory.cells - memory.promised],
        }
    }
}

impl View for MemoryView<'_> {
    fn look(&self, attribute: Attribute) -> Word {
        let Full { now, own, memory, .. } = *self.full;
        match attribute {
            Attribute::Now => Word::float(now.as_secs_f64()),
            Attribute::NowPs => Word::size(now.0),
            Attribute::Vc => Word::size(own as u64),
            Attribute::Size => Word::size(self.full.beyond()),
            Attribute::Own => Word::size(memory.queues[own].shared()),
            Attribute::Total => Word::size(self.room()[0]),
            Attribute::Active => {
                Word::size(self.full.lengths().filter(|&(_, length)| length > 0).count() as u64)
            }
            Attribute::Capacity => Word::size(self.room()[1]),
            Attribute::Circuits => Word::size(memory.queues.len() as u64),
            Attribute::Rate => self.rates[own],
            _ => unreachable!("a checked program of push-out looks at nothing else"),
        }
    }

    fn queues(&self) -> usize {
        self.rates.len()
    }

    fn choice_from(&self, number: usize) -> Option<QueueId> {
        self.choices.first_from(number)
    }

    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        match property {
            OfQueue::Length => Word::size(self.full.memory.queues[queue.index()].shared()),
            _ => unreachable!("a program of a memory looks at lengths"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::tests::{Ports, build, chosen, cut, full, memory_with};
    use super::*;
    use crate::language::read::{Format, read};
    use crate::language::spec::Field;
    use crate::memory::pushout::longest_queue;
    use crate::serde_json::{Value as Json, json};

    /// The program with these keys.
    fn spec(keys: &Json) -> Spec {
        let mut table = json!({ "policy": "program" });
        table.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        Spec::read(&read(&table.to_string(), Format::Json).unwrap(), "").unwrap()
    }

    #[test]
    fn by_default_the_longest_queue_gives_way_as_with_longest_queue() {
        let published = Spec::LongestQueue(longest_queue::Params { end: End::Tail, counts_arrival: true });
        for lengths in [[3, 9, 9], [9, 3, 9], [5, 8, 7], [6, 8, 8], [7, 8, 8]] {
            for waiting in [["1", "1", "1"], ["1", "", "1"], ["1", "", ""]] {
                let ports = Ports::new(&waiting);
                let expected = chosen(&published, &lengths, &ports);
                assert_eq!(chosen(&spec(&json!({})), &lengths, &ports), expected, "{lengths:?} {waiting:?}");
            }
        }
    }

    #[test]
    fn a_program_reads_its_memory_in_cells_of_shared_room() {
        let ports = Ports::new(&["1", "1", "1"]);
        // queue 0 of 5 cells has 3 of shared room, in a memory of 30 cells of which 6 are reserved
        for (attribute, value) in [
            ("vc", 0),
            ("own", 3),
            ("size", 3),
            ("total", 17),
            ("active", 3),
            ("capacity", 24),
            ("circuits", 3),
        ] {
            let code = [
                format!("r0 = x.{attribute}"),
                format!("r1 = {value}"),
                "r2 = r0 == r1".into(),
                "unless r2 jump 6".into(),
                "r0 = 2".into(),
                "choose r0".into(),
                "r0 = -1".into(),
                "choose r0".into(),
            ];
            let policy = spec(&json!({ "code": code, "end": "head" }));
            assert_eq!(chosen(&policy, &[5, 9, 9], &ports), cut(2, Piece::Unit(End::Head)), "{attribute}");
        }
    }

    #[test]
    fn a_choice_that_cannot_give_way_is_a_failure() {
        let policy = spec(&json!({ "code": ["r0 = 1", "choose r0"] }));
        let memory = memory_with(&policy, &[9, 9, 9], 0);
        let mut policy = build(&policy).unwrap();
        assert_eq!(policy.choose(&full(&memory, &Ports::new(&["1", "", "1"]))), None);
        assert!(policy.failure().unwrap().why.contains("a queue that can give way, or -1, not 1"));
    }

    #[test]
    fn what_a_memory_does_not_have_is_refused_and_what_cannot_be_enumerated_is_named() {
        for (keys, expected) in [
            (json!({ "state": { "count": 0 } }), "state: must be left out in a memory"),
            (json!({ "per_queue": { "count": 0 } }), "per_queue: must be left out in a memory"),
            (
                json!({ "code": ["r0 = 0", "r1 = x.weight[r0]", "choose r0"] }),
                "must not look at weight or mcr",
            ),
        ] {
            let why = build(&spec(&keys)).unwrap_err().to_string();
            assert!(why.contains(expected), "{keys}: {why}");
        }
        let named = |value: &str, limit: &str| {
            let [value, limit] = [format!("r0 = {value}"), format!("r1 = {limit}")];
            let jump = ["r2 = r0 > r1", "unless r2 jump 6", "r3 = 0", "choose r3", "r3 = -1", "choose r3"];
            let code = [&[value.as_str(), &limit], &jump[..]].concat();
            build(&spec(&json!({ "code": code }))).unwrap().depends_on().map(str::to_string)
        };
        assert_eq!(named("x.now_ps", "7"), Some("x.now, the instant".into()));
        assert_eq!(named("draw", "0.5"), Some("x.draw(), a random number".into()));
        assert_eq!(named("x.rate", "7"), Some("x.rate, the rate of a line".into()));
        assert_eq!(named("x.vc", "7"), None);
    }
}
