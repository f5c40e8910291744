//! The question as JSON, as bindings ask it.
//!
//! | key | meaning |
//! |---|---|
//! | `at` | names of ports; by default all |
//! | `ill` | `lost` (the default), `marked`, `trimmed`, or `late` with `late_ps` |
//! | `loss` | which such frame, from 1 (the default is the first); with `flow` of those of this flow |
//! | `flow`, `frame` | or this frame of this flow, from 1 |
//! | `report` | or this many decisions of the run whose refusal saves most |
//! | `reaction` | `on` (the default) or `off` |
//! | `last` | the most decisions before the arrival of the frame to be tried, besides those while it waited |
//! | `skip` | decisions before that arrival that are left out, with those while it waited: a search goes on in parts |
//! | `sets` | the most sets of two or three decisions to be tried |

use serde_json::Value as Json;

use super::{Asked, Ill, Reaction, Which};
use crate::units::Span;
use crate::words::nearest::unknown;

/// The most decisions before a frame, and the most sets of them, unless a request says otherwise.
const LAST: usize = 200;
const SETS: usize = 20_000;

impl Asked<'_> {
    /// Read a question.
    pub fn read(request: &Json) -> Result<Asked<'_>, String> {
        let word = |key: &str| request.get(key).and_then(Json::as_str);
        let count = |key: &str| request.get(key).and_then(Json::as_u64).map(|count| count as usize);
        Ok(Asked {
            at: request
                .get("at")
                .and_then(Json::as_array)
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .collect(),
            ill: ill(word("ill").unwrap_or("lost"), request.get("late_ps").and_then(Json::as_u64))?,
            which: match (word("flow"), request.get("frame").and_then(Json::as_u64), count("report")) {
                (_, _, Some(count)) => Which::Dearest(count),
                (Some(flow), Some(frame), None) => Which::Frame(flow, frame),
                (flow, None, None) => Which::Number(count("loss").unwrap_or(1), flow),
                (None, Some(_), None) => return Err("frame needs a flow".to_string()),
            },
            reaction: match word("reaction").unwrap_or("on") {
                "on" => Reaction::On,
                "off" => Reaction::Off,
                other => return Err(unknown("reaction", other, &["on", "off"])),
            },
            most: count("last").unwrap_or(LAST),
            skip: count("skip").unwrap_or(0),
            sets: count("sets").unwrap_or(SETS),
        })
    }
}

fn ill(word: &str, late_ps: Option<u64>) -> Result<Ill, String> {
    Ok(match (word, late_ps) {
        ("lost", None) => Ill::Lost,
        ("marked", None) => Ill::Marked,
        ("trimmed", None) => Ill::Trimmed,
        ("late", Some(most)) => Ill::Late(Span(most)),
        ("late", None) => return Err("ill: late needs a time, as in late:5ms".to_string()),
        ("lost" | "marked" | "trimmed", Some(_)) => return Err(format!("ill: {word} takes no time")),
        (other, _) => return Err(unknown("ill", other, &["lost", "marked", "trimmed", "late"])),
    })
}
