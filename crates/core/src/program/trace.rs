//! State of a program that reports show over time.

use super::check::ProgramNames;
use super::code::{Type, Word};
use super::values::Known;
use crate::excerpt::quoted;
use crate::metrics::state::Figure;
use crate::refused::{Refused, refuse};

/// A variable that is shown.
#[derive(Clone, Debug)]
struct Shown {
    name: String,
    kind: Type,
    /// Its place among the variables of the port or of a queue.
    place: usize,
}

/// The variables that are shown: those of the port, and those of each queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    of_port: Vec<Shown>,
    of_queue: Vec<Shown>,
}

impl Trace {
    /// Find the variables of these names; the error says which name is not the state of the port or of a queue.
    pub(crate) fn new(names: &[String], known: &ProgramNames<'_>) -> Result<Trace, Refused> {
        let mut trace = Trace::default();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return refuse("trace", format!("must name {} once, not twice", quoted(name)));
            }
            match (shown(name, known.state), shown(name, known.per_queue)) {
                (Some(shown), _) => trace.of_port.push(shown),
                (None, Some(shown)) => trace.of_queue.push(shown),
                (None, None) => return refuse("trace", unknown(name, known)),
            }
        }
        Ok(trace)
    }

    /// Return the figures; `per_queue` has the variables of all queues, queue after queue, with `each` variables a queue.
    pub(crate) fn figures(&self, state: &[Word], per_queue: &[Word], each: usize) -> Vec<Figure> {
        let of_port =
            self.of_port.iter().map(|it| Figure::of_all(it.name.clone(), number(state[it.place], it.kind)));
        let of_queues = self.of_queue.iter().flat_map(|it| {
            let values = per_queue.chunks_exact(each).map(|queue| number(queue[it.place], it.kind));
            Figure::of_queues(it.name.clone(), values)
        });
        of_port.chain(of_queues).collect()
    }
}

fn shown(name: &str, known: &[Known]) -> Option<Shown> {
    let place = known.iter().position(|known| known.name == name)?;
    Some(Shown { name: name.to_string(), kind: known[place].kind, place })
}

/// Say which names can be shown.
fn unknown(name: &str, known: &ProgramNames<'_>) -> String {
    let allowed: Vec<&str> =
        known.state.iter().chain(known.per_queue).map(|known| known.name.as_str()).collect();
    let allowed = if allowed.is_empty() { "none".to_string() } else { allowed.join(", ") };
    format!("must name state of the port or of queues, not {} (it has: {allowed})", quoted(name))
}

/// Return a value as a number: true is 1.
fn number(word: Word, kind: Type) -> f64 {
    match kind {
        Type::Int => word.as_int() as f64,
        Type::Float => word.as_float(),
        Type::Bool => f64::from(u8::from(word.as_bool())),
    }
}
